"""Systems that the experiments of several papers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.metrics.catalogue import as_metric
from rankwright.models.feature import FeatureScorer
from rankwright.tuning.trials import configured

if TYPE_CHECKING:
    from rankwright.papers.framework.experiment import DataTrial
    from rankwright.rankers.ranker import Ranker


@dataclass(frozen=True)
class FittedSystem:
    """A ranker fitted on the training part; the validation part, if there is one, chooses the round to keep."""

    ranker: Ranker
    validate: bool = True

    def __call__(self, trial: DataTrial, threads: int) -> Any:
        """Fit on a trial."""
        return fitted(self.ranker, trial, threads, validate=self.validate)


@dataclass(frozen=True)
class BestOf:
    """Settings of a ranker, the best of which on the validation part is kept; the first of equal ones."""

    settings: tuple[Ranker, ...]
    by: str
    validate: bool = True

    def __call__(self, trial: DataTrial, threads: int) -> Any:
        """Fit all settings on a trial, and return the best."""
        if trial.valid is None:
            raise ValueError(f"{trial.name} has no validation part to choose by.")
        metric, valid = as_metric(self.by), trial.valid
        every = [fitted(ranker, trial, threads, validate=self.validate) for ranker in self.settings]
        return max(every, key=lambda model: metric(valid.y, model.predict(valid), valid.qid))


@dataclass(frozen=True)
class OneFeature:
    """A single feature as the score, such as BM25; counted from 1, as in LETOR's files."""

    feature: int

    def __call__(self, trial: DataTrial, _threads: int) -> Any:
        """Return the scorer; nothing is learned."""
        return FeatureScorer(self.feature - 1, n_features=trial.train.n_features, missing=0.0)


@dataclass(frozen=True)
class BestFeatureSystem:
    """The single feature, or its negative, that ranks the training queries best."""

    by: str

    def __call__(self, trial: DataTrial, _threads: int) -> FeatureScorer:
        """Try all features."""
        train, metric = trial.train, as_metric(self.by)
        scorers = [
            FeatureScorer(feature, direction, n_features=train.n_features, missing=0.0)
            for feature in range(train.n_features)
            for direction in (1, -1)
        ]
        return max(scorers, key=lambda scorer: metric(train.y, scorer.predict(train), train.qid))


def fitted(ranker: Ranker, trial: DataTrial, threads: int, *, validate: bool = True, **options: Any) -> Any:
    """Return a copy of the ranker, fitted on the trial."""
    validation = trial.valid if validate else None
    return configured(ranker, {"n_jobs": threads}).fit(trial.train, validation=validation, **options)
