"""The base class of all rankers: a scikit-learn estimator of judged queries."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.base.version import __version__
from rankwright.metrics.base import Metric
from rankwright.metrics.catalogue import as_metric
from rankwright.metrics.gain import NDCG
from rankwright.rankers.parameters.checks import Jobs, Value
from rankwright.rankers.parameters.declaration import MetricParameter, Parameters, fitted, parameter
from rankwright.rankers.shared.cluster_fit import fitted_elsewhere, located
from rankwright.rankers.shared.importances import Importances, by_name, feature_importances
from rankwright.rankers.sklearn.estimator import Estimator, FittedFold
from rankwright.training.concurrent_fits import is_sent
from rankwright.training.fit_task import (
    FitTask,
    as_training_set,
    checked_exposure,
    checked_train,
    checked_validation,
    checked_weights,
    refuse_input_order,
    require_refittable,
)
from rankwright.training.start_model import checked_start
from rankwright.training.training_set import TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.models.scorer import Scorer
    from rankwright.training.history import History, Round

ROUNDING = 1e-9  # how far rounding may take a metric out of its range

SAMPLE_DOCUMENTS = 2_000
"""About how many training documents a fitted ranker keeps if its importances need documents."""


class Ranker(Parameters, Estimator, ABC):
    """A scikit-learn estimator that learns to rank the documents of queries.

    A subclass gives its `name` on the command line, declares its parameters and defines `_fit`.
    """

    name: ClassVar[str]
    takes_start: ClassVar[bool] = False
    takes_exposure: ClassVar[tuple[str, ...]] = ()
    """Which of `positions` and `propensity` of clicks `fit` takes."""
    needs_text: ClassVar[bool] = False
    """Whether documents must be `TextRankingData`, which know the text that they stand for."""
    printed: ClassVar[Mapping[str, Any]] = {}
    """The parameters, other than the defaults, that make this the algorithm that its paper prints."""

    metric: MetricParameter = parameter(
        Value(Metric, "NDCG(k=10)", as_metric, "a metric such as ndcg@10"),
        "Metric that chooses the round to keep on the validation data.",
        default=NDCG(k=10),
        kw_only=False,
    )
    n_jobs: int | None = parameter(
        Jobs(),
        "Number of threads. None or -1: all that this process may use. The model does not depend on it.",
        default=None,
    )
    model_: Scorer = fitted("The scorer that `fit` learned.")
    history_: History = fitted("The rounds of training, with the best of them.")
    n_features_in_: int = fitted("Number of features.")
    _sample: RankingData | None = fitted("")
    _fold: FittedFold | None = fitted("")
    feature_names_in_: NDArray[np.object_] = fitted("Names of the features, if the training data have names.")

    # Metadata routing of scikit-learn: these methods request the query id of each row.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}
    # A pipeline hands its sample_weight, even None, to the score of its last step.
    __metadata_request__score: ClassVar[dict[str, bool | None]] = {"qid": True, "sample_weight": None}

    @classmethod
    def as_printed(cls, **changes: Any) -> Self:
        """Return this ranker as its paper prints it, with the given parameters changed."""
        if not cls.printed:
            raise InputError(f"{cls.__name__} has no setting of a paper: its defaults are its algorithm.")
        return cls(**{**cls.printed, **changes})

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        validation: RankingData | TrainingSet | Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        positions: Any = None,
        propensity: Any = None,
        start: Any = None,
        validation_start: ArrayLike | None = None,
        refit: bool = False,
        on_round: Callable[[Round], None] | None = None,
        cluster: Any = None,
        checkpoint: Any = None,
        **unknown: Never,
    ) -> Self:
        """Learn from judged documents.

        Parameters
        ----------
        X, y, qid
            Features (NaN: missing), labels (higher is better) and query ids, in any order; or `RankingData`; or a
            `TrainingSet`, which several fits share.
        validation
            Other judged documents, in the same forms, that choose the round to keep.
        sample_weight, query_weight
            The weight of each document, and of each query in the order of first appearance.
        positions, propensity
            If labels are clicks: where each document was shown, from 1, whose bias LambdaMART estimates (Hu et al.
            2019); or how likely it was examined, whose inverse weights clicks of LambdaMART and RankSVM.
        start, validation_start
            The model or scores to improve on, with rounds that `validation` should choose: too many make a start
            worse. A fitted ranker or a scorer becomes part of the model. Another library's model with `predict`,
            or scores, does not: the result is a residual model, which needs `init_score` to predict.
        refit
            Whether to fit again on both parts together, for the number of rounds that validation chose.
        on_round
            Called with each round as it ends.
        cluster
            Where to learn: an engine of `rw.distributed`, or a number of processes of this machine. X is then a
            path or pattern of files, or `BinnedData`, in a folder that all workers see, or a Ray Dataset or Dask
            DataFrame with columns `label` and `qid`, which is written to the temporary folder first; `n_jobs` is
            the number of threads of each worker. LambdaMART, MART and McRank learn the model of one process.
        checkpoint
            On a cluster: a file, or a `rw.distributed.Checkpoint`, from which the same call resumes.
        """
        self._refuse(self.fit, unknown)
        self.check_parameters()
        with located(X, cluster, checkpoint, self._file_bins()) as (documents, workers):
            train = checked_train(documents, y, qid, start)
            valid = None if validation is None else checked_validation(validation, train.data)
            weights = checked_weights(train, sample_weight, query_weight)
            shown = checked_exposure(train, positions, propensity, type(self).__name__, self.takes_exposure)
            require_refittable(valid, weights if shown is None else shown, refit=refit)
            threads = resolve_threads(self.n_jobs)
            task = FitTask(train, valid, weights, on_round, threads, cluster=workers, shown=shown)
            return self._fit_task(self._started(task, start, validation_start), refit=refit)

    def _fit_task(self, task: FitTask, *, refit: bool) -> Self:
        """Fit, and set the attributes of a fitted ranker."""
        if is_sent() and task.cluster is None:
            self.__dict__.update(fitted_elsewhere(self, task, refit=refit).__dict__)
            return self
        if task.cluster is not None:
            self._require_cluster_fit(task)
        data = task.train.data
        task, model, history = self._fit_once_or_twice(task, refit=refit)
        self._remember_features(data)
        self.history_ = history
        self.model_ = model.described(
            feature_names=data.feature_names,
            categories=data.categories,
            about=self._about(task, history),
            ranges=task.train.ranges,
        )
        self._sample = sample_for_importances(data) if model.total_gain is None else None
        self._fold = FittedFold.of(data)
        return self

    def _fit_once_or_twice(self, task: FitTask, *, refit: bool) -> tuple[FitTask, Scorer, History]:
        """Return the last task, with its model and history."""
        model, history = self._fit(task)
        if not refit or not history.best_round or history.interrupted:
            return task, model, history
        task = task.on_both_parts(history.best_round)
        model, again = self._fit(task)
        return task, model, history.refitted(again)

    def _remember_features(self, train: RankingData) -> None:
        """Set the attributes by which scikit-learn knows the training features."""
        self.n_features_in_ = train.n_features
        if train.feature_names is not None:
            self.feature_names_in_ = np.array(train.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit

    def _started(self, task: FitTask, start: Any, validation_start: Any) -> FitTask:
        """Return the task with the scores that boosting starts from, if any."""
        if start is None and validation_start is None:
            return task
        if not self.takes_start:
            raise InputError(f"{type(self).__name__} takes no start: it cannot improve on another model.")
        if not hasattr(start, "predict"):
            refuse_input_order(task.train, start=start)
        train, validation = task.train.data, task.validation_data
        return replace(task, start=checked_start(start, validation_start, train, validation, task.n_threads))

    def _file_bins(self) -> dict[str, Any]:
        """Return the options of `BinnedData.create` that this ranker asks for."""
        return {}

    def _require_cluster_fit(self, task: FitTask) -> None:  # noqa: ARG002
        """Refuse a fit that needs more of other workers than sums."""
        raise InputError(
            f"{type(self).__name__} learns in one process; LambdaMART, MART and McRank take a cluster."
        )

    @abstractmethod
    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        """Return the scorer learned from checked data, and the rounds it took."""

    def predict(
        self,
        X: Any,
        qid: ArrayLike | None = None,
        *,
        init_score: ArrayLike | None = None,
        n_jobs: int | None = None,
        **unknown: Never,
    ) -> Doubles:
        """Return one score per document, in the order of the input.

        `qid` has one query id per row, or a single id if all rows belong to one query. A residual model, which was
        trained from scores that are not part of it, needs the scores of these documents as `init_score`.
        """
        self._refuse(self.predict, unknown)
        threads = self.n_jobs if n_jobs is None else n_jobs
        scores = self._fitted().predict(_documents(X), qid, init_score=init_score, n_jobs=threads)
        if self._fold is not None:
            self._fold.warn_if_split(_documents(X), qid)
        return scores

    def rank(
        self, X: Any, qid: ArrayLike | None = None, *, init_score: ArrayLike | None = None, **unknown: Never
    ) -> NDArray[np.int64]:
        """Return each document's rank within its query, 1 for the best; takes what `predict` takes."""
        self._refuse(self.rank, unknown)
        return self._fitted().rank(_documents(X), qid, init_score=init_score, n_jobs=self.n_jobs)

    def score(self, X: Any, y: ArrayLike | None = None, qid: ArrayLike | None = None, **unknown: Never) -> float:
        """Return the mean of the metric over queries; takes what `fit` takes."""
        self._refuse(self.score, unknown)
        self._fitted()
        data = as_training_set(X, y, qid, "score").data
        return self.metric(data.y, self.predict(data), data.qid)

    @property
    def feature_importances_(self) -> Doubles:
        """One number per feature, not negative, with sum 1.

        Trees: the gain of the splits on the feature. Weighted sums of features: `|weight|` x the standard
        deviation of the feature within queries. Everything else: how far the metric falls if the feature is
        shuffled. The last two are computed, when asked for, on about 2,000 training documents that the ranker has
        kept.
        """
        model = self._fitted()
        return feature_importances(model, self._sample, self.metric, resolve_threads(self.n_jobs))

    def importances(self) -> Importances:
        """Return `feature_importances_` by name, the highest first; without names, by number from 1.

        The result is a dict with a method `chart`.
        """
        return by_name(self.feature_importances_, self.model_.feature_names)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return the parameters and, after a fit, what a notebook shows of its outcome."""
        parts = self._notebook_parts() if self.__sklearn_is_fitted__() else ()
        shown = [part._repr_mimebundle_()["text/html"] for part in parts]
        return {"text/plain": repr(self), "text/html": "".join([self._repr_html_(), *shown])}

    def _notebook_parts(self) -> tuple[Any, ...]:
        """Return what a notebook shows of a fit: the model and its rounds."""
        return self.model_, self.history_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _fitted(self) -> Scorer:
        if not self.__sklearn_is_fitted__():
            sentence = f"This {type(self).__name__} is not fitted yet; call fit first."
            try:
                from sklearn.exceptions import NotFittedError  # which other code may catch
            except ModuleNotFoundError:
                raise InputError(sentence) from None
            raise NotFittedError(sentence)
        return self.model_

    def _refuse(self, method: Callable[..., Any], unknown: Mapping[str, Any]) -> None:
        """Refuse keyword arguments that a method does not have."""
        if unknown:
            from rankwright.rankers.parameters.aliases import refuse_arguments  # for mistakes only

            known = list(inspect.signature(method).parameters)[:-1]  # without **unknown
            refuse_arguments(type(self).__name__, method.__name__, unknown, known=known, declared=self.declared)

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        """Return the facts that are saved with the model, which does not depend on the number of threads."""
        names = [name for name in self.get_params(deep=False) if name != "n_jobs"]
        return {
            "ranker": type(self).__name__,
            "parameters": {name: _plain(getattr(self, name)) for name in names},
            "rankwright": __version__,
            "documents": len(task.train),
            "queries": len(task.train.data.groups),
            "rounds": history.best_round,
            **({} if task.start is None else {"start": task.start.name}),
        }


def sample_for_importances(train: RankingData) -> RankingData:
    """Return the documents on which importances of a model that is not all trees are computed."""
    order = np.random.default_rng(0).permutation(len(train.groups))
    n_queries = int(np.searchsorted(np.cumsum(train.groups.sizes[order]), SAMPLE_DOCUMENTS, side="right"))
    return train.take_queries(order[: max(1, n_queries)])  # a copy, since the arrays of a fit are the caller's


def _documents(X: Any) -> Any:
    return X.data if isinstance(X, TrainingSet) else X


def _plain(value: Any) -> Any:
    """Return a parameter's value as plain JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def require_metric_range(ranker: str, metric: Metric, worst: Doubles, best: Doubles, *, least: float) -> None:
    """Refuse a metric that leaves the range from `least` to 1 on the worst or best ranking of a query."""
    lowest, highest = worst.min(), best.max()
    if lowest < least - ROUNDING or highest > 1.0 + ROUNDING:
        raise InputError(
            f"{ranker} needs a metric between {least:g} and 1; {metric} is {lowest:g} to {highest:g} here."
        )
