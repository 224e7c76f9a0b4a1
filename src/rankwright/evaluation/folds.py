"""What cross-validation runs over: a folder of folds, a list of parts, or one collection that is divided here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.data import RankingData, find_folds, read_fold
from rankwright.data.canonical import canonical_queries
from rankwright.data.reading import read_judged
from rankwright.data.splitting import deal_folds, generator, split_queries
from rankwright.errors import InputError
from rankwright.training import TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    FoldsData = RankingData | TrainingSet | str | os.PathLike[str] | Sequence[Sequence[RankingData]]


class FoldParts(NamedTuple):
    """One fold: its name, which repeat it belongs to (from 1), and its parts; not every fold has a valid part."""

    name: str
    repeat: int
    train: RankingData
    valid: RankingData | None
    test: RankingData


@dataclass(frozen=True)
class Division:
    """How data without folds of their own are divided into folds.

    Parameters
    ----------
    folds
        Number of folds; each query is in the test part of one of them.
    repeats
        How many times the data are divided, each time in another way.
    validation
        The fraction of the queries outside the test part that form a validation part; 0 for none.
    random_state
        The seed.
    """

    folds: int = 5
    repeats: int = 1
    validation: float = 0.0
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, least in {"folds": 2, "repeats": 1, "random_state": 0}.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise InputError(f"{name} must be an integer of at least {least}, not {value!r}.")
        if isinstance(self.validation, bool) or not 0 <= self.validation < 1:
            raise InputError(f"validation must be a number from 0 to below 1, not {self.validation!r}.")


@dataclass(frozen=True)
class Folds:
    """The folds of a cross-validation; each is read or made when it is its turn."""

    repeats: int
    has_validation: bool
    _parts: Callable[[], Iterator[FoldParts]]

    @classmethod
    def of(cls, data: FoldsData, division: Division, *, n_jobs: int | None = None) -> Folds:
        """Return the folds of a folder, a list of parts, a file or judged documents."""
        if isinstance(data, str | os.PathLike):
            if Path(data).is_dir():
                return _of_folder(Path(data), division, n_jobs)
            if not Path(data).exists():
                raise InputError(f"There is no file or folder {data}.")
            data = read_judged(data, n_jobs=n_jobs)
        if isinstance(data, TrainingSet):
            data = data.data
        if isinstance(data, RankingData):
            return _of_collection(data, division)
        if isinstance(data, Sequence):
            return _of_list(data, division)
        raise InputError(
            "Cross-validation takes RankingData, a file, a folder of folds, or a list of (train, test) or "
            f"(train, valid, test), not {type(data).__name__}."
        )

    def __iter__(self) -> Iterator[FoldParts]:
        return self._parts()


def count_folds(data: RankingData | Path, division: Division) -> int:
    """Return the number of folds of judged documents or of a folder, in all repeats together."""
    return len(find_folds(data)) if isinstance(data, Path) else division.folds * division.repeats


def _of_folder(folder: Path, division: Division, n_jobs: int | None) -> Folds:
    paths = find_folds(folder)
    _refuse_division(f"{folder} has folds", division)

    def parts() -> Iterator[FoldParts]:
        for path in paths:
            yield FoldParts(path.name, 1, *read_fold(path, n_jobs=n_jobs))

    return Folds(1, True, parts)


def _of_list(given: Sequence[Any], division: Division) -> Folds:
    _refuse_division("A list of parts has folds", division)
    sizes = {len(parts) if isinstance(parts, tuple | list) else 0 for parts in given}
    of_one_kind = sizes in ({2}, {3})
    if not of_one_kind or not all(isinstance(part, RankingData) for parts in given for part in parts):
        raise InputError(
            "A list of folds must hold (train, test) or (train, valid, test) for every fold, each RankingData."
        )

    def parts() -> Iterator[FoldParts]:
        for number, (train, *valid, test) in enumerate(given, start=1):
            yield FoldParts(f"Fold{number}", 1, train, valid[0] if valid else None, test)

    return Folds(1, sizes == {3}, parts)


def _refuse_division(has_folds: str, division: Division) -> None:
    if division != Division():
        raise InputError(
            f"{has_folds} of its own; folds, repeats, validation and random_state are for data without folds."
        )


def _of_collection(data: RankingData, division: Division) -> Folds:
    queries = canonical_queries(data)
    random = generator(division.random_state)
    repeats = [deal_folds(queries, division.folds, random) for _ in range(division.repeats)]

    def parts() -> Iterator[FoldParts]:
        for repeat, fold_of_query in enumerate(repeats, start=1):
            for fold in range(division.folds):
                yield _divided(data, fold_of_query == fold, fold + 1, repeat, division)

    return Folds(division.repeats, division.validation > 0, parts)


def _divided(
    data: RankingData, is_test: NDArray[np.bool_], number: int, repeat: int, division: Division
) -> FoldParts:
    train, valid, test = data.take_queries(~is_test), None, data.take_queries(is_test)
    if division.validation:
        share = division.validation
        train, valid = split_queries(train, 1 - share, share, random_state=division.random_state)
    return FoldParts(f"Fold{number}", repeat, train, valid, test)
