"""The miner of training pairs, and the packer; the trainer itself needs torch and is not tested here."""

from __future__ import annotations

import numpy as np
import pytest

from itza_git.embedding.builtin import WEIGHTS, Builtin, Header
from itza_git.words import words
from training.comments import clean, inline, pairs
from training.examples import BATCH, Examples
from training.fetch_corpus import CORPUS, listed
from training.mine import Kind, mine, named
from training.pack import packed, quantised
from training.pairs import Pair
from training.sources import Source, is_hand_written, language_of

PERMISSIVE = ("MIT", "BSD", "Apache", "ISC", "PSF", "Zlib", "0BSD", "Unlicense", "CC0", "BSL-1.0")

EXAMPLES = {
    "python": b'''
def load(path, retries):
    """Read the settings of a user from disk.

    Args:
        path: where they are.
    """
    with open(path) as handle:
        return parse_settings(handle.read(), retries=retries)
''',
    "go": b"""package a

// Load reads the settings of a user from disk.
func Load(path string, retries int) (Settings, error) {
	data, err := os.ReadFile(path)
	return parseSettings(data, retries), err
}
""",
    "rust": b"""
impl Store {
    /// Reads the settings of a user from disk.
    ///
    /// # Errors
    /// When there are none.
    #[inline]
    pub fn load(&self, path: &Path, retries: u32) -> Result<Settings> {
        parse_settings(fs::read(path)?, retries)
    }
}
""",
    "java": b"""class Store {
    /**
     * Reads the settings of a user {@code from disk}.
     *
     * @param path where they are
     */
    @Override
    public Settings load(Path path, int retries) { return parseSettings(Files.readAllBytes(path), retries); }
}
""",
    "typescript": b"""
/** Reads the settings of a user from disk. */
export async function load(path: string, retries: number): Promise<Settings> {
  return parseSettings(await readFile(path), retries);
}
""",
    "ruby": b"""
class Store
  # Reads the settings of a user from disk.
  #
  # @param path [String]
  def load(path, retries)
    parse_settings(File.read(path), retries, strict: true)
  end
end
""",
    "c": b"""
/*
 * Reads the settings of a user from disk.
 */
static struct settings *
load(const char *path, int retries)
{
	return parse_settings(read_whole_file(path), retries);
}
""",
    "elixir": b'''
defmodule Store do
  @doc """
  Reads the settings of a user from disk.
  """
  @spec load(String.t(), integer) :: Settings.t()
  def load(path, retries), do: parse_settings(File.read!(path), retries)
end
''',
    "haskell": b"""
module Store where

-- | Reads the settings of a user from disk.
load :: FilePath -> Int -> IO Settings
load path 0 = fail path
load path retries = parseSettings retries <$> readFile path
""",
    "bash": b"""
# Reads the settings of a user from disk.
load() {
  local path=$1 retries=$2
  parse_settings "$(cat "$path")" "$retries" --strict
}
""",
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("language", EXAMPLES)
def test_a_comment_is_paired_with_the_code_after_it(language: str) -> None:
    (pair,) = pairs(Source("store", language, EXAMPLES[language]))
    assert pair.doc.removeprefix("Load ") in (
        "Read the settings of a user from disk.",
        "Reads the settings of a user from disk.",
        "reads the settings of a user from disk.",
    )
    assert pair.name.lower() == "load"
    assert "settings of a user" not in pair.code
    assert "retries" in pair.code
    assert "load" not in pair.nameless_code.lower()


SAID = "Another process may hold the lock: wait a while and try again."
INSIDE = {
    "bash": "load() {\n  local retries=3\n  # %s\n  until take_lock; do sleep 1; retries=$((retries - 1)); done\n}\n",
    "c": "int load(int retries)\n{\n\tint fd;\n\t/* %s */\n\twhile (!take_lock(path)) sleep_some(retries--);\n}\n",
    "cpp": "int Store::load(int retries) {\n  // %s\n  while (!take_lock(path)) sleep_some(retries--);\n}\n",
    "csharp": "class S { int Load(int retries) {\n // %s\n while (!TakeLock(path)) SleepSome(retries--); } }\n",
    "elixir": "defmodule S do\n  def load(retries) do\n    # %s\n    take_lock(path) || sleep(retries)\n  end\nend\n",
    "go": "package a\n\nfunc Load(retries int) {\n\t// %s\n\tfor !takeLock(path) { sleepSome(retries) }\n}\n",
    "haskell": "load retries = do\n  -- %s\n  unless taken (sleepSome retries path)\n  takeLock path\n",
    "java": "class S { int load(int retries) {\n // %s\n while (!takeLock(path)) sleepSome(retries--); } }\n",
    "javascript": "function load(retries) {\n  // %s\n  while (!takeLock(path)) sleepSome(retries--);\n}\n",
    "kotlin": "fun load(retries: Int) {\n  // %s\n  while (!takeLock(path)) sleepSome(retries)\n}\n",
    "lua": "function load(retries)\n  -- %s\n  while not takeLock(path) do sleepSome(retries) end\nend\n",
    "php": "<?php\nfunction load($retries) {\n  // %s\n  while (!takeLock($path)) sleepSome($retries--);\n}\n",
    "python": "def load(retries):\n    # %s\n    while not take_lock(path):\n        sleep_some(retries)\n",
    "ruby": "def load(retries)\n  # %s\n  sleep_some(retries) until take_lock(path)\nend\n",
    "rust": "fn load(retries: u32) {\n    // %s\n    while !take_lock(path) { sleep_some(retries); }\n}\n",
    "scala": "object S {\n  def load(retries: Int) = {\n // %s\n while (!takeLock(path)) sleepSome(retries) } }\n",
    "swift": "func load(retries: Int) {\n  // %s\n  while !takeLock(path) { sleepSome(retries) }\n}\n",
    "typescript": "function load(retries: number) {\n  // %s\n  while (!takeLock(path)) sleepSome(retries--);\n}\n",
    "zig": "fn load(retries: u32) void {\n    // %s\n    while (!takeLock(path)) sleepSome(retries);\n}\n",
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("language", INSIDE)
def test_a_comment_inside_a_function_is_paired_with_the_lines_around_it(language: str) -> None:
    (pair,) = inline(Source("store", language, (INSIDE[language] % SAID).encode()))
    assert (pair.doc, pair.name, pair.is_inline) == (SAID, "", True)
    assert "Another process" not in pair.code
    assert {"load", "retries", "take", "lock", "sleep"} <= set(words(pair.code))


@pytest.mark.parametrize(
    "said", ["wait(path); retry(retries); give_up(path, lock);", "if (waited > longest) {", "Try again.", "-----------"]
)
def test_code_that_was_commented_out_and_a_word_or_two_are_not_mined(said: str) -> None:
    assert list(inline(Source("store.go", "go", (INSIDE["go"] % said).encode()))) == []


def test_the_lines_of_a_comment_end_with_its_function() -> None:
    text = b"func Before() { other() }\n\n" + INSIDE["go"].encode() + b"\nfunc After() { other() }\n"
    (pair,) = inline(Source("store.go", "go", text.replace(b"%s", SAID.encode())))
    assert "Before" not in pair.code
    assert "After" not in pair.code


def test_a_comment_before_a_declaration_inside_a_function_is_no_inline_one() -> None:
    text = f"def load(retries):\n    # {SAID}\n    def again(path):\n        return take_lock(path, retries, other)\n"
    assert list(inline(Source("store.py", "python", text.encode()))) == []


def test_what_says_nothing_about_code_is_left_out() -> None:
    text = b"""package a

// Copyright 2020 The Authors. All rights reserved.
func A(path string, retries int) error { return parse(path, retries, other, more) }

// The comment of nothing, a blank line follows.

func B(path string, retries int) error { return parse(path, retries, other, more) }

// Too short code follows this comment.
func C() {}
"""
    assert list(pairs(Source("a.go", "go", text))) == []


def test_each_comment_and_each_code_of_a_package_counts_once() -> None:
    source = Source("a.go", "go", EXAMPLES["go"])
    assert mine("a", [source, source]) == mine("a", [source])


def test_a_docstring_of_a_file_is_paired_with_the_rest_of_the_file() -> None:
    text = b'"""Settings of a user, on disk."""\n\nimport json\n\nRETRIES = 3\n\n' + EXAMPLES["python"]
    whole, _ = pairs(Source("store/settings.py", "python", text))
    assert (whole.doc, whole.name) == ("Settings of a user, on disk.", "")
    assert "on disk." not in whole.code.split("def load")[0]
    assert "RETRIES" in whole.code


def test_a_definition_without_a_comment_is_found_by_its_name_which_it_lacks() -> None:
    text = b"def read_settings(path):\n" + b"".join(b"    step_%d(path, settings)\n" % n for n in range(12))
    (pair,) = named(Source("store.py", "python", text))
    assert (pair.name, pair.doc) == ("read_settings", "")
    assert "read_settings" not in pair.code


def test_a_section_is_found_by_its_heading_but_a_changelog_is_not_mined() -> None:
    text = b"# Reading the settings\n\n" + b"They lie in the folder of the user, one file each.\n" * 12
    found = list(named(Source("docs/store.md", "markdown", text)))
    assert [pair.name for pair in found] == ["Reading the settings"]
    assert list(named(Source("CHANGES.md", "markdown", text))) == []


def test_of_one_package_no_language_gives_more_than_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.mine.SHARE", {Kind.DOCUMENTED: (1, 1), Kind.NAMED: (0, 0), Kind.INLINE: (0, 0)})
    more = EXAMPLES["go"].replace(b"Settings", b"Options").replace(b"settings", b"options")
    assert len(mine("a", [Source("a.go", "go", EXAMPLES["go"]), Source("b.go", "go", more)])) == 1


def test_what_is_asked_and_found_comes_from_the_pair_and_the_name_never_beside_itself() -> None:
    asked = [f"read{n} the settings of a user" for n in range(40)]
    given = [Pair("p", "go", f"load{n}", doc, f"load{n} parse file", "a/b.go") for n, doc in enumerate(asked)]
    known = [*words(asked[0]), "load", "parse", "file", "b", *"123456789"]
    row = {word: number for number, word in enumerate(known)}
    examples = Examples(given, row, np.random.default_rng(1))
    docs, codes = examples.draw(np.arange(40))
    by_name = {text for text, at in zip(docs.text.tolist(), docs.row.tolist(), strict=True) if at == row["load"]}
    assert by_name
    assert set(docs.text.tolist()) == set(range(40))
    assert not any(text in by_name and at == row["load"] for text, at in zip(codes.text, codes.row, strict=True))


def test_batches_hold_each_pair_once() -> None:
    given = [Pair(f"p{n % 3}", "go", "load", "doc", "code") for n in range(BATCH * 2)]
    found = np.concatenate(list(Examples(given, {"doc": 0}, np.random.default_rng(1)).batches()))
    assert sorted(found.tolist()) == list(range(BATCH * 2))


def test_clean_keeps_the_description_alone() -> None:
    assert clean('"""Sorts a list.\n\n    Stable.\n\n    :param x: it\n    """') == "Sorts a list. Stable."
    assert clean("/// <summary>Sorts a list</summary>\n/// @returns it") == "Sorts a list"
    assert clean("/*----------\n * Sorts a list\n *----------\n */") == "Sorts a list"
    assert clean("/** @brief Sorts a list\n * \\param x it */") == "Sorts a list"


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("pkg/src/main.rs", "rust"),
        ("pkg/vendor/github.com/a/b.go", None),
        ("pip/_vendor/rich/a.py", None),
        ("a/node_modules/b/c.js", None),
        ("a/tests/test_b.py", None),
        ("a/b_test.go", None),
        ("a/b.min.js", None),
        ("a/b.d.ts", None),
        ("README.md", "markdown"),
        ("data.csv", None),
        ("src/libuv/loop.c", None),
    ],
)
def test_vendored_copies_and_tests_are_passed_over(path: str, language: str | None) -> None:
    assert language_of(path) == language


