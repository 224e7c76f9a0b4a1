"""Models of LightGBM as scorers: bit for bit the library's own scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from interop.foreign import N_FEATURES, judged, rows_around, small_trees, used_or_refused
from properties import examples
from rankwright.base.errors import InputError
from rankwright.interop.importers.interval_splits import MAX_SPLITS
from rankwright.interop.importers.lightgbm import scorer_from_lightgbm
from shared_data import SHARED, needs_shared_data

LEAVES = SHARED / "models" / "leaves"


def text_of(*trees, n_features=N_FEATURES, names=None):
    """Return a model text; a tree is features, thresholds, children left and right, and decision types.

    The words of bit sets may follow; the threshold of a categorical split is the number of its set.
    """
    names = names or [f"Column_{place}" for place in range(n_features)]
    lines = ["tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0"]
    lines += [f"max_feature_idx={n_features - 1}", "objective=lambdarank"]
    lines += [f"feature_names={' '.join(names)}", f"feature_infos={' '.join(['[-1:1]'] * n_features)}", ""]
    for number, tree in enumerate(trees):
        lines += [f"Tree={number}", *_lines_of(number, *tree), "", ""]
    return "\n".join([*lines, "end of trees", ""])


def _lines_of(number, features, thresholds, left, right, decisions, sets=()):
    n_leaves = len(features) + 1
    bits = {
        "cat_boundaries": np.cumsum([0, *map(len, sets)]).tolist(),
        "cat_threshold": [word for own in sets for word in own],
    }
    values = {
        "num_leaves": [n_leaves],
        "num_cat": [len(sets)],
        "split_feature": features,
        "split_gain": [1.0] * len(features),
        "threshold": thresholds,
        "decision_type": decisions,
        "left_child": left,
        "right_child": right,
        "leaf_value": [number + 0.1 * 3**leaf for leaf in range(n_leaves)],
        "leaf_weight": [1.0] * n_leaves,
        "leaf_count": [10] * n_leaves,
        "internal_value": [0] * len(features),
        "internal_weight": [0] * len(features),
        "internal_count": [10] * len(features),
        **(bits if sets else {}),
        "is_linear": [0],
        "shrinkage": [1],
    }
    return [f"{key}={' '.join(format(one, '.17g') for one in own)}" for key, own in values.items()]


STUMP = ([0], [0.5], [-1], [-2], [2])
SET_SPLIT = ([0], [0], [-1], [-2], [1], [[5]])


@given(
    st.lists(small_trees(), min_size=1, max_size=3),
    st.lists(st.sampled_from([0, 2, 4, 6, 8, 10]), min_size=20, max_size=20),
)
@examples(200)
def test_every_split_decides_as_lightgbm(trees, decisions):
    lightgbm = pytest.importorskip("lightgbm")
    text = text_of(*((*tree, decisions[: len(tree[0])]) for tree in trees))
    scorer = scorer_from_lightgbm(text)
    rows = rows_around(scorer, infinite=True)
    expected = lightgbm.Booster(model_str=text).predict(rows, raw_score=True, num_threads=1)
    np.testing.assert_array_equal(scorer.predict(rows), expected)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"boosting": "dart"},
        {"objective": "regression"},
        {"objective": "regression", "min_data_in_leaf": 10_000},  # a single leaf
    ],
    ids=str,
)
def test_a_trained_model_gives_the_same_scores(settings, missing):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, sizes = judged(missing=missing)
    options = {"objective": "lambdarank", "verbosity": -1, "min_data_in_leaf": 3, "num_threads": 1, **settings}
    model = lightgbm.train(options, lightgbm.Dataset(X, y, group=sizes), 20)
    scorer = scorer_from_lightgbm(model.model_to_string())
    rows = np.concatenate([X, rows_around(scorer, X=X, infinite=True)])
    np.testing.assert_array_equal(scorer.predict(rows), model.predict(rows, raw_score=True, num_threads=1))
    assert scorer.n_rounds == model.num_trees()
    np.testing.assert_array_equal(
        scorer.first(1).predict(rows), model.predict(rows, raw_score=True, num_iteration=1)
    )


def test_a_random_forest_is_a_mean():
    lightgbm = pytest.importorskip("lightgbm")
    X, y, _ = judged()
    forest = {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1, "objective": "regression"}
    model = lightgbm.train({**forest, "verbosity": -1, "num_threads": 1}, lightgbm.Dataset(X, y), 20)
    scorer = scorer_from_lightgbm(model.model_to_string())
    rows = rows_around(scorer, X=X, infinite=True)
    np.testing.assert_allclose(scorer.predict(rows), model.predict(rows), rtol=1e-12)


def test_importances_and_contributions_are_the_librarys():
    lightgbm = pytest.importorskip("lightgbm")
    X, y, sizes = judged(missing=0.1)
    options = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1}
    model = lightgbm.train(options, lightgbm.Dataset(X, y, group=sizes), 5)
    scorer = scorer_from_lightgbm(model.model_to_string())
    gain = model.feature_importance("gain")
    np.testing.assert_allclose(scorer.importances(), gain, rtol=1e-4)
    np.testing.assert_allclose(scorer.contributions(X[:50]), model.predict(X[:50], pred_contrib=True), atol=1e-9)


def test_zeros_apart_keep_the_total_of_gains_and_counts():
    apart = ([0, 1], [0.5, -0.5], [1, -1], [-3, -2], [4, 6])
    plain = scorer_from_lightgbm(text_of((*apart[:4], [2, 2])))
    scorer = scorer_from_lightgbm(text_of(apart))
    assert len(scorer.feature) > len(plain.feature)
    np.testing.assert_allclose(scorer.importances(), plain.importances())
    np.testing.assert_allclose(scorer.cover.sum(), plain.cover.sum())


def test_zeros_apart_on_a_long_path_are_refused():
    n = 20
    chain = [[0.5] * n, [*range(1, n), -1], [-2 - place for place in range(n)], [4] * n]
    with pytest.raises(InputError, match=f"by a threshold here, more than {MAX_SPLITS:,} of one"):
        scorer_from_lightgbm(text_of([list(range(n)), *chain], n_features=n))
    assert len(scorer_from_lightgbm(text_of([[0] * n, *chain])).feature) == 3  # there is no other way through


def test_names_of_features_are_kept_unless_they_are_made_up():
    assert scorer_from_lightgbm(text_of(STUMP)).feature_names is None
    assert scorer_from_lightgbm(text_of(STUMP, names=["a", "b", "c"])).feature_names == ("a", "b", "c")


def test_the_scorer_is_saved_and_loaded(tmp_path):
    scorer = scorer_from_lightgbm(text_of(STUMP, ([0, 1], [np.inf, -1e300], [1, -1], [-3, -2], [8, 10])))
    rw.save(scorer, tmp_path / "model.rw")
    rows = rows_around(scorer, infinite=True)
    np.testing.assert_array_equal(rw.load(tmp_path / "model.rw").predict(rows), scorer.predict(rows))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"tree", "it must be text, not bytes"),
        ("", "it has no line 'end of trees'"),
        (text_of(STUMP).replace("version=v4", "version=v9"), "its version is 'v9'"),
        (text_of(STUMP).replace("version=v4\n", ""), "version is missing"),
        (text_of(STUMP).replace("num_tree_per_iteration=1", "num_tree_per_iteration=3"), "several scores"),
        (text_of(STUMP).replace("num_class=1", "num_class=3"), "several scores"),
        (text_of(STUMP).replace("threshold=0.5", "threshold=0.5\n1"), "a tree has the line '1', without '='"),
        (text_of(STUMP).replace("is_linear=0", "is_linear=1"), "it has linear trees"),
        (text_of((*STUMP[:4], [1])), "cat_boundaries is missing"),
        (
            text_of((*STUMP[:4], [1], [[5]])),
            "a categorical split has the threshold 0.5, which is no set of its tree",
        ),
        (text_of(SET_SPLIT).replace("num_cat=1", "num_cat=2"), "do not form num_cat sets of categories"),
        (text_of(SET_SPLIT).replace("cat_boundaries=0 1", "cat_boundaries=0 2"), "do not form num_cat sets"),
        (text_of((*SET_SPLIT[:-1], [[-5]])), "do not form num_cat sets"),
        (text_of((*SET_SPLIT[:-1], [[2**32]])), "cat_threshold holds integers beyond 32 bits"),
        (text_of((*STUMP[:4], [12])), "decision_type holds numbers that are not known"),
        (text_of((*STUMP[:4], [-2])), "decision_type holds numbers that are not known"),
        (text_of(STUMP).replace("objective", "tree_sizes=9 9\nobjective"), "it announces 2 trees and has 1"),
        (text_of(([7], *STUMP[1:])), r"feature\[0\] is 7; it must be from 0 to 2"),
        (text_of(([0], [0.5], [0], [-2], [2])), r"left\[0\] is 0: neither a later split nor a leaf"),
        (text_of(([0], [0.5], [0], [-2], [4])), r"left\[0\] is 0: neither a later split nor a leaf"),
        (text_of(([0], [np.nan], [-1], [-2], [2])), "threshold must be numbers, not NaN"),
        (
            text_of(STUMP).replace("threshold=0.5", "threshold=0.5 1"),
            "a tree of 1 splits has 2 values of threshold",
        ),
        (text_of(STUMP).replace("threshold=0.5", "threshold=half"), "threshold must be numbers"),
        (text_of(STUMP).replace("left_child=-1", "left_child=-1.5"), "left_child must be integers"),
        (text_of(STUMP).replace("left_child=-1", f"left_child={10**30}"), "left_child must be integers"),
        (
            text_of(STUMP).replace("left_child=-1", f"left_child={2**40}"),
            "left_child holds integers beyond 32 bits",
        ),
        (text_of(STUMP).replace("num_leaves=2", "num_leaves=3"), "a tree of 3 leaves has 2 leaf values"),
        (text_of(STUMP).replace("num_leaves=2", "num_leaves=1"), "a tree of 1 leaf has 2 leaf values"),
        (text_of(STUMP).replace("num_leaves=2", "num_leaves="), "num_leaves must be one integer"),
        (text_of(STUMP).replace("num_leaves=2", "num_leaves=2\nnum_leaves=2"), "'num_leaves' is given twice"),
        (text_of(STUMP).replace("leaf_count=10", "leaf_count=-10"), "cover must not be negative"),
        (text_of(STUMP).replace("leaf_value=0.10000000000000001", "leaf_value=inf"), r"leaf_value\[0\] is inf"),
        (text_of(STUMP, names=["a", "a", "b"]), "The feature name 'a' is given twice"),
        (text_of(STUMP).replace("max_feature_idx=2", "max_feature_idx=-5"), "n_features must be from 1"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(InputError, match=f"^This LightGBM model cannot be used: .*{sentence}"):
        scorer_from_lightgbm(text)


@given(st.data())
@examples(400)
def test_damaged_texts_are_refused_or_score(data):
    lines = text_of(STUMP, ([0, 1], [0.5, -0.5], [1, -1], [-3, -2], [4, 6])).splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(lines) - 1))
        key = lines[place].partition("=")[0]
        junk = st.sampled_from(["", "0", "-1", "1 2", "nan", "inf", "1e999", "x", "0 0 0", str(10**50), "\x00"])
        lines[place] = data.draw(st.one_of(st.text(max_size=9), junk.map(lambda value, key=key: f"{key}={value}")))
    used_or_refused(scorer_from_lightgbm, "\n".join(lines))


@needs_shared_data
def test_stored_models_give_their_true_predictions():
    X = np.loadtxt(LEAVES / "breast_cancer_test.tsv")
    scorer = scorer_from_lightgbm((LEAVES / "lg_dart_breast_cancer.model").read_text())
    expected = np.loadtxt(LEAVES / "lg_dart_breast_cancer_true_predictions.txt")
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-scorer.predict(X))), expected, rtol=1e-12)
    X, _ = _libsvm(LEAVES / "iris_test.libsvm", 4)
    forest = scorer_from_lightgbm((LEAVES / "lg_rf_iris.model").read_text())
    np.testing.assert_allclose(
        forest.predict(X), np.loadtxt(LEAVES / "lg_rf_iris_true_predictions.txt"), rtol=1e-12
    )


@needs_shared_data
@pytest.mark.parametrize("name", ["lightgbm-rankflix/lgbm_ranker.txt", "leaves/model_simple.txt"])
def test_a_stored_ranker_scores_as_in_lightgbm(name):
    lightgbm = pytest.importorskip("lightgbm")
    path = SHARED / "models" / name
    scorer = scorer_from_lightgbm(path.read_text())
    rows = rows_around(scorer, n=2000, infinite=True)
    expected = lightgbm.Booster(model_file=path).predict(rows, raw_score=True, num_threads=1)
    np.testing.assert_array_equal(scorer.predict(rows), expected)


@needs_shared_data
@pytest.mark.parametrize("name", ["lgmulticlass.model", "lg_kddcup99.model", "tree_3leaves.txt"])
def test_stored_models_of_other_kinds_are_refused(name):
    with pytest.raises(InputError, match=r"several scores|no line 'end of trees'"):
        scorer_from_lightgbm((LEAVES / name).read_text())


def _libsvm(path, n_features):
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(path, n_features=n_features)
    return X.toarray(), y
