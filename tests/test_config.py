"""Settings: who wins, what each key means, and what a wrong value is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from itza_git import config
from itza_git.api import Itza
from itza_git.config import MEGABYTE, Settings
from itza_git.errors import ConfigError
from itza_git.git import open_repository
from tests.repository import Repo

KEYS = {
    "embedder": ("itza.embedder", "ollama", "ollama"),
    "embed_model": ("itza.embedModel", "mxbai-embed-large", "mxbai-embed-large"),
    "answer_model": ("itza.answerModel", "llama3.2", "llama3.2"),
    "server": ("itza.server", "openai", "openai"),
    "ollama_host": ("itza.ollamaHost", "127.0.0.1:9", "127.0.0.1:9"),
    "openai_base": ("itza.openaiBase", "http://[::1]:1/v1", "http://[::1]:1/v1"),
    "allow_remote": ("itza.allowRemote", "true", True),
    "include": ("itza.include", "src", ("src",)),
    "exclude": ("itza.exclude", "*.txt", ("*.txt",)),
    "max_file_size": ("itza.maxFileSize", "2m", 2 * MEGABYTE),
    "history": ("itza.history", "false", False),
}


def load(repo: Repo, **environment: str) -> Settings:
    return config.load(open_repository(repo.path), environment)


def test_without_any_setting_the_defaults_hold(repo: Repo) -> None:
    assert load(repo) == Settings()


def test_every_setting_has_a_key() -> None:
    assert set(KEYS) == set(config.NAMES)


@pytest.mark.parametrize("name", KEYS)
def test_a_key_of_the_repository_sets_its_field_and_no_other(repo: Repo, name: str) -> None:
    key, value, parsed = KEYS[name]
    repo.git("config", key, value)
    changed = load(repo)
    assert getattr(changed, name) == parsed
    assert {n for n in config.NAMES if getattr(changed, n) != getattr(Settings(), n)} <= {name}


@pytest.mark.parametrize("name", KEYS)
def test_the_environment_sets_every_field_too(repo: Repo, name: str) -> None:
    _, value, parsed = KEYS[name]
    assert getattr(load(repo, **{f"ITZA_{name.upper()}": value}), name) == parsed


def test_flags_win_over_environment_over_repository_over_user(repo: Repo) -> None:
    repo.git("config", "--global", "itza.answerModel", "user")
    assert load(repo).answer_model == "user"
    repo.git("config", "itza.answerModel", "repository")
    assert load(repo).answer_model == "repository"
    environment = {"ITZA_ANSWER_MODEL": "environment"}
    assert load(repo, **environment).answer_model == "environment"
    assert Itza.open(repo.path, environment, answer_model="flag").settings.answer_model == "flag"


def test_the_address_of_ollama_comes_from_its_own_variable_unless_git_says_otherwise(repo: Repo) -> None:
    assert load(repo, OLLAMA_HOST="0.0.0.0:1").ollama_host == "0.0.0.0:1"
    repo.git("config", "itza.ollamaHost", "127.0.0.1:2")
    assert load(repo, OLLAMA_HOST="0.0.0.0:1").ollama_host == "127.0.0.1:2"


def test_pathspecs_of_all_levels_count_together(repo: Repo) -> None:
    repo.git("config", "--global", "--add", "itza.exclude", "*.txt")
    repo.git("config", "--add", "itza.exclude", "docs")
    repo.git("config", "--add", "itza.exclude", "a b/c")
    assert load(repo).exclude == ("*.txt", "docs", "a b/c")


def test_keys_are_read_without_regard_to_case(repo: Repo) -> None:
    repo.git("config", "itza.maxfilesize", "10")
    assert load(repo).max_file_size == 10


@pytest.mark.parametrize(
    ("written", "size"), [("0", 0), ("500", 500), ("4k", 4096), ("4K", 4096), (" 3m ", 3 * MEGABYTE), ("1g", 1 << 30)]
)
def test_a_size_may_have_a_unit(repo: Repo, written: str, size: int) -> None:
    repo.git("config", "itza.maxFileSize", written)
    assert load(repo).max_file_size == size


@pytest.mark.parametrize(("written", "value"), [("yes", True), ("On", True), ("1", True), ("no", False), ("0", False)])
def test_a_boolean_is_written_as_git_does(repo: Repo, written: str, value: bool) -> None:
    repo.git("config", "itza.allowRemote", written)
    assert load(repo).allow_remote is value


def test_a_key_without_a_value_is_true(repo: Repo) -> None:
    file = repo.path / ".git" / "config"
    file.write_text(file.read_text() + "[itza]\n\tallowRemote\n")
    assert load(repo).allow_remote is True


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("itza.embedder", "magic"),
        ("itza.embedder", ""),
        ("itza.server", "smtp"),
        ("itza.allowRemote", "perhaps"),
        ("itza.history", "2x"),
        ("itza.maxFileSize", "big"),
        ("itza.maxFileSize", "-1"),
        ("itza.maxFileSize", "1.5m"),
        ("itza.maxFileSize", ""),
        ("itza.maxFileSize", "1mb"),
    ],
)
def test_a_wrong_value_is_named_with_its_key_and_the_way_out(repo: Repo, key: str, value: str) -> None:
    repo.git("config", key, value)
    with pytest.raises(ConfigError) as raised:
        load(repo)
    assert key in str(raised.value)
    assert repr(value) in str(raised.value)
    assert raised.value.hint == f"git config --show-origin --get-all {key}"


def test_the_way_out_finds_a_wrong_value_wherever_it_stands(repo: Repo, home: Path) -> None:
    repo.git("config", "--global", "itza.server", "smtp")
    for value in ("ftp", "gopher"):
        repo.git("config", "--add", "itza.server", value)
    with pytest.raises(ConfigError, match="'gopher'") as raised:
        load(repo)
    told = repo.git(*raised.value.hint.split()[1:]).splitlines()
    assert told == [f"file:{home}/.gitconfig\tsmtp", "file:.git/config\tftp", "file:.git/config\tgopher"]


def test_a_wrong_value_in_the_environment_names_the_variable(repo: Repo) -> None:
    with pytest.raises(ConfigError, match="ITZA_MAX_FILE_SIZE: 'big'") as raised:
        load(repo, ITZA_MAX_FILE_SIZE="big")
    assert raised.value.hint == "unset ITZA_MAX_FILE_SIZE"


def test_a_committed_file_sets_what_is_indexed_and_nothing_else(repo: Repo) -> None:
    repo.write(".itzaconfig", "[itza]\n\texclude = secret\n\tmaxFileSize = 2k\n\tollamaHost = evil.example\n")
    repo.write("secret/key.py", "def key(): pass\n")
    repo.write("big.py", "x = 1\n" * 1000)
    repo.write("a.py", "def a(): pass\n")
    repo.commit()
    with Itza.open(repo.path) as itza:
        report = itza.refresh()
        assert {(s.path, s.reason) for s in report.coverage.skipped} == {
            (b"secret/key.py", "excluded"),
            (b"big.py", "too large"),
        }
        assert report.notes == (
            ".itzaconfig: itza.ollamahost does not count there; include, exclude and maxFileSize do",
        )
        assert itza.settings.ollama_host == ""


def test_the_users_own_setting_wins_over_the_committed_one(repo: Repo) -> None:
    repo.write(".itzaconfig", "[itza]\n\tmaxFileSize = 2k\n")
    repo.write("big.py", "x = 1\n" * 1000)
    repo.commit()
    repo.git("config", "itza.maxFileSize", "1m")
    with Itza.open(repo.path) as itza:
        assert itza.refresh().coverage.skipped == ()


def test_a_committed_file_that_is_no_configuration_changes_nothing(repo: Repo) -> None:
    repo.write(".itzaconfig", "[[[\n")
    repo.write("a.py", "def a(): pass\n")
    repo.commit()
    with Itza.open(repo.path) as itza:
        for _ in range(2):  # told each time, not only when the tree is new
            report = itza.refresh()
            assert report.coverage.indexed == 2
            assert report.notes == (".itzaconfig is not in git's configuration syntax and does not count",)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("maxFileSize = banana", ".itzaconfig: itza.maxFileSize: 'banana' is not a size such as 500k or 2m"),
        ('exclude = ":!foo"', ".itzaconfig: itza.exclude: pathspec magic is not supported: :!foo"),
    ],
)
def test_a_bad_value_in_the_committed_file_is_told_and_stops_nobody(repo: Repo, line: str, told: str) -> None:
    repo.write(".itzaconfig", f"[itza]\n\t{line}\n")
    repo.write("a.py", "def a(): pass\n")
    repo.commit()
    with Itza.open(repo.path) as itza:
        assert itza.refresh().notes == (told,)
        assert itza.status().troubles == (told,)
        assert itza.search("a").hits
