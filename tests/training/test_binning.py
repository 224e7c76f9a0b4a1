import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from properties import examples
from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.training import binning
from rankwright.training.binning import BinnedFeatures
from reference import binning as slow

TINY, LARGEST = 2.0**-149, np.finfo(np.float32).max
ADJACENT = np.nextafter(np.float32(1), np.float32(2))
AWKWARD = st.sampled_from([-0.0, 0.0, TINY, -TINY, 2 * TINY, 1.0, ADJACENT, -LARGEST, LARGEST, np.nan])
VALUES = AWKWARD | st.floats(-100, 100, width=32)
COLUMNS = arrays.arrays(np.float32, st.integers(0, 60), elements=VALUES)
MATRICES = arrays.arrays(np.float32, st.tuples(st.integers(1, 30), st.integers(0, 20)), elements=VALUES)
BINS = st.sampled_from([2, 3, 7, 16, 255])
PATHS = range(_native.widest_path() + 1)


def edges_of(values, max_bins=255):
    column = np.asarray(values, dtype=np.float32)[:, None]
    return _native.find_all_edges(column, np.arange(len(column)), max_bins, 1)[0]


def codes_of(values, max_bins=255):
    column = np.asarray(values, dtype=np.float32)[:, None]
    return BinnedFeatures.of(column, np.arange(len(column)), max_bins=max_bins).matrix.codes()[:, 0]


# Edges


@examples(300)
@given(COLUMNS, BINS)
def test_edges_equal_the_slow_twins(values, max_bins):
    assert edges_of(values, max_bins) == slow.find_edges(values, max_bins)


@given(COLUMNS, BINS)
def test_edges_are_few_finite_and_ascend(values, max_bins):
    edges = np.array(edges_of(values, max_bins), dtype=np.float64)
    assert len(edges) < max_bins
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    assert np.array_equal(edges, edges.astype(np.float32)), "a threshold of a saved model is a 32-bit float"


@given(COLUMNS, BINS)
def test_few_values_have_a_code_each_and_no_code_is_empty(values, max_bins):
    known = values[~np.isnan(values)]
    codes = codes_of(values, max_bins)[~np.isnan(values)]
    n_values = len(np.unique(known))
    assert set(codes) == set(range(max(codes, default=-1) + 1))
    if n_values <= max_bins:
        np.testing.assert_array_equal(codes, np.unique(known, return_inverse=True)[1])


@pytest.mark.parametrize("max_bins", [2, 10, 255])
def test_many_values_are_shared_out_evenly(max_bins):
    values = np.random.default_rng(1).lognormal(size=20_000)
    counts = np.bincount(codes_of(values, max_bins))
    assert len(counts) == max_bins
    assert counts.max() - counts.min() <= 2


def test_a_frequent_value_has_a_code_of_its_own():
    values = np.concatenate([np.zeros(5000), np.random.default_rng(1).normal(size=5000)])
    codes = codes_of(values, 20)
    zero = codes[0]
    assert (codes == zero).sum() == 5000
    others = np.bincount(codes[codes != zero], minlength=20)
    assert len(others) == 20
    assert np.delete(others, zero).max() < 600


@pytest.mark.parametrize(
    "values", [[], [np.nan], [np.nan, np.nan], [3], [3, 3, np.nan], [0.0, -0.0], [LARGEST] * 3], ids=str
)
def test_a_constant_column_has_no_edge(values):
    assert edges_of(values) == []
    assert codes_of(values).tolist() == [255 if np.isnan(value) else 0 for value in values]


def test_both_zeros_have_one_code():
    assert codes_of([-0.0, 0.0, -TINY, TINY]).tolist() == [1, 1, 0, 2]


def test_adjacent_numbers_and_the_largest_are_told_apart():
    values = [1, ADJACENT, -LARGEST, LARGEST, TINY, 2 * TINY]
    np.testing.assert_array_equal(codes_of(values), np.argsort(np.argsort(np.float32(values))))
    assert edges_of([-LARGEST, LARGEST]) == [0.0]


def test_255_values_are_exact_and_256_are_not():
    assert codes_of(np.arange(255)).tolist() == list(range(255))
    codes = codes_of(np.arange(256))
    assert (codes.max(), len(set(codes))) == (254, 255)


# Codes


@given(MATRICES, BINS)
def test_codes_equal_the_slow_twins_and_say_what_is_at_most_an_edge(X, max_bins):
    binned = BinnedFeatures.of(X, np.arange(len(X)), max_bins=max_bins)
    codes = binned.matrix.codes()
    assert (binned.n_rows, binned.n_features) == X.shape
    np.testing.assert_array_equal(codes, slow.encode(X, binned.matrix.edges))
    for feature, edges in enumerate(binned.matrix.edges):
        known = ~np.isnan(X[:, feature])
        for code, edge in enumerate(edges):
            np.testing.assert_array_equal(codes[known, feature] <= code, X[known, feature] <= np.float32(edge))


