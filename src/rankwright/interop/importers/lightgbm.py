"""LightGBM's model text (versions v2 to v4) as a scorer.

A split sends a document left if its value is at most the threshold, both 64-bit floats. Values from -1e-35 to
1e-35 count as 0. Bits 2 and 3 of `decision_type` say which values go to the default side: none (a missing value is
then 0), zeros and missing values, or missing values. A categorical split has a bit set instead of a threshold: its
categories go left, and all other values right, the negative and the missing ones too. A value is cut off at its
decimal point, so category 0 begins above -1. In a tree that sends zeros elsewhere than their neighbours, sets
become splits by a threshold, as these zeros do.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.categories import Category
from rankwright.data.readers.frame_columns import text_of
from rankwright.interop.importers.checked_access import (
    checked_list,
    integers,
    list_in,
    member,
    numbers,
    parsed_json,
    reading,
)
from rankwright.interop.importers.foreign_trees import ForeignTree, ensemble
from rankwright.interop.importers.interval_splits import Intervals, intervals_of_set, with_intervals
from rankwright.models.level_sets import ABOVE_MINUS_ONE, WORD_BITS, levels_of
from rankwright.models.other_libraries import made_up
from rankwright.models.serialisation import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.models.trees import TreeEnsemble

VERSIONS = ("v2", "v3", "v4")
CATEGORICAL, DEFAULT_LEFT, MISSING_SHIFT = 1, 2, 2  # in decision_type
ZEROS_MISSING, NAN_MISSING, N_MISSING_TYPES = 1, 2, 3
HIGHEST_ZERO = float(np.float32(1e-35))
BELOW_ZEROS = float(np.nextafter(np.float32(-HIGHEST_ZERO), np.float32(-np.inf)))
END = "end of trees"


def scorer_from_lightgbm(text: str) -> TreeEnsemble:
    """Return LightGBM's model, as `Booster.model_to_string()` or a model file has it, as a scorer of raw scores.

    The scores are those of `Booster.predict(X, raw_score=True)` for 32-bit features, except that a random forest
    gives the mean over its trees, not the sum. Models with several classes or linear trees are refused.
    """
    with reading("LightGBM"):
        header, blocks = _sections(text)
        _require_one_score(header)
        trees = with_intervals(_tree(block) for block in blocks)
        _require_all_trees(header, len(trees))
        n_features = int(_value(header, "max_feature_idx")) + 1
        scale = 1.0 / max(1, len(trees)) if "average_output" in header else 1.0
        model = ensemble(trees, n_features, scale=scale)
        names = member("feature_names", header).split()
        categories = _categories(text, names)
        if made_up(names) and not categories:
            return model
        return model.described(feature_names=names, categories=categories)


def _categories(text: str, names: list[str]) -> list[Category]:
    """Return the categories of the pandas frame that the model was trained on.

    The file has their levels in the order of the frame, and does not say which columns they are of: an ordered
    category is a number to LightGBM.
    """
    written = re.search(r"^pandas_categorical:(.*)$", text, re.MULTILINE)
    if written is None or written[1].strip() in ("null", "[]"):
        return []
    listed = re.search(r"^\[categorical_feature: ([\d,]+)\]", text, re.MULTILINE)
    try:
        levels = list_in(parsed_json(f'{{"pandas_categorical": {written[1]}}}'), "pandas_categorical")
        columns = integers("categorical_feature", listed[1].split(",") if listed else [], highest=len(names) - 1)
        if len(levels) != len(columns):
            raise InputError(f"it has {len(levels)} lists of levels for {len(columns)} categorical features.")
        texts = [_texts(checked_list("levels", own)) for own in levels]
        return [Category(names[column], own, one_hot=False) for column, own in zip(columns, texts, strict=True)]
    except InputError as error:
        warnings.warn(f"The levels of this LightGBM model's categories are not used: {error}", stacklevel=2)
        return []


def _texts(levels: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(level, str | int | float) for level in levels):
        raise InputError("levels must be texts or numbers.")
    return tuple(map(text_of, levels))


def _sections(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the keys and values of the header and of each tree."""
    if not isinstance(text, str):
        raise InputError(f"it must be text, not {type(text).__name__}.")
    lines = [line.strip() for line in text.splitlines()]
    if END not in lines:
        raise InputError(f"it has no line {END!r}.")
    sections: list[dict[str, str]] = [{}]
    for line in lines[: lines.index(END)]:
        key, equals, value = line.partition("=")
        if key == "Tree":
            sections.append({})
        if key and not equals and len(sections) > 1:  # LightGBM would skip what follows
            raise InputError(f"a tree has the line {shown(line)}, without '='.")
        if key in sections[-1]:
            raise InputError(f"{shown(key)} is given twice.")
        if key:
            sections[-1][key] = value
    return sections[0], sections[1:]


def _require_one_score(header: Mapping[str, str]) -> None:
    version = member("version", header)
    if version not in VERSIONS:
        raise InputError(f"its version is {shown(version)}, and only {', '.join(VERSIONS)} are known.")
    if any(_value(header, key) != 1 for key in ("num_class", "num_tree_per_iteration")):
        raise InputError("it has several scores per document, one per class.")


def _require_all_trees(header: Mapping[str, str], n_trees: int) -> None:
    announced = len(header["tree_sizes"].split()) if "tree_sizes" in header else n_trees
    if announced != n_trees:
        raise InputError(f"it announces {announced} trees and has {n_trees}.")


