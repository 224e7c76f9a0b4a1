"""Models for Elasticsearch, OpenSearch and Solr, as they are uploaded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.interop.exporters.target_rules import numbered, strictly_below
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.base.arrays import Floats
    from rankwright.interop.exporters.target_rules import Below
    from rankwright.models.linear import LinearScorer

SOLR_SLACK = np.float32(1e-6)  # Solr adds it to every threshold
HIGHEST_POWER = 126  # of 2, by which a feature is multiplied: its inverse is a normal 32-bit float
MAX_DEPTH = 200  # of nested JSON, which the engines read by recursion
Node = dict[str, Any]


def ltr_plugin_json(model: TreeEnsemble | LinearScorer, names: Sequence[str], name: str) -> str:
    """Return the body of `POST _ltr/_featureset/NAME/_createmodel`."""
    if isinstance(model, TreeEnsemble):
        kind, definition = "model/xgboost+json", json.dumps(_dumped(model, names), allow_nan=False)
    else:
        used = model.used_features.tolist()
        kind, definition = "model/linear", json.dumps({names[one]: model.weights[one].item() for one in used})
    return json.dumps({"model": {"name": name, "model": {"type": kind, "definition": definition}}}, indent=1)


def elasticsearch_json(trees: TreeEnsemble, names: Sequence[str]) -> str:
    """Return the body of `PUT _ml/trained_models/NAME`, for Elasticsearch's own learning to rank."""
    models = [{"tree": _elastic_tree(trees, names, number, place)} for number, place in enumerate(numbered(trees))]
    ensemble = {
        "feature_names": list(names),
        "trained_models": models,
        "aggregate_output": {"weighted_sum": {}},
        "target_type": "regression",
    }
    whole = {
        "inference_config": {"learning_to_rank": {"feature_extractors": []}},
        "definition": {"trained_model": {"ensemble": ensemble}},
    }
    return json.dumps(whole, allow_nan=False)


def solr_json(model: TreeEnsemble | LinearScorer, names: Sequence[str], name: str, *, with_missing: bool) -> str:
    """Return the body of `PUT .../schema/model-store`; `with_missing` needs Solr 9.2."""
    used = model.used_features.tolist()
    features: list[Node] = [{"name": names[one]} for one in used]
    params: dict[str, Any]
    if isinstance(model, TreeEnsemble):
        kind = "MultipleAdditiveTreesModel"
        params = {"isNullSameAsZero": "false"} if with_missing else {}
        thresholds, powers = _solr_thresholds(model)
        params["trees"] = _solr_trees(model, names, thresholds, with_missing=with_missing)
        features = [one | _multiplied(powers[column]) for one, column in zip(features, used, strict=True)]
    else:
        kind, params = "LinearModel", {"weights": {names[one]: model.weights[one].item() for one in used}}
    whole = {"class": f"org.apache.solr.ltr.model.{kind}", "name": name, "features": features, "params": params}
    return json.dumps(whole, indent=1, allow_nan=False)


def nested(
    trees: TreeEnsemble, left: Any, right: Any, split: Callable[..., Node], leaf: Callable[..., Node]
) -> list[Node]:
    """Return the roots of all trees; `split` gets its place, its number, depth and children, `leaf` its value."""
    roots = []
    for number, place in enumerate(numbered(trees)):
        n_splits = place.stop - place.start
        depth = _depths(left[place].tolist(), right[place].tolist())
        values = trees.leaf_value[place.start + number : place.stop + number + 1].tolist()
        nodes = {-1 - one: leaf(value, n_splits + one) for one, value in enumerate(values)}
        for one in range(n_splits - 1, -1, -1):  # children come after their parents
            at = place.start + one
            nodes[one] = split(at, one, depth[one], nodes.pop(int(left[at])), nodes.pop(int(right[at])))
        roots.append(nodes.popitem()[1])
    return roots


def _depths(left: list[int], right: list[int]) -> list[int]:
    depth = [0] * len(left)
    for split, children in enumerate(zip(left, right, strict=True)):
        for child in children:
            if child >= 0:
                depth[child] = depth[split] + 1
    if depth and max(depth) >= MAX_DEPTH:
        raise InputError(
            f"A tree is {max(depth) + 1} levels deep; at most {MAX_DEPTH} can be nested in this format."
        )
    return depth


