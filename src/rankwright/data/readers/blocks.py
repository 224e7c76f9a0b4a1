"""Judged documents in files that may be larger than memory, read block by block."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.files import file_state
from rankwright.base.wording import brief_list
from rankwright.data.categories import Category
from rankwright.data.column_roles import DOCUMENT, Roles
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.readers.csv import checked_delimiter, csv_blocks
from rankwright.data.readers.letor import letor_blocks
from rankwright.data.readers.parquet import folder_columns, parquet_blocks, parquet_files, parquet_schema
from rankwright.data.splitting import concat
from rankwright.data.tables import assigned_columns, documents_of, naming, warned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankwright.base.files import FileState
    from rankwright.data.column_roles import Columns
    from rankwright.data.tables import TableColumn

    AnyPath = str | os.PathLike[str]

D = TypeVar("D", bound=Documents)

FIRST_DOCUMENTS = 1 << 14  # which decide on the features
CATEGORY_ROWS = 1 << 16  # whose categories are counted at a time
BLOCK_VALUES = 1 << 22  # of features in the blocks that are read: 16 MiB, so that few are in memory at once
LETOR, CSV, PARQUET = "LETOR", "CSV", "Parquet"
FORMATS = {".csv": CSV, ".tsv": CSV, ".parquet": PARQUET}


@dataclass(frozen=True)
class JudgedFiles:
    """Files of documents with the same features, in one format, judged if iterated.

    Iterating reads all of them in order and yields blocks of documents, which end where a query ends: documents of
    a query that follow each other are in one block, even where they are in different files. The first block
    decides which columns are features. A file that changed since the first block was read is refused.

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
    counts_categories
        Whether categories are those of all files, whose columns are then read once more, or those of each block.
    partitioned
        Whether folders of Parquet files that are called `market=de` and so on give columns.
    """

    files: tuple[str, ...]
    roles: Roles
    delimiter: str | None = None
    n_features: int | None = None
    counts_categories: bool = False
    partitioned: bool = False

    @cached_property
    def first(self) -> Documents:
        """The first block of the first file that has documents; files whose columns differ are refused."""
        self._require_equal_columns()
        for file in self.files:
            for block in self._blocks_of(file, self.roles, self.n_features, FIRST_DOCUMENTS):
                return warned(block)
        raise InputError(f"{brief_list(self.files)}: there are no documents.")

    @cached_property
    def categories(self) -> dict[str, Category]:
        """The categories of all files by column, if they are counted."""
        columns = self.first.columns
        counts: dict[str, Counter[str]] = {name: Counter() for name in columns.categorical} if columns else {}
        if not (self.counts_categories and columns and counts):
            return {}
        roles = replace(_fixed(columns), label=None)
        for file in self.files:
            with self._unchanged(file):
                for table in self._tables(file, roles, CATEGORY_ROWS, list(counts)):
                    for column in table:
                        if column.name in counts:
                            counts[column.name].update(text for text in column.texts() if text is not None)
                            Category.of_counts(column.name, counts[column.name])  # refuses a column of too many
        return {name: Category.of_counts(name, counts[name]) for name in counts}

    def __iter__(self) -> Iterator[RankingData]:
        for block in whole_queries(self.blocks()):
            assert isinstance(block, RankingData)
            yield block

    def blocks(self) -> Iterator[Documents]:
        """Yield blocks that end anywhere; their labels are read if the roles name a column of labels."""
        return read_ahead(self._blocks())

    def _blocks(self) -> Iterator[Documents]:
        columns, n_features = self.first.columns, self.first.n_features
        roles = self.roles if columns is None else replace(_fixed(columns), show=self.roles.show)
        n_documents = max(1, BLOCK_VALUES // max(1, n_features))
        for file in self.files:
            for block in self._blocks_of(file, roles, n_features, n_documents, self.categories):
                if _features_of(block) != _features_of(self.first):
                    raise InputError(f"{file} has other features than {self.files[0]}.")
                yield block

    def _blocks_of(
        self,
        file: str,
        roles: Roles,
        n_features: int | None,
        n_documents: int,
        known: Mapping[str, Category] | None = None,
    ) -> Iterator[Documents]:
        if format_of(file) == LETOR:
            blocks: Iterable[Documents] = letor_blocks(
                file, n_documents, n_features, judged=roles.label is not None
            )
        else:
            needed = None
            if roles.features is not None:
                needed = [roles.qid, roles.label or "", roles.docid or DOCUMENT, *roles.features, *roles.show]
                needed += [*roles.drop, *roles.categorical, *roles.dates]
            tables = self._tables(file, roles, n_documents, needed)
            blocks = (documents_of(columns, roles, known=known) for columns in tables)
        with self._unchanged(file):
            yield from blocks

    def _tables(
        self, file: str, roles: Roles, n_rows: int, needed: list[str] | None
    ) -> Iterator[Iterable[TableColumn]]:
        """Yield the columns of a file in blocks; of a Parquet file only those that are needed."""
        if format_of(file) == PARQUET:
            return parquet_blocks(file, needed, n_rows, self._folders)
        blocks = csv_blocks(file, roles, checked_delimiter(file, self.delimiter), n_rows)
        return (columns for columns, _ in blocks)

    def _require_equal_columns(self) -> None:
        """Refuse files with other columns than the first, which would be left out, unless features are given."""
        first, *others = self.files
        if format_of(first) == LETOR:
            return
        expected = self._features_by_type(first)
        if self.roles.features is not None:
            return
        for file in others:
            if odd := expected.items() ^ self._features_by_type(file).items():
                names = brief_list(sorted({name for name, _ in odd}))
                hint = f"name those to learn from in {parameter('features')}"
                raise InputError(f"{file} and {first} differ in the columns {names}; {hint}.")

    def _features_by_type(self, file: str) -> dict[str, bool]:
        """Return for each column of a table whether it would be a feature by its name and type."""
        with self._unchanged(file):
            if format_of(file) == PARQUET:
                columns = parquet_schema(file, self._folders)
            else:
                delimiter = checked_delimiter(file, self.delimiter)
                columns, n_rows = next(csv_blocks(file, self.roles, delimiter, FIRST_DOCUMENTS))
                if n_rows == 0:
                    raise InputError("The table has no rows.")
            features = assigned_columns(columns, self.roles).features
        return {column.name: column.name in features for column in columns}

    @cached_property
    def _folders(self) -> Any:
        return folder_columns(self.files) if self.partitioned else None

    @cached_property
    def _states(self) -> dict[str, FileState]:
        return {file: file_state(Path(file)) for file in self.files}

    @contextmanager
    def _unchanged(self, file: str) -> Iterator[None]:
        """Name the file in errors, and refuse it if it is not as it was when the first was read."""
        before = self._states[file]
        with naming(file):
            yield
        if file_state(Path(file)) != before:
            raise InputError(f"{file} changed while it was read.")

    def with_all_features(self) -> JudgedFiles:
        """Return the same files of LETOR text with the features up to the highest in any of them."""
        blocks = (block for file in self.files for block in self._blocks_of(file, self.roles, None, 1))
        return replace(self, n_features=max(block.n_features for block in blocks))


def judged_files(
    paths: AnyPath | Sequence[AnyPath],
    roles: Roles,
    *,
    delimiter: str | None = None,
    n_features: int | None = None,
    counts_categories: bool = False,
) -> JudgedFiles:
    """Return the files of paths, of folders of Parquet files, and of patterns such as `part-*.csv`."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = tuple(file for path in given for file in expanded(path))
    if not files:
        raise InputError("There are no files to read.")
    for file, times in Counter(map(os.path.realpath, files)).items():
        if times > 1:  # its documents would count twice
            raise InputError(f"{file} is given more than once.")
    examples = {format_of(file): file for file in files}
    if len(examples) > 1:
        raise InputError(f"Files of several formats cannot be read together: {brief_list(examples.values())}.")
    partitioned = len(files) > 1 or not Path(given[0]).is_file()  # as `read_parquet` has it
    return JudgedFiles(files, roles, delimiter, n_features, counts_categories, partitioned)


