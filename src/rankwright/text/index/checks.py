"""Checks of the arguments of an index."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import contextmanager
from itertools import chain, islice
from operator import index as as_integer
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import shortened
from rankwright.text.index.manifest import NAME, is_manifest
from rankwright.text.retrieval import LARGEST, AbsoluteDiscounting, RetrievalModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

FIRST_DOCUMENTS = 100  # whose fields come first, in their order
TITLES = ("title", "t")  # names of titles, the second in SMART's files; they count twice by default


class IndexedDocument(Protocol):
    """A document to index, such as `TextDocument`."""

    @property
    def id(self) -> str: ...
    @property
    def fields(self) -> Mapping[str, str]: ...


def require_free(folder: Path) -> None:
    """Refuse a folder that holds other files than an index."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder.")
    if (
        folder.exists()
        and not is_manifest(folder / NAME)
        and any(not path.name.startswith(".") for path in folder.iterdir())
    ):
        raise InputError(f"{folder} holds other files: give a new folder, or the folder of an index.")


def weights_of(
    fields: Mapping[str, float] | Sequence[str] | None, documents: Iterable[IndexedDocument]
) -> tuple[dict[str, float], Iterable[IndexedDocument]]:
    """Return the fields to index with their weights, and the documents."""
    if isinstance(documents, str | PathLike):
        raise InputError(f"Give documents, not a path: read them with read_documents({os.fspath(documents)!r}).")
    if fields is not None:
        return checked_weights(fields), documents
    rest = iter(documents)
    first = list(islice(rest, FIRST_DOCUMENTS))
    if not first:
        raise InputError("There are no documents to index: name the fields of an empty index by fields=[...].")
    names = dict.fromkeys(name for document in first for name in checked_document(document).fields)
    return checked_weights({name: default_weight(name) for name in names}), chain(first, rest)


def default_weight(field: str) -> float:
    """Return the weight of a field whose weight is not given: words of a title count twice."""
    return 2.0 if isinstance(field, str) and field.lower() in TITLES else 1.0


def checked_document(document: Any) -> IndexedDocument:
    """Return a document, which must have an id and fields."""
    if not (hasattr(document, "id") and isinstance(getattr(document, "fields", None), Mapping)):
        raise InputError(
            "A document must have an id and a mapping of fields, as TextDocument has, not "
            f"{shortened(repr(document))}."
        )
    if not isinstance(document.id, str) or not document.id:
        raise InputError(f"The id of a document must be text, not {document.id!r}.")
    if not (document.id.isascii() or _has_utf8(document.id)):
        raise InputError(f"The id {document.id!r} has half of a surrogate pair, which is not text.")
    checked: IndexedDocument = document
    return checked


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked_weights(fields: Mapping[str, float] | Sequence[str]) -> dict[str, float]:
    """Return fields with their weights."""
    named = [fields] if isinstance(fields, str) else fields
    weights = dict(named) if isinstance(named, Mapping) else dict.fromkeys(named, 1.0)
    if not weights or not all(isinstance(name, str) and name for name in weights):
        raise InputError(
            f"{parameter('fields')} must be names of fields, or a mapping from names to weights, not {fields!r}."
        )
    for name, weight in weights.items():
        is_number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
        if not (is_number and 0 <= weight <= LARGEST):
            raise InputError(
                f"The weight of field {name} must be a number between 0 and {LARGEST:g}, not {weight!r}."
            )
    return {name: float(weight) for name, weight in weights.items()}


def checked_model(model: Any) -> RetrievalModel:
    """Return a retrieval model."""
    if not isinstance(model, RetrievalModel):
        raise InputError(f"model must be BM25(), Dirichlet() or JelinekMercer(), not {model!r}.")
    return model


def searching_model(model: Any) -> RetrievalModel:
    """Return a retrieval model that can search all documents."""
    if isinstance(model, AbsoluteDiscounting):
        raise InputError(
            "AbsoluteDiscounting scores given documents, it does not search: use BM25(), Dirichlet() or "
            "JelinekMercer()."
        )
    return checked_model(model)


def checked_n(n: Any, name: str = "n") -> int:
    """Return a positive integer, such as the number of documents to find."""
    try:
        count = 0 if isinstance(n, bool) else as_integer(n)
    except TypeError:
        count = 0
    if not 1 <= count < 1 << 63:
        raise InputError(f"{name} must be a positive integer below 2^63, not {shortened(repr(n))}.")
    return count


def checked_texts(texts: Any) -> list[str]:
    """Return the texts of queries; a single string is refused."""
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"Queries must be a list of texts, not {shortened(repr(texts))}.")
    return [*texts]


def checked_ids(ids: Any) -> list[str]:
    """Return ids of documents, each once; a single string is refused."""
    listed = list(dict.fromkeys(ids))
    if isinstance(ids, str) or not all(isinstance(name, str) for name in listed):
        raise InputError(f"Give a list of document ids, which are text, not {shortened(repr(ids))}.")
    return listed


def checked_memory(memory: Any) -> int:
    """Return a number of bytes."""
    if isinstance(memory, bool) or not isinstance(memory, int | np.integer) or memory < 1:
        raise InputError(f"{parameter('memory')} must be a positive number of bytes, not {memory!r}.")
    return int(memory)


@contextmanager
def refusing_damage() -> Iterator[None]:
    """Turn an error of the core, such as invalid postings in a damaged file, into an InputError."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        sentence = str(error)
        raise InputError(f"{sentence[:1].upper()}{sentence[1:]}.") from None
