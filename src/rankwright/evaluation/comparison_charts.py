"""Charts of a comparison: means, differences from one system, means on slices of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.base.wording import counted
from rankwright.evaluation.comparison_text import in_percent
from rankwright.reports.charts.bars import grouped_bar_chart
from rankwright.reports.charts.rows import interval_chart
from rankwright.statistics.intervals import spelled_means

if TYPE_CHECKING:
    from rankwright.evaluation.system_comparison import Division, SystemComparison
    from rankwright.reports.charts.chart import Chart

MOST_BARS = 6  # systems per slice


def means_chart(found: SystemComparison, metric: str) -> Chart:
    """Return the means of all systems with their intervals, best first."""
    compared = found.by(metric)
    rows = [(one, compared.mean(one), *compared.interval(one)) for one in compared.ranked()]
    over = f"{in_percent(found.level)} interval over {counted(compared.n_queries, 'query')}"
    return interval_chart(rows, metric, description=f"Mean {metric} with its {over}: {spelled_means(rows)}.")


def differences_chart(found: SystemComparison, metric: str) -> Chart:
    """Return the difference of each system from the baseline or, without any, from the best one."""
    compared = found.by(metric)
    reference = found.baseline or compared.ranked()[0]
    pairs = [compared.pairs.pair(one, reference) for one in compared.ranked() if one != reference]
    rows = [(pair.one, pair.difference, *pair.interval) for pair in pairs]
    label = f"difference in {metric} from {reference}"
    description = f"{label.capitalize()}, with its {in_percent(found.level)} interval: {spelled_means(rows)}."
    return interval_chart(rows, label, description=description, mark=0.0)


def slices_chart(found: SystemComparison, metric: str, division: Division) -> Chart:
    """Return the means of the best systems on each slice of the queries."""
    systems = found.by(metric).ranked()[:MOST_BARS]
    means = {one.name: {name: one.compared.mean(name) for name in systems} for one in division.slices}
    intervals = {one.name: {name: one.compared.interval(name) for name in systems} for one in division.slices}
    described = f"Mean {metric} of {', '.join(systems)} on {counted(len(means), 'slice')} of the queries"
    return grouped_bar_chart(
        means,
        metric,
        description=f"{described}, by {division.meaning}.",
        x_label=division.meaning,
        intervals=intervals,
    )
