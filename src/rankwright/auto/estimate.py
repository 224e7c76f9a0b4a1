"""The value of a mixture on new queries: its out-of-fold value, corrected for everything that was chosen.

Rounds and weights for the queries of a part are chosen by the other queries alone, so no query judges a choice
that it took part in. What the model gains by learning from all queries is added. The same holds for the best
single member; the best single feature and the order of today have nothing to learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.auto.mixing import mix
from rankwright.base.wording import counted, interval, metric_value, percent
from rankwright.ensembling.mixtures import best_alone
from rankwright.evaluation.evaluate import order_by
from rankwright.metrics.base import mean_over_queries
from rankwright.reports.blocks import Cell, Column, Kind, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import LEVEL, Rival, interval_of, within_range
from rankwright.statistics.paired_tests import compare_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from rankwright.auto.mixing import JudgedEntry, Mix
    from rankwright.auto.plan import FitPlan, HeldOut
    from rankwright.base.arrays import Doubles
    from rankwright.metrics.base import Metric
    from rankwright.reports.blocks import Block

    Choose = Callable[[NDArray[np.bool_]], Mix]

CHOOSING_FOLDS = 5  # of the judging queries, if a single part judges


@dataclass(frozen=True, repr=False)
class Estimate(Result):
    """The expected mean of the metric on new queries, with its interval, and what simpler choices would give."""

    metric: str
    value: float
    interval: tuple[float, float]
    queries: int
    best_member: Rival
    best_feature: Rival | None
    baseline: Rival | None = None

    @property
    def summary(self) -> str:
        """The value to expect on new queries."""
        unknown = np.isnan(self.interval[0])
        limits = f"{percent(LEVEL)} interval {interval(*self.interval)}, from {counted(self.queries, 'query')}"
        about = "too few queries for an interval" if unknown else limits
        return f"On new queries, expect a mean {self.metric} of {metric_value(self.value)} ({about})."

    def blocks(self) -> list[Block]:
        """Return the expected value beside those of simpler choices."""
        rivals = {
            "order today": self.baseline,
            "best single member": self.best_member,
            "best single feature": self.best_feature,
        }
        rows: list[tuple[Any, ...]] = [("this model", self.value, None, None)]
        rows += [
            (Cell(kind, note=rival.name), rival.value, _lead(rival), rival.p_value)
            for kind, rival in rivals.items()
            if rival is not None
        ]
        columns = [
            Column("choice", Kind.TEXT),
            Column(self.metric),
            Column("this model is ahead by", Kind.DIFFERENCE),
            Column("p", Kind.P_VALUE),
        ]
        return [Table(columns, rows, "The expected value on new queries, and that of simpler choices.")]


def _lead(rival: Rival) -> Cell:
    """Return how far the model is ahead, in blue, or behind, in orange; pale if that may be chance."""
    strength = 0.5 if rival.p_value < 1 - LEVEL else 0.15
    if not rival.ahead < 0:
        return Cell(rival.ahead, shade=strength if rival.ahead > 0 else 0.0)
    return Cell(rival.ahead, note="behind", shade=-strength)


class _Expected(NamedTuple):
    """Values out of fold, one per judging query, and what their mean gains by learning from all queries."""

    values: Doubles
    gain: float

    @property
    def mean(self) -> float:
        """The mean plus the gain; between 0 and 1 if all values are."""
        return within_range(mean_over_queries(self.values) + self.gain, self.values)


def estimate(
    entries: Sequence[JudgedEntry],
    choose: Choose,
    plan: FitPlan,
    metric: Metric,
    n_threads: int,
    *,
    baseline: str | None = None,
) -> Estimate:
    """Return the estimate for the mixture of these entries.

    `choose` gives the mixture that some judgements choose. `baseline` is the column by which documents are ordered
    today.
    """
    held_out = plan.held_out

    def mixture(choosing: NDArray[np.bool_]) -> Doubles:
        return held_out.values(metric, choose(choosing).scores, n_threads)

    own = _Expected(
        held_out.by_query(crossed(held_out, mixture)),
        learning_gain(lambda: choose(held_out.everyone), plan, metric, n_threads),
    )
    return Estimate(
        str(metric),
        own.mean,
        interval_of(own.values, own.gain),
        int((~np.isnan(own.values)).sum()),
        _best_member(entries, plan, metric, own, n_threads),
        _best_feature(plan, metric, own, n_threads),
        None if baseline is None else _order(baseline, plan, metric, own, n_threads),
    )


def crossed(held_out: HeldOut, values: Callable[[NDArray[np.bool_]], Doubles]) -> Doubles:
    """Return the value of every judgement; `values` gives those of the choice that some judgements make."""
    judged = np.full(len(held_out.query), np.nan)
    for judging, choosing in _turns(held_out):
        judged[judging] = values(choosing)[judging]
    return judged


def _turns(held_out: HeldOut) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield the judgements of each part, and those of all other queries; a single part is divided."""
    if held_out.part.max():
        parts = held_out.part
    else:
        parts = np.random.default_rng(0).permutation(len(held_out.query)) % min(
            CHOOSING_FOLDS, len(held_out.query)
        )
    for part in range(int(parts.max()) + 1):
        judging = parts == part
        yield judging, ~np.isin(held_out.query, held_out.query[judging])


