"""Faults that users reported of comparable tools, as they would meet them here; C numbers are of our own list."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from itza_git import Itza
from itza_git.results import SearchResult
from tests.command import BIN, Done, environment, itza
from tests.counting import Index
from tests.model_server import Script, serving
from tests.repository import Repo


def indexed(repo: Repo) -> dict[str, str]:
    """Every path of HEAD with the reason why it is skipped, "" when it is searched."""
    with Itza.open(repo.path, {}) as opened:
        coverage = opened.refresh().coverage
        skipped = {os.fsdecode(one.path): one.reason for one in coverage.skipped}
        assert coverage.indexed == coverage.total
        listed = repo.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")[:-1]
        assert coverage.total == len(listed) - len(skipped)
        return {path: skipped.get(path, "") for path in listed}


def search(repo: Repo, query: str, **options: Any) -> SearchResult:
    with Itza.open(repo.path, {}) as opened:
        return opened.search(query, **options)


def files(found: SearchResult) -> set[str]:
    return {os.fsdecode(hit.passage.path) for hit in found.hits}


# C01: an empty file aborts the whole run


@pytest.mark.parametrize("blank", ["", "\n", "  \n\n", "\t\r\n \n", "\f", "\ufeff", "\ufeff \n"])
def test_a_file_without_text_stops_nothing_and_is_never_embedded(repo: Repo, blank: str) -> None:
    repo.write("blank.py", blank)
    repo.write(".keep", "")
    repo.write("b.py", "def f(): pass\n")
    repo.commit()
    index = Index(repo.path)
    assert index.embedded() == 1
    assert all(text.strip() for text in index.embedder.texts)
    assert index.embedded() == 0
    assert indexed(repo) == {"blank.py": "empty", ".keep": "empty", "b.py": ""}
    assert files(search(repo, "f")) == {"b.py"}


def test_a_tree_of_blank_files_alone_is_indexed_whole(repo: Repo) -> None:
    repo.write(".keep", "")
    repo.commit()
    done = itza(repo, "index")
    assert (done.code, done.err) == (0, "")
    assert "0 of 0 files indexed" in done.out


# C02: content that is not UTF-8


def test_other_encodings_are_named_and_cited_with_the_right_lines(repo: Repo) -> None:
    repo.write("l1.py", b"# caf\xe9\n\ndef brew(x):\n    return x\n")
    repo.write("sjis.txt", b"\x93\xfa\x96\x7b brew\n")
    repo.write("u16.txt", b"\xff\xfeh\0i\0")
    repo.write("good.py", "other = 1\n")
    repo.commit()
    done = itza(repo, "index", "-v")
    assert done.code == 0
    assert done.error == [
        "note: l1.py is not UTF-8 throughout; other bytes are shown as \ufffd",
        "note: sjis.txt is not UTF-8 throughout; other bytes are shown as \ufffd",
    ]
    assert "binary       u16.txt" in done.out
    hit = next(hit for hit in search(repo, "brew").hits if hit.passage.path == b"l1.py")
    assert hit.text.split("\n")[3 - hit.passage.first] == "def brew(x):"
    assert "caf\ufffd" in hit.text or hit.passage.first > 1


def test_many_lossy_files_are_counted_not_listed(repo: Repo) -> None:
    for number in range(15):
        repo.write(f"{number:02}.txt", b"caf\xe9 %d\n" % number)
    repo.commit()
    lines = itza(repo, "index").error
    assert len(lines) == 11
    assert lines[-1] == "note: so are 5 more files"


# C04: the encoding of standard output


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8", "utf-16"])
def test_no_encoding_of_the_output_ends_the_program(repo: Repo, encoding: str) -> None:
    repo.write("日本.py", 'x = "→ ✓ 日本 🙂"\n')
    repo.commit()
    for args in (["ask", "x", "--no-model"], ["search", "x", "--json"], ["status"], ["index", "-v"]):
        done = raw(repo, encoding, *args)
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr
        if "--json" in args:
            assert json.loads(done.stdout.decode(encoding))["hits"][0]["path"] == "日本.py"


def raw(repo: Repo, encoding: str, *args: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(BIN / "git-itza"), *args],
        cwd=repo.path,
        env=environment(PYTHONIOENCODING=encoding),
        capture_output=True,
        check=False,
    )


# C05: a detached HEAD


@pytest.fixture
def two_commits(repo: Repo) -> Repo:
    repo.write("f.py", "def f_first():\n    pass\n")
    repo.commit("first")
    repo.write("f.py", "def f_second():\n    pass\n")
    repo.commit("second")
    return repo


def assert_answers_for(repo: Repo, revision: str) -> None:
    short = repo.git("rev-parse", "--short", revision)
    assert itza(repo, "index").code == 0
    done = itza(repo, "ask", "f", "--no-model")
    assert done.code == 0
    assert done.out.splitlines()[0].partition("  ")[0].endswith(f"@{short}")
    status = itza(repo, "status")
    assert status.code == 0
    assert "fresh" in status.out
    for heads in (repo.path / ".git" / "itza").rglob("heads.json"):
        assert all(ref.startswith("refs/heads/") for ref in json.loads(heads.read_text()))


def test_a_detached_head_is_answered_for(two_commits: Repo) -> None:
    two_commits.git("checkout", "--quiet", "HEAD~1")
    assert_answers_for(two_commits, "HEAD")
    assert files(search(two_commits, "first")) == {"f.py"}


def test_in_the_middle_of_a_bisection(two_commits: Repo) -> None:
    for number in range(4):
        two_commits.write(f"more{number}.py", f"more_{number} = 1\n")
        two_commits.commit()
    two_commits.git("bisect", "start")
    two_commits.git("bisect", "bad")
    two_commits.git("bisect", "good", "HEAD~5")
    assert_answers_for(two_commits, "HEAD")


def test_in_the_middle_of_a_rebase(two_commits: Repo) -> None:
    two_commits.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    two_commits.write("f.py", "def f_conflict():\n    pass\n")
    two_commits.commit("conflict")
    with pytest.raises(AssertionError, match="rebase"):
        two_commits.git("rebase", "main")
    assert two_commits.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    assert_answers_for(two_commits, "HEAD")


# C07: links that loop, dangle, and lead out


def test_links_are_skipped_and_never_followed(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("zzsecret words\n")
    repo.write("d/real.py", "def real():\n    pass\n")
    targets = {
        "loop": ".", "abs": str(tmp_path / "secret.txt"), "up": "../../x", "dang": "nowhere", "d/self": "../d",
        "out": "../secret.txt",
    }  # fmt: skip
    for name, target in targets.items():
        (repo.path / name).symlink_to(target)
    repo.commit()
    (repo.path / "uncommitted").symlink_to(tmp_path / "secret.txt")
    assert indexed(repo) == dict.fromkeys(targets, "symlink") | {"d/real.py": ""}
    for worktree in (False, True):
        found = search(repo, "zzsecret real", worktree=worktree)
        assert files(found) == {"d/real.py"}
        assert "zzsecret" in found.found.unknown
    store = b"".join(path.read_bytes() for path in (repo.path / ".git" / "itza").rglob("*") if path.is_file())
    assert b"zzsecret" not in store


def test_a_link_that_became_a_file_is_read_and_the_other_way_round(repo: Repo) -> None:
    (repo.path / "a.py").symlink_to("b.py")
    repo.write("b.py", "def b():\n    pass\n")
    repo.commit()
    assert indexed(repo) == {"a.py": "symlink", "b.py": ""}
    (repo.path / "a.py").unlink()
    repo.write("a.py", "def a():\n    pass\n")
    (repo.path / "b.py").unlink()
    (repo.path / "b.py").symlink_to("a.py")
    repo.commit()
    assert indexed(repo) == {"a.py": "", "b.py": "symlink"}


# C08: huge files of one line


def test_files_of_one_line_are_skipped_or_capped_within_little_memory(repo: Repo) -> None:
    repo.write("app.js", "var a=1;" * 400_000)
    repo.write("d.json", "{" + ",".join(f'"k{n}":{n}' for n in range(200_000)) + "}")
    repo.write("mid.js", "var b=2;" * 100_000)
    repo.write("one.txt", "words " * 3_000)
    repo.write("last.py", "def found():\n    pass\n")
    repo.commit()
    done, peak = measured(repo, "index", "-v")
    assert done.code == 0
    reasons = {path: reason for path, reason in indexed(repo).items() if reason}
    assert reasons == {"app.js": "too large", "d.json": "too large", "mid.js": "minified"}
    assert peak < 400_000
    assert search(repo, "found").hits[0].passage.path == b"last.py"


def test_a_larger_limit_reads_them_and_caps_their_text(repo: Repo) -> None:
    repo.write("one.txt", "words " * 3_300)
    repo.write("wide.json", "[\n" + '"' + "x " * 90_000 + '",\n1\n' * 5_000 + "]\n")
    repo.commit()
    index = Index(repo.path)
    index.refresh()
    assert max(map(len, index.embedder.texts)) <= 16_001


def measured(repo: Repo, *args: str) -> tuple[Done, int]:
    """The finished command, and the most memory (kB) that it or a worker of it took."""
    program = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:])\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.exit(done.returncode)\n"
    )
    command = [str(BIN / "python"), "-c", program, str(BIN / "git-itza"), *args]
    done = subprocess.run(command, cwd=repo.path, env=environment(), capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr), int(done.stdout.split()[-1])


# C10: .gitignore and its like, re-implemented wrongly


def test_what_is_indexed_is_what_the_commit_holds(repo: Repo) -> None:
    repo.write(".gitignore", "p/*\n!p/app\n/Lib/\n")
    for name in (".prettierignore", ".ignore", ".dockerignore", ".npmignore", ".rgignore", ".cursorignore"):
        repo.write(name, "*\n!x.md\n")
    for path in (
        "p/app/a.py",
        "p/z/b.py",
        "sub/Lib/c.py",
        "Lib/d.py",
        "node_modules/e.js",
        "dist/f.py",
        ".hidden/g.py",
    ):
        repo.write(path, f"value = '{path}'\n")
    repo.git("add", "--force", "p/z/b.py")
    repo.commit()
    held = indexed(repo)
    assert held["p/app/a.py"] == held["p/z/b.py"] == held["sub/Lib/c.py"] == held[".hidden/g.py"] == ""
    assert "Lib/d.py" not in held
    assert {path: reason for path, reason in held.items() if reason} == {}


def test_an_ignored_file_is_no_part_of_the_working_tree_either(repo: Repo) -> None:
    repo.write(".gitignore", "build/\n")
    repo.commit()
    repo.write("build/out.py", "def built():\n    pass\n")
    repo.write("new.py", "def fresh():\n    pass\n")
    assert files(search(repo, "built fresh", worktree=True)) <= {"new.py", ".gitignore"}
    assert "new.py" in files(search(repo, "fresh", worktree=True))


# C34: submodules


def test_a_submodule_is_skipped_and_works_by_itself(repo: Repo, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner")
    inner.write("inner.py", "def inner_function():\n    pass\n")
    inner.commit()
    repo.write("outer.py", "def outer_function():\n    pass\n")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "lib/inner")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},bare-link")
    repo.git("add", "outer.py")
    repo.git("commit", "--quiet", "--message", "x")
    assert indexed(repo) == {"outer.py": "", ".gitmodules": "", "lib/inner": "submodule", "bare-link": "submodule"}
    assert "2 submodule" in itza(repo, "status").out
    assert files(search(repo, "inner function")) <= {"outer.py", ".gitmodules"}

    done = itza(repo.path / "lib" / "inner", "search", "inner function")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("inner.py:1-2@")
    assert (repo.path / ".git" / "modules" / "lib" / "inner" / "itza").is_dir()


# C35: LFS pointers, and the pictures in notebooks


def test_a_pointer_is_skipped_and_of_a_notebook_only_its_sources_are_found(repo: Repo) -> None:
    repo.write("model.py", f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 123456\n")
    picture = "iVBORw0KGgo" * 18_000
    cell = {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "source": ["def load_cfg():\n", "    return 'settings'\n"],
        "outputs": [{"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}}],
    }
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    repo.write("nb.ipynb", json.dumps(notebook, indent=1))
    repo.commit()
    assert indexed(repo) == {"model.py": "LFS pointer", "nb.ipynb": ""}
    hit = search(repo, "load_cfg").hits[0]
    stored = (repo.path / "nb.ipynb").read_text().split("\n")
    line = next(number for number, text in enumerate(stored, 1) if "def load_cfg" in text)
    assert hit.passage.first <= line <= hit.passage.last
    assert "iVBORw0KGgo" not in hit.text
    index = Index(repo.path)
    index.refresh()
    assert not any("iVBORw0KGgo" in text for text in index.embedder.texts)


@pytest.mark.parametrize("ending", ["\n", ""])
def test_a_pointer_with_an_extension_or_without_its_last_newline_is_still_one(repo: Repo, ending: str) -> None:
    repo.write(
        "x.bin",
        "version https://git-lfs.github.com/spec/v1\next-0-foo sha256:"
        + "cd" * 32
        + f"\noid sha256:{'ab' * 32}\nsize 9{ending}",
    )
    repo.commit()
    assert indexed(repo) == {"x.bin": "LFS pointer"}


# C28: a server refuses a whole batch for one long text


def test_one_dense_file_does_not_keep_the_others_from_being_embedded(repo: Repo) -> None:
    for n in range(40):
        repo.write(f"m{n}.py", f"def f{n}():\n    return {n}\n")
    repo.write("dense.yml", "x: " + "[1,2]," * 500 + "\n")
    repo.commit()
    with serving(Script(longest_input=2000)) as server:
        repo.git("config", "itza.embedder", "ollama")
        done = itza(repo, "index", "--json", ITZA_OLLAMA_HOST=server.host)
        requests = len(server.batches)
        assert (done.code, done.json["not_embedded"]) == (0, 0)
        assert done.json["coverage"]["indexed"] == 41
        assert itza(repo, "index", ITZA_OLLAMA_HOST=server.host).code == 0
        assert len(server.batches) <= requests + 1  # nothing is tried for ever
    assert requests < 25
    assert done.err.count("\n") <= 1


# C31: a window that is smaller than the prompt cuts the instructions off, silently


@pytest.mark.parametrize("read", [100, 4096])
def test_an_answer_to_a_prompt_that_was_cut_is_not_trusted(repo: Repo, read: int) -> None:
    repo.write("net.py", "def retry(times):\n    # Try again when the server is busy.\n    return times\n")
    repo.commit()
    with serving(Script("`retry` tries again when the server is busy [1].", read_tokens=read)) as server:
        done = itza(repo, "ask", "--json", "what is tried again when the server is busy?", OLLAMA_HOST=server.host)
        asked = server.chats[0]
    prompt = sum(len(message["content"]) for message in asked["messages"])
    assert asked["options"]["num_ctx"] >= prompt / 4 + asked["options"]["num_predict"]
    assert done.json["confidence"] == "low"
    assert done.json["rejected"][0] == {"text": "the prompt", "reason": f"the server read only {read} tokens of it"}
