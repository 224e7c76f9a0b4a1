"""Figures that several papers draw, from the measurements of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.wording import metric_value
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.measures import PAIRS
from rankwright.papers.framework.rows import spelled_metrics
from rankwright.reports.charts.bars import grouped_bar_chart
from rankwright.reports.charts.lines import line_chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.reports.charts.chart import Chart

CUTS = tuple(range(1, 11))


@curried
def means(results: Measurements, models: Sequence[str], measures: Sequence[str], *, queries: str = "") -> Chart:
    """Return a group of bars per measure: the means of all models, with their intervals.

    `queries` is the measure that tells which query a value is of, for queries that are in several trials.
    """
    table = {
        spelled_metrics(measure): {
            m: (results.mean(m, measure), *results.interval(m, measure, queries)) for m in models
        }
        for measure in measures
    }
    kind = queries or "test queries"
    description = f"Means over {kind} of {', '.join(models)}: {', '.join(table)}."
    return grouped_bar_chart(table, f"mean over {kind}", description=description)


@curried
def by_cut(
    results: Measurements,
    models: Sequence[str],
    cuts: Sequence[int] = CUTS,
    metric: str = "ndcg@{}",
    published: Mapping[str, Sequence[float]] | None = None,
) -> Chart:
    """Return NDCG@k by k, a line per model, and a dashed one per model whose values at the cuts are published."""
    curves = {model: [(k, results.mean(model, metric.format(k))) for k in cuts] for model in models}
    printed = published or {}
    beside = {f"{model}, published": list(zip(cuts, printed[model], strict=True)) for model in printed}
    description = f"NDCG@k by k of {', '.join(models)}."
    return line_chart(curves | beside, "k", "NDCG@k", dashed=tuple(beside), description=description)


@curried
def by_size(
    results: Measurements,
    models: Sequence[str],
    measure: str,
    label: str,
    *,
    sizes: str = "rounds",
    x_log: bool = False,
) -> Chart:
    """Return the mean of a measure by number of rounds or trees, a line per model."""
    curves = {}
    for model in models:
        numbers = results.by_trial(model, sizes)[0]
        curves[model] = list(
            zip(numbers.tolist(), np.nanmean(results.values(model, measure), axis=1).tolist(), strict=True)
        )
    label = spelled_metrics(label)
    ends = ", ".join(f"{model} {metric_value(curve[-1][1])}" for model, curve in curves.items())
    description = f"{label} by number of {sizes}; in the end {ends}."
    return line_chart(curves, sizes, label, description=description, x_log=x_log)


@curried
def label_errors(results: Measurements, models: Sequence[str], names: Mapping[str, str]) -> Chart:
    """Return the fraction of misordered pairs by pair of labels; `names` shows `2 > 0` as, say, `d-n`."""
    table = {name: {model: error_rate(results, model, pair) for model in models} for pair, name in names.items()}
    description = f"Fraction of misordered pairs by pair of labels, of {', '.join(models)}."
    return grouped_bar_chart(table, "misordered pairs", description=description)


def error_rate(results: Measurements, model: str, pair: str) -> float:
    """Return the fraction of misordered pairs of these labels, over all queries of all trials."""
    wrong, pairs = results.values(model, f"wrong {pair}"), results.values(model, f"{PAIRS} {pair}")
    return float(wrong.sum() / pairs.sum())


@curried
def by_number_of_pairs(results: Measurements, models: Sequence[str], measure: str, starts: Sequence[int]) -> Chart:
    """Return the mean of a metric for groups of queries by their number of document pairs."""
    table = {
        f"{name} ({queries.sum()})": {
            model: float(np.nanmean(results.values(model, measure)[queries])) for model in models
        }
        for name, queries in groups_by_pairs(results, models[0], starts).items()
    }
    label = spelled_metrics(measure)
    description = f"{label} of {', '.join(models)} by number of document pairs of the query."
    return grouped_bar_chart(table, label, x_label="document pairs (queries)", description=description)


@curried
def queries_by_pairs(results: Measurements, model: str, starts: Sequence[int]) -> Chart:
    """Return how many test queries have how many document pairs."""
    groups = groups_by_pairs(results, model, starts)
    table = {name: {"queries": float(queries.sum())} for name, queries in groups.items()}
    description = "Number of test queries by number of document pairs."
    return grouped_bar_chart(table, "queries", x_label="document pairs", description=description)


@curried
def training_curves(results: Measurements, models: Sequence[str], label: str) -> Chart:
    """Return the training measure after every round, a line per model, of the first trial."""
    first = results.trials[0]
    curves = {
        model: list(enumerate(results.on_trial(model, "round train", first).tolist(), start=1)) for model in models
    }
    return line_chart(curves, "round", label, description=f"{label} by round, first fold.")


def groups_by_pairs(results: Measurements, model: str, starts: Sequence[int]) -> dict[str, np.ndarray]:
    """Return which queries have how many pairs, such as `1k-2k`; groups without a query are left out."""
    pairs = results.values(model, PAIRS)
    groups = {
        _group_name(start, end): (pairs >= start) & (pairs < end)
        for start, end in zip(starts, [*starts[1:], np.inf], strict=True)
    }
    return {name: queries for name, queries in groups.items() if queries.any()}


def _group_name(start: float, end: float) -> str:
    low, high = (f"{limit / 1000:g}k" if limit >= 1000 else f"{limit:g}" for limit in (start, end))
    return f"{low}+" if end == np.inf else f"{low}-{high}"
