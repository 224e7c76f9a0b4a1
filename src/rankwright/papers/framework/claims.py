"""Tests of claims that several papers make."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rankwright.base.wording import counted, difference, measured, metric_value, said_p_value
from rankwright.papers.framework.experiment import Finding
from rankwright.papers.framework.figures import error_rate, groups_by_pairs
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.measures import PAIRS
from rankwright.papers.framework.rows import LEVEL, NOT_SHOWN, OPPOSITE, REACHED
from rankwright.statistics.paired_tests import compare_values, holm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.statistics.paired_tests import Comparison

MARGIN = 0.01  # of NDCG or MAP: "a single percentage point" counts (Wu et al. 2010, section 5.4)
CLEARLY_FASTER = 1.5

Key = TypeVar("Key")  # what is compared


def finding(comparison: Comparison, text: str) -> Finding:
    """Return what a single paired comparison says of a claim that its difference is positive."""
    state = _state([comparison.difference], [comparison.p_value])
    return Finding(state, text, comparison.difference, comparison.interval, comparison.p_value)


def _state(differences: Sequence[float], p_values: Sequence[float]) -> str:
    """Return the state of a claim that all differences are positive; a difference of zero shows nothing."""
    pairs = list(zip(differences, p_values, strict=True))
    if any(difference < 0 and p < LEVEL for difference, p in pairs):
        return OPPOSITE
    return REACHED if all(difference > 0 and p < LEVEL for difference, p in pairs) else NOT_SHOWN


def not_worse_finding(compared: Mapping[str, Comparison], text: str) -> Finding:
    """Return what paired comparisons of a model with others say of the claim that it is as good as each.

    Reached if it is worse by less than a point in every interval; opposite if it is significantly worse than one,
    corrected by Holm's method. The finding has the smallest difference.
    """
    p_values = _corrected(compared)
    worse = any(pair.difference < 0 and p_values[other] < LEVEL for other, pair in compared.items())
    as_good = all(pair.interval[0] > -MARGIN for pair in compared.values())
    least = min(compared, key=lambda other: compared[other].difference)
    state = REACHED if as_good else OPPOSITE if worse else NOT_SHOWN
    return Finding(state, text, compared[least].difference, compared[least].interval, p_values[least])


@curried
def better(results: Measurements, model: str, others: Sequence[str], measure: str) -> Finding:
    """Test that a model is better than each of the others.

    Reached if every difference is positive and significant by the paired randomisation test, corrected by Holm's
    method for the number of others; opposite if one is negative and significant. The finding has the comparison
    that decides: the smallest difference if it is not positive, otherwise the least significant one.
    """
    compared = {other: results.compare(model, other, measure) for other in others}
    p_values = _corrected(compared)
    least = min(compared, key=lambda other: compared[other].difference)
    deciding = least if compared[least].difference <= 0 else max(p_values, key=lambda other: p_values[other])
    state = _state([pair.difference for pair in compared.values()], list(p_values.values()))
    text = _differences(model, measure, compared)
    return Finding(state, text, compared[deciding].difference, compared[deciding].interval, p_values[deciding])


@curried
def better_than_published(
    results: Measurements, model: str, published: Mapping[str, float], measure: str
) -> Finding:
    """Test that the mean of a model is above published means by more than chance explains.

    Values of the published queries are not known, so that chance is that of our own systems: their median paired
    half-width. Opposite if the model is below one of them by as much.
    """
    reach = results.paired_reach(measure)
    differences = {other: results.mean(model, measure) - mean for other, mean in published.items()}
    least = min(differences.values())
    state = REACHED if least > reach else OPPOSITE if least < -reach else NOT_SHOWN
    said = ", ".join(
        f"{difference(lead)} to {metric_value(published[name])} of {name}" for name, lead in differences.items()
    )
    return Finding(state, f"{said}; chance explains {metric_value(reach)}", least)


@curried
def not_worse(results: Measurements, model: str, others: Sequence[str], measure: str) -> Finding:
    """Test that a model is as good as each of the others, see `not_worse_finding`."""
    compared = {other: results.compare(model, other, measure) for other in others}
    return not_worse_finding(compared, _differences(model, measure, compared))


def _corrected(compared: Mapping[Key, Comparison]) -> dict[Key, float]:
    """Return the p-values, corrected by Holm's method."""
    p_values = holm(np.array([pair.p_value for pair in compared.values()])).tolist()
    return dict(zip(compared, p_values, strict=True))


