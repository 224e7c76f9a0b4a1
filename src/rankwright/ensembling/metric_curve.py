"""A metric as a step function of the weight of a ranker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, metric_value
from rankwright.reports.blocks import Figure
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles
    from rankwright.reports.charts.chart import Chart

# Values that differ by less are equal up to rounding.
SAME = 1e-10
# An interval narrower than this, relative to its ends, lies between crossings that coincide up to rounding.
NARROWEST = 1e-12

GOLDEN_RATIO = (5.0**0.5 - 1.0) / 2.0
ALPHAS_TO_TRY = 16

DRAWN_ALPHAS = 640  # about one per pixel


@dataclass(frozen=True, eq=False, repr=False)
class MetricCurve(Result):
    """A metric that is constant between edges: a step function of alpha.

    Parameters
    ----------
    edges
        The ends of the intervals, ascending; the first and the last may be infinite.
    values
        The metric within each interval, one fewer than edges. On an edge itself documents are tied.
    """

    edges: Doubles
    values: Doubles

    def __len__(self) -> int:
        return len(self.values)

    @property
    def summary(self) -> str:
        low, high = metric_value(self.values.min()), metric_value(self.values.max())
        return f"{counted(len(self), 'step')} of the metric by alpha, from {low} to {high}."

    def blocks(self) -> list[Figure]:
        return [Figure(self.chart, "The metric by alpha; the best alpha is marked.")]

    def __call__(self, alpha: float) -> float:
        """Return the metric at an alpha; on an edge, the value of the interval above it."""
        if not self.edges[0] <= alpha <= self.edges[-1]:
            raise InputError(f"alpha must be between {self.edges[0]:g} and {self.edges[-1]:g}, not {alpha!r}.")
        step = int(np.searchsorted(self.edges, alpha, side="right")) - 1
        return float(self.values[min(step, len(self) - 1)])

    @property
    def constant(self) -> bool:
        """Whether the metric is the same for every alpha."""
        return bool(np.ptp(self.values) <= SAME)

    def best(self, *, odds: bool = False) -> tuple[float, float, float]:
        """Return the ends of the best interval (the widest of equals) and the metric within it.

        If the edges are `odds`, width is measured in alpha = odds / (1 + odds).
        """
        lower, upper = self.edges[:-1], self.edges[1:]
        finite = np.where(np.isfinite(self.edges), np.abs(self.edges), 0.0)
        wide = upper - lower > NARROWEST * np.maximum(finite[:-1], finite[1:])
        values = np.where(wide, self.values, -np.inf)
        equals = np.flatnonzero(values >= values.max() - SAME)
        width = 1.0 / (1.0 + lower) - 1.0 / (1.0 + upper) if odds else upper - lower
        widest = equals[np.argmax(width[equals])]
        return float(lower[widest]), float(upper[widest]), float(self.values[widest])

    def convex(self) -> MetricCurve:
        """Convert a curve of s + alpha t with non-negative edges to one of (1 - alpha) s + alpha t."""
        with np.errstate(invalid="ignore"):
            edges = np.where(np.isinf(self.edges), 1.0, self.edges / (1.0 + self.edges))
        return MetricCurve(edges, self.values)

    def chart(self, alpha: float | None = None, metric: str = "metric") -> Chart:
        """Return the metric by alpha, by default with the best alpha marked."""
        from rankwright.reports.charts.lines import line_chart  # a search draws nothing

        best_low, best_high, best = self.best()
        chosen = next(alphas_within(best_low, best_high)) if alpha is None else alpha
        low, high = self._visible_range(chosen)
        lowest, highest, marked_value = map(metric_value, (self.values.min(), best, self(chosen)))
        description = (
            f"{metric} by alpha, in {len(self):,} steps from {lowest} to {highest}; {marked_value} at alpha "
            f"{chosen:.4g}, which is marked."
        )
        marked = {"": (chosen, self(chosen))}
        return line_chart({"": self._points(low, high)}, "alpha", metric, description=description, marked=marked)

    def _visible_range(self, alpha: float) -> tuple[float, float]:
        """Return the range to draw; an infinite end is cut at twice the reach of most edges and alpha."""
        inner = np.abs(self.edges[np.isfinite(self.edges)])
        reach = 2.0 * max(abs(alpha), float(np.quantile(inner, 0.9)) if len(inner) else 0.0) or 1.0
        low, high = self.edges[0], self.edges[-1]
        return float(low if np.isfinite(low) else -reach), float(high if np.isfinite(high) else reach)

    def _points(self, low: float, high: float) -> list[tuple[float, float]]:
        """Return the points of the line: of all steps within one pixel, the lowest and the highest."""
        borders = np.linspace(low, high, DRAWN_ALPHAS + 1)
        first = np.searchsorted(self.edges, borders[:-1], side="right") - 1
        last = np.searchsorted(self.edges, borders[1:], side="left") - 1
        points = []
        for x, begin, end in zip(borders, first.clip(0), np.maximum(first, last).clip(0), strict=False):
            steps = self.values[begin : end + 1]
            points += [
                (float(x), float(y)) for y in dict.fromkeys((steps[0], steps.min(), steps.max(), steps[-1]))
            ]
        return points


def alphas_within(low: float, high: float) -> Iterator[float]:
    """Yield alphas well within an interval, which may be unbounded, beginning with its middle.

    The middle is as far as possible from both ends, which are crossings, so that neither rounding nor slightly
    different scores change the ranking. Documents whose order does not change the metric may still cross exactly
    there; the other alphas follow the golden ratio, which keeps each away from those before it.
    """
    for fraction in _fractions():
        if np.isfinite(low) and np.isfinite(high):
            yield low + (high - low) * fraction
        elif np.isfinite(low):
            yield low + 2.0 * fraction * max(1.0, abs(low))
        elif np.isfinite(high):
            yield high - 2.0 * fraction * max(1.0, abs(high))
        else:
            yield 2.0 * fraction - 1.0


def odds_within(low: float, high: float) -> Iterator[float]:
    """Yield odds well within a non-negative interval, which may be unbounded, beginning with the middle alpha.

    If one ranker's scores are far smaller, nearly all alphas of the interval may lie next to one end, where the
    smaller scores are lost to rounding; the last odds are far from both ends, however small or large these are.
    """
    (first, second), (last_first, last_second) = odds_weights(low), odds_weights(high)
    for fraction in _fractions():
        yield (second + (last_second - second) * fraction) / (first + (last_first - first) * fraction)
    if np.isfinite(high):
        yield low + (high - low) * 0.5
    if low > 0.0:
        yield low**0.5 * high**0.5 if np.isfinite(high) else 2.0 * low


def odds_weights(odds: float) -> tuple[float, float]:
    """Return the weights of s and t, with sum 1; neither is a difference, which would lose digits."""
    return 1.0 / (1.0 + odds), odds / (1.0 + odds) if np.isfinite(odds) else 1.0


def _fractions() -> Iterator[float]:
    return ((0.5 + number * GOLDEN_RATIO) % 1.0 for number in range(ALPHAS_TO_TRY))
