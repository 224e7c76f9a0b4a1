"""A metric at the first ranks, by cut-off, such as NDCG@1 to NDCG@10 (Xu & Li 2007, figures 2 to 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.wording import enumerated, metric_value, plain
from rankwright.metrics.catalogue import as_metric
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Section, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.evaluation.report import Report
    from rankwright.metrics.base import Metric
    from rankwright.reports.charts.chart import Chart

MAX_BANDS = 3  # systems whose intervals are drawn; those of more would hide each other


@dataclass(frozen=True, eq=False, repr=False)
class CutoffCurves(Result):
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
    curves: Mapping[str, tuple[Interval, ...]]
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
                Interval(report.mean(system, name), *report.interval(system, name)) for name in names.values()
            )
            for system in report.systems
        }
        return cls(metric, tuple(names), curves, report.footnote())

    @property
    def summary(self) -> str:
        """The range of each curve, in one sentence."""
        first, last = self.cutoffs[0], self.cutoffs[-1]
        ends = (
            f"{metric_value(curve[0].value)} to {metric_value(curve[-1].value)} for {system}"
            for system, curve in self.curves.items()
        )
        return f"From cut-off {first} to {last}, the mean {self.metric} goes from {enumerated(ends)}."

    def blocks(self) -> Iterator[Section]:
        """Yield one row per system, one column per cut-off."""
        columns = [Column(self.metric, Kind.TEXT), *(Column(f"@{cutoff}") for cutoff in self.cutoffs)]
        rows = [(system, *(point.value for point in curve)) for system, curve in self.curves.items()]
        figure = Figure(self.chart, f"Mean {self.metric} by cut-off.")
        yield Section("By cut-off", [figure, Table(columns, rows), Note(f"{self.note}.")])

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as JSON values."""
        systems = {
            system: [{"value": point.value, "interval": [point.low, point.high]} for point in curve]
            for system, curve in self.curves.items()
        }
        return {"metric": self.metric, "cutoffs": list(self.cutoffs), "systems": plain(systems)}

    def chart(self) -> Chart:
        """Return one line per system, with its interval if there are few systems."""
        from rankwright.reports.charts.lines import line_chart

        points = {system: list(zip(self.cutoffs, curve, strict=True)) for system, curve in self.curves.items()}
        curves = {system: [(cut, point.value) for cut, point in curve] for system, curve in points.items()}
        bands = {
            system: [(cut, point.low, point.high) for cut, point in curve] for system, curve in points.items()
        }
        drawn = bands if len(bands) <= MAX_BANDS else {}
        return line_chart(curves, "cut-off", self.metric, description=self.summary, bands=drawn)


def by_cutoff(metrics: Sequence[str], wanted: str) -> dict[int, str]:
    """Return the names of a metric by its cut-off."""
    cutoffs = {_cutoff(name): name for name in metrics if bare_name(name) == wanted}
    return {cutoff: cutoffs[cutoff] for cutoff in sorted(filter(None, cutoffs))}


def bare_name(metric: Metric | str) -> str:
    """Return the name of a metric without its cut-off."""
    return str(metric).replace(f"@{_cutoff(metric)}", "", 1)


def _cutoff(metric: Metric | str) -> int | None:
    """Return the cut-off of a metric; None for a metric without one, and for a function's name."""
    try:
        return getattr(as_metric(metric), "k", None)
    except InputError:
        return None


def ranged(metric: str, cutoffs: str) -> str:
    """Return a metric with its cut-offs: `ndcg(gain=linear)` at `1-10` is `ndcg@1-10(gain=linear)`."""
    name, bracket, options = metric.partition("(")
    return f"{name.strip()}@{cutoffs.strip()}{bracket}{options}"
