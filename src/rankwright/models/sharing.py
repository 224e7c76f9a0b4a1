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
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rankwright.data.query_features import QueryFeature
    from rankwright.models.scorer import Scorer


class _Columns(NamedTuple):
    """What a scorer of columns within the query is given."""

    made: tuple[QueryFeature, ...]
    raw: bool

    @property
    def kinds(self) -> tuple[QueryFeature | None, ...]:
        """One per column of a feature, in order; None is the feature itself."""
        return (None, *self.made) if self.raw else self.made


class _Share(NamedTuple):
    """A member of the combination: a scorer of columns within the query or, if they are None, of the features."""

    columns: _Columns | None
    scorer: Scorer
    weight: float


def share_columns(mixture: Combination) -> Combination:
    """Return the same weighted sum with members that score columns within the query grouped by their columns.

    Each group makes its columns once. The order of addition changes with the grouping, and the scores by rounding.
    """
    shares = [_share(*one) for one in zip(mixture.members, mixture.weights.tolist(), strict=True)]
    wide = [share.columns for share in shares if share.columns is not None]
    groups: dict[object, list[_Share]] = {}
    for place, share in enumerate(_widened(one, wide) for one in shares):
        groups.setdefault(place if share.columns is None else share.columns, []).append(share)
    grouped = [_joined(group) for group in groups.values()]
    weights = np.array([weight for _, weight in grouped])
    return replace(mixture, members=tuple(scorer for scorer, _ in grouped), weights=weights)


def _share(member: Scorer, weight: float) -> _Share:
    match member:
        case QueryFeatureScorer():
            return _Share(_Columns(member.columns, member.raw), member.inner, weight)
        case StandardisedScorer(
            inner=QueryFeatureScorer() as wide
        ):  # scores are standardised after columns are made
            return _Share(_Columns(wide.columns, wide.raw), StandardisedScorer(wide.inner), weight)
    return _Share(None, member, weight)


def _widened(share: _Share, others: Iterable[_Columns]) -> _Share:
    """Return a linear scorer of some of another member's columns as a scorer of all of them."""
    if share.columns is None:
        return share
    own = share.columns.kinds
    wider = (one for one in others if set(one.kinds) > set(own))
    target = max(wider, key=lambda one: len(one.kinds), default=None)
    match share.scorer:
        case LinearScorer() as linear if target is not None:
            return _Share(target, _spread(linear, own, target.kinds), share.weight)
        case StandardisedScorer(inner=LinearScorer() as linear) if target is not None:
            return _Share(target, StandardisedScorer(_spread(linear, own, target.kinds)), share.weight)
    return share


def _spread(
    linear: LinearScorer, own: tuple[QueryFeature | None, ...], kinds: tuple[QueryFeature | None, ...]
) -> LinearScorer:
    """Return the scorer of columns of all these kinds, with weight 0 for those of other kinds than its own."""

    def spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
        blocks = dict(zip(own, np.split(values, len(own)), strict=True))
        nothing = np.zeros(len(values) // len(own))
        return np.concatenate([blocks.get(kind, nothing) for kind in kinds])

    return LinearScorer(spread(linear.weights), spread(linear.missing), linear.intercept)


def _joined(group: list[_Share]) -> tuple[Scorer, float]:
    """Return one scorer of the features for members with the same columns, and its weight."""
    columns, scorer, weight = group[0]
    if columns is None:
        return scorer, weight
    if len(group) == 1:
        return QueryFeatureScorer(scorer, columns.made, columns.raw), weight
    scorers, weights = tuple(one.scorer for one in group), np.array([one.weight for one in group])
    return QueryFeatureScorer(Combination(scorers, weights), columns.made, columns.raw), 1.0
