"""Data sets of the package ir_datasets by name, such as `irds:cranfield`."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.data.readers.trec import Judgements
from rankwright.text.collections.formats.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "irds:"
DOCUMENT_ID = "doc_id"
QUERY_ID = "query_id"
QUERY_TEXTS = ("text", "title", "query", "question")


def is_name(path: str) -> bool:
    """Return whether a path is the name of a data set, such as `irds:cranfield`."""
    return path.startswith(PREFIX)


@dataclass(frozen=True)
class Irds:
    """A data set of ir_datasets: its documents and queries as records, and its judgements."""

    name: str
    dataset: Any

    def documents(self) -> Iterator[Record]:
        """Yield the documents; their fields are those of ir_datasets."""
        return self._records("docs")

    def queries(self) -> Iterator[Record]:
        """Yield the queries; their fields are those of ir_datasets."""
        return self._records("queries")

    def judgements(self) -> Judgements:
        """Return the judgements, labels as ir_datasets has them."""
        self._require("qrels")
        rows = [
            (str(judgement.query_id), str(judgement.doc_id), judgement.relevance)
            for judgement in self.dataset.qrels_iter()
        ]
        queries, documents, labels = zip(*rows, strict=True) if rows else ((), (), ())
        return Judgements.of(np.array(queries, dtype=np.str_), documents, list(labels))

    def _records(self, kind: str) -> Iterator[Record]:
        self._require(kind)
        for number, item in enumerate(getattr(self.dataset, f"{kind}_iter")(), start=1):
            yield Record(f"{self.name}, {kind} {number}", item._asdict())

    def _require(self, kind: str) -> None:
        if not getattr(self.dataset, f"has_{kind}")():
            raise InputError(f"{self.name} has no {kind}; a part of it may have, see https://ir-datasets.com.")


def load(name: str) -> Irds:
    """Return a data set by its name; ir_datasets downloads it when it is first read."""
    try:
        ir_datasets = import_module("ir_datasets")
    except ModuleNotFoundError:
        raise MissingPackageError(f"{name} needs ir_datasets: pip install ir_datasets.") from None
    known = name.removeprefix(PREFIX)
    try:
        return Irds(name, ir_datasets.load(known))
    except KeyError:
        close = get_close_matches(known, list(ir_datasets.registry), n=1)
        hint = f" Did you mean {PREFIX}{close[0]}?" if close else ""
        raise InputError(f"ir_datasets has no data set {known!r}.{hint}") from None
