"""The rounds of a fit and their values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.reports.charts.lines import line_chart
from rankwright.reports.charts.notebook import bundle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.reports.charts.chart import Chart

MISORDERED = "fraction of misordered pairs"
SMOOTHING = 10  # the window reaches 1 / SMOOTHING of all rounds to either side


@dataclass(frozen=True)
class Round:
    """One round of a fit: the weight of its weak model, and the metric of the model after it.

    The training value is None if it was not measured. `diagnostics` holds values that are specific to the ranker,
    such as the bound that its paper proves; the ranker's page in the documentation lists them. `values` are those
    of the validation queries; `on_round` gets them, and the history, which would be large, does not keep them.
    """

    number: int
    weight: float
    train: float | None
    validation: float | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict, hash=False)
    values: Doubles | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, repr=False)
class History:
    """The rounds of a fit, the number of rounds that the model kept and why, and whether Ctrl-C ended the fit.

    `converging` rounds approach the solution of one optimisation problem, so that the last one is always the best.
    """

    rounds: tuple[Round, ...]
    best_round: int
    interrupted: bool = False
    converging: bool = False
    reason: str = ""
    metric: str = field(default="metric", compare=False)  # the name of what is measured

    def __repr__(self) -> str:
        return f"History({counted(len(self), 'round')}, kept {self.best_round})"

    def __len__(self) -> int:
        return len(self.rounds)

    def __iter__(self) -> Iterator[Round]:
        return iter(self.rounds)

    def __getitem__(self, place: int) -> Round:
        return self.rounds[place]

    @property
    def validation(self) -> Doubles:
        """The metric on the validation data after every round; NaN without validation data."""
        return np.array([this.validation for this in self.rounds], dtype=np.float64)

    def refitted(self, again: History) -> History:
        """Return this history of a fit that chose the round, after another fit on all documents."""
        kept = min(self.best_round, again.best_round)  # a rule may end the second fit earlier
        reason = f"{self.reason}; fitted again on both parts"
        return replace(self, best_round=kept, interrupted=again.interrupted, reason=reason)

    def curve(self, name: str) -> Doubles:
        """Return one of the diagnostics for every round; NaN for rounds without it."""
        return np.array([this.diagnostics.get(name, np.nan) for this in self.rounds], dtype=np.float64)

    def chart(self, metric: str | None = None) -> Chart:
        """Return the metric by round on validation and training queries, with the kept round marked.

        `metric` is what to call it, by default its name.
        """
        metric = self.metric if metric is None else metric
        measured = {"validation": self.validation, "training": self._training}
        curves = {name: _by_round(curve) for name, curve in measured.items() if np.isfinite(curve).any()}
        if not curves:
            raise InputError("The metric was not measured in any round, so there is no learning curve.")
        kept = {name: curve[self.best_round - 1] for name, curve in curves.items() if self.best_round}
        values = "".join(f", {value:.4f} on {name} queries" for name, (_, value) in kept.items())
        description = f"{metric} in {counted(len(self), 'round')}; {self.best_round} kept{values}."
        return line_chart(curves, "round", metric, description=description, marked=kept)

    @property
    def has_bound(self) -> bool:
        """Whether every round has the bound that the ranker's paper proves, and the bounded quantity."""
        return bool(len(self) and np.isfinite([self.curve("bound"), self._bounded[1]]).all())

    @property
    def useful_bounds(self) -> int:
        """The number of rounds in which the bound says anything: an upper one below 1, or a lower one above 0."""
        name, values = self._bounded
        return int(useful_bounds(values, self.curve("bound"), upper=name == MISORDERED).sum())

    def bound_chart(self) -> Chart:
        """Return the bound that the ranker's paper proves, and the bounded quantity, by round.

        That is the fraction of misordered pairs, bounded from above, or the metric, bounded from below. The bound
        is drawn where it says anything.
        """
        if not self.has_bound:
            raise InputError("These rounds have no bound, or the bounded quantity was not measured.")
        name, values = self._bounded
        above, bound = name == MISORDERED, self.curve("bound")
        kind = "upper bound" if above else "lower bound"
        drawn = np.flatnonzero(useful_bounds(values, bound, upper=above))
        curves = {name: _by_round(values)}
        if len(drawn):
            curves[kind] = [(int(place) + 1, float(bound[place])) for place in drawn]
            of_bound = f"its {kind}, {bound[drawn[-1]]:.4f} in round {drawn[-1] + 1:,}"
        else:
            of_bound = f"a {kind} that says nothing in any round and is not drawn"
        description = f"The {name} by round, {values[-1]:.4f} in the end, and {of_bound}."
        return line_chart(curves, "round", name, description=description, dashed=[kind] if len(drawn) else [])

    @property
    def _training(self) -> Doubles:
        return np.array([this.train for this in self.rounds], dtype=np.float64)

    @property
    def _bounded(self) -> tuple[str, Doubles]:
        misordered = self.curve("misordered")
        above = bool(np.isfinite(misordered).all())
        return (MISORDERED, misordered) if above else (f"{self.metric} on training queries", self._training)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the learning curve for a notebook."""
        return bundle(repr(self), chart=self.chart)


def useful_bounds(values: Doubles, bounds: Doubles, *, upper: bool) -> NDArray[np.bool_]:
    """Return in which rounds a bound says anything: an upper one below 1; a lower one above the lowest value.

    That is 0, or -1 for a metric that has negative values.
    """
    if upper:
        return np.asarray(bounds < 1.0)
    return np.asarray(bounds > (-1.0 if (values < 0).any() else 0.0))


def _by_round(curve: Doubles) -> Sequence[tuple[float, float]]:
    return list(enumerate(curve.tolist(), start=1))


def smoothed(curve: Doubles) -> Doubles:
    """Return the moving average of a curve; the window reaches a tenth of its length to either side.

    On a few dozen queries the best single value is mostly luck; a stretch of good rounds is not. Near the ends
    the window is cut off.
    """
    means = [curve[smoothing_window(len(curve), place)].mean() for place in range(len(curve))]
    return np.round(means, 12)  # so that equal stretches do not differ by rounding


def smoothing_window(length: int, place: int) -> slice:
    """Return the part of a curve whose mean is its smoothed value at a place."""
    reach = length // SMOOTHING
    return slice(max(0, place - reach), min(length, place + reach + 1))
