import datetime as dt
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.data.column_roles import Roles
from rankwright.data.dataset import Documents
from rankwright.data.readers.frames import from_arrow, from_pandas, from_polars
from rankwright.data.readers.parquet import read_parquet
from rankwright.data.splitting import concat
from rankwright.data.tables import NUMBERS, ColumnsWarning, documents_of

COLUMNS = {
    "qid": ["q2", "q1", "q2"],
    "label": [1, 0, 2],
    "bm25": [0.5, None, 1.5],
    "title": ["one", "two", "three"],
    "clicks": [7, 8, 9],
    "fresh": [True, False, True],
    "price": [Decimal("1.25"), None, Decimal(2)],
}


def as_pandas(columns, **choices):
    return from_pandas(pd.DataFrame(columns), **choices)


def as_polars(columns, **choices):
    return from_polars(pl.DataFrame(columns), **choices)


def as_arrow(columns, **choices):
    return from_arrow(pa.table(columns), **choices)


@pytest.fixture(params=[as_pandas, as_polars, as_arrow])
def take(request):
    return request.param


def test_takes_numeric_columns_as_features_in_their_order(take):
    data = take(COLUMNS, drop=["title"])
    assert data.feature_names == ("bm25", "clicks", "fresh", "price")
    np.testing.assert_array_equal(data.X, [[0.5, 7, 1, 1.25], [np.nan, 8, 0, np.nan], [1.5, 9, 1, 2]])
    assert data.y.tolist() == [1, 0, 2]
    assert data.qid.tolist() == ["q2", "q1", "q2"]
    assert data.document_ids is None


def test_takes_the_columns_asked_for(take):
    data = take(COLUMNS, label="clicks", qid="label", docid="title", features=["price", "bm25"])
    assert data.feature_names == ("price", "bm25")
    assert data.y.tolist() == [7, 8, 9]
    assert data.qid.tolist() == [1, 0, 2]
    assert data.document_ids.tolist() == ["one", "two", "three"]


@pytest.mark.parametrize("kind", ["int8", "uint64", "float16", "float32", "float64", "bool"])
def test_takes_numbers_of_any_width(take, kind):
    data = take({"qid": [1, 1], "label": [0, 1], "x": np.array([0, 1], dtype=kind)})
    assert data.X.tolist() == [[0], [1]]


def test_a_column_of_nothing_is_missing(take):
    assert np.isnan(take({"qid": [1], "label": [0], "x": [None]}).X).all()


@pytest.mark.parametrize(
    "data",
    [
        from_pandas(pd.DataFrame({"qid": pd.Categorical(["b", "a"]), "label": [0, 1], "x": [1, 2]})),
        from_polars(
            pl.DataFrame(
                {"qid": ["b", "a"], "label": [0, 1], "x": [1, 2]}, schema_overrides={"qid": pl.Categorical}
            )
        ),
        from_arrow(pa.table({"qid": pa.array(["b", "a"]).dictionary_encode(), "label": [0, 1], "x": [1, 2]})),
    ],
)
def test_query_ids_may_be_categories(data):
    assert data.qid.tolist() == ["b", "a"]


def test_pandas_nullable_numbers_and_numbered_columns():
    frame = pd.DataFrame({"qid": [1, 1], "label": [0, 1], 0: pd.array([1, None], dtype="Int64")})
    data = from_pandas(frame)
    assert data.feature_names == ("0",)
    np.testing.assert_array_equal(data.X, [[1], [np.nan]])


