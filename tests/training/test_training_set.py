import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import rankwright as rw
from properties import examples
from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.query_features import QueryFeature, with_query_features
from rankwright.training import binned_features
from rankwright.training.binned_features import BinnedFeatures
from rankwright.training.fit_task import as_training_set
from rankwright.training.training_set import TrainingSet, bag_queries, fold_queries, hold_out_queries
from reference import binning as slow

ZSCORE, RANK = QueryFeature.ZSCORE, QueryFeature.RANK


def judged(n_rows=30, *, seed=1):
    rng = np.random.default_rng(seed)
    return RankingData(rng.normal(size=(n_rows, 2)), rng.integers(2, size=n_rows), rng.integers(4, size=n_rows))


# Few features and labels, so that documents and whole queries come up twice.
FEW = st.tuples(st.sampled_from([0.0, 1.0, np.nan]), st.integers(0, 1), st.integers(0, 4))


@examples(300)
@given(st.lists(FEW, min_size=1, max_size=14), st.data())
def test_canonical_order_depends_on_what_the_rows_hold_alone(documents, data):
    values, labels, queries = (np.array(part) for part in zip(*documents, strict=True))
    rows = np.array(data.draw(st.permutations(range(len(documents)))))
    names = data.draw(st.permutations("abcde"))
    one = TrainingSet(RankingData(values[:, None], labels, queries))
    other = TrainingSet(
        RankingData(values[rows][:, None], labels[rows], [names[query] for query in queries[rows]])
    )
    assert sorted(one.canonical_rows) == list(range(len(documents)))
    np.testing.assert_array_equal(one.data.X[one.canonical_rows], other.data.X[other.canonical_rows])
    np.testing.assert_array_equal(one.labels.y, other.labels.y)
    np.testing.assert_array_equal(one.labels.groups.offsets, other.labels.groups.offsets)


def test_canonical_queries_come_in_the_order_of_their_rows():
    train = TrainingSet(judged())
    of_row = train.data.groups.query_of_row[train.canonical_rows]
    assert train.canonical_queries.tolist() == list(dict.fromkeys(of_row.tolist()))


def test_queries_with_their_labels_exchanged_are_told_apart():
    X, y = [[1.0], [2.0], [1.0], [2.0]], np.array([0, 1, 1, 0])
    one, other = (TrainingSet(RankingData(X, labels, [1, 1, 2, 2])) for labels in (y, y[::-1]))
    assert one.labels.y.tolist() == other.labels.y.tolist()
    assert one.data.X[one.canonical_rows].tolist() == other.data.X[other.canonical_rows].tolist()


def test_data_are_binned_once_for_all_fits():
    train = TrainingSet(judged())
    assert train.binned(255) is train.binned(255, n_jobs=2)
    assert train.binned(7) is not train.binned(255)
    assert train.binned(7) is not train.binned(7, coarse=True)
    codes, edges = train.binned(7).matrix.codes(), train.binned(7).matrix.edges
    np.testing.assert_array_equal(codes, slow.encode(train.data.X[train.canonical_rows], edges))


def test_columns_within_the_query_are_made_once_for_all_fits():
    train = TrainingSet(judged())
    wide = train.with_query_features((ZSCORE, RANK))
    assert wide is train.with_query_features((ZSCORE, RANK))
    assert wide is not train.with_query_features((ZSCORE, RANK), raw=False)
    expected = with_query_features(train.data.X, train.data.groups, (ZSCORE, RANK))
    assert wide.data.X.tobytes() == expected.tobytes()
    assert train.with_query_features(()) is train


def test_threads_that_ask_at_once_get_what_was_made_once():
    train, ready = TrainingSet(judged(20_000)), Barrier(8)

    def ask(_):
        ready.wait()
        return train.binned(31, 1), train.with_query_features((RANK,)), train.labels

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(8)))
    assert all(one is other for answer in answers for one, other in zip(answer, answers[0], strict=True))


