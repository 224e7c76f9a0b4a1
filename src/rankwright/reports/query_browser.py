"""The query browser: two systems' lists of the same query side by side."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 1_100_000  # of all queries that a page keeps, so that it stays below 3 MB with its charts


class Moved(NamedTuple):
    """A feature that moved a document: its number, its value there (NaN if missing) and its contribution."""

    feature: int
    value: float
    contribution: float


class Listed(NamedTuple):
    """A document in a system's list: its number among the query's documents, its score, what moved it most."""

    document: int
    score: float
    moved: Sequence[Moved]


@dataclass(frozen=True)
class BrowsedQuery:
    """A query with the lists of all systems.

    Parameters
    ----------
    id, text
        Its name, and what is shown of it besides.
    values
        The metric of each system; NaN if the query is left out.
    n_documents, n_relevant
        How many documents it has, and how many of them are relevant.
    documents, labels
        The ids and labels of the documents that are in any list; NaN for one that was not judged.
    details
        What is shown of each of them besides.
    ranks
        For each system the ranks of these documents, from 1.
    lists
        For each system its highest documents, best first.
    """

    id: str
    values: Sequence[float]
    n_documents: int
    n_relevant: int
    documents: Sequence[str]
    labels: Sequence[float]
    ranks: Sequence[Sequence[int | None]]
    lists: Sequence[Sequence[Listed]]
    text: str = ""
    details: Sequence[Sequence[str]] = ()

    def plain(self) -> dict[str, Any]:
        """Return the query as the page's script reads it."""
        return {
            "id": self.id,
            "text": self.text,
            "values": [_rounded(value) for value in self.values],
            "count": self.n_documents,
            "relevant": self.n_relevant,
            "documents": list(self.documents),
            "details": list(map(list, self.details)),
            "labels": [_rounded(label) for label in self.labels],
            "ranks": [list(ranks) for ranks in self.ranks],
            "lists": [[_plain_entry(entry) for entry in entries] for entries in self.lists],
        }


@dataclass(frozen=True)
class QueryBrowser:
    """Queries to look at, most interesting first; a page keeps as many of the first ones as fit.

    Parameters
    ----------
    metric
        The name of the metric of the queries' values.
    systems
        The names of the systems; the first two are shown first.
    features
        The names of the features, which lists refer to by number.
    queries
        The queries.
    highest_label
        The highest label of the data.
    """

    metric: str
    systems: Sequence[str]
    features: Sequence[str]
    queries: Sequence[BrowsedQuery]
    highest_label: float

    def plain(self) -> dict[str, Any]:
        """Return everything as the page's script reads it."""
        return {
            "metric": self.metric,
            "systems": list(self.systems),
            "features": list(self.features),
            "highest": self.highest_label,
            "queries": self.kept,
        }

    @cached_property
    def kept(self) -> list[dict[str, Any]]:
        """The queries that fit in a page, from the first on."""
        plain = [query.plain() for query in self.queries]
        sizes = accumulate(len(json.dumps(query, separators=(",", ":"))) for query in plain)
        return [query for query, size in zip(plain, sizes, strict=True) if size <= MAX_BYTES]


def _plain_entry(entry: Listed) -> list[Any]:
    moved = [[feature, _rounded(value), _rounded(contribution)] for feature, value, contribution in entry.moved]
    return [entry.document, _rounded(entry.score), moved]


def _rounded(number: float) -> float | int | None:
    """Return a number with four significant digits, which are all that is shown; None if it is not finite."""
    if not math.isfinite(number):
        return None
    short = float(f"{number:.4g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
