"""Queries that an evaluation leaves out: those with few relevant documents, and those of a single label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted
from rankwright.data.dataset import RankingData

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.groups import QueryGroups

ONE_LABEL = "a single label"


def relevant_documents(labels: Doubles, groups: QueryGroups) -> Integers:
    """Return the number of relevant documents of each query: those with a label of at least 1."""
    if not len(groups):
        return np.zeros(0, dtype=np.int64)
    return groups.reduce(np.add, (labels >= 1).astype(np.int64))


@dataclass(frozen=True)
class QueryFilter:
    """Which queries are left out of an evaluation; by default none.

    Parameters
    ----------
    min_relevant
        Leave out queries with fewer relevant documents than this: documents with a label of at least 1.
    drop_one_label
        Whether to leave out queries whose documents all have the same label: every ranking of them has the same
        value (Wu et al. 2010, section 5.1).
    """

    min_relevant: int = 0
    drop_one_label: bool = False

    def __post_init__(self) -> None:
        least = self.min_relevant
        if isinstance(least, bool) or not isinstance(least, int | np.integer) or least < 0:
            raise InputError(f"{parameter('min_relevant')} must be a non-negative integer, not {least!r}.")

    def reasons(self, labels: Doubles, groups: QueryGroups) -> dict[str, NDArray[np.bool_]]:
        """Return, for each reason in words, whether each query is left out for it; each has at most one reason.

        Only reasons that were asked for are returned. It is an error if nothing is left.
        """
        reasons: dict[str, NDArray[np.bool_]] = {}
        if self.min_relevant:
            few = f"fewer than {counted(self.min_relevant, 'relevant document')}"
            reasons[few] = relevant_documents(labels, groups) < self.min_relevant
            if reasons[few].all():
                raise InputError(f"There is nothing left: every query has {few}.")
        if self.drop_one_label:
            reasons[ONE_LABEL] = _has_one_label(labels, groups) & ~any_of(reasons, len(groups))
            if any_of(reasons, len(groups)).all():
                raise InputError(f"There is nothing left: {_all_alike(reasons)}.")
        return reasons


def drop_queries(data: RankingData, *, min_relevant: int = 0, drop_one_label: bool = False) -> RankingData:
    """Return judged documents without the queries that tell little about rankings.

    Parameters
    ----------
    data
        The judged documents.
    min_relevant
        Drop queries with fewer relevant documents than this: documents with a label of at least 1.
    drop_one_label
        Whether to drop queries whose documents all have the same label: every ranking of them has the same value.

    Examples
    --------
    >>> qid = ["hats", "hats", "shoes", "shoes"]
    >>> judged = rw.RankingData([[1], [2], [3], [4]], [0, 1, 0, 0], qid)
    >>> rw.drop_queries(judged, min_relevant=1).groups.ids.tolist()
    ['hats']
    """
    if not isinstance(data, RankingData):
        raise InputError(f"Expected RankingData, not {type(data).__name__}.")
    dropped = QueryFilter(min_relevant, drop_one_label).reasons(data.y, data.groups)
    return data.take_queries(np.flatnonzero(~any_of(dropped, len(data.groups)))) if dropped else data


def any_of(reasons: dict[str, NDArray[np.bool_]], n_queries: int) -> NDArray[np.bool_]:
    """Return whether each query is dropped for any reason."""
    return np.asarray(np.logical_or.reduce([np.zeros(n_queries, dtype=bool), *reasons.values()]))


def reasons_in_words(dropped: Mapping[str, int]) -> str:
    """Return in words how many queries were dropped, and why; empty if no reason was asked for."""
    return ", ".join(f"{counted(number, 'query')} with {reason}" for reason, number in dropped.items())


def _has_one_label(labels: Doubles, groups: QueryGroups) -> NDArray[np.bool_]:
    if not len(groups):
        return np.zeros(0, dtype=bool)
    return np.asarray(groups.reduce(np.maximum, labels) == groups.reduce(np.minimum, labels))


def _all_alike(reasons: dict[str, NDArray[np.bool_]]) -> str:
    others = [reason for reason in reasons if reason != ONE_LABEL]
    either = f"either {others[0]}, or " if others else ""
    return f"every query has {either}documents of {ONE_LABEL} only"
