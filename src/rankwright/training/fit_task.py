"""The input of a fit: its checks, and the task from which rankers read documents, weights and start scores."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.arrays import checked_numbers
from rankwright.base.errors import InputError, parameter
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.splitting import concat
from rankwright.models.scorer import scorer_of
from rankwright.training.monitor import Monitor
from rankwright.training.training_set import QueryLabels, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.query_features import QueryFeature
    from rankwright.metrics.base import Metric
    from rankwright.training.history import Round
    from rankwright.training.start_model import Start

# With more training documents the training metric is computed only for on_round: it takes as long as the lambdas.
WATCHED_DOCUMENTS = 100_000
MAX_POSITION = 1_000_000
WEIGHTS = (1e-100, 1e100)
"""The allowed range of the largest weight: sums and squares of weights then neither overflow nor underflow."""


class Heartbeat(NamedTuple):
    """An `on_round` that reads no values, so that neither training metric nor diagnostics need be computed."""

    call: Callable[[Round], None]

    def __call__(self, ended: Round) -> None:
        """Pass the round on."""
        self.call(ended)


class Exposure(NamedTuple):
    """Where each document was shown, or with which probability it was examined, if labels are clicks."""

    position: Integers | None
    propensity: Doubles | None

    def take(self, rows: NDArray[np.int64]) -> Exposure:
        """Return the values of these rows."""
        position, propensity = self
        return Exposure(
            None if position is None else position[rows], None if propensity is None else propensity[rows]
        )


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
    start
        The model, or scores, that boosting starts from.
    stop_after
        The number of rounds after which to stop; None if the ranker and the validation documents decide.
    cluster
        Where the fit runs, if not in this process.
    shown
        Where each training document was shown, in the order of the input, if labels are clicks. Rankers use
        `exposure`.
    """

    train: TrainingSet
    validation: TrainingSet | None
    row_weights: Doubles | None
    on_round: Callable[[Round], None] | None
    n_threads: int
    start: Start | None = None
    stop_after: int | None = None
    cluster: Any = None
    shown: Exposure | None = None

    @property
    def exposure(self) -> Exposure | None:
        """Where each training document was shown, in canonical order."""
        return None if self.shown is None else self.shown.take(self.train.canonical_rows)

    @property
    def weights(self) -> Doubles | None:
        """One weight per training document in canonical order; None if all weights are equal."""
        return None if self.row_weights is None else self.row_weights[self.train.canonical_rows]

    @property
    def watched_labels(self) -> QueryLabels | None:
        """The training labels, if the training metric of every round is to be computed."""
        return self.train.labels if self.on_round is not None or len(self.train) <= WATCHED_DOCUMENTS else None

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
        is_read = not isinstance(self.on_round, Heartbeat)
        return Monitor(
            metric,
            labels if is_read else None,
            self.validation_data,
            patience=patience,
            on_round=self.on_round,
            n_threads=self.n_threads,
            stop_after=self.stop_after,
            diagnosed=is_read,
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


def checked_train(X: Any, y: ArrayLike | None, qid: ArrayLike | None, start: Any = None) -> TrainingSet:
    """Return the arguments of `fit` as a training set; refuse data from which nothing can be learned.

    A model to start from becomes part of the result, so the features are put in its order.
    """
    train = as_training_set(X, y, qid, "fit")
    submodel = scorer_of(start)
    if submodel is not None and submodel.feature_names is not None:
        train = train.like(submodel)
    if len(train) == 0:
        raise InputError("There are no documents to learn from.")
    if train.n_features == 0:
        raise InputError("There are no features to learn from.")
    if next(_informative_queries(train.data), None) is None:
        raise InputError("There is nothing to learn: within every query all labels are equal.")
    if not train.varies:
        raise InputError(
            "There is nothing to learn: every feature is constant within every query whose labels differ."
        )
    return train


def as_training_set(X: Any, y: ArrayLike | None, qid: ArrayLike | None, method: str) -> TrainingSet:
    """Return the judged documents, given as three arrays or as one object, as a training set."""
    if isinstance(X, RankingData | TrainingSet) and y is None and qid is None:
        return TrainingSet.of(X)
    if isinstance(X, Documents | TrainingSet):
        raise InputError(
            f"{method} takes RankingData alone, without y and qid. "
            "To add labels to Documents, call documents.with_labels(y)."
        )
    if y is None or qid is None:
        raise InputError(
            f"{method} needs labels and query ids: {method}(X, y, qid) or {method}(data); within scikit-learn "
            "call sklearn.set_config(enable_metadata_routing=True) and pass qid: "
            "cross_val_score(..., cv=GroupKFold(), params={'qid': qid, 'groups': qid}), "
            "GridSearchCV(..., cv=GroupKFold()).fit(X, y, qid=qid, groups=qid)."
        )
    _refuse_sizes(qid, len(y) if isinstance(y, Sized) else 0)
    return TrainingSet(RankingData(X, y, qid, copy=False))  # a call keeps none of its documents


def _refuse_sizes(qid: Any, n_documents: int) -> None:
    """Refuse sizes of queries, which other libraries take, in place of query ids."""
    sizes = np.asarray(qid) if isinstance(qid, list | tuple | np.ndarray) else np.zeros(0)
    if sizes.dtype.kind in "iu" and sizes.ndim == 1 and len(sizes) < n_documents == sizes.sum():
        raise InputError(
            f"qid must have one query id per document; these {len(sizes)} numbers look like the sizes of queries: "
            "write qid=np.repeat(np.arange(len(sizes)), sizes)."
        )


def checked_validation(validation: Any, train: RankingData) -> TrainingSet:
    """Return validation data; refuse other features than those of the training data, and uninformative queries."""
    prepared = isinstance(validation, RankingData | TrainingSet)
    if not prepared and not (isinstance(validation, list | tuple) and len(validation) == 3):
        raise InputError("validation must be RankingData or (X, y, qid).")
    try:
        valid = TrainingSet.of(validation if prepared else RankingData(*validation, copy=False)).like(train)
    except InputError as error:
        raise InputError(f"In the validation part: {error}") from None
    if next(_informative_queries(valid.data), None) is None:
        raise InputError("The validation data cannot choose a round: within every query all labels are equal.")
    return valid


def refuse_input_order(train: TrainingSet, **by_document: Any) -> None:
    """Refuse values of documents in the order of the input, if the training set does not know that order."""
    for name, values in by_document.items():
        if values is not None and train.is_binned:
            raise InputError(
                f"{parameter(name)} follows the order of the input, and binned data have another order; weights "
                f"can be a column, named by {parameter('weight')} when the files are binned."
            )


def checked_weights(
    train: TrainingSet, by_document: ArrayLike | None, by_query: ArrayLike | None
) -> Doubles | None:
    """Return the weight of each document times that of its query; None if there are no weights."""
    refuse_input_order(train, sample_weight=by_document, query_weight=by_query)
    if by_document is None and by_query is None and train.weights is None:
        return None
    groups, weights = train.data.groups, np.ones(len(train)) if train.weights is None else train.weights
    if by_document is not None:
        weights = weights * _checked_numbers("sample_weight", by_document, len(train))
    if by_query is not None:
        with np.errstate(over="ignore"):  # refused below
            weights = weights * _checked_numbers("query_weight", by_query, len(groups))[groups.query_of_row]
    least, most = WEIGHTS
    if not least <= weights.max() <= most:
        raise InputError(
            f"The largest product of sample_weight and query_weight must be between {least:g} and {most:g}, "
            f"not {weights.max():g}."
        )
    return weights


def checked_exposure(
    train: TrainingSet, positions: Any, propensity: Any, ranker: str, known: tuple[str, ...]
) -> Exposure | None:
    """Return positions or propensities of documents whose labels are clicks; None if there are none."""
    for name, values in (("positions", positions), ("propensity", propensity)):
        if values is not None and name not in known:
            raise InputError(f"{ranker} takes no {name}; rw.clicks.learn corrects clicks for any ranker.")
    if positions is None and propensity is None:
        return None
    refuse_input_order(train, positions=positions, propensity=propensity)
    if positions is not None and propensity is not None:
        raise InputError(
            f"Give {parameter('positions')}, whose bias is then estimated, or {parameter('propensity')}, not both."
        )
    if not np.isin(train.data.y, (0.0, 1.0)).all():
        raise InputError("With positions or propensities, labels are clicks: 0 or 1.")
    if propensity is not None:
        chances = _checked_numbers("propensity", propensity, len(train))
        if not ((chances > 0.0) & (chances <= 1.0)).all():
            raise InputError("propensity must be above 0 and at most 1.")
        return Exposure(None, chances)
    numbers = _checked_numbers("positions", positions, len(train))
    if not ((numbers == np.floor(numbers)) & (numbers <= MAX_POSITION)).all():
        raise InputError(f"positions must be integers from 1 to {MAX_POSITION:,}.")
    return Exposure((numbers + (numbers.min() == 0.0)).astype(np.int64), None)


def require_refittable(validation: TrainingSet | None, weights: Any, *, refit: bool) -> None:
    """Refuse to fit again on both parts if there is only one, or if only one has weights."""
    if not refit:
        return
    if validation is None:
        raise InputError(f"{parameter('refit')} needs validation data: they choose the number of rounds.")
    if weights is not None:
        raise InputError(f"{parameter('refit')} takes no weights: the validation documents have none.")


def _checked_numbers(name: str, values: Any, length: int) -> Doubles:
    numbers = checked_numbers(values, name)
    if numbers.shape != (length,):
        raise InputError(f"{name} must have {length} numbers, not shape {numbers.shape}.")
    if not (np.isfinite(numbers).all() and (numbers >= 0).all() and numbers.any()):
        raise InputError(f"{name} must be finite and not negative, and at least one weight must be positive.")
    return numbers


def _informative_queries(data: RankingData) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each query with different labels."""
    return (rows for rows in data.groups if np.ptp(data.y[rows]) > 0)
