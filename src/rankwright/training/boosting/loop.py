"""The boosting loop that all boosting rankers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.trees import TreeEnsemble
from rankwright.training.boosting.rule import RoundDiagnostics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.training.boosting.rule import Rule, Signal
    from rankwright.training.learners.signal import WeakLearner, WeakModel
    from rankwright.training.monitor import Monitor


class WeightedModel(NamedTuple):
    """A weak model and its weight in the ensemble."""

    weight: float
    model: WeakModel


def boost(
    rule: Rule[Signal],
    learner: WeakLearner[Signal],
    *,
    start: Doubles,
    rounds: int,
    monitor: Monitor,
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
