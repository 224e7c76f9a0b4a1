"""Scores of the rows of a Spark data frame."""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.data.categories import source_columns
from rankwright.interop.loading import load
from rankwright.models.model_file import save
from rankwright.models.scorer import scorer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def score(frame: Any, model: Any, *, qid: str | None = None, column: str = "score") -> Any:
    """Return a Spark data frame with one more column: the score of each row, as `model.predict` gives it.

    The rows are scored where they are, in batches of Arrow (`mapInArrow`). A model that scores documents relative
    to their query needs the column of query ids, by which Spark then brings the rows of a query together. Needs
    Spark 4 with pyarrow, and rankwright on every executor.

    Parameters
    ----------
    frame
        The data frame; it has the columns that the model was trained on.
    model
        A model with feature names, or a fitted ranker.
    qid
        The column of query ids; only models that score documents relative to their query need it.
    column
        The name of the new column.

    Examples
    --------
    >>> scored = rw.spark.score(spark.read.parquet("today"), rw.load("model.rw"))  # doctest: +SKIP
    >>> scored.write.parquet("today-scored")  # doctest: +SKIP
    """
    scorer = scorer_of(model)
    if scorer is None or scorer.feature_names is None:
        raise InputError("Spark's columns are found by name: give a model of rankwright that has feature names.")
    if column in frame.columns:
        raise InputError(f"The data frame has a column {column!r} already; give another name for the scores.")
    needed = source_columns(scorer.feature_names, scorer.categories)
    absent = [name for name in (*needed, *([] if qid is None else [qid])) if name not in frame.columns]
    if absent:
        raise InputError(f"The data frame has no column {absent[0]!r}, which scoring needs.")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.rw"
        save(scorer, path)
        data = path.read_bytes()
    schema = _with_scores(frame.schema, column)
    if not scorer.needs_queries:
        return frame.mapInArrow(_scoring(data, needed, column), schema)
    if qid is None:
        raise InputError("The model scores documents relative to their query: name the column of query ids, qid.")
    return frame.groupBy(qid).applyInArrow(_scoring_query(data, needed, column), schema)


def _with_scores(schema: Any, column: str) -> Any:
    from pyspark.sql.types import DoubleType, StructField, StructType

    return StructType([*schema.fields, StructField(column, DoubleType(), nullable=False)])


def _scoring(data: bytes, needed: list[str], column: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that scores the batches of a partition."""

    def score_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        score_table = _scorer_of_tables(data, needed, column, None)
        for batch in batches:
            yield from score_table(pa.Table.from_batches([batch])).to_batches()

    return score_batches


def _scoring_query(data: bytes, needed: list[str], column: str) -> Callable[[Any], Any]:
    """Return the function that scores the rows of one query."""

    def score_query(table: Any) -> Any:
        return _scorer_of_tables(data, needed, column, 0)(table)

    return score_query


_LOADED: dict[bytes, Any] = {}  # the model that this process scores with


def _scorer_of_tables(data: bytes, needed: list[str], column: str, qid: int | None) -> Callable[[Any], Any]:
    scorer = _LOADED.get(data)
    if scorer is None:
        with NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            scorer = load(file.name)
        _LOADED.clear()
        _LOADED[data] = scorer

    def score_table(table: Any) -> Any:
        import pyarrow as pa

        scores = scorer.predict(table.select(needed), qid, n_jobs=1) if len(table) else []
        return table.append_column(column, pa.array(scores, pa.float64()))

    return score_table
