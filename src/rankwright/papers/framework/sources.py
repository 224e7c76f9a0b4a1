"""Where the trials of experiments come from: LETOR's folds, other divisions of queries, and Yandex's data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rankwright.base.errors import InputError
from rankwright.crossval.folds import Folds
from rankwright.crossval.splits import SplitOptions
from rankwright.data.readers.fold_folders import find_folds, read_fold, read_test_part
from rankwright.data.readers.letor import read_letor
from rankwright.data.splitting import concat
from rankwright.papers.framework.experiment import Absent, DataTrial

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankwright.data.dataset import RankingData
    from rankwright.papers.framework.experiment import Setup, Source


class LetorCollection(NamedTuple):
    """A collection of LETOR and what it must have, so that another one under its name is noticed."""

    name: str
    n_features: int
    n_queries: int
    bm25: int  # the feature that is BM25 of the whole document


COLLECTIONS = {
    collection.name: collection
    for collection in (
        LetorCollection("OHSUMED", 45, 106, 41),
        LetorCollection("MQ2007", 46, 1692, 25),
        LetorCollection("MQ2008", 46, 784, 25),
        LetorCollection("TD2003", 64, 50, 25),
        LetorCollection("TD2004", 64, 75, 25),
    )
}


IMAT, IMAT_FILE = "IMAT2009", "imat2009_learning.txt"  # the contest "Internet Mathematics 2009" of Yandex
IMAT_FEATURES, IMAT_QUERIES = 245, 9124


@dataclass(frozen=True)
class LetorFolds:
    """The folds of a collection as LETOR divides it; `n_folds` takes the first ones only."""

    collection: str
    folder: Path = field(repr=False)
    n_folds: int | None = None

    @property
    def title(self) -> str:
        """The collection's name."""
        return self.collection

    def trials(self) -> Sequence[str]:
        """Return the names of the folds."""
        return [path.name for path in find_folds(self.folder)[: self.n_folds]]

    def trial(self, name: str) -> DataTrial:
        """Read a fold."""
        return DataTrial(name, *read_fold(self.folder / name))


@dataclass(frozen=True)
class Divided:
    """All queries of a LETOR collection, divided anew; without a validation part, as in Xu and Li (2007).

    With `repeats`, they are divided several times, each time in another way.
    """

    collection: str
    folder: Path = field(repr=False)
    n_folds: int = 4
    random_state: int = 0
    repeats: int = 1

    @property
    def title(self) -> str:
        """The collection's name."""
        return self.collection

    def trials(self) -> Sequence[str]:
        """Return the names of the folds."""
        return divisions(self.n_folds, self.repeats)

    def trial(self, name: str) -> DataTrial:
        """Divide the queries and return a fold."""
        return divided_trial(name, self._whole, self.n_folds, self.random_state)

    @cached_property
    def _whole(self) -> RankingData:
        return concat(*map(read_test_part, find_folds(self.folder)))


@dataclass(frozen=True)
class InternetMathematics:
    """The judged queries of Internet Mathematics 2009 in five folds of 3 + 1 + 1 parts; labels are 0 to 4."""

    folder: Path = field(repr=False)
    n_folds: int = 5

    @property
    def title(self) -> str:
        """The name of the folder."""
        return IMAT

    def trials(self) -> Sequence[str]:
        """Return the names of the folds."""
        return divisions(5, 1)[: self.n_folds]

    def trial(self, name: str) -> DataTrial:
        """Divide the queries and return a fold."""
        return divided_trial(name, self._whole, 5, 0, validation=0.25)

    @cached_property
    def _whole(self) -> RankingData:
        return read_letor(self.folder / IMAT_FILE, n_features=IMAT_FEATURES)


def internet_mathematics(setup: Setup) -> Source:
    """Return the folds of Internet Mathematics 2009; `Absent` where the run has no such folder."""
    folds = InternetMathematics(setup.folders.get(IMAT, Path()), 2 if setup.quick else 5)
    return folds if IMAT in setup.folders else _absent(folds)


