"""Small p-values of the randomisation test, which random sign flips alone would never reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles

DRAWS = 2_000
FEWEST_DRAWS = 500
MAX_SIGNS = 100_000_000  # of all pairs together; many pairs or queries get fewer draws
BLOCK = 800_000  # numbers drawn together
HALVINGS = 60
STEEPEST = 60.0  # beyond, a flip against the tilt has probability 0 in floating point


def tail_p_values(differences: Doubles, *, random_state: int, rounding: float) -> Doubles:
    """Return for each row the probability that random signs give a sum at least as far from 0 as the observed one.

    By importance sampling: signs are drawn with the probabilities under which the observed sum is expected, and
    each draw is weighted by how much likelier they make it (exponential tilting, Siegmund 1976). So a probability
    of 1e-12 needs no more draws than one of 0.01.

    Parameters
    ----------
    differences
        One row per pair of systems, one column per query.
    rounding
        Sums that differ by less count as equal.
    """
    n_pairs, n_queries = differences.shape
    sizes = np.abs(differences)
    largest = sizes.max(axis=1, keepdims=True)
    sizes = sizes / np.where(largest > 0, largest, 1.0)
    scale = np.maximum(largest[:, 0], np.finfo(float).tiny)
    observed = np.abs(differences.sum(axis=1)) / scale
    tilts = _tilts(sizes, observed)
    keep = 1.0 / (1.0 + np.exp(-2.0 * tilts[:, None] * sizes))  # probability of the sign that agrees with the sum
    normal = np.logaddexp(tilts[:, None] * sizes, -tilts[:, None] * sizes).sum(axis=1) - n_queries * np.log(2.0)
    totals, n_draws = np.zeros(n_pairs), max(FEWEST_DRAWS, min(DRAWS, MAX_SIGNS // (n_pairs * n_queries)))
    for uniform in _uniform_blocks(n_draws, n_queries, random_state):
        for pair in range(n_pairs):
            sums = 2.0 * ((uniform < keep[pair]) @ sizes[pair]) - sizes[pair].sum()
            reached = sums >= observed[pair] - rounding / scale[pair]
            totals[pair] += np.exp(normal[pair] - tilts[pair] * sums[reached]).sum()
    fewest = 2.0 ** (1.0 - (sizes > 0).sum(axis=1))  # only the observed signs, and all of them turned
    all_agree = observed >= sizes.sum(axis=1) - rounding / scale
    estimates = np.clip(2.0 * totals / n_draws, fewest, 1.0)
    return np.asarray(np.where(all_agree, np.minimum(fewest, 1.0), estimates), dtype=np.float64)


def _tilts(sizes: Doubles, observed: Doubles) -> Doubles:
    """Return for each row the tilt under which the expected sum is the observed one: sum of s tanh(tilt s)."""
    low, high = np.zeros(len(sizes)), np.full(len(sizes), STEEPEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        too_small = (sizes * np.tanh(middle[:, None] * sizes)).sum(axis=1) < observed
        low, high = np.where(too_small, middle, low), np.where(too_small, high, middle)
    return low


def _uniform_blocks(n_draws: int, n_queries: int, random_state: int) -> Iterator[NDArray[np.float32]]:
    """Yield rows of uniform numbers, one per draw; the same for all pairs."""
    random = np.random.default_rng((random_state, 1))
    block = max(1, BLOCK // n_queries)
    for done in range(0, n_draws, block):
        yield random.random((min(block, n_draws - done), n_queries), dtype=np.float32)
