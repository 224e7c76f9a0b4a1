"""The boosting loop that all boosting rankers share, and the rules that it follows.

A rule is the part of a boosting algorithm that differs from paper to paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.trees import TreeEnsemble
from rankwright.training.learners.signal import NativeLearner
from rankwright.training.monitor import RoundsEnd, WeightedModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.training.learners.signal import RunRounds, WeakLearner
    from rankwright.training.monitor import Monitor

# A block of rounds in native code ends after so many rounds or scores, so that progress is seen and Ctrl-C heard.
# Rounds of one block share the order of the documents: it is sorted once for the metric and the next lambdas.
BLOCK_ROUNDS = 16
BLOCK_SCORES = 1_500_000

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


@runtime_checkable
class NativeRule(Protocol):
    """A rule whose signals and steps native code may compute, with the same bits."""

    def native(self) -> object | None:
        """Return the rule as a learner's native code takes it; None if only Python computes it."""


@runtime_checkable
class WatchedRule(Protocol):
    """A rule in native code that can measure the training documents after each round."""

    def watched_by(self, monitor: Monitor) -> object:
        """Return the rule that measures what the monitor wants."""


def boost(
    rule: Rule[Signal], learner: WeakLearner[Signal], *, start: Doubles, rounds: int, monitor: Monitor
) -> list[WeightedModel]:
    """Add weak models until the rule or the monitor stops, or for `rounds`; return those up to the best round."""
    members: list[WeightedModel] = []
    with monitor:  # Ctrl-C ends the loop, not the fit
        run = _native_rounds(rule, learner, monitor)
        if run is None:
            members.extend(_rounds(rule, learner, start, rounds, monitor))
        else:
            members.extend(_blocks(rule, run, start, rounds, monitor))
    return members[: monitor.best_round]


def _rounds(
    rule: Rule[Signal], learner: WeakLearner[Signal], scores: Doubles, rounds: int, monitor: Monitor
) -> Iterator[WeightedModel]:
    signal = rule.first_signal(scores)
    diagnosed = rule if monitor.diagnosed and isinstance(rule, RoundDiagnostics) else None
    for _ in range(rounds):
        weak = learner.fit(signal)
        step = rule.step(signal, weak.outputs)
        if step is None:  # the weak model is no better than chance, or nothing is left to improve
            return
        scores = _sum(scores, step, weak.outputs, rule.remedy)
        member = WeightedModel(step, weak.model)
        yield member
        before, signal = signal, rule.signal(scores)
        diagnostics = {} if diagnosed is None else diagnosed.diagnostics(before, weak.outputs, step, signal)
        if monitor.observe(member, scores, diagnostics):
            return


def _native_rounds(rule: object, learner: object, monitor: Monitor) -> RunRounds | None:
    """Return rounds without the interpreter, if native code knows both the rule and the learner."""
    native = rule.native() if isinstance(rule, NativeRule) else None
    if isinstance(native, WatchedRule):
        native = native.watched_by(monitor)
    return learner.in_core(native) if native is not None and isinstance(learner, NativeLearner) else None


def _blocks(
    rule: Rule[Signal], run: RunRounds, scores: Doubles, rounds: int, monitor: Monitor
) -> Iterator[WeightedModel]:
    """Do as `_rounds` in blocks of rounds that run without the interpreter and are measured together."""
    rule.first_signal(scores)  # refuses what cannot be learned from
    following = monitor.validation_features
    n_scores = max(scores.size, scores[..., 0].size * len(following))
    most = int(np.clip(BLOCK_SCORES // n_scores, 1, BLOCK_ROUNDS))
    for first in range(0, rounds, most):
        block = run(scores, min(most, rounds - first), following)
        yield from block.members
        if monitor.observe_rounds(block) or block.end is RoundsEnd.NOTHING_LEFT:
            return
        if block.end is RoundsEnd.NOT_FINITE:
            rule.signal(block.scores[-1] if block.members else scores)  # may know more about it
            raise _not_finite(rule.remedy)
        scores = block.scores[-1]


def _sum(scores: Doubles, step: float, outputs: Doubles, remedy: str) -> Doubles:
    with np.errstate(over="ignore", invalid="ignore"):
        total = step * outputs
        total += scores
    if not np.isfinite(total).all():
        raise _not_finite(remedy)
    return total


def _not_finite(remedy: str) -> InputError:
    return InputError(f"The ensemble's scores are no longer finite; {remedy}.")


def weighted_trees(members: Sequence[WeightedModel]) -> TreeEnsemble:
    """Return members that are all trees as one ensemble, their weights multiplied into the leaves."""
    trees = [model for _, model in members if isinstance(model, TreeEnsemble)]
    return TreeEnsemble.concatenate(trees).scaled([weight for weight, _ in members])
