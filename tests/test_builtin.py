"""The embedded model: what a vector depends on, and what it does not."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from itza_git.embedding import Embedder
from itza_git.embedding.builtin import HEADER, MAGIC, WEIGHTS, Builtin, Header, pieces
from itza_git.errors import ModelError
from itza_git.words import VERSION, Vocabulary

DELETE = "def unlink(path):\n    os.remove(path)  # delete it from the directory"
RENDER = "def draw_circle(canvas, radius, colour):\n    canvas.arc(0, 0, radius, fill=colour)"
TEXTS = [DELETE, RENDER, "", "fn parse_header(line: &str) -> Header { split(line, ':') }", "int x = 1;"]


@pytest.fixture(scope="module")
def model() -> Builtin:
    return Builtin()


def embed(model: Builtin, texts: list[str]) -> NDArray[np.float32]:
    return model.embed(texts, Vocabulary().count(texts))


def test_is_an_embedder_whose_identity_is_the_files_digest(model: Builtin) -> None:
    embedder: Embedder = model
    data = WEIGHTS.read_bytes()
    header = Header.read(WEIGHTS)
    blank = HEADER.pack(MAGIC, VERSION, header.rows, header.dimension, bytes(32))
    assert embedder.is_local
    assert embedder.identity.digest == hashlib.blake2b(blank + data[HEADER.size :], digest_size=32).hexdigest()
    assert embedder.identity.dimension == header.dimension == 256
    assert len(data) <= 16 << 20


def test_vectors_have_length_one_and_empty_texts_zeros(model: Builtin) -> None:
    vectors = embed(model, [*TEXTS, "?! 12 --"])
    assert vectors.shape == (6, 256)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 0, 1, 1, 0], abs=1e-5)
    assert np.linalg.norm(model.embed_question("how is a file removed?")) == pytest.approx(1, abs=1e-5)
    assert not model.embed_question("?").any()
    assert embed(model, []).shape == (0, 256)


def test_the_same_text_has_the_same_vector(model: Builtin) -> None:
    first, second = embed(model, [DELETE, DELETE])
    assert first @ second == pytest.approx(1, abs=1e-5)


def test_neither_neighbours_nor_the_vocabulary_matter(model: Builtin) -> None:
    many = [TEXTS[i % len(TEXTS)] + f"\nnumber_{i} = {i}" for i in range(515)]
    together = embed(model, many)
    vocabulary = Vocabulary()
    for at in (0, 1, 255, 256, 514):
        alone = embed(model, [many[at]])[0]
        assert together[at].tobytes() == alone.tobytes()
        assert model.embed([many[at]], vocabulary.count([many[at]]))[0].tobytes() == alone.tobytes()


def test_a_chunk_has_the_same_vector_to_the_last_bit_whatever_it_is_embedded_with(model: Builtin) -> None:
    chunks = [path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("test_*.py"))]
    together = embed(model, chunks)
    for size in (1, 3, 7):
        parts = [embed(model, chunks[at : at + size]) for at in range(0, len(chunks), size)]
        assert np.concatenate(parts).tobytes() == together.tobytes()


def test_a_growing_vocabulary_is_followed(model: Builtin) -> None:
    vocabulary = Vocabulary()
    model.embed([DELETE], vocabulary.count([DELETE]))
    grown = model.embed([RENDER], vocabulary.count([RENDER]))[0]
    assert grown == pytest.approx(embed(model, [RENDER])[0], abs=1e-5)


def test_related_words_are_nearer_than_unrelated_ones(model: Builtin) -> None:
    delete, render = embed(model, [DELETE, RENDER])
    for question, near, far in [
        ("remove file", delete, render),
        ("how do I erase a file from disk?", delete, render),
        ("paint a round shape", render, delete),
    ]:
        vector = model.embed_question(question)
        assert vector @ near > vector @ far + 0.1


def test_an_unknown_word_is_its_longest_known_pieces() -> None:
    row = {"time": 0, "out": 1, "timeout": 2, "error": 3, "or": 4}
    assert pieces("timeout", row) == [2]
    assert pieces("timeouterror", row) == [2, 3]
    assert pieces("zzoutzz", row) == [1]
    assert pieces("zzorzz", row) == []
    assert pieces("zz", row) == []


def test_a_word_of_pieces_only_is_still_embedded(model: Builtin) -> None:
    run_together = embed(model, ["filedownloadtimeouthandler"])[0]
    apart = embed(model, ["file download timeout handler"])[0]
    assert run_together @ apart > 0.5


def test_damaged_weights_are_named(tmp_path: Path) -> None:
    for name, data in {"empty": b"", "other": b"x" * 200, "short": WEIGHTS.read_bytes()[:5000]}.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(ModelError, match=name):
            Builtin(path).embed_question("file")
    with pytest.raises(ModelError, match="absent"):
        _ = Builtin(tmp_path / "absent").identity


def test_importing_reads_no_weights() -> None:
    code = "import sys, itza_git.embedding.builtin as b; print(b.Builtin()._rows, 'torch' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == ["None", "False"]
