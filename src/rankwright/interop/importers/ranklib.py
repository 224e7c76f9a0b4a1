"""RankLib's model files as scorers.

The first line names the method. Tree ensembles follow as XML: a split sends a document left if its value is at
most the threshold, both 32-bit floats, and every tree has a weight. The other methods have one line:
`feature:weight` for linear models, `feature:threshold:weight` for RankBoost. Features are numbered from 1, and a
missing value counts as 0. A normalisation (`-norm`) is no part of a file: documents must be normalised as they
were for RankLib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np

from rankwright.base.errors import InputError
from rankwright.interop.importers.checked_access import integers, numbers, reading
from rankwright.interop.importers.foreign_trees import ForeignTree, Walk, ensemble, nearest_float32
from rankwright.models.linear import LinearScorer
from rankwright.models.serialisation import MAX_FEATURES, shown

if TYPE_CHECKING:
    from rankwright.base.arrays import Integers
    from rankwright.models.scorer import Scorer
    from rankwright.models.trees import TreeEnsemble

COMMENT = "##"
TREES = ("LambdaMART", "MART", "Random Forests")
LINEAR = ("AdaRank", "Coordinate Ascent", "Linear Regression")
RANK_BOOST = "RankBoost"
MAX_LINEAR_FEATURES = 2**20  # a linear scorer holds a weight for every feature up to the highest


def scorer_from_ranklib(text: str, n_features: int | None = None) -> Scorer:
    """Return RankLib's model, as `-save` writes it, as a scorer.

    The scores are those of `-score`; RankLib sums the trees of an ensemble in 32 bits, which we do in 64. Networks
    (RankNet, LambdaRank, ListNet) are refused. The file does not say how many features the data have; by default
    as many as the highest number that the model uses.
    """
    with reading("RankLib"):
        if not isinstance(text, str):
            raise InputError(f"it must be text, not {type(text).__name__}.")
        method, body = _method_and_body(text)
        scorer: Scorer
        if method in TREES:
            scorer = _forest(body, n_features)
        elif method in LINEAR:
            scorer = _linear(body, n_features)
        elif method == RANK_BOOST:
            scorer = _thresholds(body, n_features)
        else:
            known = ", ".join((*TREES, *LINEAR, RANK_BOOST))
            raise InputError(f"its method is {shown(method)}; only {known} can be used.")
        return scorer.described(about={"ranker": f"RankLib {method}"})


def _method_and_body(text: str) -> tuple[str, str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or not lines[0].startswith(COMMENT):
        raise InputError(f"its first line does not name the method after {COMMENT}.")
    method = lines[0].removeprefix(COMMENT).strip()
    return method, "\n".join(line for line in lines if not line.startswith(COMMENT))


def _forest(body: str, n_features: int | None) -> TreeEnsemble:
    """Return the mean of the ensembles; there is more than one in a random forest."""
    if "<!" in body or "<?" in body:
        raise InputError("its XML declares what a model does not need.")
    try:
        root = ET.fromstring(f"<models>{body}</models>")
    except ET.ParseError as error:
        raise InputError(f"its XML is damaged: {error}.") from None
    ensembles = [_checked(element, "ensemble") for element in root]
    if not ensembles:
        raise InputError("it has no ensemble.")
    trees = [_weighted_tree(_checked(tree, "tree")) for forest in ensembles for tree in forest]
    if not trees:
        raise InputError("it has no trees.")
    columns = np.concatenate([tree.feature for tree in trees])
    return ensemble(trees, _number_of_features(columns, n_features), scale=1.0 / len(ensembles))


def _checked(element: ET.Element, tag: str) -> ET.Element:
    if element.tag != tag:
        raise InputError(f"<{element.tag[:40]}> stands where <{tag}> should.")
    return element


def _weighted_tree(tree: ET.Element) -> ForeignTree:
    if len(tree) != 1:
        raise InputError("a tree has not one root.")
    weight = nearest_float32(numbers("weight", [tree.get("weight", "")]))[0]
    walk = Walk(tree[0], _children_of)
    splits = [[_text(part) for part in node[:2]] for node in walk.splits]
    threshold = nearest_float32(numbers("threshold", [text for _, text in splits])).astype(np.float64)
    leaves = nearest_float32(numbers("output", [_text(leaf[0]) for leaf in walk.leaves])).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # refused as not finite
        leaves = leaves * float(weight)
    return ForeignTree(
        feature=_columns([text for text, _ in splits], MAX_FEATURES),
        threshold=threshold,
        missing_left=(threshold >= 0.0).astype(np.int64),
        left=walk.left,
        right=walk.right,
        gain=np.zeros(len(splits)),
        leaf_value=leaves,
        cover=np.zeros(len(leaves)),
    )


def _children_of(node: ET.Element) -> tuple[ET.Element, ET.Element] | None:
    parts = list(_checked(node, "split"))
    tags = [part.tag for part in parts]
    if tags == ["output"]:
        return None
    if tags != ["feature", "threshold", "split", "split"]:
        raise InputError("a split must have a feature, a threshold, and two splits, or an output.")
    for part, side in zip(parts[2:], ("left", "right"), strict=True):
        if part.get("pos", side) != side:
            raise InputError(f"a split at the {side} says that it is at the {shown(part.get('pos'))}.")
    return parts[2], parts[3]


def _text(element: ET.Element) -> str:
    return (element.text or "").strip()


def _number_of_features(columns: Integers, given: int | None) -> int:
    used = int(columns.max(initial=0)) + 1
    if given is not None and given < used:
        raise InputError(f"it uses feature {used}, and there are only {given} features.")
    return given or used


def _columns(features: list[str], highest: int) -> Integers:
    """Return features, which RankLib numbers from 1, numbered from 0."""
    numbered = integers("feature", list(features))
    if ((numbered < 1) | (numbered > highest)).any():
        raise InputError(f"features must be numbered from 1 to {highest:,}.")
    return numbered - 1


def _entries(body: str, length: int) -> list[list[str]]:
    """Return the parts of each entry in the one line that RankLib reads; a comment may follow."""
    line = body.partition("\n")[0].partition("#")[0]
    entries = [entry.split(":") for entry in line.split()]
    if not entries or any(len(entry) != length for entry in entries):
        raise InputError(f"it has no line of entries with {length} parts, such as {':'.join('123'[:length])}.")
    return entries


def _linear(body: str, n_features: int | None) -> LinearScorer:
    entries = _entries(body, 2)
    constants = [entry for entry in entries if entry[0] == "0"]  # feature 0 of Linear Regression
    if len(constants) > 1:
        raise InputError("it has two constants.")
    given = [entry for entry in entries if entry[0] != "0"]
    column = _columns([feature for feature, _ in given], MAX_LINEAR_FEATURES)
    weights = np.zeros(_number_of_features(column, n_features))
    # AdaRank may choose a feature again.
    np.add.at(weights, column, numbers("weight", [weight for _, weight in given]))
    intercept = numbers("weight", [weight for _, weight in constants])
    return LinearScorer(weights, np.zeros(len(weights)), float(intercept.sum()))


def _thresholds(body: str, n_features: int | None) -> TreeEnsemble:
    """Return RankBoost's rules, each of which adds its weight if the value is above the threshold."""
    entries = _entries(body, 3)
    columns = _columns([feature for feature, _, _ in entries], MAX_FEATURES)
    thresholds = numbers("threshold", [threshold for _, threshold, _ in entries])
    weights = numbers("weight", [weight for _, _, weight in entries])
    trees = [_stump(*rule) for rule in zip(columns, thresholds, weights, strict=True)]
    return ensemble(trees, _number_of_features(columns, n_features))


def _stump(column: Any, threshold: Any, weight: Any) -> ForeignTree:
    return ForeignTree(
        feature=np.array([column]),
        threshold=np.array([threshold]),
        missing_left=np.array([int(threshold >= 0.0)]),
        left=np.array([-1]),
        right=np.array([-2]),
        gain=np.zeros(1),
        leaf_value=np.array([0.0, weight]),
        cover=np.zeros(2),
    )
