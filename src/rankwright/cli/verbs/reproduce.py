"""`rankwright reproduce`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rankwright.base.wording import counted
from rankwright.cli.options.option_groups import REQUIRED, argument, option
from rankwright.cli.options.shared_options import JSON, REPORT, check_report, this_command
from rankwright.cli.output.console import note, progress, show
from rankwright.cli.output.fit_progress import exit_interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankwright.papers.framework.experiment import Paper
    from rankwright.papers.framework.reproduction import Reproduction


def reproduce(
    *,
    paper: str = argument(
        "adarank-2007, direct-2008, calibrated-2011, lambdasmart-2010 or mpboost-2009.", "PAPER", default=REQUIRED
    ),
    data: Path | None = option(
        "Folder that has collections of LETOR as folders: OHSUMED, MQ2007, MQ2008, TD2003, TD2004, each with "
        "Fold1, Fold2, ..., and IMAT2009 with imat2009_learning.txt. Experiments whose collection is not there "
        "are left out.",
        "FOLDER",
    ),
    cranfield: Path | None = option(
        "Folder of the Cranfield collection (cran.all.1400, cran.qry, cranqrel), which stands in for the news "
        "articles of adarank-2007 and direct-2008.",
        "FOLDER",
    ),
    quick: bool = option("Fewer folds, queries and rounds, to see that everything works.", default=False),
    full: bool = option(
        "The sizes of the paper, where the usual ones are smaller (calibrated-2011, lambdasmart-2010, "
        "mpboost-2009); takes many hours.",
        default=False,
    ),
    work: Path | None = option(
        "Folder that keeps finished tasks, so that a stopped run resumes; by default reproduced/PAPER.",
        "FOLDER",
    ),
    report: Path | None = REPORT,
    jobs: int | None = option("Number of fits at once; by default one per thread.", "N", min=1),
    json: bool = JSON,
) -> None:
    """Run the experiments of a paper, and compare each published number and claim with what is found.

    Example:

        rankwright reproduce adarank-2007 --data letor --report adarank.html
    """
    from rankwright.papers.framework.catalogue import find_paper

    check_report(report)
    version = "-quick" if quick else "-full" if full else ""
    folder = work or Path("reproduced") / f"{paper}{version}"
    sizes = {"quick": quick, "full": full}
    result = _run(find_paper(paper), data, cranfield, folder, sizes, jobs)
    if report is not None:
        result.write_page(report, reproduce=this_command())
        note(f"wrote {report}")
    show(result, json=json, sections=1, report=report, work=folder)


def _run(
    paper: Paper,
    data: Path | None,
    cranfield: Path | None,
    folder: Path,
    sizes: Mapping[str, bool],
    jobs: int | None,
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
                **sizes,
                workers=jobs,
                on_start=on_start,
                on_task=lambda remark: steps[-1](remark),
            )
        except KeyboardInterrupt:
            stack.close()
            exit_interrupted(f"Interrupted; finished tasks are in {folder}, and the same command resumes.")