def _differences(model: str, measure: str, compared: Mapping[str, Comparison]) -> str:
    """Return several differences in words, with their p-values; a single one is in the table anyway."""
    p_values = _corrected(compared)
    said = ", ".join(
        f"{difference(pair.difference)} to {other} ({said_p_value(p_values[other])})"
        for other, pair in compared.items()
    )
    return "" if len(compared) == 1 else f"{model} in {measure}: {said}"


@curried
def no_significant_difference(
    results: Measurements, models: Sequence[str], measure: str, n_queries: int | None = None
) -> Finding:
    """Test that no two of the models differ significantly.

    Reached if no p-value is significant by itself, since a correction would favour the claim; opposite if one is
    even if corrected by Holm's method. More queries make smaller differences significant: `n_queries` takes as
    many as the paper had, the first ones.
    """
    compared = _pairs(results, models, measure, n_queries)
    clearest = _clearest(compared, measure)
    none = all(pair.p_value >= LEVEL for pair in compared.values())
    return replace(clearest, state=REACHED) if none else clearest


@curried
def alike(results: Measurements, models: Sequence[str], measure: str) -> Finding:
    """Test that no two of the models differ by a point.

    Reached if all intervals lie within a point to either side; opposite if two models differ significantly,
    corrected by Holm's method.
    """
    compared = _pairs(results, models, measure)
    clearest = _clearest(compared, measure)
    within = all(low > -MARGIN and high < MARGIN for low, high in (pair.interval for pair in compared.values()))
    return replace(clearest, state=REACHED) if within else clearest


def _pairs(
    results: Measurements, models: Sequence[str], measure: str, n_queries: int | None = None
) -> dict[tuple[str, str], Comparison]:
    """Compare every two of the models on the first queries."""
    values = {model: results.values(model, measure)[:n_queries] for model in models}
    return {
        (model, other): compare_values(values[model], values[other]) for model, other in combinations(models, 2)
    }


def _clearest(compared: Mapping[tuple[str, str], Comparison], measure: str) -> Finding:
    """Return the most significant difference, of equal ones the largest; opposite if it is significant."""
    p_values = _corrected(compared)
    pair = min(compared, key=lambda each: (p_values[each], -abs(compared[each].difference)))
    state = OPPOSITE if p_values[pair] < LEVEL else NOT_SHOWN
    text = f"{pair[0]} to {pair[1]} in {measure}"
    return Finding(state, text, compared[pair].difference, compared[pair].interval, p_values[pair])


@curried
def always_better(
    results: Measurements, models: Sequence[str], others: Sequence[str], measures: Sequence[str]
) -> Finding:
    """Test that each of the models has higher means than each of the others, in every measure.

    Reached if all means are higher, significantly or not; opposite if one is significantly lower, corrected by
    Holm's method for all comparisons.
    """
    compared = {case: results.compare(*case) for case in product(models, others, measures)}
    p_values = _corrected(compared)
    worse: dict[str, int] = {}
    for model, other, measure in compared:
        if results.mean(model, measure) <= results.mean(other, measure):
            worse[f"{model} to {other}"] = worse.get(f"{model} to {other}", 0) + 1
    lower = [p_values[case] for case, pair in compared.items() if pair.difference < 0 and p_values[case] < LEVEL]
    n_better = len(compared) - sum(worse.values())
    state = OPPOSITE if lower else NOT_SHOWN if worse else REACHED
    text = f"higher in {n_better} of {len(compared)} comparisons, significantly lower in {len(lower)}"
    names = "; ".join(f"{pair} in {n} of {counted(len(measures), 'measure')}" for pair, n in worse.items())
    text += f"; not {names}" if worse else ""
    return Finding(state, text, n_better / len(compared), None, min(lower, default=None), "of comparisons")


