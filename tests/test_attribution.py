"""From what small models really write to statements with checked citations."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from itza_git.answering.answer import Rejected, Statement
from itza_git.answering.attribution import Attributor
from itza_git.answering.finding import find_all
from itza_git.answering.prompt import select
from itza_git.answering.sentences import Sentences
from itza_git.records import Passage
from tests.passages import PASSAGES, blocks, passage

STORE_LINES, RETRY_LINES, DOCS_LINES = (10, 16), (40, 47), (7, 8)


def attribute(text: str, size: int = 1000, cut: bool = False, question: str = "") -> tuple[list[Statement], Attributor]:
    attributor = Attributor(blocks(), question)
    found: list[Statement] = []
    for start in range(0, len(text), size):
        if not attributor.done:
            found += attributor.feed(text[start : start + size])
    return found + attributor.finish(cut), attributor


def cited(statement: Statement) -> list[tuple[tuple[int, int], str]]:
    return [((cite.first, cite.last), cite.by) for cite in statement.citations]


def one(text: str, question: str = "") -> tuple[Statement, Attributor]:
    [statement], attributor = attribute(text, question=question)
    return statement, attributor


def test_a_right_mark_is_kept_and_taken_out_of_the_text() -> None:
    statement, attributor = one("`Store.open_pack` looks into the cache first [1].")
    assert statement.text == "`Store.open_pack` looks into the cache first."
    assert cited(statement) == [(STORE_LINES, "model")]
    assert statement.marked == "`Store.open_pack` looks into the cache first [1]."
    assert not attributor.rejected


def test_a_sentence_without_mark_is_assigned_by_the_tool() -> None:
    statement, _ = one("`open_pack` looks into the cache first.")
    assert cited(statement) == [(STORE_LINES, "tool")]


def test_a_wrong_mark_is_replaced_by_the_identifier_rule() -> None:
    statement, attributor = one("`fetch_with_retry` tries again until the response is ok [1].")
    assert cited(statement) == [(RETRY_LINES, "tool")]
    assert [rejected.text for rejected in attributor.rejected] == ["[1]"]


def test_a_mark_clearly_below_the_best_passage_is_replaced() -> None:
    statement, _ = one("Immutable packs of vectors are read from the folder by name [3].")
    assert cited(statement) == [(STORE_LINES, "tool")]


def test_a_mark_of_no_passage_is_dropped_and_reported() -> None:
    statement, attributor = one("`open_pack` looks into the cache first [6].")
    assert cited(statement) == [(STORE_LINES, "tool")]
    assert attributor.rejected == (Rejected("[6]", "no such passage"),)


@pytest.mark.parametrize("mark", ["[0]", "[4]", "[9999]", "[2-9]", "[3-1]"])
def test_every_mark_outside_is_no_such_passage(mark: str) -> None:
    _, attributor = one(f"`open_pack` looks into the cache first {mark}.")
    assert attributor.rejected == (Rejected(mark, "no such passage"),)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("A response that is ok is returned in src/net.py:44-46.", "A response that is ok is returned in src/net.py."),
        ("A response that is ok is returned (src/net.py:45).", "A response that is ok is returned."),
        ("A response that is ok is returned [`net.py:44-46@1a2b3c4`].", "A response that is ok is returned."),
        ("`./src/net.py:44\u201346` returns a response that is ok.", "`./src/net.py` returns a response that is ok."),
    ],
)
def test_a_place_is_one_more_witness_and_its_lines_are_not_printed(written: str, text: str) -> None:
    statement, attributor = one(written)
    assert statement.text == text
    assert cited(statement) == [(RETRY_LINES, "model")]
    assert not attributor.rejected


@pytest.mark.parametrize(
    ("place", "left"),
    [
        ("src/net.py:1-3", " in src/net.py"),
        ("src/net.py:46-44@1a2b3c4", " in src/net.py"),
        ("(src/net.py:900)", " in"),
        ("src/none.py:44-46", " in"),
        ("none:44@worktree", " in"),
        ("src/net.py:" + "9" * 5000, " in src/net.py"),
    ],
)
def test_a_place_that_no_passage_has_is_taken_out_and_reported(place: str, left: str) -> None:
    [statement], attributor = attribute(f"A response that is ok is returned in {place}.", size=10_000)
    assert statement.text.removesuffix(".").rstrip() == f"A response that is ok is returned{left}"
    assert cited(statement) == [(RETRY_LINES, "tool")]
    assert attributor.rejected == (Rejected(place, "no passage has these lines"),)


@pytest.mark.parametrize(
    "text", ["It listens at 127.0.0.1:80.", "At http://localhost:8080/x it is.", "At 12:30 it is."]
)
def test_a_host_with_a_port_is_no_place(text: str) -> None:
    assert one(text)[0].text == text


def test_places_and_marks_cannot_hide_one_another() -> None:
    _, attributor = attribute("A response is src/net.py:1[1]2@1a2b[2]3 and a:1@abcd:2@abcd and [[9]1].")
    assert {rejected.text for rejected in attributor.rejected} >= {"[9]", "src/net.py:12@1a2b3", "a:1@abcd", ":2@abcd"}
    [statement], _ = attribute("A response that is ok is returned at x:[1]1@abcd:1@abcd.")
    assert "@" not in statement.text


def test_a_line_number_of_any_length_is_only_a_number() -> None:
    [statement], _ = attribute("`MAX_RETRIES` is on line " + "9" * 5000 + ".", size=10_000)
    assert not statement.verified


def test_a_name_in_no_passage_leaves_the_sentence_unverified() -> None:
    statement, attributor = one("`Store.flush_all` writes the cache to the folder [1].")
    assert statement.text == "`Store.flush_all` writes the cache to the folder."
    assert not statement.verified
    assert attributor.rejected == (Rejected("flush_all", "named in the answer, and no passage holds it"),)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("It stops after 4 attempts, with a timeout of 30.", True),
        ("It stops after 5 attempts, with a timeout of 30.", False),
        ("The `MAX_RETRIES` attempts are counted on line 40.", True),
        ("The `MAX_RETRIES` attempts are counted on line 400.", False),
        ("`MAX_RETRIES` is read in lines 42-43.", True),
        ("It calls httpGet for each attempt.", True),
        ("It calls httpPost for each attempt.", False),
        ("It returns `None` when no attempt gives an ok response.", True),
        ("On GitHub the response of an attempt is ok.", True),
        ("`src/net.py` defines the attempts of a response.", True),
        ("1. The response of each attempt is looked at.", True),
    ],
)
def test_the_identifier_rule(text: str, holds: bool) -> None:
    assert one(text)[0].verified is holds


def test_a_sentence_that_needs_two_passages_cites_both() -> None:
    statement, _ = one("`open_pack` reads packs, which `tool gc` deletes [1][3].")
    assert cited(statement) == [(STORE_LINES, "model"), (DOCS_LINES, "model")]
    statement, _ = one("`open_pack` reads packs, which `tool gc` deletes [1].")
    assert cited(statement) == [(STORE_LINES, "model"), (DOCS_LINES, "tool")]


@pytest.mark.parametrize("marks", ["[1, 3]", "[1][3]", "[1], [3]", "[1; 3]", "[1] [3]"])
def test_marks_in_all_their_forms(marks: str) -> None:
    statement, _ = one(f"`open_pack` reads packs, which `tool gc` deletes {marks}.")
    assert [cite.first for cite in statement.citations] == [10, 7]
    assert "[" not in statement.text


def test_what_is_close_to_nothing_is_unverified() -> None:
    statement, attributor = one("The weather is nice in April [2].")
    assert not statement.verified
    assert [rejected.text for rejected in attributor.rejected] == ["[2]"]


def test_a_spanish_answer_is_attributed_by_its_names() -> None:
    statement, _ = one("No se reintenta m\u00e1s de lo que dice `MAX_RETRIES` [1].")
    assert cited(statement) == [(RETRY_LINES, "tool")]


def test_an_index_of_code_is_no_mark() -> None:
    attributor = Attributor(select([passage("a.py", "path = argv[1]\nrun(path)")], 1000))
    [statement] = [*attributor.feed("The path is argv[1], or `argv[2]`, as run[9] says [1]."), *attributor.finish()]
    assert statement.text == "The path is argv[1], or `argv[2]`, as run says."


def test_the_lines_of_a_long_passage_are_narrowed() -> None:
    rows = [f"value_{n} = {n}" for n in range(30)]
    rows[20] = "def rotate_keys(vault):"
    attributor = Attributor(select([passage("a.py", "\n".join(rows), first=101)], 10_000))
    [statement] = [*attributor.feed("`rotate_keys` takes the vault [1]."), *attributor.finish()]
    [cite] = statement.citations
    assert cite.first <= 121 <= cite.last
    assert cite.last - cite.first < 8


def test_the_same_lines_have_the_same_number() -> None:
    statements, _ = attribute(
        "`open_pack` is in `Store` [1]. `fetch_with_retry` calls `httpGet` [2]. `Store` has a cache [1]."
    )
    assert [[cite.n for cite in statement.citations] for statement in statements] == [[1], [2], [1]]


@pytest.mark.parametrize("start", ["NO_SE:", "No_SE:", "no_se :", "**NO_SE:**", "`NO_SE`:", "NO SE:", "NO_SE -"])
def test_no_se_in_any_case(start: str) -> None:
    statements, attributor = attribute(f"{start} which port `gc` uses.")
    assert not statements
    assert attributor.said_no_se
    assert attributor.missing == "which port `gc` uses"


def test_a_bare_no_se() -> None:
    statements, attributor = attribute("NO_SE")
    assert (statements, attributor.said_no_se, attributor.missing) == ([], True, None)


def test_a_spanish_sentence_is_no_no_se() -> None:
    statements, attributor = attribute("No se usa `open_pack` sin `cache` [1].")
    assert len(statements) == 1
    assert not attributor.said_no_se


def test_no_se_with_the_answer_behind_it() -> None:
    statements, attributor = attribute("NO_SE: `fetch_with_retry` tries `MAX_RETRIES` times [2].")
    assert attributor.said_no_se
    assert [cited(statement) for statement in statements] == [[(RETRY_LINES, "model")]]
    assert attributor.missing is None


def test_after_no_se_only_what_the_model_cites_itself_counts() -> None:
    statements, attributor = attribute("NO_SE: the port. The passages show `open_pack`. `Store` opens sockets [2].")
    assert not statements
    assert attributor.missing == "the port"
    assert len(attributor.rejected) == 3


def test_a_no_se_at_the_end_is_no_statement() -> None:
    statements, attributor = attribute("`open_pack` looks into the cache [1].\nNO_SE: when packs are written.")
    assert len(statements) == 1
    assert attributor.missing == "when packs are written"


def test_text_copied_from_the_examples_is_rejected() -> None:
    statements, attributor = attribute(
        "`WickTrimmer.trim_wick` cuts the wick when `soot_level` is above `MAX_SOOT` [1]. `MAX_SOOT` is 37 [2]."
    )
    assert not statements
    assert {rejected.reason for rejected in attributor.rejected} == {"copied from the examples of the prompt"}
    statements, attributor = attribute("NO_SE: no passage shows a sprinkler daemon or its port.")
    assert (statements, attributor.missing) == ([], None)


def test_a_name_of_the_examples_that_is_asked_for_is_no_copy() -> None:
    _, attributor = attribute("NO_SE: how the sprinkler is wired.", question="How is the sprinkler wired?")
    assert attributor.missing == "how the sprinkler is wired"


def test_endless_marks() -> None:
    statements, attributor = attribute("`open_pack` looks into the cache " + "[1]" * 60, size=3)
    assert attributor.done
    assert [statement.text for statement in statements] == ["`open_pack` looks into the cache"]


def test_endless_sentences() -> None:
    statements, attributor = attribute("`open_pack` looks into the cache [1]. " * 30, size=7)
    assert attributor.done
    assert len(statements) == 1


def test_endless_words() -> None:
    statements, attributor = attribute("`open_pack` is here [1]. And then it calls " + "the pack of " * 90, size=5)
    assert attributor.done
    assert len(statements) == 1
    assert attributor.rejected[-1].reason == "the answer repeats itself"


def test_rows_of_zeros_are_no_loop() -> None:
    sentences = Sentences()
    assert not list(
        sentences.feed("The null id is `" + "0" * 40 + "` or [0, 0, 0, 0, 0, 0, 0, 0, 0] or ------------------")
    )
    assert not sentences.looping


def test_an_unfinished_last_sentence_is_cut() -> None:
    statements, attributor = attribute("`open_pack` looks into the cache [1]. After that the pack is", cut=True)
    assert len(statements) == 1
    assert attributor.rejected == (Rejected("After that the pack is", "the answer is cut here"),)


def test_a_last_sentence_without_full_stop_is_finished_when_the_model_stopped() -> None:
    assert len(attribute("`open_pack` looks into the cache [1]")[0]) == 1


def test_an_invented_next_turn_ends_the_answer() -> None:
    statements, attributor = attribute(
        "`open_pack` looks into the cache [1].\nQuestion: What else?\nThe cache is a cache."
    )
    assert len(statements) == 1
    assert attributor.done


def test_a_block_of_code_is_one_statement() -> None:
    statements, _ = attribute(
        "It reads the pack:\n```python\nreturn Pack.read(self.folder / name)\n```\n[1]\nThe cache is in the pack."
    )
    assert [statement.text.split("\n")[0] for statement in statements] == [
        "It reads the pack:",
        "```python",
        "The cache is in the pack.",
    ]
    assert cited(statements[1]) == [(STORE_LINES, "model")]
    assert statements[1].marked.endswith("```\n[1]")


def test_marks_may_stand_before_or_behind_their_sentence() -> None:
    for text in (
        "[2] `MAX_RETRIES` is 4.",
        "`MAX_RETRIES` is 4. [2]",
        "`MAX_RETRIES` is 4.\n[2]\n",
        "`MAX_RETRIES`[2] is 4.",
    ):
        statement, _ = one(text)
        assert (statement.text, cited(statement)) == ("`MAX_RETRIES` is 4.", [(RETRY_LINES, "model")])


def test_nothing_that_steers_a_terminal_comes_through() -> None:
    statements, attributor = attribute("`open_pack` \x1b[31mlooks\x07 into\u202e the cache [1]. \x1b]0;x\x07 [9].")
    for text in [statement.text for statement in statements] + [rejected.text for rejected in attributor.rejected]:
        assert text.isprintable()


WRITTEN = [
    "`open_pack` looks into the cache e.g. first [1]. Foo.bar is `a. b`. [2] Then\n\n1. One [3].\n2. Two!\n[1]\n"
    "```\nx. [1]\n```\n[2] End",
    "NO_SE: a [1]. b [2]\nc",
    "[1] a.\n[2] b. [1, 2]",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_the_pieces_that_a_text_comes_in_do_not_matter(text: str) -> None:
    whole, _ = attribute(text)
    for size in (1, 2, 5):
        assert attribute(text, size)[0] == whole


PARTS = st.one_of(
    st.sampled_from(
        ["[1]", "[2]", "[7]", "[1-3]", "[0]", "[", "]", "`", "```", "\n", ". ", "NO_SE:", "open_pack", "`MAX_RETRIES` ",
         "cache ", "src/store.py:10-16 ", "line 99 ", "\x1b[0m", "\u202e", "\udc80", "Question:", "packs are deleted"]
    ),
    st.text(max_size=5),
)  # fmt: skip


@given(st.lists(PARTS, max_size=40), st.booleans())
def test_whatever_is_written_every_citation_is_within_its_passage(parts: list[str], cut: bool) -> None:
    attributor = Attributor(blocks())
    found = [statement for part in parts for statement in attributor.feed(part)] + attributor.finish(cut)
    shown = {entry.path: (entry.first, entry.last) for entry, _ in PASSAGES}
    for statement in found:
        for cite in statement.citations:
            first, last = shown[cite.path]
            assert first <= cite.first <= cite.last <= last


# With vectors


LOOKS = "def look(self, key):\n    return self.entries[key]"
WRITES = "def write(self, key):\n    self.entries.append(key)"


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """One axis for what is about writing, and one for the rest."""
    return np.array(
        [(0.0, 1.0) if "append" in text or "put down" in text else (1.0, 0.0) for text in texts], np.float32
    )


def chosen(text: str, with_vectors: bool) -> list[tuple[tuple[int, int], str]]:
    two = select([passage("a.py", LOOKS, 1), passage("a.py", WRITES, 11)], 10_000)
    attributor = Attributor(two, vectors=vectors if with_vectors else None)
    [statement] = [*attributor.feed(text), *attributor.finish()]
    return cited(statement)


def test_of_passages_with_the_same_words_vectors_tell_the_closer_one() -> None:
    text = "The key of entries is put down."
    assert chosen(text, with_vectors=False) == [((1, 2), "tool")]
    assert chosen(text, with_vectors=True) == [((11, 12), "tool")]


def test_a_mark_that_vectors_speak_against_is_replaced() -> None:
    text = "The key of entries is put down [1]."
    assert chosen(text, with_vectors=False) == [((1, 2), "model")]
    assert chosen(text, with_vectors=True) == [((11, 12), "tool")]


# With commits


COMMIT = bytes.fromhex("1a2b3c4d" + "00" * 16)
TOLD = (Passage(b"", COMMIT, "commit", 1, 1, "commit", "Cache packs", 0.5), "Reading packs anew took seconds.")
NOTES = {(b"", COMMIT): "commit 1a2b3c4 2024-05-01 Cache packs"}


@given(
    st.lists(
        st.one_of(PARTS, st.sampled_from(['commit 1a2b3c4 "Cache packs" ', 'commit 1a2b3c4d "x"', "commit deadbee ",
                                          'commit 99887766 "Cache packs"', "took seconds. ", "[4]", "2024-05-01 "])),
        max_size=40,
    )
)  # fmt: skip
def test_whatever_is_written_only_a_commit_that_was_shown_is_cited(parts: list[str]) -> None:
    attributor = Attributor(select([*PASSAGES, TOLD], 10_000, notes=NOTES))
    for statement in [one for part in parts for one in attributor.feed(part)] + attributor.finish():
        assert all(cite.blob == COMMIT for cite in statement.citations if cite.is_commit)
        assert not find_all(statement.text)
        assert not re.search(r"\bcommit (?:deadbee|99887766)\b", statement.text)


@pytest.mark.parametrize(
    "written",
    ["x.py:4@main", "src/x.py:3@HEAD", "/etc/passwd:1@HEAD", "x.py:4-9@v1.2-rc.1", "x.py:1@HEAD~2", 'commit HEAD "x"'],
)
def test_a_place_at_a_name_is_taken_out_as_one_at_an_id_is(written: str) -> None:
    attributor = Attributor(select([*PASSAGES, TOLD], 10_000, notes=NOTES))
    said = [*attributor.feed(f"Reading packs anew took seconds, see {written}. "), *attributor.finish()]
    assert "@" not in " ".join(one.text for one in said)
    assert "HEAD" not in " ".join(one.text for one in said)
    assert any(written.rstrip('"') in one.text for one in attributor.rejected)


def test_a_commit_is_cited_whole_and_a_line_number_is_none_of_it() -> None:
    attributor = Attributor(select([*PASSAGES, TOLD], 10_000, notes=NOTES))
    said, numbered = [*attributor.feed("Reading packs anew took seconds. It is on line 1."), *attributor.finish()]
    assert [(cite.is_commit, cite.blob, cite.first, cite.last) for cite in said.citations] == [(True, COMMIT, 1, 1)]
    assert not numbered.citations
