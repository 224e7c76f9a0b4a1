"""Analyses of the members by their out-of-fold scores: how alike they are, and where each is strong or weak."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.wording import interval
from rankwright.data.groups import Ranking
from rankwright.data.query_features import standardised
from rankwright.metrics.base import mean_over_queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankwright.auto.mixing import JudgedEntry, MemberStanding
    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups

QUARTERS = 4


@dataclass(frozen=True, eq=False)
class JudgedMember:
    """A member with the number of rounds that was chosen for it.

    Parameters
    ----------
    standing
        Its row of the standings.
    entry
        The judged entry, with all numbers of rounds.
    scores
        The scores of all judging documents.
    values
        The metric, one value per judging query.
    """

    standing: MemberStanding
    entry: JudgedEntry
    scores: Doubles
    values: Doubles

    @classmethod
    def of(cls, standing: MemberStanding, entry: JudgedEntry) -> JudgedMember:
        """Return an entry with the number of rounds that its standing has."""
        index = entry.rounds.index(standing.rounds)
        values = entry.held_out.by_query(entry.values[index])
        return cls(standing, entry, entry.scores[index], values)

    @property
    def name(self) -> str:
        """The name of the member."""
        return self.standing.name

    @property
    def curve(self) -> list[tuple[float, float]]:
        """The metric by number of rounds; empty if there was no number to choose."""
        rounds, values = self.entry.rounds, self.entry.curve
        return list(zip(rounds, values, strict=True)) if len(rounds) > 1 and np.isfinite(values).all() else []


@dataclass(frozen=True, eq=False)
class JudgedQueries:
    """The judging queries: id, number of documents and of relevant ones, and the mixture's metric of each."""

    ids: NDArray[np.generic]
    documents: NDArray[np.int64]
    relevant: NDArray[np.int64]
    mixture: Doubles


class QuerySlice(NamedTuple):
    """Queries with a similar amount of something: what it is, its range, and which queries they are."""

    by: str
    low: float
    high: float
    queries: NDArray[np.bool_]

    @property
    def name(self) -> str:
        """The slice in words, such as "10 to 20 documents"."""
        if self.by == "difficulty":
            return f"mean value {interval(self.low, self.high)}"
        upper = f" to {self.high:,.0f}" if self.low < self.high else ""
        return f"{self.low:,.0f}{upper} {self.by}"


class Difference(NamedTuple):
    """A mean difference from the mixture over some queries, and its standard error; NaN where it is unknown."""

    mean: float
    error: float


class Change(NamedTuple):
    """A query, and the values of the mixture and of the best member for it."""

    query: int
    mixture: float
    member: float

    @property
    def gain(self) -> float:
        """How far the mixture is ahead."""
        return self.mixture - self.member


def best_member(members: Sequence[JudgedMember]) -> JudgedMember:
    """Return the member of the highest value alone."""
    return max(members, key=lambda member: -np.inf if np.isnan(member.standing.value) else member.standing.value)


def likeness(scores: Sequence[Doubles], groups: QueryGroups) -> Doubles:
    """Return Spearman's correlation of every two columns of scores within the query, its mean over queries.

    A query counts for two columns if neither gives all its documents the same score; NaN if no query counts.
    """
    ranks = [standardised(_mean_ranks(column, groups), groups) for column in scores]
    varied = [groups.reduce(np.logical_or, column != 0) for column in ranks]
    correlations = np.full((len(ranks), len(ranks)), np.nan)
    for first in range(len(ranks)):
        for other in range(first + 1):
            counting = varied[first] & varied[other]
            by_query = groups.reduce(np.add, ranks[first] * ranks[other]) / groups.sizes
            correlations[first, other] = correlations[other, first] = mean_over_queries(by_query[counting])
    return correlations


def _mean_ranks(scores: Doubles, groups: QueryGroups) -> Doubles:
    """Return the rank of each document within its query, the mean rank where scores are equal."""
    ranking = Ranking.of(scores, groups, n_jobs=1)
    order, ranks = ranking.order, np.empty(len(scores))
    first = np.append(True, scores[order[1:]] != scores[order[:-1]])  # of the documents with equal scores
    first[groups.offsets[:-1]] = True
    tie = np.cumsum(first) - 1
    ranks[order] = (np.bincount(tie, ranking.ranks()[order]) / np.bincount(tie))[tie]
    return ranks


def slices_of(queries: JudgedQueries, members: Sequence[JudgedMember]) -> list[QuerySlice]:
    """Return quarters of the queries by their documents, by their relevant documents, and by their difficulty.

    A query is difficult if the members' mean value is low. The value of the mixture would not do: where that is
    low by chance the members are better, so that each would seem to be good at difficult queries.
    """
    ease = np.mean([member.values for member in members], axis=0)
    return [
        *_quarters("documents", queries.documents.astype(np.float64)),
        *_quarters("relevant", queries.relevant.astype(np.float64)),
        *_quarters("difficulty", ease),
    ]


def _quarters(by: str, amounts: Doubles) -> Iterator[QuerySlice]:
    """Yield quarters of the queries, lowest amounts first; there are fewer if many amounts are equal."""
    known = amounts[~np.isnan(amounts)]
    if not len(known):
        return
    fractions = np.arange(1, QUARTERS) / QUARTERS
    bounds = [-np.inf, *np.unique(np.quantile(known, fractions, method="inverted_cdf")), np.inf]
    for below, highest in pairwise(bounds):
        queries = (amounts > below) & (amounts <= highest)
        if queries.any():
            yield QuerySlice(by, float(amounts[queries].min()), float(amounts[queries].max()), queries)


def strength(values: Doubles, mixture: Doubles, queries: NDArray[np.bool_]) -> Difference:
    """Return how far a member is ahead of the mixture on some queries."""
    differences = (values - mixture)[queries]
    known = differences[~np.isnan(differences)]
    error = float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else float("nan")
    return Difference(mean_over_queries(differences), error)


def gains_and_losses(mixture: Doubles, member: Doubles, most: int) -> tuple[list[Change], list[Change]]:
    """Return the queries where the mixture gains most and where it loses most, the greatest first."""
    changes = [Change(query, float(mixture[query]), float(member[query])) for query in range(len(mixture))]
    gains = sorted((change for change in changes if change.gain > 0), key=lambda change: -change.gain)
    losses = sorted((change for change in changes if change.gain < 0), key=lambda change: change.gain)
    return gains[:most], losses[:most]
