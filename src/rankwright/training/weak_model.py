"""Weak models, and the weights with which boosting adds them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import Documents


class WeakModel(Protocol):
    """A scorer or another model whose outputs boosting sums, such as trees with one output per class."""

    def outputs(self, data: Documents, *, n_jobs: int | None = None) -> Doubles:
        """Return the outputs for documents."""


class WeightedModel(NamedTuple):
    """A weak model and its weight in the ensemble."""

    weight: float
    model: WeakModel
