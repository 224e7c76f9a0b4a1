"""What the out-of-fold scores tell about the members: how alike they are, and where each is strong or weak."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.auto.frontier import MARGIN
from rankwright.data.query_features import standardised
from rankwright.data.ranking import Ranking
from rankwright.metrics.base import mean_over_queries
from rankwright.reports.charts.drawing import round_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankwright.auto.entries import JudgedEntry
    from rankwright.auto.frontier import Priced
    from rankwright.auto.run import Run
    from rankwright.auto.standings import MemberStanding
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


@dataclass(frozen=True, eq=False)
class JudgedQueries:
    """The judging queries: id, number of documents and of relevant ones, and the mixture's metric of each."""

    ids: NDArray[np.generic]
    documents: NDArray[np.int64]
    relevant: NDArray[np.int64]
    mixture: Doubles


class Slice(NamedTuple):
    """Some of the queries: what distinguishes them, the range of it, and which they are."""

    by: str
    low: float
    high: float
    queries: NDArray[np.bool_]


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


class Offer(NamedTuple):
    """The mixture that a budget of so many microseconds per document buys."""

    budget: float
    priced: Priced


def judged_members(run: Run) -> list[JudgedMember]:
    """Return all judged members in the order of the standings."""
    entries = {one.name: one for one in run.entries}
    return [_judged_member(standing, entries[standing.name]) for standing in run.standings()]


def _judged_member(standing: MemberStanding, entry: JudgedEntry) -> JudgedMember:
    place = entry.rounds.index(standing.rounds)
    values = entry.held_out.by_query(entry.values[place])
    return JudgedMember(standing, entry, entry.scores[place], values)


def judged_queries(run: Run) -> JudgedQueries:
    """Return the judging queries with the values of the mixture that became the model."""
    data, held_out, market = run.plan.whole.data, run.plan.held_out, run.market
    queries = np.unique(held_out.query)
    relevant = data.groups.reduce(np.add, (data.y > 0).astype(np.int64))
    values = held_out.values(market.metric, run.kept.mix.scores, market.n_threads)
    return JudgedQueries(
        data.groups.ids[queries], data.groups.sizes[queries], relevant[queries], held_out.by_query(values)
    )


def best_member(members: Sequence[JudgedMember]) -> JudgedMember:
    """Return the member of the highest value alone."""
    return max(members, key=lambda one: -np.inf if np.isnan(one.standing.value) else one.standing.value)


def likeness(scores: Sequence[Doubles], groups: QueryGroups) -> Doubles:
    """Return Spearman's correlation of every two columns of scores within the query, its mean over queries.

    A query counts for two columns if neither gives all its documents the same score; NaN if no query counts.
    """
    ranks = [standardised(_mean_ranks(column, groups), groups) for column in scores]
    varied = [groups.reduce(np.logical_or, column != 0) for column in ranks]
    found = np.full((len(ranks), len(ranks)), np.nan)
    for one in range(len(ranks)):
        for other in range(one + 1):
            counting = varied[one] & varied[other]
            correlations = groups.reduce(np.add, ranks[one] * ranks[other]) / groups.sizes
            found[one, other] = found[other, one] = mean_over_queries(correlations[counting])
    return found


def _mean_ranks(scores: Doubles, groups: QueryGroups) -> Doubles:
    """Return the rank of each document within its query, the mean rank where scores are equal."""
    ranking = Ranking.of(scores, groups, n_jobs=1)
    order, ranks = ranking.order, np.empty(len(scores))
    first = np.append(True, scores[order[1:]] != scores[order[:-1]])  # of the documents with equal scores
    first[groups.offsets[:-1]] = True
    tie = np.cumsum(first) - 1
    ranks[order] = (np.bincount(tie, ranking.ranks()[order]) / np.bincount(tie))[tie]
    return ranks


def slices_of(queries: JudgedQueries, members: Sequence[JudgedMember]) -> list[Slice]:
    """Return quarters of the queries by their documents, by their relevant documents, and by their difficulty.

    A query is difficult if the members' mean value is low. The value of the mixture would not do: where that is
    low by chance the members are better, so that each would seem to be good at difficult queries.
    """
    ease = np.mean([one.values for one in members], axis=0)
    return [
        *_quarters("documents", queries.documents.astype(np.float64)),
        *_quarters("relevant", queries.relevant.astype(np.float64)),
        *_quarters("difficulty", ease),
    ]


def _quarters(by: str, amounts: Doubles) -> Iterator[Slice]:
    """Yield quarters of the queries, lowest amounts first; there are fewer if many amounts are equal."""
    known = amounts[~np.isnan(amounts)]
    if not len(known):
        return
    fractions = np.arange(1, QUARTERS) / QUARTERS
    bounds = [-np.inf, *np.unique(np.quantile(known, fractions, method="inverted_cdf")), np.inf]
    for below, highest in pairwise(bounds):
        queries = (amounts > below) & (amounts <= highest)
        if queries.any():
            yield Slice(by, float(amounts[queries].min()), float(amounts[queries].max()), queries)


def strength(values: Doubles, mixture: Doubles, queries: NDArray[np.bool_]) -> Difference:
    """Return how far a member is ahead of the mixture on some queries."""
    differences = (values - mixture)[queries]
    known = differences[~np.isnan(differences)]
    error = float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else float("nan")
    return Difference(mean_over_queries(differences), error)


def gains_and_losses(mixture: Doubles, member: Doubles, most: int) -> tuple[list[Change], list[Change]]:
    """Return the queries where the mixture gains most and where it loses most, the greatest first."""
    changes = [Change(query, float(mixture[query]), float(member[query])) for query in range(len(mixture))]
    gains = sorted((one for one in changes if one.gain > 0), key=lambda one: -one.gain)
    losses = sorted((one for one in changes if one.gain < 0), key=lambda one: one.gain)
    return gains[:most], losses[:most]


def mixture_members(priced: Priced) -> list[str]:
    """Return the names of the members that have a weight, each with its number of rounds if it has any."""
    chosen = priced.mix
    kept = [(chosen.entries[one], chosen.places[one]) for one in chosen.kept]
    return [f"{one.name} ({one.rounds[place]})" if one.rounds[place] else one.name for one, place in kept]


def priced_mixtures(run: Run) -> list[Priced]:
    """Return the mixtures of the frontier; the model is among them, with the time that was measured for it."""
    own = mixture_members(run.kept)
    found = [run.kept if mixture_members(one) == own else one for one in run.frontier]
    if any(one is run.kept for one in found):
        return found
    return sorted([*found, run.kept], key=lambda one: -one.microseconds)  # other times gave other mixtures


def offers(frontier: Sequence[Priced]) -> list[Offer]:
    """Return what round budgets buy, from the smallest that buys a mixture to the first that buys the whole one.

    Budgets that buy the same as a smaller one are left out.
    """
    costs = [one.microseconds / MARGIN for one in frontier]
    found: list[Offer] = []
    for budget in round_numbers(min(costs), 10 * max(costs)):
        place = next(number for number, cost in enumerate(costs) if cost <= budget)
        if not found or frontier[place] is not found[-1].priced:
            found.append(Offer(budget, frontier[place]))
    return found
