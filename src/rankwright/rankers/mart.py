"""MART (Friedman, Annals of Statistics 2001): boosted trees that predict the label by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.errors import InputError
from rankwright.learners import Gradients
from rankwright.metrics import NDCG, Gain, Metric
from rankwright.rankers.parameters import require_one_of
from rankwright.rankers.tree_ranker import TreeRanker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.arrays import Doubles
    from rankwright.training import FitTask

TARGETS = ("labels", "gains")
HIGHEST_TARGET = 1e100  # so that sums of squares are finite


@dataclass(frozen=True)
class LeastSquaresRule:
    """Algorithm 2 of the paper: the residual of each document, and the shrinkage."""

    remedy: ClassVar[str] = "use a lower learning_rate"
    targets: Doubles
    weights: Doubles | None
    learning_rate: float

    def first_signal(self, scores: Doubles) -> Gradients:
        """Return the residuals of the model that boosting starts from."""
        return self.signal(scores)

    def signal(self, scores: Doubles) -> Gradients:
        """y~_i = y_i - F(x_i)."""
        residual = self.targets - scores
        if self.weights is None:
            return Gradients(residual, np.ones(len(residual)))
        return Gradients(residual * self.weights, self.weights)

    def step(self, _signal: Gradients, outputs: Doubles) -> float | None:
        """Return the shrinkage v; None once no split helps."""
        return self.learning_rate if np.ptp(outputs) > 0.0 else None


class MART(TreeRanker):
    """Boosts regression trees on residuals: documents are ranked by the label that is predicted for them.

    It looks at single documents; the metric only chooses the round. Scores are on the scale of the targets, less
    their mean, which no ranking notices. Its `grid` for tuning: the usual trees, tiny and middling ones, with and
    without columns made within the query.

    Parameters
    ----------
    metric
        What the validation part is judged by.
    targets
        What is predicted: `"labels"`, or their `"gains"`, 2^label - 1, by which high labels count for more.
    rounds
        Most trees to grow; with a validation part the best number of them is kept.
    learning_rate
        The shrinkage of every tree.
    max_leaves
        Leaves a tree; None takes 8 for small training sets up to 31 for large ones.
    min_documents
        Documents that every leaf must hold at least; None takes 1 for tiny training sets up to 20.
    l2
        Added to the number of documents a leaf: shrinks the values of small leaves.
    subsample, subsample_by
        The share of documents a round chooses its splits on, drawn by `"documents"`, by whole `"queries"`, or by
        `"gradient"`: those with large residuals rather than small ones, weighted so that sums stay right. On more
        than 100,000 documents they only choose the features to look at closely. None takes 0.7 for small
        training sets up to all for large ones.
    feature_fraction
        The share of features a round may split on; None takes half for small training sets up to all.
    query_features
        Columns made within the query beside the raw ones: any of `"zscore"`, `"rank"`, `"minmax"`.
    monotone
        By feature, as number or name: +1 where the score must not fall as it rises, -1 where it must not rise.
    max_bins
        Codes a feature's values are binned to, at most 255.
    coarse
        Whether a tree compares features by 16 levels of their values first, and looks at all codes of the best
        four only. On much data that is far quicker and no worse; None does so from 100,000 documents.
    patience
        Rounds without a better validation value before stopping; None goes on.
    seed
        Of all that is drawn; the same seed gives the same model.
    n_threads
        Threads to use, None for all that this process may; the model does not depend on it.
    """

    name: ClassVar[str] = "mart"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "max_leaves": (None, 4, 16),
        "query_features": ((), ("zscore", "rank")),
    }
    min_hessian = 0.0  # every document's is 1, so that min_documents says it all

    def __init__(
        self,
        metric: Metric = NDCG(k=10),  # noqa: B008  # a frozen value
        *,
        targets: str = "labels",
        rounds: int = 500,
        learning_rate: float = 0.05,
        max_leaves: int | None = None,
        min_documents: int | None = None,
        l2: float = 1.0,
        subsample: float | None = None,
        subsample_by: str = "documents",
        feature_fraction: float | None = None,
        query_features: Sequence[str] = (),
        monotone: Mapping[int | str, int] | None = None,
        max_bins: int = 255,
        coarse: bool | None = None,
        patience: int | None = 100,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.targets = targets
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.min_documents = min_documents
        self.l2 = l2
        self.subsample = subsample
        self.subsample_by = subsample_by
        self.feature_fraction = feature_fraction
        self.query_features = query_features
        self.monotone = monotone
        self.max_bins = max_bins
        self.coarse = coarse
        self.patience = patience
        self.seed = seed
        self.n_threads = n_threads

    def _rule(self, task: FitTask) -> LeastSquaresRule:
        labels, weights = task.train.labels.y, task.weights
        targets = Gain.EXPONENTIAL(labels) if self.targets == "gains" else labels
        _require_small(targets)
        # No ranking notices a constant, so that a start may be on any level.
        level = np.average(targets - task.first_scores, weights=weights)
        return LeastSquaresRule(targets - level, weights, self.learning_rate)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_one_of("targets", self.targets, TARGETS)


def _require_small(targets: Doubles) -> None:
    """Refuse targets whose squares could not be summed."""
    largest = targets[np.abs(targets).argmax()]
    if abs(largest) > HIGHEST_TARGET:
        raise InputError(
            f"MART squares its targets, so they must be at most {HIGHEST_TARGET:g} in size; one is {largest:g}."
        )
