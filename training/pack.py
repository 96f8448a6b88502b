"""The trained model -> the weights file that the package carries.

    python -m training.pack MODEL.npz [WEIGHTS]

MODEL.npz is what train.py wrote. See itza_git/embedding/builtin.py for the bytes.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itza_git.embedding.builtin import HEADER, MAGIC, WEIGHTS
from itza_git.words import VERSION


def quantised(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Each row as whole numbers -127..127, and the step that turns them back."""
    step = np.abs(vectors).max(axis=1) / np.float32(127)
    step[step == 0] = 1
    return np.rint(vectors / step[:, None]).astype(np.int8), step.astype(np.float32)


def packed(
    names: Sequence[str],
    vectors: NDArray[np.float32],
    text_weight: NDArray[np.float32],
    question_weight: NDArray[np.float32],
) -> bytes:
    """The bytes of a weights file."""
    whole, step = quantised(vectors)
    scales = [(step * weight).astype("<f4").tobytes() for weight in (text_weight, question_weight)]
    body = whole.tobytes() + b"".join(scales) + "\n".join(names).encode()
    rows, dimension = vectors.shape
    digest = hashlib.blake2b(HEADER.pack(MAGIC, VERSION, rows, dimension, bytes(32)) + body, digest_size=32).digest()
    return HEADER.pack(MAGIC, VERSION, rows, dimension, digest) + body


def main() -> None:
    """Packs one model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("weights", type=Path, nargs="?", default=WEIGHTS)
    options = parser.parse_args()
    with np.load(options.model) as model:
        data = packed(model["words"].tolist(), model["vectors"], model["text_weight"], model["question_weight"])
    options.weights.parent.mkdir(exist_ok=True)
    options.weights.write_bytes(data)
    print(f"{options.weights}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