@pytest.mark.parametrize(
    ("changes", "choices", "sentence"),
    [
        (
            {},
            {"label": "lable"},
            "There is no column 'lable'; did you mean 'label'? If the documents have no labels, pass",
        ),
        ({}, {"qid": "zzz"}, "There is no column 'zzz'; the table has qid, label, bm25, title"),
        ({}, {"features": ["bm52"]}, "There is no column 'bm52'; did you mean 'bm25'?"),
        ({}, {"features": ["title"]}, "Column 'title' does not hold numbers."),
        ({}, {"label": "title"}, "Column 'title' does not hold numbers."),
        ({}, {"label": "qid"}, "Column 'qid' cannot hold both the label and an id."),
        (
            {},
            {"features": ["bm25", "label"]},
            "Column 'label' holds the label or an id; it cannot be a feature",
        ),
        ({}, {"features": []}, "The table has no feature columns."),
        ({"label": [1, None, 2]}, {}, "Row 1 has no value in column 'label'."),
        ({"label": [1.0, 0.0, float("nan")]}, {}, "Row 2 has no value in column 'label'."),
        ({"qid": ["a", "b", None]}, {}, "Row 2 has no value in column 'qid'."),
        ({"title": [None, "b", "c"]}, {"docid": "title"}, "Row 0 has no value in column 'title'."),
    ],
)
def test_other_tables_are_refused(take, changes, choices, sentence):
    with pytest.raises(InputError) as caught:
        take({**COLUMNS, **changes}, **choices)
    assert str(caught.value).startswith(sentence)


def test_a_table_without_rows_is_refused(take):
    with pytest.raises(InputError, match=r"The table has no rows."):
        take({"qid": np.zeros(0, int), "label": np.zeros(0), "x": np.zeros(0)})


def test_two_columns_of_a_name_are_refused():
    table = pa.table([[1], [0], [1.0], [2.0]], names=["qid", "label", "x", "x"])
    with pytest.raises(InputError, match=r"There are two columns 'x'."):
        from_arrow(table)


def test_reads_parquet(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(COLUMNS), path)
    assert read_parquet(path, features=["clicks"]).X.tolist() == [[7], [8], [9]]


def test_other_files_than_parquet_are_refused(tmp_path):
    path = tmp_path / "data.parquet"
    path.write_text("qid,label\n")
    with pytest.raises(InputError, match="is not a readable Parquet file"):
        read_parquet(path)


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    path = tmp_path / "data.parquet"
    path.touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(
        MissingPackageError, match=r"Parquet file needs pyarrow: pip install 'rankwright\[pyarrow\]'"
    ):
        read_parquet(path)


def test_documents_without_labels(take):
    without = {name: values for name, values in COLUMNS.items() if name != "label"}
    documents = take(without, label=None, docid="title")
    assert type(documents) is Documents
    assert documents.feature_names == ("bm25", "clicks", "fresh", "price")
    assert documents.document_ids.tolist() == ["one", "two", "three"]


def test_without_labels_a_label_column_is_no_feature_unless_it_is_named(take):
    assert take(COLUMNS, label=None, drop="title").feature_names == ("bm25", "clicks", "fresh", "price")
    assert take(COLUMNS, label=None, features=["label"]).X.tolist() == [[1], [0], [2]]


def test_parquet_without_labels(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"qid": [1, 1], "x": [0.5, 1.5]}), path)
    assert type(read_parquet(path, label=None)) is Documents
    with pytest.raises(InputError) as caught:
        read_parquet(path)
    expected = (
        "There is no column 'label'; the table has qid, x. If the documents have no labels, pass label=None."
    )
    assert str(caught.value) == f"{path}: {expected}"


def test_complex_numbers_of_a_frame_are_no_features():
    frame = pd.DataFrame({"qid": [1, 1], "label": [0, 1], "bm25": [0.5, 1.0], "wave": [1j, 2j]})
    with pytest.warns(ColumnsWarning, match=r"not used: wave \(complex numbers\)"):
        assert from_pandas(frame).feature_names == ("bm25",)
    with pytest.raises(InputError, match="Column 'wave' does not hold numbers"):
        from_pandas(frame, features=["wave"])


def test_a_column_in_another_case_is_suggested():
    frame = pd.DataFrame({"qid": [1, 1], "label": [0, 1], "BM25": [0.5, 1.0]})
    with pytest.raises(InputError, match="There is no column 'bm25'; did you mean 'BM25'"):
        from_pandas(frame, features=["bm25"])


