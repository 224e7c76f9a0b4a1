"""Error rates by pair of labels: which grades a system confuses (Xu & Li 2007, figure 6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, enumerated, plain, rounded_percent
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.data.readers.trec import Run
from rankwright.evaluation.evaluate import (
    judged_by,
    judged_documents,
    judgements_of,
    labels_of,
    measured_queries,
    named_systems,
    scores_of,
    scores_of_judged,
)
from rankwright.metrics.base import spell_number
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.data.readers.trec import Judgements
    from rankwright.evaluation.evaluate import Predicts
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

ALL = "all"
MAX_LABELS = 100
NORMAL_975 = 1.959964  # 97.5 % quantile of the normal distribution


@dataclass(frozen=True, eq=False, repr=False)
class PairErrors(Result):
    """The fraction of misordered pairs for every pair of labels.

    Parameters
    ----------
    pairs
        Number of pairs of documents of one query, by pair of labels, such as `"2 > 0"`; `"all"` has the sum.
    rates
        The fraction of them that each system misorders, by system and pair of labels; pairs with equal scores
        count one half.
    n_queries
        Number of queries with documents of different labels.
    not_retrieved
        The number of judged documents that each run did not retrieve.
    """

    pairs: Mapping[str, int]
    rates: Mapping[tuple[str, str], Interval]
    n_queries: int
    not_retrieved: Mapping[str, int] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(dict.fromkeys(system for system, _ in self.rates))

    def rate(self, system: str, pair: str = ALL) -> float:
        """Return the fraction of misordered pairs of these labels."""
        if (system, pair) not in self.rates:
            raise InputError(
                f"There is no error rate of {system} for {pair!r}; pairs are {', '.join(self.pairs)}."
            )
        return self.rates[system, pair].value

    @property
    def summary(self) -> str:
        """The fraction of all pairs that each system misorders."""
        first, *others = map(rounded_percent, map(self.rate, self.systems))
        rest = [f"{system} {rate}" for system, rate in zip(self.systems[1:], others, strict=True)]
        pairs = f"the {counted(self.pairs[ALL], 'pair')} of {counted(self.n_queries, 'query')}"
        return f"{enumerated([f'{self.systems[0]} misorders {first} of {pairs}', *rest])}."

    def blocks(self) -> list[Block]:
        """Return one row per pair of labels, one column per system, and the chart."""
        rows = [
            (pair, count, *(self.rates[system, pair] for system in self.systems))
            for pair, count in self.pairs.items()
        ]
        columns = [Column("labels", Kind.TEXT), Column("pairs", Kind.COUNT), *map(Column, self.systems)]
        about = "Fraction of misordered pairs by the labels of their documents; equal scores count one half."
        missing = [
            f" {name} does not retrieve {counted(number, 'judged document')}: they count as below all others."
            for name, number in self.not_retrieved.items()
            if number
        ]
        return [Table(columns, rows), Note(about + "".join(missing)), Figure(self.chart)]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and rates as JSON values."""
        rates = {system: {pair: self.rates[system, pair] for pair in self.pairs} for system in self.systems}
        missing = {"not_retrieved": dict(self.not_retrieved)} if self.not_retrieved else {}
        return {"queries": self.n_queries, "pairs": dict(self.pairs), "systems": plain(rates), **missing}

    def chart(self) -> Chart:
        """Return a bar per pair of labels and system."""
        from rankwright.reports.charts.bars import grouped_bar_chart

        return grouped_bar_chart(
            {pair: {system: self.rates[system, pair] for system in self.systems} for pair in self.pairs},
            "misordered pairs",
            x_label="labels: the first should rank higher",
            description=f"Fraction of misordered pairs by pair of labels, of {', '.join(self.systems)}.",
        )


