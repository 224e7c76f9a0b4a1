"""Whether probabilities are what they say: of all that is called 30 % likely, 30 % should be so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.chart import line_chart
from rankwright.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rankwright.arrays import Doubles


@dataclass(frozen=True, eq=False)
class Reliability:
    """What was predicted and what was observed, bin by bin, from unlikely to likely.

    Parameters
    ----------
    predicted
        The mean probability of each bin.
    observed
        The share of each bin that came true.
    counts
        How many probabilities each bin holds.
    """

    predicted: Doubles
    observed: Doubles
    counts: NDArray[np.int64]

    @property
    def error(self) -> float:
        """How far observed shares are from predicted ones, a mean over all probabilities."""
        return float(np.average(np.abs(self.observed - self.predicted), weights=self.counts))

    @property
    def points(self) -> list[tuple[float, float]]:
        """Predicted and observed of each bin; on the diagonal where probabilities are what they say."""
        return list(zip(self.predicted.tolist(), self.observed.tolist(), strict=True))

    def plot(self) -> str:
        """Return the reliability diagram as SVG text."""
        return plot_reliability({"observed": self})

    def _repr_svg_(self) -> str:
        """Return the picture that a notebook shows."""
        return self.plot()


def reliability(probabilities: ArrayLike, happened: ArrayLike, *, n_bins: int = 10) -> Reliability:
    """Return how often what was predicted came true, by how likely it was called.

    Bins hold as many probabilities each as can be; equal ones stay together.

    Parameters
    ----------
    probabilities
        Any number of them, in any shape: a row a document and a column a class, say.
    happened
        Whether each came true, in the same shape: for classes, `labels[:, None] == classes`.
    n_bins
        Most bins to make.
    """
    said, was = np.asarray(probabilities, dtype=np.float64), np.asarray(happened)
    if said.shape != was.shape or not said.size:
        raise InputError(
            f"probabilities and happened must have one shape and hold something, not {said.shape} and {was.shape}."
        )
    if not ((said >= 0.0) & (said <= 1.0)).all():
        raise InputError("probabilities must be from 0 to 1.")
    if not np.isin(was, (0, 1)).all():
        raise InputError("happened must be True or False, or 1 or 0, for each probability.")
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise InputError(f"n_bins must be a whole number from 1, not {n_bins!r}.")
    last_ranks = (said.size * np.arange(1, n_bins + 1) - 1) // n_bins
    ends = np.unique(np.sort(said, axis=None)[last_ranks])
    place = np.searchsorted(ends, said.ravel())
    counts = np.bincount(place)
    predicted, observed = (np.bincount(place, one.ravel()) / counts for one in (said, was))
    return Reliability(predicted, observed, counts)


def plot_reliability(curves: dict[str, Reliability]) -> str:
    """Return a reliability diagram of several as SVG text; on the diagonal, probabilities are what they say."""
    lines = {"as predicted": [(0.0, 0.0), (1.0, 1.0)]}
    lines |= {f"{name} (error {one.error:.3f})": one.points for name, one in curves.items()}
    return line_chart(lines, "predicted probability", "observed share", x_whole=False)
