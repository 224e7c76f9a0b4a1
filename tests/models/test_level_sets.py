"""Trees that split categories by sets of levels: scores, contributions, files and parts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.models import Combination, TreeEnsemble
from rankwright.models.level_sets import ABOVE_MINUS_ONE, FROM_ZERO, levels_of, words_of
from rankwright.models.model_file import decode, encode
from reference import shapley
from reference import trees as reference

seeds = st.integers(0, 2**32 - 1)
THRESHOLDS = np.array([-1.0, 0.5, 3.0], dtype=np.float32)
ODD = np.array(
    [np.nan, -0.0, -1e-45, -0.5, -1.0, -7.0, 0.5, 31.5, 2.0**24, 3e38, np.inf, -np.inf], dtype=np.float32
)


def random_model(rng, leaves, *, share=0.6, n_levels=70, chain=False):
    ensemble = reference.random_ensemble(rng, leaves, THRESHOLDS, chain=chain)
    return reference.with_sets(rng, ensemble, share, n_levels)


def random_rows(rng, n_rows, n_levels=75):
    X = rng.integers(0, n_levels, (n_rows, 3)).astype(np.float32)
    odd = rng.random(X.shape) < 0.3
    X[odd] = rng.choice(ODD, odd.sum())
    return X


def stump(levels, **changes):
    """One split by a set: 1 on its left, 0 on its right."""
    words = words_of(np.array(levels))
    parts = {
        "splits": [0, 1],
        "feature": [0],
        "threshold": [-1.0],
        "missing_left": [0],
        "left": [-1],
        "right": [-2],
        "leaf_value": [1.0, 0.0],
        "gain": [1.0],
        "cover": [1, 3],
        "set_size": [len(words)],
        "set_words": words,
        "n_features": 1,
    }
    return TreeEnsemble(**(parts | changes))


@given(
    seeds,
    st.lists(st.integers(1, 70), max_size=6),
    st.booleans(),
    st.sampled_from([0, 1, 2, 255, 256, 300]),
    st.sampled_from([1, 31, 33, 300]),
)
@examples(150)
def test_every_path_equals_the_slow_twin(seed, leaves, chain, n_rows, n_levels):
    rng = np.random.default_rng(seed)
    model = random_model(rng, leaves, n_levels=n_levels, chain=chain)
    X = random_rows(rng, n_rows, n_levels + 5)
    expected = reference.scores(model, X).tobytes()
    for path in range(_native.widest_path() + 1):
        for matrix in (X, X.astype(np.float64), np.asfortranarray(X)):
            assert model._prepared.score(matrix, 2, path).tobytes() == expected


@pytest.mark.parametrize("n_leaves", [15, 129, 256, 257, 700])
def test_more_sets_than_a_column_holds(n_leaves):
    rng = np.random.default_rng(n_leaves)
    model = random_model(rng, [n_leaves, 1, n_leaves], share=1.0, n_levels=400)
    X = random_rows(rng, 400, 405)
    np.testing.assert_array_equal(model.predict(X), reference.scores(model, X))


def test_compressed_rows_score_like_dense_ones():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(4)
    model, X = random_model(rng, [20] * 5), random_rows(rng, 300)
    X[rng.random(X.shape) < 0.4] = 0.0
    assert model.predict(sparse.csr_array(X)).tobytes() == model.predict(X).tobytes()


@given(seeds, st.lists(st.integers(1, 9), min_size=1, max_size=3))
@examples(50)
def test_contributions_are_shapley_values(seed, leaves):
    rng = np.random.default_rng(seed)
    model, X = random_model(rng, leaves), random_rows(rng, 5)
    values = model.contributions(X)
    np.testing.assert_allclose(values, shapley.contributions(model, X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(values.sum(axis=1), model.predict(X), rtol=0, atol=1e-12)


def test_levels_that_are_in_no_word_go_right_and_missing_ones_where_the_split_says():
    rows = np.array([[1], [2], [1.9], [33], [40], [1e9], [-0.5], [-1], [np.nan]], dtype=np.float32)
    model = stump([0, 1, 33])
    assert model.predict(rows).tolist() == [1, 0, 1, 1, 0, 0, 1, 0, 0]
    assert stump([0, 1, 33], missing_left=[1], threshold=[FROM_ZERO]).predict(rows).tolist() == [
        *(1, 0, 1, 1, 0, 0, 0, 0, 1)
    ]


@given(st.sets(st.integers(0, 200)))
def test_words_hold_their_levels(levels):
    assert levels_of(words_of(np.array(sorted(levels), dtype=np.int64))).tolist() == sorted(levels)


@given(seeds)
@examples(50)
def test_files_hold_sets(seed):
    rng = np.random.default_rng(seed)
    model, X = random_model(rng, [5, 1, 9], share=0.8), random_rows(rng, 50)
    for scorer in (model, Combination([model, model], [0.25, 0.5])):
        content = encode(scorer)
        loaded = decode(content, "it")
        assert loaded.predict(X).tobytes() == scorer.predict(X).tobytes()
        assert encode(loaded) == content
        assert content[15] == (4 if model.has_sets else 1)


def test_parts_keep_their_sets():
    rng = np.random.default_rng(8)
    model, X = random_model(rng, [9] * 4), random_rows(rng, 100)
    assert encode(model.first(2)) == encode(model.take([0, 1]))
    parts = [model.take([tree]) for tree in range(4)]
    joined = TreeEnsemble.concatenate(parts)
    assert joined.predict(X).tobytes() == model.predict(X).tobytes()
    assert encode(joined) == encode(model)
    assert {split: own.tolist() for split, own in joined.level_sets.items()} == {
        split: own.tolist() for split, own in model.level_sets.items()
    }
    assert joined.first(2).predict(X).tobytes() == reference.scores(model.first(2), X).tobytes()
    assert not replace(model.first(0)).has_sets


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"set_size": [2]}, "set_words must be the 2 words"),
        ({"set_size": []}, "set_size must have one value per split"),
        ({"set_size": [2**19 + 1]}, "set_size.0. is 524289; it must be from 0 to 524288"),
        ({"set_size": [-1]}, "set_size holds numbers too large"),
        ({"set_words": [0.5]}, "set_words must be integers"),
        ({"set_words": [2**32]}, "set_words holds numbers too large"),
        ({"threshold": [0.0]}, "The threshold of a set must be -1 or the highest number below 0"),
    ],
    ids=str,
)
def test_wrong_sets_are_refused(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        stump([3], **changes)


def test_the_core_checks_sets():
    model = stump([3])
    arrays = {
        name: getattr(model, name) for name in ("splits", "feature", "threshold", "missing_left", "left", "right")
    }
    arrays |= {"set_size": model.set_size, "set_words": model.set_words, "leaf_value": model.leaf_value}
    for wrong in (
        {"set_words": np.zeros(0, np.uint32)},
        {"set_size": np.array([2**20], np.uint32)},
        {"set_size": np.zeros(0, np.uint32)},
        {"threshold": np.array([0.5], np.float32)},
    ):
        with pytest.raises(ValueError, match="set"):
            _native.TreeScorer(**(arrays | wrong), n_features=1)


def test_a_file_with_sets_is_of_a_later_version(tmp_path):
    rw.save(stump([0, 40]), tmp_path / "model.rw")
    content = (tmp_path / "model.rw").read_bytes()
    assert content[15] == 4
    assert rw.load(tmp_path / "model.rw").level_sets[0].tolist() == [0, 40]
    assert ABOVE_MINUS_ONE < FROM_ZERO < 0
