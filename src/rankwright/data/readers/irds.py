"""Data sets of the package ir_datasets by name, such as `irds:cranfield`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.wording import closest

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "irds:"
DOCUMENT_ID = "doc_id"
QUERY_ID = "query_id"
QUERY_TEXTS = ("text", "title", "query", "question")


def is_name(path: object) -> bool:
    """Return whether a path is the name of a data set, such as `irds:cranfield`."""
    return isinstance(path, str) and path.startswith(PREFIX)


@dataclass(frozen=True)
class Irds:
    """A data set of ir_datasets."""

    name: str
    dataset: Any

    def records(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the origin and the fields of each of its `docs`, `queries` or `qrels`."""
        if not getattr(self.dataset, f"has_{kind}")():
            raise InputError(f"{self.name} has no {kind}; a part of it may have, see https://ir-datasets.com.")
        for number, record in enumerate(getattr(self.dataset, f"{kind}_iter")(), start=1):
            yield f"{self.name}, {kind} {number}", record._asdict()


def load(name: Any) -> Irds:
    """Return a data set by its name; ir_datasets downloads it when it is first read."""
    try:
        ir_datasets = import_module("ir_datasets")
    except ModuleNotFoundError:
        raise MissingPackageError(f"{name} needs ir_datasets: pip install ir_datasets.") from None
    known = name.removeprefix(PREFIX)
    try:
        return Irds(name, ir_datasets.load(known))
    except KeyError:
        close = closest(known, ir_datasets.registry)
        hint = f" Did you mean {PREFIX}{close}?" if close else ""
        raise InputError(f"ir_datasets has no data set {known!r}.{hint}") from None
