"""The whole way from a question to an answer, with a scripted model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from itza_git.answering.answer import PASSAGES_ONLY, Answer, Cited, Statement, join
from itza_git.answering.ask import answer
from itza_git.errors import BadResponse, ItzaError, ModelMissing, ServerUnreachable, UsageError
from itza_git.models.protocol import Message, PromptTooLong, Usage
from itza_git.records import Passage
from tests.passages import PASSAGES, passage

QUESTION = "How are packs opened?"
GOOD = "`Store.open_pack` looks into the cache first [1]."


class Model:
    """A chat server that writes what it is told to, in small pieces, and then ends or fails."""

    def __init__(self, text: str, end: Usage | ItzaError | None = None, fits: int = 99) -> None:
        self.text = text
        self.end = end or Usage("stop")
        self.fits = fits
        self.prompts: list[Sequence[Message]] = []
        self.read = 0

    def chat(
        self, model: str, messages: Sequence[Message], *, num_ctx: int, num_predict: int, think: bool = False
    ) -> Iterator[str | Usage]:
        self.prompts.append(messages)
        assert num_ctx == 4096 and 0 < num_predict <= 256 and not think
        if messages[-1].content.count(" lines ") > self.fits:
            raise PromptTooLong("too long")
        for start in range(0, len(self.text), 3):
            self.read = start
            yield self.text[start : start + 3]
        if isinstance(self.end, ItzaError):
            raise self.end
        yield self.end


def ask(
    model: Model, passages: Sequence[tuple[Passage, str]] = PASSAGES, weak: bool = False, force: bool = False
) -> tuple[list[Statement], Answer]:
    *statements, last = answer(QUESTION, passages, model, "m", weak=weak, force=force)
    assert isinstance(last, Answer)
    streamed = [item for item in statements if isinstance(item, Statement)]
    assert len(streamed) == len(statements)
    return streamed, last


def test_a_good_answer() -> None:
    streamed, found = ask(Model(f"{GOOD} `Pack.read` reads it from the folder [1]."))
    assert (found.status, found.confidence, found.no_se_by, found.model) == ("answered", "high", None, "m")
    assert found.statements == tuple(streamed)
    assert found.text == "`Store.open_pack` looks into the cache first [1]. `Pack.read` reads it from the folder [1]."
    [cite] = found.citations
    assert (cite.path, cite.first, cite.last, cite.by) == (b"src/store.py", 10, 16, "model")
    assert cite.blob == PASSAGES[0][0].blob
    assert found.fully_verified
    assert not found.rejected and found.missing is None


def test_statements_come_before_the_model_has_ended() -> None:
    model = Model(GOOD + " And then" + " more" * 100)
    events = answer(QUESTION, PASSAGES, model, "m")
    assert isinstance(next(events), Statement)
    assert model.read < 100


def test_an_answer_that_is_verified_in_part() -> None:
    _, found = ask(Model(f"{GOOD} `flush_all` writes it [1]."))
    assert (found.status, found.confidence, found.fully_verified) == ("answered", "low", False)
    assert found.text == "`Store.open_pack` looks into the cache first [1]. `flush_all` writes it."


def test_an_answer_that_is_not_verified() -> None:
    _, found = ask(Model("`flush_all` writes it [1]."))
    assert (found.status, found.confidence, found.fully_verified) == ("unverified", "low", False)
    assert found.citations == ()


def test_the_models_no_se() -> None:
    streamed, found = ask(Model("No_SE: how packs are written."))
    assert not streamed
    assert (found.status, found.no_se_by, found.missing) == ("no_se", "model", "how packs are written")
    assert found.text is None and found.confidence is None and found.model == "m"


class Wavering(Model):
    """A model that writes the next text when it is asked again."""

    def __init__(self, *texts: str, then: ItzaError | None = None) -> None:
        super().__init__("")
        self.texts = list(texts)
        self.then = then

    def chat(
        self, model: str, messages: Sequence[Message], *, num_ctx: int, num_predict: int, think: bool = False
    ) -> Iterator[str | Usage]:
        if self.then and not self.texts:
            raise self.then
        self.text = self.texts.pop(0)
        return super().chat(model, messages, num_ctx=num_ctx, num_predict=num_predict)

    @property
    def shown(self) -> list[int]:
        return [prompt[-1].content.count(" lines ") for prompt in self.prompts]


FOUR = [*PASSAGES, passage("src/more.py", "def more():\n    return 1")]


@pytest.mark.parametrize(("passages", "shown"), [(FOUR, [4, 3]), (PASSAGES, [3, 2])])
def test_no_se_is_asked_once_more_with_the_best_passages(passages: list[tuple[Passage, str]], shown: list[int]) -> None:
    model = Wavering("NO_SE: packs. Else [9].", GOOD)
    streamed, found = ask(model, passages)
    assert model.shown == shown
    assert (found.status, found.confidence, found.text) == ("answered", "low", GOOD)
    assert found.statements == tuple(streamed)
    assert "[9]" in [rejected.text for rejected in found.rejected]
    model = Wavering("NO_SE: packs.", "NO_SE: how packs are written.")
    _, found = ask(model, passages)
    assert (found.status, found.no_se_by, found.missing) == ("no_se", "model", "how packs are written")


def test_no_se_is_believed_when_retrieval_is_weak_or_there_is_little_to_leave_out() -> None:
    for passages, weak in ((FOUR, True), (PASSAGES[:2], False)):
        model = Wavering("NO_SE: packs.")
        _, found = ask(model, passages, weak=weak, force=True)
        assert (found.status, len(model.prompts)) == ("no_se", 1)


def test_no_se_stands_when_asking_again_fails() -> None:
    _, found = ask(Wavering("NO_SE: packs.", then=ServerUnreachable("gone")))
    assert (found.status, found.missing) == ("no_se", "packs")
    assert found.rejected[-1].text == "gone"


def test_no_se_with_an_answer_is_of_low_confidence() -> None:
    _, found = ask(Model(f"NO_SE: {GOOD}"))
    assert (found.status, found.confidence, found.no_se_by) == ("answered", "low", None)


@pytest.mark.parametrize(
    "text", ["", "\n", "[1]", "[1][1][1][1][1][1][1][1][1][1]", "`WickTrimmer` trims [1].", "NO_SE"]
)
def test_an_answer_of_which_nothing_is_left(text: str) -> None:
    streamed, found = ask(Model(text))
    assert not streamed
    assert (found.status, found.no_se_by) == ("no_se", "model")
    assert found.missing


def test_weak_retrieval_asks_no_model() -> None:
    model = Model(GOOD)
    _, found = ask(model, weak=True)
    assert not model.prompts
    assert (found.status, found.no_se_by, found.model) == ("no_se", "retrieval", None)
    assert found.missing == "no passage is close enough to the question"  # `open` is a form of `opened`


def test_no_passages_ask_no_model() -> None:
    model = Model(GOOD)
    for force in (False, True):
        _, found = ask(model, passages=[], force=force)
        assert (found.status, found.missing) == ("no_se", "no passage mentions packs, opened")
    assert not model.prompts


def test_force_asks_all_the_same_and_trusts_less() -> None:
    _, found = ask(Model(GOOD), weak=True, force=True)
    assert (found.status, found.confidence) == ("answered", "low")


def test_a_prompt_that_the_server_cut_is_not_trusted() -> None:
    for tokens in (40, 4096):
        _, found = ask(Model(GOOD, Usage("stop", tokens)))
        assert (found.status, found.confidence) == ("answered", "low")
        assert found.rejected[0].text == "the prompt"
        assert str(tokens) in found.rejected[0].reason


@pytest.mark.parametrize("tokens", [None, 0, 600, 1200])
def test_a_prompt_that_was_read_or_not_counted_is_trusted(tokens: int | None) -> None:
    _, found = ask(Model(GOOD, Usage("stop", tokens)))
    assert found.confidence == "high"


def test_an_answer_cut_by_its_limit_loses_its_unfinished_sentence() -> None:
    _, found = ask(Model(f"{GOOD} After that the pack", Usage("length")))
    assert found.text == "`Store.open_pack` looks into the cache first [1]."
    assert found.rejected[0].text == "After that the pack"


def test_an_endless_answer_is_not_read_to_its_end() -> None:
    model = Model(f"{GOOD} " * 100)
    _, found = ask(model)
    assert found.text == "`Store.open_pack` looks into the cache first [1]."
    assert model.read < 300


def test_a_stream_that_breaks_keeps_what_was_checked() -> None:
    streamed, found = ask(Model(f"{GOOD} After that the", BadResponse("EOF")))
    assert len(streamed) == 1
    assert (found.status, found.confidence) == ("answered", "low")
    assert [rejected.text for rejected in found.rejected] == ["EOF", "After that the"]


@pytest.mark.parametrize("error", [BadResponse("EOF"), ServerUnreachable("gone"), ModelMissing("m")])
def test_a_stream_that_gives_nothing_is_an_error(error: ItzaError) -> None:
    with pytest.raises(type(error)):
        ask(Model("After", error))


def test_a_prompt_that_is_too_long_is_tried_with_fewer_passages() -> None:
    model = Model(GOOD, fits=1)
    _, found = ask(model)
    assert found.status == "answered"
    assert [prompt[-1].content.count(" lines ") for prompt in model.prompts] == [3, 1]
    with pytest.raises(PromptTooLong):
        ask(Model(GOOD, fits=0))


def test_a_question_that_fills_the_window() -> None:
    with pytest.raises(UsageError):
        list(answer("x" * 20_000, PASSAGES, Model(GOOD), "m"))


def cite(n: int, by: str = "tool") -> Cited:
    return Cited(n, b"a", b"b", n, n, "model" if by == "model" else "tool")


def test_how_statements_are_joined() -> None:
    statements = [
        Statement("First.", (cite(1), cite(2))),
        Statement("Second?"),
        Statement("- item", (cite(1),), starts_line=True),
        Statement("```\ncode\n```", (cite(2),), starts_line=True),
        Statement("\u7b54\u6848\u3002", (cite(2),), starts_line=True),
    ]
    assert join(statements) == ("First [1][2]. Second?\n- item [1]\n```\ncode\n```\n[2]\n\u7b54\u6848 [2]\u3002")


def test_citations_are_listed_once_and_the_models_choice_shows() -> None:
    found = Answer("answered", (Statement("a", (cite(2), cite(1))), Statement("b", (cite(2, "model"),))))
    assert [(entry.n, entry.by) for entry in found.citations] == [(1, "tool"), (2, "model")]


def test_passages_only() -> None:
    assert (PASSAGES_ONLY.status, PASSAGES_ONLY.text, PASSAGES_ONLY.citations) == ("passages", None, ())
    assert not PASSAGES_ONLY.fully_verified
