"""A weighted sum of other scorers' scores, which may be standardised within the query and share their columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.feature_ranges import FeatureRanges
from rankwright.data.query_features import standardised
from rankwright.models.linear import LinearScorer
from rankwright.models.nested_scorers import QueryFeatureScorer, WrappingScorer, checked_part
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import State, frozen_numbers

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.groups import QueryGroups
    from rankwright.data.query_features import QueryFeature


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
        if self.ranges is None:
            self._set("ranges", FeatureRanges.joined([each.ranges for each in members if each.ranges is not None]))
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


@dataclass(frozen=True, eq=False, repr=False)
class StandardisedScorer(WrappingScorer):
    """Another scorer's scores minus the query's mean, divided by the query's standard deviation.

    A feature's contribution is that to the inner score, relative to its mean in the query, divided by the same
    deviation; all are 0 in a query whose scores are equal. So the base score is 0 if the inner one is constant.

    Parameters
    ----------
    inner
        The scorer.
    """

    kind: ClassVar[str] = "standardised"

    @property
    def needs_queries(self) -> bool:
        """Always."""
        return True

    def _score(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        return standardised(self.inner._score(X, groups, n_threads), groups, n_threads)

    def _contributions(self, X: Floats, groups: QueryGroups, n_threads: int, /) -> Doubles:
        scores, values = (part(X, groups, n_threads) for part in (self.inner._score, self.inner._contributions))
        standard = standardised(scores, groups, n_threads)
        for rows in groups:
            own, spread = values[rows], np.ptp(standard[rows])
            mean = np.sort(own, axis=0).mean(axis=0)  # sorted: it must not depend on the order of documents
            values[rows] = (own - mean) / (np.ptp(scores[rows]) / spread) if spread else 0.0
        return values


class _Columns(NamedTuple):
    """What a scorer is given: columns made within the query, and the features themselves if `raw`."""

    made: tuple[QueryFeature, ...] = ()
    raw: bool = True

    @property
    def kinds(self) -> tuple[QueryFeature | None, ...]:
        """One per column of a feature, in order; None is the feature itself."""
        return (None, *self.made) if self.raw else self.made


class _Share(NamedTuple):
    """A member with its weight, the columns that it scores and the scorer of these columns."""

    member: Scorer
    weight: float
    columns: _Columns
    scorer: Scorer


def share_columns(mixture: Combination) -> Combination:
    """Return the same weighted sum with members that score columns within the query grouped by their columns.

    Each group makes its columns once. Grouping changes the order of addition, so scores may differ by rounding.
    """
    shares = [_share(*member) for member in zip(mixture.members, mixture.weights.tolist(), strict=True)]
    columns = [share.columns for share in shares]
    groups: dict[_Columns | int, list[_Share]] = {}
    for number, share in enumerate(_widened(share, columns) for share in shares):
        groups.setdefault(share.columns if share.columns.made else number, []).append(share)
    grouped = [_joined(group) for group in groups.values()]
    members, weights = zip(*grouped, strict=True)
    return replace(mixture, members=members, weights=np.array(weights))


def _share(member: Scorer, weight: float) -> _Share:
    match member:
        case QueryFeatureScorer():
            return _Share(member, weight, _Columns(member.columns, member.raw), member.inner)
        case StandardisedScorer(inner=QueryFeatureScorer() as wide):
            # Standardising takes scores only, so it may as well be done by the scorer of the columns.
            return _Share(member, weight, _Columns(wide.columns, wide.raw), StandardisedScorer(wide.inner))
    return _Share(member, weight, _Columns(), member)


def _widened(share: _Share, columns: list[_Columns]) -> _Share:
    """Return a linear scorer of some of another member's columns as a scorer of all of them."""
    own = share.columns.kinds
    wider = (wide for wide in columns if set(wide.kinds) > set(own))
    target = max(wider, key=lambda wide: len(wide.kinds), default=None)
    if target is None or not share.columns.made:
        return share
    match share.scorer:
        case LinearScorer() as linear:
            return share._replace(columns=target, scorer=_spread(linear, own, target.kinds))
        case StandardisedScorer(inner=LinearScorer() as linear):
            scorer = StandardisedScorer(_spread(linear, own, target.kinds))
            return share._replace(columns=target, scorer=scorer)
    return share


def _spread(
    linear: LinearScorer, own: tuple[QueryFeature | None, ...], kinds: tuple[QueryFeature | None, ...]
) -> LinearScorer:
    """Return the scorer of columns of all these kinds, with weight 0 for those of other kinds than its own."""

    def spread(values: Doubles) -> Doubles:
        blocks = dict(zip(own, np.split(values, len(own)), strict=True))
        nothing = np.zeros(len(values) // len(own))
        return np.concatenate([blocks.get(kind, nothing) for kind in kinds])

    return LinearScorer(spread(linear.weights), spread(linear.missing), linear.intercept)


def _joined(group: list[_Share]) -> tuple[Scorer, float]:
    """Return one scorer of the features for members with the same columns, and its weight."""
    if len(group) == 1:
        return group[0].member, group[0].weight
    inner = Combination(tuple(share.scorer for share in group), np.array([share.weight for share in group]))
    return QueryFeatureScorer(inner, *group[0].columns), 1.0
