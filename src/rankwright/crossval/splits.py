"""How one collection is split into folds, and each fold into its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.data.dataset import canonical_queries
from rankwright.data.query_filters import relevant_documents
from rankwright.data.query_times import learned_from
from rankwright.data.splitting import draw_evenly, generator, part_sizes, split_queries
from rankwright.rankers.parameters.checks import Flag, Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data.dataset import RankingData
    from rankwright.data.query_times import QueryTimes

PREVIOUS_FOLD = "fold"  # validation by a whole fold
CHECKS = {
    "folds": Integer(2),
    "repeats": Integer(1),
    "random_state": Integer(0),
    "stratify": Flag(),
    "new_documents": Flag(),
}


@dataclass(frozen=True)
class SplitOptions:
    """How data without folds of their own are split into folds; the parameters are those of `make_folds`."""

    folds: int = 5
    repeats: int = 1
    validation: float | str = 0.0
    random_state: int = 0
    stratify: bool = False
    new_documents: bool = False
    time_column: str | None = None

    def __post_init__(self) -> None:
        for name, check in CHECKS.items():
            check.require(parameter(name), getattr(self, name))
        if self.time_column is not None:
            self._require_time_order()
        if self.new_documents and self.repeats > 1:
            raise InputError(
                f"{parameter('new_documents')} tests each query on some of its documents, once: it cannot be used "
                f"with {parameter('repeats')}."
            )
        if self.validation == PREVIOUS_FOLD:
            if self.folds < 3:
                needs = f"{parameter('validation')}='fold' needs at least 3 folds"
                raise InputError(f"{needs}: train, validate, test; not {self.folds}.")
        elif isinstance(self.validation, bool | str) or not 0 <= self.validation < 1:
            name = parameter("validation")
            raise InputError(f"{name} must be a number from 0 to below 1, or 'fold', not {self.validation!r}.")

    def _require_time_order(self) -> None:
        """Refuse options of random divisions, which have no effect in time order."""
        random = {"repeats": 1, "stratify": False, "new_documents": False, "random_state": 0}
        for name, usual in random.items():
            if getattr(self, name) != usual:
                raise InputError(
                    f"{parameter('time_column')} makes folds in time order, of which there is only one division: "
                    f"leave out {parameter(name)}."
                )

    @property
    def in_time_order(self) -> bool:
        """Whether a fold learns from earlier queries only."""
        return self.time_column is not None

    @property
    def has_validation(self) -> bool:
        """Whether there is a validation part."""
        return self.validation != 0


def strata(data: RankingData) -> NDArray[np.int64]:
    """Return the number of relevant documents of each query, if there are any to stratify by."""
    counts = relevant_documents(data.y, data.groups)
    if not counts.any():
        raise InputError(
            "Folds cannot be stratified: no document is relevant, that is, has a label of at least 1."
        )
    return counts


def parts_of(
    data: RankingData,
    fold_of_query: NDArray[np.int64],
    fold: int,
    splits: SplitOptions,
    is_new: NDArray[np.bool_] | None = None,
) -> tuple[RankingData, RankingData | None, RankingData]:
    """Return the training, validation and test part of a fold; the test part has the new rows only."""
    fold_of_row = fold_of_query[data.groups.query_of_row]
    is_test = fold_of_row == fold
    is_known = np.ones(len(data), bool) if is_new is None else ~is_new
    test = data.take(is_test if is_new is None else is_test & is_new)
    is_outside = learned_from(fold_of_row, fold, in_time_order=splits.in_time_order)
    if splits.validation == PREVIOUS_FOLD:
        is_valid = fold_of_row == (fold - 1 if splits.in_time_order else (fold - 1) % splits.folds)
        return data.take(is_outside & ~is_valid & is_known), data.take(is_valid & is_known), test
    outside = data.take(is_outside & is_known)
    if not splits.has_validation:
        return outside, None, test
    fraction = float(splits.validation)
    if not splits.stratify:
        seed, column = splits.random_state, splits.time_column
        train, valid = split_queries(outside, 1 - fraction, fraction, random_state=seed, time_column=column)
        return train, valid, test
    return *_stratified_split(outside, fraction, splits.random_state), test


def _stratified_split(data: RankingData, fraction: float, random_state: int) -> tuple[RankingData, RankingData]:
    """Return the documents without, and those with, a fraction of the queries drawn evenly by their counts."""
    size = len(data.groups) - part_sizes((1 - fraction, fraction), len(data.groups))[0]
    counts = relevant_documents(data.y, data.groups)
    drawn = draw_evenly(canonical_queries(data), int(size), generator(random_state), counts)
    return data.take_queries(~drawn), data.take_queries(drawn)


def document_folds(data: RankingData, n_folds: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of each row's document; all rows of a document are in the same."""
    if data.document_ids is None:
        raise InputError(f"{parameter('new_documents')} needs the ids of documents, which these data do not have.")
    names, document_of_row = np.unique(data.document_ids.astype(str), return_inverse=True)
    if len(names) < n_folds:
        raise InputError(f"{n_folds} folds of documents need at least {n_folds} documents, not {len(names)}.")
    folds: NDArray[np.int64] = (random.permutation(len(names)) % n_folds)[document_of_row]
    return folds


def time_folds(times: QueryTimes, splits: SplitOptions) -> NDArray[np.int64]:
    """Return the fold of every query in time order; negative for queries before the first fold.

    If a fold validates by the fold before it, the first one does so by a period of its own, fold -1.
    """
    before = int(splits.validation == PREVIOUS_FOLD)
    return times.folds(splits.folds + before) - before


def known_documents(data: RankingData, fold_of_query: NDArray[np.int64], *, in_time_order: bool = False) -> float:
    """Return the fraction of relevant test documents that are relevant for training queries, too; or NaN."""
    is_relevant = data.y > 0
    if data.document_ids is None or not is_relevant.any():
        return float("nan")
    names = data.document_ids[is_relevant].astype(str)
    folds = fold_of_query[data.groups.query_of_row][is_relevant]
    _, document_of_row = np.unique(names, return_inverse=True)
    if in_time_order:
        first_fold = np.full(document_of_row.max() + 1, folds.max())
        np.minimum.at(first_fold, document_of_row, folds)
        is_known = (first_fold[document_of_row] < folds)[folds >= 0]
        return float(np.mean(is_known)) if len(is_known) else float("nan")
    n_relevant = np.bincount(document_of_row)
    _, pairs, counts = np.unique(
        document_of_row * (folds.max() + 1) + folds, return_inverse=True, return_counts=True
    )
    return float(np.mean(n_relevant[document_of_row] > counts[pairs]))
