import copy
import pickle
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from properties import examples
from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.models import Combination, LinearScorer, TreeEnsemble
from rankwright.models.model_file import decode, encode
from reference import trees as reference

PATHS = range(_native.widest_path() + 1)
SIZES = (1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257, 321, 385, 513)
HIGHEST = np.finfo(np.float32).max
FEW_VALUES = np.array([-1.5, -0.0, 0.0, 1e-45, 0.25, 3.0, 3.4e38], dtype=np.float32)
ENDS = np.array([-np.inf, -HIGHEST, HIGHEST, np.inf], dtype=np.float32)
seeds = st.integers(0, 2**32 - 1)


def native(ensemble):
    arrays = (
        "splits",
        "feature",
        "threshold",
        "missing_left",
        "left",
        "right",
        "set_size",
        "set_words",
        "leaf_value",
    )
    return _native.TreeScorer(*(getattr(ensemble, name) for name in arrays), ensemble.n_features)


def random_rows(rng, n_rows, n_features, values, missing):
    """Rows of values that are often equal to a threshold, and sometimes infinite; the last is almost constant."""
    X = rng.choice(values, (n_rows, n_features))
    X += rng.choice(np.array([0, 0, 1e-3, -1e-3], dtype=np.float32), X.shape)
    X[:, -1] = values[0]
    X[rng.random(X.shape) < missing] = np.nan
    odd = rng.random(X.shape)
    X[odd < 0.02], X[odd > 0.98] = -np.inf, np.inf
    return X


def small(**changes):
    """One tree of three leaves and one of a single leaf."""
    parts = {
        "splits": [0, 2, 2],
        "feature": [1, 0],
        "threshold": [0.5, -2.0],
        "missing_left": [1, 0],
        "left": [1, -1],
        "right": [-3, -2],
        "leaf_value": [1.0, 10.0, 100.0, 0.25],
        "gain": [5.0, 2.0],
        "cover": [3, 4, 5, 12],
        "n_features": 3,
    }
    return TreeEnsemble(**(parts | changes))


@given(
    seeds,
    st.lists(st.integers(1, 70), min_size=0, max_size=6),
    st.booleans(),
    st.sampled_from(SIZES),
    st.sampled_from([0.0, 0.05, 1.0]),
)
@examples(150)
def test_every_path_equals_the_slow_twin(seed, leaves, chain, n_rows, missing):
    rng = np.random.default_rng(seed)
    ensemble = reference.random_ensemble(rng, leaves, np.concatenate([FEW_VALUES, ENDS]), chain=chain)
    X = random_rows(rng, n_rows, 3, FEW_VALUES, missing)
    X[rng.random(X.shape) < 0.1] = rng.choice(ENDS)
    expected = reference.scores(ensemble, X).tobytes()
    for path in PATHS:
        assert native(ensemble).score(X, 1, path).tobytes() == expected
    assert ensemble.predict(X).tobytes() == expected


@pytest.mark.parametrize("chain", [False, True])
@pytest.mark.parametrize("n_leaves", [15, 16, 17, 31, 32, 33, 64, 65, 96, 97, 128, 129, 255, 256, 257, 1500])
def test_trees_of_any_size(n_leaves, chain):
    rng = np.random.default_rng(n_leaves)
    values = rng.normal(size=50).astype(np.float32)
    ensemble = reference.random_ensemble(rng, [n_leaves, 1, n_leaves], values, chain=chain)
    X = random_rows(rng, 70, 3, values, 0.1)
    expected = reference.scores(ensemble, X).tobytes()
    for path in PATHS:
        assert native(ensemble).score(X, 1, path).tobytes() == expected