def divisions(n_folds: int, repeats: int) -> list[str]:
    """Return names of folds; of several divisions, `Division2-Fold1`."""
    folds = [f"Fold{number + 1}" for number in range(n_folds)]
    if repeats == 1:
        return folds
    return [f"Division{number + 1}-{fold}" for number in range(repeats) for fold in folds]


def divided_trial(
    name: str, whole: RankingData, n_folds: int, random_state: int, validation: float = 0.0
) -> DataTrial:
    """Return the fold of a division by its name; `validation` is a fraction of the training queries."""
    division, _, fold = name.rpartition("-")
    seed = random_state + (int(division.removeprefix("Division")) - 1 if division else 0)
    folds = Folds.of(whole, SplitOptions(n_folds, validation=validation, random_state=seed))
    parts = next(islice(folds, int(fold.removeprefix("Fold")) - 1, None))
    return DataTrial(name, parts.train, parts.valid, parts.test)


def letor(setup: Setup, name: str, *, quick_folds: int = 2) -> Source:
    """Return the folds of a LETOR collection; `Absent` where the run has no such folder."""
    folds = LetorFolds(name, setup.folders.get(name, Path()), quick_folds if setup.quick else None)
    return folds if name in setup.folders else _absent(folds)


def divided(setup: Setup, name: str, *, n_folds: int, repeats: int = 1) -> Source:
    """Return the queries of a LETOR collection in other divisions; `Absent` where the run has no such folder."""
    folds = Divided(name, setup.folders.get(name, Path()), n_folds, repeats=repeats)
    return folds if name in setup.folders else _absent(folds)


def _absent(source: LetorFolds | Divided | InternetMathematics) -> Absent:
    return Absent(source.title, f"--data has no folder {source.title}", repr(source))


def find_collections(data: Path | None) -> dict[str, Path]:
    """Return the folders of known collections inside a folder, or the folder itself if it is one of them."""
    if data is None:
        return {}
    if not data.is_dir():
        raise InputError(f"There is no folder {data}.")
    folders = {name: data if data.name == name else data / name for name in (*COLLECTIONS, IMAT)}
    present = {name: path for name, path in folders.items() if path.is_dir()}
    if not present:
        known = ", ".join(folders)
        raise InputError(
            f"{data} has no collection of LETOR: looked for folders {known}, each with Fold1, Fold2, ..."
        )
    for name, path in present.items():
        if name == IMAT:
            _require_imat(path)
        else:
            _require(COLLECTIONS[name], path)
    return present


def _require(collection: LetorCollection, folder: Path) -> None:
    """Refuse a folder without folds, or whose test parts have other features or queries than the collection."""
    tests = [read_test_part(fold) for fold in find_folds(folder)]
    name, n_features, n_queries, _ = collection
    if (number := max(test.n_features for test in tests)) != n_features:
        raise InputError(f"{folder} is not {name}: it has {number} features, {name} has {n_features}.")
    if (number := sum(len(test.groups) for test in tests)) != n_queries:
        raise InputError(
            f"{folder} is not {name}: its test parts have {number} queries together, {name} has {n_queries}."
        )


def _require_imat(folder: Path) -> None:
    """Refuse a folder without the contest's file, or with another one under its name."""
    if not (folder / IMAT_FILE).is_file():
        raise InputError(f"{folder} is not {IMAT}: it has no {IMAT_FILE}.")
    number = len(read_letor(folder / IMAT_FILE, n_features=IMAT_FEATURES).groups)
    if number != IMAT_QUERIES:
        raise InputError(f"{folder} is not {IMAT}: it has {number} queries, {IMAT} has {IMAT_QUERIES}.")


def contents(files: Iterable[Path]) -> str:
    """Return a hash of files, by which results of other data with the same names are noticed."""
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def files_of(name: str, folder: Path) -> list[Path]:
    """Return the files of a collection: those of all folds, or the only one."""
    if name == IMAT:
        return [folder / IMAT_FILE]
    return [path for fold in find_folds(folder) for path in sorted(fold.iterdir()) if path.is_file()]
