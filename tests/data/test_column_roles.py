"""Which columns of a table become features, and what is said about the others."""

import datetime as dt
import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rankwright.base.errors import InputError
from rankwright.data.readers.csv import read_csv
from rankwright.data.readers.frames import from_arrow, from_pandas, from_polars
from rankwright.data.tables import ColumnsWarning

MIXED = {
    "qid": [1, 1, 2],
    "label": [1, 0, 2],
    "docid": ["a", "b", "c"],
    "product_id": [901, 17, 455],
    "title": ["one", "two", "three"],
    "day": [dt.date(2024, 1, day) for day in (1, 2, 3)],
    "bm25_title": [0.5, 0.1, 0.7],
    "bm25_body": [1.5, 1.1, 1.7],
    "age": [3, 3, 9],
}

frames = pytest.mark.parametrize(
    "read",
    [
        lambda columns, **options: from_pandas(pd.DataFrame(columns), **options),
        lambda columns, **options: from_polars(pl.DataFrame(columns), **options),
        lambda columns, **options: from_arrow(pa.table(columns), **options),
    ],
    ids=["pandas", "polars", "arrow"],
)


@frames
def test_what_is_left_out_is_said(read):
    with pytest.warns(ColumnsWarning) as caught:
        data = read(MIXED)
    assert [str(one.message) for one in caught] == [
        "Columns that are not used: product_id (looks like an id), title (text), day (dates). "
        "Name them in features, categorical, dates or docid, or in drop."
    ]
    assert caught[0].filename == __file__
    assert data.feature_names == ("bm25_title", "bm25_body", "age")
    assert data.document_ids.tolist() == ["a", "b", "c"]
    assert str(data.columns) == (
        "features: 3 columns (bm25_title, bm25_body, age); "
        "not used: product_id (looks like an id), title (text), day (dates)"
    )
    assert (data.columns.label, data.columns.qid, data.columns.docid) == ("label", "qid", "docid")


@frames
@pytest.mark.parametrize(
    ("options", "features"),
    [
        ({"drop": ["product_id", "title", "day"]}, ("bm25_title", "bm25_body", "age")),
        ({"drop": ["*_id", "t*", "day"]}, ("bm25_title", "bm25_body", "age")),
        ({"features": ["age", "bm25_*"]}, ("age", "bm25_title", "bm25_body")),
        ({"features": "bm25_*"}, ("bm25_title", "bm25_body")),
        ({"features": ["bm25_*", "bm25_title"]}, ("bm25_title", "bm25_body")),
        ({"features": ["*"], "drop": ["title", "da?"]}, ("product_id", "bm25_title", "bm25_body", "age")),
        ({"features": ["product_id"]}, ("product_id",)),
        ({"features": ["docid", "age"], "docid": "title"}, None),
    ],
)
def test_what_the_caller_says_is_done_without_a_word(read, options, features):
    if features is None:
        with pytest.raises(InputError, match=r"^Column 'docid' does not hold numbers\.$"):
            read(MIXED, **options)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(MIXED, **options).feature_names == features


@frames
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"features": ["bm52_*"]}, "No column matches 'bm52_*'; the table has qid, label, docid"),
        ({"drop": ["titel"]}, "There is no column 'titel'; did you mean 'title'?"),
        ({"categorical": ["colour"]}, "There is no column 'colour'; the table has qid, label"),
        ({"categorical": ["label"]}, "Column 'label' holds the label or an id; it cannot be a feature too."),
        ({"features": ["age", 3]}, "Columns are named by strings, not 3."),
        ({"features": ["*"]}, "Column 'title' does not hold numbers."),
    ],
)
def test_columns_that_are_not_there(read, options, sentence):
    with pytest.raises(InputError) as caught:
        read(MIXED, **options)
    assert str(caught.value).startswith(sentence)


def test_a_long_list_of_columns_is_shortened():
    columns = {"qid": [1, 1], "label": [0, 1], **{f"f{number}": [1, 2] for number in range(30)}}
    data = from_pandas(pd.DataFrame(columns))
    assert str(data.columns) == "features: 30 columns (f0, f1, f2, f3, f4, f5, f6, f7 and 22 more)"


def test_names_in_messages_are_short_and_printable():
    columns = {"qid": [1, 1], "label": [0, 1], "a\n\x1b[31m": [1, 2], "x" * 99: [2, 3]}
    data = from_pandas(pd.DataFrame(columns))
    assert str(data.columns) == f"features: 2 columns (a\\n\\x1b[31m, {'x' * 57}...)"


@pytest.mark.parametrize(
    ("missing", "there", "sentence"),
    [
        (
            "qid",
            "query_id",
            "There is no column 'qid'; if it is 'query_id', pass it as qid.",
        ),
        ("qid", "Query", "There is no column 'qid'; if it is 'Query', pass it as qid."),
        ("qid", "QID", "There is no column 'qid'; if it is 'QID', pass it as qid."),
        (
            "label",
            "relevance",
            "There is no column 'label'; if it is 'relevance', pass it as label. If",
        ),
    ],
)
def test_usual_names_are_suggested_and_never_taken(missing, there, sentence):
    columns = {"qid": [1, 1], "label": [0, 1], "x": [1.0, 2.0]}
    columns[there] = columns.pop(missing)
    with pytest.raises(InputError) as caught:
        from_pandas(pd.DataFrame(columns))
    assert str(caught.value).startswith(sentence)


def test_csv_says_the_same(tmp_path):
    path = tmp_path / "mixed.csv"
    pd.DataFrame(MIXED).to_csv(path, index=False)
    with pytest.warns(ColumnsWarning, match=r"product_id \(looks like an id\), title \(text\), day \(text\)\."):
        data = read_csv(path)
    assert data.feature_names == ("bm25_title", "bm25_body", "age")
    assert data.document_ids.tolist() == ["a", "b", "c"]
    assert read_csv(path, features=["bm25_*"], label=None).columns.not_used["age"] == "not needed"
    with pytest.raises(InputError, match=r"mixed\.csv: No column matches 'x\*'"):
        read_csv(path, categorical=["x*"])


def test_the_use_of_columns_stays_with_the_documents():
    data = from_pandas(pd.DataFrame(MIXED), features=["age"])
    assert data.take([0, 2]).columns == data.columns
    unjudged = from_pandas(pd.DataFrame(MIXED), features=["age"], label=None)
    assert unjudged.with_labels([1, 2, 3]).columns == unjudged.columns
