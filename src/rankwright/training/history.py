"""The rounds of a fit and their values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, metric_value
from rankwright.reports.blocks import Block, Column, Figure, Kind, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.reports.charts.chart import Chart

MISORDERED = "fraction of misordered pairs"
SMOOTHING = 10  # the window reaches 1 / SMOOTHING of all rounds to either side
MAX_SHOWN = 20  # rounds of the short table


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
class History(Result):
    """The rounds of a fit, the number of rounds that the model kept and why, and whether Ctrl-C ended the fit.

    `converging` rounds approach the solution of one optimisation problem, so that the last one is always the best.
    """

    rounds: tuple[Round, ...]
    best_round: int
    interrupted: bool = False
    converging: bool = False
    reason: str = ""
    metric: str = field(default="metric", compare=False)  # the name of what is measured

    def __len__(self) -> int:
        return len(self.rounds)

    def __iter__(self) -> Iterator[Round]:
        return iter(self.rounds)

    def __getitem__(self, index: int) -> Round:
        return self.rounds[index]

    @property
    def title(self) -> str:
        return "Rounds of training"

    @property
    def summary(self) -> str:
        kept = f"Round {self.best_round:,}" if self.best_round else "No round"
        ended = " Ctrl-C ended the fit." if self.interrupted else ""
        return f"{kept} of {len(self):,} was kept{self.reason and ': '}{self.reason}.{ended}"

    def blocks(self) -> Iterator[Block]:
        yield from self.curves()
        if self.rounds:
            shown = np.unique(np.linspace(0, len(self) - 1, MAX_SHOWN).round().astype(int)).tolist()
            kept = [self.best_round - 1] if self.best_round else []
            yield self._table(sorted({*shown, *kept}))
        if len(self) > MAX_SHOWN:
            yield replace(self._table(range(len(self))), folded="All rounds")

    def curves(self, name: str = "") -> Iterator[Figure]:
        """Yield the learning curve and the bound that the ranker's paper proves, each if it has three points."""
        about, rounds, useful = name and f"{name}: ", len(self), self.useful_bounds
        if np.isfinite([self.validation, self.training]).any(axis=0).sum() > 2:
            kept = f"round {self.best_round} of {rounds} was kept{self.reason and ': '}{self.reason}"
            yield Figure(self.chart, f"{about}{self.metric} by round; {kept}.")
        if self.has_bound and useful > 2:
            where = "" if useful == rounds else f", non-trivial in {useful:,} of {rounds:,} rounds"
            yield Figure(self.bound_chart, f"{about}the bound that its paper proves (dashed){where}.")

    def frame(self, table: int = -1) -> Any:
        """Return all rounds as a pandas data frame."""
        return super().frame(table)

    def _table(self, indices: Iterable[int]) -> Table:
        """Return the rounds of these indices, without columns that have no value."""
        rounds = [self.rounds[index] for index in indices]
        names = dict.fromkeys(name for measured in rounds for name in measured.diagnostics)
        series: dict[Column, list[Any]] = {
            Column("round", Kind.COUNT): [measured.number for measured in rounds],
            Column("weight", Kind.NUMBER): [measured.weight for measured in rounds],
            Column(f"training {self.metric}"): [measured.train for measured in rounds],
            Column(f"validation {self.metric}"): [measured.validation for measured in rounds],
        }
        for name in names:
            series[Column(name, Kind.NUMBER)] = [measured.diagnostics.get(name) for measured in rounds]
        return Table(list(series), list(zip(*series.values(), strict=True))).without_empty_columns()

    @property
    def validation(self) -> Doubles:
        """The metric on the validation data after every round; NaN without validation data."""
        return np.array([measured.validation for measured in self], dtype=np.float64)

    @property
    def training(self) -> Doubles:
        """The metric on the training data after every round; NaN where it was not measured."""
        return np.array([measured.train for measured in self], dtype=np.float64)

    def refitted(self, again: History) -> History:
        """Return this history of a fit that chose the round, after another fit on all documents."""
        kept = min(self.best_round, again.best_round)  # a rule may end the second fit earlier
        reason = f"{self.reason}; fitted again on both parts"
        return replace(self, best_round=kept, interrupted=again.interrupted, reason=reason)

    def curve(self, name: str) -> Doubles:
        """Return one of the diagnostics for every round; NaN for rounds without it."""
        return np.array([measured.diagnostics.get(name, np.nan) for measured in self], dtype=np.float64)

    def chart(self, metric: str | None = None) -> Chart:
        """Return the metric by round on validation and training queries, with the kept round marked.

        `metric` is what to call it, by default its name.
        """
        from rankwright.reports.charts.lines import line_chart  # a fit draws nothing

        metric = self.metric if metric is None else metric
        measured = {"validation": self.validation, "training": self.training}
        curves = {name: _by_round(curve) for name, curve in measured.items() if np.isfinite(curve).any()}
        if not curves:
            raise InputError("The metric was not measured in any round, so there is no learning curve.")
        kept = {name: curve[self.best_round - 1] for name, curve in curves.items() if self.best_round}
        values = "".join(f", {metric_value(value)} on {name} queries" for name, (_, value) in kept.items())
        description = f"{metric} in {counted(len(self), 'round')}; {self.best_round} kept{values}."
        return line_chart(curves, "round", metric, description=description, marked=kept)

    @property
    def has_bound(self) -> bool:
        """Whether every round has the bound that the ranker's paper proves, and the bounded quantity."""
        return bool(len(self) and np.isfinite([self.curve("bound"), self._bounded[1]]).all())

    @property
    def useful_bounds(self) -> int:
        """The number of rounds with a non-trivial bound: an upper one below 1, or a lower one above 0."""
        name, values = self._bounded
        return int(useful_bounds(values, self.curve("bound"), upper=name == MISORDERED).sum())

    def bound_chart(self) -> Chart:
        """Return the bound that the ranker's paper proves, and the bounded quantity, by round.

        That is the fraction of misordered pairs, bounded from above, or the metric, bounded from below. The bound
        is drawn where it is non-trivial.
        """
        if not self.has_bound:
            raise InputError("These rounds have no bound, or the bounded quantity was not measured.")
        name, values = self._bounded
        return bound_chart(name, values, self.curve("bound"), upper=name == MISORDERED)

    @property
    def _bounded(self) -> tuple[str, Doubles]:
        misordered = self.curve("misordered")
        above = bool(np.isfinite(misordered).all())
        return (MISORDERED, misordered) if above else (f"{self.metric} on training queries", self.training)


