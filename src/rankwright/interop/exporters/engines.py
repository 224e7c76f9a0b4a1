"""Models for Elasticsearch, OpenSearch and Solr, as they are uploaded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.interop.exporters.target_rules import depths, nested, slices_of_trees, strictly_below
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Floats
    from rankwright.models.linear import LinearScorer

SOLR_SLACK = np.float32(1e-6)  # Solr adds it to every threshold
HIGHEST_POWER = 126  # of 2, by which a feature is multiplied: its inverse is a normal 32-bit float
Node = dict[str, Any]


def ltr_plugin_json(model: TreeEnsemble | LinearScorer, names: Sequence[str], name: str) -> str:
    """Return the body of `POST _ltr/_featureset/NAME/_createmodel`."""
    if isinstance(model, TreeEnsemble):
        kind, definition = "model/xgboost+json", json.dumps(_dumped(model, names), allow_nan=False)
    else:
        kind, definition = "model/linear", json.dumps(_weights_by_name(model, names))
    return json.dumps({"model": {"name": name, "model": {"type": kind, "definition": definition}}}, indent=1)


def elasticsearch_json(trees: TreeEnsemble, names: Sequence[str]) -> str:
    """Return the body of `PUT _ml/trained_models/NAME`, for Elasticsearch's own learning to rank."""
    models = [{"tree": _elastic_tree(trees, names, *slices)} for slices in slices_of_trees(trees)]
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
    features: list[Node] = [{"name": names[feature]} for feature in used]
    params: dict[str, Any]
    if isinstance(model, TreeEnsemble):
        kind = "MultipleAdditiveTreesModel"
        params = {"isNullSameAsZero": "false"} if with_missing else {}
        thresholds, powers = _solr_thresholds(model)
        params["trees"] = _solr_trees(model, names, thresholds, with_missing=with_missing)
        features = [feature | _multiplied(powers[column]) for feature, column in zip(features, used, strict=True)]
    else:
        kind, params = "LinearModel", {"weights": _weights_by_name(model, names)}
    whole = {"class": f"org.apache.solr.ltr.model.{kind}", "name": name, "features": features, "params": params}
    return json.dumps(whole, indent=1, allow_nan=False)


def _weights_by_name(model: LinearScorer, names: Sequence[str]) -> dict[str, float]:
    return {names[feature]: model.weights[feature].item() for feature in model.used_features.tolist()}


def _dumped(trees: TreeEnsemble, names: Sequence[str]) -> list[Node]:
    """Return the trees as XGBoost dumps them, with the keys that the plugins' strict parser knows."""
    below, depth = strictly_below(trees), depths(trees)
    number = np.arange(len(trees.feature)) - np.repeat(trees.splits[:-1], np.diff(trees.splits))

    def split(index: int, left: Node, right: Node) -> Node:
        yes, no = left["nodeid"], right["nodeid"]
        return {
            "nodeid": int(number[index]),
            "depth": depth[index],
            "split": names[trees.feature[index]],
            "split_condition": float(below.threshold[index]),
            "yes": yes,
            "no": no,
            "missing": yes if below.missing_left[index] else no,
            "children": [left, right],
        }

    return nested(trees, below.left, below.right, split, lambda value, number: {"nodeid": number, "leaf": value})


def _elastic_tree(trees: TreeEnsemble, names: Sequence[str], splits: slice, leaves: slice) -> Node:
    """Return one tree: first its splits, then its leaves, with the names of the features that it uses."""
    used = np.unique(trees.feature[splits])
    column = np.searchsorted(used, trees.feature[splits]).tolist()
    n_splits = len(column)
    left, right = (
        np.where(child[splits] < 0, n_splits - 1 - child[splits], child[splits]).tolist()
        for child in (trees.left, trees.right)
    )
    nodes: list[Node] = [
        {
            "node_index": number,
            "split_feature": column[number],
            "decision_type": "lte",
            "threshold": float(trees.threshold[splits.start + number]),
            "left_child": left[number],
            "right_child": right[number],
            "default_left": bool(trees.missing_left[splits.start + number]),
        }
        for number in range(n_splits)
    ]
    values = enumerate(trees.leaf_value[leaves].tolist(), start=n_splits)
    nodes += [{"node_index": number, "leaf_value": value} for number, value in values]
    return {
        "feature_names": [names[feature] for feature in used],
        "tree_structure": nodes,
        "target_type": "regression",
    }


def _solr_trees(
    trees: TreeEnsemble, names: Sequence[str], thresholds: Floats, *, with_missing: bool
) -> list[Node]:
    depths(trees)  # refuses deep trees

    def split(index: int, left: Node, right: Node) -> Node:
        side = {"missing": "left" if trees.missing_left[index] else "right"} if with_missing else {}
        feature = {"feature": names[trees.feature[index]], "threshold": repr(float(thresholds[index]))}
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
        lowered = _before_slack(wanted)
        if np.isfinite(wanted).all() and (lowered + SOLR_SLACK == wanted).all():
            return lowered, power
    wrong = thresholds[_before_slack(thresholds) + SOLR_SLACK != thresholds]
    raise InputError(
        f"Solr adds 1e-6 to every threshold, and no number becomes {float(wrong[0])!r} by that; the feature has "
        f"thresholds up to {float(np.abs(thresholds).max())!r}, so it cannot be multiplied."
    )


def _before_slack(thresholds: Floats) -> Floats:
    """Return the numbers that become the thresholds by Solr's slack, as far as there are any."""
    with np.errstate(over="ignore", invalid="ignore"):
        lowered = thresholds - SOLR_SLACK
        for towards in (np.float32(np.inf), np.float32(-np.inf)):
            beside = np.nextafter(thresholds - SOLR_SLACK, towards)
            lowered = np.where(beside + SOLR_SLACK == thresholds, beside, lowered)
        return lowered.astype(np.float32)
