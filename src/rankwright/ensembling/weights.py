"""Weights of the members of a mixture: plain functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles

KEPT_WEIGHT = 0.99
EXPONENT = 50.0  # of `plausible_weights`; see `benchmarks/portfolio.py`


def uniform_weights(n_members: int) -> Doubles:
    """Return equal weights that sum to 1."""
    return np.full(n_members, 1.0 / n_members)


def exponential_weights(values: ArrayLike, exponent: float) -> Doubles:
    """Return weights proportional to exp(exponent x value) that sum to 1; exponent 0 gives equal weights.

    Equation 6 of Busa-Fekete, Kégl, Éltető & Szarvas (2011).
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise InputError("values must be at least one number, and all of them finite.")
    weights = np.exp(exponent * (numbers - numbers.max()))
    return np.asarray(weights / weights.sum())


def plausible_weights(values: Doubles) -> Doubles:
    """Return weights of members that are less the further a member is behind the best, if that is certain.

    The weight is proportional to exp(-min(t^2 / 2, 50 d)), where d is the mean difference from the best member,
    query by query, and t is d divided by its standard error. With few queries t decides: members that they cannot
    tell from the best weigh nearly the same. With many, d decides, as in `exponential_weights`.

    Parameters
    ----------
    values
        One row per member and one column per query; NaN for a query that is left out.
    """
    known = values[:, ~np.isnan(values).any(axis=0)]
    n_queries = known.shape[1]
    if not n_queries:
        return uniform_weights(len(values))
    differences = known[np.argmax(known.mean(axis=1))] - known
    behind = differences.mean(axis=1)
    errors = differences.std(axis=1, ddof=1) / np.sqrt(n_queries) if n_queries > 1 else np.ones(len(known))
    t = np.divide(behind, errors, out=np.where(behind > 0, np.inf, 0.0), where=errors > 0)
    weights = np.exp(-np.minimum(t**2 / 2, EXPONENT * behind))
    return np.asarray(weights / weights.sum())


def best_alone(values: Doubles) -> Doubles:
    """Give the best member all the weight; `values` as in `plausible_weights`."""
    return np.asarray(np.eye(len(values))[np.argmax(plausible_weights(values))])


def prune_weights(weights: Doubles, kept_weight: float = KEPT_WEIGHT) -> Doubles:
    """Return the weights with the smallest set to 0, while the rest keep at least `kept_weight` of the sum.

    The weights that are left sum to 1.
    """
    heaviest = np.argsort(-weights, kind="stable")
    n_kept = 1 + int(np.searchsorted(np.cumsum(weights[heaviest]), kept_weight * weights.sum()))
    kept = np.zeros_like(weights)
    kept[heaviest[:n_kept]] = weights[heaviest[:n_kept]]
    return np.asarray(kept / kept.sum())


def weighted_sum(columns: Sequence[Doubles], weights: Iterable[float]) -> Doubles:
    """Return the sum of weight x column, added column by column: a score does not depend on the rows beside it."""
    total = np.zeros(len(columns[0]))
    for weight, column in zip(weights, columns, strict=True):
        if weight:
            total += weight * column
    return total
