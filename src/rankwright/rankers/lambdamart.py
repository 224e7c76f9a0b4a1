"""LambdaMART (Wu, Burges, Svore & Gao, Information Retrieval 2010): boosted trees on metric-weighted gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.metrics.gain import NDCG, Gain
from rankwright.metrics.lambdas import neighbour_lambda_kernel
from rankwright.rankers.parameters.checks import Integer, OneOf, Value, read_record
from rankwright.rankers.parameters.declaration import MetricParameter, Spelled, ThresholdParameters, parameter
from rankwright.rankers.parameters.search_space import Choices, Range
from rankwright.rankers.shared.exact_step import ExactStep, ExactSteps
from rankwright.rankers.shared.lambdas import LambdaGradients, LambdaParameters
from rankwright.rankers.shared.tree_ranker import (
    TreeRanker,
    feature_fraction_for,
    leaves_for,
    symmetric_leaves_for,
)
from rankwright.training.binned_features import COARSE_DOCUMENTS
from rankwright.training.held_out_rounds import held_out_rounds
from rankwright.training.learners.signal import Gradients, WeakLearner
from rankwright.training.learners.tree import (
    FINE_LEVELS,
    LeastSquaresTrees,
    NativeGradients,
    TreeLearner,
    TreeLimits,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.metrics.base import Metric
    from rankwright.models.scorer import Scorer
    from rankwright.rankers.shared.click_lambdas import ClickLambdas
    from rankwright.training.boosting_loop import Rule
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.monitor import Monitor, WeightedModel


@dataclass(frozen=True)
class LambdaRule:
    """Lines 5 to 8 and 14 of the paper's Algorithm 1: the lambda and hessian of each document, the shrinkage."""

    remedy: ClassVar[str] = "use a lower learning_rate"
    metric: Metric
    lambdas: LambdaGradients | ClickLambdas
    weights: Doubles | None
    learning_rate: float
    n_threads: int

    def first_signal(self, scores: Doubles) -> Gradients:
        """y_i = lambda_i of the initial scores."""
        signal = self.signal(scores)
        if not signal.hessian.any():
            raise InputError(f"There is nothing to learn: no swap of documents changes {self.metric}.")
        return signal

    def signal(self, scores: Doubles) -> Gradients:
        """y_i = lambda_i and w_i, its hessian."""
        gradient, hessian = self.lambdas(scores, n_threads=self.n_threads)
        if self.weights is None:
            return Gradients(gradient, hessian)
        return Gradients(gradient * self.weights, hessian * self.weights)

    def native(self) -> NativeGradients | None:
        """Return the rule in native code, unless Python computes the lambdas."""
        gradients = self.lambdas.native_rule(self.weights)
        return None if gradients is None else NativeGradients(gradients, self.learning_rate)

    def step(self, signal: Gradients, outputs: Doubles) -> float | None:
        """Return the shrinkage v; None once no lambda is left or no split helps."""
        return self.learning_rate if signal.gradient.any() and np.ptp(outputs) > 0.0 else None


ROUNDS = 500
USUAL_ROUNDS, MAX_ROUNDS = 200, 750
"""Of neighbours: noisy data need 20 to 200 rounds, clean data several hundred."""
OF_ALL_PAIRS = ("truncation", "normalise", "cut_lambdas", "double_lambdas")  # parameters
ORDERS = 5  # random orders per round; fewer are noisier, more take longer


def usual_leaves_for(n_documents: int) -> int:
    """Return the default number of leaves per tree: of symmetric trees on small data, else of others."""
    return symmetric_leaves_for(n_documents) if n_documents < COARSE_DOCUMENTS else leaves_for(n_documents)


def usual_feature_fraction_for(n_documents: int) -> float:
    """Return the default fraction of features per round: 1 for the symmetric trees of small data."""
    return 1.0 if n_documents < COARSE_DOCUMENTS else feature_fraction_for(n_documents)


