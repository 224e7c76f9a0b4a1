"""Diversely calibrated AdaBoost.MH, exponentially weighted (Busa-Fekete, Kégl, Éltető & Szarvas, ECML 2011)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.label_classes import LabelClasses
from rankwright.ensembling.mixtures import (
    KEPT_WEIGHT,
    Mixture,
    best_mixture,
    exponential_mixture,
    exponential_weights,
    uniform_mixture,
    within_query,
)
from rankwright.ensembling.pool import Candidate, Judge, Member, Pool, ranker_candidate
from rankwright.metrics.gain import NDCG
from rankwright.rankers.adaboost_mh import MAX_TERMS, ClassBoosting, Shape, as_class_trees, votes_oppositely
from rankwright.rankers.catalogue import read_ranker
from rankwright.rankers.parameters.checks import Flag, Fraction, Integer, ListOf, OneOf, Real, Value
from rankwright.rankers.parameters.declaration import (
    ClassBoostingParameters,
    MetricParameter,
    RandomParameters,
    Spelled,
    fitted,
    parameter,
)
from rankwright.rankers.parameters.search_space import Choices
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.shared.calibrated_classifiers import (
    BaseLearner,
    CalibratedMember,
    CalibrationLevel,
    Classifier,
    Split,
    WeightedMember,
    values_within_split,
    weighted_members,
    with_shared_trees,
)
from rankwright.training.calibration.calibrations import (
    CALIBRATIONS,
    CLASS_PROBABILITY,
    REGRESSIONS,
    USED_BY,
    named_calibrations,
)
from rankwright.training.history import History, Round
from rankwright.training.learners.class_learners import DecisionProduct, HammingTree
from rankwright.training.monitor import Monitor
from rankwright.training.training_set import bag_queries, hold_out_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask
    from rankwright.training.training_set import TrainingSet

CALIBRATION_FRACTION = 0.2  # of the training queries, as in section 7
VALIDATION_FRACTION = 0.2  # of the training queries, without validation data and with something to choose
# Cheap calibrations that a few hundred documents suffice for; more of them changed nothing on validation data.
ROBUST = ("standard", "ls", "linear")


class CalibratedAdaBoost(ClassBoostingParameters, RandomParameters, Ranker):
    """A mixture of many AdaBoost.MH classifiers, each calibrated in several ways and weighted by its metric.

    Figure 1 of the paper: AdaBoost.MH with trees and products of several sizes; each calibrated on training
    queries that it has not seen; each calibrated score weighted by exp(c x metric) on the validation data, which
    also choose c and the number of rounds if several are given. Without validation data each member is evaluated
    on the queries held out from its training, although its calibration was fitted to them: flexible calibrations
    then look better than they are. If something must be chosen, a fifth of the training queries becomes validation
    data. The defaults differ from the paper's; see the documentation.

    Examples
    --------
    >>> judged = rw.synthetic.polynomial_queries(20, n_documents=10, n_features=6, n_active=4)
    >>> ranker = rw.CalibratedAdaBoost(leaves=[4], rounds_tried=[10], splits=2).fit(judged)
    >>> len(ranker.pool_), sorted({member.calibration for member in ranker.pool_})
    (6, ['linear', 'ls', 'standard'])
    """

    name: ClassVar[str] = "calibrated-adaboost"
    printed: ClassVar[Mapping[str, Any]] = {
        # Section 7: all sizes; T and c chosen on the validation data; CPC and RBC.
        "leaves": tuple(range(5, 46, 5)),
        "terms": tuple(range(2, 11)),
        "rounds_tried": (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000),
        "pool_rounds": "one",
        "exponents": (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0),
        "calibrations": (*CLASS_PROBABILITY, *REGRESSIONS),
        "clip": False,
        "kept_weight": 1.0,
        "splits": 1,
        "bagging": False,
        "learning_rate": 1.0,
        "votes": "opposite",
    }

    metric: MetricParameter = parameter(
        meaning="Metric by which members, and mixtures of them, are evaluated.", default=NDCG(k=10), kw_only=False
    )
    leaves: Sequence[int] = parameter(
        ListOf(Integer(2)),
        "Maximum numbers of leaves of the trees in the pool.",
        default=(5, 15),
        search=Choices((5,), (5, 15), (15,), (10, 30)),
    )
    terms: Sequence[int] = parameter(
        ListOf(Integer(1, MAX_TERMS)), "Maximum numbers of stumps of the products in the pool.", default=()
    )
    rounds_tried: Sequence[int] = parameter(
        ListOf(Integer(1), least=1), "Numbers of rounds after which classifiers are calibrated.", default=(50, 100)
    )
    pool_rounds: str = parameter(
        OneOf(("one", "all")),
        "'one': members of a single number of rounds, chosen on the validation data. 'all': members of all of "
        "them.",
        default="all",
    )
    calibrations: Sequence[str] = parameter(
        ListOf(OneOf(tuple(CALIBRATIONS)), least=1),
        "Calibrations to use. 'standard', 'ls', 'ewls', 'el', 'ell' and 'sn' fit class probabilities; 'linear', "
        "'logistic', 'polynomial-2' to 'polynomial-5', 'network' and 'gaussian-process' are regressions.",
        default=ROBUST,
    )
    entropy_power: float = parameter(
        Real(least=0.0), "Power of the entropy in the calibration 'ewls': C in the paper.", default=2.0
    )
    smoothness: float = parameter(
        Real(above=0.0), "Smoothness of the ranks in the calibration 'sn': sigma in the paper.", default=0.01
    )
    clip: bool = parameter(
        Flag(),
        "Whether the scores of a regression are clipped to their range on the calibration queries. Otherwise, as "
        "in the paper, they are only rescaled by it, and unseen extremes keep their order.",
        default=True,
    )
    splits: int = parameter(
        Integer(1),
        "How many times the training queries are split into queries to train on and queries to calibrate on; "
        "the pool holds the members of all splits.",
        default=10,
    )
    bagging: bool = parameter(
        Flag(),
        "Whether a split draws as many queries as there are, with replacement, and calibrates on those not drawn. "
        "Otherwise it calibrates on a fifth of the queries, as in the paper.",
        default=True,
        tune=(True, False),
        search=Choices(True, False),
    )
    exponents: Sequence[float] = parameter(
        ListOf(Real(least=0.0), least=1),
        "Values of c that the validation data choose from. With one value nothing is chosen.",
        default=(20.0,),
        search=Choices((5.0,), (20.0,), (80.0,)),
    )
    kept_weight: float = parameter(
        Fraction(),
        "Minimum fraction of the total weight that is kept; the members with the smallest weights are dropped.",
        default=KEPT_WEIGHT,
    )
    companions: Spelled[Sequence[Ranker], Sequence[Ranker | str | Mapping[str, Any]] | str] = parameter(
        ListOf(
            Value(Ranker, "RankSVM()", read_ranker, "a ranker such as ranksvm"),
            text="names separated by commas, such as ranksvm,lambdamart",
        ),
        "Other rankers, each trained on the same queries for all its rounds; the model is then the mean of "
        "their scores and the pool's, all standardised within the query.",
        default=(),
    )
    keep_scores: bool = parameter(
        Flag(),
        "Whether `pool_scores_` keeps the scores of every member on the validation documents, to compare members "
        "(section 7.2); needs validation data.",
        default=False,
    )
    pool_: tuple[WeightedMember, ...] = fitted("The members of the pool, with metric and weight of each.")
    pool_scores_: Doubles | None = fitted(
        "With `keep_scores`: one row per member of `pool_`, one column per validation document; otherwise None."
    )

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        """Figure 1 of the paper: boost classifiers, calibrate each in many ways, mix by exponential weights."""
        if task.weights is not None:
            raise InputError("CalibratedAdaBoost takes no weights: it weights documents by their labels.")
        if len(np.unique(task.train.labels.y)) == 2:
            warnings.warn("There are only two labels: calibrating their probabilities adds little.", stacklevel=3)
        if self.keep_scores and task.validation is None:
            raise InputError("keep_scores=True needs validation data, whose documents it keeps the scores of.")
        train, judge = self._judge(task)
        companions = self._fit_companions(train, task.n_threads)
        pool, history = self._fill_pool(train, judge, task)
        mixture = self._mix(pool.members, judge).pruned(self.kept_weight)
        self.pool_ = weighted_members(mixture)
        self.pool_scores_ = np.stack([member.scores for member in mixture.members]) if self.keep_scores else None
        return self._join_companions(with_shared_trees(mixture), companions), history

    def _judge(self, task: FitTask) -> tuple[TrainingSet, Judge | None]:
        """Return the queries to train on, and the judge of members and mixtures.

        Without validation data, and with more than one exponent or number of rounds to choose from, a fifth of the
        training queries judges. With nothing to choose there is no judge.
        """
        chooses_rounds = self.pool_rounds == "one" and len(set(self.rounds_tried)) > 1
        if task.validation is not None:
            train, judging = task.train, task.validation
        elif chooses_rounds or len(set(self.exponents)) > 1:
            train, judging = hold_out_queries(
                task.train, VALIDATION_FRACTION, np.random.default_rng(self.random_state)
            )
        else:
            return task.train, None
        return train, Judge(judging.data, self.metric, task.n_threads)

    def _fit_companions(self, train: TrainingSet, n_threads: int) -> Pool[Member]:
        """Return the other rankers, standardised within the query; Ctrl-C here ends the whole fit."""
        pool: Pool[Member] = Pool()
        candidates = [ranker_candidate(ranker, train, scale=within_query) for ranker in self.companions]
        pool.fill(candidates, n_jobs=n_threads)
        if pool.interrupted:
            raise KeyboardInterrupt
        return pool

    def _join_companions(self, model: Scorer, companions: Pool[Member]) -> Scorer:
        """Return the mean of the calibrated mixture and the companions, or the mixture if it is alone."""
        if not len(companions):
            return model
        return uniform_mixture([Member(name=self.name, scorer=within_query(model)), *companions]).scorer()

    def _fill_pool(
        self, train: TrainingSet, judge: Judge | None, task: FitTask
    ) -> tuple[Pool[CalibratedMember], History]:
        """Boost and calibrate every base learner; a round of the history is the mixture after each of them."""
        options = {name: getattr(self, name) for name in USED_BY}
        chosen = named_calibrations(self.calibrations, **options)
        level = CalibrationLevel(LabelClasses.of(task.train.labels.y), chosen, self.metric, judge)
        learners = self._learners(train)
        pool: Pool[CalibratedMember] = Pool()
        rounds: list[Round] = []

        def joined() -> None:
            value = self._mix(pool.members, judge).value if len(pool) else None
            rounds.append(Round(len(rounds) + 1, 1.0, None, value))
            if task.on_round is not None:
                task.on_round(rounds[-1])

        candidates = [self._candidate(learner, level) for learner in learners]
        pool.fill(candidates, n_jobs=task.n_threads, on_joined=joined)
        if pool.interrupted:
            warnings.warn(f"Interrupted after {len(rounds)} of {len(learners)} base learners.", stacklevel=4)
        if not len(pool):
            raise InputError(
                "There is nothing to learn: no feature tells labels apart, both in the queries drawn to learn "
                "from and in those to calibrate on."
            )
        why = "all base learners"
        metric = str(self.metric)
        return pool, History(tuple(rounds), len(rounds), pool.interrupted, True, why, metric)

    def _learners(self, train: TrainingSet) -> list[BaseLearner]:
        """Return every size of tree and product on every split."""
        shapes: list[Shape] = [*map(HammingTree, self.leaves), *map(DecisionProduct, self.terms)]
        return [BaseLearner(*split, shape) for split in enumerate(self._splits(train)) for shape in shapes]

    def _splits(self, train: TrainingSet) -> list[Split]:
        random = np.random.default_rng([self.random_state, 1])
        if self.bagging:
            return [Split(*bag_queries(train, random)) for _ in range(self.splits)]
        parts = [hold_out_queries(train, CALIBRATION_FRACTION, random) for _ in range(self.splits)]
        return [Split(learn, None, calibrate) for learn, calibrate in parts]

    def _candidate(self, learner: BaseLearner, level: CalibrationLevel) -> Candidate[CalibratedMember]:
        """Return the fit of one base learner: boost it, then calibrate it in all ways."""

        def fit(_n_threads: int, on_round: Callable[[Round], None]) -> list[CalibratedMember]:
            classifier = self._boost(learner, level.classes, on_round)
            if classifier is None:
                return []
            return list(level.members(learner, classifier, self._rounds_of(classifier)))

        return Candidate.single(learner.name, fit)

    def _boost(
        self, learner: BaseLearner, classes: LabelClasses, on_round: Callable[[Round], None] | None = None
    ) -> Classifier | None:
        """Run AdaBoost.MH for the largest number of rounds that is tried; fewer rounds are a prefix of it."""
        _, (learn, weights, _), shape = learner
        if not np.ptp(learn.labels.y) > 0:
            return None
        opposite = votes_oppositely(shape, self.votes)
        boosting = ClassBoosting(shape, opposite, self.learning_rate, max(self.rounds_tried), self.max_bins, 1)
        monitor = Monitor(self.metric, None, None, patience=None, on_round=on_round, n_threads=1)
        members = boosting.run(learn, classes, weights, monitor)
        trees = as_class_trees(members) if members else None
        if trees is None or not len(trees.trees.used_features):
            return None
        return Classifier(trees, [weight for weight, _ in members])

    def _rounds_of(self, classifier: Classifier) -> list[int]:
        """Return the numbers of rounds to calibrate after; in a pool of all, an early stop counts only once."""
        if self.pool_rounds == "one":
            return sorted(set(self.rounds_tried))
        return sorted({min(tried, len(classifier.weights)) for tried in self.rounds_tried})

    def _mix(self, members: Sequence[CalibratedMember], judge: Judge | None) -> Mixture[CalibratedMember]:
        """Weight members by equation 6, with the exponent and the number of rounds of the best mixture.

        Without a judge, a member counts by its value minus the mean of its split, because splits differ in
        difficulty.
        """
        if judge is None:
            weights = exponential_weights(values_within_split(members), self.exponents[0])
            return Mixture(members, weights, exponent=self.exponents[0])
        pools = [members]
        if self.pool_rounds == "one":
            numbers = sorted({member.n_rounds for member in members})
            pools = [[member for member in members if member.n_rounds == number] for number in numbers]
        return best_mixture([exponential_mixture(pool, judge, exponents=self.exponents) for pool in pools])

    def _check_together(self) -> None:
        if not len(self.leaves) + len(self.terms):
            raise InputError("leaves and terms must not both be empty: the pool would have no members.")
        for name, users in USED_BY.items():
            unused = set(users).isdisjoint(self.calibrations)
            if unused and getattr(self, name) != self.declared[name].default:
                needed = " or ".join(map(repr, users))
                raise InputError(f"{name} changes nothing: it is used by the calibration {needed}.")
