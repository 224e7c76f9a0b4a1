import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.clicks.log import ClickLog

ROW = st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 4), st.integers(1, 4), st.integers(0, 2))


def log_of(rows):
    session, query, document, position, clicked = (list(column) for column in zip(*rows, strict=True))
    return ClickLog(session, query, document, position, clicked)


@given(st.lists(ROW, min_size=1, max_size=30))
def test_rows_are_kept_list_by_list_and_by_position(rows):
    log = log_of(rows)
    lists = dict.fromkeys((session, query) for session, query, *_ in rows)
    number = {name: place for place, name in enumerate(lists)}
    expected = sorted(rows, key=lambda row: (number[row[:2]], row[3]))
    columns = log.columns()
    names = ("session", "query", "document", "position", "clicked")
    assert list(zip(*(columns[name].tolist() for name in names), strict=True)) == expected
    assert log.n_lists == len(lists)
    assert log.list_of_impression.tolist() == [number[row[:2]] for row in expected]


@given(st.lists(ROW, min_size=1, max_size=30))
def test_last_clicks_are_those_before_in_the_same_list(rows):
    log = log_of(rows)
    expected = []
    for begin, end in zip(log.offsets[:-1], log.offsets[1:], strict=True):
        last = 0
        for row in range(begin, end):
            expected.append(last)
            if log.clicked[row] > 0:
                last = int(log.position[row])
    assert log.last_clicks().tolist() == expected


@given(st.lists(ROW, min_size=1, max_size=30))
def test_pairs_are_the_different_queries_and_documents(rows):
    log = log_of(rows)
    pairs = log.pairs
    assert len({*zip(pairs.query.tolist(), pairs.document.tolist(), strict=True)}) == len(pairs.query)
    assert (pairs.query[pairs.of_impression] == log.query).all()
    assert (pairs.document[pairs.of_impression] == log.document).all()


def test_positions_from_0_become_positions_from_1_with_a_note():
    log = ClickLog([1, 1], ["q", "q"], ["a", "b"], [0, 1], [1, 0])
    assert log.position.tolist() == [1, 2]
    assert log.notes == ("Positions are counted from 0 in the input, and from 1 here.",)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"position": [1, 1.5]}, "The position of row 1 is 1.5; positions are integers from 1."),
        ({"position": [-1, 1]}, "The position of row 0 is -1; positions are integers from 1."),
        ({"position": [1, np.nan]}, "The position of row 1 is nan; positions are integers from 1."),
        ({"clicked": [0, -1]}, "clicked of row 1 is -1; it must be 0, 1 or a larger number."),
        ({"propensity": [0, 1]}, "propensity of row 0 is 0; it must be above 0 and at most 1."),
        ({"weight": [1, -1]}, "weight of row 1 is -1; it must be between 0 and 1e+12."),
        ({"time": [1, np.inf]}, "time of row 1 is inf; it must be finite."),
        ({"document": ["a"]}, "There are 2 impressions by session but 1 by document."),
        ({"session": [1.5, 2]}, "session must hold integers or strings, not 1.5."),
        ({"query": [["a", "b"]]}, "query must have one id per impression, not shape (1, 2)."),
    ],
)
def test_a_wrong_column_is_refused_with_one_sentence(change, sentence):
    columns = {
        "session": [1, 1],
        "query": ["q", "q"],
        "document": ["a", "b"],
        "position": [1, 2],
        "clicked": [0, 1],
    }
    with pytest.raises(InputError) as refused:
        ClickLog(**(columns | change))
    assert str(refused.value) == sentence


def test_a_log_is_a_read_only_value():
    weight = np.array([1.0, 2.0])
    log = ClickLog([1, 1], ["q", "q"], ["a", "b"], [1, 2], [1, 0], weight=weight, policy=["old", "old"])
    weight[0] = 9.0
    assert log.weight.tolist() == [1.0, 2.0]
    again = pickle.loads(pickle.dumps(log))
    assert repr(again) == repr(log)
    for name in ("session", "position", "clicked", "weight", "document_ids", "offsets"):
        assert not getattr(again, name).flags.writeable
    assert again.policy_ids[again.policy].tolist() == ["old", "old"]


def test_an_empty_log():
    log = ClickLog([], [], [], [], [])
    assert (len(log), log.n_lists, log.max_position, log.last_clicks().tolist()) == (0, 0, 0, [])
    assert repr(log) == "ClickLog(0 impressions, 0 lists, 0 queries, 0 documents, 0 clicks)"


def test_a_split_is_by_session_and_keeps_numbers_of_ids():
    rows = [(session, query, 1, 1, 0) for session in range(200) for query in "ab"]
    log = log_of(rows)
    train, test = log.split(0.3, random_state=1)
    assert len(train) + len(test) == len(log)
    assert not set(train.session) & set(test.session)
    assert 0.2 < len(test) / len(log) < 0.4
    assert test.session_ids is log.session_ids
    with pytest.raises(InputError, match="fraction must lie between 0 and 1, not 1"):
        log.split(1)


def test_rows_in_data_are_looked_up_by_query_and_document():
    data = rw.Documents([[1], [2], [3]], [7, 7, 8], document_ids=["a", "b", "a"])
    log = ClickLog([1, 1, 2, 3], ["7", "7", "8", "9"], ["b", "c", "a", "a"], [1, 2, 1, 1], [0, 0, 0, 1])
    assert log.rows_in(data).tolist() == [1, -1, 2, -1]
