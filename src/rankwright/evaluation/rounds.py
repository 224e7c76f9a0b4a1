"""Evaluates boosted models truncated to their first rounds: accuracy against cost (Wu et al. 2010, figure 2)."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, Unpack

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import enumerated, metric_value
from rankwright.evaluation.evaluate import evaluate, named_systems
from rankwright.models.scorer import scorer_of
from rankwright.reports.blocks import Column, Figure, Kind, Note, Section, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.evaluate import EvaluationOptions
    from rankwright.evaluation.report import Report
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.models.scorer import Fitted, Scorer
    from rankwright.reports.charts.chart import Chart


@dataclass(frozen=True, eq=False, repr=False)
class RoundsReport(Result):
    """Metrics of systems truncated to several numbers of rounds; `report` has one system for each truncation."""

    systems: tuple[str, ...]
    rounds: tuple[int, ...]
    report: Report

    @property
    def title(self) -> str:
        """The heading on a page."""
        return "Metrics by round"

    def mean(self, system: str, rounds: int, metric: str) -> float:
        """Return the mean over queries of a system truncated to this number of rounds."""
        return self.report.mean(cut_name(system, rounds), metric)

    def curve(self, system: str, metric: str) -> list[tuple[float, float]]:
        """Return the means by number of rounds."""
        return [(rounds, self.mean(system, rounds, metric)) for rounds in self.rounds]

    @property
    def summary(self) -> str:
        """The means of all systems by the first metric after the most rounds, in one sentence."""
        metric = self.report.metrics[0]
        return f"After {self.rounds[-1]} rounds, the mean {metric} is {self._last(metric)}."

    def blocks(self) -> Iterator[Section]:
        """Yield the means of all systems by number of rounds."""
        metrics = self.report.metrics
        columns = [Column("system", Kind.TEXT), Column("rounds", Kind.COUNT), *map(Column, metrics)]
        rows = [
            (system, rounds, *(self.mean(system, rounds, metric) for metric in metrics))
            for system in self.systems
            for rounds in self.rounds
        ]
        figure = Figure(self.chart, f"Mean {metrics[0]} by number of rounds.")
        table = Table(columns, rows, "Means over queries of models cut to their first rounds.")
        yield Section("By number of rounds", [figure, table, Note(f"{self.report.footnote()}.")])

    def chart(self, metric: str | None = None) -> Chart:
        """Return the means of all systems by number of rounds, by default of the first metric."""
        from rankwright.reports.charts.lines import line_chart

        name = self.report.metrics[0] if metric is None else metric
        curves = {system: self.curve(system, name) for system in self.systems}
        description = f"Mean {name} by number of rounds; after {self.rounds[-1]} it is {self._last(name)}."
        return line_chart(curves, "rounds", name, description=description)

    def _last(self, metric: str) -> str:
        means = ((system, self.mean(system, self.rounds[-1], metric)) for system in self.systems)
        return enumerated(f"{metric_value(mean)} for {system}" for system, mean in means)

    def to_dict(self) -> dict[str, Any]:
        """Return means and counts as JSON values."""
        facts = self.report.to_dict()
        facts["systems"] = {
            system: {str(rounds): facts["systems"][cut_name(system, rounds)] for rounds in self.rounds}
            for system in self.systems
        }
        return facts


def evaluate_rounds(
    systems: Mapping[str, Scorer | Fitted] | Scorer | Fitted,
    data: RankingData,
    rounds: Sequence[int],
    *,
    metrics: MetricLike | Sequence[MetricLike] = ("ndcg@10", "map"),
    **options: Unpack[EvaluationOptions],
) -> RoundsReport:
    """Evaluate boosted models truncated to their first rounds, query by query.

    The scoring time of a model is proportional to its rounds. Trees of a start model count as the first rounds.

    Parameters
    ----------
    systems
        Rankers or scorers: several by name, or a single one.
    data
        The judged documents.
    rounds
        Numbers of rounds to keep, none larger than the number of rounds of any system.
    metrics
        As for `evaluate`.
    options
        `convention`, `min_relevant`, `drop_one_label` and `n_jobs`, as for `evaluate`.

    Examples
    --------
    >>> judged = rw.synthetic.polynomial_queries(30, n_documents=10, n_features=6, n_active=4)
    >>> ranker = rw.LambdaMART(rounds=40).fit(judged)
    >>> cut = rw.evaluate_rounds({"trees": ranker}, judged, [2, 40], metrics="ndcg@10")
    >>> [(rounds, round(mean, 2)) for rounds, mean in cut.curve("trees", "ndcg@10")]
    [(2, 0.89), (40, 1.0)]
    """
    named = named_systems(systems)
    wanted = checked_rounds(rounds)
    cut = {
        cut_name(name, number): _scorer_of(name, system, number).first(number)
        for name, system in named.items()
        for number in wanted
    }
    return RoundsReport(tuple(named), wanted, evaluate(cut, data, metrics=metrics, **options))


def cut_name(system: str, rounds: int) -> str:
    """Return the name of a truncated system."""
    return f"{system}, {rounds} rounds"


def checked_rounds(rounds: Sequence[int], *, what: str = "rounds") -> tuple[int, ...]:
    """Return different numbers of rounds, or of what else is counted, in ascending order."""
    try:
        wanted = tuple(sorted({index(number) for number in rounds}))
    except TypeError:
        wanted = ()
    if not wanted or wanted[0] < 1:
        raise InputError(f"{parameter(what)} must be one or more positive integers, not {rounds!r}.")
    return wanted


def scorer_with_rounds(name: str, system: Any) -> Scorer:
    """Return the scorer of a system, or refuse it if it has no rounds."""
    scorer = scorer_of(system)
    if scorer is None:
        raise InputError(
            f"{name} is neither a model of rankwright nor a fitted ranker, so it cannot be cut to fewer rounds."
        )
    if not scorer.n_rounds:
        raise InputError(f"{name} is no boosted model, so it cannot be cut to fewer rounds.")
    return scorer


def _scorer_of(name: str, system: Any, most: int) -> Scorer:
    scorer = scorer_with_rounds(name, system)
    if scorer.n_rounds < most:
        raise InputError(f"{name} has {scorer.n_rounds} rounds; it cannot be truncated to {most}.")
    return scorer
