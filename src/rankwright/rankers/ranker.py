"""What every ranker is: a scikit-learn estimator over judged queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from rankwright.data import Documents, RankingData
from rankwright.data.features import require_same_features
from rankwright.errors import InputError
from rankwright.metrics import Metric
from rankwright.threads import resolve_threads
from rankwright.training.start import checked_start
from rankwright.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.arrays import Doubles
    from rankwright.models import Scorer
    from rankwright.training import History, Round
    from rankwright.training.start import Start

WEIGHTS = (1e-100, 1e100)
"""What the largest weight may be, so that sums and squares of weights are numbers above 0."""


@dataclass(frozen=True)
class FitTask:
    """What a ranker learns from, checked: data, validation data, a weight a document, whom to tell, threads.

    `start` is what it is to improve on, if that is not nothing.
    """

    train: RankingData
    validation: RankingData | None
    weights: Doubles | None
    on_round: Callable[[Round], None] | None
    n_threads: int
    start: Start | None = None


class Ranker(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Hyper-parameters and `fit`.

    After `fit`, `model_` is the scorer it learned and `history_` the rounds it took, with the best of them.
    A subclass names itself for the command line, says in `grid` which few values of which parameters are worth
    trying on data of one's own, and defines `_fit`.
    """

    name: ClassVar[str]
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    takes_start: ClassVar[bool] = False
    metric: Metric
    n_threads: int | None
    model_: Scorer
    history_: History

    # scikit-learn's metadata routing: both methods ask for the query of each row.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        validation: RankingData | Sequence[Any] | None = None,
        document_weights: ArrayLike | None = None,
        query_weights: ArrayLike | None = None,
        start: Any = None,
        validation_start: ArrayLike | None = None,
        on_round: Callable[[Round], None] | None = None,
    ) -> Self:
        """Learn from judged documents.

        Parameters
        ----------
        X, y, qid
            Features (NaN is a missing value), labels (higher is better) and query ids, in any order. A
            `RankingData` may stand for all three; it keeps feature names, and what was made of it for other fits.
        validation
            Other judged documents, as `RankingData` or `(X, y, qid)`; they choose the best round.
        document_weights, query_weights
            How much each document, and each query in the order of first appearance, counts.
        start
            What to improve on: a fitted ranker or a scorer, which the model then holds; another library's model
            with `predict`, or a column of scores, which the model does not hold and must be given again.
        validation_start
            The scores of the validation documents, where `start` is a column.
        on_round
            Called with each round as it ends, to show progress.
        """
        if not isinstance(self.metric, Metric):
            raise InputError(f"metric must be a Metric such as NDCG(k=10), not {self.metric!r}.")
        train = _checked_train(_as_data(X, y, qid))
        valid = None if validation is None else _checked_validation(validation, train)
        weights = _checked_weights(train, document_weights, query_weights)
        threads = resolve_threads(self.n_threads)
        begun = self._start(start, validation_start, train, valid, threads)
        task = FitTask(train, valid, weights, on_round, threads, begun)
        model, history = self._fit(task)
        self.n_features_in_ = train.n_features
        self.history_ = history
        self.model_ = model.described(feature_names=train.feature_names, about=self._about(task, history))
        return self

    def _start(
        self, start: Any, validation_start: Any, train: RankingData, valid: RankingData | None, n_threads: int
    ) -> Start | None:
        if start is None and validation_start is None:
            return None
        if not self.takes_start:
            raise InputError(f"{type(self).__name__} takes no start: it cannot improve on another model.")
        return checked_start(start, validation_start, train, valid, n_threads)

    @abstractmethod
    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        """Return the scorer learned from checked data, and the rounds it took."""

    def predict(
        self,
        X: Any,
        qid: ArrayLike | None = None,
        *,
        init_score: ArrayLike | None = None,
        n_threads: int | None = None,
    ) -> Doubles:
        """Return one score per document, in the order of the input.

        `qid` holds one query id per row, or a single id if all rows belong to one query. A model trained from
        scores that it does not hold (a `ResidualModel`) needs the scores of these documents as `init_score`.
        """
        threads = self.n_threads if n_threads is None else n_threads
        return self._fitted().predict(X, qid, n_threads=threads, **self._needed(init_score))

    def rank(
        self, X: Any, qid: ArrayLike | None = None, *, init_score: ArrayLike | None = None
    ) -> NDArray[np.int64]:
        """Return each document's rank within its query, 1 for the best; takes what `predict` takes."""
        return self._fitted().rank(X, qid, n_threads=self.n_threads, **self._needed(init_score))

    def score(self, X: Any, y: ArrayLike, qid: ArrayLike) -> float:
        """Return the mean of the ranker's metric over queries."""
        return self.metric(y, self.predict(X, qid), qid)

    def _fitted(self) -> Scorer:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit first.")
        return self.model_

    def _needed(self, init_score: ArrayLike | None) -> dict[str, ArrayLike | None]:
        """Return the argument that only a residual model takes."""
        if self._fitted().needs_init_score:
            return {"init_score": init_score}
        if init_score is not None:
            raise InputError("This model needs no init_score: only a residual model takes it.")
        return {}

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        """Return the facts that travel with the model; it owes nothing to the number of threads."""
        parameters = {name: _plain(value) for name, value in self.get_params(deep=False).items()}
        del parameters["n_threads"]
        return {
            "ranker": type(self).__name__,
            "parameters": parameters,
            "rankwright": __version__,
            "documents": len(task.train),
            "queries": len(task.train.groups),
            "rounds": history.best_round,
            **({} if task.start is None else {"start": task.start.name}),
        }


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _as_data(X: Any, y: ArrayLike | None, qid: ArrayLike | None) -> RankingData:
    if isinstance(X, RankingData) and y is None and qid is None:
        return X
    if isinstance(X, Documents):
        raise InputError("fit takes RankingData alone; documents get labels by with_labels(y).")
    if y is None or qid is None:
        raise InputError("fit takes features, labels and query ids: fit(X, y, qid), or RankingData alone.")
    return RankingData(X, y, qid)


