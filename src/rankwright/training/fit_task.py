"""The checked input of a fit, from which rankers read documents, weights and start scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data.splitting import concat
from rankwright.training.monitor import Monitor
from rankwright.training.training_set import TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.data.query_features import QueryFeature
    from rankwright.metrics.base import Metric
    from rankwright.training.history import Round
    from rankwright.training.start import Start
    from rankwright.training.training_set import QueryLabels


@dataclass(frozen=True, eq=False)
class FitTask:
    """The checked input of a fit.

    Parameters
    ----------
    train, validation
        The documents to learn from, and those that choose the round to keep, if any.
    row_weights
        One weight per training document in the order of the input; None if all weights are equal. Rankers use
        `weights`.
    on_round
        Called with each round as it ends.
    n_threads
        Number of threads.
    start
        The model, or scores, that boosting starts from.
    stop_after
        The number of rounds after which to stop; None if the ranker and the validation documents decide.
    """

    train: TrainingSet
    validation: TrainingSet | None
    row_weights: Doubles | None
    on_round: Callable[[Round], None] | None
    n_threads: int
    start: Start | None = None
    stop_after: int | None = None

    @property
    def weights(self) -> Doubles | None:
        """One weight per training document in canonical order; None if all weights are equal."""
        return None if self.row_weights is None else self.row_weights[self.train.canonical_rows]

    @property
    def first_scores(self) -> Doubles:
        """The scores of the training documents before the first round, in canonical order."""
        if self.start is None:
            return np.zeros(len(self.train))
        return self.start.train[self.train.canonical_rows]

    @property
    def validation_scores(self) -> Doubles:
        """The scores of the validation documents before the first round, in the order of the input."""
        given = None if self.start is None else self.start.validation
        return np.zeros(0 if self.validation is None else len(self.validation)) if given is None else given

    @property
    def validation_data(self) -> RankingData | None:
        """The validation documents, in the order of the input."""
        return None if self.validation is None else self.validation.data

    def with_query_features(self, kinds: tuple[QueryFeature, ...], *, raw: bool = True) -> FitTask:
        """Return the task with features computed within the query; see `TrainingSet.with_query_features`."""
        validation = self.validation
        if validation is not None:
            validation = validation.with_query_features(kinds, raw=raw)
        return replace(self, train=self.train.with_query_features(kinds, raw=raw), validation=validation)

    def monitor(
        self, metric: Metric, labels: QueryLabels | None, *, patience: int | None = None, **options: Any
    ) -> Monitor:
        """Return the monitor of this fit; `labels` are those of the training scores that it will observe."""
        return Monitor(
            metric,
            labels,
            self.validation_data,
            patience=patience,
            on_round=self.on_round,
            n_threads=self.n_threads,
            stop_after=self.stop_after,
            **options,
        )

    def on_both_parts(self, rounds: int) -> FitTask:
        """Return the task of learning from the training and the validation documents, for so many rounds."""
        assert self.validation is not None
        # Equal query ids in the two parts need not be the same query.
        both = concat(self.train.data, self.validation.data, shared_queries="separate")
        start = self.start
        if start is not None:
            assert start.validation is not None
            start = replace(start, train=np.concatenate([start.train, start.validation]), validation=None)
        return replace(self, train=TrainingSet(both), validation=None, start=start, stop_after=rounds)
