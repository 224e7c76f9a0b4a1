"""Checks of what is given to an index."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain, islice
from operator import index as as_integer
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.errors import InputError
from rankwright.text.manifest import NAME
from rankwright.text.retrieval import AbsoluteDiscounting, RetrievalModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from rankwright.text.building import IndexedDocument

FIRST_DOCUMENTS = 100  # by which it is decided which fields there are


def require_free(folder: Path) -> None:
    """Refuse a folder that holds other files than an index."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder.")
    if (
        folder.exists()
        and not (folder / NAME).exists()
        and any(not one.name.startswith(".") for one in folder.iterdir())
    ):
        raise InputError(f"{folder} holds other files: give a new folder, or the folder of an index.")


def weights_of(
    fields: Mapping[str, float] | Sequence[str] | None, documents: Iterable[IndexedDocument]
) -> tuple[dict[str, float], Iterable[IndexedDocument]]:
    """Return the fields to index with their weights, and the documents."""
    if fields is not None:
        return checked_weights(fields), documents
    rest = iter(documents)
    first = list(islice(rest, FIRST_DOCUMENTS))
    if not first:
        raise InputError("There are no documents to index: name the fields of an empty index by fields=[...].")
    weights = checked_weights(list(dict.fromkeys(name for document in first for name in document.fields)))
    return weights, _without_others(chain(first, rest), weights)


def _without_others(documents: Iterable[IndexedDocument], weights: dict[str, float]) -> Iterator[IndexedDocument]:
    for document in documents:
        if not document.fields.keys() <= weights.keys():
            other = next(name for name in document.fields if name not in weights)
            raise InputError(
                f"Document {document.id!r} has a field {other!r} that the first {FIRST_DOCUMENTS} documents do "
                "not have: name the fields to index (fields)."
            )
        yield document


def checked_weights(fields: Mapping[str, float] | Sequence[str]) -> dict[str, float]:
    """Return fields with their weights."""
    named = [fields] if isinstance(fields, str) else fields
    weights = dict(named) if isinstance(named, Mapping) else dict.fromkeys(named, 1.0)
    if not weights or not all(isinstance(name, str) and name for name in weights):
        raise InputError(f"fields must be names of fields, or a mapping from names to weights, not {fields!r}.")
    for name, weight in weights.items():
        is_number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
        if not (is_number and math.isfinite(weight) and weight >= 0):
            raise InputError(f"The weight of field {name} must be a number that is not negative, not {weight!r}.")
    return {name: float(weight) for name, weight in weights.items()}


def checked_model(model: Any) -> RetrievalModel:
    """Return a model of retrieval."""
    if not isinstance(model, RetrievalModel):
        raise InputError(f"model must be BM25(), Dirichlet() or JelinekMercer(), not {model!r}.")
    return model


def searching_model(model: Any) -> RetrievalModel:
    """Return a model that can search all documents."""
    if isinstance(model, AbsoluteDiscounting):
        raise InputError(
            "AbsoluteDiscounting scores given documents, it does not search: use BM25(), Dirichlet() or "
            "JelinekMercer()."
        )
    return checked_model(model)


def checked_n(n: Any) -> int:
    """Return a number of documents."""
    try:
        count = 0 if isinstance(n, bool) else as_integer(n)
    except TypeError:
        count = 0
    if count < 1:
        raise InputError(f"n must be a positive integer, not {n!r}.")
    return count
