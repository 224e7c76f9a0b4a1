"""The times of queries, and queries divided into periods in the order of their times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted
from rankwright.data.column_roles import no_column
from rankwright.data.tables import days_since_1970, is_date

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.dataset import Documents

FIRST_PERIOD = 0.5
"""The fraction of the queries that are only learned from: later folds then learn from at most twice as many."""


@dataclass(frozen=True, eq=False)
class QueryTimes:
    """One time per query: a number, or the days since 1970, and as the column spells it."""

    column: str
    values: Doubles
    texts: NDArray[np.object_]

    @classmethod
    def of(cls, data: Documents, column: str) -> QueryTimes:
        """Return the times in a column that is shown or a feature: numbers, or dates as ISO 8601 writes them.

        All documents of a query must have the same time.
        """
        texts = _texts(data, column)
        first = texts[data.groups.rows[data.groups.offsets[:-1]]]
        values = _parsed(first.tolist(), column)
        different = np.flatnonzero(texts != first[data.groups.query_of_row])
        if len(different):
            query = data.groups.query_of_row[different[0]]
            raise InputError(
                f"The documents of query {str(data.groups.ids[query])!r} have different times in column "
                f"{column!r}, such as {first[query]} and {texts[different[0]]}: give all the time of the query."
            )
        return cls(column, values, first)

    def folds(self, n_folds: int, *, first: float = FIRST_PERIOD) -> Integers:
        """Return the fold of every query, in time order; -1 for the first ones, which are only learned from."""
        return self.periods([first, *[(1 - first) / n_folds] * n_folds]) - 1

    def periods(self, sizes: Sequence[float]) -> Integers:
        """Return the period of every query: one per size, which sum to 1.

        Queries of the same time are in the same period, so that sizes are kept as nearly as times allow.
        """
        moments, moment_of_query, counts = np.unique(self.values, return_inverse=True, return_counts=True)
        if len(moments) < len(sizes):
            times = counted(len(moments), "different time")
            raise InputError(
                f"{len(sizes)} periods need at least {len(sizes)} different times; column {self.column!r} has "
                f"{times}: ask for fewer {parameter('folds')}, or give times that are more exact."
            )
        passed, cuts = np.cumsum(counts), [0]
        for number, end in enumerate(np.cumsum(sizes)[:-1] * len(self.values), start=1):
            last = len(moments) - (len(sizes) - number)
            cuts.append(cuts[-1] + 1 + int(np.argmin(np.abs(passed[cuts[-1] : last] - end))))
        return np.searchsorted(cuts[1:], moment_of_query, side="right")

    def span(self, queries: NDArray[np.bool_]) -> str:
        """Return the first and the last time of some queries, as in "2026-01-05 to 2026-01-11"."""
        chosen = np.flatnonzero(queries)
        if not len(chosen):
            return ""
        ends = [chosen[np.argmin(self.values[chosen])], chosen[np.argmax(self.values[chosen])]]
        return " to ".join(dict.fromkeys(str(self.texts[query]) for query in ends))


def learned_from(fold: Integers, number: int, *, in_time_order: bool) -> NDArray[np.bool_]:
    """Return which queries, or documents, a fold learns from: earlier folds, or all but its own."""
    return np.asarray(fold < number if in_time_order else fold != number)


def _texts(data: Documents, column: str) -> NDArray[np.object_]:
    """Return the column as text, one per document; none may be missing."""
    names = data.feature_names or ()
    if column in data.shown:
        texts = np.array([None if not text else text.strip() or None for text in data.shown[column]], dtype=object)
    elif column in names:
        numbers = data.X[:, names.index(column)].tolist()
        texts = np.array([None if number != number else f"{number:.9g}" for number in numbers], dtype=object)
    else:
        raise InputError(no_column(column, [*data.shown, *names]))
    missing = np.flatnonzero([text is None for text in texts])
    if len(missing):
        query = str(data.groups.ids[data.groups.query_of_row[missing[0]]])
        raise InputError(f"Query {query!r} has no time in column {column!r}: every document needs one.")
    return texts


def _parsed(texts: Sequence[str], column: str) -> Doubles:
    """Return times as numbers; refuse what is neither a number nor a date, and a mix of both."""
    numbers = [_number(text) for text in texts]
    if not np.isnan(numbers).any():
        return np.array(numbers)
    numeric = [text for text, number in zip(texts, numbers, strict=True) if not np.isnan(number)]
    others = [text for text in texts if not is_date(text) and text not in numeric]
    if others or numeric:
        wrong, what = (others[0], "neither a date nor") if others else (numeric[0], "no date as others are, but")
        raise InputError(
            f"{wrong[:60]!r} in column {column!r} is {what} a number: times are all numbers, such as weeks, or "
            "all dates, such as 2026-03-31 or 2026-03-31 12:30:00."
        )
    return np.array([days_since_1970(text, column) for text in texts])


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return float("nan")
    return number if np.isfinite(number) else float("nan")
