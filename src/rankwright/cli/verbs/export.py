"""`rankwright export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.data_files import FORMATS, ReadOptions, file_of, read_documents
from rankwright.cli.options.declaring import argument, option
from rankwright.cli.options.faces import Face
from rankwright.cli.options.shared_options import JobsOption, JsonFlag, checked_output
from rankwright.cli.options.signatures import Given, Signature
from rankwright.cli.output.console import note, say, show

if TYPE_CHECKING:
    from rankwright.data.dataset import Documents

# The formats, each with what to compare our scores with. Written out, since help must not wait for numpy; a test
# compares them with the formats.
TARGETS = {
    "lightgbm": "Booster(model_file=...).predict(X, raw_score=True)",
    "xgboost": "Booster(model_file=...).predict(DMatrix(X), output_margin=True)",
    "ranklib": "what -load MODEL -rank DATA -score FILE writes",
    "elasticsearch": "_score of a learning_to_rank rescorer, to which Elasticsearch adds a constant",
    "elasticsearch-ltr": "_score of an sltr query with this model",
    "opensearch-ltr": "_score of an sltr query with this model",
    "solr": "the scores of a query with rq={!ltr model=NAME reRankDocs=N}",
    "vespa": "the relevance by a rank profile with this expression",
    "onnx": "the output score of a session whose input is the features of one query",
    "c": "NAME_score of every row, or NAME_score_query of every query",
}

FACES = {
    "format": Face("FORMAT", "--to", words=f"Format to write: {', '.join(TARGETS)}."),
    "version": Face("VERSION", "--engine-version"),
    "name": Face("NAME"),
    "missing": Face(words="No value is ever missing, so it does not matter how they are treated."),
}


def export(
    model: Annotated[Path, argument("Model file of rankwright, LightGBM, XGBoost, CatBoost or RankLib.", "MODEL")],
    out: Annotated[Path, option("File to write.", "FILE")],
    how: Annotated[Given, Signature("export", faces=FACES)],
    reading: ReadOptions,
    check: Annotated[
        Path | None,
        option(
            f"Documents ({FORMATS}) to score: their features and our scores are written to OUT.check.csv, where "
            "OUT is the file of --out, to compare with the target's scores.",
            "FILE",
        ),
    ] = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Write a model for another library or a search engine.

    Example:

        rankwright export model.rw --to solr --out solr-model.json --check test.txt
    """
    to, names = how["format"], how["feature_names"]
    sheet = _checked(model, to, out, check)
    with file_of(model) as path:
        scorer = rw.load(path)
    rows = None if check is None else read_documents(check, reading, [scorer], n_jobs=jobs)
    remarks = rw.export(scorer, out, **how)
    if rows is not None and sheet is not None:
        _write_sheet(scorer, rows, sheet, names, jobs)
    if json:
        checked = None if sheet is None else str(sheet)
        show({"format": to, "file": str(out), "check": checked, "remarks": remarks}, json=True)
        return
    for remark in remarks:
        say(remark)
    note(f"wrote {out}{'' if sheet is None else f' and {sheet}: compare its scores with {TARGETS[to]}'}")


def _checked(model: Path, to: str, out: Path, check: Path | None) -> Path | None:
    """Return the file of rows and scores, if any, after checking what can be checked before the work."""
    if to not in TARGETS:
        raise InputError(f"--to must be one of {', '.join(TARGETS)}, not {to!r}.")
    checked_output(out, inputs=(model, check))
    if check is None:
        return None
    return checked_output(out.with_name(f"{out.name}.check.csv"), inputs=(model, check))


def _write_sheet(
    scorer: rw.Scorer, rows: Documents, path: Path, names: list[str] | None, jobs: int | None
) -> None:
    """Write one row per document: query, document, features by name, and our score."""
    import numpy as np

    from rankwright.data.alignment import aligned
    from rankwright.data.table_writers import write_table

    documents = aligned(rows, scorer)
    default = [f"feature{number}" for number in range(1, scorer.n_features + 1)]
    columns: dict[str, Any] = {"qid": documents.qid, "docid": np.asarray(documents.document_names)}
    for column, name in enumerate(names or scorer.feature_names or default):
        columns[name] = documents.X[:, column]
    write_table(columns | {"score": scorer.predict(documents, n_jobs=jobs)}, path)
