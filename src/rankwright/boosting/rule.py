"""What a paper says: what the ensemble still gets wrong, and how far to move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.arrays import Doubles

Signal = TypeVar("Signal")
Seen = TypeVar("Seen", contravariant=True)  # a signal that is only read


class Rule(Protocol[Signal]):
    """A boosting algorithm, but for its loop and its weak learner."""

    def first_signal(self, scores: Doubles) -> Signal:
        """Return the signal before the first round; `scores` are those the ensemble starts from."""

    def signal(self, scores: Doubles) -> Signal:
        """Return what the ensemble with these scores still gets wrong."""

    def step(self, signal: Signal, outputs: Doubles) -> float | None:
        """Return the weight of a weak model with these outputs, None if it is not worth adding."""


@runtime_checkable
class RoundDiagnostics(Protocol[Seen]):
    """A rule that has more to tell of a round than its weight, such as a bound that its paper proves."""

    def diagnostics(self, before: Seen, outputs: Doubles, step: float, after: Seen) -> Mapping[str, float]:
        """Return numbers by name: of a weak model with these outputs and weight, and the signals around it."""
