"""Tests of claims that several papers make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.evaluation.significance import holm
from rankwright.papers.experiment import Finding
from rankwright.papers.results import NOT_SHOWN, OPPOSITE, REACHED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.evaluation.pairs import Comparison
    from rankwright.papers.results import Results

LEVEL = 0.05


def better(one: str, others: Sequence[str], measured: str) -> Callable[[Results], Finding]:
    """Return a test that a model is better than each of the others.

    Reached if every difference is positive and significant by the paired randomisation test, corrected by Holm's
    method for the number of others. The finding has the smallest difference and the largest p-value.
    """

    def test(results: Results) -> Finding:
        found = {other: results.compare(one, other, measured) for other in others}
        p_values = holm(np.array([each.p_value for each in found.values()]))
        least = min(found, key=lambda other: found[other].difference)
        positive = all(each.difference > 0 for each in found.values())
        state = OPPOSITE if not positive else REACHED if p_values.max() < LEVEL else NOT_SHOWN
        shown = ", ".join(
            f"{each.difference:+.4f} to {other} (p = {p_value:.2g})"
            for (other, each), p_value in zip(found.items(), p_values, strict=True)
        )
        measured_text = f"{one} in {measured}: {shown}"
        nearest = found[least]
        return Finding(state, measured_text, nearest.difference, nearest.interval, float(p_values.max()))

    return test


def finding(found: Comparison, measured: str) -> Finding:
    """Return what a single paired comparison says of a claim that its difference is positive."""
    state = OPPOSITE if found.difference <= 0 else REACHED if found.p_value < LEVEL else NOT_SHOWN
    return Finding(state, measured, found.difference, found.interval, found.p_value)


def alike(models: Sequence[str], measured: str) -> Callable[[Results], Finding]:
    """Return a test that no two of the models differ significantly, corrected by Holm's method."""

    def test(results: Results) -> Finding:
        pairs = [(one, other) for place, one in enumerate(models) for other in models[place + 1 :]]
        found = [results.compare(one, other, measured) for one, other in pairs]
        p_values = holm(np.array([each.p_value for each in found]))
        largest = int(np.argmin(p_values))
        each, (one, other) = found[largest], pairs[largest]
        state = REACHED if p_values[largest] >= LEVEL else OPPOSITE
        text = f"the clearest difference in {measured}: {each.difference:+.4f} of {one} to {other}"
        return Finding(state, text, each.difference, each.interval, float(p_values[largest]))

    return test


def not_worse(one: str, others: Sequence[str], measured: str) -> Callable[[Results], Finding]:
    """Return a test that none of the others is significantly better than a model, corrected by Holm's method."""

    def test(results: Results) -> Finding:
        found = {other: results.compare(one, other, measured) for other in others}
        p_values = holm(np.array([each.p_value for each in found.values()]))
        worse = [each.difference < 0 and p < LEVEL for each, p in zip(found.values(), p_values, strict=True)]
        shown = ", ".join(
            f"{each.difference:+.4f} to {other} (p = {p_value:.2g})"
            for (other, each), p_value in zip(found.items(), p_values, strict=True)
        )
        least = min(found.values(), key=lambda each: each.difference)
        state = OPPOSITE if any(worse) else REACHED
        return Finding(state, f"{one} in {measured}: {shown}", least.difference, least.interval)

    return test