def pair_errors(
    systems: Mapping[str, Predicts | ArrayLike | Run] | Sequence[Run] | Predicts | ArrayLike | Run,
    data: RankingData | Judgements | tuple[Any, Any, Any],
    *,
    names: Mapping[float, str] | None = None,
    queries: str | None = None,
    n_jobs: int | None = None,
) -> PairErrors:
    """Count, for every pair of labels, the pairs of documents that systems order wrongly.

    Only documents of the same query form pairs. The rate is the fraction of all pairs of all queries, so a query
    counts by its number of pairs; its interval is for other samples of queries (normal approximation). Documents
    that a run did not retrieve are below all others; those that were not judged form no pairs.

    Parameters
    ----------
    systems, data, queries
        As for `rankwright.evaluate`.
    names
        Names of labels, such as `{2: "d", 1: "p", 0: "n"}`, in place of the numbers.
    n_jobs
        Number of threads.

    Examples
    --------
    >>> data = rw.synthetic.gaussian_queries(20, spread=(0.5, 9.0))
    >>> systems = {"first": data.X[:, 0], "second": data.X[:, 1]}
    >>> errors = rw.analyses.pair_errors(systems, data)
    >>> errors.pairs["1 > 0"], [round(errors.rate(system, "1 > 0"), 2) for system in systems]
    (1960, [0.03, 0.28])
    """
    judged = _judged_scores(systems, data, queries=queries, n_jobs=n_jobs)
    levels, level = np.unique(judged.labels, return_inverse=True)
    _check_labels(levels)
    counted_labels = _LabelCounts(level, len(levels), judged.groups)
    kinds = _pairs_of_labels(levels, names or {}, counted_labels)
    rates: dict[tuple[str, str], Interval] = {}
    for system, scores in judged.scores.items():
        wrong = misordered(scores, level, judged.groups, len(levels), n_jobs)
        rates |= {(system, pair): rate for pair, rate in _rates(kinds, counted_labels, wrong).items()}
    totals = {name: int(counted_labels.pairs(*kind).sum()) for name, kind in kinds.items()}
    informative = int((counted_labels.all_pairs() > 0).sum())
    return PairErrors(totals | {ALL: sum(totals.values())}, rates, informative, judged.not_retrieved)


class _JudgedScores(NamedTuple):
    """Labels and scores of judged documents of some queries, and how many of them each run did not retrieve."""

    labels: Doubles
    groups: QueryGroups
    scores: dict[str, Doubles]
    not_retrieved: dict[str, int]


def _judged_scores(systems: Any, data: Any, *, queries: str | None, n_jobs: int | None) -> _JudgedScores:
    """Return the scores that systems, as `evaluate` takes them, give the judged documents.

    A document that a run did not retrieve has the score minus infinity, so that it is below all others. Retrieved
    documents without a judgement have no label, and are left out.
    """
    judged = judged_documents(data)
    judgements, runs = None, {}
    scores: dict[str, ArrayLike] = {}
    for name, system in named_systems(systems).items():
        if isinstance(system, Run):
            judgements = judgements or judgements_of(judged)
            runs[name] = judged_by(name, system, judgements)
            scores[name] = scores_of_judged(runs[name])
        else:
            scores[name] = scores_of(name, system, judged, n_jobs)
    kept = measured_queries(runs, len(judged.groups), queries)
    rows = np.flatnonzero(kept[judged.groups.query_of_row])
    chosen = {name: np.asarray(column, dtype=np.float64)[rows] for name, column in scores.items()}
    missing = {name: int(np.isneginf(chosen[name]).sum()) for name in runs}
    return _JudgedScores(labels_of(judged)[rows], QueryGroups.of(judged.qid[rows]), chosen, missing)


