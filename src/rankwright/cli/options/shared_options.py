"""Options that several verbs share, and checks of the files to write, before any long work."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.files import require_writable
from rankwright.cli.options.data_files import FORMATS
from rankwright.cli.options.option_groups import MORE, REQUIRED, argument, option

PICTURES = ".svg, .png, .html or .json"

JSON = option("Print one JSON object instead of tables.", default=False)
PLAIN_JSON = option("Print JSON.", default=False)
JOBS = option("Number of threads; by default all that this process may use.", "N", min=1, panel=MORE)
PLOT = option(f"Chart to write ({PICTURES}).", "FILE")
REPORT = option("HTML page to write about the result.", "FILE")
MODEL_TO_WRITE = option("Model file to write.", "FILE", default=REQUIRED)
SYSTEM_FILES = argument(
    "Systems: model files (of rankwright, LightGBM, XGBoost, CatBoost or RankLib), files with one score per "
    "line, tables written by predict, TREC runs. NAME=FILE names one.",
    "SYSTEM...",
    default=REQUIRED,
)
BASELINE_COLUMN = option(
    "Column of the data by which documents are ordered today, such as position, ascending; with - before it, "
    "such as -sales, descending. This order is one more system, and the baseline.",
    "COLUMN",
)
FUSIONS = option(
    "Add the fixed fusions of the retrievers whose scores the data have: RRF, and the sums of z-scores and of "
    "scores from 0 to 1.",
    default=False,
)
JUDGED_DATA = option(
    f"Judged documents ({FORMATS}); for runs also TREC judgements (qrels).", "FILE", default=REQUIRED
)
TRAINING_DATA = option(f"Judged documents to learn from ({FORMATS}).", "FILE", default=REQUIRED)
ALL_QUERIES = option(
    f"Judged documents ({FORMATS}), or a folder of folds. Of a folder with Fold1, Fold2, ..., as in LETOR, the "
    "test parts together are all queries; of one such fold, train.txt and vali.txt are used and test.txt is not.",
    "PATH",
    default=REQUIRED,
)
FOLDS = option(
    f"Judged documents ({FORMATS}), divided into folds by query, or a folder of folds. The folder has Fold1, "
    "Fold2, ..., each with train.txt, vali.txt and test.txt, as in LETOR.",
    "PATH",
    default=REQUIRED,
)


def checked_output(path: Path, *, inputs: Iterable[Path | None] = ()) -> Path:
    """Refuse a path that cannot be written or that the command reads."""
    if str(path) == "-":
        raise InputError("- is standard output, where only scores and rankings can go; name a file.")
    require_writable(path)
    if any(read is not None and read.exists() and path.exists() and read.samefile(path) for read in inputs):
        raise InputError(f"{path} is an input of this command; write to another file.")
    return path


def check_plot(plot: Path | None, *, inputs: Iterable[Path | None] = (), model: Path | None = None) -> None:
    """Refuse a chart that cannot be written, or that would be the model as well; None asks for no chart."""
    if plot is not None:
        rw.charts.require_drawing(plot)
        checked_output(plot, inputs=inputs)
        if model is not None and plot.resolve() == model.resolve():
            raise InputError(f"--plot and --model both name {plot}; give the picture another name.")


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


def named_files(texts: Sequence[str], noun: str = "system") -> dict[str, Path]:
    """Return files by name: `NAME=FILE`, or `FILE` for one that is called as it is spelled."""
    files: dict[str, Path] = {}
    for text in texts:
        before, equals, after = text.partition("=")
        named = equals and not Path(text).exists()  # the name of a file may have a = in it
        name, path = (before.strip(), Path(after)) if named else (text, Path(text))
        if named and not (name and after):
            raise InputError(f"A {noun} is spelled FILE or NAME=FILE, not {text!r}.")
        if path in files.values():
            raise InputError(f"{path} is given twice.")
        if name in files:
            raise InputError(f"Two {noun}s are called {name}; give them different names.")
        files[name] = path
    return files


def columns_by_role(text: str | None) -> dict[str, str]:
    """Return the columns that `--columns ROLE=COLUMN,...` names."""
    words = [word.partition("=") for word in (text or "").split(",") if word]
    if wrong := [role + equals for role, equals, column in words if not (equals and column)]:
        raise InputError(f"--columns takes ROLE=COLUMN,..., not {wrong[0]!r}.")
    return {role.strip(): column.strip() for role, _, column in words}