def _value(section: Mapping[str, str], key: str) -> int:
    """Return the single integer of a key."""
    values = integers(key, member(key, section).split())
    if len(values) != 1:
        raise InputError(f"{key} must be one integer.")
    return int(values[0])


def _tree(block: Mapping[str, str]) -> tuple[ForeignTree, dict[int, Intervals]]:
    """Return a tree, and the splits that send several intervals left."""
    if block.get("is_linear", "0") != "0":
        raise InputError("it has linear trees.")
    n_leaves = _value(block, "num_leaves")
    if n_leaves == 1:
        return ForeignTree.leaf(_single(numbers("leaf_value", member("leaf_value", block).split()))), {}
    tree, decision = _as_written(block), integers("decision_type", member("decision_type", block).split())
    if len(tree.leaf_value) != n_leaves or len(decision) != n_leaves - 1:
        raise InputError(f"a tree of {n_leaves} leaves has {len(tree.leaf_value)} leaf values.")
    decided, zeros_apart = _decided(tree, decision)
    sets = _sets(block, tree.threshold, decision & CATEGORICAL > 0)
    if not zeros_apart:
        threshold = decided.threshold.copy()
        threshold[list(sets)] = ABOVE_MINUS_ONE
        return replace(decided, threshold=threshold, sets=sets), {}
    intervals = {split: intervals_of_set(own, float(ABOVE_MINUS_ONE)) for split, own in sets.items()}
    return decided, zeros_apart | intervals


def _single(values: Doubles) -> float:
    if len(values) != 1:
        raise InputError(f"a tree of 1 leaf has {len(values)} leaf values.")
    return float(values[0])


def _as_written(block: Mapping[str, str]) -> ForeignTree:
    """Return the tree with its thresholds as they are, and missing values to the right."""
    whole: dict[str, Any] = {
        ours: integers(theirs, member(theirs, block).split())
        for ours, theirs in {"feature": "split_feature", "left": "left_child", "right": "right_child"}.items()
    }
    n_splits = len(whole["feature"])
    gains, counts = (numbers(key, block.get(key, "").split()) for key in ("split_gain", "leaf_count"))
    return ForeignTree(
        **whole,
        threshold=numbers("threshold", member("threshold", block).split()),
        missing_left=np.zeros(n_splits, dtype=np.int64),
        gain=gains if len(gains) else np.zeros(n_splits),  # neither is a part of a score, and old files lack them
        leaf_value=numbers("leaf_value", member("leaf_value", block).split()),
        cover=counts if len(counts) else np.zeros(n_splits + 1),
    )


def _decided(tree: ForeignTree, decision: Integers) -> tuple[ForeignTree, dict[int, Intervals]]:
    """Return the tree with the sides that zeros and missing values take, and the splits with zeros apart.

    On these, low and high values may go left, and zeros between them right, with the missing values.
    """
    missing_type, categorical = decision >> MISSING_SHIFT, decision & CATEGORICAL > 0
    if (decision < 0).any() or (missing_type >= N_MISSING_TYPES).any():
        raise InputError("decision_type holds numbers that are not known.")
    default_left = decision & DEFAULT_LEFT > 0
    zeros_left = np.where(missing_type == ZEROS_MISSING, default_left, tree.threshold >= 0.0)
    missing_left = np.where(missing_type == NAN_MISSING, default_left, zeros_left) & ~categorical
    among_zeros = np.abs(tree.threshold) <= HIGHEST_ZERO
    at_zeros = np.where(zeros_left, HIGHEST_ZERO, BELOW_ZEROS)
    apart = ~categorical & ~among_zeros & (zeros_left != (tree.threshold >= 0.0))
    ends = {split: sorted([BELOW_ZEROS, HIGHEST_ZERO, float(tree.threshold[split])]) for split in _places(apart)}
    decided = replace(
        tree, threshold=np.where(among_zeros, at_zeros, tree.threshold), missing_left=missing_left.astype(np.int64)
    )
    return decided, {split: Intervals(own, first_left=True) for split, own in ends.items()}


def _places(chosen: NDArray[np.bool_]) -> list[int]:
    splits: list[int] = np.flatnonzero(chosen).tolist()
    return splits


def _sets(block: Mapping[str, str], thresholds: Doubles, categorical: NDArray[np.bool_]) -> dict[int, Integers]:
    """Return the categories that go left; the threshold of a categorical split is the number of its bit set."""
    if not categorical.any():
        return {}
    starts = integers("cat_boundaries", member("cat_boundaries", block).split())
    words = integers("cat_threshold", member("cat_threshold", block).split(), highest=2**WORD_BITS - 1)
    fitting = len(starts) == _value(block, "num_cat") + 1 and (np.diff(starts) >= 0).all()
    if not fitting or starts[0] < 0 or starts[-1] != len(words) or (words < 0).any():
        raise InputError("cat_boundaries and cat_threshold do not form num_cat sets of categories.")
    # Once each: a hostile file may have many splits by one large set.
    sets = [levels_of(words[start:end].astype(np.uint32)) for start, end in pairwise(starts.tolist())]
    given = thresholds[categorical]
    wrong = given[~np.isin(given, np.arange(len(sets)))]
    if len(wrong):
        raise InputError(f"a categorical split has the threshold {wrong[0]:g}, which is no set of its tree.")
    return {split: sets[int(thresholds[split])] for split in _places(categorical)}
