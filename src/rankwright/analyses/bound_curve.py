"""The learning curve of a ranker beside the bound that its paper proves (Xu & Li 2007, figure 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.models.scorer import best_of, name_of
from rankwright.reports.blocks import Column, Figure, Kind, Table
from rankwright.reports.result import Result
from rankwright.training.history import bound_chart

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart
    from rankwright.training.history import History

ROWS = 10
MISORDERED = "misordered"


@dataclass(frozen=True, eq=False, repr=False)
class BoundCurve(Result):
    """What a ranker reached in training after every round, and the bound of it.

    Parameters
    ----------
    ranker
        Name of the ranker.
    measure
        What is bounded: the training metric, or the fraction of misordered pairs.
    side
        `"lower"` if the bound is never above the measured values, `"upper"` if it is never below.
    values, bounds
        One number per round.
    """

    ranker: str
    measure: str
    side: str
    values: Doubles
    bounds: Doubles

    @property
    def summary(self) -> str:
        """In how many rounds the bound improves, which the theorem promises."""
        change = np.diff(self.bounds, prepend=0.0) if self.side == "lower" else -np.diff(self.bounds, prepend=1.0)
        rounds = f"{int((change > 0).sum()):,} of {counted(len(self.values), 'round')}"
        return f"The {self.side} bound of the {self.measure} of {self.ranker} in training improves in {rounds}."

    def blocks(self) -> list[Block]:
        """Return about ten rounds, the first and the last among them, and the curves of all."""
        last = len(self.values) - 1
        rounds = np.unique(np.linspace(0, last, min(ROWS, last + 1)).round().astype(int)).tolist()
        columns = [Column("round", Kind.COUNT), Column(self.measure), Column(f"{self.side} bound", Kind.MEASURED)]
        rows = [(index + 1, self.values[index], self.bounds[index]) for index in rounds]
        return [Table(columns, rows), Figure(self.chart)]

    def chart(self) -> Chart:
        """Return the learning curve, and the bound as a dashed line in the rounds in which it is non-trivial."""
        return bound_chart(self.measure, self.values, self.bounds, upper=self.side == "upper")


def bound_curve(ranker: Any) -> BoundCurve:
    """Return the learning curve of a fitted ranker with the bound that its theorem gives after every round.

    AdaRank: the training metric is at least 1 - the product of exp(-delta_min) sqrt(1 - phi^2) (theorem 1 of Xu &
    Li 2007). RankBoost and MPBoost: the fraction of misordered training pairs is at most the product of all Z.

    Parameters
    ----------
    ranker
        A ranker after `fit`.

    Examples
    --------
    >>> data = rw.synthetic.gaussian_queries(20, spread=(0.5, 9.0))
    >>> curve = rw.analyses.bound_curve(rw.RankBoost(rounds=10).fit(data))
    >>> print(curve.measure, curve.values[-1].round(2), "bound", curve.bounds[-1].round(2))
    misordered pairs 0.03 bound 0.16
    """
    fitted = best_of(ranker)
    history: History | None = getattr(fitted, "history_", None)
    if history is None:
        raise InputError("The bound is recorded during training: give a ranker after fit, not a saved model.")
    bounds = history.curve("bound")
    if not len(bounds) or np.isnan(bounds).all():
        raise InputError(f"{name_of(fitted)} records no bound; AdaRank, RankBoost and MPBoost do.")
    misordered = history.curve(MISORDERED)
    if not np.isnan(misordered).all():
        return BoundCurve(name_of(fitted), "misordered pairs", "upper", misordered, bounds)
    values = np.array([record.train for record in history], dtype=np.float64)
    return BoundCurve(name_of(fitted), str(fitted.metric), "lower", values, bounds)