@pytest.mark.parametrize("path", PATHS)
@examples(100)
@given(values=COLUMNS, edges=arrays.arrays(np.float32, st.integers(0, 254), elements=VALUES))
def test_every_simd_path_gives_the_same_codes(path, values, edges):
    edges = np.unique(edges[~np.isnan(edges)] + np.float32(0))
    values = np.concatenate([values, edges, np.nextafter(edges[:-1], edges[1:])])
    found = _native.encode_column(values, edges.tolist(), path)
    np.testing.assert_array_equal(found, slow.encode(values[:, None], [edges])[:, 0])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("n_edges", [0, 1, 7, 8, 15, 16, 127, 128, 253, 254])
def test_every_number_of_edges_on_every_path(path, n_edges):
    edges = np.arange(n_edges, dtype=np.float32)
    values = np.concatenate([np.arange(-1, 260, 0.5), [np.nan, LARGEST, -LARGEST]]).astype(np.float32)
    expected = np.where(np.isnan(values), 255, np.searchsorted(edges, values, side="left"))
    np.testing.assert_array_equal(_native.encode_column(values, edges.tolist(), path), expected)


@pytest.mark.parametrize("path", [-1, _native.widest_path() + 1])
def test_a_simd_path_that_the_processor_lacks_is_refused(path):
    with pytest.raises(ValueError, match="this processor does not support this path"):
        _native.encode_column(np.zeros(3, dtype=np.float32), [], path)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [1, 511, 512, 513, 5000])
def test_any_number_of_threads_gives_the_same_bytes(n_rows):
    X = np.random.default_rng(n_rows).normal(size=(n_rows, 35)).astype(np.float32)
    X[::7, 3] = np.nan
    rows = np.random.default_rng(1).permutation(n_rows)
    one, *others = (BinnedFeatures.of(X, rows, n_jobs=n_threads).matrix for n_threads in (1, 2, 3))
    for other in others:
        assert other.edges == one.edges
        assert other.codes().tobytes() == one.codes().tobytes()
    np.testing.assert_array_equal(one.codes()[:, :5], slow.encode(X[rows][:, :5], one.edges))


@given(MATRICES, st.data())
def test_rows_may_be_listed_in_any_order_and_repeatedly(X, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(X) - 1), max_size=40)), dtype=np.int64)
    whole = BinnedFeatures.of(X, np.arange(len(X))).matrix
    part = _native.encode(X, rows, whole.edges, False, 1)
    np.testing.assert_array_equal(part.codes(), whole.codes()[rows])
    assert BinnedFeatures.of(X, rows).matrix.edges == BinnedFeatures.of(X[rows], np.arange(len(rows))).matrix.edges


def test_edges_of_many_rows_come_from_a_sample_that_the_seed_decides():
    X = np.random.default_rng(1).normal(size=(2000, 2)).astype(np.float32)
    rows = np.arange(2000)
    one, same, other, whole = (
        BinnedFeatures.of(X, rows, max_bins=9, sample_rows=sample_rows, seed=seed).matrix
        for sample_rows, seed in ((500, 1), (500, 1), (500, 2), (2000, 1))
    )
    assert one.edges == same.edges != other.edges != whole.edges
    shares = np.bincount(one.codes()[:, 0], minlength=9) / 2000
    np.testing.assert_allclose(shares, 1 / 9, atol=0.05)


# Mistakes


@pytest.mark.parametrize("max_bins", [1, 0, -3, 256, 2.5, 255.0, True, None, "many"], ids=repr)
def test_max_bins_out_of_range_is_told(max_bins):
    with pytest.raises(InputError, match=r"max_bins must be an integer from 2 to 255, not "):
        BinnedFeatures.of(np.zeros((2, 1), dtype=np.float32), np.arange(2), max_bins=max_bins)


def test_max_bins_may_be_a_number_of_numpy():
    column = np.arange(5, dtype=np.float32)[:, None]
    binned = BinnedFeatures.of(column, np.arange(5), max_bins=np.int64(3))
    assert len(binned.matrix.edges[0]) == 2


@pytest.mark.parametrize("max_bins", [1, 0, -1, 256, 2**31 - 1])
def test_binding_refuses_max_bins_out_of_range(max_bins):
    with pytest.raises(ValueError, match="max_bins must be from 2 to 255"):
        _native.find_all_edges(np.zeros((2, 1), dtype=np.float32), np.arange(2), max_bins, 1)


