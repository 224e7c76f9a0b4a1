"""The mean of scorers of any scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.models import Combination, StandardisedScorer
from rankwright.models.scorer import checked_scorers

if TYPE_CHECKING:
    from collections.abc import Sequence


def mix_standardised(rankers: Sequence[Any]) -> Combination:
    """Return the mean of fitted rankers' or scorers' scores, standardised within the query; all weigh alike."""
    scorers = checked_scorers(rankers)
    members = tuple(StandardisedScorer(one).described(feature_names=one.feature_names) for one in scorers)
    return Combination(members, np.full(len(members), 1.0 / len(members)))
