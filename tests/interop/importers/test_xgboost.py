"""Models of XGBoost as scorers: every document in the leaf that the library finds, summed in 64 bits."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop.foreign import N_FEATURES, damaged, judged, rows_around, small_trees, used_or_refused
from properties import examples
from rankwright.base.errors import InputError
from rankwright.interop.importers.xgboost import scorer_from_xgboost


def model_of(*trees, base_score="[5E-1]", objective="rank:ndcg", weights=None, names=()):
    """Return a model; a tree is features, thresholds, children left and right, and default sides.

    Sets of categories may follow, by the number of their split.
    """
    parts = {
        "cats": {"enc": [], "feature_segments": [], "sorted_idx": []},
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
        "iteration_indptr": list(range(len(trees) + 1)),
        "tree_info": [0] * len(trees),
        "trees": [_tree_of(number, *tree) for number, tree in enumerate(trees)],
    }
    booster = {"model": parts, "name": "gbtree"}
    if weights is not None:
        booster = {"gbtree": booster, "name": "dart", "weight_drop": weights}
    shape = {"base_score": base_score, "boost_from_average": "1", "num_class": "0", "num_target": "1"}
    learner = {
        "attributes": {},
        "feature_names": list(names),
        "feature_types": ["float"] * len(names),
        "gradient_booster": booster,
        "learner_model_param": {**shape, "num_feature": str(N_FEATURES)},
        "objective": {"name": objective, "lambdarank_param": {}},
    }
    return {"learner": learner, "version": [3, 1, 0]}


def _tree_of(number, features, thresholds, left, right, default_left, sets=None):
    """Return a tree whose siblings follow each other: before version 3.1, XGBoost takes right as left + 1."""
    order, first_child = [0 if features else -1], []  # the split or leaf (negative) of each node
    for own in order:
        first_child.append(len(order) if own >= 0 else -1)
        order += [left[own], right[own]] if own >= 0 else []
    parents = [2**31 - 1] * len(order)
    for parent, child in enumerate(first_child):
        if child >= 0:
            parents[child] = parents[child + 1] = parent

    def per_node(of_splits):
        return [of_splits[own] if own >= 0 else 0 for own in order]

    sets = {node: (sets or {})[own] for node, own in enumerate(order) if own in (sets or {})}
    sizes = [len(own) for own in sets.values()]
    return {
        "base_weights": [0.0] * len(order),
        "categories": [one for own in sets.values() for one in own],
        "categories_nodes": list(sets),
        "categories_segments": np.cumsum([0, *sizes])[:-1].tolist(),
        "categories_sizes": sizes,
        "default_left": per_node(default_left),
        "id": number,
        "left_children": first_child,
        "loss_changes": [1.0] * len(order),
        "parents": parents,
        "right_children": [child + 1 if child >= 0 else -1 for child in first_child],
        "split_conditions": [thresholds[own] if own >= 0 else number + 0.1 * 3 ** (-1 - own) for own in order],
        "split_indices": per_node(features),
        "split_type": [int(node in sets) for node in range(len(order))],
        "sum_hessian": [1.0] * len(order),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(N_FEATURES),
            "num_nodes": str(len(order)),
            "size_leaf_vector": "1",
        },
    }


def margins(model, rows):
    """Return XGBoost's own scores."""
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.Booster({"nthread": 1}, model_file=bytearray(json.dumps(model).encode()))
    return booster.predict(xgboost.DMatrix(rows, nthread=1), output_margin=True)


STUMP = ([0], [0.5], [-1], [-2], [1])
MODEL = model_of(STUMP, ([0, 1], [0.5, -0.5], [1, -1], [-3, -2], [0, 1]))
FLOATS = st.floats(-2.0, 2.0, width=32)


