"""A metric at the first ranks, by cut-off, such as NDCG@1 to NDCG@10 (Xu & Li 2007, figures 2 to 5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.reports.analysis import Analysis, Estimate, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.evaluation.report import Report
    from rankwright.reports.charts.chart import Chart

MOST_BANDS = 3  # systems whose intervals are drawn; those of more would hide each other


@dataclass(frozen=True, eq=False, repr=False)
class CutoffCurves(Analysis):
    """A metric by its cut-off, one curve per system.

    Parameters
    ----------
    metric
        Name of the metric without its cut-off, such as `ndcg`.
    cutoffs
        The cut-offs, ascending.
    curves
        The mean over queries at each cut-off, by system.
    note
        The queries and how they were measured, in words.
    """

    metric: str
    cutoffs: tuple[int, ...]
    curves: Mapping[str, tuple[Estimate, ...]]
    note: str

    @classmethod
    def of(cls, report: Report, metric: str = "ndcg") -> CutoffCurves:
        """Return the curves of a report that has the metric at two or more cut-offs."""
        metric = metric.strip().lower()
        names = by_cutoff(report.metrics, metric)
        if len(names) < 2:
            raise InputError(
                f"A curve needs {metric} at several cut-offs; measure metrics='{ranged(metric, '1-10')}'."
            )
        curves = {
            system: tuple(
                Estimate(report.mean(system, one), *report.interval(system, one)) for one in names.values()
            )
            for system in report.systems
        }
        return cls(metric, tuple(names), curves, report.footnote())

    def table(self) -> Table:
        """Return one row per system, one column per cut-off."""
        rows = [(system, *(f"{one.value:.4f}" for one in curve)) for system, curve in self.curves.items()]
        return Table((self.metric, *(f"@{cutoff}" for cutoff in self.cutoffs)), rows)

    def footnote(self) -> str:
        """Return a sentence on the queries."""
        return self.note

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as JSON values."""
        systems = {system: [one.to_dict() for one in curve] for system, curve in self.curves.items()}
        return {"metric": self.metric, "cutoffs": list(self.cutoffs), "systems": systems}

    def chart(self) -> Chart:
        """Return one line per system, with its interval if there are few systems."""
        from rankwright.reports.charts.lines import line_chart

        curves = {
            system: [(cutoff, one.value) for cutoff, one in zip(self.cutoffs, curve, strict=True)]
            for system, curve in self.curves.items()
        }
        bands = {
            system: [(cutoff, one.low, one.high) for cutoff, one in zip(self.cutoffs, curve, strict=True)]
            for system, curve in self.curves.items()
        }
        first, last = self.cutoffs[0], self.cutoffs[-1]
        ends = ", ".join(f"{system} {curve[0][1]:.4f} to {curve[-1][1]:.4f}" for system, curve in curves.items())
        description = f"Mean {self.metric} by cut-off, from {first} to {last}: {ends}."
        drawn = bands if len(bands) <= MOST_BANDS else {}
        return line_chart(curves, "cut-off", self.metric, description=description, bands=drawn)


def by_cutoff(metrics: Sequence[str], wanted: str) -> dict[int, str]:
    """Return the names of a metric by its cut-off."""
    found = {name: re.search(r"@(\d+)", name) for name in metrics}
    cut = {int(match[1]): name for name, match in found.items() if match and bare_name(name) == wanted}
    return dict(sorted(cut.items()))


def bare_name(metric: str) -> str:
    """Return the name of a metric without its cut-off."""
    return re.sub(r"@\d+", "", metric)


def ranged(metric: str, cutoffs: str) -> str:
    """Return a metric with its cut-offs: `ndcg(gain=linear)` at `1-10` is `ndcg@1-10(gain=linear)`."""
    name, bracket, options = metric.partition("(")
    return f"{name.strip()}@{cutoffs.strip()}{bracket}{options}"
