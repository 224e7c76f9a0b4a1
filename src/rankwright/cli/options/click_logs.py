"""How the verbs of clicks read a log."""

from __future__ import annotations

import warnings
from pathlib import Path

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.option_groups import REQUIRED, argument, option, option_group
from rankwright.cli.options.shared_options import columns_by_role


@option_group
class LogOptions:
    """How a click log is read."""

    events: Path | None = option(
        "Events of User Behavior Insights (NDJSON or Parquet); LOG then has its queries.", "FILE"
    )
    yandex: bool = option("LOG has the sessions of Yandex's relevance prediction challenge.", default=False)
    tiangong: bool = option("LOG has sessions of TianGong-ST, in XML.", default=False)
    columns: str | None = option(
        "Columns of a table that are not called as usual, such as clicked=is_click,position=rank.",
        "ROLE=COLUMN,...",
    )

    def read(self, path: Path) -> rw.clicks.ClickLog:
        """Return the log in a file."""
        from rankwright.clicks.readers.log_builder import ClickLogWarning

        if (self.events is not None) + self.yandex + self.tiangong + (self.columns is not None) > 1:
            raise InputError("Give one of --events, --yandex, --tiangong and --columns.")
        with warnings.catch_warnings(action="ignore", category=ClickLogWarning):  # the log keeps them as notes
            if self.events is not None:
                return rw.clicks.read_ubi(path, self.events)
            if self.yandex or self.tiangong:
                return (rw.clicks.read_yandex if self.yandex else rw.clicks.read_tiangong)(path)
            return rw.clicks.read_log(path, **columns_by_role(self.columns))


LOG = argument(
    "Table with one row per impression: .csv, .tsv, .parquet, or a folder of .parquet; or as --events, "
    "--yandex and --tiangong say.",
    "LOG",
    default=REQUIRED,
)
