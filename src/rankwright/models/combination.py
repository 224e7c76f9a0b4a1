"""A weighted sum of other scorers' scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.models.scorer import Scorer
from rankwright.models.state import State, frozen_numbers
from rankwright.models.wrapping import checked_part

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True, eq=False, repr=False)
class Combination(Scorer):
    """The sum of weight x score over several scorers of the same features; contributions likewise.

    Parameters
    ----------
    members
        The scorers, kept without their feature names and facts; the combination has the names they share.
    weights
        One weight per scorer.
    """

    kind: ClassVar[str] = "combination"
    members: tuple[Scorer, ...]
    weights: Doubles

    def __post_init__(self) -> None:
        members = _checked_members(self.members)
        named = [scorer for scorer in (*members, self) if scorer.feature_names is not None]
        if len({(scorer.feature_names, scorer.categories) for scorer in named}) > 1:
            raise InputError("The members of a combination must have the same feature names in the same order.")
        self._set("weights", frozen_numbers("weights", self.weights, (len(members),)))
        self._set("n_features", members[0].n_features)
        self._set("feature_names", named[0].feature_names if named else None)
        self._set("categories", named[0].categories if named else ())
        self._set("members", tuple(checked_part(member) for member in members))
        super().__post_init__()

    @property
    def needs_queries(self) -> bool:
        """Whether any member does."""
        return any(member.needs_queries for member in self.members)

    @property
    def allows_infinite(self) -> bool:
        """Whether all members do."""
        return all(member.allows_infinite for member in self.members)

    @cached_property
    def columns_per_feature(self) -> int:
        """The most of any member: members are scored one after another."""
        return max(member.columns_per_feature for member in self.members)

    @cached_property
    def depth(self) -> int:
        """One more than the deepest member."""
        return 1 + max(member.depth for member in self.members)

    @property
    def n_rounds(self) -> int:
        """The most of any member."""
        return max(member.n_rounds for member in self.members)

    @property
    def n_trees(self) -> int:
        """Those of all members together."""
        return sum(member.n_trees for member in self.members)

    def first(self, n_rounds: int) -> Self:
        """Return the combination with longer members cut; a member without rounds stays whole."""
        if not self.n_rounds:
            return super().first(n_rounds)
        cut = (member.first(n_rounds) if member.n_rounds > n_rounds else member for member in self.members)
        return replace(self, members=tuple(cut))

    def _score(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        scores = np.zeros(len(X))
        for member, weight in zip(self.members, self.weights, strict=True):
            scores += weight * member._score(X, groups, n_threads)
        return scores

    def _contributions(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        values = np.zeros((len(X), self.n_features + 1))
        for member, weight in zip(self.members, self.weights, strict=True):
            values += weight * member._contributions(X, groups, n_threads)
        return values

    @property
    def used_features(self) -> Integers:
        """Those that any member uses."""
        return np.unique(np.concatenate([member.used_features for member in self.members]))

    def state(self) -> State:
        """Return the weights and the numbered members."""
        children = {f"member {number}": member for number, member in enumerate(self.members)}
        return State(arrays={"weights": self.weights}, children=children)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a combination from its weights and members."""
        weights = state.array("weights", np.float64)
        return cls(tuple(state.child(f"member {number}") for number in range(len(weights))), weights)


def _checked_members(members: tuple[Scorer, ...]) -> tuple[Scorer, ...]:
    scorers = tuple(members)
    if not scorers or not all(isinstance(member, Scorer) for member in scorers):
        raise InputError("The members of a combination must be scorers, at least one of them.")
    for number, member in enumerate(scorers):
        if member.n_features != scorers[0].n_features:
            expected = scorers[0].n_features
            raise InputError(
                f"Models to combine must have the same features; model {number + 1} has {member.n_features}, the "
                f"first {expected}."
            )
    return scorers
