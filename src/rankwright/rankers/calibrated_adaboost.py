"""Diversely calibrated AdaBoost.MH, exponentially weighted (Busa-Fekete, Kégl, Éltető & Szarvas, ECML 2011)."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone

from rankwright.calibration import CALIBRATIONS, CalibrationTask
from rankwright.data import RankingData
from rankwright.data.classes import LabelClasses
from rankwright.data.sampling import bag_queries, split_queries
from rankwright.ensembling.exponential import (
    KEPT_WEIGHT,
    Judge,
    exponential_weights,
    weigh,
    without_negligible,
)
from rankwright.ensembling.standardised import mix_standardised
from rankwright.errors import InputError
from rankwright.learners import DecisionProduct, HammingTree
from rankwright.metrics import NDCG, Metric
from rankwright.rankers.adaboost_mh import MOST_TERMS, VOTES, ClassBoosting, as_class_trees, votes_oppositely
from rankwright.rankers.parameters import require_number, require_one_of, require_share, require_whole_number
from rankwright.rankers.pool import (
    BaseLearner,
    Chosen,
    Classifier,
    PoolMember,
    Split,
    WeightedMember,
    as_scorer,
    beyond_their_split,
)
from rankwright.rankers.ranker import Ranker
from rankwright.training import History, Monitor, Round

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.models import Scorer
    from rankwright.rankers.ranker import FitTask

CALIBRATION_SHARE = 0.2  # of the training queries, as in section 7
VALIDATION_SHARE = 0.2  # of the training queries, where there is no validation part but something to choose
POOLS = ("one", "all")
# Quick ones that a few hundred documents determine; others beside them changed nothing on validation parts.
ROBUST = ("standard", "ls", "linear")


class CalibratedAdaBoost(Ranker):
    """Boosts many classifiers, calibrates each in many ways, and mixes them by what each is worth.

    Figure 1 of the paper: AdaBoost.MH with trees and products of many sizes; each calibrated on a part of
    the training queries that it has not seen; each calibrated score weighted exp(c x metric) by the validation
    part, which also chooses c and the number of rounds where there is a choice. Without a validation part the
    queries that it did not learn from judge a member, though its calibration was fitted to them: flexible
    calibrations then look better than they are. Where there is a choice, a fifth of the training queries is made
    a validation part. The defaults are not the paper's: see the documentation for those. After `fit`, `pool_`
    says what each member is made of, is worth and weighs. Its `grid` for tuning: bags, or splits as in the paper.

    Parameters
    ----------
    metric
        What members, and mixtures of them, are judged by.
    leaves, terms
        The sizes of the trees and of the products in the pool.
    rounds_tried
        The numbers of rounds that the validation part chooses from.
    pool_rounds
        `"one"`: members of one number of rounds, chosen on the validation part; `"all"`: members of all of them.
    calibrations
        The names of those to use: `"standard"`; `"ls"`, `"ewls"`, `"el"`, `"ell"`, `"sn"` fit class probabilities;
        `"linear"`, `"logistic"`, `"polynomial-2"` to `"polynomial-5"`, `"network"`, `"gaussian-process"` regress.
    splits
        How often training queries are split anew into those to learn from and those to calibrate on; the pool
        holds the members of all splits.
    bagging
        Whether a split draws as many queries as there are, with replacement, and calibrates on those not drawn; if
        not, it calibrates on a fifth.
    exponents
        The values of c that the validation part chooses from.
    kept_weight
        The share of all weight that the members kept have at least; the lightest are dropped.
    companions
        Other rankers. Each learns from the same training queries, through all its rounds; the model is then the
        mean of their scores and the pool's, all standardised within the query.
    learning_rate, votes, max_bins
        As of AdaBoostMH.
    seed
        Of the splits; the same seed gives the same model.
    n_threads
        Threads to use, None for all that this process may; the model does not depend on it.
    """

    name: ClassVar[str] = "calibrated-adaboost"
    pool_: tuple[WeightedMember, ...]
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {"bagging": (True, False)}

    def __init__(
        self,
        metric: Metric = NDCG(k=10),  # noqa: B008  # a frozen value
        *,
        leaves: Sequence[int] = (5, 15),
        terms: Sequence[int] = (),
        rounds_tried: Sequence[int] = (50, 100),
        pool_rounds: str = "all",
        calibrations: Sequence[str] = ROBUST,
        splits: int = 10,
        bagging: bool = True,
        exponents: Sequence[float] = (20.0,),
        kept_weight: float = KEPT_WEIGHT,
        companions: Sequence[Ranker] = (),
        learning_rate: float = 0.1,
        votes: str | None = None,
        max_bins: int = 255,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.leaves = leaves
        self.terms = terms
        self.rounds_tried = rounds_tried
        self.pool_rounds = pool_rounds
        self.calibrations = calibrations
        self.splits = splits
        self.bagging = bagging
        self.exponents = exponents
        self.kept_weight = kept_weight
        self.companions = companions
        self.learning_rate = learning_rate
        self.votes = votes
        self.max_bins = max_bins
        self.seed = seed
        self.n_threads = n_threads

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        self._check_parameters()
        if task.weights is not None:
            raise InputError("CalibratedAdaBoost takes no weights: labels weigh documents already.")
        train, judging = task.train, task.validation
        chooses_rounds = self.pool_rounds == "one" and len(set(self.rounds_tried)) > 1
        if judging is None and (chooses_rounds or len(set(self.exponents)) > 1):
            train, judging = split_queries(task.train, VALIDATION_SHARE, np.random.default_rng(self.seed))
        if len(np.unique(task.train.y)) == 2:
            warnings.warn("There are two labels only: calibrating their probabilities adds little.", stacklevel=3)
        judge = None if judging is None else Judge(judging, self.metric, task.n_threads)
        companions = [_fitted(one, train, task.n_threads) for one in self.companions]
        pool, history = self._fill_pool(train, judge, task)
        if not pool:
            raise InputError(
                "There is nothing to learn: no feature tells labels apart, both in the queries drawn to learn "
                "from and in those to calibrate on."
            )
        chosen = self._choose(pool, judge)
        weights = without_negligible(chosen.weights, self.kept_weight)
        self.pool_ = tuple(one.weighted(float(w)) for one, w in zip(chosen.members, weights, strict=True))
        model = as_scorer(chosen.members, weights)
        return mix_standardised([model, *companions]) if companions else model, history

    def _fill_pool(
        self, train: RankingData, judge: Judge | None, task: FitTask
    ) -> tuple[list[PoolMember], History]:
        """Boost every base learner on every split and calibrate it, several at once.

        A round of the history is a base learner, its value that of the mixture so far. Ctrl-C leaves those that
        are there.
        """
        classes = LabelClasses.of(task.train.y)
        splits = enumerate(self._splits(train))
        learners = [BaseLearner(*split, shape) for split in splits for shape in self._shapes()]
        pool: list[PoolMember] = []
        rounds: list[Round] = []
        interrupted = False
        with ThreadPoolExecutor(task.n_threads) as workers, _one_thread_for_libraries():
            try:
                running = [workers.submit(self._members, learner, classes, judge) for learner in learners]
                for members in (one.result() for one in running):
                    pool += members
                    value = self._choose(pool, judge).value if pool else None
                    rounds.append(Round(len(rounds) + 1, 1.0, None, value))
                    if task.on_round is not None:
                        task.on_round(rounds[-1])
            except BaseException as error:
                workers.shutdown(wait=False, cancel_futures=True)
                if not isinstance(error, KeyboardInterrupt) or not pool:
                    raise
                interrupted = True
                warnings.warn(f"Interrupted after {len(rounds)} of {len(learners)} base learners.", stacklevel=4)
        return pool, History(tuple(rounds), len(rounds), interrupted, converging=True)

    def _splits(self, train: RankingData) -> list[Split]:
        random = np.random.default_rng([self.seed, 1])
        if self.bagging:
            return [Split(*bag_queries(train, random)) for _ in range(self.splits)]
        parts = [split_queries(train, CALIBRATION_SHARE, random) for _ in range(self.splits)]
        return [Split(learn, None, calibrate) for learn, calibrate in parts]

    def _shapes(self) -> list[HammingTree | DecisionProduct]:
        return [*map(HammingTree, self.leaves), *map(DecisionProduct, self.terms)]

    def _members(self, learner: BaseLearner, classes: LabelClasses, judge: Judge | None) -> list[PoolMember]:
        return list(self._calibrated(learner, self._boost(learner, classes), classes, judge))

    def _boost(self, learner: BaseLearner, classes: LabelClasses) -> Classifier | None:
        """Run AdaBoost.MH for the most rounds that are tried: fewer are a part of them."""
        _, (learn, weights, _), shape = learner
        if not np.ptp(learn.y) > 0:
            return None
        opposite = votes_oppositely(shape, self.votes)
        boosting = ClassBoosting(shape, opposite, self.learning_rate, max(self.rounds_tried), self.max_bins, 1)
        silent = Monitor(self.metric, None, None, patience=None, on_round=None, n_threads=1)
        members = boosting.run(learn, classes, weights, silent)
        trees = as_class_trees(members) if members else None
        if trees is None or not len(trees.trees.used_features):
            return None
        return Classifier(trees, [weight for weight, _ in members])

    def _calibrated(
        self, learner: BaseLearner, classifier: Classifier | None, classes: LabelClasses, judge: Judge | None
    ) -> Iterator[PoolMember]:
        """Yield a member for every number of rounds and every calibration that can be fitted.

        Without a validation part, members are judged by the queries that they are calibrated on.
        """
        if classifier is None:
            return
        part = learner.split.calibrate
        by = judge or Judge(part.canonical, self.metric, 1)
        for n_rounds in self._rounds_of(classifier):
            trees, total = classifier.first(n_rounds)
            of_classes = np.ascontiguousarray(trees.outputs(part, n_threads=by.n_threads).T[part.canonical_rows])
            task = CalibrationTask(of_classes, total, *part.canonical, classes)
            judged: Any = of_classes
            if isinstance(by.data, RankingData):
                judged = np.ascontiguousarray(trees.outputs(by.data, n_threads=by.n_threads).T)
            for name in self.calibrations:
                calibration = CALIBRATIONS[name].fit(task)
                if calibration is None:
                    continue
                scores = calibration._score(judged, by.data.groups, by.n_threads)
                yield PoolMember(learner, n_rounds, trees, calibration, name, scores, by(scores))

    def _rounds_of(self, classifier: Classifier) -> list[int]:
        """Return the numbers of rounds tried; in a pool of all, one that has stopped early is there but once."""
        if self.pool_rounds == "one":
            return sorted(set(self.rounds_tried))
        return sorted({min(tried, len(classifier.weights)) for tried in self.rounds_tried})

    def _choose(self, pool: Sequence[PoolMember], judge: Judge | None) -> Chosen:
        """Return the members of the best number of rounds, or of all, and their weights."""
        if judge is None:  # there is nothing to choose
            return Chosen(pool, exponential_weights(beyond_their_split(pool), self.exponents[0]), None)
        pools = [pool]
        if self.pool_rounds == "one":
            pools = [
                [one for one in pool if one.n_rounds == tried] for tried in sorted({one.n_rounds for one in pool})
            ]
        weightings = [
            weigh(
                np.stack([one.scores for one in members]),
                judge,
                qualities=np.array([one.quality for one in members]),
                exponents=self.exponents,
            )
            for members in pools
        ]
        best = int(np.argmax([weighting.value for weighting in weightings]))
        return Chosen(pools[best], weightings[best].weights, weightings[best].value)

    def _check_parameters(self) -> None:
        _require_sizes("leaves", self.leaves, least=2)
        _require_sizes("terms", self.terms, least=1, most=MOST_TERMS)
        if not len(self.leaves) + len(self.terms):
            raise InputError("leaves and terms must not both be empty: there would be nothing in the pool.")
        _require_sizes("rounds_tried", self.rounds_tried, least=1)
        require_one_of("pool_rounds", self.pool_rounds, POOLS)
        for name, values in (
            ("rounds_tried", self.rounds_tried),
            ("calibrations", self.calibrations),
            ("exponents", self.exponents),
        ):
            if not isinstance(values, list | tuple | range | np.ndarray) or not len(values):
                raise InputError(f"{name} must be a list of at least one, not {values!r}.")
        for name in self.calibrations:
            require_one_of("calibrations", name, tuple(CALIBRATIONS))
        for exponent in self.exponents:
            require_number("exponents", exponent, least=0.0)
        require_whole_number("splits", self.splits, least=1)
        require_one_of("bagging", self.bagging, (True, False))
        if not isinstance(self.companions, list | tuple) or not all(
            isinstance(one, Ranker) for one in self.companions
        ):
            raise InputError(f"companions must be a list of rankers such as RankSVM(), not {self.companions!r}.")
        require_share("kept_weight", self.kept_weight)
        require_number("learning_rate", self.learning_rate, above=0.0)
        require_one_of("votes", self.votes, VOTES)
        require_whole_number("seed", self.seed, least=0)


def _require_sizes(name: str, sizes: Any, *, least: int, most: int | None = None) -> None:
    if not isinstance(sizes, list | tuple | range | np.ndarray):
        raise InputError(f"{name} must be a list of whole numbers, not {sizes!r}.")
    for size in sizes:
        require_whole_number(name, size, least=least)
        if most is not None and size > most:
            raise InputError(f"{name} must be at most {most}, not {size!r}.")


def _fitted(companion: Ranker, train: RankingData, n_threads: int) -> Scorer:
    """Return what another ranker learns; it goes through all its rounds."""
    one = clone(companion).set_params(n_threads=n_threads).fit(train)
    if one.history_.interrupted:
        raise KeyboardInterrupt
    model: Scorer = one.model_
    return model


@contextmanager
def _one_thread_for_libraries() -> Iterator[None]:
    """Keep numpy's linear algebra, on matrices this small, from waking threads for every product."""
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    with threadpool_limits(1):
        yield
