"""A metric by number of training queries, and what more judgements would buy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.analyses.extrapolation import Measured, extrapolate
from rankwright.analyses.out_of_fold_fits import Fitting, Variant, first_train, fit_out_of_fold
from rankwright.base.errors import InputError
from rankwright.base.wording import counted, difference, interval, metric_value, plain
from rankwright.crossval.folds import count_folds
from rankwright.crossval.splits import SplitOptions
from rankwright.data.splitting import sample_queries
from rankwright.evaluation.evaluate import checked_metrics
from rankwright.metrics.catalogue import find_convention
from rankwright.models.scorer import name_of
from rankwright.rankers.catalogue import as_ranker
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import mean_with_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.analyses.out_of_fold_fits import OutOfFold
    from rankwright.base.arrays import Doubles
    from rankwright.crossval.folds import FoldParts, FoldsData
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

MAX_SIZES = 5
LEAST_SIZES = 3  # that a curve can be fitted to
LEAST_QUERIES = 5  # of the smallest subset, unless sizes are given
CURVE_POINTS = 40


class SizePoint(NamedTuple):
    """The mean of the metric over test queries of rankers that learned from so many queries."""

    n_queries: float
    value: Interval


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """A metric by number of training queries, with a fitted curve and what it says about twice the queries.

    Parameters
    ----------
    ranker, metric
        Names of the ranker and the metric.
    points
        The measured values, the fewest training queries first.
    curve
        The fitted curve: points (queries, value, low, high), up to twice the number of judged queries.
    n_queries
        Number of judged queries.
    now, doubled
        The value expected of a ranker that learns from all judged queries, and from twice as many.
    gain
        The difference between the two.
    """

    ranker: str
    metric: str
    points: tuple[SizePoint, ...]
    curve: tuple[tuple[float, float, float, float], ...]
    n_queries: int
    now: Interval
    doubled: Interval
    gain: Interval

    @property
    def summary(self) -> str:
        """What twice the queries would change."""
        limits = f"95 % interval {interval(self.gain.low, self.gain.high, signed=True)}"
        raised = f"raise the {self.metric} of {self.ranker}"
        if self.gain.low > 0:
            amount = metric_value(self.gain.value)
            return f"If the curve goes on, twice the queries would {raised} by {amount} ({limits})."
        change = f"the curve says {difference(self.gain.value)} ({limits})"
        return f"These queries cannot tell whether twice as many would {raised}: {change}."

    def blocks(self) -> list[Block]:
        """Return one row per measured size and the two estimates by the curve, and the curve."""
        rows = [
            *((point.n_queries, point.value, "measured") for point in self.points),
            (self.n_queries, self.now, "by the curve: all judged queries"),
            (2 * self.n_queries, self.doubled, "by the curve: twice as many"),
        ]
        columns = [Column("training queries", Kind.COUNT), Column(self.metric), Column("source", Kind.TEXT)]
        return [Table(columns, rows), Figure(self.chart)]

    def to_dict(self) -> dict[str, Any]:
        """Return points, curve and estimates as JSON values."""
        facts: dict[str, Any] = plain(
            {
                "ranker": self.ranker,
                "metric": self.metric,
                "queries": self.n_queries,
                "points": [{"train_queries": point.n_queries} | point.value.to_dict() for point in self.points],
                "now": self.now,
                "doubled": self.doubled,
                "gain": self.gain,
                "curve": self.curve,
            }
        )
        return facts

    def chart(self) -> Chart:
        """Return the measured points and the fitted curve with its interval."""
        from rankwright.reports.charts.lines import line_chart

        return line_chart(
            {
                "measured": [(point.n_queries, point.value.value) for point in self.points],
                "fitted": [(x, value) for x, value, _, _ in self.curve],
            },
            "training queries",
            self.metric,
            description=f"{self.metric} of {self.ranker} by training queries, up to twice the judged ones.",
            x_log=True,
            dashed=["fitted"],
            bands={"fitted": [(x, low, high) for x, _, low, high in self.curve]},
        )


def learning_curve(
    ranker: Ranker | str,
    data: FoldsData,
    *,
    sizes: Sequence[float] | None = None,
    draws: int = 3,
    metric: MetricLike = "ndcg@10",
    folds: int = 5,
    validation: float | str = 0.0,
    random_state: int = 0,
    convention: str = "standard",
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
) -> LearningCurve:
    """Fit a ranker on more and more of the queries, and estimate what twice the queries would give.

    In every fold, subsets of the training queries are drawn, each part of the next larger one, and the test part
    judges the rankers that learned from them. Curves a - b n^-c are fitted to the means; the estimate weighs the
    exponents by how well they fit. The interval covers the choice of test queries, of training queries and of the
    exponent. It assumes that further queries are like these, and that the curve does not suddenly level off.

    Parameters
    ----------
    ranker
        The ranker, or its name; it is not changed.
    data, folds, validation, random_state, workers
        As for `rankwright.cross_validate`.
    sizes
        At least three sizes of the subsets: fractions of the training queries of a fold, or numbers of queries. By
        default up to five, each twice the one before, the largest with all training queries.
    draws
        How many times subsets are drawn in each fold, at least 2.
    metric
        The metric.
    convention
        As for `rankwright.evaluate`.
    on_fit
        Called after each fit.

    Examples
    --------
    >>> truth = rw.synthetic.RandomPolynomial.draw(1, n_features=4, n_active=2)
    >>> ranker, data = rw.LambdaMART(rounds=20), truth.sample(40, seed=1, n_documents=20)
    >>> curve = rw.analyses.learning_curve(ranker, data, sizes=[5, 10, 20], draws=2, folds=2)
    >>> [round(point.value.value, 2) for point in curve.points], round(curve.gain.value, 2)
    ([0.86, 0.95, 0.95], 0.0)
    """
    ranker, asked = as_ranker(ranker), checked_metrics([metric], find_convention(convention))
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 2:
        raise InputError(f"draws must be an integer of at least 2, not {draws!r}.")
    division = SplitOptions(folds, 1, validation, random_state)
    chosen: list[list[int]] = []

    def variants(parts: FoldParts) -> Mapping[str, Variant]:
        chosen.append(_subset_sizes(len(parts.train.groups), sizes))
        return _variants(ranker, parts, chosen[-1], draws, random_state)

    how = Fitting(asked, convention, workers, on_fit)
    fitted = fit_out_of_fold(variants, data, division, how)
    measured = _measured(fitted, np.mean(chosen, axis=0))
    return _result(name_of(ranker), str(asked[0]), measured, n_queries=len(fitted))


def count_learning_fits(data: FoldsData, division: SplitOptions, sizes: Sequence[float] | None, draws: int) -> int:
    """Return the number of fits of `learning_curve`, if all folds are as large as the first."""
    n_queries = len(first_train(data, division).groups)
    per_fold = sum(1 if size == n_queries else draws for size in _subset_sizes(n_queries, sizes))
    return per_fold * count_folds(data, division)


def _subset_sizes(n_queries: int, sizes: Sequence[float] | None) -> list[int]:
    """Return the numbers of queries of the subsets, ascending."""
    if sizes is None:
        halves = [n_queries // 2**power for power in range(MAX_SIZES)]
        wanted = [size for size in halves[::-1] if size >= LEAST_QUERIES]
        if len(wanted) < LEAST_SIZES:
            least = LEAST_QUERIES * 2 ** (LEAST_SIZES - 1)
            raise InputError(
                f"A learning curve needs at least {least} training queries per fold, not {n_queries}."
            )
        return wanted
    wanted = [_size(size, n_queries) for size in sizes]
    if len(set(wanted)) < max(LEAST_SIZES, len(wanted)) or wanted != sorted(wanted):
        raise InputError(
            f"sizes must be at least {LEAST_SIZES} ascending numbers of queries, or fractions of the "
            f"{counted(n_queries, 'training query')} of a fold, not {list(sizes)!r}."
        )
    return wanted


def _size(size: float, n_queries: int) -> int:
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    number = int(size) if whole else round(size * n_queries) if 0 < size <= 1 else 0
    if number > n_queries:
        raise InputError(
            f"A subset of {counted(number, 'query')} cannot be drawn: a fold has {n_queries:,} training queries."
        )
    if number < 1:
        raise InputError(f"sizes must be numbers of queries or fractions that give at least one, not {size!r}.")
    return number


def _variants(
    ranker: Ranker, parts: FoldParts, sizes: Sequence[int], draws: int, random_state: int
) -> dict[str, Variant]:
    """Return one variant per size and draw; all training queries can be drawn in one way only."""
    variants = {}
    for index, size in enumerate(sizes):
        if size == len(parts.train.groups):
            variants[_name(index, 0)] = Variant(ranker)
            continue
        for draw in range(draws):
            seed = random_state * draws + draw  # of one seed, a smaller subset is part of a larger one
            variants[_name(index, draw)] = Variant(ranker, partial(_subset, size=size, seed=seed))
    return variants


def _subset(parts: FoldParts, *, size: int, seed: int) -> FoldParts:
    return parts._replace(train=sample_queries(parts.train, size, random_state=seed))


def _name(size: int, draw: int) -> str:
    return f"size {size}, draw {draw}"


def _measured(fitted: OutOfFold, sizes: Doubles) -> Measured:
    """Return the values of all sizes and draws, without queries that the metric leaves out."""
    counted_in = ~np.isnan(next(iter(fitted.values.values())))
    by_size: dict[str, list[Doubles]] = {}
    for (name, _), values in fitted.values.items():
        by_size.setdefault(name.partition(",")[0], []).append(values[counted_in])
    return Measured(
        sizes, [np.array(draws) for draws in by_size.values()], fitted.folds[counted_in], fitted.train_queries
    )


def _result(ranker: str, metric: str, measured: Measured, n_queries: int) -> LearningCurve:
    along = np.geomspace(measured.sizes[0], 2 * n_queries, CURVE_POINTS)
    extrapolation = extrapolate(measured, np.concatenate([along, [n_queries, 2 * n_queries]]))
    *curve, now, doubled = (Interval(*estimate) for estimate in extrapolation.estimates())
    points = [
        SizePoint(float(size), mean_with_interval(values))
        for size, values in zip(measured.sizes, measured.by_query, strict=True)
    ]
    drawn = tuple((float(x), *estimate) for x, estimate in zip(along, curve, strict=True))
    gain = Interval(*extrapolation.difference(-1, -2))
    return LearningCurve(ranker, metric, tuple(points), drawn, n_queries, now, doubled, gain)