@curried
def faster(results: Measurements, model: str, others: Sequence[str]) -> Finding:
    """Test that a model was fitted in less time than each of the others.

    The logarithms of the ratios of times are tested over trials by the t-test, corrected by Holm's method. In a
    single trial, where nothing can be tested, it must be faster by a factor of 1.5: processor times of one fit
    vary by less.
    """
    seconds = {name: np.concatenate(results.by_trial(name, "fit seconds")) for name in (model, *others)}
    logs = {name: np.log(taken) for name, taken in seconds.items()}
    compared = {other: compare_values(logs[other], logs[model]) for other in others}
    p_values = _time_p_values([(logs[other], logs[model]) for other in others])
    differences = [pair.difference for pair in compared.values()]
    if p_values is None:
        state = REACHED if min(differences) > np.log(CLEARLY_FASTER) else NOT_SHOWN
    else:
        state = _state(differences, p_values)
    least = min(others, key=lambda other: compared[other].difference)
    total = ", ".join(f"{name} {measured(float(taken.mean()))} s" for name, taken in seconds.items())
    ratio, (low, high) = np.exp(compared[least].difference), np.exp(compared[least].interval)
    text = f"a fit takes {total}"
    if p_values is None:
        return Finding(state, text, float(ratio), unit=f"times that of {model}")
    interval = float(low), float(high)
    return Finding(state, text, float(ratio), interval, p_values[others.index(least)], f"times that of {model}")


def _time_p_values(pairs: Sequence[tuple[Doubles, Doubles]]) -> list[float] | None:
    """Return corrected p-values of paired t-tests; None for a single trial."""
    if len(pairs[0][0]) == 1:
        return None
    from scipy.stats import ttest_rel  # slow to import

    p_values: list[float] = holm(np.array([ttest_rel(*pair).pvalue for pair in pairs])).tolist()
    return p_values


@curried
def fewer_errors(results: Measurements, model: str, other: str, pair: str) -> Finding:
    """Test that a model misorders a smaller fraction of all pairs of two labels, such as `2 > 0`.

    Errors over all pairs are the mean over queries of errors per mean number of pairs, so that queries can be
    compared one by one.
    """
    pairs_per_query = results.values(model, f"{PAIRS} {pair}").mean()
    errors = [results.values(name, f"wrong {pair}") / pairs_per_query for name in (other, model)]
    overall = ", ".join(f"{name} {metric_value(error_rate(results, name, pair))}" for name in (model, other))
    return finding(compare_values(*errors), f"{overall} of all pairs")


@curried
def better_with_few_pairs(
    results: Measurements, model: str, other: str, measure: str, most: int, starts: Sequence[int]
) -> Finding:
    """Test that a model is better for queries with fewer than `most` pairs of different labels.

    The differences of all groups of queries, which begin at `starts`, are told beside it.
    """
    few = results.values(model, PAIRS) < most
    own, others = (results.values(name, measure) for name in (model, other))
    groups = {
        name: float(np.nanmean((own - others)[queries]))
        for name, queries in groups_by_pairs(results, model, starts).items()
    }
    by_group = ", ".join(f"{name} {difference(lead)}" for name, lead in groups.items())
    mean = difference(float(np.mean([*groups.values()])))
    text = f"{few.sum()} of {len(few)} queries; by number of pairs: {by_group}; mean of these {mean}"
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
    return Finding(REACHED if least >= 0 else OPPOSITE, text, least, unit="distance")
