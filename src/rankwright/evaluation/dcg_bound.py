"""What wrong probabilities can cost in DCG (Busa-Fekete, Kégl, Éltető & Szarvas 2011, section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rankwright.arrays import Doubles


class DCGLoss(NamedTuple):
    """The expected DCG that is lost, what it can be at most, and at most for any two rankings (the corollary)."""

    lost: float
    bound: float
    corollary: float


def dcg_loss(estimated: ArrayLike, true: ArrayLike, gains: ArrayLike, *, power: float = 2.0) -> DCGLoss:
    """Return the expected DCG lost by ranking one query by estimated instead of true class probabilities, bounded.

    Ranks are by expected gain. With 1/p + 1/q = 1, the loss is at most

        (sum over documents and classes of |(c_own rank - c_best rank) gain|^p)^(1/p)
        x (sum of |estimated - true|^q)^(1/q),

    where c are the discounts at a document's rank and at its rank by the true probabilities. The corollary takes
    the first factor at its largest, which is where one ranking reverses the other.

    Parameters
    ----------
    estimated, true
        A row a document: the probability of each class.
    gains
        What each class is worth.
    power
        p, from 1 to infinity.
    """
    own, best, worth = _checked(estimated, true, gains)
    if not power >= 1.0:
        raise InputError(f"power must be from 1 to infinity, not {power!r}.")
    conjugate = np.inf if power == 1.0 else 1.0 if np.isinf(power) else power / (power - 1.0)
    discounts = 1.0 / np.log2(2.0 + np.arange(len(own)))
    expected = best @ worth
    at_own, at_best = discounts[_ranks(own @ worth)], discounts[_ranks(expected)]
    distance = _norm(own - best, conjugate)
    moved = _norm(np.outer(at_own - at_best, worth), power)
    farthest = _norm(np.outer(discounts - discounts[::-1], worth), power)
    lost = float((at_best * expected).sum() - (at_own * expected).sum())
    return DCGLoss(lost, moved * distance, farthest * distance)


def _ranks(scores: Doubles) -> NDArray[np.int64]:
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return ranks


def _norm(values: Doubles, power: float) -> float:
    return float(np.linalg.norm(values.ravel(), ord=power)) if values.size else 0.0


def _checked(estimated: ArrayLike, true: ArrayLike, gains: ArrayLike) -> tuple[Doubles, Doubles, Doubles]:
    worth = np.asarray(gains, dtype=np.float64)
    own, best = np.asarray(estimated, dtype=np.float64), np.asarray(true, dtype=np.float64)
    for name, table in (("estimated", own), ("true", best)):
        if table.ndim != 2 or table.shape != own.shape or table.shape[1:] != worth.shape:
            expected = f"a row a document and {worth.size} columns"
            raise InputError(f"{name} must have {expected}, not shape {table.shape}.")
        if not (table >= 0).all() or not np.allclose(table.sum(axis=1), 1.0):
            raise InputError(f"{name} must hold probabilities: from 0, and 1 in every row's sum.")
    return own, best, worth