def test_repeated_documents_are_named(take):
    columns = {"qid": [1, 1, 2, 1, 1], "label": [0] * 5, "docid": ["a", "b", "a", "b", "a"], "x": [0.5] * 5}
    with pytest.warns(
        UserWarning, match=r"^The same document of the same query in rows 1 and 3 \(b\), 0 and 4 \(a\),"
    ):
        assert take(columns).repeated_rows() == [(1, 3), (0, 4)]


class Offered:
    """A table that offers itself as an Arrow stream and nothing else, as a relation of DuckDB does."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("offered", [Offered, pa.Table.to_reader, lambda table: table.to_batches()[0]])
def test_takes_what_offers_itself_as_an_arrow_table(offered):
    data = from_arrow(offered(pa.table(COLUMNS)), drop=["title"])
    assert data.feature_names == ("bm25", "clicks", "fresh", "price")
    np.testing.assert_array_equal(data.X, as_arrow(COLUMNS, drop=["title"]).X)


def test_a_lazy_frame_is_collected_with_a_word():
    with pytest.warns(UserWarning, match="The LazyFrame is collected") as caught:
        data = from_polars(pl.LazyFrame(COLUMNS), drop=["title"])
    assert caught[0].filename == __file__
    assert data.X.shape == (3, 4)


@pytest.mark.parametrize("frame", [{"qid": [1], "label": [0], "x": [1]}, [[1, 2]], np.ones((2, 2)), None])
def test_what_is_no_table_is_refused(frame):
    with pytest.raises(InputError, match=rf"an Arrow table is needed, not {type(frame).__name__}"):
        from_pandas(frame)


DAYS = {
    "qid": [1, 1, 1],
    "label": [0, 1, 0],
    "x": [0.5, 0.1, 0.2],
    "day": [dt.date(1970, 1, 2), None, dt.date(2026, 3, 31)],
    "time": [dt.datetime(1970, 1, 1, 12), dt.datetime(1969, 12, 31), None],
    "zoned": [dt.datetime(1970, 1, 1, 12, tzinfo=dt.UTC)] * 3,
    "text": ["1970-01-03", None, "1970-01-01T06:00:00+00:00"],
}


def test_dates_are_features_if_they_are_asked_for(take):
    data = take(DAYS, dates=["day", "time", "zoned", "te*"])
    assert data.feature_names == ("x", "day", "time", "zoned", "text")
    expected = [[1, 0.5, 0.5, 2], [np.nan, -1, 0.5, np.nan], [20543, np.nan, 0.5, 0.25]]
    np.testing.assert_array_equal(data.X[:, 1:], expected)
    assert str(data.columns).endswith("; dates: day, time, zoned, text")
    assert take(DAYS, features=["x"], dates="day", drop=["day"]).feature_names == ("x",)
    with pytest.warns(ColumnsWarning, match=r"day \(dates\), time \(dates\), .* Name them in .*, dates or"):
        assert take(DAYS).feature_names == ("x",)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"features": ["day"]}, "Column 'day' does not hold numbers but dates; name it in dates."),
        ({"dates": ["x"]}, "'0.5' in column 'x' is not a date such as 2026-03-31 or 2026-03-31 12:30:00."),
        ({"dates": ["day"], "categorical": ["day"]}, "Column 'day' cannot hold both categories and dates."),
        ({"dates": ["label"]}, "Column 'label' holds the label or an id; it cannot be a feature too."),
    ],
)
def test_other_dates_are_refused(take, choices, sentence):
    with pytest.raises(InputError) as caught:
        take(DAYS, **choices)
    assert str(caught.value) == sentence


@pytest.fixture
def partitions(tmp_path):
    table = pa.table({**COLUMNS, "market": ["fr", "de", "de"], "year": [2025, 2026, 2026]})
    pq.write_to_dataset(table, tmp_path / "parts", partition_cols=["market", "year"])
    (tmp_path / "parts" / "_temporary.parquet").write_text("not read")
    return tmp_path / "parts"


@pytest.mark.parametrize("pattern", ["", "*/*/*.parquet", "**/*.parquet"])
def test_reads_partitioned_parquet(partitions, pattern):
    if pattern.startswith("**"):
        (partitions / "_temporary.parquet").unlink()
    data = read_parquet(partitions / pattern, drop="title", categorical="market", features=["clicks", "year"])
    assert data.feature_names == ("clicks", "year", "market=de", "market=fr")
    assert data.X.tolist() == [[8, 2026, 1, 0], [9, 2026, 1, 0], [7, 2025, 0, 1]]


def test_parts_with_other_columns_are_refused(partitions):
    pq.write_table(pa.table({"qid": [1], "extra": [2]}), partitions / "market=de" / "year=2026" / "z.parquet")
    with pytest.raises(InputError, match=r"z\.parquet and .* differ in the columns bm25, clicks, extra"):
        read_parquet(partitions)


@pytest.mark.parametrize("name", ["", "*.parquet"])
def test_a_folder_or_pattern_without_parquet_is_refused(tmp_path, name):
    with pytest.raises(InputError, match=r"(holds no file that ends with |There is no file .*\*)\.parquet\."):
        read_parquet(tmp_path / name)


class Name(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


class Ones:
    holds = NUMBERS

    def __init__(self, name):
        self.name = name

    def numbers(self):
        return np.ones(2)

    ids = numbers

    def require_complete(self):
        pass


@pytest.mark.parametrize("chosen", [False, True])
def test_the_work_grows_with_the_number_of_columns_and_not_with_its_square(chosen):
    n_columns = 3000
    features = [Name(f"f{number}") for number in range(n_columns)]
    columns = [Ones(name) for name in ("qid", "label", *features)]
    columns[0].ids = lambda: np.ones(2, int)
    Name.compared = 0
    data = documents_of(columns, Roles(features=list(map(str, features)) if chosen else None))
    assert data.n_features == n_columns
    assert Name.compared < 20 * n_columns


def test_an_integer_that_no_float_can_hold_is_refused():
    frame = pd.DataFrame({"qid": [1, 1], "label": [0, 1], "x": pd.Series([10**400, 1], dtype=object)})
    with pytest.raises(InputError, match=r"Column 'x' has an integer that no float can hold"):
        from_pandas(frame)


def test_columns_to_show_are_kept_as_text_and_change_no_feature(take):
    data = take(COLUMNS, show=["title", "clicks"])
    assert data.feature_names == ("bm25", "clicks", "fresh", "price")
    assert {name: texts.tolist() for name, texts in data.shown.items()} == {
        "title": ["one", "two", "three"],
        "clicks": ["7", "8", "9"],
    }
    assert data.columns.not_used == {"title": "shown"}
    assert data.columns.warning is None
    with pytest.raises(InputError, match="There is no column 'titel'; did you mean 'title'"):
        take(COLUMNS, show=["titel"])


def test_columns_to_show_stay_with_their_documents(take):
    data = take(COLUMNS, show=["title"])
    assert data.take([2, 0]).shown["title"].tolist() == ["three", "one"]
    joined = concat(data.take_queries([1]), data.take_queries([0]))
    assert dict(zip(joined.y, joined.shown["title"], strict=True)) == {1.0: "one", 0.0: "two", 2.0: "three"}


def test_documents_are_ordered_by_a_column(take):
    data = take(COLUMNS | {"position": [2, 1, None]}, show=["title", "position"], drop=["position"])
    assert np.argsort(-data.scores_by("position")).tolist() == [1, 0, 2], "missing is last"
    assert np.argsort(-data.scores_by("-position")).tolist() == [0, 1, 2]
    assert data.scores_by("-clicks").tolist() == [7, 8, 9], "a feature"
    with pytest.raises(InputError, match=r"^Column 'title' holds no numbers to order documents by, but text\.$"):
        data.scores_by("title")
    with pytest.raises(InputError, match="There is no column 'label'"):
        data.scores_by("label")
