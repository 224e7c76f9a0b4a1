"""The boosting loop that all boosting rankers share, and the rules that it follows.

A rule is the part of a boosting algorithm that differs from paper to paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.trees import TreeEnsemble
from rankwright.training.monitor import WeightedModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.training.learners.signal import WeakLearner
    from rankwright.training.monitor import Monitor


Signal = TypeVar("Signal")
Seen = TypeVar("Seen", contravariant=True)  # a signal that is only read


class Rule(Protocol[Signal]):
    """A boosting algorithm without its loop and its weak learner.

    `remedy` is the advice in the error message if the ensemble's scores become infinite.
    """

    remedy: ClassVar[str]

    def first_signal(self, scores: Doubles) -> Signal:
        """Return the signal before the first round, where the ensemble has its first scores."""

    def signal(self, scores: Doubles) -> Signal:
        """Return what the ensemble with these scores still gets wrong: the input of the weak learner."""

    def step(self, signal: Signal, outputs: Doubles) -> float | None:
        """Return the weight of a weak model with these outputs; None ends boosting without it."""


@runtime_checkable
class RoundDiagnostics(Protocol[Seen]):
    """A rule that reports more about a round than its weight, such as a bound that its paper proves."""

    def diagnostics(self, before: Seen, outputs: Doubles, step: float, after: Seen) -> Mapping[str, float]:
        """Return named numbers of a round, from its weak model's outputs and weight and the signals around it."""


def boost(
    rule: Rule[Signal], learner: WeakLearner[Signal], *, start: Doubles, rounds: int, monitor: Monitor
) -> list[WeightedModel]:
    """Add weak models until the rule or the monitor stops, or for `rounds`; return those up to the best round."""
    members: list[WeightedModel] = []
    diagnosed = rule if isinstance(rule, RoundDiagnostics) else None
    with monitor:  # Ctrl-C ends the loop, not the fit
        scores, signal = start, rule.first_signal(start)
        for _ in range(rounds):
            weak = learner.fit(signal)
            step = rule.step(signal, weak.outputs)
            if step is None:  # the weak model is no better than chance, or nothing is left to improve
                break
            scores = _sum(scores, step, weak.outputs, rule.remedy)
            members.append(WeightedModel(step, weak.model))
            before, signal = signal, rule.signal(scores)
            diagnostics = {} if diagnosed is None else diagnosed.diagnostics(before, weak.outputs, step, signal)
            if monitor.observe(members[-1], scores, diagnostics):
                break
    return members[: monitor.best_round]


def _sum(scores: Doubles, step: float, outputs: Doubles, remedy: str) -> Doubles:
    with np.errstate(over="ignore", invalid="ignore"):
        total = step * outputs
        total += scores
    if not np.isfinite(total).all():
        raise InputError(f"The ensemble's scores are no longer finite; {remedy}.")
    return total


def weighted_trees(members: Sequence[WeightedModel]) -> TreeEnsemble:
    """Return members that are all trees as one ensemble, their weights multiplied into the leaves."""
    trees = [model for _, model in members if isinstance(model, TreeEnsemble)]
    return TreeEnsemble.concatenate(trees).scaled([weight for weight, _ in members])
