"""LambdaMART (Wu, Burges, Svore & Gao, Information Retrieval 2010): boosted trees on metric-weighted gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.errors import InputError
from rankwright.learners import Gradients
from rankwright.metrics import NDCG, Metric
from rankwright.rankers.exact_step import ExactStep, ExactSteps
from rankwright.rankers.lambdas import LambdaGradients, without_cut
from rankwright.rankers.parameters import require_whole_number
from rankwright.rankers.tree_ranker import TreeRanker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.arrays import Doubles
    from rankwright.boosting import Member, Rule
    from rankwright.learners import WeakLearner
    from rankwright.training import FitTask, Monitor


@dataclass(frozen=True)
class LambdaRule:
    """Lines 5 to 8 and 14 of the paper's Algorithm 1: each document's lambda, its derivative, the shrinkage."""

    remedy: ClassVar[str] = "use a lower learning_rate"
    metric: Metric
    lambdas: LambdaGradients
    weights: Doubles | None
    learning_rate: float
    n_threads: int

    def first_signal(self, scores: Doubles) -> Gradients:
        """y_i = lambda_i for the model that boosting starts from."""
        signal = self.signal(scores)
        if not signal.hessian.any():
            raise InputError(f"There is nothing to learn: no swap of documents changes {self.metric}.")
        return signal

    def signal(self, scores: Doubles) -> Gradients:
        """y_i = lambda_i and w_i = its derivative."""
        gradient, hessian = self.lambdas(scores, n_threads=self.n_threads)
        if self.weights is None:
            return Gradients(gradient, hessian)
        return Gradients(gradient * self.weights, hessian * self.weights)

    def step(self, signal: Gradients, outputs: Doubles) -> float | None:
        """Return the shrinkage v; None once no lambda is left or no split helps."""
        return self.learning_rate if signal.gradient.any() and np.ptp(outputs) > 0.0 else None


class LambdaMART(TreeRanker):
    """Boosts regression trees on lambdas: how far each document's score should move to improve the metric.

    Every pair of a query's documents with different labels pushes the two apart, weighted by what the metric
    would change if they traded ranks. With `fit(..., start=...)` it is LambdaSMART: trees are added to another
    model, such as one of a larger market. Its `grid` for tuning: the usual trees, tiny and middling ones, with and
    without columns made within the query.

    Parameters
    ----------
    metric
        What to improve; any metric, also one of your own. Its cut-off counts where rounds are judged, not in the
        lambdas: a document below it could still rise above it.
    rounds
        Most trees to grow; with a validation part the best number of them is kept.
    learning_rate
        The shrinkage of every tree; not used where `step` is given.
    step
        An `ExactStep` to give each tree the weight that is best for the metric; None shrinks all alike.
    max_leaves
        Leaves a tree; None takes 8 for small training sets up to 31 for large ones.
    min_documents, min_hessian
        What every leaf must hold at least; None takes 1 document for tiny training sets up to 20.
    l2
        Added to the sum of hessians: shrinks the values of small leaves.
    subsample, subsample_by
        The share of documents a round chooses its splits on, drawn by `"documents"`, by whole `"queries"`, or by
        `"gradient"`: those with large lambdas or derivatives rather than small ones, weighted so that sums stay
        right. Where levels are `coarse`, they only choose the features to look at closely, and all documents the
        split. None takes 0.7 for small training sets up to all for large ones.
    feature_fraction
        The share of features a round may split on; None takes half for small training sets up to all.
    truncation
        Only pairs with a document among so many first ranks count; None takes all.
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

    name: ClassVar[str] = "lambdamart"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "max_leaves": (None, 4, 16),
        "query_features": ((), ("zscore", "rank")),
    }

    def __init__(
        self,
        metric: Metric = NDCG(k=10),  # noqa: B008  # a frozen value
        *,
        rounds: int = 500,
        learning_rate: float = 0.05,
        step: ExactStep | None = None,
        max_leaves: int | None = None,
        min_documents: int | None = None,
        min_hessian: float = 1e-3,
        l2: float = 1.0,
        subsample: float | None = None,
        subsample_by: str = "documents",
        feature_fraction: float | None = None,
        truncation: int | None = 30,
        query_features: Sequence[str] = (),
        monotone: Mapping[int | str, int] | None = None,
        max_bins: int = 255,
        coarse: bool | None = None,
        patience: int | None = 100,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.step = step
        self.max_leaves = max_leaves
        self.min_documents = min_documents
        self.min_hessian = min_hessian
        self.l2 = l2
        self.subsample = subsample
        self.subsample_by = subsample_by
        self.feature_fraction = feature_fraction
        self.truncation = truncation
        self.query_features = query_features
        self.monotone = monotone
        self.max_bins = max_bins
        self.coarse = coarse
        self.patience = patience
        self.seed = seed
        self.n_threads = n_threads

    def _boosted(
        self, rule: Rule[Gradients], learner: WeakLearner[Gradients], monitor: Monitor, task: FitTask
    ) -> list[Member]:
        if self.step is None:
            return super()._boosted(rule, learner, monitor, task)
        exact = ExactSteps(self.step, rule, learner, self.metric, task, ordered=bool(self.monotone))
        members = super()._boosted(exact, exact, monitor, task)
        with monitor:  # Ctrl-C leaves the weights as they are
            return exact.refitted(members)
        return members

    def _rule(self, task: FitTask) -> LambdaRule:
        y, groups = task.train.labels
        lambdas = LambdaGradients(without_cut(self.metric), y, groups, truncation=self.truncation)
        return LambdaRule(self.metric, lambdas, task.weights, self.learning_rate, task.n_threads)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.step, ExactStep | None):
            raise InputError(f"step must be None or an ExactStep, not {self.step!r}.")
        require_whole_number("truncation", self.truncation, least=1, optional=True)
