"""`rankwright export`."""

from __future__ import annotations

from pathlib import Path

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.data_files import FORMATS, ReadOptions, file_of, read_documents
from rankwright.cli.options.faces import Face
from rankwright.cli.options.option_groups import REQUIRED, argument, option
from rankwright.cli.options.shared_options import JOBS, JSON, checked_output
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import note, say, show

# Written out, since help must not wait for numpy; a test compares them with the formats.
TARGETS = (
    *("lightgbm", "xgboost", "ranklib", "elasticsearch", "elasticsearch-ltr", "opensearch-ltr", "solr", "vespa"),
    *("onnx", "c"),
)

FACES = {
    "format": Face("FORMAT", "--to", words=f"Format to write: {', '.join(TARGETS)}."),
    "version": Face("VERSION", "--engine-version"),
    "name": Face("NAME"),
    "missing": Face(words="No value is ever missing, so it does not matter how they are treated."),
}


def export(
    *,
    model: Path = argument(
        "Model file of rankwright, LightGBM, XGBoost, CatBoost or RankLib.", "MODEL", default=REQUIRED
    ),
    out: Path = option("File to write.", "FILE", default=REQUIRED),
    how: Given = options_of("export", without=("check", "n_jobs"), faces=FACES),
    reading: ReadOptions,
    check: Path | None = option(
        f"Documents ({FORMATS}) to score: their features and our scores are written to OUT.check.csv, where "
        "OUT is the file of --out, to compare with the target's scores.",
        "FILE",
    ),
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    """Write a model for another library or a search engine.

    Example:

        rankwright export model.rw --to solr --out solr-model.json --check test.txt
    """
    _check_files(model, how["format"], out, check)
    with file_of(model) as path:
        scorer = rw.load(path)
    rows = None if check is None else read_documents(check, reading, [scorer], n_jobs=jobs)
    written = rw.export(scorer, out, **how, check=rows, n_jobs=jobs)
    if json:
        show(written, json=True)
        return
    for remark in written.remarks:
        say(remark)
    note(written.summary)


def _check_files(model: Path, to: str, out: Path, check: Path | None) -> None:
    """Check what can be checked before the work."""
    if to not in TARGETS:
        raise InputError(f"--to must be one of {', '.join(TARGETS)}, not {to!r}.")
    for ending in ("", ".categories.json", *([] if check is None else [".check.csv"])):
        checked_output(out.with_name(f"{out.name}{ending}"), inputs=(model, check))
