"""`rankwright reproduce`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.base.wording import counted
from rankwright.cli.options.page_option import ReportOption, check_report, this_command
from rankwright.cli.options.shared_options import JsonFlag
from rankwright.cli.options.tuning_options import INTERRUPTED
from rankwright.cli.output.console import note, problem, progress, show_json, show_table
from rankwright.reports.text import spelled_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.papers.framework.experiment import Paper
    from rankwright.papers.framework.reproduction import Reproduction

PaperArgument = Annotated[
    str,
    typer.Argument(
        metavar="PAPER",
        help="adarank-2007, direct-2008, calibrated-2011, lambdasmart-2010 or mpboost-2009.",
        show_default=False,
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FOLDER",
        help="Folder that has collections of LETOR as folders: OHSUMED, MQ2007, MQ2008, TD2003, TD2004, each with "
        "Fold1, Fold2, ... Experiments whose collection is not there are left out.",
    ),
]
CranfieldOption = Annotated[
    Path | None,
    typer.Option(
        "--cranfield",
        metavar="FOLDER",
        help="Folder of the Cranfield collection (cran.all.1400, cran.qry, cranqrel), which stands in for the "
        "news articles of adarank-2007 and direct-2008.",
    ),
]
WorkOption = Annotated[
    Path | None,
    typer.Option(
        "--work",
        metavar="FOLDER",
        help="Folder that keeps what is done, so that a stopped run goes on; by default reproduced/PAPER.",
    ),
]
QuickFlag = Annotated[
    bool, typer.Option("--quick", help="Fewer folds, queries and rounds, to see that everything works.")
]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", min=1, metavar="N", help="Number of fits at once; by default one per thread."),
]


def reproduce(
    paper: PaperArgument,
    data: DataOption = None,
    cranfield: CranfieldOption = None,
    quick: QuickFlag = False,
    work: WorkOption = None,
    report: ReportOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Run the experiments of a paper, and compare each published number and claim with what is found.

    Example:

        rankwright reproduce adarank-2007 --data letor --report adarank.html
    """
    from rankwright.papers.framework.catalogue import find_paper

    check_report(report)
    found = find_paper(paper)
    folder = work or Path("reproduced") / (f"{paper}-quick" if quick else paper)
    result = _run(found, data, cranfield, folder, quick=quick, jobs=jobs)
    if report is not None:
        result.write_page(report, reproduce=this_command())
        note(f"wrote {report}")
    if json:
        show_json(result.to_dict() | {"report": report and str(report), "work": str(folder)})
    else:
        _show(result)


def _run(
    paper: Paper, data: Path | None, cranfield: Path | None, folder: Path, *, quick: bool, jobs: int | None
) -> Reproduction:
    """Run with a progress bar; Ctrl-C keeps what is done."""
    from rankwright.papers.framework.reproduce import reproduce as run

    steps: list[Callable[[str], None]] = []
    with ExitStack() as stack:

        def on_start(total: int, kept: int) -> None:
            if kept:
                note(f"{kept:,} of {counted(total, 'task')} are in {folder} from an earlier run")
            steps.append(stack.enter_context(progress(f"reproducing {paper.name}", total - kept)))

        try:
            return run(
                paper,
                data,
                work=folder,
                cranfield=cranfield,
                quick=quick,
                workers=jobs,
                on_start=on_start,
                on_task=lambda remark: steps[-1](remark),
            )
        except KeyboardInterrupt:
            stack.close()
            problem(f"Interrupted; what is done is kept in {folder}, and the same command goes on from there.")
            raise typer.Exit(INTERRUPTED) from None


def _show(result: Reproduction) -> None:
    table = result.tables[0]
    rows = [spelled_row(table.columns, row) for row in table.rows]
    show_table([column.title for column in table.columns], rows)
    note(result.summary)
    note(f"{result.seconds:,.0f} s of processor time for all fits and measurements")
