"""Models of CatBoost as scorers: the library's own scores."""

import copy
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop.foreign import EDGES, N_FEATURES, damaged, judged, rows_around, used_or_refused
from properties import examples
from rankwright.base.errors import InputError
from rankwright.interop.importers.catboost import scorer_from_catboost

BORDERS = st.one_of(
    st.sampled_from([float(value) for value in EDGES[1:] if value != 0.0] + [0.0]), st.floats(-2.0, 2.0, width=32)
)
SPLITS = st.tuples(st.integers(0, N_FEATURES - 1), BORDERS)
TREATMENTS = ("AsIs", "AsFalse", "AsTrue")


def model_of(*trees, treatments=TREATMENTS, has_nans=(True, True, True), scale=1.0, bias=0.0, names=("", "", "")):
    """Return a model of symmetric trees; a tree is a list of features and borders."""
    borders = [
        sorted({border for tree in trees for own, border in tree if own == feature}) for feature in range(3)
    ]
    numbered = [(feature, border) for feature, own in enumerate(borders) for border in own]
    features = [
        {
            "borders": own,
            "feature_id": names[feature],
            "feature_index": feature,
            "flat_feature_index": feature,
            "has_nans": has_nans[feature],
            "nan_value_treatment": treatments[feature],
        }
        for feature, own in enumerate(borders)
    ]
    return {
        "features_info": {"float_features": features},
        "model_info": {},
        "oblivious_trees": [_tree_of(number, tree, numbered) for number, tree in enumerate(trees)],
        "scale_and_bias": [scale, [bias]],
    }


def _tree_of(number, splits, numbered):
    return {
        "leaf_values": [number + 0.1 * 3**leaf for leaf in range(2 ** len(splits))],
        "leaf_weights": [10] * 2 ** len(splits),
        "splits": [
            {
                "border": border,
                "float_feature_index": feature,
                "split_index": numbered.index((feature, border)),
                "split_type": "FloatFeature",
            }
            for feature, border in splits
        ],
    }


def library_scores(model, rows):
    """Return CatBoost's own scores."""
    catboost = pytest.importorskip("catboost")
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        path.write_text(json.dumps(model))
        loaded = catboost.CatBoost().load_model(str(path), format="json")
    return loaded.predict(rows, prediction_type="RawFormulaVal", thread_count=1)


MODEL = model_of([(0, 0.5)], [(0, 0.5), (1, -0.5)], scale=2.0, bias=0.5)


@given(
    st.lists(st.lists(SPLITS, min_size=1, max_size=4, unique=True), min_size=1, max_size=3),
    st.tuples(*[st.sampled_from(TREATMENTS)] * N_FEATURES),
    st.tuples(*[st.booleans()] * N_FEATURES),
    st.sampled_from([1.0, 0.5]),
    st.sampled_from([0.0, 0.25]),
)
@examples(200)
def test_every_split_decides_as_catboost(trees, treatments, has_nans, scale, bias):
    model = model_of(*trees, treatments=treatments, has_nans=has_nans, scale=scale, bias=bias)
    scorer = scorer_from_catboost(json.dumps(model))
    rows = rows_around(scorer, infinite=True)
    np.testing.assert_allclose(scorer.predict(rows), library_scores(model, rows), rtol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"nan_mode": "Max"},
        {"grow_policy": "Lossguide", "max_leaves": 9},
        {"grow_policy": "Depthwise", "nan_mode": "Max"},
        {"loss_function": "RMSE"},
        {"loss_function": "QueryRMSE", "boost_from_average": False},
    ],
    ids=str,
)
def test_a_trained_model_gives_the_same_scores(settings, missing, tmp_path):
    catboost = pytest.importorskip("catboost")
    X, y, sizes = judged(missing=missing)
    quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoost({"loss_function": "YetiRank", "iterations": 20, "depth": 4, **quiet, **settings})
    model.fit(catboost.Pool(X, y, group_id=np.repeat(np.arange(len(sizes)), sizes)))
    model.save_model(str(tmp_path / "model.json"), format="json")
    scorer = scorer_from_catboost((tmp_path / "model.json").read_bytes())
    rows = np.concatenate([X, rows_around(scorer, X=X, infinite=True)])
    expected = model.predict(rows)
    np.testing.assert_allclose(scorer.predict(rows), expected, rtol=1e-12, atol=1e-14)
    if "boost_from_average" in settings or "loss_function" not in settings:  # no bias, which is added elsewhere
        np.testing.assert_array_equal(scorer.predict(rows), expected)


