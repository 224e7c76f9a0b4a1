"""What every ranker is: a scikit-learn estimator over judged queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from rankwright.data import RankingData
from rankwright.data.features import feature_names_of, require_same_features
from rankwright.errors import InputError
from rankwright.threads import resolve_threads
from rankwright.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from rankwright.boosting import History, Round
    from rankwright.metrics import Metric
    from rankwright.models import Scorer

    Doubles = NDArray[np.float64]


class Ranker(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Hyper-parameters and `fit`.

    After `fit`, `model_` is the scorer it learned and `history_` the rounds it took, with the best of them.
    A subclass names itself for the command line and defines `_fit`.
    """

    name: ClassVar[str]
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
        y: ArrayLike,
        qid: ArrayLike,
        *,
        validation: RankingData | Sequence[Any] | None = None,
        on_round: Callable[[Round], None] | None = None,
    ) -> Self:
        """Learn from judged documents.

        Parameters
        ----------
        X, y, qid
            Features (NaN is a missing value), labels (higher is better) and query ids, in any order.
        validation
            Other judged documents, as `RankingData` or `(X, y, qid)`; they choose the best round.
        on_round
            Called with each round as it ends, to show progress.
        """
        train = RankingData(X, y, qid)
        valid = _checked_validation(validation, train, feature_names_of(X))
        if len(train) == 0:
            raise InputError("There are no documents to learn from.")
        threads = resolve_threads(self.n_threads)
        model, history = self._fit(train, valid, on_round, threads)
        self.n_features_in_ = train.n_features
        self.history_ = history
        self.model_ = model.described(feature_names=train.feature_names, about=self._about(train, history))
        return self

    @abstractmethod
    def _fit(
        self,
        train: RankingData,
        validation: RankingData | None,
        on_round: Callable[[Round], None] | None,
        n_threads: int,
    ) -> tuple[Scorer, History]:
        """Return the scorer learned from checked data, and the rounds it took."""

    def predict(self, X: Any, qid: ArrayLike | None = None, *, n_threads: int | None = None) -> Doubles:
        """Return a score for each document, in the order of the input."""
        return self._fitted().predict(X, qid, n_threads=n_threads or self.n_threads)

    def rank(self, X: Any, qid: ArrayLike | None = None) -> NDArray[np.int64]:
        """Return each document's rank within its query, from 1."""
        return self._fitted().rank(X, qid, n_threads=self.n_threads)

    def score(self, X: Any, y: ArrayLike, qid: ArrayLike) -> float:
        """Return the mean of the ranker's metric over queries."""
        return self.metric(y, self.predict(X, qid), qid)

    def _fitted(self) -> Scorer:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit first.")
        return self.model_

    def _about(self, train: RankingData, history: History) -> dict[str, Any]:
        """Return the facts that travel with the model."""
        parameters = {name: _plain(value) for name, value in self.get_params(deep=False).items()}
        return {
            "ranker": type(self).__name__,
            "parameters": parameters,
            "rankwright": __version__,
            "documents": len(train),
            "queries": len(train.groups),
            "rounds": history.best_round,
        }


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _checked_validation(
    validation: RankingData | Sequence[Any] | None, train: RankingData, names: Sequence[str] | None
) -> RankingData | None:
    if validation is None:
        return None
    valid = validation if isinstance(validation, RankingData) else RankingData(*validation)
    require_same_features(train.n_features, names, valid.X, valid.feature_names)
    if len(valid) == 0:
        raise InputError("The validation part has no documents.")
    return valid
