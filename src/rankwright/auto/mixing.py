"""How judged entries become one mixture: the number of rounds of each, and its weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.ensembling.mixtures import Mixture
from rankwright.ensembling.weights import KEPT_WEIGHT, prune_weights, weighted_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankwright.auto.entries import JudgedEntry
    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer

    Weigh = Callable[[Doubles], Doubles]


@dataclass(frozen=True, eq=False)
class Mix:
    """Entries, the index of the chosen number of rounds of each, and its weight; weights sum to 1."""

    entries: tuple[JudgedEntry, ...]
    round_indices: tuple[int, ...]
    weights: Doubles

    @property
    def scores(self) -> Doubles:
        """The scores of all judging documents."""
        columns = [entry.scores[index] for entry, index in zip(self.entries, self.round_indices, strict=True)]
        return weighted_sum(columns, self.weights)

    @property
    def half_scores(self) -> Doubles:
        """The same if the entries learn from half of the queries."""
        columns = [entry.half_scores[index] for entry, index in zip(self.entries, self.round_indices, strict=True)]
        return weighted_sum(columns, self.weights)

    @property
    def kept(self) -> list[int]:
        """The entries that have a weight."""
        return [int(index) for index in np.flatnonzero(self.weights)]

    @property
    def member_names(self) -> list[str]:
        """The names of the entries that have a weight, each with its number of rounds if it has any."""
        members = [(self.entries[index], self.round_indices[index]) for index in self.kept]
        return [
            f"{entry.name} ({entry.rounds[chosen]})" if entry.rounds[chosen] else entry.name
            for entry, chosen in members
        ]

    def scorer(self) -> Scorer:
        """Return the entries that have a weight as one scorer; a single one stays as it is."""
        if len(self.kept) == 1:
            return self.entries[self.kept[0]].cut(self.round_indices[self.kept[0]])
        members = [self.entries[index].member(self.round_indices[index]) for index in self.kept]
        return Mixture(members, self.weights[self.kept]).scorer()


def mix(entries: Sequence[JudgedEntry], weigh: Weigh, judgements: NDArray[np.bool_] | None = None) -> Mix:
    """Choose rounds and weights by these judgements; None for all. Entries of negligible weight are left out."""
    indices = tuple(entry.best_index(judgements) for entry in entries)
    chosen = zip(entries, indices, strict=True)
    values = np.array([entry.held_out.by_query(entry.values[index], judgements) for entry, index in chosen])
    return Mix(tuple(entries), indices, prune_weights(weigh(values), KEPT_WEIGHT))
