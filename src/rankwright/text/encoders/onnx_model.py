"""ONNX models that make vectors of texts, run by onnxruntime, with their tokenizer."""

from __future__ import annotations

import hashlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import SENTENCE, shortened
from rankwright.data.tables import first_line

if TYPE_CHECKING:
    from pathlib import Path

    from rankwright.base.arrays import Floats

BATCH = 32  # texts that are run together, all padded to the longest
POOLINGS = ("mean", "cls")


class OnnxModel:
    """A function from texts to vectors: the model and the tokenizer of a folder."""

    def __init__(self, folder: Path, *, max_tokens: int, pooling: str) -> None:
        if pooling not in POOLINGS:
            raise InputError(f"pooling must be mean or cls, not {pooling!r}.")
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
            raise InputError(f"max_tokens must be a positive integer, not {max_tokens!r}.")
        model, tokenizer = (
            _file(folder, "model.onnx", "*.onnx"),
            _file(folder, "tokenizer.json", "*tokenizer.json"),
        )
        self._pooling = pooling
        self._tokenizer = _tokenizer(tokenizer, max_tokens)
        self._session = _session(model)
        self._inputs = {node.name for node in self._session.get_inputs()}
        self.checksum = hashlib.sha256(model.read_bytes() + tokenizer.read_bytes()).hexdigest()
        if "input_ids" not in self._inputs:
            raise InputError(f"{model} is no encoder of texts: it has no input input_ids.")

    def __call__(self, texts: list[str]) -> Floats:
        """Return one vector per text; texts of about the same length are run together."""
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        parts = [self._run([texts[n] for n in order[i : i + BATCH]]) for i in range(0, len(order), BATCH)]
        vectors = np.concatenate(parts)
        made = np.empty_like(vectors)
        made[order] = vectors
        return made

    def _run(self, texts: list[str]) -> Floats:
        encoded = self._tokenizer.encode_batch(texts)
        arrays = {
            "input_ids": np.array([text.ids for text in encoded], np.int64),
            "attention_mask": np.array([text.attention_mask for text in encoded], np.int64),
            "token_type_ids": np.array([text.type_ids for text in encoded], np.int64),
        }
        fed = {name: array for name, array in arrays.items() if name in self._inputs}
        output = np.asarray(self._session.run(None, fed)[0], np.float32)
        return self._pooled(output, arrays["attention_mask"])

    def _pooled(self, output: Floats, mask: Any) -> Floats:
        """Return one vector per text, from one per token if the model makes those."""
        if output.ndim == 2:
            return output
        if output.ndim != 3:
            raise InputError(
                f"The model makes an array of {output.ndim} dimensions, not vectors of tokens or texts."
            )
        if self._pooling == "cls":
            return output[:, 0]
        weights = mask[:, :, None].astype(np.float32)
        return np.asarray((output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9), np.float32)


def _file(folder: Path, name: str, pattern: str) -> Path:
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder} with model.onnx and tokenizer.json.")
    files = [folder / name] if (folder / name).is_file() else sorted(folder.glob(pattern))
    if len(files) != 1:
        raise InputError(f"{folder} must hold an ONNX model and its tokenizer: it has no {name}.")
    return files[0]


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise MissingPackageError(f"An ONNX encoder needs {name}: pip install 'rankwright[dense]'.") from None


def _tokenizer(path: Path, max_tokens: int) -> Any:
    package = _package("tokenizers")
    try:
        tokenizer = package.Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises Exception itself
        raise InputError(f"{path} is not a tokenizer: {shortened(first_line(error), SENTENCE)}") from None
    tokenizer.enable_truncation(max_tokens)
    tokenizer.enable_padding()
    return tokenizer


def _session(path: Path) -> Any:
    package = _package("onnxruntime")
    options = package.SessionOptions()
    options.intra_op_num_threads = resolve_threads(None)
    options.log_severity_level = 4
    try:
        return package.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions have no common base
        raise InputError(
            f"{path} is not an ONNX model that onnxruntime can run: {shortened(first_line(error), SENTENCE)}"
        ) from None
