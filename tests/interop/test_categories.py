"""Categorical splits of LightGBM and XGBoost, which are sets: the library's own scores, there and back."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from interop.foreign import N_FEATURES, small_trees
from interop.importers import test_lightgbm, test_xgboost
from properties import examples
from rankwright.base.errors import InputError
from rankwright.data.categories import Category
from rankwright.interop.importers import lightgbm
from rankwright.interop.importers.interval_splits import MAX_SPLITS, without_sets
from rankwright.interop.importers.lightgbm import scorer_from_lightgbm
from rankwright.interop.importers.xgboost import scorer_from_xgboost
from rankwright.models.level_sets import levels_of
from reference.trees import random_ensemble, with_sets

CARDINALITIES = (3, 12, 60)
ODD = (
    np.nan,
    -0.0,
    -1e-45,
    -0.5,
    -0.99999994,
    -1.0,
    -1.5,
    -7.0,
    0.5,
    0.99999994,
    2.5,
    31.5,
    2.0**24,
    2.0**31,
    3e38,
)
SETS = st.lists(st.integers(0, 70), min_size=1, max_size=12, unique=True)


def rows_of(seed, n=1000, highest=75):
    """Return codes of known and unknown categories, negative and fractional numbers, and missing values."""
    random = np.random.default_rng(seed)
    X = random.integers(0, highest, (n, N_FEATURES)).astype(np.float32)
    odd = random.random(X.shape) < 0.3
    X[odd] = random.choice(np.array(ODD, dtype=np.float32), odd.sum())
    return X


def judged(missing):
    """Return three columns of categories and one of numbers, and labels that depend on all of them."""
    random = np.random.default_rng(3)
    X = np.column_stack([random.integers(0, n, 1500) for n in CARDINALITIES] + [random.normal(size=1500)])
    effects = [random.normal(size=n)[X[:, place].astype(int)] for place, n in enumerate(CARDINALITIES)]
    y = np.sum(effects, axis=0) + X[:, -1]
    X[random.random(X.shape) < missing] = np.nan
    return X.astype(np.float32), y


def with_odd_values(X):
    """Return the documents, and these with unknown, negative and fractional categories among them."""
    odd = rows_of(1, len(X))
    return np.concatenate([X, np.column_stack([odd, X[:, -1]])])


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("settings", [{}, {"max_cat_to_onehot": 100}, {"zero_as_missing": True}], ids=str)
def test_a_model_of_lightgbm_gives_the_same_scores(settings, missing):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = judged(missing)
    options = {"verbosity": -1, "num_threads": 1, "num_leaves": 8, "min_data_per_group": 5, "cat_smooth": 1.0}
    data = lightgbm.Dataset(X, y, categorical_feature=[0, 1, 2])
    model = lightgbm.train({**options, **settings}, data, 20)
    scorer, rows = scorer_from_lightgbm(model.model_to_string()), with_odd_values(X)
    np.testing.assert_array_equal(scorer.predict(rows), model.predict(rows, raw_score=True, num_threads=1))
    np.testing.assert_allclose(scorer.importances(), model.feature_importance("gain"), rtol=1e-4)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("max_cat_to_onehot", [1, 100])
def test_a_model_of_xgboost_gives_the_same_scores(max_cat_to_onehot, missing):
    xgboost = pytest.importorskip("xgboost")
    X, y = judged(missing)
    options = {"nthread": 1, "max_depth": 3, "tree_method": "hist", "max_cat_to_onehot": max_cat_to_onehot}
    types = ["c", "c", "c", "q"]
    data = xgboost.DMatrix(X, y, feature_types=types, enable_categorical=True, nthread=1)
    model = xgboost.train(options, data, 20)
    scorer, rows = scorer_from_xgboost(bytes(model.save_raw("ubj"))), with_odd_values(X)
    matrix = xgboost.DMatrix(rows, feature_types=types, enable_categorical=True, nthread=1)
    margins = model.predict(matrix, output_margin=True)
    np.testing.assert_allclose(scorer.predict(rows), margins, rtol=1e-6, atol=1e-5)


# As XGBoost 2.1.1 wrote it: a set's threshold is NaN, the base score a number as text.
OF_XGBOOST_2 = """{"learner":{"attributes":{},"feature_names":[],"feature_types":["c","q"],
"gradient_booster":{"model":{"gbtree_model_param":{"num_parallel_tree":"1","num_trees":"1"},
"iteration_indptr":[0,1],"tree_info":[0],"trees":[{"base_weights":[5E-1,2E0,-0E0,1.5E0,2.5E0,2.5E-1,-5E-1],
"categories":[0,1,2,2],"categories_nodes":[0,2],"categories_segments":[0,3],"categories_sizes":[3,1],
"default_left":[1,0,1,0,0,0,0],"id":0,"left_children":[1,3,5,-1,-1,-1,-1],
"loss_changes":[6E0,5E-1,7.5E-1,0E0,0E0,0E0,0E0],"parents":[2147483647,0,0,1,1,2,2],
"right_children":[2,4,6,-1,-1,-1,-1],"split_conditions":[NaN,2E0,NaN,1.5E0,2.5E0,2.5E-1,-5E-1],
"split_indices":[0,1,0,0,0,0,0],"split_type":[1,0,1,0,0,0,0],"sum_hessian":[8E0,2E0,6E0,1E0,1E0,4E0,2E0],
"tree_param":{"num_deleted":"0","num_feature":"2","num_nodes":"7","size_leaf_vector":"1"}}]},"name":"gbtree"},
"learner_model_param":{"base_score":"5E-1","boost_from_average":"0","num_class":"0","num_feature":"2",
"num_target":"1"},"objective":{"name":"reg:squarederror","reg_loss_param":{"scale_pos_weight":"1"}}},
"version":[2,1,1]}"""


def test_a_file_of_xgboost_2_with_sets():
    scorer = scorer_from_xgboost(OF_XGBOOST_2)
    rows = [[0, 1], [1, 2], [2, 3], [2, np.nan], [3, 1], [3, 5]]
    np.testing.assert_array_equal(scorer.predict(np.array(rows, dtype=np.float32)), [0.75, 0.75, 0, 0, 2, 3])
    for numbers in ("[NaN,NaN,NaN,1.5E0,", "[NaN,2E0,NaN,NaN,"):  # a number's threshold, a leaf's value
        broken = OF_XGBOOST_2.replace("[NaN,2E0,NaN,1.5E0,", numbers)
        with pytest.raises(InputError, match="split_conditions must be numbers, not NaN"):
            scorer_from_xgboost(broken)


@given(small_trees(), st.lists(SETS | st.none(), min_size=5, max_size=5), st.integers(0, 3))
@examples(100)
def test_every_set_decides_as_in_lightgbm(tree, sets, seed):
    lightgbm = pytest.importorskip("lightgbm")
    features, thresholds, left, right = tree
    own = sets[: len(features)]
    words = [_words(one) for one in own if one is not None]
    numbers = iter(range(len(words)))
    marks = [next(numbers) if one is not None else at for one, at in zip(own, thresholds, strict=True)]
    decisions = [(one is not None) + (0, 2, 8, 10)[seed] for one in own]
    text = test_lightgbm.text_of((features, marks, left, right, decisions, words))
    rows = rows_of(seed)
    expected = lightgbm.Booster(model_str=text).predict(rows, raw_score=True, num_threads=1)
    np.testing.assert_array_equal(scorer_from_lightgbm(text).predict(rows), expected)


def _words(categories):
    words = [0] * (max(categories) // 32 + 1)
    for one in categories:
        words[one // 32] |= 1 << one % 32
    return words


@given(
    small_trees(),
    st.lists(SETS | st.none(), min_size=5, max_size=5),
    st.lists(st.integers(0, 1), min_size=5, max_size=5),
    st.integers(0, 3),
)
@examples(100)
def test_every_set_decides_as_in_xgboost(tree, sets, sides, seed):
    features, thresholds, left, right = tree
    own = {split: one for split, one in enumerate(sets[: len(features)]) if one is not None}
    with np.errstate(over="ignore"):
        thresholds = np.clip(np.float32(thresholds), -3e38, 3e38).tolist()
    model = test_xgboost.model_of((features, thresholds, left, right, sides[: len(features)], own))
    rows = rows_of(seed)
    found = scorer_from_xgboost(json.dumps(model)).predict(rows)
    np.testing.assert_allclose(found, test_xgboost.margins(model, rows), rtol=1e-6, atol=1e-5)


def test_sets_are_saved_cut_and_exported(tmp_path):
    tree = ([0, 0], [0, 1], [1, -1], [-3, -2], [1, 1], [[0b1010], [0b0010]])
    scorer = scorer_from_lightgbm(test_lightgbm.text_of(tree, tree))
    assert [own.tolist() for own in scorer.level_sets.values()] == [[1, 3], [1]] * 2
    rows = rows_of(0, highest=5)
    rw.save(scorer, tmp_path / "model.rw")
    assert rw.load(tmp_path / "model.rw").predict(rows).tobytes() == scorer.predict(rows).tobytes()
    assert scorer.first(1).n_rounds == 1
    rw.export(scorer, tmp_path / "model.txt", format="lightgbm")
    again = rw.load(tmp_path / "model.txt")
    assert again.predict(rows).tobytes() == scorer.predict(rows).tobytes()
    assert again.set_words.tobytes() == scorer.set_words.tobytes()


def test_beside_zeros_that_go_elsewhere_sets_become_thresholds():
    tree = ([0, 1], [0, 0.5], [1, -1], [-3, -2], [1, 4 + 2], [[0b1010]])  # 0.5: zeros are missing, and go left
    scorer = scorer_from_lightgbm(test_lightgbm.text_of(tree))
    assert scorer.has_sets  # zeros go left of 0.5 anyway
    tree = ([0, 1], [0, 0.5], [1, -1], [-3, -2], [1, 4], [[0b1010]])
    text = test_lightgbm.text_of(tree)
    scorer, rows = scorer_from_lightgbm(text), rows_of(0, highest=5)
    assert not scorer.has_sets
    expected = pytest.importorskip("lightgbm").Booster(model_str=text).predict(rows, raw_score=True, num_threads=1)
    np.testing.assert_array_equal(scorer.predict(rows), expected)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 20, 70]))
@examples(50)
def test_targets_without_sets_get_thresholds_that_decide_alike(seed, n_levels):
    rng = np.random.default_rng(seed)
    trees = random_ensemble(rng, [5, 1, 3], np.array([0.5, 3.0], dtype=np.float32))
    model = with_sets(rng, trees, 0.6, n_levels)
    plain = without_sets(model)
    assert not plain.has_sets
    rows = rows_of(seed % 1000, 300)[:, [0, 1, 2]]
    assert plain.predict(rows).tobytes() == model.predict(rows).tobytes()


def test_sets_that_multiply_are_not_exported_as_thresholds(tmp_path):
    n, many = 4, [[0x55555555] * 4]
    chain = (list(range(n)), [0] * n, [*range(1, n), -1], [-2 - place for place in range(n)], [1] * n, many)
    scorer = scorer_from_lightgbm(test_lightgbm.text_of(chain, n_features=n))
    sentence = f"by sets of levels, which C does not hold: .* more than {MAX_SPLITS:,} of one"
    with pytest.raises(InputError, match=sentence):
        rw.export(scorer, tmp_path / "model.h", format="c")
    rw.export(scorer, tmp_path / "model.txt", format="lightgbm")


def test_a_file_cannot_claim_more_levels_than_fit():
    sets = {split: [2**24 - 1] for split in range(40)}
    chain = ([0] * 40, [0.5] * 40, [*range(1, 40), -1], [-2 - place for place in range(40)], [0] * 40, sets)
    with pytest.raises(InputError, match="its sets of categories take 20,971,520 words of 32 bits"):
        scorer_from_xgboost(json.dumps(test_xgboost.model_of(chain)))


def grown_model(missing, seed=0):
    """Return a ranker's model of two columns of categories and one of numbers, and rows of known levels."""
    random = np.random.default_rng(seed)
    X = np.column_stack([random.integers(0, n, 2000) for n in (40, 12)] + [random.normal(size=2000)])
    y = random.normal(size=40)[X[:, 0].astype(int)] + random.normal(size=12)[X[:, 1].astype(int)] + X[:, 2]
    X[random.random(X.shape) < missing] = np.nan
    categories = [Category(name, tuple(map(str, range(n))), one_hot=False) for name, n in (("a", 40), ("b", 12))]
    labels = np.digitize(y, [0.0, 1.0])
    data = rw.RankingData(X, labels, np.arange(2000) // 20, feature_names=["a", "b", "c"], categories=categories)
    model = rw.LambdaMART(rounds=20, max_leaves=8).fit(data).model_
    assert model.has_sets
    return model, data.X


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_our_sets_in_lightgbm(tmp_path, missing):
    package = pytest.importorskip("lightgbm")
    model, X = grown_model(missing)
    rw.export(model, tmp_path / "model.txt", format="lightgbm")
    rows = np.concatenate([X, np.full_like(X[:1], np.nan)])
    theirs = package.Booster(model_file=tmp_path / "model.txt").predict(rows, raw_score=True, num_threads=1)
    np.testing.assert_array_equal(theirs, model.predict(rows))
    again = rw.load(tmp_path / "model.txt")
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_our_sets_in_xgboost(tmp_path, missing):
    package = pytest.importorskip("xgboost")
    model, X = grown_model(missing)
    rw.export(model, tmp_path / "model.json", format="xgboost")
    rows = np.concatenate([X, [[np.nan] * 3, [50, 2, 0]]]).astype(np.float32)
    booster = package.Booster(model_file=tmp_path / "model.json")
    options = {"feature_types": ["c", "c", "float"], "feature_names": ["a", "b", "c"]}
    matrix = package.DMatrix(rows, **options, enable_categorical=True, nthread=1)
    margins = booster.predict(matrix, output_margin=True)
    np.testing.assert_allclose(margins, model.predict(rows), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(rw.load(tmp_path / "model.json").predict(rows), margins, rtol=1e-5, atol=1e-5)


def frame_of_categories(seed, n=600):
    """Return a frame of a shop: texts, numbers and booleans as categories, with missing values, and numbers."""
    random = np.random.default_rng(seed)
    levels = {
        "colour": ["red", "blué", "green"],
        "size": [10, 20, 30],
        "width": [1.5, 2.0],
        "is_new": [True, False],
        "brand": [f"brand {number}" for number in range(40)],
        "shop": ["only"],
    }
    columns = {name: random.choice(np.array(own, dtype=object), n) for name, own in levels.items()}
    frame = pd.DataFrame({"price": random.normal(size=n), **columns})
    frame = frame.astype(dict.fromkeys(levels, "category"))
    return frame.mask(random.random(frame.shape) < 0.05)


def model_of_frame(frame):
    """Return LightGBM's model of a frame, whose target depends on all columns."""
    package = pytest.importorskip("lightgbm")
    effects = [frame[name].cat.codes % 3 for name in ("colour", "size", "is_new", "brand")]
    target = np.sum(effects, axis=0) + frame["price"].fillna(0.0)
    options = {"verbosity": -1, "num_threads": 1, "min_data_per_group": 5, "cat_smooth": 1.0}
    return package.train(options, package.Dataset(frame, target), 20)


def test_levels_of_pandas_categories_are_kept(tmp_path):
    model = model_of_frame(frame_of_categories(0))
    model.save_model(tmp_path / "model.txt")
    scorer = rw.load(tmp_path / "model.txt")
    assert [(own.name, own.values[:3], own.one_hot) for own in scorer.categories] == [
        ("colour", ("blué", "green", "red"), False),
        ("size", ("10", "20", "30"), False),
        ("width", ("1.5", "2"), False),
        ("is_new", ("False", "True"), False),
        ("brand", ("brand 0", "brand 1", "brand 10"), False),
        ("shop", ("only",), False),
    ]
    new = frame_of_categories(1)
    expected = model.predict(new, raw_score=True, num_threads=1)
    texts = new.astype({"colour": object, "brand": object, "shop": object})
    # Polars has no categories but texts, and its first versions do not convert others.
    other = pl.from_pandas(new.astype({"size": object, "width": object, "is_new": object}))
    for frame in (new, texts, texts[texts.columns[::-1]], other):
        np.testing.assert_array_equal(scorer.predict(frame), expected)
    rw.save(scorer, tmp_path / "model.rw")
    np.testing.assert_array_equal(rw.load(tmp_path / "model.rw").predict(texts), expected)
    new["colour"] = new["colour"].cat.add_categories("pink").fillna("pink")
    with pytest.warns(UserWarning, match="not trained on these values of 'colour', which count as missing: pink"):
        np.testing.assert_array_equal(scorer.predict(new), model.predict(new, raw_score=True, num_threads=1))


def test_levels_that_fit_no_feature_are_not_used():
    frame = frame_of_categories(0)
    frame["size"] = frame["size"].cat.as_ordered()  # a number to LightGBM
    text = model_of_frame(frame).model_to_string()
    with pytest.warns(UserWarning, match="6 lists of levels for 5 categorical features") as warned:
        scorer = scorer_from_lightgbm(text)
    assert len(warned) == 1
    assert scorer.categories == ()
    with pytest.raises(InputError, match="column 'colour' is not"):
        scorer.predict(frame)


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ("[[", "it is not JSON"),
        ("{}", "must be a list"),
        ("[1]", "must be a list"),
        ('[["a", ["b"]]]', "levels must be texts or numbers"),
        ('[["a", 1, "1"]]', "must have up to 65,536 different values"),
        (f"[{list(range(65_537))}]", "must have up to 65,536 different values"),
        ('[["a"], ["b"]]', "2 lists of levels for 1 categorical features"),
    ],
)
def test_damaged_levels_are_not_used(levels, sentence):
    end = f"\nparameters:\n[categorical_feature: 0]\nend of parameters\n\npandas_categorical:{levels}\n"
    text = test_lightgbm.text_of(test_lightgbm.STUMP, names=["a", "b", "c"]) + end
    with pytest.warns(UserWarning, match=f"levels of this LightGBM model's categories are not used: .*{sentence}"):
        assert scorer_from_lightgbm(text).categories == ()


