"""An ensemble of trees, flat: what boosting over trees leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.models.scorer import Scorer

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAX_FEATURES = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class TreeEnsemble(Scorer):
    """The sum of the leaves that a document falls into, one a tree.

    All trees' splits lie one after another, and all leaves. Tree `t` has the splits
    `splits[t]` to `splits[t + 1]` and, being binary, one leaf more: from `splits[t] + t`. A split sends a
    document left if its feature is at most the threshold, or is missing and `missing_left` says so. A child from
    0 up is a split of the same tree (counted from its first, always after its parent); a negative one is the
    leaf `-1 - child` of the same tree. The first split is the root; a tree without splits is one leaf.

    Parameters
    ----------
    splits
        Where each tree's splits begin, and where the last one's end.
    feature, threshold, missing_left, left, right
        One a split.
    leaf_value
        What each leaf adds to the score.
    gain
        How much each split lowered the training loss: for importances.
    cover
        How many training documents reached each leaf: for contributions.
    """

    kind: ClassVar[str] = "trees"
    splits: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    missing_left: NDArray[np.uint8]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    leaf_value: NDArray[np.float64]
    gain: NDArray[np.float64]
    cover: NDArray[np.float64]
    n_features: int = field(kw_only=True)