def test_gains_are_reductions_of_the_squared_error():
    model = model_of([(0, 0.5)])
    tree = model["oblivious_trees"][0]
    tree["leaf_values"], tree["leaf_weights"] = [0.0, 4.0], [3, 1]
    # Around the mean, 1, the squared error is 3 x 1 + 9.
    np.testing.assert_allclose(scorer_from_catboost(model).importances(), [12.0, 0.0, 0.0])


def test_a_feature_without_documents_has_no_gain():
    model = model_of([(0, 0.5)])
    model["oblivious_trees"][0]["leaf_weights"] = [0, 0]
    np.testing.assert_array_equal(scorer_from_catboost(model).importances(), np.zeros(3))


def test_names_of_features_are_kept():
    assert scorer_from_catboost(MODEL).feature_names is None
    assert scorer_from_catboost(model_of([(0, 0.5)], names="abc")).feature_names == ("a", "b", "c")


def _changed(path, value):
    """Return the model with one value changed; `...` deletes it."""
    model = copy.deepcopy(MODEL)
    *way, last = path
    holder = model
    for key in way:
        holder = holder[key]
    if value is ...:
        del holder[last]
    else:
        holder[last] = value
    return model


def nested(tree):
    """Return a model with one tree of nested nodes."""
    model = copy.deepcopy(MODEL)
    del model["oblivious_trees"]
    return model | {"trees": [tree]}


def _endless():
    """Return a tree that contains itself, which no file can hold."""
    node = {"split": SPLIT, "right": LEAF}
    node["left"] = node
    return node


TREE = ("oblivious_trees", 1)
FEATURE = ("features_info", "float_features", 1)
SPLIT = MODEL["oblivious_trees"][0]["splits"][0]
LEAF = {"value": 1.0, "weight": 1.0}
NESTED = nested({"split": SPLIT, "left": LEAF, "right": {"split": SPLIT, "left": LEAF, "right": {"value": 3.0}}})


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("x", "it is not JSON"),
        (_changed(("oblivious_trees",), ...), "trees is missing"),
        (_changed(("scale_and_bias",), [1]), "scale_and_bias must be two values"),
        (_changed(("scale_and_bias",), [1, [0, 0]]), "several scores"),
        (_changed(("scale_and_bias",), [1, ["x"]]), "scale_and_bias must be numbers"),
        (_changed(("features_info", "categorical_features"), [{}]), "it has categorical features"),
        (_changed(("features_info", "float_features"), []), "a split_index is not among the features' 0 borders"),
        (_changed((*FEATURE, "flat_feature_index"), 7), "its features are not numbered from 0"),
        (_changed((*FEATURE, "nan_value_treatment"), []), r"has_nans True with \[\] is not known"),
        (_changed((*FEATURE, "has_nans"), 1), "has_nans 1 with 'AsFalse' is not known"),
        (_changed((*TREE, "leaf_values"), [1, 2]), "a tree of 2 levels has 2 leaf values and 4 weights"),
        (_changed((*TREE, "splits"), [SPLIT] * 40), "a tree of 40 levels has 4 leaf values"),
        (_changed((*TREE, "splits", 0, "split_type"), "OneHotFeature"), "it has splits of type 'OneHotFeature'"),
        (_changed((*TREE, "splits", 0, "split_index"), -1), "a split_index is not among the features' 2 borders"),
        (
            _changed((*TREE, "splits", 0, "float_feature_index"), 3),
            "are not those that its split_index",
        ),
        (_changed((*TREE, "splits", 0, "border"), 0.75), "are not those that its split_index"),
        (_changed((*TREE, "splits", 0, "border"), float("nan")), "border must be numbers, not NaN"),
        (_changed((*TREE, "leaf_weights"), [1, 1, 1, -1]), "cover must not be negative"),
        (nested({"split": SPLIT, "left": LEAF}), "right is missing"),
        (nested({"split": SPLIT, "left": LEAF, "right": {}}), "value is missing"),
        (nested({"split": SPLIT, "left": LEAF, "right": 5}), "a node must be a JSON object"),
        (nested({"value": [1.0, 2.0]}), "value must be numbers"),
        (nested(_endless()), "more than 65,536 splits"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(model, sentence):
    with pytest.raises(InputError, match=f"^This CatBoost model cannot be used: .*{sentence}"):
        scorer_from_catboost(model)


def test_a_nested_tree_is_followed():
    scorer = scorer_from_catboost(NESTED)
    np.testing.assert_array_equal(scorer.predict(np.array([[0.5, 0, 0], [0.6, 0, 0]])), [2.5, 6.5])


@given(damaged(MODEL) | damaged(NESTED))
@examples(1000)
def test_damaged_models_are_refused_or_score(model):
    used_or_refused(scorer_from_catboost, model)