@pytest.mark.parametrize("copied", [lambda train: pickle.loads(pickle.dumps(train)), copy.deepcopy, copy.copy])
def test_a_training_set_in_use_can_be_copied(copied):
    train = TrainingSet(judged())
    train.binned(255)
    train.with_query_features((ZSCORE,)).binned(7)
    twin = copied(train)
    assert twin.canonical_rows.tolist() == train.canonical_rows.tolist()
    assert twin.binned(255).matrix.codes().tobytes() == train.binned(255).matrix.codes().tobytes()
    assert repr(twin) == repr(train) == "TrainingSet(RankingData(30 documents, 4 queries, 2 features))"


def test_data_can_be_pickled_after_a_fit():
    data = judged(60)
    model = rw.LambdaMART(rounds=2, query_features=("rank",)).fit(data).model_
    twin = pickle.loads(pickle.dumps(data))
    assert rw.LambdaMART(rounds=2, query_features=("rank",)).fit(twin).model_.predict(data).tolist() == (
        model.predict(data).tolist()
    )


def test_fits_share_a_training_set_and_its_bins():
    train, valid = TrainingSet(judged(60)), TrainingSet(judged(40, seed=2))
    for ranker in (rw.LambdaMART(rounds=3, query_features=("rank",)), rw.RankSVM(), rw.AdaRank(rounds=2)):
        shared = ranker.fit(train, validation=valid).predict(valid.data)
        assert shared.tobytes() == ranker.fit(train.data, validation=valid.data).predict(valid.data).tobytes()
    wide = train.with_query_features((RANK,))
    before = wide.binned(255)
    rw.LambdaMART(rounds=3, query_features=("rank",), max_leaves=4).fit(train, validation=valid)
    assert wide.binned(255) is before


@pytest.mark.parametrize("data", [Documents([[1.0]], [1]), [[1.0]], None])
def test_a_training_set_is_made_from_judged_data(data):
    with pytest.raises(InputError, match="A training set is made from RankingData, not"):
        TrainingSet(data)


def test_labels_do_not_go_beside_a_training_set():
    train = TrainingSet(judged())
    with pytest.raises(InputError, match="fit takes RankingData alone, without y and qid"):
        rw.LambdaMART().fit(train, train.data.y, train.data.qid)


def test_a_fit_makes_no_copy_of_its_arrays():
    X, y, qid = np.ones((2, 1), dtype=np.float32), np.array([1.0, 0.0]), np.array([1, 1])
    assert np.shares_memory(as_training_set(X, y, qid, "fit").data.X, X)


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
    part = _native.encode(X, rows, rows[:0], whole.edges, False, 1)
    np.testing.assert_array_equal(part.codes(), whole.codes()[rows])
    assert BinnedFeatures.of(X, rows).matrix.edges == BinnedFeatures.of(X[rows], np.arange(len(rows))).matrix.edges


def test_edges_of_many_rows_come_from_a_sample():
    X = np.random.default_rng(1).normal(size=(2000, 2)).astype(np.float32)
    rows = np.arange(2000)
    sampled = BinnedFeatures.of(X, rows, max_bins=9, sample=np.arange(0, 2000, 4)).matrix
    assert sampled.edges == BinnedFeatures.of(X[::4], np.arange(500), max_bins=9).matrix.edges
    shares = np.bincount(sampled.codes()[:, 0], minlength=9) / 2000
    np.testing.assert_allclose(shares, 1 / 9, atol=0.05)


def test_the_sample_depends_neither_on_the_order_of_documents_nor_on_the_names_of_queries(monkeypatch):
    monkeypatch.setattr("rankwright.training.training_set.SAMPLE_ROWS", 300)
    random = np.random.default_rng(1)
    X, y, qid = (
        random.normal(size=(2000, 2)).astype(np.float32),
        random.integers(3, size=2000),
        np.arange(2000) // 20,
    )
    order = random.permutation(2000)
    shuffled = RankingData(X[order], y[order], 1000 - qid[order])
    one, other = (TrainingSet(data).binned(9).matrix for data in (RankingData(X, y, qid), shuffled))
    assert one.edges == other.edges != BinnedFeatures.of(X, np.arange(2000), max_bins=9).matrix.edges


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
        _native.encode(X, rows, rows[:0], [[]], False, 1)
    with pytest.raises(ValueError, match="a row is out of range"):
        _native.encode(X[:0], np.zeros(1, dtype=np.int64), np.arange(0), [[]], False, 1)


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
        _native.encode(np.zeros((2, 1), dtype=np.float32), np.arange(2), np.arange(2), edges, False, 1)
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
    monkeypatch.setattr(binned_features, "available_memory", lambda: 2**20)
    X = np.random.default_rng(0).random((5_000, 20)).astype(np.float32)
    with pytest.raises(InputError, match="leave out all_thresholds, or round the features"):
        BinnedFeatures.exact(X, np.arange(len(X)))


