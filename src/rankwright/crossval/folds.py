"""The folds of a cross-validation: from a folder, from a list of parts, or split from one collection."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted
from rankwright.crossval.splits import SplitOptions, document_folds, known_documents, parts_of, strata, time_folds
from rankwright.data.dataset import RankingData, canonical_queries
from rankwright.data.query_filters import QueryFilter, drop_queries
from rankwright.data.query_times import QueryTimes
from rankwright.data.readers.any_format import read_judged
from rankwright.data.readers.fold_folders import find_folds, read_fold
from rankwright.data.splitting import deal_folds, generator
from rankwright.training.training_set import TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np

    from rankwright.base.arrays import Integers

    FoldsData: TypeAlias = "RankingData | TrainingSet | str | os.PathLike[str] | Parts | Folds"
    Parts = Sequence[Sequence[RankingData]]


class FoldParts(NamedTuple):
    """One fold: its name, which repeat it belongs to (from 1), and its parts; not every fold has a valid part.

    `period` has the times of its test queries, if folds are in time order.
    """

    name: str
    repeat: int
    train: RankingData
    valid: RankingData | None
    test: RankingData
    period: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Folds:
    """The folds of a cross-validation; each is read or made when it is needed.

    Parameters
    ----------
    repeats
        How many times the data are split.
    has_validation
        Whether the folds have a validation part.
    dropped
        The number of queries that were dropped before the data were split, by reason.
    known_documents
        The fraction of the relevant documents of test queries that are relevant for a training query too; NaN if
        documents have no ids.
    """

    repeats: int
    has_validation: bool
    _parts: Callable[[], Iterator[FoldParts]]
    _count: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    known_documents: float = float("nan")

    @classmethod
    def of(
        cls, data: FoldsData, splits: SplitOptions, *, min_relevant: int = 0, n_jobs: int | None = None
    ) -> Folds:
        """Return the folds of a folder, a list of parts, a file or judged documents, or folds as they are.

        Queries with fewer relevant documents than `min_relevant` are dropped: of data without folds before they
        are split, of others from the training and validation parts. The evaluation drops those of test parts, and
        counts them.
        """
        if isinstance(data, Folds):
            _refuse_options("The folds are made already", splits, min_relevant)
            return data
        if isinstance(data, str | os.PathLike):
            if Path(data).is_dir():
                return _of_folder(Path(data), splits, min_relevant, n_jobs)
            if not Path(data).exists():
                raise InputError(f"There is no file or folder {data}.")
            data = read_judged(data, n_jobs=n_jobs)
        if isinstance(data, TrainingSet):
            data = data.data
        if isinstance(data, RankingData):
            return _of_collection(data, splits, min_relevant)
        if isinstance(data, Sequence):
            return _of_list(data, splits, min_relevant)
        raise InputError(
            "Cross-validation takes RankingData, a file, a folder of folds, or a list of (train, test) or "
            f"(train, valid, test), not {type(data).__name__}."
        )

    def __iter__(self) -> Iterator[FoldParts]:
        return self._parts()

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        repeats = f" in {counted(self.repeats, 'repeat')}" if self.repeats > 1 else ""
        return f"Folds({self._count:,}{repeats}, with{'' if self.has_validation else 'out'} validation)"


def make_folds(
    data: RankingData,
    folds: int = 5,
    *,
    repeats: int = 1,
    validation: float | str = 0.0,
    stratify: bool = False,
    new_documents: bool = False,
    min_relevant: int = 0,
    random_state: int = 0,
    time_column: str | None = None,
) -> Folds:
    """Split judged documents into folds by query, for `cross_validate` or for a loop over their parts.

    All documents of a query go to the same part. The folds depend neither on the order of rows nor on the names of
    queries. Each has a `name`, the number of its `repeat`, and the parts `train`, `valid` (or None) and `test`.

    Parameters
    ----------
    data
        The judged documents.
    folds
        Number of folds; each query is in the test part of one of them.
    repeats
        How many times the data are split, each time in another way.
    validation
        The fraction of the queries outside the test part that form a validation part; 0 for none. With `"fold"` it
        is the fold before the test part, so that each query validates once and tests once; five folds are then
        split 3 + 1 + 1, as in LETOR.
    stratify
        Whether folds and validation parts have about the same numbers of queries with few and with many relevant
        documents, those with a label of at least 1.
    new_documents
        Whether to split by document as well: documents are dealt into as many folds as queries, and a fold tests
        its queries on its documents only, with rankers that learned from other queries and other documents. Where
        documents are relevant for several queries, rankers can learn to recognise them, which does not help with
        documents that are new.
    min_relevant
        Drop queries with fewer relevant documents than this before the data are split.
    random_state
        Seed of the splits.
    time_column
        A feature, or a column that is shown, with the time of each query: a number or a date. Folds are then in
        time order, and a fold learns from earlier queries only: the earliest half of the queries is only learned
        from, the later half is divided into folds. Queries of the same time are in the same fold. A validation
        part has the latest of the earlier queries. None: random folds.

    Examples
    --------
    >>> for fold in rw.make_folds(rw.synthetic.gaussian_queries(9), 3):
    ...     ranker = rw.RankSVM().fit(fold.train)
    ...     print(fold.name, len(fold.train.groups), round(ranker.score(fold.test), 2))
    Fold1 6 1.0
    Fold2 6 1.0
    Fold3 6 1.0
    """
    if not isinstance(data, RankingData):
        raise InputError(f"make_folds takes RankingData, not {type(data).__name__}.")
    splits = SplitOptions(folds, repeats, validation, random_state, stratify, new_documents, time_column)
    return _of_collection(data, splits, min_relevant)


def count_folds(data: FoldsData, splits: SplitOptions) -> int:
    """Return the number of folds of data of any kind, in all repeats together."""
    if isinstance(data, str | os.PathLike) and Path(data).is_dir():
        return len(find_folds(Path(data)))
    if isinstance(data, Folds) or (isinstance(data, Sequence) and not isinstance(data, str)):
        return len(data)
    return splits.folds * splits.repeats


def _of_folder(folder: Path, splits: SplitOptions, min_relevant: int, n_jobs: int | None) -> Folds:
    paths = find_folds(folder)
    _refuse_options(f"{folder} has folds of its own", splits)

    def parts() -> Iterator[FoldParts]:
        for path in paths:
            yield _without_few(FoldParts(path.name, 1, *read_fold(path, n_jobs=n_jobs)), min_relevant)

    return Folds(1, True, parts, len(paths))


def _of_list(given: Sequence[Any], splits: SplitOptions, min_relevant: int) -> Folds:
    _refuse_options("A list of parts has folds of its own", splits)
    sizes = {len(parts) if isinstance(parts, tuple | list) else 0 for parts in given}
    of_one_kind = sizes in ({2}, {3})
    if not of_one_kind or not all(isinstance(part, RankingData) for parts in given for part in parts):
        raise InputError(
            "A list of folds must hold (train, test) or (train, valid, test) for every fold, each RankingData."
        )

    def parts() -> Iterator[FoldParts]:
        for number, (train, *valid, test) in enumerate(given, start=1):
            fold = FoldParts(f"Fold{number}", 1, train, valid[0] if valid else None, test)
            yield _without_few(fold, min_relevant)

    return Folds(1, sizes == {3}, parts, len(given))


def _refuse_options(has_folds: str, splits: SplitOptions, min_relevant: int = 0) -> None:
    if splits != SplitOptions() or min_relevant:
        also = f"{parameter('min_relevant')} and " if min_relevant else ""
        *names, last = map(
            parameter,
            ("folds", "repeats", "validation", "stratify", "new_documents", "random_state", "time_column"),
        )
        raise InputError(f"{has_folds}; {also}{', '.join(names)} and {last} are for data without folds.")


def _without_few(fold: FoldParts, min_relevant: int) -> FoldParts:
    """Drop queries with few relevant documents from the training and the validation part."""
    try:
        train = drop_queries(fold.train, min_relevant=min_relevant)
        valid = None if fold.valid is None else drop_queries(fold.valid, min_relevant=min_relevant)
    except InputError as error:
        raise InputError(f"{fold.name} cannot be used: {error}") from None
    return fold._replace(train=train, valid=valid)


def _of_collection(data: RankingData, splits: SplitOptions, min_relevant: int) -> Folds:
    reasons = QueryFilter(min_relevant).reasons(data.y, data.groups)
    kept = drop_queries(data, min_relevant=min_relevant)
    times = None if splits.time_column is None else QueryTimes.of(kept, splits.time_column)
    random = generator(splits.random_state)
    repeats = _dealt(kept, splits, random) if times is None else [time_folds(times, splits)]
    fold_of_row = document_folds(kept, splits.folds, random) if splits.new_documents else None

    def parts() -> Iterator[FoldParts]:
        for repeat, fold_of_query in enumerate(repeats, start=1):
            for fold in range(splits.folds):
                is_new = None if fold_of_row is None else fold_of_row == fold
                period = "" if times is None else times.span(fold_of_query == fold)
                own_parts = parts_of(kept, fold_of_query, fold, splits, is_new)
                yield FoldParts(f"Fold{fold + 1}", repeat, *own_parts, period)

    dropped = {reason: int(is_dropped.sum()) for reason, is_dropped in reasons.items()}
    ordered = splits.in_time_order
    known = 0.0 if splits.new_documents else known_documents(kept, repeats[0], in_time_order=ordered)
    return Folds(splits.repeats, splits.has_validation, parts, splits.folds * splits.repeats, dropped, known)


def _dealt(data: RankingData, splits: SplitOptions, random: np.random.Generator) -> list[Integers]:
    """Return the random fold of every query, for each repeat."""
    queries, counts = canonical_queries(data), strata(data) if splits.stratify else None
    return [deal_folds(queries, splits.folds, random, counts=counts) for _ in range(splits.repeats)]