def format_of(file: str) -> str:
    """Return the format of a file, which its name says: LETOR text unless it ends with .csv, .tsv or .parquet."""
    return FORMATS.get(Path(file.lower().removesuffix(".gz")).suffix, LETOR)


def whole_queries(blocks: Iterable[D]) -> Iterator[D]:
    """Yield the same documents in blocks that end where a query ends."""
    tail: D | None = None  # of the last query, which may go on in the next block
    for block in blocks:
        starts = np.flatnonzero(np.append(True, block.qid[1:] != block.qid[:-1]))
        first, last = 0, int(starts[-1])
        if tail is not None and str(tail.qid[-1]) == str(block.qid[0]):
            first = len(block) if len(starts) == 1 else int(starts[1])
            tail = _joined(tail, block.between(0, first))
        if first < len(block):
            if tail is not None:
                yield tail
            if first < last:
                yield block.between(first, last)
            tail = block.between(last, len(block))
    if tail is not None:
        yield tail


def read_ahead(blocks: Iterator[D]) -> Iterator[D]:
    """Yield the same blocks; another thread reads the next one meanwhile."""
    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = thread.submit(next, blocks, None)
            yield block


def _joined(tail: D, block: D) -> D:
    """Return both; query ids are integers in one block and text in the next if only some look like integers."""
    if tail.qid.dtype.kind != block.qid.dtype.kind:
        tail, block = (part._replaced(qid=part.qid.astype(np.str_)) for part in (tail, block))
    return concat(tail, block, shared_queries="merge")


def expanded(path: AnyPath) -> list[str]:
    """Return the files that a path or a pattern names."""
    name = os.fspath(path)
    if Path(name).is_file():
        return [name]
    if Path(name).is_dir() and next(Path(name).rglob("*.parquet"), None) is None:
        raise InputError(f"{name} holds no .parquet files; name others by a pattern, such as '{name}/*.csv'.")
    if Path(name).is_dir() or format_of(name) == PARQUET:
        return parquet_files(name)
    folder = Path(Path(name).anchor)
    named = [file for file in folder.glob(str(Path(name).relative_to(folder))) if not file.name.startswith(".")]
    files = sorted(map(str, named))
    if not files:
        raise InputError(f"There is no file {name}.")
    return files


def _features_of(block: Documents) -> tuple[str, ...] | None:
    """Return the columns that became features; columns of categories become others in every block."""
    return block.feature_names if block.columns is None else block.columns.features


def _fixed(columns: Columns) -> Roles:
    """Return the roles that give the columns the same use again."""
    return Roles(
        label=columns.label,
        qid=columns.qid,
        docid=columns.docid,
        features=columns.features,
        categorical=columns.categorical,
        dates=columns.dates,
    )