def useful_bounds(values: Doubles, bounds: Doubles, *, upper: bool) -> NDArray[np.bool_]:
    """Return in which rounds a bound is non-trivial: an upper one below 1; a lower one above the lowest value.

    That is 0, or -1 for a metric that has negative values.
    """
    if upper:
        return np.asarray(bounds < 1.0)
    return np.asarray(bounds > (-1.0 if (values < 0).any() else 0.0))


def bound_chart(name: str, values: Doubles, bounds: Doubles, *, upper: bool) -> Chart:
    """Return a quantity by round, and its upper or lower bound as a dashed line where it is non-trivial."""
    from rankwright.reports.charts.lines import line_chart

    kind = "upper bound" if upper else "lower bound"
    drawn = np.flatnonzero(useful_bounds(values, bounds, upper=upper)).tolist()
    curves = {name: _by_round(values)}
    if drawn:
        curves[kind] = [(index + 1, float(bounds[index])) for index in drawn]
        of_bound = f"its {kind}, {metric_value(bounds[drawn[-1]])} in round {drawn[-1] + 1:,}"
    else:
        of_bound = f"a {kind} that is trivial in every round and is not drawn"
    description = f"The {name} by round, {metric_value(values[-1])} in the end, and {of_bound}."
    return line_chart(curves, "round", name, description=description, dashed=[kind] if drawn else [])


def _by_round(curve: Doubles) -> Sequence[tuple[float, float]]:
    return list(enumerate(curve.tolist(), start=1))


def smoothed(curve: Doubles) -> Doubles:
    """Return the moving average of a curve; the window reaches a tenth of its length to either side.

    On a few dozen queries the best single value is mostly selection bias; a stretch of good rounds is not. Near
    the ends the window is cut off.
    """
    means = [curve[smoothing_window(len(curve), index)].mean() for index in range(len(curve))]
    return np.round(means, 12)  # so that equal stretches do not differ by rounding


def smoothing_window(length: int, index: int) -> slice:
    """Return the part of a curve whose mean is its smoothed value at an index."""
    reach = length // SMOOTHING
    return slice(max(0, index - reach), min(length, index + reach + 1))
