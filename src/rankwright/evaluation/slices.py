"""Divides queries into slices: by the number of documents, by difficulty, or by a value that the user gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, nearest
from rankwright.data.dataset import RankingData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.evaluation.report import Report

DOCUMENTS, RELEVANT, DIFFICULTY = "documents", "relevant", "difficulty"
BUILT_IN = (DOCUMENTS, RELEVANT, DIFFICULTY)
MEANINGS = {
    DOCUMENTS: "number of documents",
    RELEVANT: "number of relevant documents",
    DIFFICULTY: "difficulty (mean over systems)",
}
FEWEST_QUERIES = 10  # of a slice to test
MAX_SLICES = 12
QUANTILES = (0.25, 0.5, 0.75)
NO_VALUE = "no value"


@dataclass(frozen=True, eq=False)
class Slice:
    """Some of the queries, by their numbers in the report."""

    name: str
    queries: NDArray[np.int64]


def query_columns(slices: Any, report: Report, data: Any) -> dict[str, NDArray[Any] | None]:
    """Return the value of every query of the report, by the name of the property; None stands for difficulty.

    Parameters
    ----------
    slices
        Names, or a mapping of names to values, as in `compare`.
    data
        The judged documents, whose features may be named.
    """
    if isinstance(slices, str):
        slices = [name.strip() for name in slices.split(",") if name.strip()]
    if isinstance(slices, Mapping):
        return {str(name): _given(str(name), values, report, data) for name, values in slices.items()}
    return {str(name): _named(str(name), report, data) for name in slices}


def divided(values: NDArray[Any]) -> list[Slice]:
    """Divide queries by their values: one slice per value if there are few, quarters if there are many numbers."""
    if values.dtype.kind in "iufb":
        return _by_number(values.astype(np.float64))
    names = np.array([NO_VALUE if _is_missing(value) else str(value) for value in values.tolist()], dtype=np.str_)
    known, counts = np.unique(names, return_counts=True)
    if len(known) > MAX_SLICES:
        common = known[np.argsort(-counts, kind="stable")[: MAX_SLICES - 1]]
        names = np.where(np.isin(names, common), names, f"{len(known) - len(common):,} others")
    return [Slice(str(name), np.flatnonzero(names == name)) for name in dict.fromkeys(sorted(names.tolist()))]


def _by_number(values: Doubles) -> list[Slice]:
    known = np.unique(values[~np.isnan(values)])
    if len(known) <= len(QUANTILES) + 1:
        slices = [Slice(f"{value:.4g}", np.flatnonzero(values == value)) for value in known]
    else:
        limits = np.unique(np.quantile(values[~np.isnan(values)], QUANTILES, method="inverted_cdf"))
        quarter = np.searchsorted(limits, values)
        members = [np.flatnonzero((quarter == number) & ~np.isnan(values)) for number in range(len(limits) + 1)]
        slices = [Slice(_range(values[queries]), queries) for queries in members if len(queries)]
    missing = np.flatnonzero(np.isnan(values))
    return slices + ([Slice(NO_VALUE, missing)] if len(missing) else [])


def _range(values: Doubles) -> str:
    low, high = values.min(), values.max()
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _named(name: str, report: Report, data: Any) -> NDArray[Any] | None:
    """Return the values of a built-in property, or of a feature that is the same for all documents of a query."""
    if name == DIFFICULTY:
        return None
    if name in report.query_facts:
        return report.query_facts[name]
    features = (data.feature_names or ()) if isinstance(data, RankingData) else ()
    if name not in features:
        raise InputError(f"Queries cannot be divided by {name!r}{nearest(name, [*BUILT_IN, *features])}")
    return _given(name, data.X[:, features.index(name)], report, data)


def _given(name: str, values: Any, report: Report, data: Any) -> NDArray[Any] | None:
    """Return values given by query id, one per query or one per document."""
    if isinstance(values, str):
        return _named(values, report, data)
    if isinstance(values, Mapping):
        return _array([values.get(query, values.get(str(query))) for query in report.queries])
    if data is None:
        raise InputError(f"The slices by {name} need a mapping from query id to value.")
    column = _array(values)
    groups = data.groups
    if len(column) == groups.n_rows and len(column) != len(groups):
        column = _per_query(name, column, groups)
    if len(column) != len(groups):
        expected = f"{counted(len(groups), 'query')} and {counted(groups.n_rows, 'document')}"
        raise InputError(
            f"The slices by {name} need one value per query or per document: there are {expected}, but "
            f"{counted(len(column), 'value')}."
        )
    numbers = {query: number for number, query in enumerate(groups.ids.tolist())}
    return column[[numbers[query] for query in report.queries]]


def _array(values: Any) -> NDArray[Any]:
    """Return values as numbers if all are, missing ones as NaN; otherwise as objects."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in listed):
        return np.array([np.nan if value is None else value for value in listed], dtype=np.float64)
    column = np.empty(len(listed), dtype=object)
    column[:] = listed
    return column


def _per_query(name: str, column: NDArray[Any], groups: Any) -> NDArray[Any]:
    first = groups.rows[groups.offsets[:-1]]
    expected = column[first][groups.query_of_row]
    alike = (a == b or (_is_missing(a) and _is_missing(b)) for a, b in zip(column, expected, strict=True))
    differs = ~np.fromiter(alike, dtype=bool, count=len(column))
    if differs.any():
        query = groups.ids[groups.query_of_row[int(differs.argmax())]]
        raise InputError(
            f"Queries cannot be divided by {name}: its values differ between the documents of query {query}."
        )
    return np.asarray(column[first])