@pytest.mark.slow
@pytest.mark.parametrize("missing_left", [0, 1])
@pytest.mark.parametrize(
    "n_thresholds", [1, 2, 7, 15, 16, 31, 32, 63, 64, 127, 128, 240, 254, 255, 256, 257, 510, 511, 3000]
)
def test_any_number_of_thresholds(n_thresholds, missing_left):
    rng = np.random.default_rng(n_thresholds)
    values = np.unique(rng.normal(size=n_thresholds).astype(np.float32))
    ensemble = reference.random_ensemble(rng, [2] * len(values), values, n_features=1)
    sides = np.full(len(ensemble.feature), missing_left)
    ensemble = replace(ensemble, threshold=rng.permutation(values), missing_left=sides)
    X = np.concatenate([values, values + 1e-4, [np.nan, -3e38, 3e38]])[:, None].astype(np.float32)
    X = X[rng.choice(len(X), min(len(X), 200), replace=False)]
    expected = reference.scores(ensemble, X).tobytes()
    for path in PATHS:
        assert native(ensemble).score(X, 1, path).tobytes() == expected


@given(
    seeds,
    st.lists(st.integers(0, 10), min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from(SIZES),
    st.sampled_from([0.0, 0.1]),
)
@examples(100)
def test_oblivious_trees_score_like_any_other(seed, depths, almost, n_rows, missing):
    rng = np.random.default_rng(seed)
    ensemble = reference.oblivious_ensemble(rng, depths, FEW_VALUES)
    if almost and len(ensemble.threshold):  # one split of a level differs
        threshold = ensemble.threshold.copy()
        threshold[rng.integers(len(threshold))] = rng.choice(FEW_VALUES)
        ensemble = replace(ensemble, threshold=threshold)
    X = random_rows(rng, n_rows, 3, FEW_VALUES, missing)
    expected = reference.scores(ensemble, X).tobytes()
    for path in PATHS:
        assert native(ensemble).score(X, 1, path).tobytes() == expected
    assert ensemble.predict(X, n_jobs=2).tobytes() == expected


@pytest.mark.parametrize("depth", [2, 5, 6, 7, 8, 9, 16])
def test_oblivious_trees_of_any_depth(depth):
    rng = np.random.default_rng(depth)
    values = rng.normal(size=50).astype(np.float32)
    ensemble = reference.oblivious_ensemble(rng, [depth, 1, depth], values)
    X = random_rows(rng, 300, 3, values, 0.1)
    expected = reference.scores(ensemble, X).tobytes()
    for path in PATHS:
        assert native(ensemble).score(X, 1, path).tobytes() == expected


@given(seeds, st.lists(st.integers(2, 300), min_size=1, max_size=9), st.integers(1, 5), st.sampled_from(SIZES))
@examples(100)
def test_trees_of_few_different_tests(seed, leaves, n_values, n_rows):
    """As symmetric trees have, where a level splits some nodes only; a path may even repeat a test."""
    rng = np.random.default_rng(seed)
    values = FEW_VALUES[:n_values]
    ensemble = reference.random_ensemble(rng, leaves, values)
    X = random_rows(rng, n_rows, 3, values, 0.1)
    expected = reference.scores(ensemble, X).tobytes()
    for path in PATHS:
        assert native(ensemble).score(X, 1, path).tobytes() == expected


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(5)
    values = rng.normal(size=400).astype(np.float32)
    ensemble = reference.random_ensemble(rng, rng.integers(1, 60, size=300).tolist(), values, n_features=20)
    return ensemble, random_rows(rng, 3000, 20, values, 0.02)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threads_and_batches_change_no_bit(large, n_threads):
    ensemble, X = large
    expected = ensemble.predict(X, n_jobs=1)
    assert ensemble.predict(X, n_jobs=n_threads).tobytes() == expected.tobytes()
    for size in SIZES:
        assert ensemble.predict(X[-size:], n_jobs=n_threads).tobytes() == expected[-size:].tobytes()
    assert expected[:20].tobytes() == reference.scores(ensemble, X[:20]).tobytes()


def test_any_layout_gives_the_same_scores(large):
    ensemble, X = large
    expected = ensemble.predict(X)
    wide = np.zeros((len(X), 2 * X.shape[1]), dtype=np.float32)
    wide[:, ::2] = X
    backwards = np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    unaligned = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float32).reshape(X.shape)
    for layout in (np.asfortranarray(X), wide[:, ::2], backwards, unaligned, X.astype(">f4"), X.astype(float)):
        assert ensemble.predict(layout).tobytes() == expected.tobytes()
        assert ensemble.predict(layout[::3]).tobytes() == expected[::3].tobytes()