def _checked_weights(
    train: RankingData, by_document: ArrayLike | None, by_query: ArrayLike | None
) -> Doubles | None:
    """Return the weight of each document, times its query's; None where all count alike."""
    if by_document is None and by_query is None:
        return None
    groups, weights = train.groups, np.ones(len(train))
    if by_document is not None:
        weights = weights * _checked_numbers("document_weights", by_document, len(train))
    if by_query is not None:
        with np.errstate(over="ignore"):  # told below
            weights = weights * _checked_numbers("query_weights", by_query, len(groups))[groups.query_of_row]
    least, most = WEIGHTS
    if not least <= weights.max() <= most:
        raise InputError(
            f"The largest of document_weights times query_weights must be from {least:g} to {most:g}, "
            f"not {weights.max():g}."
        )
    return weights


def _checked_numbers(name: str, values: ArrayLike, length: int) -> Doubles:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers.") from None
    if numbers.shape != (length,):
        raise InputError(f"{name} must have {length} numbers, not shape {numbers.shape}.")
    if not (np.isfinite(numbers).all() and (numbers >= 0).all() and numbers.any()):
        raise InputError(f"{name} must be finite and from 0 up, not all of them 0.")
    return numbers


def _checked_train(train: RankingData) -> RankingData:
    if len(train) == 0:
        raise InputError("There are no documents to learn from.")
    if train.n_features == 0:
        raise InputError("There are no features to learn from.")
    if not _any_better(train):
        raise InputError("There is nothing to learn: no query has documents that are better than others.")
    return train


def _checked_validation(validation: RankingData | Sequence[Any], train: RankingData) -> RankingData:
    if not isinstance(validation, RankingData) and len(validation) != 3:
        raise InputError("validation must be RankingData or (X, y, qid).")
    try:
        valid = validation if isinstance(validation, RankingData) else RankingData(*validation)
        require_same_features(train.n_features, train.feature_names, valid.X, valid.feature_names)
    except InputError as error:
        raise InputError(f"In the validation part: {error}") from None
    if not _any_better(valid):
        raise InputError("The validation part cannot choose: no query has documents that are better than others.")
    return valid


def _any_better(data: RankingData) -> bool:
    """Return whether any query has documents of different labels."""
    return any(np.ptp(data.y[rows]) > 0 for rows in data.groups)
