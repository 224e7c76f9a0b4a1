import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest

from rankwright.base.errors import InputError
from rankwright.data.dataset import Documents, RankingData


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


def joblib_copy(value):
    file = io.BytesIO()
    joblib.dump(value, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize(
    "copied", [lambda data: pickle.loads(pickle.dumps(data)), copy.copy, copy.deepcopy, joblib_copy]
)
@pytest.mark.parametrize("kind", [Documents, RankingData])
def test_a_copy_is_equal_and_read_only(data, kind, copied):
    data = data if kind is RankingData else documents_of(data)
    assert len(data.groups) == 2  # computed before the copy is made
    twin = copied(data)
    assert type(twin) is kind
    assert repr(twin) == repr(data)
    for name, value in vars(data).items():
        if name != "groups":
            np.testing.assert_array_equal(getattr(twin, name), value)
            assert not isinstance(value, np.ndarray) or not getattr(twin, name).flags.writeable


def test_what_was_computed_from_the_documents_is_not_pickled(data):
    before = len(pickle.dumps(data))
    data.groups.query_of_row.sum()
    assert len(pickle.dumps(data)) == before


def documents_of(data):
    return Documents(data.X, data.qid, document_ids=data.document_ids, feature_names=data.feature_names)


def test_documents_need_no_labels(data):
    documents = documents_of(data)
    assert len(documents) == 4
    assert documents.n_features == 2
    assert repr(documents) == "Documents(4 documents, 2 queries, 2 features)"
    assert not hasattr(documents, "y")
    part = documents.take([3, 0])
    assert type(part) is Documents
    assert part.document_ids.tolist() == ["13", "10"]
    assert documents.take_queries([0]).X.tolist() == [[1, 2], [5, 6]]


def test_documents_with_labels_are_judged_data(data):
    judged = documents_of(data).with_labels(data.y)
    assert type(judged) is RankingData
    assert judged.X is data.X
    assert judged.y.tolist() == data.y.tolist()
    assert judged.document_ids.tolist() == data.document_ids.tolist()
    assert judged.feature_names == data.feature_names
    with pytest.raises(InputError, match=r"There are 4 documents but labels of shape \(1,\)\."):
        documents_of(data).with_labels([1])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_data_do_not_change_with_the_callers_arrays(dtype, order):
    X, y, qid = np.ones((2, 2), dtype, order), np.zeros(2), np.array([1, 1])
    data = RankingData(X, y, qid)
    for array in (X, y, qid):
        array[:] = 7
    assert data.X.tolist() == [[1, 1], [1, 1]]
    assert data.y.tolist() == [0, 0]
    assert data.qid.tolist() == [1, 1]


def test_a_frame_that_changes_does_not_change_the_data():
    frame = pd.DataFrame(np.ones((2, 2), dtype=np.float32), columns=["a", "b"])
    data = RankingData(frame, [0, 1], [1, 1])
    frame.iloc[:, :] = 7.0
    assert data.X.tolist() == [[1, 1], [1, 1]]


def test_a_read_only_view_of_a_writeable_array_is_copied():
    X = np.ones((2, 2), dtype=np.float32)
    view = X[:]
    view.flags.writeable = False
    data = Documents(view, [1, 1])
    X[:] = 7
    assert data.X.tolist() == [[1, 1], [1, 1]]


def test_a_buffer_that_can_be_written_to_is_copied():
    buffer = bytearray(np.ones(4, dtype=np.float32).tobytes())
    X = np.frombuffer(buffer, dtype=np.float32).reshape(2, 2)
    X.flags.writeable = False
    data = Documents(X, [1, 1])
    buffer[:] = bytes(16)
    assert data.X.tolist() == [[1, 1], [1, 1]]


def test_arrays_that_nobody_can_write_to_are_not_copied():
    X = np.ones((2, 2), dtype=np.float32)
    X.flags.writeable = False
    assert np.shares_memory(Documents(X[:1], [1]).X, X)


def test_arrays_are_used_as_they_are_on_request():
    X, y, qid = np.ones((2, 1), dtype=np.float32), np.array([1.0, 0.0]), np.array([1, 1])
    data = RankingData(X, y, qid, copy=False)
    for kept, given in ((data.X, X), (data.y, y), (data.qid, qid)):
        assert np.shares_memory(kept, given)
        assert not kept.flags.writeable
        assert given.flags.writeable


@pytest.mark.parametrize("rows", [3, [[1]], [0.5], ["a"]])
def test_rows_are_integers_or_a_mask(data, rows):
    with pytest.raises(InputError, match="Rows must be a list of integers or a mask"):
        data.take(rows)


def test_no_rows_can_be_taken(data):
    assert len(data.take([])) == 0


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


def test_documents_without_an_id_are_named_by_their_position_in_the_query():
    documents = Documents(np.zeros((5, 1)), ["b", "a", "b", "a", "b"])
    assert documents.document_names.tolist() == ["doc1", "doc1", "doc2", "doc2", "doc3"]
    some = Documents(np.zeros((3, 1)), [1, 1, 1], document_ids=["x", "", "y"])
    assert some.document_names.tolist() == ["x", "doc2", "y"]
    assert documents.repeated_rows() == some.repeated_rows() == []
