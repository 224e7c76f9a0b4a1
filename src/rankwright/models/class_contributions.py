"""Contributions of features to a score that is computed from the scores of classes."""

from __future__ import annotations

from itertools import product
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.base.arrays import Doubles

MOST_CLASSES = 10
NEGLIGIBLE = 1e-12
"""What rounding may leave of contributions that cancel, relative to their size."""


def class_contributions(parts: Doubles, scores: Doubles, score_of: Callable[[Doubles], Doubles]) -> Doubles:
    """Return contributions to a function of class scores, one row per document and last the base score.

    The base score is the function of the base scores of the classes. The difference between score and base score
    is divided among the classes by Shapley's definition, each class having its base score or its own. The part of
    a class is divided among the features in proportion to their contributions to its score.

    Parameters
    ----------
    parts
        The contributions to the score of each class: classes x documents x features, and last the base score.
    scores
        The score of each class (row) for every document (column).
    score_of
        The function, which takes one row per class and returns one score per document.
    """
    features, base = parts[..., :-1], parts[..., -1]
    shares = _shapley_values(base, scores, score_of)
    total = features.sum(axis=2)
    cancelled = np.abs(total) <= NEGLIGIBLE * (np.abs(features).sum(axis=2) + np.abs(base))
    slopes = np.where(cancelled, 0.0, shares / np.where(cancelled, 1.0, total))
    values = np.empty(parts.shape[1:])
    values[:, :-1] = (features * slopes[..., None]).sum(axis=0)
    values[:, -1] = score_of(base)
    return values


def _shapley_values(base: Doubles, scores: Doubles, score_of: Callable[[Doubles], Doubles]) -> Doubles:
    """Return each class's share (row) of the difference between score and base score of a document (column)."""
    n_classes = len(scores)
    if n_classes > MOST_CLASSES:
        raise InputError(
            f"Contributions of features can be computed for at most {MOST_CLASSES} classes, not {n_classes}."
        )
    shares = np.zeros_like(scores)
    for chosen in product((False, True), repeat=n_classes):
        own = np.array(chosen)
        value = score_of(np.where(own[:, None], scores, base))
        size = int(own.sum())
        if size:
            shares[own] += value / (n_classes * comb(n_classes - 1, size - 1))
        if size < n_classes:
            shares[~own] -= value / (n_classes * comb(n_classes - 1, size))
    return shares
