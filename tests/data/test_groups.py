import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.base.errors import InputError
from rankwright.data import groups as groups_module
from rankwright.data.groups import QueryGroups
from rankwright.training.training_set import QueryLabels

QUERY_IDS = st.one_of(st.lists(st.integers(-3, 3)), st.lists(st.sampled_from(["q1", "q2", "long name", ""])))


@given(QUERY_IDS)
def test_groups_hold_each_query_in_order_of_appearance(qid):
    groups = QueryGroups.of(qid)
    assert groups.ids.tolist() == list(dict.fromkeys(qid))
    expected = [[row for row, one in enumerate(qid) if one == query] for query in groups.ids]
    assert [rows.tolist() for rows in groups] == expected


@given(QUERY_IDS)
def test_sizes_and_queries_agree_with_the_rows(qid):
    groups = QueryGroups.of(qid)
    assert groups.n_rows == len(qid)
    assert groups.sizes.tolist() == [qid.count(query) for query in groups.ids]
    assert [groups.ids[query] for query in groups.query_of_row] == qid


@given(st.lists(st.integers(1, 9)))
def test_sizes_of_adjacent_queries(sizes):
    groups = QueryGroups.of_sizes(sizes)
    assert len(groups) == len(sizes)
    assert groups.sizes.tolist() == sizes
    assert groups.rows.tolist() == list(range(sum(sizes)))


@given(QUERY_IDS)
def test_arrays_have_the_type_the_core_takes(qid):
    groups = QueryGroups.of(qid)
    assert {groups.offsets.dtype, groups.rows.dtype, groups.query_of_row.dtype} == {np.dtype(np.int64)}


class ReplacedWhenMeasured(np.ndarray):
    """The array that groups share, replaced, as by another thread, as soon as its length is known."""

    def __len__(self):
        groups_module._counted = np.arange(1)
        return self.shape[0]


def test_rows_are_complete_when_another_thread_replaces_the_array_that_groups_share(monkeypatch):
    monkeypatch.setattr(groups_module, "_counted", np.arange(9).view(ReplacedWhenMeasured))
    assert QueryGroups.of_sizes([2, 3]).rows.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "qid",
    [
        np.array([3, 3, 9], dtype=np.uint16),
        np.array([3.0, 3.0, 9.0]),
        np.array([3, 3, 9], dtype=object),
        ["x", "x", "y"],
        np.array(["x", "x", "y"], dtype=object),
        np.array([b"x", b"x", b"y"]),
    ],
)
def test_integers_and_strings_of_any_type_group(qid):
    assert QueryGroups.of(qid).sizes.tolist() == [2, 1]


@pytest.mark.parametrize(
    "qid",
    [[[1, 2]], 5, [1.5], [np.nan], [np.inf], [1e300], [True, False], [None], ["a", 1, None], [2**70], [{}]],
    ids=str,
)
def test_other_ids_are_refused(qid):
    ids = np.array(qid, dtype=object) if isinstance(qid, list) and qid[0] in ("a", None, 2**70) else qid
    with pytest.raises(InputError, match="qid must"):
        QueryGroups.of(ids)


@pytest.mark.parametrize("sizes", [[0], [2, -1], [1.5], [[1]], ["2"], 3], ids=str)
def test_other_sizes_are_refused(sizes):
    with pytest.raises(InputError, match=r"Query sizes must be a list of positive integers."):
        QueryGroups.of_sizes(sizes)


@pytest.mark.parametrize("ids", [["a", "a\0"], ("a\0", "b"), [b"a", b"a\0"], np.array(["a", "a\0"], dtype=object)])
def test_ids_with_nul_are_refused_as_numpy_would_drop_it(ids):
    with pytest.raises(InputError, match=r"The query id of row [01] contains a NUL character; remove it\."):
        QueryGroups.of(ids)


@pytest.mark.parametrize("form", [list, np.array])
def test_an_id_that_is_very_long_would_widen_every_row(form):
    assert len(QueryGroups.of(form(["a" * 1000, "b"]))) == 2
    with pytest.raises(
        InputError, match=r"The query id of row 1 has 100,000 characters; at most 1,000 are allowed\."
    ):
        QueryGroups.of(form(["b", "a" * 100_000]))


def test_values_are_reduced_within_the_query_whatever_the_order_of_rows():
    groups, values = QueryGroups.of(["b", "a", "b", "c", "a"]), np.array([3.0, 1.0, -2.0, 7.0, 5.0])
    assert groups.reduce(np.maximum, values).tolist() == [3.0, 5.0, 7.0]
    assert groups.reduce(np.add, values).tolist() == [1.0, 6.0, 7.0]
    assert groups.reduce(np.minimum, values[:, None]).tolist() == [[-2.0], [1.0], [7.0]]
    assert QueryGroups.of([]).reduce(np.add, np.zeros(0)).tolist() == []


def test_queries_are_varied_if_their_labels_differ():
    groups = QueryGroups.of(["b", "a", "b", "c", "a"])
    assert QueryLabels(np.array([3.0, 1.0, -2.0, 7.0, 1.0]), groups).varied.tolist() == [True, False, False]
