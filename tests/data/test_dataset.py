import numpy as np
import pandas as pd
import pytest

from rankwright.data import RankingData
from rankwright.errors import InputError


@pytest.fixture
def data():
    return RankingData(
        [[1, 2], [3, 4], [5, 6], [7, 8]],
        [0, 2, 1, 0.5],
        ["b", "a", "b", "a"],
        document_ids=[10, "eleven", 12, 13],
        feature_names=["bm25", "age"],
    )


def test_unpacks_as_features_labels_and_queries(data):
    X, y, qid = data
    assert (X.dtype, y.dtype) == (np.float32, np.float64)
    assert y.tolist() == [0, 2, 1, 0.5]
    assert qid.tolist() == ["b", "a", "b", "a"]
    assert data.document_ids.tolist() == ["10", "eleven", "12", "13"]
    assert data.feature_names == ("bm25", "age")


def test_says_its_size(data):
    assert len(data) == 4
    assert repr(data) == "RankingData(4 documents, 2 queries, 2 features)"


def test_cannot_be_written_to(data):
    for array in (data.X, data.y, data.qid, data.document_ids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


def test_the_callers_array_stays_writable():
    X = np.zeros((1, 1), dtype=np.float32)
    RankingData(X, [0], [1])
    assert X.flags.writeable


def test_takes_rows_in_the_order_asked(data):
    part = data.take([2, 0])
    assert part.X.tolist() == [[5, 6], [1, 2]]
    assert part.document_ids.tolist() == ["12", "10"]
    assert part.feature_names == data.feature_names


def test_takes_rows_by_mask(data):
    assert data.take(data.y > 0).y.tolist() == [2, 1, 0.5]


def test_takes_queries_with_rows_in_their_old_order(data):
    part = data.take_queries([1])
    assert part.qid.tolist() == ["a", "a"]
    assert part.y.tolist() == [2, 0.5]
    assert data.take_queries([1, 0]).y.tolist() == data.y.tolist()


def test_a_frame_brings_its_names():
    data = RankingData(pd.DataFrame({"bm25": [1.0], "age": [2]}), [1], [1])
    assert data.feature_names == ("bm25", "age")


def test_given_names_go_before_the_frames_own():
    data = RankingData(pd.DataFrame({"bm25": [1.0]}), [1], [1], feature_names=["match"])
    assert data.feature_names == ("match",)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"y": [1]}, r"There are 2 documents but labels of shape \(1,\)\."),
        ({"y": [[1], [2]]}, r"There are 2 documents but labels of shape \(2, 1\)\."),
        ({"y": ["good", "bad"]}, "Labels must be numbers."),
        ({"y": [0, np.nan]}, "The label of row 1 is nan; labels must be finite."),
        ({"y": [np.inf, 0]}, "The label of row 0 is inf; labels must be finite."),
        ({"qid": [1]}, "There are 2 documents but 1 query ids."),
        ({"document_ids": ["a"]}, "There are 2 documents but 1 document ids."),
        ({"feature_names": ["a"]}, "There are 2 features but 1 feature names."),
        ({"feature_names": ["a", "a"]}, "The feature name 'a' is given twice."),
    ],
)
def test_refuses_what_does_not_fit(changes, sentence):
    good = {"X": [[1, 2], [3, 4]], "y": [0, 1], "qid": [1, 1]}
    with pytest.raises(InputError, match=sentence):
        RankingData(**{**good, **changes})
