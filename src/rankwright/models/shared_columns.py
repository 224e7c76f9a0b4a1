"""Combinations whose members share the columns that they score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.models.combination import Combination
from rankwright.models.linear import LinearScorer
from rankwright.models.query_features import QueryFeatureScorer
from rankwright.models.standardised import StandardisedScorer

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.data.query_features import QueryFeature
    from rankwright.models.scorer import Scorer


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
