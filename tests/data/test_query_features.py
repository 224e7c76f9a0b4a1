import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rankwright import _native
from rankwright.data.groups import QueryGroups
from rankwright.data.query_features import QueryFeature, with_query_features
from reference.query_features import with_query_features as slow

KINDS = [kind.value for kind in QueryFeature]
TIED = st.sampled_from([-1.5, -0.0, 0.0, 0.1, 7.0, np.nan])
VALUES = TIED | st.floats(-(2.0**100), 2.0**100, width=32)


@st.composite
def queries(draw, elements=VALUES):
    qid = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=15))
    return draw(arrays.arrays(np.float32, (len(qid), 2), elements=elements)), qid


def widened(X, qid, *kinds):
    return with_query_features(
        np.asarray(X, dtype=np.float32), QueryGroups.of(qid), tuple(map(QueryFeature, kinds))
    )


def of_column(kind, *values):
    """One query's column, without the raw one."""
    return widened(np.array(values)[:, None], [1] * len(values), kind)[:, 1].tolist()


def assert_same_bits(found, expected):
    np.testing.assert_array_equal(found, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])


@given(queries(), st.lists(st.sampled_from(KINDS), unique=True))
def test_equals_the_slow_twin(data, kinds):
    X, qid = data
    found = widened(X, qid, *kinds)
    assert found.dtype == np.float32
    assert found.shape == (len(X), 2 * (1 + len(kinds)))
    np.testing.assert_array_equal(found[:, :2], X)
    assert_same_bits(found, slow(X, qid, kinds))


@pytest.mark.parametrize(
    ("n_features", "sizes"),
    [*((n, [1, 2, 3, 31, 32, 33]) for n in (1, 7, 15, 16, 17, 33)), (9, [255, 256]), (1, [257])],
    ids=str,
)
def test_equals_the_slow_twin_for_any_size(n_features, sizes):
    """Features are taken by sixteen, and the network that sorts them depends on the number of documents."""
    rng = np.random.default_rng(n_features)
    qid = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(qid), n_features)).astype(np.float32)
    X[:, ::2] = rng.integers(-2, 3, X[:, ::2].shape)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, :1] = np.where(rng.random((len(X), 1)) < 0.5, X[:, :1], -0.0)
    found = [with_query_features(X, QueryGroups.of(qid), tuple(QueryFeature), n_threads=n) for n in (1, 3)]
    assert found[0].tobytes() == found[1].tobytes()
    assert_same_bits(found[0], slow(X, qid.tolist(), KINDS))


@pytest.mark.parametrize("size", [4095, 4096])
def test_small_and_large_queries_are_sorted_in_different_ways(size):
    rng = np.random.default_rng(size)
    values = np.where(rng.random(size) < 0.5, rng.normal(size=size), rng.integers(-2, 3, size)).astype(np.float32)
    values[rng.random(size) < 0.1] = np.nan
    known = np.sort(values[~np.isnan(values)]).astype(np.float64)
    mean = np.cumsum(known)[-1] / len(known)  # adds in order
    deviation = np.sqrt(np.cumsum((known - mean) ** 2)[-1] / len(known))
    lower, up_to = (np.searchsorted(known, values, side) for side in ("left", "right"))
    ranks = np.where(np.isnan(values), np.nan, (lower + up_to - 1) / 2 / (len(known) - 1))
    expected = np.column_stack([values, (values - mean) / deviation, ranks]).astype(np.float32)
    np.testing.assert_array_equal(widened(values[:, None], [1] * size, "zscore", "rank"), expected)


@given(queries(), st.lists(st.sampled_from(KINDS), unique=True))
def test_columns_may_come_without_the_features(data, names):
    X, qid = data
    kinds = tuple(map(QueryFeature, names))
    alone = with_query_features(X, QueryGroups.of(qid), kinds, raw=False)
    np.testing.assert_array_equal(alone, widened(X, qid, *names)[:, 2:])


@given(queries())
def test_what_is_missing_stays_missing_and_all_else_is_within_bounds(data):
    X, qid = data
    zscores, ranks, ranges = np.split(widened(X, qid, "zscore", "rank", "minmax")[:, 2:], 3, axis=1)
    known = ~np.isnan(X)
    for column in (zscores, ranks, ranges):
        np.testing.assert_array_equal(np.isnan(column), ~known)
    for column in (ranks, ranges):
        assert ((column[known] >= 0) & (column[known] <= 1)).all()
    assert (np.abs(zscores[known]) <= np.sqrt(len(X))).all()


