"""Figures that several papers draw, from the results of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.papers.framework.measures import PAIRS
from rankwright.reports.charts.bars import grouped_bar_chart
from rankwright.reports.charts.lines import line_chart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.papers.framework.measurements import Measurements
    from rankwright.reports.charts.chart import Chart

    Draw = Callable[[Measurements], Chart]

CUTS = tuple(range(1, 11))


def means(models: Sequence[str], measured: Sequence[str], *, queries: str = "") -> Draw:
    """Return a group of bars per measure: the means of all models, with their intervals.

    `queries` is the measure that tells which query a value is of, for queries that are in several trials.
    """

    def draw(results: Measurements) -> Chart:
        table = {one: {model: results.mean(model, one) for model in models} for one in measured}
        intervals = {one: {model: results.interval(model, one, queries) for model in models} for one in measured}
        kind = queries or "test queries"
        description = f"Means over {kind} of {', '.join(models)}: {', '.join(table)}."
        return grouped_bar_chart(table, f"mean over {kind}", description=description, intervals=intervals)

    return draw


def by_cut(models: Sequence[str], cuts: Sequence[int] = CUTS, metric: str = "ndcg@{}") -> Draw:
    """Return NDCG@k by k, a line per model."""

    def draw(results: Measurements) -> Chart:
        curves = {model: [(k, results.mean(model, metric.format(k))) for k in cuts] for model in models}
        description = f"NDCG@k by k of {', '.join(models)}."
        return line_chart(curves, "k", "NDCG@k", description=description)

    return draw


def by_round(models: Sequence[str], measured: str, label: str) -> Draw:
    """Return the mean of a metric by number of rounds, a line per model."""

    def draw(results: Measurements) -> Chart:
        curves = {}
        for model in models:
            rounds = results.by_trial(model, "rounds")[0]
            values = np.nanmean(results.values(model, f"{measured} by round"), axis=1)
            curves[model] = list(zip(rounds.tolist(), values.tolist(), strict=True))
        ends = ", ".join(f"{model} {curve[-1][1]:.4f}" for model, curve in curves.items())
        return line_chart(curves, "rounds", label, description=f"{label} by number of rounds; in the end {ends}.")

    return draw


def label_errors(models: Sequence[str], names: Mapping[str, str]) -> Draw:
    """Return the fraction of misordered pairs by pair of labels; `names` shows `2 > 0` as, say, `d-n`."""

    def draw(results: Measurements) -> Chart:
        table = {
            name: {model: error_rate(results, model, pair) for model in models} for pair, name in names.items()
        }
        description = f"Fraction of misordered pairs by pair of labels, of {', '.join(models)}."
        return grouped_bar_chart(table, "misordered pairs", description=description)

    return draw


def error_rate(results: Measurements, model: str, pair: str) -> float:
    """Return the fraction of misordered pairs of these labels, over all queries of all trials."""
    wrong, pairs = results.values(model, f"wrong {pair}"), results.values(model, f"{PAIRS} {pair}")
    return float(wrong.sum() / pairs.sum())


def by_number_of_pairs(models: Sequence[str], measured: str, starts: Sequence[int]) -> Draw:
    """Return the mean of a metric for groups of queries by their number of document pairs."""

    def draw(results: Measurements) -> Chart:
        table = {}
        for name, queries in groups_by_pairs(results, models[0], starts).items():
            values = {model: results.values(model, measured)[queries] for model in models}
            table[f"{name} ({queries.sum()})"] = {model: float(np.nanmean(one)) for model, one in values.items()}
        description = f"{measured} of {', '.join(models)} by number of document pairs of the query."
        return grouped_bar_chart(table, measured, x_label="document pairs (queries)", description=description)

    return draw


def queries_by_pairs(model: str, starts: Sequence[int]) -> Draw:
    """Return how many test queries have how many document pairs."""

    def draw(results: Measurements) -> Chart:
        groups = groups_by_pairs(results, model, starts)
        table = {name: {"queries": float(queries.sum())} for name, queries in groups.items()}
        description = "Number of test queries by number of document pairs."
        return grouped_bar_chart(table, "queries", x_label="document pairs", description=description)

    return draw


def training_curves(models: Sequence[str], label: str) -> Draw:
    """Return the training measure after every round, a line per model, of the first trial."""

    def draw(results: Measurements) -> Chart:
        first = results.trials[0]
        curves = {
            model: list(enumerate(results.on_trial(model, "round train", first).tolist(), start=1))
            for model in models
        }
        return line_chart(curves, "round", label, description=f"{label} by round, first fold.")

    return draw


def groups_by_pairs(results: Measurements, model: str, starts: Sequence[int]) -> dict[str, np.ndarray]:
    """Return which queries have how many pairs, such as `1k-2k`; groups without a query are left out."""
    pairs = results.values(model, PAIRS)
    ends = [*starts[1:], np.inf]
    found = {
        _group_name(start, end): (pairs >= start) & (pairs < end) for start, end in zip(starts, ends, strict=True)
    }
    return {name: queries for name, queries in found.items() if queries.any()}


def _group_name(start: float, end: float) -> str:
    spelled = [f"{one / 1000:g}k" if one >= 1000 else f"{one:g}" for one in (start, end)]
    return f"{spelled[0]} and more" if end == np.inf else f"{spelled[0]}-{spelled[1]}"
