"""Tests of claims that several papers make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.papers.framework.experiment import Finding
from rankwright.papers.framework.figures import error_rate
from rankwright.papers.framework.measures import PAIRS
from rankwright.papers.framework.rows import NOT_SHOWN, OPPOSITE, REACHED
from rankwright.statistics.paired_tests import compare_values
from rankwright.statistics.significance import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.papers.framework.measurements import Measurements
    from rankwright.statistics.paired_tests import Comparison

LEVEL = 0.05


def better(one: str, others: Sequence[str], measured: str) -> Callable[[Measurements], Finding]:
    """Return a test that a model is better than each of the others.

    Reached if every difference is positive and significant by the paired randomisation test, corrected by Holm's
    method for the number of others. The finding has the comparison that decides: the smallest difference if it is
    not positive, otherwise the least significant one.
    """

    def test(results: Measurements) -> Finding:
        found, p_values = _compared(results, one, others, measured)
        least = min(found, key=lambda other: found[other].difference)
        positive = found[least].difference > 0
        deciding = max(found, key=lambda other: p_values[other]) if positive else least
        state = OPPOSITE if not positive else REACHED if p_values[deciding] < LEVEL else NOT_SHOWN
        each = found[deciding]
        text = f"{one} in {measured}: {_differences(found, p_values)}"
        return Finding(state, text, each.difference, each.interval, p_values[deciding])

    return test


def _compared(
    results: Measurements, one: str, others: Sequence[str], measured: str
) -> tuple[dict[str, Comparison], dict[str, float]]:
    """Compare a model with each of the others; return also the p-values, corrected by Holm's method."""
    found = {other: results.compare(one, other, measured) for other in others}
    p_values = holm(np.array([each.p_value for each in found.values()])).tolist()
    return found, dict(zip(found, p_values, strict=True))


def _differences(found: Mapping[str, Comparison], p_values: Mapping[str, float]) -> str:
    return ", ".join(
        f"{each.difference:+.4f} to {other} (p = {p_values[other]:.2g})" for other, each in found.items()
    )


def finding(found: Comparison, measured: str) -> Finding:
    """Return what a single paired comparison says of a claim that its difference is positive."""
    state = OPPOSITE if found.difference <= 0 else REACHED if found.p_value < LEVEL else NOT_SHOWN
    return Finding(state, measured, found.difference, found.interval, found.p_value)


def alike(models: Sequence[str], measured: str) -> Callable[[Measurements], Finding]:
    """Return a test that no two of the models differ significantly, corrected by Holm's method."""

    def test(results: Measurements) -> Finding:
        pairs = [(one, other) for place, one in enumerate(models) for other in models[place + 1 :]]
        found = [results.compare(one, other, measured) for one, other in pairs]
        p_values = holm(np.array([each.p_value for each in found]))
        largest = int(np.argmin(p_values))
        each, (one, other) = found[largest], pairs[largest]
        state = REACHED if p_values[largest] >= LEVEL else OPPOSITE
        text = f"the clearest difference in {measured}: {each.difference:+.4f} of {one} to {other}"
        return Finding(state, text, each.difference, each.interval, float(p_values[largest]))

    return test


def not_worse(one: str, others: Sequence[str], measured: str) -> Callable[[Measurements], Finding]:
    """Return a test that none of the others is significantly better than a model, corrected by Holm's method.

    The finding has the smallest difference.
    """

    def test(results: Measurements) -> Finding:
        found, p_values = _compared(results, one, others, measured)
        worse = any(each.difference < 0 and p_values[other] < LEVEL for other, each in found.items())
        least = min(found, key=lambda other: found[other].difference)
        text = f"{one} in {measured}: {_differences(found, p_values)}"
        state = OPPOSITE if worse else REACHED
        return Finding(state, text, found[least].difference, found[least].interval, p_values[least])

    return test


def always_better(
    ones: Sequence[str], others: Sequence[str], measured: Sequence[str]
) -> Callable[[Measurements], Finding]:
    """Return a test that each of some models has higher means than each of the others, in every measure."""

    def test(results: Measurements) -> Finding:
        pairs = [(one, other, each) for one in ones for other in others for each in measured]
        worse = [pair for pair in pairs if results.mean(pair[0], pair[2]) <= results.mean(pair[1], pair[2])]
        better_ones = len(pairs) - len(worse)
        state = REACHED if not worse else NOT_SHOWN if better_ones > len(pairs) / 2 else OPPOSITE
        names = ", ".join(f"{one} to {other} in {each}" for one, other, each in worse)
        text = f"higher in {better_ones} of {len(pairs)} comparisons" + (f"; not {names}" if worse else "")
        return Finding(state, text, better_ones / len(pairs))

    return test


def faster(one: str, others: Sequence[str]) -> Callable[[Measurements], Finding]:
    """Return a test that a model was fitted in less time than each of the others, on every trial."""

    def test(results: Measurements) -> Finding:
        seconds = {model: np.concatenate(results.by_trial(model, "fit seconds")) for model in (one, *others)}
        ratios = np.array([seconds[other] / seconds[one] for other in others])
        total = ", ".join(f"{model} {taken.mean():.3f} s" for model, taken in seconds.items())
        means = ratios.mean(axis=1)
        state = REACHED if ratios.min() > 1 else NOT_SHOWN if means.min() > 1 else OPPOSITE
        return Finding(state, f"a fit of {total}; least ratio to {one}", float(means.min()))

    return test


def fewer_errors(one: str, other: str, pair: str) -> Callable[[Measurements], Finding]:
    """Return a test that a model misorders fewer pairs of two labels, such as `2 > 0`, per query."""

    def test(results: Measurements) -> Finding:
        counts = results.values(one, f"{PAIRS} {pair}")
        rates = [results.values(model, f"wrong {pair}")[counts > 0] / counts[counts > 0] for model in (other, one)]
        shown = ", ".join(f"{model} {error_rate(results, model, pair):.4f}" for model in (one, other))
        return finding(compare_values(*rates), f"{shown} of all pairs; difference per query")

    return test


def better_with_few_pairs(one: str, other: str, measured: str, most: int) -> Callable[[Measurements], Finding]:
    """Return a test that a model is better for queries with fewer than `most` pairs of different labels."""

    def test(results: Measurements) -> Finding:
        few = results.values(one, PAIRS) < most
        values = [results.values(model, measured) for model in (one, other)]
        rest = float(np.nanmean(values[0][~few]) - np.nanmean(values[1][~few])) if (~few).any() else float("nan")
        text = f"{few.sum()} queries have fewer; the difference for the other {(~few).sum()} is {rest:+.4f}"
        return finding(compare_values(values[0][few], values[1][few]), text)

    return test


def never_below(models: Sequence[str], upper: str, lower: str) -> Callable[[Measurements], Finding]:
    """Return a test that a curve over rounds, such as `round train`, is never below another, such as a bound."""

    def test(results: Measurements) -> Finding:
        gaps = [
            high - low
            for model in models
            for high, low in zip(results.by_trial(model, upper), results.by_trial(model, lower), strict=True)
        ]
        least = min(float(np.nanmin(one)) for one in gaps)
        rounds = sum(len(one) for one in gaps)
        shown = f"smallest distance over {rounds:,} rounds of all fits"
        return Finding(REACHED if least >= 0 else OPPOSITE, shown, least)

    return test