def test_generated_files_are_passed_over() -> None:
    assert is_hand_written(b"package a\n")
    assert not is_hand_written(b"// Code generated by x. DO NOT EDIT.\npackage a\n")
    assert not is_hand_written(b"x" * 5000)


def test_the_list_is_pinned_and_permissive() -> None:
    packages = listed(CORPUS)
    assert len({(package.registry, package.name) for package in packages}) == len(packages)
    assert all(package.version and package.licence for package in packages)
    permissive = sum(any(name in package.licence for name in PERMISSIVE) for package in packages)
    assert permissive > 0.98 * len(packages)
    assert not [package for package in packages if package.licence.startswith(("GPL", "LGPL", "AGPL", "MPL", "EPL"))]


def test_packing_keeps_the_vectors() -> None:
    chance = np.random.default_rng(1)
    vectors = chance.normal(size=(50, 16)).astype(np.float32)
    whole, step = quantised(vectors)
    assert whole * step[:, None] == pytest.approx(vectors, abs=float(step.max()))
    ones = np.ones(50, np.float32)
    names = [f"w{number}" for number in range(50)]
    assert packed(names, vectors, ones, ones) == packed(names, vectors, ones, ones)
    assert packed(names, vectors, ones, ones) != packed(names, vectors, ones, 2 * ones)


def test_the_packages_weights_load() -> None:
    assert Header.read(WEIGHTS).rows > 1000
    assert Builtin().embed_question("file").any()


def test_a_whole_package_is_held_apart_or_none_of_it() -> None:
    apart = [Pair(f"p{number}", "go", "", "", "").is_held_apart for number in range(2000)]
    assert 50 < sum(apart) < 150
