"""The miner of training pairs, and the packer; the trainer itself needs torch and is not tested here."""

from __future__ import annotations

import numpy as np
import pytest

from itza_git.embedding.builtin import WEIGHTS, Builtin, Header
from training.fetch_corpus import CORPUS, listed
from training.mine import clean, mine, pairs
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


def test_each_comment_of_a_package_counts_once() -> None:
    source = Source("a.py", "python", EXAMPLES["python"])
    assert len(mine("a", [source, source])) == 1


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
        ("README.md", None),
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
