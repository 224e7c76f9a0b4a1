"""The only boosting loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankwright.boosting.monitor import Monitor
    from rankwright.boosting.rule import Rule, Signal
    from rankwright.learners import WeakLearner, WeakModel


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
    with monitor:  # Ctrl-C ends the loop, not the fit
        scores, signal = start, rule.first_signal(start)
        for _ in range(rounds):
            weak = learner.fit(signal)
            step = rule.step(signal, weak.outputs)
            if step is None:  # no better than chance, or nothing left to fix
                break
            scores = scores + step * weak.outputs
            members.append(Member(step, weak.model))
            if monitor.observe(members[-1], scores):
                break
            signal = rule.signal(scores)
    return members[: monitor.best_round]
