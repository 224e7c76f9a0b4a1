import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data import groups as groups_module
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.training.training_set import QueryLabels
from reference.ranking import sort_within_queries as slow_sort

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


# Few distinct values make many ties; the two zeros are equal, the infinities are scores like any other.
TIED_SCORES = st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 5e-324, 1.0, np.inf])
SCORES = st.one_of(TIED_SCORES, st.floats(allow_nan=False))


@st.composite
def scored_queries(draw, elements=SCORES):
    qid = np.array(draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=40)))
    return QueryGroups.of(qid), draw(arrays.arrays(np.float64, len(qid), elements=elements))


def native_sort(groups, scores, tie_break=None, n_threads=1):
    found = _native.sort_within_queries(groups.offsets, groups.rows, scores, tie_break, n_threads)
    np.testing.assert_array_equal(found.tied, [len(np.unique(scores[rows])) < len(rows) for rows in groups])
    assert not found.order.flags.writeable
    return found.order


@given(scored_queries())
def test_sorts_as_the_slow_twin(queries):
    groups, scores = queries
    np.testing.assert_array_equal(native_sort(groups, scores), slow_sort(groups.offsets, groups.rows, scores))


@given(scored_queries(TIED_SCORES), st.data())
def test_tie_break_decides_before_the_row(queries, data):
    groups, scores = queries
    tie_break = data.draw(arrays.arrays(np.float64, len(scores), elements=TIED_SCORES))
    expected = slow_sort(groups.offsets, groups.rows, scores, tie_break)
    np.testing.assert_array_equal(native_sort(groups, scores, tie_break), expected)


@pytest.mark.parametrize("path", range(_native.widest_path() + 1))
@given(scores=arrays.arrays(np.float64, st.integers(0, 70), elements=SCORES))
def test_every_simd_path_counts_alike(path, scores):
    with np.errstate(over="ignore"):
        keys = scores.astype(np.float32)
    order = slow_sort(np.array([0, len(keys)]), np.arange(len(keys)), keys.astype(np.float64))
    assert _native.count_above(keys, path)[order].tolist() == list(range(len(scores)))


@pytest.mark.parametrize("path", [-1, _native.widest_path() + 1])
def test_a_simd_path_that_the_processor_lacks_is_refused(path):
    with pytest.raises(ValueError, match="this processor does not support this path"):
        _native.count_above(np.zeros(3, dtype=np.float32), path)


@pytest.mark.slow
@pytest.mark.parametrize("n_documents", [1, 2, 15, 16, 17, 399, 400, 401, 25_000])
@pytest.mark.parametrize("n_values", [3, 10**9])
@pytest.mark.parametrize("with_tie_break", [False, True])
def test_every_size_sorts_as_the_slow_twin(n_documents, n_values, with_tie_break):
    rng = np.random.default_rng(n_documents)
    groups = QueryGroups.of_sizes([n_documents, 1, n_documents])
    scores = rng.integers(n_values, size=groups.n_rows) / n_values
    tie_break = rng.integers(2, size=groups.n_rows).astype(float) if with_tie_break else None
    expected = slow_sort(groups.offsets, groups.rows, scores, tie_break)
    np.testing.assert_array_equal(native_sort(groups, scores, tie_break), expected)


def test_any_number_of_threads_gives_the_same_bytes():
    rng = np.random.default_rng(3)
    groups = QueryGroups.of(rng.integers(1000, size=30_000))
    scores = rng.integers(20, size=30_000).astype(float)
    orders = {native_sort(groups, scores, n_threads=threads).tobytes() for threads in (1, 2, 3, 500)}
    assert len(orders) == 1


def test_negative_zero_ties_with_zero():
    assert Ranking.of([-0.0, 0.0, -0.0], QueryGroups.of([1, 1, 1])).order.tolist() == [0, 1, 2]


def test_ranks_of_scattered_string_ids_are_in_row_order():
    groups = QueryGroups.of(["b", "a", "b", "a", "b"])
    assert Ranking.of([1, 5, 3, 7, 2], groups).ranks().tolist() == [3, 2, 1, 1, 2]


def test_lower_tie_break_comes_first():
    ranking = Ranking.of([1, 1, 1], QueryGroups.of([7, 7, 7]), tie_break=[2, 0, 1])
    assert ranking.order.tolist() == [1, 2, 0]


def test_no_documents_rank_to_nothing():
    ranking = Ranking.of([], QueryGroups.of([]))
    assert ranking.order.tolist() == ranking.ranks().tolist() == []


@pytest.mark.parametrize(
    ("scores", "tie_break", "sentence"),
    [
        ([1.0], None, r"There are 2 documents but scores of shape \(1,\)\."),
        ([[1.0, 2.0]], None, r"There are 2 documents but scores of shape \(1, 2\)\."),
        ([0.0, np.nan], None, "Row 1 is NaN in scores; it cannot be ranked."),
        (["high", "low"], None, "scores must be numbers."),
        ([0.0, 1.0], [1.0], r"There are 2 documents but tie_break of shape \(1,\)\."),
        ([0.0, 1.0], [np.nan, 1.0], "Row 0 is NaN in tie_break; it cannot be ranked."),
    ],
)
def test_refuses_what_cannot_be_ranked(scores, tie_break, sentence):
    with pytest.raises(InputError, match=sentence):
        Ranking.of(scores, QueryGroups.of([1, 1]), tie_break=tie_break)


@pytest.mark.parametrize(
    "bad",
    [
        {"offsets": []},
        {"offsets": [0]},
        {"offsets": [0, 3]},
        {"offsets": [0, 1]},
        {"offsets": [1, 2]},
        {"offsets": [-1, 2]},
        {"offsets": [0, 2, 1, 2]},
        {"offsets": [0, 2**62, 2]},
        {"offsets": [0, -(2**63), 2]},
        {"rows": [0, 2]},
        {"rows": [-1, 0]},
        {"rows": [0, 2**62]},
        {"rows": [0]},
        {"scores": [1.0]},
        {"scores": [1.0, np.nan]},
        {"tie_break": [1.0]},
        {"tie_break": [1.0, 2.0, 3.0]},
        {"tie_break": [np.nan, 1.0]},
    ],
    ids=str,
)
def test_binding_refuses_what_would_leave_the_arrays(bad):
    good = {"offsets": [0, 2], "rows": [0, 1], "scores": [1.0, 2.0], "tie_break": [0.0, 0.0]}
    kinds = {"offsets": np.int64, "rows": np.int64, "scores": np.float64, "tie_break": np.float64}
    arguments = {name: np.array(value, dtype=kinds[name]) for name, value in {**good, **bad}.items()}
    with pytest.raises(ValueError, match=r"offsets|row|scores|tie_break|query"):
        _native.sort_within_queries(**arguments, n_threads=1)


@pytest.mark.parametrize("n_threads", [-5, 0, 10**6])
def test_binding_takes_any_number_of_threads(n_threads):
    groups = QueryGroups.of_sizes([2] * 300)
    scores = np.tile([1.0, 2.0], 300)
    np.testing.assert_array_equal(native_sort(groups, scores, n_threads=n_threads), native_sort(groups, scores))


@pytest.mark.parametrize("step", [1e-12, 1e-300, 1e300])
def test_scores_that_only_doubles_tell_apart(step):
    scores = (np.random.default_rng(0).permutation(60) + 1.0) * step
    scores = scores + 1.0 if step < 1e-200 else scores
    groups = QueryGroups.of_sizes([20, 40])
    expected = slow_sort(groups.offsets, groups.rows, scores)
    np.testing.assert_array_equal(native_sort(groups, scores, None), expected)