def _dumped(trees: TreeEnsemble, names: Sequence[str]) -> list[Node]:
    """Return the trees as XGBoost dumps them, with the keys that the plugins' strict parser knows."""
    below: Below = strictly_below(trees)

    def split(at: int, number: int, depth: int, left: Node, right: Node) -> Node:
        yes, no = left["nodeid"], right["nodeid"]
        return {
            "nodeid": number,
            "depth": depth,
            "split": names[trees.feature[at]],
            "split_condition": float(below.threshold[at]),
            "yes": yes,
            "no": no,
            "missing": yes if below.missing_left[at] else no,
            "children": [left, right],
        }

    return nested(trees, below.left, below.right, split, lambda value, number: {"nodeid": number, "leaf": value})


def _elastic_tree(trees: TreeEnsemble, names: Sequence[str], number: int, place: slice) -> Node:
    """Return one tree: first its splits, then its leaves, with the names of the features that it uses."""
    n_splits, used = place.stop - place.start, np.unique(trees.feature[place])
    column = np.searchsorted(used, trees.feature[place]).tolist()
    left, right = (
        np.where(one[place] < 0, n_splits - 1 - one[place], one[place]).tolist()
        for one in (trees.left, trees.right)
    )
    splits = [
        {
            "node_index": one,
            "split_feature": column[one],
            "decision_type": "lte",
            "threshold": float(trees.threshold[place.start + one]),
            "left_child": left[one],
            "right_child": right[one],
            "default_left": bool(trees.missing_left[place.start + one]),
        }
        for one in range(n_splits)
    ]
    values = trees.leaf_value[place.start + number : place.stop + number + 1].tolist()
    leaves = [{"node_index": n_splits + one, "leaf_value": value} for one, value in enumerate(values)]
    return {
        "feature_names": [names[one] for one in used],
        "tree_structure": [*splits, *leaves],
        "target_type": "regression",
    }


def _solr_trees(
    trees: TreeEnsemble, names: Sequence[str], thresholds: Floats, *, with_missing: bool
) -> list[Node]:
    def split(at: int, _number: int, _depth: int, left: Node, right: Node) -> Node:
        side = {"missing": "left" if trees.missing_left[at] else "right"} if with_missing else {}
        feature = {"feature": names[trees.feature[at]], "threshold": repr(float(thresholds[at]))}
        return {**feature, **side, "left": left, "right": right}

    roots = nested(trees, trees.left, trees.right, split, lambda value, _number: {"value": repr(value)})
    return [{"weight": "1", "root": root} for root in roots]


def _solr_thresholds(trees: TreeEnsemble) -> tuple[Floats, dict[int, int]]:
    """Return the thresholds to write, and the power of 2 by which each feature is multiplied."""
    thresholds, powers = trees.threshold.copy(), {}
    for feature in trees.used_features.tolist():
        own = trees.feature == feature
        thresholds[own], powers[feature] = before_slack(trees.threshold[own])
    return thresholds, powers


def _multiplied(power: int) -> Node:
    """Return the normaliser that multiplies a feature by a power of 2, which is exact."""
    limits = {"min": "0.0", "max": repr(2.0**-power)}
    return {"norm": {"class": "org.apache.solr.ltr.norm.MinMaxNormalizer", "params": limits}} if power else {}


def before_slack(thresholds: Floats) -> tuple[Floats, int]:
    """Return the numbers that become the thresholds when Solr adds its slack in 32 bits, and a power of 2.

    Near 0 there may be none. Then the thresholds are multiplied by the lowest power of 2 with which there are
    some; a value that becomes infinite by that was beyond all of them.
    """
    for power in range(HIGHEST_POWER + 1):
        with np.errstate(over="ignore"):
            wanted = np.ldexp(thresholds, power)
        found = _before_slack(wanted)
        if np.isfinite(wanted).all() and (found + SOLR_SLACK == wanted).all():
            return found, power
    wrong = thresholds[_before_slack(thresholds) + SOLR_SLACK != thresholds]
    raise InputError(
        f"Solr adds 1e-6 to every threshold, and no number becomes {float(wrong[0])!r} by that; the feature has "
        f"thresholds up to {float(np.abs(thresholds).max())!r}, so it cannot be multiplied."
    )


def _before_slack(thresholds: Floats) -> Floats:
    """Return the numbers that become the thresholds by Solr's slack, as far as there are any."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = thresholds - SOLR_SLACK
        for towards in (np.float32(np.inf), np.float32(-np.inf)):
            beside = np.nextafter(thresholds - SOLR_SLACK, towards)
            found = np.where(beside + SOLR_SLACK == thresholds, beside, found)
        return found.astype(np.float32)
