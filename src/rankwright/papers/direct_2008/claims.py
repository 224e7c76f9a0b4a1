"""Claims of Xu et al. (2008) about ranks of methods, numbers of pairs, and rounds."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rankwright.papers.framework.experiment import Claim, Finding
from rankwright.papers.framework.figures import groups_by_pairs
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.measures import PAIRS
from rankwright.papers.framework.rows import LEVEL, NOT_SHOWN, OPPOSITE, REACHED
from rankwright.statistics.paired_tests import holm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


CLOSE = 0.002  # a curve that stays so near to its last value has converged
ROUNDS = (40, 100)


def rank_claims(where: str, measured: str, published: Mapping[str, float], why: str) -> Claim:
    """Return the claim that the methods have the published ranks."""
    text = f"the ranks of all methods by {measured} are those of the table"
    return Claim(
        where, text, same_ranks(published, measured), why, part_of="all methods have the ranks of Tables 2 and 3"
    )


@curried
def same_ranks(results: Measurements, published: Mapping[str, float], measured: str) -> Finding:
    """Test that the order of the means is the published one.

    Opposite if two methods differ significantly in the other direction, corrected by Holm's method for all pairs;
    not shown if ranks differ otherwise.
    """
    ours = _ranks({method: results.mean(method, measured) for method in published})
    printed = _ranks(published)
    text = "published and ours: " + ", ".join(f"{method} {printed[method]} and {ours[method]}" for method in ours)
    if ours == printed:
        return Finding(REACHED, text)
    best_first = sorted(published, key=lambda method: -published[method])
    pairs = list(combinations(best_first, 2))
    compared = [results.compare(method, other, measured) for method, other in pairs]
    p_values = holm(np.array([each.p_value for each in compared]))
    refuted = [p for p, each in zip(p_values, compared, strict=True) if p < LEVEL and each.difference < 0]
    shown = "no two differ significantly" if p_values.min() >= LEVEL else "some differ significantly"
    return Finding(OPPOSITE if refuted else NOT_SHOWN, f"{text}; {shown}", None, None, float(p_values.min()))


def _ranks(values: Mapping[str, float]) -> dict[str, int]:
    best_first = sorted(values, key=lambda method: -values[method])
    return {method: best_first.index(method) + 1 for method in values}


@curried
def varies(results: Measurements, model: str, starts: Sequence[int]) -> Finding:
    """Test that numbers of pairs differ between queries: no group of the figure has most queries."""
    pairs = results.values(model, PAIRS)
    groups = groups_by_pairs(results, model, starts)
    name, largest = max(((group, float(each.mean())) for group, each in groups.items()), key=lambda item: item[1])
    spread = f"{pairs.min():,.0f} to {pairs.max():,.0f} pairs, median {np.median(pairs):,.0f}"
    text = f"{spread}; fraction of queries in the largest group, {name}"
    return Finding(REACHED if largest <= 0.5 else NOT_SHOWN, text, largest, unit="of queries")


@curried
def converges(results: Measurements, model: str) -> Finding:
    """Test that the training measure settles within 40 to 100 rounds, in every trial.

    It has settled at the round from which on it stays within .002 of its last value. A curve that is not settled
    for its last ten rounds has not converged.
    """
    curves = results.by_trial(model, "round train")
    settled = [_settled(curve) for curve in curves]
    least, most = ROUNDS
    too_late = any(at > len(curve) - 10 for at, curve in zip(settled, curves, strict=True))
    state = REACHED if min(settled) >= least and max(settled) <= most and not too_late else NOT_SHOWN
    text = f"stays within {CLOSE:g} of the value after {max(map(len, curves))} rounds since round"
    return Finding(state, f"{text} {', '.join(map(str, settled))}", float(np.mean(settled)), unit="rounds")


def _settled(curve: np.ndarray) -> int:
    """Return the first round, from 1, since when the curve stays close to its last value."""
    far = np.flatnonzero(np.abs(curve - curve[-1]) > CLOSE)
    return 1 if len(far) == 0 else int(far[-1]) + 2


@curried
def working_sets(results: Measurements, model: str) -> Finding:
    """Test that the sets of perfect and imperfect permutations have 40 to 100 members in the end."""
    sizes = {
        kind: np.array([curve[-1] for curve in results.by_trial(model, f"round {kind}")])
        for kind in ("perfect", "imperfect")
    }
    least, most = ROUNDS
    within = all(((least <= size) & (size <= most)).all() for size in sizes.values())
    rounds = max(len(curve) for curve in results.by_trial(model, "round perfect"))
    text = f"after at most {rounds} rounds, each of which adds one of each kind: " + ", ".join(
        f"{size.min():.0f} to {size.max():.0f} {kind} ones per query" for kind, size in sizes.items()
    )
    mean = float(np.mean([size.mean() for size in sizes.values()]))
    return Finding(REACHED if within else NOT_SHOWN, text, mean, unit="permutations")
