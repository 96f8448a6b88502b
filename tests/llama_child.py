"""`python llama_child.py chat|embed MODEL PORT`: a llama.cpp server that lives as long as its standard input."""

from __future__ import annotations

import os
import sys
from importlib import import_module


def main(kind: str, model: str, port: str) -> None:
    """Serve the model until the parent lets go, or dies."""
    llama = import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_parallel = 1
    params.n_ctx = 4096
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    if kind == "embed":
        params.embedding = True
        params.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        params.n_ctx = params.n_batch = params.n_ubatch = 512
    serving = llama.Server(params)
    sys.stdin.read()
    # At once: its own end waits for whatever it computes.
    assert serving
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