@pytest.mark.parametrize("levels", ["null", "[]"])
def test_a_frame_without_categories_has_no_levels(levels):
    text = test_lightgbm.text_of(test_lightgbm.STUMP) + f"\npandas_categorical:{levels}\n"
    assert scorer_from_lightgbm(text).feature_names is None


def test_sets_of_xgboost_that_overlap_are_refused():
    model = test_xgboost.model_of(([0, 1], [0.5, 0.5], [1, -1], [-3, -2], [0, 0], {0: [0, 2], 1: [1, 3]}))
    tree = model["learner"]["gradient_booster"]["model"]["trees"][0]
    scorer_from_xgboost(json.dumps(model))
    tree["categories_segments"], tree["categories_sizes"] = [0, 0], [4, 4]
    with pytest.raises(InputError, match="its sets of categories overlap"):
        scorer_from_xgboost(json.dumps(model))


def test_a_set_of_many_splits_is_read_once(monkeypatch):
    read = []
    monkeypatch.setattr(lightgbm, "levels_of", lambda words: read.append(words) or levels_of(words))
    tree = ([0, 0], [0, 0], [1, -1], [-3, -2], [1, 1], [[0b1010]])
    text = test_lightgbm.text_of(tree)
    rows = rows_of(0, highest=5)
    expected = pytest.importorskip("lightgbm").Booster(model_str=text).predict(rows, raw_score=True, num_threads=1)
    np.testing.assert_array_equal(scorer_from_lightgbm(text).predict(rows), expected)
    assert len(read) == 1
