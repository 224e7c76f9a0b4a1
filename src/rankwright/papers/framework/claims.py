"""Tests of claims that several papers make."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.wording import difference, enumerated, measured, metric_value, said_p_value
from rankwright.papers.framework.experiment import Finding
from rankwright.papers.framework.figures import error_rate
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.measures import PAIRS
from rankwright.papers.framework.rows import NOT_SHOWN, OPPOSITE, REACHED
from rankwright.statistics.paired_tests import compare_values, holm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.statistics.paired_tests import Comparison

LEVEL = 0.05


def finding(comparison: Comparison, text: str) -> Finding:
    """Return what a single paired comparison says of a claim that its difference is positive."""
    significant = comparison.p_value < LEVEL
    state = OPPOSITE if comparison.difference <= 0 else REACHED if significant else NOT_SHOWN
    return Finding(state, text, comparison.difference, comparison.interval, comparison.p_value)


def not_worse_finding(comparison: Comparison, text: str) -> Finding:
    """Return what a single paired comparison says of a claim that its difference is not negative."""
    worse = comparison.difference < 0 and comparison.p_value < LEVEL
    state = OPPOSITE if worse else REACHED
    return Finding(state, text, comparison.difference, comparison.interval, comparison.p_value)


@curried
def better(results: Measurements, model: str, others: Sequence[str], measure: str) -> Finding:
    """Test that a model is better than each of the others.

    Reached if every difference is positive and significant by the paired randomisation test, corrected by Holm's
    method for the number of others. The finding has the comparison that decides: the smallest difference if it is
    not positive, otherwise the least significant one.
    """
    compared, p_values = _compared(results, model, others, measure)
    least = min(compared, key=lambda other: compared[other].difference)
    positive = compared[least].difference > 0
    deciding = max(compared, key=lambda other: p_values[other]) if positive else least
    state = OPPOSITE if not positive else REACHED if p_values[deciding] < LEVEL else NOT_SHOWN
    text = f"{model} in {measure}: {_differences(compared, p_values)}"
    return Finding(state, text, compared[deciding].difference, compared[deciding].interval, p_values[deciding])


@curried
def not_worse(results: Measurements, model: str, others: Sequence[str], measure: str) -> Finding:
    """Test that none of the others is significantly better than a model, corrected by Holm's method.

    The finding has the smallest difference.
    """
    compared, p_values = _compared(results, model, others, measure)
    worse = any(pair.difference < 0 and p_values[other] < LEVEL for other, pair in compared.items())
    least = min(compared, key=lambda other: compared[other].difference)
    text = f"{model} in {measure}: {_differences(compared, p_values)}"
    state = OPPOSITE if worse else REACHED
    return Finding(state, text, compared[least].difference, compared[least].interval, p_values[least])


def _compared(
    results: Measurements, model: str, others: Sequence[str], measure: str
) -> tuple[dict[str, Comparison], dict[str, float]]:
    """Compare a model with each of the others; return also the p-values, corrected by Holm's method."""
    compared = {other: results.compare(model, other, measure) for other in others}
    p_values = holm(np.array([pair.p_value for pair in compared.values()])).tolist()
    return compared, dict(zip(compared, p_values, strict=True))


def _differences(compared: Mapping[str, Comparison], p_values: Mapping[str, float]) -> str:
    return ", ".join(
        f"{difference(pair.difference)} to {other} ({said_p_value(p_values[other])})"
        for other, pair in compared.items()
    )


@curried
def alike(results: Measurements, models: Sequence[str], measure: str) -> Finding:
    """Test that no two of the models differ significantly, corrected by Holm's method."""
    pairs = list(combinations(models, 2))
    compared = [results.compare(*pair, measure) for pair in pairs]
    p_values = holm(np.array([pair.p_value for pair in compared]))
    clearest = int(np.argmin(p_values))
    comparison, (model, other) = compared[clearest], pairs[clearest]
    state = REACHED if p_values[clearest] >= LEVEL else OPPOSITE
    text = f"the clearest difference in {measure}: {difference(comparison.difference)} of {model} to {other}"
    return Finding(state, text, comparison.difference, comparison.interval, float(p_values[clearest]))


@curried
def always_better(
    results: Measurements, models: Sequence[str], others: Sequence[str], measures: Sequence[str]
) -> Finding:
    """Test that each of the models has higher means than each of the others, in every measure."""
    cases = list(product(models, others, measures))
    worse: dict[str, list[str]] = {}
    for model, other, measure in cases:
        if results.mean(model, measure) <= results.mean(other, measure):
            worse.setdefault(f"{model} to {other} in ", []).append(measure)
    n_better = len(cases) - sum(map(len, worse.values()))
    state = REACHED if not worse else NOT_SHOWN if n_better > len(cases) / 2 else OPPOSITE
    names = "; ".join(pair + enumerated(names) for pair, names in worse.items())
    text = f"higher in {n_better} of {len(cases)} comparisons" + (f"; not {names}" if worse else "")
    return Finding(state, text, n_better / len(cases))


@curried
def faster(results: Measurements, model: str, others: Sequence[str]) -> Finding:
    """Test that a model was fitted in less time than each of the others, on every trial."""
    seconds = {name: np.concatenate(results.by_trial(name, "fit seconds")) for name in (model, *others)}
    ratios = np.array([seconds[other] / seconds[model] for other in others])
    total = ", ".join(f"{name} {measured(float(taken.mean()))} s" for name, taken in seconds.items())
    means = ratios.mean(axis=1)
    state = REACHED if ratios.min() > 1 else NOT_SHOWN if means.min() > 1 else OPPOSITE
    return Finding(state, f"a fit of {total}; least ratio to {model}", float(means.min()))


@curried
def fewer_errors(results: Measurements, model: str, other: str, pair: str) -> Finding:
    """Test that a model misorders fewer pairs of two labels, such as `2 > 0`, per query."""
    counts = results.values(model, f"{PAIRS} {pair}")
    rates = [results.values(name, f"wrong {pair}")[counts > 0] / counts[counts > 0] for name in (other, model)]
    overall = ", ".join(f"{name} {metric_value(error_rate(results, name, pair))}" for name in (model, other))
    return finding(compare_values(*rates), f"{overall} of all pairs; difference per query")


@curried
def better_with_few_pairs(results: Measurements, model: str, other: str, measure: str, most: int) -> Finding:
    """Test that a model is better for queries with fewer than `most` pairs of different labels."""
    few = results.values(model, PAIRS) < most
    own, others = (results.values(name, measure) for name in (model, other))
    rest = float(np.nanmean(own[~few]) - np.nanmean(others[~few])) if (~few).any() else float("nan")
    text = f"{few.sum()} queries have fewer; the difference for the other {(~few).sum()} is {difference(rest)}"
    return finding(compare_values(own[few], others[few]), text)


@curried
def never_below(results: Measurements, models: Sequence[str], upper: str, lower: str) -> Finding:
    """Test that a curve over rounds, such as `round train`, is never below another, such as a bound."""
    gaps = [
        high - low
        for model in models
        for high, low in zip(results.by_trial(model, upper), results.by_trial(model, lower), strict=True)
    ]
    least = min(float(np.nanmin(gap)) for gap in gaps)
    text = f"smallest distance over {sum(map(len, gaps)):,} rounds of all fits"
    return Finding(REACHED if least >= 0 else OPPOSITE, text, least)
