"""Pools of calibrated classifiers: one fit of the base learners gives all ensembles that a paper compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.label_classes import LabelClasses
from rankwright.ensembling.mixtures import best_mixture, exponential_mixture
from rankwright.ensembling.pool import Judge
from rankwright.rankers.adaboost_mh import ClassBoosting, as_class_trees, votes_oppositely
from rankwright.rankers.calibrated_adaboost import CALIBRATION_FRACTION
from rankwright.rankers.shared.calibrated_classifiers import (
    BaseLearner,
    CalibrationLevel,
    Classifier,
    Split,
    with_shared_trees,
)
from rankwright.training.calibration.calibrations import named_calibrations
from rankwright.training.learners.class_learners import DecisionProduct, HammingTree
from rankwright.training.monitor import Monitor
from rankwright.training.training_set import TrainingSet, hold_out_queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.models.scorer import Scorer
    from rankwright.papers.framework.experiment import DataTrial
    from rankwright.rankers.adaboost_mh import Shape
    from rankwright.rankers.calibrated_adaboost import CalibratedAdaBoost
    from rankwright.rankers.shared.calibrated_classifiers import CalibratedMember


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A mixture of calibrated classifiers, with the T and c that the validation part chose."""

    scorer: Scorer
    n_rounds: int
    exponent: float

    def predict(self, data: RankingData) -> Doubles:
        """Return the scores of the mixture."""
        return self.scorer.predict(data, n_jobs=1)


@dataclass(frozen=True)
class Ensembles:
    """Fits the base learners of a CalibratedAdaBoost once, and mixes them once per set of calibrations.

    Each model is the one that the ranker would give with these calibrations alone.

    Parameters
    ----------
    ranker
        The settings, with one split and without bagging, as in the paper.
    mixtures
        The name and the calibrations of every ensemble.
    single
        The name of a further model, if any: the one calibrated classifier that is best on the validation part.
    """

    ranker: CalibratedAdaBoost
    mixtures: tuple[tuple[str, tuple[str, ...]], ...]
    single: str = ""

    def __call__(self, trial: DataTrial, threads: int) -> dict[str, Ensemble | Scorer]:
        """Fit on a trial."""
        members, judge = calibrated_members(self.ranker, trial, threads)
        models: dict[str, Ensemble | Scorer] = {
            name: _mixed(self.ranker, [member for member in members if member.calibration in calibrations], judge)
            for name, calibrations in self.mixtures
        }
        if self.single:
            models[self.single] = max(members, key=lambda member: member.value).scorer
        return models


@dataclass(frozen=True)
class Calibrations:
    """Every calibration of every base learner as a model of its own, named by its calibration."""

    ranker: CalibratedAdaBoost

    def __call__(self, trial: DataTrial, threads: int) -> dict[str, Scorer]:
        """Fit on a trial."""
        members, _ = calibrated_members(self.ranker, trial, threads)
        return {member.calibration: member.scorer for member in members}


def calibrated_members(
    ranker: CalibratedAdaBoost, trial: DataTrial, threads: int
) -> tuple[list[CalibratedMember], Judge]:
    """Return all calibrated classifiers, and the judge of mixtures: the validation part."""
    if trial.valid is None:
        raise InputError(f"{trial.name} has no validation part to weight classifiers by.")
    if ranker.splits != 1 or ranker.bagging:
        raise InputError("The paper's ensembles have one split of the training part, without bagging.")
    judge = Judge(trial.valid, ranker.metric, threads)
    random = np.random.default_rng([ranker.random_state, 1])
    learn, calibrate = hold_out_queries(TrainingSet.of(trial.train), CALIBRATION_FRACTION, random)
    chosen = named_calibrations(
        ranker.calibrations,
        entropy_power=ranker.entropy_power,
        smoothness=ranker.smoothness,
        clip=ranker.clip,
    )
    level = CalibrationLevel(LabelClasses.of(trial.train.y), chosen, ranker.metric, judge)
    rounds = sorted(set(ranker.rounds_tried))
    members: list[CalibratedMember] = []
    shapes: list[Shape] = [*map(HammingTree, ranker.leaves), *map(DecisionProduct, ranker.terms)]
    for shape in shapes:
        learner = BaseLearner(0, Split(learn, None, calibrate), shape)
        members += level.members(learner, _boosted(ranker, learn, shape, level.classes), rounds)
    return members, judge


def _boosted(ranker: CalibratedAdaBoost, learn: TrainingSet, shape: Shape, classes: LabelClasses) -> Classifier:
    opposite = votes_oppositely(shape, ranker.votes)
    boosting = ClassBoosting(shape, opposite, ranker.learning_rate, max(ranker.rounds_tried), ranker.max_bins, 1)
    monitor = Monitor(ranker.metric, None, None, patience=None, on_round=None, n_threads=1)
    members = boosting.run(learn, classes, None, monitor)
    return Classifier(as_class_trees(members), [weight for weight, _ in members])


def _mixed(ranker: CalibratedAdaBoost, members: Sequence[CalibratedMember], judge: Judge) -> Ensemble:
    """Equation 6, with the T and c whose mixture is best on the validation part."""
    numbers = sorted({member.n_rounds for member in members})
    pools = [[member for member in members if member.n_rounds == n_rounds] for n_rounds in numbers]
    best = best_mixture([exponential_mixture(pool, judge, exponents=ranker.exponents) for pool in pools])
    return Ensemble(with_shared_trees(best), best.members[0].n_rounds, float(best.exponent or 0.0))


@dataclass(frozen=True)
class PoolChoices:
    """The T and c that the validation part chose for an ensemble: `T` and `c`; nothing for other models."""

    def __call__(self, model: Any, _trial: DataTrial, _threads: int) -> dict[str, Doubles]:
        """Measure a model."""
        if not isinstance(model, Ensemble):
            return {}
        return {"T": np.array([float(model.n_rounds)]), "c": np.array([model.exponent])}


@dataclass(frozen=True)
class TestScores:
    """The scores of the test documents: `scores`, to compare calibrations by (section 7.2)."""

    def __call__(self, model: Any, trial: DataTrial, _threads: int) -> dict[str, Doubles]:
        """Measure a model."""
        return {"scores": np.asarray(model.predict(trial.test), dtype=np.float64)}
