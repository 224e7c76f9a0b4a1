"""What `auto` and `crossval` learn from: a file of judged documents, or a folder of folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.data_files import ReadOptions, read_data
from rankwright.cli.output.console import note

if TYPE_CHECKING:
    from pathlib import Path

    from rankwright.data.dataset import RankingData


def files_of(data: Path) -> list[Path]:
    """Return the data files that a command must not overwrite: the file, or those of a folder of folds."""
    return [*data.glob("*.txt*"), *data.glob("Fold*/*.txt*")] if data.is_dir() else [data]


def read_collection(data: Path, reading: ReadOptions, n_jobs: int | None) -> RankingData | Path:
    """Return the judged documents of a file; a folder is returned as it is."""
    if data.is_dir():
        if reading != ReadOptions():
            raise InputError(f"Options of reading data files are for a file; {data} is a folder of folds.")
        return data
    if str(data) != "-" and not data.exists():
        raise InputError(f"There is no file or folder {data}.")
    return read_data(data, reading, n_jobs=n_jobs)


def read_test_parts(folder: Path) -> RankingData:
    """Return the test parts of all folds together: every query of the collection once."""
    from rankwright.data.readers.fold_folders import find_folds

    return rw.concat(*(rw.read_fold(path).test for path in find_folds(folder)))


def read_all_queries(data: Path, reading: ReadOptions, n_jobs: int | None) -> RankingData:
    """Return the judged documents of a file, of all folds of a folder, or the training parts of one fold."""
    from rankwright.data.readers.fold_folders import is_fold, read_training_parts

    collection = read_collection(data, reading, n_jobs)
    if isinstance(collection, rw.RankingData):
        return collection
    if is_fold(data):
        note(f"{data} is one fold: the judged queries are its train and vali parts; test is left alone")
        return rw.concat(*read_training_parts(data, n_jobs=n_jobs))
    try:
        return read_test_parts(data)
    except InputError as error:
        raise InputError(f"The judged queries of a folder are the test parts of all its folds: {error}") from None
