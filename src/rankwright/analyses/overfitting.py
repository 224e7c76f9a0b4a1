"""A metric on training and test queries after each round (Zhu et al. 2009, figure 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.analyses.truncated_models import rounds_of, systems_with_rounds
from rankwright.base.wording import counted, metric_value, plain
from rankwright.evaluation.evaluate import checked_judged, evaluate
from rankwright.metrics.base import mean_over_queries
from rankwright.metrics.catalogue import as_metric
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import mean_with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.metrics.catalogue import Convention, MetricLike
    from rankwright.models.scorer import Fitted, Scorer
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart


@dataclass(frozen=True, eq=False)
class RoundCurve:
    """A system's metric by number of rounds.

    Parameters
    ----------
    rounds
        Numbers of rounds, ascending.
    train, test
        The mean over training and over test queries after so many rounds.
    peak
        The number of rounds with the highest test value.
    lost
        Test value at the peak minus that of all rounds, with the interval of this difference over test queries. As
        the peak was chosen on the same queries, it is somewhat too high.
    """

    rounds: tuple[int, ...]
    train: tuple[float, ...]
    test: tuple[float, ...]
    peak: int
    lost: Interval

    def value(self, rounds: int) -> float:
        """Return the test value after so many rounds."""
        return self.test[self.rounds.index(rounds)]


@dataclass(frozen=True, eq=False, repr=False)
class Overfitting(Result):
    """A metric on training and test queries by number of rounds, one curve per system."""

    metric: str
    curves: Mapping[str, RoundCurve]
    n_train: int
    n_test: int

    @property
    def summary(self) -> str:
        """The system that loses most after its best round."""
        system = max(self.curves, key=lambda name: self.curves[name].lost.value)
        curve = self.curves[system]
        if not curve.lost.value > 0:
            return f"No system overfits: the mean {self.metric} on the test queries is highest after all rounds."
        since = f"{metric_value(curve.lost.value)} less than after {counted(curve.peak, 'round')}"
        all_rounds = counted(curve.rounds[-1], "round")
        value = f"a mean {self.metric} of {metric_value(curve.test[-1])} on the test queries"
        return f"After {all_rounds}, {system} has {value}, {since}."

    def blocks(self) -> list[Block]:
        """Return one row per system, the last round beside the best one, and the curves."""
        columns = [
            Column("system", Kind.TEXT),
            Column("rounds", Kind.COUNT),
            Column("training"),
            Column("test"),
            Column("best test"),
            Column("at round", Kind.COUNT),
            Column("lost since"),
        ]
        rows = [
            (
                system,
                curve.rounds[-1],
                curve.train[-1],
                curve.test[-1],
                curve.value(curve.peak),
                curve.peak,
                curve.lost,
            )
            for system, curve in self.curves.items()
        ]
        parts = f"{counted(self.n_train, 'training query')} and {counted(self.n_test, 'test query')}"
        about = Note(
            f"{parts}. The test queries have chosen the best round, so a little less is lost on new ones."
        )
        return [Table(columns, rows), about, Figure(self.chart)]

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as JSON values."""
        queries = {"train_queries": self.n_train, "test_queries": self.n_test}
        return {"metric": self.metric, **queries, "systems": plain(self.curves)}

    def chart(self) -> Chart:
        """Return a line per system and part, dashed on training queries, with the best test round marked."""
        from rankwright.reports.charts.lines import line_chart

        curves, marked = {}, {}
        for system, curve in self.curves.items():
            curves[f"{system}, test"] = list(zip(curve.rounds, curve.test, strict=True))
            curves[f"{system}, training"] = list(zip(curve.rounds, curve.train, strict=True))
            marked[f"{system}, test"] = (curve.peak, curve.value(curve.peak))
        return line_chart(
            curves,
            "rounds",
            self.metric,
            description=f"{self.metric} on training and test queries by round, of {', '.join(self.curves)}.",
            marked=marked,
            dashed=[f"{system}, training" for system in self.curves],
        )


def overfitting(
    systems: Mapping[str, Scorer | Fitted] | Scorer | Fitted,
    train: RankingData,
    test: RankingData,
    *,
    metric: MetricLike = "ndcg@10",
    rounds: Sequence[int] | None = None,
    convention: str | Convention = "standard",
    n_jobs: int | None = None,
) -> Overfitting:
    """Measure boosted models after each number of rounds, on the queries they learned from and on others.

    A model that was fitted with validation data has kept only the rounds that validation chose; fit without it to
    see what later rounds do.

    Parameters
    ----------
    systems
        Fitted rankers or models with rounds: several by name, or a single one. They may differ in rounds.
    train, test
        The queries that the systems learned from, and others.
    metric
        The metric.
    rounds
        Numbers of rounds to measure; by default about twenty, evenly spaced. All rounds of a system are always
        measured; larger numbers are ignored for it.
    convention, n_jobs
        As for `rankwright.evaluate`.

    Examples
    --------
    >>> truth = rw.synthetic.RandomPolynomial.draw(1, n_features=4, n_active=2)
    >>> train, test = (truth.sample(20, seed=seed, n_documents=10, noise=0.2) for seed in (1, 2))
    >>> ranker = rw.LambdaMART(rounds=40).fit(train)
    >>> result = rw.analyses.overfitting({"trees": ranker}, train, test, rounds=[5, 10, 20, 40])
    >>> result.curves["trees"].peak, [round(value, 2) for value in result.curves["trees"].test]
    (40, [0.83, 0.87, 0.87, 0.91])
    """
    asked = as_metric(metric)
    options: dict[str, Any] = {"metrics": [asked], "convention": convention, "n_jobs": n_jobs}
    train, test = checked_judged(train), checked_judged(test)
    curves = {}
    for name, scorer in systems_with_rounds(systems).items():
        numbers = rounds_of(scorer, rounds)
        cuts = {str(number): scorer.first(number) for number in numbers}
        reports = [evaluate(cuts, part, **options) for part in (train, test)]
        trained, tested = ([report.per_query(str(number), asked) for number in numbers] for report in reports)
        curves[name] = _curve(numbers, trained, tested)
    return Overfitting(str(asked), curves, len(train.groups), len(test.groups))


def _curve(rounds: tuple[int, ...], train: Sequence[Doubles], test: Sequence[Doubles]) -> RoundCurve:
    train_means, test_means = (tuple(map(mean_over_queries, part)) for part in (train, test))
    best = int(np.argmax(test_means))
    lost = test[best] - test[-1]
    return RoundCurve(rounds, train_means, test_means, rounds[best], mean_with_interval(lost))
