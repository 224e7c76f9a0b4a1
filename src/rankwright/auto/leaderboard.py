"""A fitted AutoRanker and its members beside other systems, on any judged queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, metric_value, plain, said_p_value
from rankwright.crossval.best_feature import best_feature
from rankwright.data.alignment import aligned
from rankwright.data.dataset import content_hashes, query_hashes
from rankwright.evaluation.compare import compare
from rankwright.evaluation.evaluate import checked_judged
from rankwright.reports.blocks import Cell, Column, Interval, Kind, Note, Section, Table
from rankwright.reports.result import Result
from rankwright.statistics.paired_tests import RANDOMISATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.auto.run import AutoRun
    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.compare import SystemComparison
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.models.scorer import Scorer

MODEL, MEMBER, FEATURE, ORDER, GIVEN = "this model", "member", "best feature", "order today", "given"


class LeaderboardOptions(TypedDict, total=False):
    """The options of `compare` that a leaderboard takes."""

    metrics: MetricLike | Sequence[MetricLike]
    slices: str | Sequence[str] | Mapping[str, Any]
    level: float
    random_state: int
    convention: str
    min_relevant: int
    drop_one_label: bool


class Place(NamedTuple):
    """One row of a leaderboard: a system, its mean, and how far the model is ahead of it."""

    system: str
    kind: str
    value: Interval
    ahead: Interval | None
    p_value: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
    """The model, its members and other systems on judged queries, the best first.

    Parameters
    ----------
    comparison
        All systems compared with the model: means, intervals, tests.
    kinds
        What each system is: this model, a member, the best feature, the order of today, or given.
    learned
        The number of its queries that the model has learned from.
    """

    comparison: SystemComparison
    kinds: Mapping[str, str]
    learned: int

    @property
    def title(self) -> str:
        """The heading on a page."""
        return "Leaderboard"

    @property
    def places(self) -> list[Place]:
        """All systems by the first metric, the highest mean first."""
        by = self.comparison.by()
        places = []
        for name in by.ranked():
            value = Interval(by.mean(name), *by.interval(name))
            ahead, p_value = None, None
            if name != MODEL:
                pair = by.pairs.pair(MODEL, name)
                ahead, p_value = Interval(pair.difference, *pair.interval), pair.corrected[RANDOMISATION]
            places.append(Place(name, self.kinds[name], value, ahead, p_value))
        return places

    @property
    def summary(self) -> str:
        """The place of the model, and the system that is ahead of it or next to it."""
        by, places = self.comparison.by(), self.places
        number = [row.system for row in places].index(MODEL)
        own = f"this model is number {number + 1} of {len(places)} systems by mean {by.metric}"
        start = f"On {counted(by.n_queries, 'query')}, {own}, with {metric_value(by.mean(MODEL))}"
        rival = places[0] if number else places[1]
        pair, side = by.pairs.pair(MODEL, rival.system), "behind" if number else "ahead of"
        chance = "" if by.is_significant(pair) else "which may be chance, "
        known = f"{chance}{said_p_value(pair.corrected[RANDOMISATION])}"
        return f"{start}; it is {side} {rival.system} by {metric_value(abs(pair.difference))} ({known})."

    def blocks(self) -> Iterator[Section]:
        """Yield the leaderboard, then the whole comparison."""
        columns = [
            Column("number", Kind.COUNT),
            Column("system", Kind.TEXT),
            Column(self.comparison.metrics[0]),
            Column("this model is ahead by", Kind.DIFFERENCE),
            Column("p (Holm)", Kind.P_VALUE),
        ]
        rows = [
            (number, Cell(row.system, "" if row.kind == MODEL else row.kind), *row[2:])
            for number, row in enumerate(self.places, start=1)
        ]
        yield Section("Leaderboard", [Table(columns, rows, MEANING), *map(Note, self._notes())])
        yield from self.comparison.sections

    def _notes(self) -> Iterator[str]:
        n_queries = len(self.comparison.report.queries)
        yield f"{counted(n_queries, 'query')}; {self.comparison.report.convention} definitions of metrics."
        if self.learned:
            yield (
                f"The model has learned from {self.learned:,} of these {n_queries:,} queries: its value and those "
                "of its members are too high."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return places and comparison as JSON values."""
        places = [row._asdict() for row in self.places]
        facts: dict[str, Any] = plain({"places": places, "learned_queries": self.learned})
        return facts | {"comparison": self.comparison.to_dict()}


MEANING = (
    "Systems by their mean over queries, with bootstrap intervals. Members were fitted on all training queries. "
    "p: paired randomisation test against this model, corrected for the number of systems (Holm)."
)


def leaderboard(
    run: AutoRun,
    model: Scorer,
    data: RankingData,
    systems: Mapping[str, Any],
    baseline_column: str | None,
    **options: Any,
) -> Leaderboard:
    """Compare the model of a run with its members, its best feature, other systems and the order by a column.

    `options` are those of `compare`.
    """
    judged = checked_judged(data)
    kinds: dict[str, str] = {MODEL: MODEL}
    scored: dict[str, Any] = {MODEL: model}
    groups: dict[str, Mapping[str, Any]] = {
        MEMBER: _members(run, model),
        FEATURE: _best_feature(run),
        ORDER: {} if baseline_column is None else {baseline_column: baseline_column},
        GIVEN: systems,
    }
    for kind, group in groups.items():
        for name, system in group.items():
            if name in scored:
                raise InputError(
                    f"Two systems of the leaderboard are called {name!r}; rename the one that is given."
                )
            kinds[name], scored[name] = kind, system
    compared = compare(scored, judged, **{"metrics": [run.frontier.metric]} | options, baseline=MODEL)
    return Leaderboard(compared, kinds, _learned(run, judged))


def _members(run: AutoRun, model: Scorer) -> dict[str, Scorer]:
    """Return all members, each with the rounds that it was cut to; a model of one member is that member."""
    mixes = (run.whole.mix, run.kept.mix)  # the second has the rounds that count
    cut = {
        entry.name: entry.cut(index)
        for mix in mixes
        for entry, index in zip(mix.entries, mix.round_indices, strict=True)
    }
    if len(run.kept.mix.kept) == 1:
        del cut[run.kept.mix.entries[run.kept.mix.kept[0]].name]
    names, categories = model.feature_names, model.categories
    return {name: scorer.described(feature_names=names, categories=categories) for name, scorer in cut.items()}


def _best_feature(run: AutoRun) -> dict[str, Scorer]:
    """Return the feature that ranks the training queries best; nothing if all are constant."""
    if run.estimate.best_feature is None:
        return {}
    scorer = best_feature(run.plan.whole.data, run.frontier.metric, n_jobs=run.frontier.n_threads)
    names = scorer.feature_names
    name = f"feature {scorer.feature + 1}" if names is None else names[scorer.feature]
    return {f"{name}{'' if scorer.direction > 0 else ', ascending'}": scorer}


def _learned(run: AutoRun, data: RankingData) -> int:
    """Return how many queries the model has learned from: queries of the same documents with the same labels."""
    whole = run.plan.whole.data
    own, other = (_hashes(each) for each in (whole, aligned(data, whole)))
    return int(np.isin(other, own).sum())


def _hashes(data: RankingData) -> np.ndarray[Any, Any]:
    return query_hashes(content_hashes(data), data.groups)