@pytest.mark.parametrize("n_splits", [1, 40, 2000])
@pytest.mark.parametrize("n_features", [16, 17, 255, 256, 257, 600])
def test_wide_data_of_any_layout_equals_the_slow_twin(n_features, n_splits):
    rng = np.random.default_rng(n_features + n_splits)
    ensemble = reference.random_ensemble(rng, [2] * n_splits, FEW_VALUES, n_features=n_features)
    X = random_rows(rng, 530, n_features, FEW_VALUES, 0.05)  # two whole blocks, and a part
    expected = reference.scores(ensemble, X).tobytes()
    some = np.repeat(X, 2, axis=0)[::2]
    for layout in (X, np.asfortranarray(X), some):
        for path, dtype in product(PATHS, (np.float32, np.float64)):
            assert native(ensemble).score(layout.astype(dtype, copy=False), 1, path).tobytes() == expected


def test_doubles_are_rounded_to_floats():
    ensemble = small(threshold=[0.1, 0.1])
    below, above = np.float32(0.1), np.nextafter(np.float32(0.1), np.float32(1))
    assert ensemble.threshold.tolist() == [np.nextafter(np.float32(0.1), np.float32(0))] * 2
    X = np.array([[0.0, 0.1, 0], [0, 0.1 + 1e-12, 0], [0, below, 0], [0, above, 0], [0, 0.09, 0]])
    for order in "CF":
        scores = ensemble.predict(np.array(X, order=order))
        assert scores.tolist() == reference.scores(ensemble, X.astype(np.float32)).tolist()


def test_a_threshold_is_rounded_down_to_a_float():
    for threshold in (0.1, 1 / 3, -0.1, 1e-50, -1e-50):
        kept = small(threshold=[threshold, threshold]).threshold[0]
        assert float(kept) <= threshold < float(np.nextafter(kept, np.float32(1e9)))
    assert small(threshold=[1e300, 0]).threshold[0] == np.finfo(np.float32).max


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compressed_rows(large, dtype, index):
    ensemble, X = large
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.7, 0, X).astype(dtype)
    expected = ensemble.predict(X).tobytes()
    rows = sparse.csr_array(X)
    rows.indptr, rows.indices = rows.indptr.astype(index), rows.indices.astype(index)
    for n_threads in (1, 2):
        assert ensemble.predict(rows, n_jobs=n_threads).tobytes() == expected
    for path in PATHS:
        found = native(ensemble).score_sparse(rows.indptr, rows.indices, rows.data, 1, path)
        assert found.tobytes() == expected
    for other in (sparse.csr_matrix(rows), sparse.csc_array(rows), sparse.coo_array(rows)):
        assert ensemble.predict(other).tobytes() == expected
    rows.indices, rows.data = (np.append(array, array[:5]) for array in (rows.indices, rows.data))
    assert ensemble.predict(rows).tobytes() == expected


