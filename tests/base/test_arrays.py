import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from rankwright.base.arrays import checked_features, checked_numbers, feature_names_of
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.evaluation.evaluate import evaluate


def test_rows_that_lie_askew_in_memory_are_copied():
    askew = np.frombuffer(b"x" + np.ones(6, np.float32).tobytes(), np.uint8)[1:].view(np.float32).reshape(3, 2)
    assert not askew.flags.aligned
    assert checked_features(askew).flags.aligned


def test_float32_rows_are_not_copied():
    X = np.ones((3, 2), dtype=np.float32)
    assert np.shares_memory(checked_features(X), X)


@pytest.mark.parametrize(
    "X",
    [
        [[1, 0], [0, 2]],
        np.asfortranarray([[1.0, 0.0], [0.0, 2.0]]),
        np.array([[1, 0], [0, 2]], dtype=object),
        sp.csr_matrix([[1, 0], [0, 2]]),
        sp.coo_array([[1.0, 0.0], [0.0, 2.0]]),
        pd.DataFrame({"a": [1, 0], "b": [0.0, 2.0]}),
        pl.DataFrame({"a": [1, 0], "b": [0.0, 2.0]}),
        pa.table({"a": [1, 0], "b": [0.0, 2.0]}),
    ],
    ids=lambda X: type(X).__name__,
)
def test_any_matrix_becomes_float32_rows(X):
    features = checked_features(X)
    assert features.dtype == np.float32
    assert features.flags.c_contiguous
    assert features.tolist() == [[1, 0], [0, 2]]


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, np.nan]],
        [[1.0, None]],
        pd.DataFrame({"a": pd.array([1], dtype="Int64"), "b": pd.array([None], dtype="Int64")}),
        pl.DataFrame({"a": [1], "b": [None]}, schema={"a": pl.Int64, "b": pl.Int64}),
    ],
    ids=lambda X: type(X).__name__,
)
def test_what_is_missing_becomes_nan(X):
    np.testing.assert_array_equal(checked_features(X), [[1.0, np.nan]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("kind", [np.ma.array, list, tuple])
def test_masked_values_are_missing(kind, dtype):
    X = np.ma.array(np.array([[1, 2], [3, 4]], dtype=dtype), mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(checked_features(kind(X)), [[1, np.nan], [3, 4]])


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([1.0, 2.0], r"Features must form a matrix, one row per document, not shape \(2,\)\."),
        ([[1.0, 2j]], "Features must be real numbers, not complex128."),
        (sp.csr_array([[0, 2j]]), "Features must be real numbers, not complex128."),
        (pd.DataFrame({"a": [1.0], "b": [2j]}), "Features must be real numbers, not complex128."),
        (np.ma.array([[2j]]), "Features must be real numbers, not complex128."),
        (np.array([[1]], dtype="m8[s]"), r"Features must be real numbers, not timedelta64\[s\]."),
        ([[0, 1], [0, 10**400]], "Feature 1 of row 1 is infinite or too large for a 32-bit float."),
        (
            pd.DataFrame({"a": [0, -(10**400)]}, dtype=object),
            "Feature 0 of row 1 is infinite or too large for a 32-bit float.",
        ),
        ([["one", "two"]], "Features must be numbers."),
        ([[1.0], [1.0, 2.0]], "Features must be numbers."),
        ([[0.0, 1.0], [np.inf, 0.0]], "Feature 0 of row 1 is infinite or too large for a 32-bit float."),
        ([[0.0, 1e39]], "Feature 1 of row 0 is infinite or too large"),
        (sp.csr_array([[0.0, 1e39]]), "Feature 1 of row 0 is infinite or too large"),
        (pd.DataFrame({"a": [1e39]}), "Column 'a' of row 0 is infinite or too large"),
    ],
)
def test_other_features_are_refused(X, sentence):
    with pytest.raises(InputError, match=sentence):
        checked_features(X)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_names_come_from_the_columns(library):
    assert feature_names_of(library({"bm25": [1], "age": [2]})) == ("bm25", "age")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_that_is_no_feature_is_named(library):
    with pytest.raises(
        InputError, match=r"^Features must be numbers, and column 'title' is not; from_pandas leaves"
    ):
        checked_features(library({"bm25": [1.0], "title": ["x"]}))
    with pytest.raises(InputError, match=r"^Features must be numbers\.$"):
        checked_features(pd.DataFrame({0: ["x"]}))


def test_an_array_has_no_names():
    assert feature_names_of(np.ones((2, 2))) is None


MASKED = np.ma.array([1, 2, 3], mask=[False, False, True])


def test_a_contiguous_column_of_doubles_is_passed_on():
    column = np.arange(3.0)
    assert checked_numbers(column, "scores") is column


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (["high"], "Labels must be numbers."),
        ([[1], [1, 2]], "Labels must be numbers."),
        (np.array([1, {}], dtype=object), "Labels must be numbers."),
        ([1 + 2j], "Labels must be real numbers, not complex128."),
        (np.array([1j, 2], dtype=object), "Labels must be numbers."),
        (np.array(["2020-01-01"], dtype="M8[D]"), r"Labels must be real numbers, not datetime64\[D\]."),
        ([0, 10**400], "Labels must be numbers that a 64-bit float can hold, up to about 1.8e308."),
        (MASKED, "Labels must not be masked, but row 2 is; fill in or remove masked values."),
    ],
)
def test_other_values_are_refused(values, sentence):
    with pytest.raises(InputError, match=f"^{sentence}$"):
        checked_numbers(values, "Labels")


def test_a_masked_array_that_masks_nothing_is_an_array():
    assert checked_numbers(np.ma.array([1, 2]), "Labels").tolist() == [1, 2]


def test_masked_labels_query_ids_and_scores_are_refused():
    X, y, qid = np.eye(3), [0, 1, 2], [1, 1, 1]
    with pytest.raises(InputError, match="Labels must not be masked, but row 2 is"):
        RankingData(X, MASKED, qid)
    with pytest.raises(InputError, match="qid must not be masked, but row 2 is"):
        RankingData(X, y, MASKED)
    with pytest.raises(InputError, match="scores must not be masked, but row 2 is"):
        Ranking.of(MASKED, QueryGroups.of(qid))
    with pytest.raises(InputError, match="scores must not be masked, but row 2 is"):
        evaluate({"system": MASKED}, RankingData(X, y, qid))
