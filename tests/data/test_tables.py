import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.data.dataset import Documents
from rankwright.data.readers.frames import from_arrow, from_pandas, from_polars
from rankwright.data.readers.parquet import read_parquet
from rankwright.data.splitting import concat
from rankwright.data.tables import ColumnsWarning

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
    with pytest.raises(InputError, match="Column 'title' holds no numbers to order documents by"):
        data.scores_by("title")
    with pytest.raises(InputError, match="There is no column 'label'"):
        data.scores_by("label")