def generator(seed=7):
    return np.random.default_rng(seed)


@st.composite
def collections(draw):
    qid = draw(st.lists(st.integers(0, 6), min_size=1, max_size=25))
    rows = np.arange(len(qid), dtype=np.float32)
    return TrainingSet(RankingData(rows[:, None], rows % 3, qid))


def queries_of(data):
    return set(data.data.qid.tolist())


@given(collections(), st.integers(0, 50))
def test_a_bag_holds_as_many_queries_as_there_are_and_leaves_others_out(data, seed):
    bag, times, left_out = bag_queries(data, generator(seed))
    assert queries_of(bag) | queries_of(left_out) == queries_of(data)
    assert len(times) == len(bag)
    n_queries = len(data.data.groups)
    if n_queries == 1:
        assert len(bag) == len(left_out) == len(data)
        return
    assert queries_of(left_out)
    assert not queries_of(bag) & queries_of(left_out)
    assert len(bag) + len(left_out) == len(data)
    qid = bag.data.qid[bag.canonical_rows].tolist()
    of_query = dict(zip(qid, times.tolist(), strict=True))
    assert [of_query[one] for one in qid] == times.tolist()
    assert sum(of_query.values()) == n_queries


@given(collections(), st.integers(0, 50), st.data())
def test_neither_the_order_of_rows_nor_the_names_of_queries_change_a_draw(data, seed, draw):
    rows = np.array(draw.draw(st.permutations(range(len(data)))))
    X, y, qid = data.data
    shuffled = TrainingSet(RankingData(X[rows], y[rows], [f"q{one}" for one in qid[rows]]))
    bags = [bag_queries(one, generator(seed)) for one in (data, shuffled)]
    drawn = [dict(zip(documents_of(bag), times.tolist(), strict=True)) for bag, times, _ in bags]
    assert drawn[0] == drawn[1]
    parts = [hold_out_queries(one, 0.3, generator(seed))[1] for one in (data, shuffled)]
    assert documents_of(parts[0]) == documents_of(parts[1])
    if len(data.data.groups) >= 2:
        folds = [fold_queries(one, 2, generator(seed)) for one in (data, shuffled)]
        assert [list(map(documents_of, fold)) for fold in folds[0]] == [
            list(map(documents_of, fold)) for fold in folds[1]
        ]


def documents_of(train):
    """The documents in canonical order, each by its only feature."""
    return train.data.X[train.canonical_rows, 0].tolist()


@given(collections(), st.integers(1, 4), st.integers(0, 50))
def test_every_query_is_in_one_fold_and_folds_are_about_equally_large(data, n_folds, seed):
    n_queries = len(data.data.groups)
    if n_queries < n_folds:
        with pytest.raises(InputError, match=f"{n_folds} folds need at least {n_folds} queries, not"):
            fold_queries(data, n_folds, generator(seed))
        return
    folds = fold_queries(data, n_folds, generator(seed))
    sizes = [len(queries_of(fold)) for _, fold in folds]
    assert sum(sizes) == n_queries
    assert max(sizes) - min(sizes) <= 1
    for rest, fold in folds:
        assert queries_of(rest) | queries_of(fold) == queries_of(data)
        assert not queries_of(rest) & queries_of(fold)


def test_about_a_third_of_many_queries_is_left_out():
    data = TrainingSet(RankingData(np.arange(2000.0)[:, None], np.zeros(2000), np.arange(2000)))
    assert len(bag_queries(data, generator())[2]) / 2000 == pytest.approx(np.exp(-1), abs=0.03)