def learning_gain(choose: Callable[[], Mix], plan: FitPlan, metric: Metric, n_threads: int) -> float:
    """Return how much higher the metric is after learning from all queries, in place of all folds but one.

    The metric is taken to fall short of its limit by an amount proportional to 1 / number of queries; fits on half
    of the queries tell the factor. Without halves the gain is 0.
    """
    if plan.halves is None:
        return 0.0
    chosen = choose()
    most = mean_over_queries(plan.held_out.values(metric, chosen.scores, n_threads))
    half = mean_over_queries(plan.halves.held_out.values(metric, chosen.half_scores, n_threads))
    learned = 1 - 1 / plan.folds
    gain = (most - half) * (1 / learned - 1) / (1 / 0.5 - 1 / learned)
    return 0.0 if np.isnan(gain) else gain


def _best_member(
    entries: Sequence[JudgedEntry], plan: FitPlan, metric: Metric, mixture: _Expected, n_threads: int
) -> Rival:
    def best(choosing: NDArray[np.bool_] | None) -> tuple[int, Doubles]:
        indices = [entry.best_index(choosing) for entry in entries]
        values = [entry.values[index] for entry, index in zip(entries, indices, strict=True)]
        means = [mean_over_queries(column if choosing is None else column[choosing]) for column in values]
        winner = int(np.nanargmax(means)) if not np.isnan(means).all() else 0
        return winner, values[winner]

    winner = entries[best(None)[0]]
    values = plan.held_out.by_query(crossed(plan.held_out, lambda chosen: best(chosen)[1]))
    gain = learning_gain(lambda: mix([winner], best_alone), plan, metric, n_threads)
    return _rival(winner.name, _Expected(values, gain), mixture)


def _best_feature(plan: FitPlan, metric: Metric, mixture: _Expected, n_threads: int) -> Rival | None:
    """Return the best single feature, with its better direction; None if all features are constant."""
    data, held_out = plan.whole.data, plan.held_out
    rows = plan.judging_rows
    names, values = [], []
    for feature in range(data.n_features):
        column = data.X[rows, feature].astype(np.float64)
        if not np.nanmin(column, initial=np.inf) < np.nanmax(column, initial=-np.inf):
            continue  # constant, or missing everywhere
        name = f"feature {feature + 1}" if data.feature_names is None else data.feature_names[feature]
        for sign, order in ((1.0, "descending"), (-1.0, "ascending")):
            # A missing value ranks below all others, in either direction.
            scores = np.nan_to_num(sign * column, nan=np.nextafter(np.nanmin(sign * column), -np.inf))
            names.append(name if sign > 0 else f"{name}, {order}")
            values.append(held_out.values(metric, scores, n_threads))
    if not values:
        return None
    table = np.array(values)

    def best(choosing: NDArray[np.bool_]) -> int:
        means = [mean_over_queries(row[choosing]) for row in table]
        return 0 if np.isnan(means).all() else int(np.nanargmax(means))

    values_of_best = held_out.by_query(crossed(held_out, lambda chosen: table[best(chosen)]))
    return _rival(names[best(held_out.everyone)], _Expected(values_of_best, 0.0), mixture)


def _order(column: str, plan: FitPlan, metric: Metric, mixture: _Expected, n_threads: int) -> Rival:
    scores = order_by(column, plan.whole.data)[plan.judging_rows]
    values = plan.held_out.by_query(plan.held_out.values(metric, scores, n_threads))
    return _rival(column, _Expected(values, 0.0), mixture)


def _rival(name: str, rival: _Expected, mixture: _Expected) -> Rival:
    """Return a rival beside the mixture; the gains, the same for every query, take no part in the test."""
    if np.isnan(mixture.values - rival.values).all():
        return Rival(name, np.nan, np.nan, np.nan)
    p_value = compare_values(mixture.values, rival.values).p_value
    return Rival(name, rival.mean, mixture.mean - rival.mean, p_value)
