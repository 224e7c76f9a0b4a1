"""`rankwright predict` and `rankwright rank`: scores and ranked lists."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from rankwright.cli.inputs import (
    JobsOption,
    PlainJsonFlag,
    checked_output,
)
from rankwright.cli.output import note, show_text
from rankwright.cli.reading import FORMATS, ReadOptions, read_documents, reads_data
from rankwright.data import Run, format_run
from rankwright.data.files import write_whole
from rankwright.models import load

ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file.")]
DataOption = Annotated[
    Path,
    typer.Option("--data", metavar="FILE", help=f"Documents to score, with or without labels ({FORMATS})."),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="File to write; by default standard output.")
]


@reads_data
def predict(
    model: ModelArgument,
    data: DataOption,
    reading: ReadOptions,
    out: OutOption = None,
    jobs: JobsOption = None,
    json: PlainJsonFlag = False,
) -> None:
    """Score documents: one score per line, in the order of the file.

    Example:

        rankwright predict model.rw --data test.txt --out scores.txt
    """
    _check(out, model, data)
    scorer = load(model)
    documents = read_documents(data, reading, [scorer], n_jobs=jobs)
    scores = scorer.predict(documents, n_jobs=jobs)
    text = _json({"scores": scores.tolist()}) if json else "".join(f"{score!r}\n" for score in scores.tolist())
    _write(text, out, f"{len(scores):,} scores")


@reads_data
def rank(
    model: ModelArgument,
    data: DataOption,
    reading: ReadOptions,
    out: OutOption = None,
    tag: Annotated[
        str, typer.Option("--tag", metavar="NAME", help="Name of the run, its last column.")
    ] = "rankwright",
    jobs: JobsOption = None,
    json: PlainJsonFlag = False,
) -> None:
    """Rank the documents of each query, best first, as a TREC run.

    Example:

        rankwright rank model.rw --data test.txt --out run.txt
    """
    _check(out, model, data)
    scorer = load(model)
    documents = read_documents(data, reading, [scorer], n_jobs=jobs)
    scores = scorer.predict(documents, n_jobs=jobs)
    run = Run.of(documents.qid, documents.document_names, scores, tag=tag)
    _write(_json(_lists(run)) if json else format_run(run), out, f"{len(scores):,} ranked documents")


def _lists(run: Run) -> dict[str, Any]:
    """Return each query's documents, best first."""
    ranking = run.ranking()
    offsets, order = ranking.groups.offsets, ranking.order
    queries: dict[str, list[dict[str, Any]]] = {}
    for query, name in enumerate(ranking.groups.ids.tolist()):
        rows = order[offsets[query] : offsets[query + 1]].tolist()
        queries[str(name)] = [{"document": run.document_ids[row], "score": run.scores[row]} for row in rows]
    return {"tag": run.tag, "queries": queries}


def _json(value: dict[str, Any]) -> str:
    return dumps(value, allow_nan=False) + "\n"


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
