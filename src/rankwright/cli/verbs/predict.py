"""`rankwright predict`, `rank` and `drift`: scores, ranked lists, and whether documents are as in training."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import brief_list, counted
from rankwright.cli.options.data_files import (
    FORMATS,
    ReadOptions,
    read_documents,
    read_documents_with_labels,
    streamed,
)
from rankwright.cli.options.option_groups import REQUIRED, argument, option
from rankwright.cli.options.shared_options import JOBS, JSON, PLAIN_JSON, checked_output
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import note, show, show_text, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import Documents
    from rankwright.data.readers.trec import Run
    from rankwright.models.scorer import Scorer

MODEL = argument("Model file.", "MODEL", default=REQUIRED)
SCORED_DATA = option(f"Documents to score, with or without labels ({FORMATS}).", "FILE", default=REQUIRED)

DRIFT_DATA = option(f"Documents to compare, with or without labels ({FORMATS}).", "FILE", default=REQUIRED)


def predict(
    *,
    model: Path = MODEL,
    data: Path = SCORED_DATA,
    reading: ReadOptions,
    out: Path | None = option(
        "File to write; by default standard output. A name that ends with .csv, .tsv or .parquet gives a "
        "table with qid, docid, score, rank and, if the documents have labels, label.",
        "FILE",
    ),
    how: Given = options_of("scores_frame", without=("init_score", "library")),
    json: bool = option("Print the columns of the table as JSON.", default=False),
) -> None:
    """Score documents: one score per line, in the order of the file, or a table.

    Example:

        rankwright predict model.rw --data test.parquet --out scores.csv
    """
    from rankwright.data.writers import format_table, is_table_name, write_table
    from rankwright.models.score_table import score_columns

    out = _checked(out, model, data)
    named_table = out is not None and is_table_name(out)
    if json and named_table:
        raise InputError(f"--json writes JSON, and {out} names a table; leave out --json or give another name.")
    scorer = rw.load(model)
    n_jobs = how["n_jobs"]
    if not (how["contributions"] or named_table or json):
        _, values = _scored(scorer, data, reading, n_jobs)
        scores = values.tolist()
        _write("".join(f"{score!r}\n" for score in scores), out, f"{len(scores):,} scores")
        return
    documents = read_documents_with_labels(data, reading, [scorer], n_jobs=n_jobs)
    columns = score_columns(scorer, documents, **how)
    what = f"{len(documents):,} scores"
    if out is not None and named_table:
        write_table(columns, out)
        note(f"wrote {what} to {out}")
    else:
        lists = {name: column.tolist() for name, column in columns.items()}
        _write(_json(lists) if json else format_table(columns), out, what)


def rank(
    *,
    model: Path = MODEL,
    data: Path = SCORED_DATA,
    reading: ReadOptions,
    out: Path | None = option("File to write; by default standard output.", "FILE"),
    tag: str = option("Name of the run, its last column.", "NAME", default="rankwright"),
    jobs: int | None = JOBS,
    json: bool = PLAIN_JSON,
) -> None:
    """Rank the documents of each query, best first, as a TREC run.

    Example:

        rankwright rank model.rw --data test.txt --out run.txt
    """
    from rankwright.data.readers.trec import Run, format_run
    from rankwright.data.writers import is_table_name

    out = _checked(out, model, data)
    if out is not None and is_table_name(out):
        raise InputError(f"rank writes no tables, as {out} would be; `predict` does, with the ranks.")
    if reading.show is not None and not json:
        raise InputError("A TREC run has no columns for --show; add --json, or write a table with `predict`.")
    scorer = rw.load(model)
    documents, scores = _scored(scorer, data, reading, jobs)
    run = Run.of(documents.qid, documents.document_names, scores, tag=tag)
    text = _json(run_lists(run, documents.shown)) if json else format_run(run)
    _write(text, out, f"{len(scores):,} ranked documents")
    _note_missing_ids(documents)


def drift(*, model: Path = MODEL, data: Path = DRIFT_DATA, reading: ReadOptions, json: bool = JSON) -> None:
    """Compare the features of documents with those that a model was trained on.

    Example:

        rankwright drift model.rw --data today.parquet
    """
    scorer = rw.load(model)
    show(rw.drift(scorer, read_documents(data, reading, [scorer])), json=json)


def _scored(scorer: Scorer, data: Path, reading: ReadOptions, n_jobs: int | None) -> tuple[Documents, Doubles]:
    """Return documents and their scores; documents larger than memory come without their features."""
    files = streamed(data, reading, [scorer], judged=False)
    if files is not None:
        return files.scored(scorer, n_jobs=n_jobs)
    documents = read_documents(data, reading, [scorer], n_jobs=n_jobs)
    return documents, scorer.predict(documents, n_jobs=n_jobs)


def _note_missing_ids(documents: Documents) -> None:
    """Say how many documents were named by their position within the query, and what could name them."""
    from rankwright.data.id_columns import looks_like_id

    ids = documents.document_ids
    n_missing = len(documents) if ids is None else int((ids == "").sum())
    if n_missing:
        columns = {} if documents.columns is None or ids is not None else documents.columns.not_used
        candidates = brief_list(filter(looks_like_id, columns))
        hint = f"; --docid names a column of ids, perhaps {candidates}" if candidates else ""
        without = f"{counted(n_missing, 'document')} without an id"
        note(f"{without}, named by the position within the query: doc1, doc2 ...{hint}")


def run_lists(run: Run, shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return each query's documents, best first, with the columns to show."""
    ranking = run.ranking()
    offsets, order = ranking.groups.offsets, ranking.order
    queries: dict[str, list[dict[str, Any]]] = {}
    for query, name in enumerate(ranking.groups.ids.tolist()):
        rows = order[offsets[query] : offsets[query + 1]].tolist()
        queries[str(name)] = [
            {"document": run.document_ids[row], "score": run.scores[row]}
            | {column: texts[row] for column, texts in shown.items()}
            for row in rows
        ]
    return {"tag": run.tag, "queries": queries}


def _json(value: dict[str, Any]) -> str:
    return dumps(value, allow_nan=False) + "\n"


def _checked(out: Path | None, *inputs: Path) -> Path | None:
    """Return the file to write after checking it; None for standard output, which `-` names too."""
    if out is None or str(out) == "-":
        return None
    return checked_output(out, inputs=inputs)


def _write(text: str, out: Path | None, what: str) -> None:
    if out is None:
        show_text(text)
        return
    write_text(text, out)
    note(f"wrote {what} to {out}")
