"""`rankwright compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.data_files import TABLES, ReadOptions, reads_data
from rankwright.cli.options.page_option import ReportOption, check_report, this_command
from rankwright.cli.options.shared_options import (
    DropOneLabelFlag,
    JobsOption,
    JsonFlag,
    JudgedOption,
    MetricsOption,
    MinRelevantOption,
    QueriesOption,
    RunConventionOption,
    SystemFiles,
)
from rankwright.cli.output.console import note, note_coverage, say, show_json, show_table

BaselineOption = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="The system that all others are compared with; by default all pairs are compared.",
    ),
]
SlicesOption = Annotated[
    str | None,
    typer.Option(
        "--slices",
        metavar="LIST",
        help="Compare slices of the queries too, by these properties: documents, relevant (their numbers), "
        "difficulty (mean over systems), or columns with one value per query.",
    ),
]
SliceFileOption = Annotated[
    Path | None,
    typer.Option(
        "--slice-file",
        metavar="FILE",
        help="Table with a column qid and the columns that --slices names; by default the data.",
    ),
]
LevelOption = Annotated[
    float,
    typer.Option("--level", metavar="FRACTION", help="Level of intervals; p below 1 - level is significant."),
]
RandomStateOption = Annotated[
    int, typer.Option("--random-state", min=0, metavar="N", help="Seed of bootstrap samples and sign flips.")
]


@reads_data
def compare(
    files: SystemFiles,
    data: JudgedOption,
    reading: ReadOptions,
    metrics: MetricsOption = "ndcg@10,map",
    convention: RunConventionOption = None,
    baseline: BaselineOption = None,
    slices: SlicesOption = None,
    slice_file: SliceFileOption = None,
    queries: QueriesOption = None,
    min_relevant: MinRelevantOption = 0,
    drop_one_label: DropOneLabelFlag = False,
    level: LevelOption = 0.95,
    random_state: RandomStateOption = 0,
    report: ReportOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Compare two or more systems on the same queries: intervals, significance tests, effect sizes, power.

    Example:

        rankwright compare old.rw new.rw bm25.txt --data test.txt
    """
    from rankwright.cli.options.system_files import opened

    if len(files) < 2:
        raise InputError("compare needs at least two systems; `evaluate` measures a single one.")
    check_report(report, inputs=(data, slice_file, *files))
    asked: dict[str, Any] = {"metrics": rw.metrics.parse_metrics(metrics), "convention": convention}
    asked |= {"queries": queries, "min_relevant": min_relevant, "drop_one_label": drop_one_label}
    with opened(files, data, reading, jobs) as (systems, judged):
        found = rw.compare(
            systems,
            judged,
            baseline=None if baseline is None else str(baseline),
            slices=_slices(slices, slice_file, data, reading, judged),
            level=level,
            random_state=random_state,
            n_jobs=jobs,
            **asked,
        )
        if report is not None:
            _write_page(found, report, systems, judged, jobs)
    if json:
        note_coverage(found.report)
        show_json(found.to_dict())
    else:
        _show(found)


def _write_page(
    found: rw.SystemComparison, path: Path, systems: dict[str, Any], judged: Any, jobs: int | None
) -> None:
    from rankwright.cards.report_page import write_page

    title = f"Comparison of {len(found.systems):,} systems"
    write_page(found, path, systems=systems, data=judged, title=title, reproduce=this_command(), n_jobs=jobs)
    note(f"wrote {path}")


def _slices(
    slices: str | None, slice_file: Path | None, data: Path, reading: ReadOptions, judged: Any
) -> dict[str, Any]:
    """Return the properties by which queries are divided: those with a name, and columns of a table."""
    from rankwright.data.columns import QUERY
    from rankwright.data.readers.any_format import read_query_values
    from rankwright.evaluation.slices import BUILT_IN

    names = [name.strip() for name in (slices or "").split(",") if name.strip()]
    features = getattr(judged, "feature_names", None) or ()
    columns = [name for name in names if name not in BUILT_IN and name not in features]
    if slice_file is not None and not columns:
        raise InputError("--slice-file needs --slices with the names of its columns.")
    table = slice_file or data
    kind = reading.format_of(table)
    if not columns or kind not in TABLES:
        return {name: name for name in names}
    values = read_query_values(table, columns, qid=reading.qid, delimiter=TABLES[kind])
    known = set(map(str, judged.groups.ids))
    if not any(query in known for query in values[columns[0]]):
        raise InputError(f"{table} has none of the judged queries in its column {reading.qid or QUERY!r}.")
    return {name: values.get(name, name) for name in names}


def _show(found: rw.SystemComparison) -> None:
    """Print the main results in sentences, then the tables."""
    from rankwright.evaluation.comparison_text import means_table, remarks, tables_of

    for metric in found.metrics:
        say(found.summary(metric))
    tables = [means_table(found), *(table for metric in found.metrics for table in tables_of(found, metric))]
    for table in tables:
        say("")
        show_table(table.head, table.rows)
    for remark in remarks(found):
        note(remark)
    note(found.report.footnote())