def test_a_feature_stored_twice_is_summed():
    twice = sparse.csr_array((np.array([0.25, 0.5]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    assert small().predict(twice).tolist() == small().predict([[0, 0.75, 0]]).tolist()


def test_numbers_too_large_for_32_bits_are_refused_wherever_they_are():
    for order, value in product("CF", (1e39, -1e39, 3.5e38, 1e308)):
        X = np.zeros((300, 3), order=order)
        X[130, 2] = value  # a feature that no split uses
        for layout in (X, X[::-1][::-1], sparse.csr_array(X), np.repeat(X, 2, axis=1)[:, ::2], X.tolist()):
            with pytest.raises(InputError, match="Feature 2 of row 130 is too large"):
                small().predict(layout)
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        with pytest.raises(InputError, match="Column 'c' of row 130 is too large"):
            small().predict(frame)
        with pytest.raises(InputError, match="Column 'c' of row 0 is too large"):
            small().described(feature_names=["c", "a", "b"]).predict(frame[130:131])


@pytest.mark.parametrize("feature", [0, 5, 20, 39, 60])
def test_too_large_a_number_is_found_between_and_beside_the_features_in_use(feature):
    ensemble = small(feature=[39, 0], n_features=61)
    X = np.zeros((300, 61))
    X[7] = np.inf  # which is no error
    assert np.isfinite(ensemble.predict(X)).all()
    X[130, feature] = 1e39
    for order in "CF":
        for path in PATHS:
            assert native(ensemble).score(np.asarray(X, order=order), 1, path) is None


def test_an_infinite_value_is_beyond_all_thresholds():
    rng = np.random.default_rng(1)
    ensemble = reference.random_ensemble(rng, [31] * 10, FEW_VALUES)
    finite = random_rows(rng, 300, 3, np.float32([0.25, 3.0]), 0.1)
    low, high = finite == np.float32(0.25), finite == np.float32(3.0)
    finite[low], finite[high] = -np.finfo(np.float32).max, np.finfo(np.float32).max
    infinite = np.where(low, -np.inf, np.where(high, np.inf, finite)).astype(np.float32)
    assert ensemble.predict(infinite).tobytes() == ensemble.predict(finite).tobytes()
    assert ensemble.contributions(infinite).tobytes() == ensemble.contributions(finite).tobytes()
    together = Combination((ensemble, ensemble.first(3)), [1.0, 0.5])
    assert together.predict(infinite).tobytes() == together.predict(finite).tobytes()


def test_what_computes_with_values_refuses_infinite_ones():
    mixed = Combination((small(), LinearScorer(np.ones(3), np.zeros(3))), [1.0, 1.0])
    with pytest.raises(InputError, match="Feature 1 of row 0 is infinite or too large"):
        mixed.predict([[0, np.inf, 0]])


def test_a_score_beyond_all_numbers_is_told():
    with pytest.raises(InputError, match="score of row 0 is not finite"):
        TreeEnsemble.concatenate([small(leaf_value=[1e308] * 4)] * 2).predict([[0, 0, 0]])


def test_known_scores():
    X = np.array([[-3, 0.5, 9], [-2, 0, 0], [0, 0.5, 0], [0, 0.6, 0], [0, np.nan, 0], [np.nan, 0, 0]])
    assert small().predict(X).tolist() == [1.25, 1.25, 10.25, 100.25, 10.25, 10.25]


def test_no_trees_score_zero():
    empty = small().first(0)
    assert empty.n_trees == 0
    assert empty.predict(np.ones((5, 3))).tolist() == [0] * 5
    assert empty.predict(sparse.csr_array(np.ones((5, 3)))).tolist() == [0] * 5
    assert empty.predict(np.ones((0, 3))).tolist() == []
    assert empty.importances().tolist() == [0, 0, 0]
    assert decode(encode(empty), "model.rw").n_trees == 0


def test_the_first_trees_are_a_model_of_their_own(large):
    ensemble, X = large
    X = X[:50]
    for n_trees in (0, 1, 150, 300):
        first = ensemble.first(n_trees)
        assert first.n_trees == n_trees
        assert first.predict(X).tobytes() == reference.scores(first, X).tobytes()
        assert encode(first) == encode(ensemble.take(range(n_trees)))
    assert ensemble.first(300).predict(X).tobytes() == ensemble.predict(X).tobytes()
    for wrong in (-1, 301, 1.5, True):
        with pytest.raises(InputError, match="n_trees must be"):
            ensemble.first(wrong)


def test_concatenated_trees_come_in_order():
    named = small().described(feature_names=("a", "b", "c"))
    joined = TreeEnsemble.concatenate([small().scaled(2), named, small().first(1)])
    assert joined.n_trees == 5
    assert joined.feature_names == ("a", "b", "c")
    assert joined.predict([[-3.0, 0.5, 9]]).tolist() == [2 * 1.25 + 1.25 + 1]
    other = small().described(feature_names=("a", "c", "b"))
    for wrong in ([], [small(), small(n_features=4)], [named, other]):
        with pytest.raises(InputError, match=r"concatenate"):
            TreeEnsemble.concatenate(wrong)


def test_scaled():
    assert small().scaled(-2).leaf_value.tolist() == [-2, -20, -200, -0.5]
    one = small()
    each = one.scaled([2.0] * one.n_trees).leaf_value
    assert each.tolist() == one.scaled(2.0).leaf_value.tolist()
    with pytest.raises(InputError, match="shape"):
        one.scaled([1.0] * (one.n_trees + 1))
    for factor in (np.nan, 1e308, "2"):
        with pytest.raises(InputError, match="finite"):
            small(leaf_value=[1e10] * 4).scaled(factor)


def test_importances():
    assert small().importances().tolist() == [2, 5, 0]
    assert small().importances("splits").tolist() == [1, 1, 0]
    with pytest.raises(InputError, match="'gain' or 'splits', not 'weight'"):
        small().importances("weight")


def test_copies_prepare_themselves(large):
    ensemble, X = large
    expected = ensemble.predict(X[:70]).tobytes()
    for twin in (copy.deepcopy(ensemble), copy.copy(ensemble), pickle.loads(pickle.dumps(ensemble))):
        assert twin.predict(X[:70]).tobytes() == expected
    assert Combination([ensemble, ensemble], [1, 0]).predict(X[:70]).tobytes() == expected


def test_repr():
    assert repr(small()) == "TreeEnsemble(2 trees, 3 features)"


WRONG = [
    ({"splits": []}, "splits must begin with 0"),
    ({"splits": [1, 2, 2]}, "splits must begin with 0"),
    ({"splits": [0, 3, 2]}, "splits must not decrease"),
    ({"splits": [0, 2, 3]}, "splits must end with the number of splits, 2, not 3"),
    ({"splits": [0, 2]}, r"leaf_value has shape \(4,\), expected shape \(3,\)"),
    ({"splits": [0.0, 2.0, 2.0]}, "splits must be integers"),
    ({"splits": [[0, 2, 2]]}, "splits has shape"),
    ({"splits": [0, 1, 2]}, r"leaf_value has shape|left\[0\] is 1"),
    ({"splits": np.array([0, 2**63, 2], dtype=np.uint64)}, "splits holds numbers too large"),
    ({"feature": [1]}, "splits must end with"),
    ({"feature": [1, 3]}, r"feature\[1\] is 3; it must be from 0 to 2"),
    ({"feature": [-1, 0]}, r"feature\[0\] is -1"),
    ({"feature": [2**32, 0]}, "feature holds numbers too large for int32"),
    ({"threshold": [0.5]}, "threshold has shape"),
    ({"threshold": [0.5, np.nan]}, r"threshold\[1\] is nan"),
    ({"threshold": [np.nan, 0.0]}, r"threshold\[0\] is nan; it must be a number"),
    ({"missing_left": [1]}, "missing_left must have one value per split"),
    ({"missing_left": [1, 2]}, r"missing_left\[1\] is 2"),
    ({"left": [1]}, "left must have one value per split"),
    ({"left": [0, -1]}, r"left\[0\] is 0: neither a later split"),
    ({"left": [2, -1]}, r"left\[0\] is 2: neither a later split"),
    ({"left": [1, 1]}, r"left\[1\] is 1: neither a later split"),
    ({"left": [1, 0]}, r"left\[1\] is 0: neither a later split"),
    ({"left": [1, -4]}, r"left\[1\] is -4: neither a later split nor a leaf"),
    ({"left": [1, -(2**31)]}, r"left\[1\] is -2147483648"),
    ({"right": [-1, -2]}, "right names a child that has a parent already"),
    ({"left": [-1, -1], "right": [1, -2]}, "left names a child twice"),
    ({"right": [-3, -3]}, "right names a child twice"),
    ({"leaf_value": [1, 2, 3, np.inf]}, r"leaf_value\[3\] is inf"),
    ({"gain": [1, np.nan]}, r"gain\[1\] is nan"),
    ({"cover": [1, 1, -1, 1]}, "cover must not be negative"),
    ({"n_features": 0}, "n_features must be from 1"),
    ({"n_features": 2**31}, "n_features must be from 1"),
    ({"n_features": 3.0}, "n_features must be an integer"),
]


@pytest.mark.parametrize(("changes", "sentence"), WRONG)
def test_what_is_no_tree_is_refused(changes, sentence):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=sentence):
            small(**changes)


@given(seeds, st.integers(1, 6))
@examples(300)
def test_a_hostile_state_is_refused_or_scores(seed, n_changes):
    rng = np.random.default_rng(seed)
    state = reference.random_ensemble(rng, [4, 1, 9], FEW_VALUES).state()
    arrays = {name: array.copy() for name, array in state.arrays.items()}
    for name in rng.choice(sorted(arrays), n_changes):
        values = arrays[name]
        values[rng.integers(len(values))] = rng.choice([0, 1, 2, 5, 100])
    try:
        ensemble = TreeEnsemble.from_state(replace(state, arrays=arrays))
    except InputError:
        return
    X = random_rows(rng, 70, 3, FEW_VALUES, 0.1)
    assert ensemble.predict(X).tobytes() == reference.scores(ensemble, X).tobytes()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"splits": np.array([0, 3])}, "offsets must run"),
        ({"feature": np.array([1, 3], dtype=np.int32)}, "a feature is out of range"),
        ({"threshold": np.array([1, np.nan], dtype=np.float32)}, "a threshold is not a number"),
        ({"threshold": np.array([1], dtype=np.float32)}, "one value per split"),
        ({"missing_left": np.array([1, 2], dtype=np.uint8)}, "missing_left must be 0 or 1"),
        ({"left": np.array([0, -1], dtype=np.int32)}, "a child is out of range"),
        ({"right": np.array([-4, -1], dtype=np.int32)}, "a child is out of range"),
        ({"left": np.array([1, -1], dtype=np.int32), "right": np.array([1, -2], dtype=np.int32)}, "two parents"),
        ({"left": np.array([1, -1], dtype=np.int32), "right": np.array([-1, -2], dtype=np.int32)}, "two parents"),
        ({"leaf_value": np.zeros(3)}, "one value per leaf"),
    ],
)
def test_the_core_trusts_nobody(changes, sentence):
    ensemble = small()
    for name, value in changes.items():
        ensemble._set(name, value)
    with pytest.raises(ValueError, match=sentence):
        native(ensemble)


def test_the_core_checks_what_it_scores():
    scorer = native(small())
    X = np.zeros((4, 3), dtype=np.float32)
    with pytest.raises(ValueError, match="one column per feature"):
        scorer.score(X[:, :2], 1)
    with pytest.raises(ValueError, match="must be aligned"):
        scorer.score(np.zeros(13, dtype=np.uint8)[1:].view(np.float32).reshape(1, 3), 1)
    for path in (-1, 3):
        with pytest.raises(ValueError, match="does not support this path"):
            scorer.score(X, 1, path)
    offsets, features = np.array([0, 1, 2]), np.array([0, 2])
    values = np.ones(2)
    assert len(scorer.score_sparse(offsets, features, values, 1)) == 2
    for wrong in ((offsets[:2], features), (offsets + 1, features), (offsets[[0, 2, 1, 2]], features)):
        with pytest.raises(ValueError, match="offsets"):
            scorer.score_sparse(*wrong, values, 1)
    for feature in (-1, 3):
        with pytest.raises(ValueError, match="a feature is out of range"):
            scorer.score_sparse(offsets, np.array([0, feature]), values, 1)
