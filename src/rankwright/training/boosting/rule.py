"""Rules: the part of a boosting algorithm that differs from paper to paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.base.arrays import Doubles

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