def misordered(
    scores: ArrayLike, level: NDArray[np.intp], groups: QueryGroups, n_levels: int, n_jobs: int | None = None
) -> Iterator[Doubles]:
    """Yield, for each level, the number of pairs in which it has the higher score: queries x other levels.

    Ties count one half. Each document needs the number of documents of a level above it, which cumulative counts
    over the ranking give: n log n for the sort and n for each level, where pairs would be n^2.
    """
    ranking = Ranking.of(scores, groups, n_jobs=n_jobs)
    order, query = ranking.order, np.repeat(np.arange(len(groups)), groups.sizes)
    ranked, sorted_scores = level[order], ranking.scores[order]
    first = np.append(True, (sorted_scores[1:] != sorted_scores[:-1]) | (query[1:] != query[:-1]))
    starts = np.flatnonzero(first)  # of documents with equal scores
    tie, ends = np.cumsum(first) - 1, np.append(starts[1:], len(order))
    cell = query * n_levels + ranked
    for lower in range(n_levels):
        before = np.concatenate([[0], np.cumsum(ranked == lower)])
        above = 0.5 * (before[starts] + before[ends])[tie] - before[groups.offsets[:-1]][query]
        counts = np.bincount(cell, above, len(groups) * n_levels).reshape(len(groups), n_levels)
        yield counts.astype(np.float64, copy=False)


class _LabelCounts:
    """Numbers of documents by query and level, and of the pairs that they form."""

    def __init__(self, level: NDArray[np.intp], n_levels: int, groups: QueryGroups) -> None:
        cell = groups.query_of_row * n_levels + level
        self.counts = np.bincount(cell, minlength=len(groups) * n_levels).reshape(len(groups), n_levels)

    def pairs(self, level: int, other: int) -> NDArray[np.int64]:
        """Return the number of pairs of two levels, one per query."""
        return np.asarray(self.counts[:, level] * self.counts[:, other])

    def all_pairs(self) -> NDArray[np.int64]:
        """Return the number of pairs of different levels, one per query."""
        return np.asarray((self.counts.sum(axis=1) ** 2 - (self.counts**2).sum(axis=1)) // 2)


def _pairs_of_labels(
    levels: Doubles, names: Mapping[float, str], counts: _LabelCounts
) -> dict[str, tuple[int, int]]:
    """Return the higher and the lower level of each pair of labels that occurs, the farthest apart first."""
    shown = [str(names.get(float(label), spell_number(label))) for label in levels]
    if len(set(shown)) < len(shown):
        raise InputError(f"Two labels have the same name: {', '.join(shown)}.")
    kinds = [(high, low) for low, high in combinations(range(len(levels)), 2) if counts.pairs(high, low).any()]
    if not kinds:
        raise InputError("No query has documents of different labels, so there are no pairs to order.")
    kinds.sort(key=lambda kind: (kind[0] - kind[1], kind[0]), reverse=True)
    return {f"{shown[high]} > {shown[low]}": (high, low) for high, low in kinds}


def _rates(
    kinds: Mapping[str, tuple[int, int]], counts: _LabelCounts, wrong: Iterator[Doubles]
) -> dict[str, Interval]:
    """Return the error rate of each pair of labels, and of all pairs."""
    rates, all_wrong = {}, np.zeros(len(counts.counts))
    for lower, by_level in enumerate(wrong):
        for name, (high, low) in kinds.items():
            if low == lower:
                rates[name] = _ratio(by_level[:, high], counts.pairs(high, low))
                all_wrong += by_level[:, high]
    return rates | {ALL: _ratio(all_wrong, counts.all_pairs())}


def _check_labels(levels: Doubles) -> None:
    if len(levels) < 2:
        raise InputError(f"All documents have the label {levels[0]:g}; pairs need at least two different labels.")
    if len(levels) > MAX_LABELS:
        raise InputError(
            f"There are {len(levels):,} different labels; error rates are for up to {MAX_LABELS} grades, so "
            "round the labels first."
        )


def _ratio(errors: Doubles, pairs: NDArray[np.int64]) -> Interval:
    """Return the ratio of two sums over queries; its standard error is that of the linearised ratio."""
    total, n_queries = pairs.sum(), int((pairs > 0).sum())
    rate = float(errors.sum() / total)
    if n_queries < 2:
        return Interval(rate, float("nan"), float("nan"))
    error = float(np.sqrt(((errors - rate * pairs) ** 2).sum() * n_queries / (n_queries - 1)) / total)
    reach = NORMAL_975 * error
    return Interval(rate, max(0.0, rate - reach), min(1.0, rate + reach))
