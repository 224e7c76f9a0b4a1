"""Protocols of tuning: which queries settings are fitted on, and which ones judge them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import listed
from rankwright.data.alignment import aligned
from rankwright.data.splitting import concat
from rankwright.training.training_set import TrainingSet, fold_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.data.dataset import RankingData

    Judged = RankingData | TrainingSet

VALIDATION, OUT_OF_FOLD = "validation", "out-of-fold"  # names of protocols
FOLDS = 4  # number of folds of the protocol "out-of-fold"
SEED = 0  # seed of these folds


class JudgingPart(NamedTuple):
    """The queries that a setting is fitted on, and those that it is evaluated on."""

    train: TrainingSet
    judges: TrainingSet


class JudgingPlan(NamedTuple):
    """The parts that choose the setting, and the data for the final fit with it."""

    parts: Sequence[JudgingPart]
    final: TrainingSet


@dataclass(frozen=True)
class Protocol:
    """How settings are chosen: how training and validation data are split, and into how many parts."""

    plan: Callable[[Judged, Judged | None, str | None], JudgingPlan]
    n_parts: int


def by_validation(train: Judged, valid: Judged | None, time_column: str | None = None) -> JudgingPlan:
    """Fit on the training part and evaluate on the validation part; the final fit uses the training part."""
    if valid is None:
        raise InputError("Choosing a setting on validation needs a validation part; 'out-of-fold' does not.")
    del time_column  # the validation part is given
    fitted_on = TrainingSet.of(train)
    return JudgingPlan([JudgingPart(fitted_on, TrainingSet.of(valid))], final=fitted_on)


def out_of_fold(train: Judged, valid: Judged | None, time_column: str | None = None) -> JudgingPlan:
    """Cross-validate over the queries of both parts, in time order if they have times; the final fit uses both."""
    both = TrainingSet.of(train)
    if valid is not None:  # equal query ids in the two parts need not be the same query
        other = aligned(TrainingSet.of(valid).data, both.data)
        both = TrainingSet(concat(both.data, other, shared_queries="separate"))
    folds = fold_queries(both, FOLDS, np.random.default_rng(SEED), time_column=time_column)
    return JudgingPlan([JudgingPart(*fold) for fold in folds], final=both)


PROTOCOLS = {VALIDATION: Protocol(by_validation, 1), OUT_OF_FOLD: Protocol(out_of_fold, FOLDS)}


def default_protocol(*, has_validation: bool) -> str:
    """Return the name of the protocol that is used if none is named."""
    return VALIDATION if has_validation else OUT_OF_FOLD


def find_protocol(name: str) -> Protocol:
    """Return the protocol of that name."""
    if name not in PROTOCOLS:
        raise InputError(f"There is no tuning protocol {name!r}; choose {listed(PROTOCOLS)}.")
    return PROTOCOLS[name]
