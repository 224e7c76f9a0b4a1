"""How the verbs of clicks read a log, and show a result with its chart and page."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.option_groups import REQUIRED, argument, option, option_group
from rankwright.cli.options.shared_options import JSON, PLOT, REPORT, check_plot, check_report
from rankwright.cli.output.console import note, show


@option_group
class LogOptions:
    """How a click log is read."""

    events: Path | None = option(
        "Events of User Behavior Insights (NDJSON or Parquet); LOG then has its queries.", "FILE"
    )
    yandex: bool = option("LOG has the sessions of Yandex's relevance prediction challenge.", default=False)
    columns: str | None = option(
        "Columns of a table that are not called as usual, such as clicked=is_click,position=rank.",
        "ROLE=COLUMN,...",
    )

    def read(self, path: Path) -> rw.clicks.ClickLog:
        """Return the log in a file."""
        from rankwright.clicks.readers.log_builder import ClickLogWarning

        if (self.events is not None) + self.yandex + (self.columns is not None) > 1:
            raise InputError("Give one of --events, --yandex and --columns.")
        with warnings.catch_warnings(action="ignore", category=ClickLogWarning):  # the log keeps them as notes
            if self.events is not None:
                return rw.clicks.read_ubi(path, self.events)
            if self.yandex:
                return rw.clicks.read_yandex(path)
            words = [word.partition("=") for word in (self.columns or "").split(",") if word]
            if wrong := [role + equals for role, equals, column in words if not (equals and column)]:
                raise InputError(f"--columns takes ROLE=COLUMN,..., not {wrong[0]!r}.")
            return rw.clicks.read_log(path, **{role.strip(): column.strip() for role, _, column in words})


LOG = argument(
    "Table with one row per impression: .csv, .tsv, .parquet, or a folder of .parquet; or as --events and "
    "--yandex say.",
    "LOG",
    default=REQUIRED,
)


@option_group
class ResultOptions:
    """What is written and shown of a result."""

    plot: Path | None = PLOT
    report: Path | None = REPORT
    json: bool = JSON

    def check(self, *inputs: Path | None) -> None:
        """Refuse a chart or a page that cannot be written."""
        check_plot(self.plot, inputs=inputs)
        check_report(self.report, inputs=inputs)

    def show(self, result: Any) -> None:
        """Write the chart and the page of a result, if asked for, and show the result."""
        if self.plot is not None:
            result.chart().save(self.plot)
            note(f"wrote {self.plot}")
        if self.report is not None:
            result.write_page(self.report)
            note(f"wrote {self.report}")
        show(result, json=self.json)
