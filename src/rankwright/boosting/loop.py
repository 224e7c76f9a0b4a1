"""The only boosting loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.boosting.rule import RoundDiagnostics
from rankwright.errors import InputError
from rankwright.models import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.boosting.rule import Rule, Signal
    from rankwright.learners import WeakLearner, WeakModel
    from rankwright.training.monitor import Monitor


class Member(NamedTuple):
    """A weak model and its weight in the ensemble."""

    weight: float
    model: WeakModel


def boost(
    rule: Rule[Signal],
    learner: WeakLearner[Signal],
    *,
    start: NDArray[np.float64],
    rounds: int,
    monitor: Monitor,
) -> list[Member]:
    """Add weak models until the rule, the monitor or the budget says stop; return those up to the best round."""
    members: list[Member] = []
    reporter = rule if isinstance(rule, RoundDiagnostics) else None
    with monitor:  # Ctrl-C ends the loop, not the fit
        scores, signal = start, rule.first_signal(start)
        for _ in range(rounds):
            weak = learner.fit(signal)
            step = rule.step(signal, weak.outputs)
            if step is None:  # no better than chance, or nothing left to fix
                break
            scores = _sum(scores, step, weak.outputs)
            members.append(Member(step, weak.model))
            before, signal = signal, rule.signal(scores)
            diagnostics = {} if reporter is None else reporter.diagnostics(before, weak.outputs, step, signal)
            if monitor.observe(members[-1], scores, diagnostics):
                break
    return members[: monitor.best_round]


def _sum(scores: NDArray[np.float64], step: float, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore", invalid="ignore"):
        total = step * outputs
        total += scores
    if not np.isfinite(total).all():
        raise InputError("The ensemble's scores are no longer finite; learning_rate must be lower.")
    return total


def weighted_trees(members: Sequence[Member]) -> TreeEnsemble:
    """Return members that are all trees, times their weights, as one ensemble."""
    trees = [model for _, model in members if isinstance(model, TreeEnsemble)]
    return TreeEnsemble.concatenate(trees).scaled([weight for weight, _ in members])
