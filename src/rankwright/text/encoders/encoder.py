"""Encoders: a function from texts to vectors, with the name and the checksum that an index remembers."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.wording import SENTENCE, shortened
from rankwright.data.tables import first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.base.arrays import Floats

    Function = Callable[[list[str]], Any]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
PROBE = "What does this encoder make of a sentence?"  # its vector tells encoders without files apart
N_PROBED = 32  # components of it that an index remembers
CLOSE = 0.01  # processors differ in the last digits of a component
PACKAGES = {"sentence-transformers": "sentence_transformers", "model2vec": "model2vec"}


@dataclass(frozen=True, eq=False)
class Encoder:
    """Texts as vectors, whose cosine is a feature and finds documents.

    Parameters
    ----------
    function : callable
        Takes a list of texts and returns one vector per text, all of the same length.
    name : str
        Its name in the index and in names of features; letters, digits, dots, hyphens and underscores.
    query_prefix, document_prefix : str
        What precedes the text of a query and of a document, such as "query: " and "passage: " for E5.
    checksum : str, optional
        What tells it from other encoders of the name; without one, its vector of a sentence does.
    source : str, optional
        What `Encoder.load` can read it from again.

    Examples
    --------
    >>> def letters(texts):
    ...     return [[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> index.encode(rw.text.Encoder(letters, "letters"))
    >>> index.search("old bridge", rw.text.Dense("letters"), n=2).ids
    ['d5', 'd6']
    """

    function: Function
    name: str
    query_prefix: str = field(default="", kw_only=True)
    document_prefix: str = field(default="", kw_only=True)
    checksum: str = field(default="", kw_only=True)
    source: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"An encoder must be a function of a list of texts, not {self.function!r}.")
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            raise InputError(
                "The name of an encoder must be letters, digits, dots, hyphens and underscores, such as "
                f"'minilm', not {self.name!r}."
            )

    @classmethod
    def load(
        cls,
        source: str | os.PathLike[str],
        name: str | None = None,
        *,
        query_prefix: str = "",
        document_prefix: str = "",
        max_tokens: int = 256,
        pooling: str = "mean",
    ) -> Encoder:
        """Load an encoder from a folder with an ONNX model and its tokenizer, or by another library.

        Parameters
        ----------
        source
            A folder with `model.onnx` and `tokenizer.json`, run by onnxruntime and tokenizers; or
            `sentence-transformers:NAME` or `model2vec:NAME`, where these packages are installed.
        name
            Its name in the index; by default the last part of the source.
        query_prefix, document_prefix
            As for `Encoder`.
        max_tokens, pooling
            Of an ONNX model: how many tokens of a text are read, and whether a text is the "mean" of its tokens or
            its first one ("cls"), unless the model makes one vector per text itself.
        """
        prefixes = {"query_prefix": query_prefix, "document_prefix": document_prefix}
        library, colon, model = os.fspath(source).partition(":")
        if colon and library in PACKAGES:
            chosen = name or model.rstrip("/").rpartition("/")[2]
            return cls(_of_library(library, model), chosen, source=os.fspath(source), **prefixes)
        from rankwright.text.encoders.onnx_model import OnnxModel

        folder = Path(source)
        read = OnnxModel(folder, max_tokens=max_tokens, pooling=pooling)
        digest = hashlib.sha256(repr((read.checksum, max_tokens, pooling)).encode()).hexdigest()
        chosen = name or folder.resolve().name
        path = str(folder.resolve()) if (max_tokens, pooling) == (256, "mean") else None
        return cls(read, chosen, checksum=digest, source=path, **prefixes)

    def queries(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of queries, of length 1."""
        return self._encoded([self.query_prefix + text for text in texts])

    def documents(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of documents, of length 1."""
        return self._encoded([self.document_prefix + text for text in texts])

    def identity(self) -> dict[str, Any]:
        """Return what an index remembers, as JSON: the checksum, and some of the vector of one sentence."""
        probe = self._encoded([PROBE])[0]
        return {
            "checksum": self.checksum,
            "dimensions": len(probe),
            "probe": [round(float(component), 5) for component in probe[:N_PROBED]],
            "query_prefix": self.query_prefix,
            "document_prefix": self.document_prefix,
            "source": self.source,
        }

    def _encoded(self, texts: list[str]) -> Floats:
        try:
            given = self.function(texts)
        except InputError:
            raise
        except Exception as error:
            what = shortened(f"{type(error).__name__}: {first_line(error)}", SENTENCE)
            raise InputError(f"The encoder {self.name} failed: {what}") from error
        return self._checked(given, len(texts))

    def _checked(self, given: Any, n_texts: int) -> Floats:
        try:
            vectors = np.asarray(given, np.float32)
        except (TypeError, ValueError):
            raise InputError(
                f"The encoder {self.name} made vectors of different lengths, or no numbers."
            ) from None
        if vectors.ndim != 2 or len(vectors) != n_texts or not vectors.shape[1]:
            raise InputError(
                f"The encoder {self.name} must make one vector per text: of {n_texts} texts it made an array of "
                f"shape {vectors.shape}."
            )
        if not np.isfinite(vectors).all():
            row = int((~np.isfinite(vectors)).any(axis=1).argmax())
            raise InputError(f"The encoder {self.name} made a vector that is not finite, of text {row + 1}.")
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), np.float32)


def remembered_encoder(name: str, identity: Mapping[str, Any]) -> Encoder:
    """Return the encoder that an index remembers, read from its source again; it must be the same."""
    source = identity["source"]
    remedy = f"give it again: Index.open(path, encoders=[Encoder(function, {name!r})])"
    if source is None:
        raise InputError(f"The encoder {name} of the index is not stored: {remedy}.")
    if source.partition(":")[0] not in PACKAGES and not Path(source).is_dir():
        raise InputError(f"The encoder {name} of the index is no longer in {source}: {remedy}.")
    prefixes = {key: identity[key] for key in ("query_prefix", "document_prefix")}
    encoder = Encoder.load(source, name, **prefixes)
    require_same(encoder, identity)
    return encoder


def require_same(encoder: Encoder, identity: Mapping[str, Any]) -> None:
    """Refuse an encoder that is not the one whose vectors an index has."""
    own = encoder.identity()
    for key in ("dimensions", "checksum", "query_prefix", "document_prefix"):
        if own[key] != identity[key]:
            raise InputError(
                f"The index has vectors of another encoder {encoder.name}: its {key.replace('_', ' ')} is "
                f"{shortened(repr(identity[key]), 20)}, not {shortened(repr(own[key]), 20)}."
            )
    if not np.allclose(own["probe"], identity["probe"], rtol=0.0, atol=CLOSE):
        raise InputError(
            f"The index has vectors of another encoder {encoder.name}: the two make different vectors of a text."
        )


def _of_library(library: str, model: str) -> Function:
    try:
        module = import_module(PACKAGES[library])
    except ModuleNotFoundError:
        raise MissingPackageError(f"{library}:{model} needs a package: pip install {library}.") from None
    kind = module.SentenceTransformer if library == "sentence-transformers" else module.StaticModel.from_pretrained
    try:
        encode: Function = kind(model).encode
    except Exception as error:
        raise InputError(f"{library} cannot load {model}: {shortened(first_line(error), SENTENCE)}") from error
    return encode
