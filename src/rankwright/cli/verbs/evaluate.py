"""`rankwright evaluate`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from typing import Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.data_files import ReadOptions
from rankwright.cli.options.faces import integers
from rankwright.cli.options.option_groups import option
from rankwright.cli.options.shared_options import (
    BASELINE_COLUMN,
    FUSIONS,
    JSON,
    JUDGED_DATA,
    PICTURES,
    SYSTEM_FILES,
    check_plot,
    named_files,
)
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import note, note_coverage, say, show
from rankwright.reports.blocks import Column, Interval, Kind, Table
from rankwright.reports.result import Result


def evaluate(
    *,
    systems: list[str] = SYSTEM_FILES,
    data: Path = JUDGED_DATA,
    reading: ReadOptions,
    how: Given = options_of("evaluate"),
    baseline_column: str | None = BASELINE_COLUMN,
    fusions: bool = FUSIONS,
    rounds: str | None = option("Evaluate the models cut to their first rounds, such as 50,100,200.", "LIST"),
    plot: Path | None = option(f"With --rounds: chart of the first metric to write ({PICTURES}).", "FILE"),
    per_query: bool = option("With --json: print the value of every query too.", default=False),
    json: bool = JSON,
) -> None:
    """Evaluate systems on judged documents, and compare them with the first.

    Example:

        rankwright evaluate old.rw new=new.rw --data test.txt --metrics ndcg@10,map
    """
    from rankwright.cli.options.system_files import opened

    _check(rounds, plot, per_query, json, baseline_column, fusions, how)
    files = named_files(systems)
    check_plot(plot, inputs=(data, *files.values()))
    in_blocks = rounds is None
    with opened(files, data, reading, how["n_jobs"], baseline_column, fusions=fusions, in_blocks=in_blocks) as (
        measured,
        judged,
    ):
        if rounds is not None:
            del how["queries"]
            result = rw.evaluate_rounds(measured, judged, integers("--rounds", rounds), **how)
            if plot is not None:
                result.chart(result.report.metrics[0]).save(plot)
                note(f"wrote {plot}")
            show(result, json=json)
            return
        report = rw.evaluate(measured, judged, **how)
    compared = _comparisons(report)
    if json:
        note_coverage(report)
        more: dict[str, Any] = {"comparisons": compared} if compared else {}
        more |= {"per_query": _per_query(report)} if per_query else {}
        show(report, json=True, **more)
        return
    show(report, json=False)
    if compared:
        say("")
        show(AgainstFirst(report.systems[0], tuple(compared)), json=False)


def _check(
    rounds: str | None,
    plot: Path | None,
    per_query: bool,
    json: bool,
    baseline_column: str | None,
    fusions: bool,
    how: Given,
) -> None:
    """Refuse options that do not go together."""
    if plot is not None and rounds is None:
        raise InputError("--plot needs --rounds, such as --rounds 50,100,200.")
    if rounds is not None and per_query:
        raise InputError("--per-query cannot be used with --rounds.")
    if per_query and not json:
        raise InputError("--per-query needs --json.")
    if rounds is not None and baseline_column is not None:
        raise InputError("--baseline-column cannot be used with --rounds: an order has no rounds.")
    if rounds is not None and fusions:
        raise InputError("--fusions cannot be used with --rounds: a fusion has no rounds.")
    if rounds is not None and how["queries"] is not None:
        raise InputError("--queries cannot be used with --rounds.")


@dataclass(frozen=True, repr=False)
class AgainstFirst(Result):
    """Paired comparisons of systems with the first one."""

    baseline: str
    comparisons: tuple[dict[str, Any], ...]

    @property
    def summary(self) -> str:
        """What the tests are."""
        return f"Paired tests against {self.baseline}, with 95 % intervals of the difference:"

    def blocks(self) -> list[Table]:
        """Return one row per system and metric."""
        columns = [
            Column("system", Kind.TEXT),
            Column("metric", Kind.TEXT),
            Column("difference", Kind.DIFFERENCE),
            Column("p", Kind.P_VALUE),
            Column("better", Kind.COUNT),
            Column("worse", Kind.COUNT),
        ]
        rows = [
            (
                pair["system"],
                pair["metric"],
                Interval(pair["difference"], *pair["interval"]),
                *(pair[name] for name in ("p_value", "better", "worse")),
            )
            for pair in self.comparisons
        ]
        return [Table(columns, rows)]


def _comparisons(report: rw.Report) -> list[dict[str, Any]]:
    """Return the comparisons of each system with the first, for each metric that has values."""
    first, *others = report.systems
    return [
        {"system": other, "baseline": first, "metric": metric, **asdict(report.compare(other, first, metric))}
        for other in others
        for metric in report.metrics
        if not isnan(report.mean(first, metric))
    ]


def _per_query(report: rw.Report) -> dict[str, dict[str, dict[str, float]]]:
    return {
        system: {
            metric: {
                str(query): float(value)
                for query, value in zip(report.queries, report.per_query(system, metric), strict=True)
                if value == value
            }
            for metric in report.metrics
        }
        for system in report.systems
    }
