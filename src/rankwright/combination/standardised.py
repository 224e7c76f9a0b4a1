"""The mean of scorers of any scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.errors import InputError
from rankwright.models import Combination, StandardisedScorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.models import Scorer


def mix_standardised(scorers: Sequence[Scorer]) -> Combination:
    """Return the mean of the scores, each scorer's standardised within the query; all weigh alike."""
    if not len(scorers):
        raise InputError("There must be at least one scorer to mix.")
    members = tuple(StandardisedScorer(one).described(feature_names=one.feature_names) for one in scorers)
    return Combination(members, np.full(len(members), 1.0 / len(members)))
