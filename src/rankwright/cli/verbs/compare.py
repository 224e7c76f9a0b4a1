"""`rankwright compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import listed
from rankwright.cli.options.data_files import TABLES, ReadOptions
from rankwright.cli.options.faces import Face, names
from rankwright.cli.options.option_groups import option
from rankwright.cli.options.shared_options import (
    BASELINE_COLUMN,
    FUSIONS,
    JSON,
    JUDGED_DATA,
    REPORT,
    SYSTEM_FILES,
    check_report,
    named_files,
    this_command,
)
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import note, note_coverage, show

GATE_CLOSED = 3  # exit code
FACES = {
    "baseline": Face("SYSTEM"),
    "slices": Face(
        "LIST",
        words="Compare slices of the queries too, by these properties: documents, relevant (their numbers), "
        "difficulty (mean over systems), or columns with one value per query.",
        read=names,
    ),
}


def compare(
    *,
    systems: list[str] = SYSTEM_FILES,
    data: Path = JUDGED_DATA,
    reading: ReadOptions,
    how: Given = options_of("compare", faces=FACES),
    baseline_column: str | None = BASELINE_COLUMN,
    fusions: bool = FUSIONS,
    slice_file: Path | None = option(
        "Table with a column qid and the columns that --slices names; by default the data.", "FILE"
    ),
    gate: str | None = option(
        "Exit with code 3 unless all other systems pass this gate against the baseline by the first metric: ahead "
        "(significantly better) or not-behind (not significantly worse).",
        "RULE",
    ),
    report: Path | None = REPORT,
    json: bool = JSON,
) -> None:
    """Compare two or more systems on the same queries: intervals, significance tests, effect sizes, power.

    Example:

        rankwright compare old=old.rw new=new.rw bm25.txt --data test.txt
    """
    from rankwright.cli.options.system_files import opened
    from rankwright.evaluation.compare import GATES
    from rankwright.rankers.fusion import has_sources

    files = named_files(systems)
    if gate is not None and gate not in GATES:
        raise InputError(f"--gate must be {listed(GATES)}, not {gate!r}.")
    if gate is not None and baseline_column is None and how["baseline"] is None:
        raise InputError("--gate needs --baseline or --baseline-column to compare with.")
    if len(files) + (baseline_column is not None) < 2 and not fusions:
        raise InputError("compare needs at least two systems; `evaluate` measures a single one.")
    if baseline_column is not None and how["baseline"] is not None:
        raise InputError("Give --baseline or --baseline-column, not both.")
    check_report(report, inputs=(data, slice_file, *files.values()))
    with opened(files, data, reading, how["n_jobs"], baseline_column, fusions=fusions) as (compared, judged):
        how["slices"] = _slices(how["slices"] or [], slice_file, data, reading, judged)
        how["baseline"] = how["baseline"] or baseline_column
        result = rw.compare(compared, judged, **how)
        if report is not None:
            _write_page(result, report, compared, judged, how["n_jobs"])
    if json:
        note_coverage(result.report)
    passed = gate is None or result.passes(gate)
    verdict: dict[str, Any] = {} if gate is None else {"gate": gate, "passed": passed}
    show(result, json=json, **verdict)
    if not fusions and isinstance(judged, rw.RankingData) and has_sources(judged):
        note("The data have the scores of several retrievers: --fusions adds their fixed fusions.")
    if gate is not None:
        note(f"the gate {gate} is {'passed' if passed else 'not passed'}")
    if not passed:
        raise typer.Exit(GATE_CLOSED)


def _write_page(
    result: rw.SystemComparison, path: Path, systems: dict[str, Any], judged: Any, n_jobs: int | None
) -> None:
    from rankwright.cards.report_page import write_page

    title = f"Comparison of {len(result.systems):,} systems"
    write_page(result, path, systems=systems, data=judged, title=title, reproduce=this_command(), n_jobs=n_jobs)
    note(f"wrote {path}")


def _slices(
    slices: list[str], slice_file: Path | None, data: Path, reading: ReadOptions, judged: Any
) -> dict[str, Any]:
    """Return the properties by which queries are divided: those with a name, and columns of a table."""
    from rankwright.data.column_roles import QUERY
    from rankwright.data.readers.any_format import read_query_values
    from rankwright.evaluation.slices import BUILT_IN

    features = getattr(judged, "feature_names", None) or ()
    columns = [name for name in slices if name not in BUILT_IN and name not in features]
    if slice_file is not None and not columns:
        raise InputError("--slice-file needs --slices with the names of its columns.")
    table = slice_file or data
    kind = reading.format_of(table)
    if not columns or kind not in TABLES:
        return {name: name for name in slices}
    values = read_query_values(table, columns, qid=reading.qid, delimiter=reading.delimiter_of(kind))
    known = set(map(str, judged.groups.ids))
    if not any(query in known for query in values[columns[0]]):
        raise InputError(f"{table} has none of the judged queries in its column {reading.qid or QUERY!r}.")
    return {name: values.get(name, name) for name in slices}
