"""`rankwright predict` and `rankwright rank`: scores and ranked lists."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwright.cli.inputs import FeaturesOption, ThreadsOption, checked_output, read_data_for
from rankwright.cli.output import note, show_text
from rankwright.data import Run, format_run
from rankwright.data.files import write_whole
from rankwright.models import load

ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")]
DataOption = Annotated[Path, typer.Option("--data", metavar="FILE", help="Documents (LETOR, .csv, .parquet).")]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Where to write; by default standard output.")
]


def predict(
    model: ModelArgument,
    data: DataOption,
    out: OutOption = None,
    features: FeaturesOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Write a score for each document, one a line, in the order of the file.

    Example:

        rankwright predict model.rw --data test.txt --out scores.txt
    """
    _check(out, model, data)
    scorer = load(model)
    documents = read_data_for([scorer], data, n_features=features, n_threads=threads)
    scores = scorer.predict(documents, n_threads=threads)
    _write("".join(f"{score!r}\n" for score in scores.tolist()), out, f"{len(scores):,} scores")


def rank(
    model: ModelArgument,
    data: DataOption,
    out: OutOption = None,
    tag: Annotated[
        str, typer.Option("--tag", metavar="NAME", help="The run's name in its last column.")
    ] = "rankwright",
    features: FeaturesOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Write each query's documents, best first, as a TREC run.

    Example:

        rankwright rank model.rw --data test.txt --out run.txt
    """
    _check(out, model, data)
    scorer = load(model)
    documents = read_data_for([scorer], data, n_features=features, n_threads=threads)
    scores = scorer.predict(documents, n_threads=threads)
    numbered = [f"row{row}" for row in range(1, len(documents) + 1)]
    run = Run.of(
        documents.qid, numbered if documents.document_ids is None else documents.document_ids, scores, tag=tag
    )
    _write(format_run(run), out, f"{len(scores):,} ranked documents")


def _check(out: Path | None, *inputs: Path) -> None:
    if out is not None:
        checked_output(out, inputs=inputs)


def _write(text: str, out: Path | None, what: str) -> None:
    if out is None:
        show_text(text)
        return
    with write_whole(out) as file:
        file.write(text.encode())
    note(f"wrote {what} to {out}")
