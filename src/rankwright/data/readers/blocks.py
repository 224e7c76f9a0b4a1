"""Judged documents in files that may be larger than memory, read block by block."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import brief_list
from rankwright.data.column_roles import Roles
from rankwright.data.dataset import RankingData
from rankwright.data.readers.csv import checked_delimiter, csv_blocks
from rankwright.data.readers.letor import letor_blocks
from rankwright.data.readers.parquet import parquet_blocks, parquet_files
from rankwright.data.splitting import concat
from rankwright.data.tables import documents_of, naming, warned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankwright.data.column_roles import Columns
    from rankwright.data.tables import TableColumn

    AnyPath = str | os.PathLike[str]

FIRST_DOCUMENTS = 1 << 14  # which decide on the features
BLOCK_VALUES = 1 << 22  # of features in the blocks that are read: 16 MiB, so that few are in memory at once
LETOR, CSV, PARQUET = "LETOR", "CSV", "Parquet"
FORMATS = {".csv": CSV, ".tsv": CSV, ".parquet": PARQUET}


@dataclass(frozen=True)
class JudgedFiles:
    """Files of judged documents with the same features, in one format.

    Iterating reads all of them in order and yields blocks of documents, which end where a query ends: documents of
    a query that follow each other are in one block, even where they are in different files. The first block
    decides which columns are features.

    Parameters
    ----------
    files
        Files of LETOR text, CSV or Parquet.
    roles
        What the columns of tables are used for.
    delimiter
        Of CSV files; None: a tab for .tsv, otherwise a comma.
    n_features
        The number of features of LETOR text; None: the highest in the first block.
    """

    files: tuple[str, ...]
    roles: Roles
    delimiter: str | None = None
    n_features: int | None = None

    @cached_property
    def first(self) -> RankingData:
        """The first block of the first file."""
        return warned(next(self._blocks_of(self.files[0], self.roles, self.n_features, FIRST_DOCUMENTS)))

    def __iter__(self) -> Iterator[RankingData]:
        return whole_queries(self._blocks())

    def _blocks(self) -> Iterator[RankingData]:
        columns, n_features = self.first.columns, self.first.n_features
        roles = self.roles if columns is None else _fixed(columns)
        n_documents = max(1, BLOCK_VALUES // n_features)
        for file in self.files:
            for block in self._blocks_of(file, roles, n_features, n_documents):
                if block.feature_names != self.first.feature_names:
                    raise InputError(f"{file} has other features than {self.files[0]}.")
                yield block

    def _blocks_of(
        self, file: str, roles: Roles, n_features: int | None, n_documents: int
    ) -> Iterator[RankingData]:
        if format_of(file) == LETOR:
            blocks: Iterable[object] = letor_blocks(file, n_documents, n_features)
        else:
            tables = self._csv if format_of(file) == CSV else self._parquet
            blocks = (documents_of(columns, roles) for columns in tables(file, roles, n_documents))
        with naming(file):
            for block in blocks:
                assert isinstance(block, RankingData)
                yield block

    def _csv(self, file: str, roles: Roles, n_rows: int) -> Iterator[Iterable[TableColumn]]:
        blocks = csv_blocks(file, roles, checked_delimiter(file, self.delimiter), n_rows)
        return (columns for columns, _ in blocks)

    def _parquet(self, file: str, roles: Roles, n_rows: int) -> Iterator[Iterable[TableColumn]]:
        needed = None if roles.features is None else [roles.qid, roles.label or "", *roles.features]
        return parquet_blocks(file, needed, n_rows)


def judged_files(
    paths: AnyPath | Sequence[AnyPath],
    roles: Roles,
    *,
    delimiter: str | None = None,
    n_features: int | None = None,
) -> JudgedFiles:
    """Return the files of paths, of folders of Parquet files, and of patterns such as `part-*.csv`."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = tuple(file for path in given for file in _expanded(path))
    if not files:
        raise InputError("There are no files to read.")
    examples = {format_of(file): file for file in files}
    if len(examples) > 1:
        raise InputError(f"Files of several formats cannot be read together: {brief_list(examples.values())}.")
    return JudgedFiles(files, roles, delimiter, n_features)


def format_of(file: str) -> str:
    """Return the format of a file, which its name says: LETOR text unless it ends with .csv, .tsv or .parquet."""
    return FORMATS.get(Path(file.lower().removesuffix(".gz")).suffix, LETOR)


def whole_queries(blocks: Iterable[RankingData]) -> Iterator[RankingData]:
    """Yield the same documents in blocks that end where a query ends."""
    tail: RankingData | None = None
    for block in blocks:
        joined = block if tail is None else _joined(tail, block)
        n_last = int(
            np.argmin(np.append(joined.qid[::-1] == joined.qid[-1], False))
        )  # documents of the last query
        tail = joined.take(np.arange(len(joined) - n_last, len(joined)))
        if n_last < len(joined):
            yield joined.take(np.arange(len(joined) - n_last))
    if tail is not None:
        yield tail


def _joined(tail: RankingData, block: RankingData) -> RankingData:
    """Return both; query ids are integers in one block and text in the next if only some look like integers."""
    if tail.qid.dtype.kind != block.qid.dtype.kind:
        tail, block = (part._replaced(qid=part.qid.astype(np.str_)) for part in (tail, block))
    return concat(tail, block, shared_queries="merge")


def _expanded(path: AnyPath) -> list[str]:
    name = os.fspath(path)
    if Path(name).is_file():
        return [name]
    if Path(name).is_dir() or format_of(name) == PARQUET:
        return parquet_files(name)
    folder = Path(Path(name).anchor)
    files = sorted(map(str, folder.glob(str(Path(name).relative_to(folder)))))
    if not files:
        raise InputError(f"There is no file {name}.")
    return files


def _fixed(columns: Columns) -> Roles:
    """Return the roles that give the columns the same use again."""
    return Roles(
        label=columns.label,
        qid=columns.qid,
        features=columns.features,
        categorical=columns.categorical,
        dates=columns.dates,
    )