@given(
    st.lists(small_trees(), min_size=1, max_size=3),
    st.lists(st.integers(0, 1), min_size=20, max_size=20),
    st.data(),
)
@examples(200)
def test_every_split_decides_as_xgboost(trees, sides, data):
    trees = [(features, _in_range(thresholds), left, right) for features, thresholds, left, right in trees]
    weights = data.draw(st.none() | st.lists(FLOATS, min_size=len(trees), max_size=len(trees)))
    model = model_of(*((*tree, sides[: len(tree[0])]) for tree in trees), weights=weights)
    scorer = scorer_from_xgboost(json.dumps(model))
    rows = rows_around(scorer)
    np.testing.assert_allclose(scorer.predict(rows), margins(model, rows), rtol=1e-6, atol=1e-5)


def _in_range(thresholds):
    """Return thresholds that 32 bits can hold."""
    highest = float(np.finfo(np.float32).max)
    return [float(np.float32(np.clip(one, -highest, highest))) for one in thresholds]


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"booster": "dart", "rate_drop": 0.3},
        {"tree_method": "exact", "max_depth": 8, "gamma": 0.3},
        {"tree_method": "approx"},
        {"num_parallel_tree": 3, "subsample": 0.5},
        {"objective": "rank:pairwise", "base_score": 3.0},
        {"objective": "rank:map"},
        {"objective": "binary:logistic"},
        {"objective": "binary:logistic", "base_score": 0.3},
        {"objective": "count:poisson"},
        {"objective": "reg:squarederror"},
        {"objective": "reg:squarederror", "gamma": 1e9},  # a single leaf
    ],
    ids=str,
)
def test_a_trained_model_gives_the_same_scores(settings, missing):
    xgboost = pytest.importorskip("xgboost")
    X, y, sizes = judged(missing=missing)
    options = {"objective": "rank:ndcg", "nthread": 1, **settings}
    y = y > 0 if options["objective"] in ("binary:logistic", "rank:map") else y
    data = xgboost.DMatrix(X, y, qid=np.repeat(np.arange(len(sizes)), sizes), nthread=1)
    booster = xgboost.train(options, data, 20)
    scorer = scorer_from_xgboost(bytes(booster.save_raw("json")))
    rows = np.concatenate([X, rows_around(scorer, X=X)])
    expected = booster.predict(xgboost.DMatrix(rows, nthread=1), output_margin=True)
    np.testing.assert_allclose(scorer.predict(rows), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    leaves = booster.predict(xgboost.DMatrix(rows, nthread=1), pred_leaf=True).reshape(len(rows), -1)
    _require_same_leaves(scorer, rows, leaves)


def _require_same_leaves(scorer, rows, leaves):
    """Tree by tree: documents share a value if and only if XGBoost puts them into leaves of one value."""
    for tree in range(scorer.n_trees):
        values = scorer.take([tree]).predict(rows)
        for leaf in np.unique(leaves[:, tree]):
            assert len(np.unique(values[leaves[:, tree] == leaf])) == 1


def test_a_base_score_before_and_since_version_3_1():
    old, new = (scorer_from_xgboost(model_of(STUMP, base_score=text)) for text in ("5E-1", "[5E-1]"))
    np.testing.assert_array_equal(old.leaf_value, new.leaf_value)
    np.testing.assert_allclose(old.leaf_value, [0.6, 0.8], rtol=1e-6)


def test_nodes_in_any_order_and_pruned_ones():
    model = copy.deepcopy(model_of(STUMP))
    tree = model["learner"]["gradient_booster"]["model"]["trees"][0]
    for name in ("left_children", "right_children", "split_conditions", "split_indices", "split_type"):
        tree[name] += [{"left_children": -1, "right_children": -1}.get(name, 0)]
    for name in ("default_left", "loss_changes", "sum_hessian"):
        tree[name] += [0]
    tree["left_children"][0], tree["right_children"][0] = 3, 1  # node 2 is pruned
    tree["split_conditions"][3] = 7.0
    scorer = scorer_from_xgboost(model)
    np.testing.assert_allclose(scorer.predict(np.array([[0.0, 0, 0], [0.5, 0, 0]])), [7.5, 0.6], rtol=1e-6)


def test_names_of_features_are_kept():
    assert scorer_from_xgboost(MODEL).feature_names is None
    assert scorer_from_xgboost(model_of(STUMP, names=["a", "b", "c"])).feature_names == ("a", "b", "c")


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


def _with_set(**changes):
    """Return a model of one split by a set, with changes to the arrays of its tree."""
    model = model_of(([0], [0.0], [-1], [-2], [0], {0: [3]}))
    model["learner"]["gradient_booster"]["model"]["trees"][0].update(changes)
    return model


LEARNER, SHAPE = ("learner",), ("learner", "learner_model_param")
BOOSTER = ("learner", "gradient_booster")
TREE = (*BOOSTER, "model", "trees", 0)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ([], "it must be a JSON object"),
        (_changed(LEARNER, ...), "learner is missing"),
        (_changed((*SHAPE, "num_class"), "3"), "several scores"),
        (_changed((*SHAPE, "num_target"), "2"), "several scores"),
        (_changed(("learner", "gradient_booster", "model", "tree_info"), [1]), "several scores"),
        (_changed((*SHAPE, "num_feature"), "1"), r"feature\[\d\] is 1; it must be from 0 to 0"),
        (_changed((*SHAPE, "base_score"), "[1,2]"), "base_score must be numbers"),
        (_changed((*SHAPE, "base_score"), "inf"), "it must be finite"),
        (_changed((*BOOSTER, "name"), "gblinear"), "its booster is 'gblinear'"),
        (_changed((*BOOSTER, "name"), "dart"), "weight_drop is missing"),
        (model_of(STUMP, weights=[]), "weight_drop has 0 weights for 1 trees"),
        (_changed(("learner", "objective", "name"), "multi:softmax"), "its objective is 'multi:softmax'"),
        (model_of(STUMP, objective="binary:logistic", base_score="1"), "its base_score is 1, which"),
        (model_of(STUMP, objective="count:poisson", base_score="0"), "its base_score is 0, which"),
        (_changed((*TREE, "split_type"), [1, 0, 0]), "split_type and categories_nodes name different splits"),
        (_changed((*TREE, "split_type"), [2, 0, 0]), "split_type holds numbers that are not known"),
        (_with_set(default_left=[2, 0, 0]), "default_left holds numbers that are neither 0 nor 1"),
        (
            _changed((*BOOSTER, "model", "iteration_indptr"), [1, 2]),
            "iteration_indptr does not divide its 2 trees",
        ),
        (
            _changed((*BOOSTER, "model", "iteration_indptr"), [0, 1]),
            "iteration_indptr does not divide its 2 trees",
        ),
        (_with_set(categories=[-1]), "categories must be numbered from 0 to 16,777,215"),
        (_with_set(categories_sizes=[2]), "its sets of categories are not in order"),
        (_with_set(categories_sizes=[]), "the arrays of a tree have different lengths"),
        (_changed((*TREE, "left_children"), [1, -1]), "the arrays of a tree have different lengths"),
        (_changed((*TREE, "left_children"), [0, -1, -1]), "its nodes do not form trees"),
        (_changed((*TREE, "left_children"), [2, -1, -1]), "its nodes do not form trees"),
        (_changed((*TREE, "left_children"), [9, -1, -1]), "its nodes do not form trees"),
        (_changed((*TREE, "left_children"), [-7, -1, -1]), "its nodes do not form trees"),
        (_changed((*TREE, "left_children"), [-1, -1, -1]), "a split has a single child"),
        (_changed((*TREE, "left_children"), [1.5, -1, -1]), "left_children must be integers"),
        (_changed((*TREE, "default_left"), [3, 0, 0]), "default_left holds numbers that are neither 0 nor 1"),
        (
            _changed((*TREE, "split_conditions"), [0.5, float("nan"), 0]),
            "split_conditions must be numbers, not NaN",
        ),
        (_changed((*TREE, "split_conditions"), [0.5, 1e39, 0]), r"leaf_value\[0\] is inf"),
        (_changed(("learner", "feature_names"), "abc"), "feature_names must be a list"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(model, sentence):
    with pytest.raises(InputError, match=f"^This XGBoost model cannot be used: .*{sentence}"):
        scorer_from_xgboost(model)


@given(damaged(MODEL))
@examples(1000)
def test_damaged_models_are_refused_or_score(model):
    used_or_refused(scorer_from_xgboost, model)
