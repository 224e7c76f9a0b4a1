"""Documents from pandas and polars data frames and Arrow tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, overload

from rankwright.data.column_roles import LABEL, QUERY, ColumnOptions, Roles
from rankwright.data.readers.arrow_streams import is_stream, stream_columns
from rankwright.data.readers.frame_columns import columns_of, library_of
from rankwright.data.tables import documents_of, warned

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import polars as pl

    from rankwright.data.dataset import Documents, RankingData

    Frame = pd.DataFrame | pl.DataFrame | Any  # or a pyarrow.Table


@overload
def from_frame(frame: Frame, *, label: str = ..., **options: Unpack[ColumnOptions]) -> RankingData: ...
@overload
def from_frame(frame: Frame, *, label: str | None, **options: Unpack[ColumnOptions]) -> Documents: ...
def from_frame(
    frame: Frame,
    *,
    label: str | None = LABEL,
    qid: str = QUERY,
    docid: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Sequence[str] = (),
    show: Sequence[str] = (),
) -> Documents:
    """Return the documents of a pandas or polars data frame, an Arrow table, or what offers itself as one.

    That is everything with `__arrow_c_stream__`, such as a relation of DuckDB, a table of Ibis or a data frame of
    Daft; this needs pyarrow. A stream is read batch by batch, so that the features are in memory only once. A
    LazyFrame is collected, and a warning says so.

    The attribute `columns` of the result says what each column was used for. By default every column that holds
    numbers is a feature, unless its name or its values say that it holds ids. If columns are left out by this
    rule, a warning names them, until they are named in `features`, `drop`, `categorical`, `dates` or `docid`.

    Parameters
    ----------
    frame
        One row per document; NaN, None and NA are missing values.
    label
        The column with the label of each document; no value may be missing. With None the documents have no
        labels, the result is `Documents`, and a column `label` is ignored.
    qid
        The column with the query id of each document: integers or strings; no value may be missing.
    docid
        The column with the id of each document; by default the column `docid`, if there is one.
    features
        The feature columns, by name or by shell-style patterns such as `bm25_*`.
    drop
        Columns that are no features, by name or pattern.
    categorical
        Feature columns with categories (text or numbers), by name or pattern, to be encoded: see `Category`.
    dates
        Feature columns with dates or times, by name or pattern, which become days since 1970-01-01. Text must be
        like 2026-03-31 or 2026-03-31 12:30:00 (ISO 8601); a time without a zone counts as UTC.
    show
        Columns to show beside documents and queries on pages and in tables of scores, such as `title`, by name or
        pattern. This alone makes no feature of them, and keeps those that are. They are the attribute `shown`.

    Examples
    --------
    >>> import pandas as pd, polars as pl, pyarrow as pa
    >>> columns = {"query": ["hats", "hats", "shoes"], "label": [1, 0, 2], "bm25": [3.1, 2.0, 1.4]}
    >>> rw.from_pandas(pd.DataFrame(columns), qid="query")
    RankingData(3 documents, 2 queries, 1 feature)
    >>> rw.from_polars(pl.DataFrame(columns), qid="query").feature_names
    ('bm25',)
    >>> rw.from_arrow(pa.table(columns), qid="query", label=None)
    Documents(3 documents, 2 queries, 1 feature)
    """
    roles = Roles(label, qid, docid, features, drop, categorical, dates, show)
    columns, filled = stream_columns(frame, roles) if is_stream(frame) else (columns_of(frame), None)
    documents = documents_of(columns, roles, filled)
    use = documents.columns and replace(documents.columns, library=library_of(frame))
    return warned(documents.with_columns(use, documents.shown))


# One function under the name by which users of each library look for it.
from_pandas = from_polars = from_arrow = from_frame
