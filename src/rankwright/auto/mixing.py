"""How judged entries become one mixture: the number of rounds of each, and its weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.ensembling import Mixture
from rankwright.ensembling.weights import KEPT_WEIGHT, prune_weights, weighted_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.auto.entries import JudgedEntry
    from rankwright.models import Scorer


@dataclass(frozen=True, eq=False)
class Mix:
    """Entries, the place of each among its numbers of rounds, and its weight; weights sum to 1."""

    entries: tuple[JudgedEntry, ...]
    places: tuple[int, ...]
    weights: Doubles

    @property
    def scores(self) -> Doubles:
        """The scores of all judging documents."""
        columns = [one.scores[place] for one, place in zip(self.entries, self.places, strict=True)]
        return weighted_sum(columns, self.weights)

    @property
    def kept(self) -> list[int]:
        """The entries that have a weight."""
        return [int(place) for place in np.flatnonzero(self.weights)]

    def scorer(self) -> Scorer:
        """Return the entries that have a weight as one scorer; a single one stays as it is."""
        if len(self.kept) == 1:
            return self.entries[self.kept[0]].cut(self.places[self.kept[0]])
        members = [self.entries[one].member(self.places[one]) for one in self.kept]
        return Mixture(members, self.weights[self.kept]).scorer()


def mix(
    entries: Sequence[JudgedEntry], judgements: NDArray[np.bool_] | None = None, *, single: bool = False
) -> Mix:
    """Choose rounds and weights by these judgements; None for all.

    `single` gives the best entry all the weight. Otherwise entries of negligible weight are left out.
    """
    places = tuple(one.best_place(judgements) for one in entries)
    chosen = zip(entries, places, strict=True)
    values = np.array([one.held_out.by_query(one.values[place], judgements) for one, place in chosen])
    weights = plausible_weights(values)
    if single:
        weights = np.eye(len(entries))[np.argmax(weights)]
    return Mix(tuple(entries), places, prune_weights(weights, KEPT_WEIGHT))


def plausible_weights(values: Doubles) -> Doubles:
    """Return weights proportional to exp(-t^2 / 2), where t is how far an entry is behind the best, in errors.

    `values` has one row per entry and one column per query. t is the mean difference from the best entry, query by
    query, divided by its standard error: entries that the queries cannot tell from the best
    weigh nearly the same, and the more queries there are, the less those weigh that are worse. The weight is the
    likelihood that an entry is as good as the best.
    """
    known = values[:, ~np.isnan(values).any(axis=0)]
    if not known.shape[1]:
        return np.full(len(values), 1.0 / len(values))
    differences = known[np.argmax(known.mean(axis=1))] - known
    errors = (
        differences.std(axis=1, ddof=1) / np.sqrt(known.shape[1]) if known.shape[1] > 1 else np.ones(len(known))
    )
    behind = np.divide(differences.mean(axis=1), errors, out=np.zeros(len(known)), where=errors > 0)
    weights = np.exp(-(behind**2) / 2)
    return np.asarray(weights / weights.sum())
