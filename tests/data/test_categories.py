"""Categories as numbers: when a table is read, when it is read again with other values, and by a model."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright.base.errors import InputError
from rankwright.data.alignment import aligned
from rankwright.data.categories import Category, checked_categories, source_columns
from rankwright.data.dataset import Documents
from rankwright.data.readers.csv import read_csv
from rankwright.data.readers.frames import from_arrow, from_pandas, from_polars

texts = st.lists(st.none() | st.sampled_from([f"v{number}" for number in range(14)]), max_size=40)


def test_few_values_are_one_hot_and_the_most_frequent_comes_first():
    category = Category.of("colour", ["red", None, "blue", "red", "amber"])
    assert category == Category("colour", ("red", "amber", "blue"), one_hot=True)
    assert category.columns == ("colour=red", "colour=amber", "colour=blue")
    codes = category.codes(["blue", None, "green", "red"])
    assert codes.tolist() == [2, -1, -1, 0]
    assert category.encoded(codes).tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0], [1, 0, 0]]


def test_many_values_are_numbered():
    values = [f"v{number:02}" for number in range(11)]
    category = Category.of("brand", [*values, "v10"])
    assert category.values == ("v10", *values[:10])
    assert (category.one_hot, category.columns) == (False, ("brand",))
    encoded = category.encoded(category.codes(["v10", "v00", None, "new"]))
    np.testing.assert_array_equal(encoded, [[0], [1], [np.nan], [np.nan]])


def test_a_column_without_values_is_missing():
    category = Category.of("brand", [None, None])
    assert category.columns == ("brand",)
    assert np.isnan(category.encoded(category.codes([None, "a"]))).all()


@examples(100)
@given(texts)
def test_codes_come_back(column):
    category = Category.of("c", column)
    codes = category.codes(column)
    assert category.decoded(category.encoded(codes)).tolist() == codes.tolist()
    assert [None if code < 0 else category.values[code] for code in codes] == column


@pytest.mark.filterwarnings("ignore:The model was not trained on these values")
@examples(100)
@given(texts, texts)
def test_encoded_documents_are_recoded_as_their_text_would_be(column, other):
    mine, theirs = Category.of("c", column), Category.of("c", other)
    data = Documents(
        mine.encoded(mine.codes(column)), np.zeros(len(column), int), feature_names=mine.columns, categories=[mine]
    )
    model = Documents(
        np.zeros((0, len(theirs.columns))), np.zeros(0, int), feature_names=theirs.columns, categories=[theirs]
    )
    np.testing.assert_array_equal(aligned(data, model).X, theirs.encoded(theirs.codes(column)))


def test_documents_with_any_numbers_in_their_columns_are_recoded():
    category = Category("c", ("a", "b"), one_hot=False)
    data = Documents([[7], [-1], [np.nan], [1]], [1] * 4, feature_names=["c"], categories=[category])
    other = Documents([[0]], [1], feature_names=["c"], categories=[Category("c", ("b",), one_hot=False)])
    np.testing.assert_array_equal(aligned(data, other).X, [[np.nan], [np.nan], [np.nan], [0]])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((3, ("a",), True), "must have a name"),
        (("c", "ab", True), "must have a name"),
        (("c", ("a", 3), True), "must have a name"),
        (("c", ("a",), 1), "must have a name"),
        (("c", ("a", "a"), True), "different values"),
        (("c", (), True), "has no values"),
    ],
)
def test_wrong_categories(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        Category(*arguments)


def test_texts_and_ids_are_not_categories():
    with pytest.raises(
        InputError, match=r"'url' cannot be categorical: it has 65,537 values of up to 5 characters"
    ):
        Category.of("url", [str(number) for number in range(65_537)])
    with pytest.raises(InputError, match=r"1 values of up to 1,001 characters; at most 65,536 of 1,000"):
        Category.of("body", ["x" * 1001])


def test_categories_belong_to_features():
    one_hot, numbered = Category("c", ("a", "b"), one_hot=True), Category("d", ("a",), one_hot=False)
    names = ("c=a", "x", "c=b", "d")
    assert checked_categories([one_hot, numbered], names) == (one_hot, numbered)
    assert source_columns(names, [one_hot, numbered]) == ["c", "x", "d"]
    for wrong in ([one_hot, one_hot], [Category("e", ("a",), one_hot=False)], ["c"], [one_hot, one_hot.name]):
        with pytest.raises(InputError, match=r"categor(y|ies)"):
            checked_categories(wrong, names)
    clash = Category("c=a", ("z",), one_hot=False)
    with pytest.raises(InputError, match="lacks its feature 'c=a'"):
        checked_categories([one_hot, clash], names)
    with pytest.raises(InputError, match="lacks its feature"):
        Documents([[1.0]], [1], categories=[numbered])


COLUMNS = {
    "qid": [1, 1, 2, 2],
    "label": [1, 0, 2, 0],
    "colour": ["red", None, "blue", "red"],
    "x": [1.0, 2.0, 3.0, 4.0],
    "size": [3, 7, 3, 3],
}
EXPECTED = [[1, 0, 1, 1, 0], [0, 0, 2, 0, 1], [0, 1, 3, 1, 0], [1, 0, 4, 1, 0]]


def from_csv(columns, tmp_path, **options):
    pd.DataFrame(columns).to_csv(tmp_path / "table.csv", index=False)
    return read_csv(tmp_path / "table.csv", **options)


@pytest.mark.parametrize("kind", ["pandas", "category", "floats", "polars", "arrow", "csv"])
def test_tables_with_categories(kind, tmp_path):
    readers = {
        "pandas": lambda: from_pandas(pd.DataFrame(COLUMNS), categorical=["colour", "size"]),
        "category": lambda: from_pandas(
            pd.DataFrame(COLUMNS).astype({"colour": "category"}), categorical=["colour", "size"]
        ),
        "floats": lambda: from_pandas(
            pd.DataFrame(COLUMNS).astype({"size": float}), categorical=["colour", "size"]
        ),
        "polars": lambda: from_polars(pl.DataFrame(COLUMNS), categorical=["col*", "size"]),
        "arrow": lambda: from_arrow(pa.table(COLUMNS), categorical=["colour", "s*"]),
        "csv": lambda: from_csv(COLUMNS, tmp_path, categorical=["colour", "s*"]),
    }
    data = readers[kind]()
    assert data.feature_names == ("colour=red", "colour=blue", "x", "size=3", "size=7")
    assert data.X.tolist() == EXPECTED
    assert data.categories == (
        Category("colour", ("red", "blue"), one_hot=True),
        Category("size", ("3", "7"), one_hot=True),
    )
    assert str(data.columns) == "features: 3 columns (colour, x, size); categorical: colour, size"
    assert data.take([1]).with_labels([2]).categories == data.categories


def test_categorical_columns_are_features_whether_listed_or_not():
    frame = pd.DataFrame(COLUMNS)
    listed = from_pandas(frame, features=["colour", "x"], categorical=["colour"])
    assert listed.feature_names == ("colour=red", "colour=blue", "x")
    added = from_pandas(frame, features=["x"], categorical=["colour"])
    assert added.feature_names == ("x", "colour=red", "colour=blue")


@pytest.mark.parametrize("word", ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", " NA "])
def test_missing_words_of_csv_are_missing_categories_and_numbers(tmp_path, word):
    (tmp_path / "t.csv").write_text(f"qid,label,colour,x\n1,0,red,{word}\n1,1,{word},2\n")
    data = read_csv(tmp_path / "t.csv", categorical=["colour"])
    np.testing.assert_array_equal(data.X, [[1, np.nan], [0, 2]])
