"""`rankwright export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.data_files import FORMATS, ReadOptions, file_of, read_documents, reads_data
from rankwright.cli.options.shared_options import JobsOption, JsonFlag, checked_output
from rankwright.cli.output.console import note, say, show_json

# Written out, since help must not wait for numpy; a test compares them with the formats.
TARGETS = (
    *("lightgbm", "xgboost", "ranklib", "elasticsearch", "elasticsearch-ltr", "opensearch-ltr", "solr", "vespa"),
    *("onnx", "c"),
)

ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file of rankwright, LightGBM, XGBoost, CatBoost or RankLib.")
]
TargetOption = Annotated[
    str, typer.Option("--to", metavar="FORMAT", help=f"Format to write: {', '.join(TARGETS)}.")
]
VersionOption = Annotated[
    str | None,
    typer.Option(
        "--engine-version",
        metavar="VERSION",
        help="Version of OpenSearch or Solr, such as 3.8, on which its treatment of missing values depends.",
    ),
]
NameOption = Annotated[
    str | None,
    typer.Option("--name", metavar="NAME", help="Name of the model in the engine, or prefix of C functions."),
]
NamesOption = Annotated[
    str | None,
    typer.Option("--feature-names", metavar="LIST", help="Names of the features there, separated by commas."),
]
NoMissingFlag = Annotated[
    bool,
    typer.Option("--no-missing", help="No value is ever missing, so it does not matter how they are treated."),
]
NonNegativeFlag = Annotated[
    bool, typer.Option("--non-negative", help="Add a constant to all scores, so that none is below 0.")
]
CheckOption = Annotated[
    Path | None,
    typer.Option(
        "--check",
        metavar="FILE",
        help=f"Documents ({FORMATS}) to score: their features and our scores are written to OUT.check.csv, where "
        "OUT is the file of --out, to compare with the target's scores.",
    ),
]


@reads_data
def export(
    model: ModelArgument,
    to: TargetOption,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write.")],
    reading: ReadOptions,
    engine_version: VersionOption = None,
    name: NameOption = None,
    feature_names: NamesOption = None,
    no_missing: NoMissingFlag = False,
    non_negative: NonNegativeFlag = False,
    check: CheckOption = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Write a model for another library or a search engine.

    Example:

        rankwright export model.rw --to solr --out solr-model.json --check test.txt
    """
    _check_files(model, to, out, check)
    with file_of(model) as path:
        scorer = rw.load(path)
    rows = None if check is None else read_documents(check, reading, [scorer], n_jobs=jobs)
    names = None if feature_names is None else [name.strip() for name in feature_names.split(",")]
    options: dict[str, Any] = {"format": to, "version": engine_version, "name": name, "feature_names": names}
    options |= {"missing": not no_missing, "non_negative": non_negative, "check": rows, "n_jobs": jobs}
    written = rw.export(scorer, out, **options)
    if json:
        show_json(written.to_dict())
        return
    for remark in written.remarks:
        say(remark)
    note(written.summary)


def _check_files(model: Path, to: str, out: Path, check: Path | None) -> None:
    """Check what can be checked before the work."""
    if to not in TARGETS:
        raise InputError(f"--to must be one of {', '.join(TARGETS)}, not {to!r}.")
    checked_output(out, inputs=(model, check))
    if check is not None:
        checked_output(out.with_name(f"{out.name}.check.csv"), inputs=(model, check))
