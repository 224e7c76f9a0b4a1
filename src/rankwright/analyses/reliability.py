"""Reliability of probabilities: of all events with a predicted probability of 30 %, 30 % should occur."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import counted, metric_value
from rankwright.reports.blocks import Column, Figure, Kind, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(Result):
    """Predicted and observed frequencies per bin, by ascending predicted probability.

    Parameters
    ----------
    predicted
        The mean predicted probability of each bin.
    observed
        The fraction of events of each bin that occurred.
    counts
        The number of probabilities in each bin.

    Examples
    --------
    >>> curve = rw.reliability([0.1, 0.1, 0.7, 0.8], [0, 0, 1, 0], n_bins=2)
    >>> curve.summary
    'The expected calibration error over 4 probabilities is 0.1750.'
    >>> curve.to_dict()
    {'predicted': [0.1, 0.75], 'observed': [0.0, 0.5], 'counts': [2, 2]}
    """

    predicted: Doubles
    observed: Doubles
    counts: NDArray[np.int64]

    @property
    def error(self) -> float:
        """The expected calibration error: mean absolute difference of observed and predicted, by bin size."""
        return float(np.average(np.abs(self.observed - self.predicted), weights=self.counts))

    @property
    def points(self) -> list[tuple[float, float]]:
        """Predicted and observed frequency of each bin; on the diagonal if the probabilities are calibrated."""
        return list(zip(self.predicted.tolist(), self.observed.tolist(), strict=True))

    @property
    def summary(self) -> str:
        """The expected calibration error."""
        events = counted(int(self.counts.sum()), "probability")
        return f"The expected calibration error over {events} is {metric_value(self.error)}."

    def blocks(self) -> list[Block]:
        """Return one row per bin, and the reliability diagram."""
        columns = [Column("predicted"), Column("observed"), Column("events", Kind.COUNT)]
        return [
            Table(columns, [(*point, count) for point, count in zip(self.points, self.counts, strict=True)]),
            Figure(self.chart),
        ]

    def chart(self) -> Chart:
        """Return the reliability diagram."""
        return reliability_chart({"observed": self})


def reliability(probabilities: ArrayLike, outcomes: ArrayLike, *, n_bins: int = 10) -> Reliability:
    """Compare predicted probabilities with observed frequencies, in bins of equal counts.

    Equal probabilities always share a bin.

    Parameters
    ----------
    probabilities
        Predicted probabilities in any shape, for example one row per document and one column per class.
    outcomes
        Whether each event occurred, in the same shape; for classes, `labels[:, None] == classes`.
    n_bins
        Maximum number of bins.

    Examples
    --------
    >>> predicted, clicked = [0.1, 0.2, 0.3, 0.6, 0.8, 0.9], [0, 0, 1, 1, 1, 1]
    >>> print(rw.reliability(predicted, clicked, n_bins=2))
    The expected calibration error over 6 probabilities is 0.1833.
    predicted  observed  events
       0.2000    0.3333       3
       0.7667    1.0000       3
    """
    probability, occurred = _checked(probabilities, outcomes)
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise InputError(f"n_bins must be a positive integer, not {n_bins!r}.")
    last_ranks = (probability.size * np.arange(1, n_bins + 1) - 1) // n_bins
    ends = np.unique(np.sort(probability)[last_ranks])
    bins = np.searchsorted(ends, probability)
    counts = np.bincount(bins)
    predicted, observed = (np.bincount(bins, values) / counts for values in (probability, occurred))
    return Reliability(predicted, observed, counts)


def _checked(probabilities: ArrayLike, outcomes: ArrayLike) -> tuple[Doubles, Doubles]:
    """Return both as flat arrays of equal length."""
    probability, occurred = np.asarray(probabilities, dtype=np.float64), np.asarray(outcomes)
    if probability.shape != occurred.shape or not probability.size:
        shapes = f"{probability.shape} and {occurred.shape}"
        raise InputError(f"probabilities and outcomes must have the same shape and not be empty, not {shapes}.")
    if not ((probability >= 0.0) & (probability <= 1.0)).all():
        raise InputError("probabilities must be between 0 and 1.")
    if not np.isin(occurred, (0, 1)).all():
        raise InputError("outcomes must be True or False, or 1 or 0, for each probability.")
    return probability.ravel(), occurred.astype(np.float64).ravel()


def reliability_chart(curves: Mapping[str, Reliability]) -> Chart:
    """Return a reliability diagram of several curves; calibrated probabilities lie on the dashed diagonal.

    Examples
    --------
    >>> clicked = [0, 1, 1, 0]
    >>> raw = rw.reliability([0.1, 0.9, 0.1, 0.9], clicked)
    >>> calibrated = rw.reliability([0.4, 0.6, 0.4, 0.6], clicked)
    >>> rw.reliability_chart({"raw": raw, "calibrated": calibrated})
    Chart('Observed frequency by predicted probability: raw (error 0.4000), calibrated (error 0.1000).')
    """
    from rankwright.reports.charts.lines import line_chart

    require_type(curves, Mapping, "reliability_chart takes a dict of names and curves")
    lines = {f"{name} (error {metric_value(curve.error)})": curve.points for name, curve in curves.items()}
    description = f"Observed frequency by predicted probability: {', '.join(lines)}."
    lines["calibrated"] = [(0.0, 0.0), (1.0, 1.0)]
    return line_chart(
        lines, "predicted probability", "observed frequency", description=description, dashed=["calibrated"]
    )
