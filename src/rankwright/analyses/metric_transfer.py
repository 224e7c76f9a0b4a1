"""The metric in training against the metric that is measured (Xu & Li 2007, figures 9 and 10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.analyses.out_of_fold_fits import Fitting, Variant, fit_out_of_fold
from rankwright.base.errors import InputError
from rankwright.base.wording import counted, enumerated
from rankwright.crossval.splits import SplitOptions
from rankwright.evaluation.evaluate import checked_metrics
from rankwright.metrics.base import mean_over_queries
from rankwright.metrics.catalogue import find_convention
from rankwright.models.scorer import name_of
from rankwright.rankers.catalogue import as_ranker
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Table
from rankwright.reports.result import Result
from rankwright.statistics.paired_tests import compare_values
from rankwright.tuning.trials import configured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.crossval.folds import FoldsData
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart
    from rankwright.statistics.paired_tests import Comparison

METRICS = ("ndcg@10", "map")


@dataclass(frozen=True, eq=False, repr=False)
class MetricTransfer(Result):
    """Every metric's value for a ranker trained with each of them.

    Parameters
    ----------
    ranker
        Name of the ranker.
    metrics
        The metrics that it was trained with, and measured by.
    test, train
        Means over test and training queries, by trained and measured metric.
    against_own
        For each trained and each other measured metric, the paired comparison on test queries with the ranker that
        was trained with the measured metric itself.
    n_queries
        Number of test queries.
    """

    ranker: str
    metrics: tuple[str, ...]
    test: Mapping[tuple[str, str], float]
    train: Mapping[tuple[str, str], float]
    against_own: Mapping[tuple[str, str], Comparison]
    n_queries: int

    @property
    def summary(self) -> str:
        """The best metric to train with for each measured metric, or that it makes no difference."""
        compared, queries = self.against_own.values(), counted(self.n_queries, "test query")
        if all(pair.difference == 0.0 and pair.equal == self.n_queries for pair in compared):
            return f"The metric in training makes no difference to {self.ranker} on {queries}."
        best = {name: max(self.metrics, key=lambda each: self.test[each, name]) for name in self.metrics}
        choices = enumerated(f"{trained} for {measured}" for measured, trained in best.items())
        if len(set(best.values())) == 1:
            choices = f"{next(iter(best.values()))}, whatever is measured"
        doubt = "" if any(pair.p_value < 0.05 for pair in compared) else ", but that may be chance"
        return f"On {queries}, the best metric to train {self.ranker} with is {choices}{doubt}."

    def blocks(self) -> list[Block]:
        """Return one row per trained and measured metric, and the chart."""
        columns = [
            Column("trained with", Kind.TEXT),
            Column("measured", Kind.TEXT),
            Column("training"),
            Column("test"),
            Column("against own metric", Kind.DIFFERENCE),
            Column("p", Kind.P_VALUE),
        ]
        rows = [self._row(trained, measured) for measured in self.metrics for trained in self.metrics]
        return [Table(columns, rows), Figure(self.chart)]

    def _row(self, trained: str, measured: str) -> tuple[Any, ...]:
        own = self.against_own.get((trained, measured))
        beside = (None, None) if own is None else (Interval(own.difference, *own.interval), own.p_value)
        return trained, measured, self.train[trained, measured], self.test[trained, measured], *beside

    def to_dict(self) -> dict[str, Any]:
        """Return the values as JSON values."""
        rows = [
            {
                "trained_with": trained,
                "measured": measured,
                "train": self.train[trained, measured],
                "test": self.test[trained, measured],
                **self._compared(trained, measured),
            }
            for trained in self.metrics
            for measured in self.metrics
        ]
        return {"ranker": self.ranker, "queries": self.n_queries, "values": rows}

    def _compared(self, trained: str, measured: str) -> dict[str, Any]:
        own = self.against_own.get((trained, measured))
        if own is None:
            return {}
        return {"difference": own.difference, "interval": list(own.interval), "p_value": own.p_value}

    def chart(self) -> Chart:
        """Return a group of bars per measured metric, on test queries."""
        from rankwright.reports.charts.bars import grouped_bar_chart

        return grouped_bar_chart(
            {
                f"measured: {measured}": {
                    f"trained with {trained}": self.test[trained, measured] for trained in self.metrics
                }
                for measured in self.metrics
            },
            "mean over test queries",
            description=f"Test values of {self.ranker} trained with each of {', '.join(self.metrics)}.",
        )


def metric_transfer(
    ranker: Ranker | str,
    data: FoldsData,
    *,
    metrics: MetricLike | Sequence[MetricLike] = METRICS,
    folds: int = 5,
    repeats: int = 1,
    validation: float | str = 0.0,
    random_state: int = 0,
    convention: str = "standard",
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
) -> MetricTransfer:
    """Train a ranker with each of several metrics, and measure all of them on test queries.

    Shows whether training with a metric improves that metric.

    Parameters
    ----------
    ranker
        A ranker with a `metric`, or its name; it is not changed.
    data, folds, repeats, validation, random_state, workers
        As for `rankwright.cross_validate`; `[(train, test)]` uses given parts.
    metrics
        At least two metrics.
    convention
        As for `rankwright.evaluate`.
    on_fit
        Called after each fit: one per fold and metric.

    Examples
    --------
    >>> truth = rw.synthetic.RandomPolynomial.draw(1, n_features=4, n_active=2)
    >>> train, test = (truth.sample(20, seed=seed, n_documents=10) for seed in (1, 2))
    >>> result = rw.analyses.metric_transfer("adarank", [(train, test)], metrics="map,ndcg@5")
    >>> {trained: round(result.test[trained, "map"], 2) for trained in result.metrics}
    {'map': 0.75, 'ndcg@5': 0.71}
    """
    ranker = as_ranker(ranker)
    asked = checked_metrics(metrics, find_convention(convention))
    names = [str(metric) for metric in asked]
    if len(asked) < 2 or len(set(names)) < len(names):
        raise InputError(f"At least two different metrics are needed, not {', '.join(names) or 'none'}.")
    variants = {
        name: Variant(configured(ranker, {"metric": metric})) for name, metric in zip(names, asked, strict=True)
    }
    how = Fitting(asked, convention, workers, on_fit, on_train=True)
    fitted = fit_out_of_fold(variants, data, SplitOptions(folds, repeats, validation, random_state), how)
    test = {key: mean_over_queries(values) for key, values in fitted.values.items()}
    against_own = {
        (trained, other): compare_values(fitted.values[trained, other], fitted.values[other, other])
        for trained in names
        for other in names
        if trained != other
    }
    return MetricTransfer(name_of(ranker), tuple(names), test, fitted.train_means, against_own, len(fitted))
