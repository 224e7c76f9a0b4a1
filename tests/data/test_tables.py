import gzip
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankwright.data import from_arrow, from_pandas, from_polars, read_csv, read_parquet, tables
from rankwright.errors import InputError, MissingPackageError

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


@pytest.fixture(params=["pyarrow", "pandas", "polars"])
def csv_package(request, monkeypatch):
    """The only package for CSV that can be found."""
    hide(monkeypatch, {"pyarrow", "pandas", "polars"} - {request.param})


def hide(monkeypatch, packages):
    real = tables.import_module

    def import_module(name):
        if name.partition(".")[0] in packages:
            raise ModuleNotFoundError(name)
        return real(name)

    monkeypatch.setattr(tables, "import_module", import_module)


def test_takes_numeric_columns_as_features_in_their_order(take):
    data = take(COLUMNS)
    assert data.feature_names == ("bm25", "clicks", "fresh", "price")
    np.testing.assert_array_equal(data.X, [[0.5, 7, 1, 1.25], [np.nan, 8, 0, np.nan], [1.5, 9, 1, 2]])
    assert data.y.tolist() == [1, 0, 2]
    assert data.qid.tolist() == ["q2", "q1", "q2"]
    assert data.document_ids is None


def test_takes_the_columns_asked_for(take):
    data = take(COLUMNS, label="clicks", qid="label", document_id="title", features=["price", "bm25"])
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
        ({}, {"label": "lable"}, "There is no column 'lable'; did you mean 'label'?"),
        ({}, {"qid": "zzz"}, "There is no column 'zzz'; the table has qid, label, bm25, title"),
        ({}, {"features": ["bm52"]}, "There is no column 'bm52'; did you mean 'bm25'?"),
        ({}, {"features": ["title"]}, "Column 'title' does not hold numbers."),
        ({}, {"label": "title"}, "Column 'title' does not hold numbers."),
        (
            {},
            {"features": ["bm25", "label"]},
            "Column 'label' holds the label or an id; it cannot be a feature",
        ),
        ({}, {"features": []}, "The table has no feature columns."),
        ({"label": [1, None, 2]}, {}, "Row 1 has no value in column 'label'."),
        ({"label": [1.0, 0.0, float("nan")]}, {}, "Row 2 has no value in column 'label'."),
        ({"qid": ["a", "b", None]}, {}, "Row 2 has no value in column 'qid'."),
        ({"title": [None, "b", "c"]}, {"document_id": "title"}, "Row 0 has no value in column 'title'."),
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


CSV = "qid,label,bm25,title,id\n1,0,0.5,first,007\n1,2,,second,008\n2,1,NaN,,9\n"


@pytest.mark.usefixtures("csv_package")
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_reads_csv_alike_with_every_package(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(CSV.encode()) if name.endswith(".gz") else CSV.encode())
    data = read_csv(path, document_id="id")
    assert data.qid.tolist() == [1, 1, 2]
    assert data.y.tolist() == [0, 2, 1]
    assert data.feature_names == ("bm25",)
    np.testing.assert_array_equal(data.X, [[0.5], [np.nan], [np.nan]])
    assert data.document_ids.tolist() == ["007", "008", "9"]


@pytest.mark.usefixtures("csv_package")
def test_query_ids_of_csv_lose_no_leading_zero(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("qid,label,x\n007,0,1\n7,1,2\n")
    assert read_csv(path).qid.tolist() == ["007", "7"]


@pytest.mark.usefixtures("csv_package")
def test_a_column_that_turns_from_whole_to_real_late_is_still_numbers(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("qid,label,x\n" + "1,0,1\n" * 300_000 + "1,1,0.5\n")
    data = read_csv(path)
    assert (len(data), data.X[-1, 0]) == (300_001, 0.5)


@pytest.mark.usefixtures("csv_package")
@pytest.mark.parametrize("text", ["", "qid,label,x\n1,0,1\n1,0,2,3,4\n"], ids=["empty", "ragged"])
def test_other_files_than_csv_are_refused(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_csv(path)
    assert str(caught.value).startswith(f"{path} is not a readable CSV file: ")


@pytest.mark.parametrize(
    ("read", "sentence"),
    [
        (read_parquet, "Reading a Parquet file needs pyarrow: pip install 'rankwright\\[pyarrow\\]'."),
        (read_csv, "Reading a CSV file needs pyarrow: pip install 'rankwright\\[pyarrow\\]'."),
    ],
)
def test_a_missing_package_is_named(monkeypatch, read, sentence):
    hide(monkeypatch, {"pyarrow", "pandas", "polars"})
    with pytest.raises(MissingPackageError, match=sentence):
        read("data")
