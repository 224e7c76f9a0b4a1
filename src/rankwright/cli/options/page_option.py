"""Pages that verbs write: the option for them, checks before any long work, and the command that made them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.base.errors import InputError
from rankwright.cli.options.shared_options import checked_output

if TYPE_CHECKING:
    from collections.abc import Iterable

ReportOption = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="HTML page to write about the result.")
]


def check_report(report: Path | None, *, inputs: Iterable[Path | None] = (), model: Path | None = None) -> None:
    """Refuse a page that cannot be written, or that would be the model as well; None asks for no page."""
    if report is None:
        return
    checked_output(report, inputs=inputs)
    if model is not None and report.resolve() == model.resolve():
        raise InputError(f"--report and --model must be different files, not both {model}.")
    from rankwright.reports.page import require_packages

    require_packages()


def this_command() -> str:
    """Return the command that is running, as a shell takes it."""
    return shlex.join(["rankwright", *sys.argv[1:]])
