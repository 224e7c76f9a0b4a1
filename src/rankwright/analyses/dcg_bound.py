"""The loss of DCG by wrong class probabilities, bounded (Busa-Fekete, Kégl, Éltető & Szarvas 2011, section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups, Ranking

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles


class DCGLoss(NamedTuple):
    """The expected DCG that is lost, its bound by the proposition, and its bound by the corollary."""

    lost: float
    bound: float
    corollary: float


def dcg_loss(estimated: ArrayLike, true: ArrayLike, gains: ArrayLike, *, power: float = 2.0) -> DCGLoss:
    """Return the expected DCG lost by ranking one query by estimated instead of true class probabilities.

    Documents are ranked by expected gain. With 1/p + 1/q = 1, the loss is at most::

        (sum over documents and classes of |(c_estimated - c_true) gain|^p)^(1/p)
        x (sum over documents and classes of |estimated - true|^q)^(1/q),

    where c_estimated and c_true are the discounts of a document in the two rankings. The corollary replaces the
    first factor by its maximum over all pairs of rankings, reached when one ranking reverses the other.

    Parameters
    ----------
    estimated, true
        Class probabilities: one row per document, one column per class.
    gains
        The gain of each class.
    power
        p, at least 1; may be infinite.

    Examples
    --------
    >>> estimated, true = [[0.4, 0.6], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]
    >>> loss = rw.dcg_loss(estimated, true, gains=[0, 1])
    >>> round(loss.lost, 2), round(loss.bound, 2)
    (0.26, 0.43)
    """
    estimate, truth, gain = _checked(estimated, true, gains)
    if not power >= 1.0:
        raise InputError(f"power must be at least 1, not {power!r}.")
    conjugate = np.inf if power == 1.0 else 1.0 if np.isinf(power) else power / (power - 1.0)
    discounts = 1.0 / np.log2(2.0 + np.arange(len(estimate)))
    expected = truth @ gain
    by_estimate, by_truth = discounts[_ranks(estimate @ gain)], discounts[_ranks(expected)]
    distance = _norm(estimate - truth, conjugate)
    moved = _norm(np.outer(by_estimate - by_truth, gain), power)
    largest = _norm(np.outer(discounts - discounts[::-1], gain), power)
    lost = float((by_truth * expected).sum() - (by_estimate * expected).sum())
    return DCGLoss(lost, moved * distance, largest * distance)


def _ranks(scores: Doubles) -> NDArray[np.int64]:
    """Return the rank of each document of one query, from 0."""
    return Ranking.of(scores, QueryGroups.of_one(len(scores)), n_jobs=1).ranks() - 1


def _norm(values: Doubles, power: float) -> float:
    return float(np.linalg.norm(values.ravel(), ord=power)) if values.size else 0.0


def _checked(estimated: ArrayLike, true: ArrayLike, gains: ArrayLike) -> tuple[Doubles, Doubles, Doubles]:
    gain = np.asarray(gains, dtype=np.float64)
    if gain.ndim != 1 or not np.isfinite(gain).all():
        raise InputError("gains must be finite numbers, one per class.")
    estimate, truth = np.asarray(estimated, dtype=np.float64), np.asarray(true, dtype=np.float64)
    for name, table in (("estimated", estimate), ("true", truth)):
        if table.ndim != 2 or table.shape != estimate.shape or table.shape[1:] != gain.shape:
            expected = f"one row per document and {gain.size} columns, one per class"
            raise InputError(f"{name} must have {expected}, not shape {table.shape}.")
        if not (table >= 0).all() or not np.allclose(table.sum(axis=1), 1.0):
            raise InputError(f"{name} must hold probabilities: non-negative, with sum 1 in each row.")
    return estimate, truth, gain