class LambdaMART(ThresholdParameters, LambdaParameters, TreeRanker):
    """Boosted regression trees on lambdas, which move each document's score where it improves the metric.

    Each pair of documents of a query with different labels pushes the two scores apart, weighted by the change in
    the metric if the two swapped ranks. With `fit(..., start=...)` this is LambdaSMART: trees are added to an
    existing model, for example one trained on a larger market.

    Examples
    --------
    >>> judged = rw.synthetic.polynomial_queries(50, n_documents=10, n_features=8, n_active=5)
    >>> train, valid, test = rw.split_queries(judged, 0.6, 0.2, 0.2)
    >>> ranker = rw.LambdaMART("ndcg@5", rounds=40).fit(train, validation=valid)
    >>> round(ranker.score(test), 1)
    0.9
    """

    name: ClassVar[str] = "lambdamart"
    takes_exposure: ClassVar[tuple[str, ...]] = ("positions", "propensity")
    printed: ClassVar[Mapping[str, Any]] = {
        # Equations 2 to 5, and step 9 of Algorithm 1.
        "normalise": False,
        "cut_lambdas": True,
        "truncation": None,
        "pairs": "all",
        "split_by": "squared_error",
        "grow_policy": "leafwise",
        "l2": 0.0,
        "min_documents": 1,
        "subsample": 1.0,
        "feature_fraction": 1.0,
        "coarse": False,
        "all_thresholds": None,
        "double_lambdas": None,
        # Section 5.2, artificial data.
        "rounds": 1000,
        "max_leaves": 10,
        "learning_rate": 0.1,
        "patience": None,
    }

    metric: MetricParameter = parameter(
        meaning="Metric to optimise; any metric, also a custom one. Its cut-off applies when rounds are "
        "evaluated, and in the lambdas only if `cut_lambdas`: a document below the cut-off could still rise above "
        "it.",
        default=NDCG(k=10),
        kw_only=False,
    )
    learning_rate: float = parameter(
        meaning="Shrinkage: each tree is multiplied by it. Ignored if `step` is given.", default=0.05
    )
    step: Spelled[ExactStep | None, ExactStep | Mapping[str, Any] | str | None] = parameter(
        Value(
            ExactStep,
            "ExactStep(on='validation')",
            read_record(ExactStep),
            'JSON such as {"on": "validation"}',
            optional=True,
        ),
        "Line search that gives each tree the weight that is best for the metric. None: `learning_rate` for all.",
        default=None,
    )
    pairs: str | None = parameter(
        OneOf(("all", "neighbours"), optional=True),
        "Which pairs of documents push each other: 'all', weighted by the change of the metric; or 'neighbours' "
        "in random orders, by score plus noise, weighted by the difference of their labels (as in YetiRank): the "
        f"metric then only chooses the round. None: 'neighbours' for NDCG on fewer than {COARSE_DOCUMENTS:,} "
        "documents, unless another option is about 'all' pairs.",
        default=None,
        search=Choices(None, "all"),
    )
    truncation: int | None = parameter(
        Integer(1, optional=True),
        "Use only pairs with at least one document among this many top ranks. None: all pairs.",
        default=30,
    )
    split_by: str = parameter(
        OneOf(("newton", "squared_error")),
        "How splits are chosen: by the gain of a 'newton' step, or by the 'squared_error' of the lambdas, as in "
        "the paper (step 9 of Algorithm 1); these are then not rounded, and `min_hessian` is not used.",
        default="newton",
    )
    leaf_values: str = parameter(
        OneOf(("newton", "mean")),
        "Values of leaves: the 'newton' step of each (step 11), or the 'mean' of its lambdas, which one weight "
        "per tree is to scale (`step`, section 5.6); needs split_by='squared_error'.",
        default="newton",
    )

    rounds: int | None = parameter(  # type: ignore[assignment]
        Integer(1, optional=True),
        f"Maximum number of rounds. Validation data choose how many are kept. None: {ROUNDS}, or {MAX_ROUNDS:,} "
        "where `pairs` are neighbours; without validation data, training queries that are held out in turn then "
        f"choose the number. It is {USUAL_ROUNDS} unless they need fewer or more, or if the documents are in a "
        "binned file.",
        default=None,
    )
    grow_policy: str | None = parameter(
        OneOf(("leafwise", "symmetric"), optional=True),
        "How trees grow: 'leafwise' splits the leaf with the highest gain next; 'symmetric' gives all leaves of a "
        "level the same split (oblivious trees, as in CatBoost), which overfits less where few documents have to "
        f"tell interactions of features apart. None: 'symmetric' for fewer than {COARSE_DOCUMENTS:,} documents, "
        "else 'leafwise'.",
        default=None,
        search=Choices(None, "leafwise"),
    )
    max_leaves: int | None = parameter(default=None, search=Range(4, 64, log=True, automatic=usual_leaves_for))
    feature_fraction: float | None = parameter(
        default=None, search=Range(0.1, 1.0, automatic=usual_feature_fraction_for)
    )

    def _boosted(
        self, rule: Rule[Gradients], learner: WeakLearner[Gradients], monitor: Monitor, task: FitTask
    ) -> list[WeightedModel]:
        if self.step is None:
            return super()._boosted(rule, learner, monitor, task)
        exact = ExactSteps(self.step, rule, learner, self.metric, task, ordered=bool(self.monotone))
        members = super()._boosted(exact, exact, monitor, task)
        with monitor:  # Ctrl-C leaves the weights as they are
            members = exact.refitted(members)
        return members  # noqa: RET504  # unchanged after Ctrl-C

    def _learner(self, task: FitTask, monotone: NDArray[np.int8]) -> WeakLearner[Gradients]:
        learner = self._tree_learner(TreeLearner, task, monotone)
        if self.split_by == "newton":
            return learner
        return LeastSquaresTrees(learner, task.weights, self.l2, mean=self.leaf_values == "mean")

    def _limits(self, task: FitTask) -> TreeLimits:
        limits = super()._limits(task)
        if self.split_by == "newton":
            return limits
        return limits._replace(min_hessian=0.0, l2=0.0, levels=FINE_LEVELS)

    def _on_one_machine(self) -> dict[str, bool]:
        return super()._on_one_machine() | {
            "step": self.step is not None,
            "split_by='squared_error'": self.split_by != "newton",
            "double_lambdas=None": self.double_lambdas is None,
        }

    def _check_together(self) -> None:
        super()._check_together()
        if self.all_thresholds and self.coarse:
            raise InputError("coarse=True searches bins in two stages; all_thresholds=True has none.")
        given = [name for name in OF_ALL_PAIRS if not self._is_default(name)]
        if self.pairs == "neighbours" and given:
            raise InputError(f"{given[0]} is about all pairs; pairs='neighbours' does not use it.")
        if self.split_by == "newton":
            if self.leaf_values == "mean":
                raise InputError("leaf_values='mean' needs split_by='squared_error', which compares means.")
        else:
            if self.min_hessian != self.declared["min_hessian"].default:
                raise InputError("min_hessian is not used by split_by='squared_error'; min_documents is.")
            if self.monotone:
                raise InputError("monotone needs split_by='newton': Newton values of other splits may break it.")

    def _is_default(self, name: str) -> bool:
        return bool(getattr(self, name) == self.declared[name].default)

    def _is_symmetric(self, task: FitTask) -> bool:
        if self.grow_policy is not None:
            return self.grow_policy == "symmetric"
        only_leafwise = self.monotone or self.coarse or self.min_documents or self.split_by != "newton"
        return not only_leafwise and _is_small(task)

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        if not self._chooses_rounds(task):
            return super()._fit(task)
        n_rounds, reason = held_out_rounds(super()._fit, task, usual=USUAL_ROUNDS)
        model, history = super()._fit(replace(task, stop_after=n_rounds))
        return model, replace(history, reason=reason)

    def _chooses_rounds(self, task: FitTask) -> bool:
        """Return whether training queries are held out to choose the number of rounds."""
        is_open = self.rounds is None and task.validation is None and task.stop_after is None
        return is_open and not task.train.is_binned and self._pairs_neighbours(task)

    def n_rounds(self, task: FitTask) -> int:
        """Return the maximum number of rounds."""
        if self.rounds is not None:
            return int(self.rounds)
        if not self._pairs_neighbours(task):
            return ROUNDS
        return USUAL_ROUNDS if task.validation is None and task.stop_after is None else MAX_ROUNDS

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        """Return the facts, with what None stands for here."""
        about = super()._about(task, history)
        about["parameters"] |= {
            "grow_policy": "symmetric" if self._is_symmetric(task) else "leafwise",
            "pairs": "neighbours" if self._pairs_neighbours(task) else "all",
            "rounds": len(history) if self._chooses_rounds(task) else self.n_rounds(task),
        }
        return about

    def _pairs_neighbours(self, task: FitTask) -> bool:
        if self.pairs == "neighbours" and task.shown is not None:
            raise InputError("Clicks with positions or propensities need pairs='all', not 'neighbours'.")
        if self.pairs is not None:
            return self.pairs == "neighbours"
        as_usual = all(map(self._is_default, (*OF_ALL_PAIRS, "split_by")))
        graded = isinstance(self.metric, NDCG) and self.metric.gain in (Gain.EXPONENTIAL, Gain.LINEAR)
        return as_usual and graded and _is_small(task)

    def _rule(self, task: FitTask) -> LambdaRule:
        lambdas: LambdaGradients | ClickLambdas
        if task.exposure is not None:
            lambdas = self._click_lambdas(task.train.labels, task.exposure, self.truncation)
        elif self._pairs_neighbours(task):
            kernel = neighbour_lambda_kernel(task.train.all_labels, n_orders=ORDERS, seed=self.random_state)
            lambdas = LambdaGradients(None, *task.train.labels, kernel=kernel)
        else:
            lambdas = self._gradients(task.train.labels, self.truncation)
        return LambdaRule(self.metric, lambdas, task.weights, self.learning_rate, task.n_threads)


def _is_small(task: FitTask) -> bool:
    """Return whether splits are searched in one stage, labels are judged, and there is no model to start from.

    Then trees are symmetric and neighbours push each other by default; docs/lambdamart.md has what that gains.
    """
    return len(task.train.all_labels) < COARSE_DOCUMENTS and task.shown is None and task.start is None