@pytest.mark.parametrize("rows", [[2], [-1], [0, 2**62], [-(2**63)]], ids=str)
def test_binding_refuses_rows_that_are_not_there(rows):
    X, rows = np.zeros((2, 1), dtype=np.float32), np.array(rows)
    with pytest.raises(ValueError, match="a row is out of range"):
        _native.find_all_edges(X, rows, 255, 1)
    with pytest.raises(ValueError, match="a row is out of range"):
        _native.encode(X, rows, [[]], False, 1)
    with pytest.raises(ValueError, match="a row is out of range"):
        _native.encode(X[:0], np.zeros(1, dtype=np.int64), [[]], False, 1)


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ([], "one list of edges per feature"),
        ([[], []], "one list of edges per feature"),
        ([[1.0, 1.0]], "finite and ascend"),
        ([[2.0, 1.0]], "finite and ascend"),
        ([[-0.0, 0.0]], "finite and ascend"),
        ([[np.nan]], "finite and ascend"),
        ([[1.0, np.inf]], "finite and ascend"),
        ([[-np.inf, 1.0]], "finite and ascend"),
        ([[float(i) for i in range(255)]], "too many edges"),
    ],
)
def test_binding_refuses_bad_edges(edges, sentence):
    with pytest.raises(ValueError, match=sentence):
        _native.encode(np.zeros((2, 1), dtype=np.float32), np.arange(2), edges, False, 1)
    if len(edges) == 1:
        with pytest.raises(ValueError, match=sentence):
            _native.encode_column(np.zeros(2, dtype=np.float32), edges[0], 0)


# The order that the input cannot change


@given(MATRICES)
def test_equal_rows_have_equal_hashes_and_others_have_not(X):
    hashes = _native.hash_rows(X, 1)
    rows = [tuple("missing" if np.isnan(value) else float(value) + 0.0 for value in row) for row in X]
    for row, first in enumerate(map(rows.index, rows)):
        assert hashes[row] == hashes[first]
    assert len(set(hashes.tolist())) == len(set(rows))


def test_every_nan_and_both_zeros_hash_alike():
    odd = np.array([0x7FC00000, 0xFFC00001, 0x7F800001], dtype=np.uint32).view(np.float32)[:, None]
    assert len(set(_native.hash_rows(odd, 1).tolist())) == 1
    assert len(set(_native.hash_rows(np.array([[0.0], [-0.0]], dtype=np.float32), 1).tolist())) == 1


@pytest.mark.parametrize("n_features", [1, 3, 4, 5, 8, 9])
def test_a_hash_knows_the_place_of_a_value(n_features):
    X = np.eye(n_features, dtype=np.float32)
    assert len(set(_native.hash_rows(X, 1).tolist())) == n_features


def test_hashes_are_the_same_on_any_number_of_threads_and_spread():
    X = np.random.default_rng(1).integers(3, size=(20_000, 12)).astype(np.float32)
    hashes = _native.hash_rows(X, 1)
    assert hashes.tobytes() == _native.hash_rows(X, 3).tobytes()
    assert len(np.unique(hashes)) == len(np.unique(X, axis=0))


# Coarse levels


def coarse_levels(X):
    """Each feature's level for every document, and the matrix."""
    matrix = BinnedFeatures.of(X, np.arange(len(X)), coarse=True).matrix
    levels, codes = matrix.levels(), matrix.codes()
    return np.column_stack([levels[feature][codes[:, feature]] for feature in range(X.shape[1])]), matrix


@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 60), st.integers(1, 20)), elements=VALUES))
def test_coarse_levels_follow_the_values_and_share_bytes(X):
    levels, matrix = coarse_levels(X)
    np.testing.assert_array_equal(matrix.codes(), BinnedFeatures.of(X, np.arange(len(X))).matrix.codes())
    products = 0
    for values, level in zip(X.T, levels.T, strict=True):
        missing = np.isnan(values)
        order = np.argsort(values[~missing], kind="stable")
        steps = np.diff(level[~missing][order].astype(int))
        assert set(steps) <= {0, 1}
        assert (level[missing] == level.max()).all()
        assert level.max() < 16
        if len(np.unique(values[~missing])) + missing.any() <= 16:
            assert len(np.unique(level)) == len(np.unique(values[~missing])) + missing.any()
        products += np.log(level.max() + 1.0)
    assert products / np.log(256) <= matrix.n_bytes + 1e-9 <= X.shape[1] + 1e-9


def test_coarse_levels_hold_about_equally_many_and_a_frequent_value_has_its_own():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=20_000), np.maximum(rng.normal(size=20_000), 0)]).astype(np.float32)
    levels, matrix = coarse_levels(X)
    assert matrix.n_bytes == 1
    even, half = (np.bincount(level) for level in levels.T)
    assert len(even) == len(half) == 16
    assert even.max() - even.min() <= 2 * 20_000 / 255
    assert half[0] == (X[:, 1] == 0).sum()


def test_every_threshold_of_too_many_values_is_refused_before_it_takes_memory(monkeypatch):
    monkeypatch.setattr(binning, "available_memory", lambda: 2**20)
    X = np.random.default_rng(0).random((5_000, 20)).astype(np.float32)
    with pytest.raises(InputError, match="leave out all_thresholds, or round the features"):
        binning.BinnedFeatures.exact(X, np.arange(len(X)))