# Sums of these depend on their order.
UNEVEN = st.sampled_from([2.0**100, -(2.0**100), 1.0, 3.0, 2.0**70, np.nan])


@given(queries(VALUES | UNEVEN), st.data())
def test_another_order_of_rows_changes_nothing(data, draw):
    X, qid = data
    rows = draw.draw(st.permutations(range(len(X))))
    shuffled = widened(X[rows], [f"q{qid[row]}" for row in rows], *KINDS)
    np.testing.assert_array_equal(shuffled, widened(X, qid, *KINDS)[rows])


def test_the_order_of_rows_does_not_decide_what_rounding_leaves():
    column = [2.0**100, 1, -(2.0**100), 1, 3]
    assert of_column("zscore", *column) == of_column("zscore", *column[::-1])[::-1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_does_not_decide_the_sign_of_zero(kind):
    columns = [of_column(kind, 0.0, -0.0), of_column(kind, -0.0, 0.0)[::-1]]
    assert np.signbit(columns[0]).tolist() == np.signbit(columns[1]).tolist()


@given(queries(st.integers(-50, 50).map(float)))
def test_ranks_and_ranges_know_no_scale(data):
    X, qid = data
    other = (4 * X - 100).astype(np.float32)
    np.testing.assert_allclose(widened(other, qid, *KINDS)[:, 2:], widened(X, qid, *KINDS)[:, 2:], atol=1e-6)


def test_by_hand():
    nan, root = np.nan, np.sqrt(2)
    np.testing.assert_allclose(of_column("zscore", 1, 3, nan, 5, 3), [-root, 0, nan, root, 0], rtol=1e-6)
    np.testing.assert_allclose(of_column("rank", 5, 1, 3, 3, nan), [1, 0, 0.5, 0.5, nan])
    np.testing.assert_allclose(of_column("rank", 2, 2, 1), [0.75, 0.75, 0])
    np.testing.assert_allclose(of_column("minmax", 2, 4, nan, 3), [0, 1, nan, 0.5])


@pytest.mark.parametrize("value", [0.0, 0.1, -3e38, 1e-45])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 1000])
def test_equal_values_are_exactly_average(value, count):
    assert of_column("zscore", *[value] * count) == [0.0] * count
    assert of_column("rank", *[value] * count) == [0.5] * count
    assert of_column("minmax", *[value] * count) == [0.0] * count


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_of_missing_values_stays_one(kind):
    assert np.isnan(of_column(kind, np.nan)).all()
    assert np.isnan(of_column(kind, np.nan, np.nan)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_numbers_give_finite_ones(kind):
    largest = np.finfo(np.float32).max
    assert np.isfinite(of_column(kind, -largest, largest, 0)).all()


def test_no_documents():
    assert widened(np.zeros((0, 3)), [], "rank").shape == (0, 6)


@pytest.mark.parametrize(
    ("offsets", "rows", "sentence"),
    [
        ([0, 2], [0, 1, 2], "offsets must run from 0"),
        ([0, 2, 1, 3], [0, 1, 2], "offsets must not decrease"),
        ([0, 3], [0, 1], "every row once"),
        ([0, 3], [0, 1, 1], "every row once"),
        ([0, 3], [0, 1, 3], "out of range"),
        ([0, 3], [0, -1, 2], "out of range"),
    ],
)
def test_the_core_refuses_rows_that_are_no_queries(offsets, rows, sentence):
    places = np.array(offsets), np.array(rows)
    with pytest.raises(ValueError, match=sentence):
        _native.query_columns(*places, np.zeros((3, 2), np.float32), [_native.QueryColumn.rank], True, 1)
    with pytest.raises(ValueError, match=sentence):
        _native.standardise_scores(*places, np.zeros(3), 1)


def test_infinite_values_do_no_harm():
    values = np.array([[np.inf], [-np.inf], [np.nan], [1.0]] * 100, dtype=np.float32)
    for size in (4, 400):
        groups = QueryGroups.of_sizes([size] * (len(values) // size))
        assert with_query_features(values, groups, tuple(QueryFeature)).shape == (400, 4)
