"""Reads cross-validation folds from folders in the layout of LETOR and similar collections."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.readers.letor import read_letor

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

# LETOR 3 and 4 use train, vali and test; LETOR 2 uses trainingset, validationset and testset.
TRAIN_NAMES = ("train", "trainingset")
VALID_NAMES = ("vali", "valid", "validation", "validationset")
TEST_NAMES = ("test", "testset")
SUFFIXES = (".txt", ".txt.gz")


class Fold(NamedTuple):
    """The three parts of a fold, all with the same number of features."""

    train: RankingData
    valid: RankingData
    test: RankingData


def read_fold(
    folder: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    absent: float = 0.0,
    zero_based: bool = False,
    n_jobs: int | None = None,
) -> Fold:
    """Read train.txt, vali.txt and test.txt of a fold, or their names in other collections, plain or .gz.

    The options are those of `read_letor`. All parts get the number of features of the widest part.

    Examples
    --------
    >>> parts = rw.split_queries(rw.synthetic.gaussian_queries(6), 4, 1, 1)
    >>> for name, part in zip(("train", "vali", "test"), parts):
    ...     rw.write_letor(part, f"{name}.txt")
    >>> train, valid, test = rw.read_fold(".")
    >>> train
    RankingData(84 documents, 4 queries, 2 features)
    """
    names = (TRAIN_NAMES, VALID_NAMES, TEST_NAMES)
    options: dict[str, Any] = {"n_features": n_features, "zero_based": zero_based, "n_jobs": n_jobs}
    return Fold(*_read_parts(Path(folder), names, absent=absent, **options))


def is_fold(folder: str | os.PathLike[str]) -> bool:
    """Return whether a folder has the training part of a fold."""
    return any(path.is_file() for path in _candidates(Path(folder), TRAIN_NAMES))


def read_training_parts(
    folder: str | os.PathLike[str], *, n_jobs: int | None = None
) -> tuple[RankingData, RankingData]:
    """Read train.txt and vali.txt of a fold as `read_fold` does; test.txt is not read."""
    train, valid = _read_parts(Path(folder), (TRAIN_NAMES, VALID_NAMES), n_jobs=n_jobs)
    return train, valid


def read_test_part(folder: str | os.PathLike[str], *, n_jobs: int | None = None) -> RankingData:
    """Read test.txt of a fold as `read_fold` does; the other parts are not read."""
    (test,) = _read_parts(Path(folder), (TEST_NAMES,), n_jobs=n_jobs)
    return test


def find_folds(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the folders Fold1 to FoldN inside a folder, by number."""
    numbers = {
        path: int(match[1])
        for path in _existing(Path(folder)).iterdir()
        if (match := re.fullmatch(r"Fold([0-9]+)", path.name)) and path.is_dir()
    }
    if not numbers:
        raise InputError(f"{folder} contains no folds: looked for folders Fold1, Fold2 and so on.")
    return sorted(numbers, key=lambda path: numbers[path])


def _read_parts(
    folder: Path, parts: Sequence[Sequence[str]], *, absent: float = 0.0, **options: Any
) -> list[RankingData]:
    """Read parts, each known by several names, and widen them to the number of features of the widest."""
    paths = [_find_part(folder, names) for names in parts]
    read = [read_letor(path, absent=absent, **options) for path in paths]
    widest = max(part.n_features for part in read)
    return [_widened(part, widest, absent) for part in read]


def _candidates(folder: Path, names: Sequence[str]) -> list[Path]:
    return [folder / f"{name}{suffix}" for suffix in SUFFIXES for name in names]


def _find_part(folder: Path, names: Sequence[str]) -> Path:
    for path in _candidates(_existing(folder), names):
        if path.is_file():
            return path
    looked_for = ", ".join(f"{name}.txt" for name in names)
    raise InputError(f"{folder} is not a complete fold: looked for {looked_for}, plain or .gz.")


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    return folder


def _widened(data: RankingData, n_features: int, absent: float) -> RankingData:
    if data.n_features == n_features:
        return data
    X = np.full((len(data), n_features), absent, dtype=np.float32)
    X[:, : data.n_features] = data.X
    return RankingData(sealed(X), data.y, data.qid, document_ids=data.document_ids)
