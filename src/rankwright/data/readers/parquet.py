"""Documents from Parquet files."""

from __future__ import annotations

from contextlib import contextmanager
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.wording import brief_list
from rankwright.data.column_roles import LABEL, QUERY, ColumnOptions, Roles
from rankwright.data.readers.frame_columns import columns_of
from rankwright.data.tables import documents_of, first_line, naming, warned

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from os import PathLike

    from rankwright.data.dataset import Documents, RankingData
    from rankwright.data.tables import TableColumn


@overload
def read_parquet(
    path: str | PathLike[str], *, label: str = ..., **options: Unpack[ColumnOptions]
) -> RankingData: ...
@overload
def read_parquet(
    path: str | PathLike[str], *, label: str | None, **options: Unpack[ColumnOptions]
) -> Documents: ...
def read_parquet(
    path: str | PathLike[str],
    *,
    label: str | None = LABEL,
    qid: str = QUERY,
    docid: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Sequence[str] = (),
    show: Sequence[str] = (),
) -> Documents:
    """Read documents from a Parquet file, or from several with the same columns; needs pyarrow.

    `path` may be a folder, of which all files that end with .parquet are read, or a pattern such as
    `clicks/*/part-*.parquet`. Folders called `market=de` and so on give a column `market`.

    The other parameters and the result are those of `from_pandas`.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"qid": ["hats", "hats"], "label": [1, 0], "bm25": [3.1, 2.0]})
    >>> frame.to_parquet("judged.parquet")
    >>> rw.read_parquet("judged.parquet").feature_names
    ('bm25',)
    """
    roles = Roles(label, qid, docid, features, drop, categorical, dates, show)
    with naming(path, several=True):
        return warned(documents_of(parquet_columns(path), roles))


def parquet_columns(path: str | PathLike[str]) -> Iterator[TableColumn]:
    """Return the columns of a file, or of all files of a folder or a pattern."""
    with _readable(path) as parquet:
        if Path(path).is_file():
            return columns_of(parquet.ParquetFile(path).read())
        dataset = import_module("pyarrow.dataset")  # which imports pandas
        files = dataset.dataset(
            parquet_files(path), format="parquet", partitioning=dataset.partitioning(flavor="hive")
        )
        _require_equal_columns(files)
        return columns_of(files.to_table())


def parquet_blocks(
    path: str | PathLike[str], columns: Sequence[str] | None, n_rows: int, folders: Any = None
) -> Iterator[Iterator[TableColumn]]:
    """Yield the columns of a file that are named or match a pattern, or all, in blocks of at most `n_rows`.

    `folders` are the columns that the names of folders give, those of `folder_columns`.
    """
    with _readable(path) as parquet:
        file = parquet.ParquetFile(path, pre_buffer=True)
        of_folders = _values_of_folders(path, folders)
        names = [*(name for name in file.schema_arrow.names if name not in of_folders), *of_folders]
        if columns is not None:
            names = [name for name in names if name in columns or any(fnmatchcase(name, each) for each in columns)]
        for group in range(file.num_row_groups):  # a whole one on several threads, which batches are not
            table = file.read_row_group(group, columns=[name for name in names if name not in of_folders])
            table = _with_constants(table, of_folders, names)
            for first in range(0, len(table), n_rows):
                yield columns_of(table.slice(first, n_rows))


def parquet_schema(path: str | PathLike[str], folders: Any = None) -> list[TableColumn]:
    """Return the columns of a file without their values."""
    with _readable(path) as parquet:
        of_folders = _values_of_folders(path, folders)
        table = parquet.read_schema(path).empty_table()
        own = table.drop_columns([name for name in table.column_names if name in of_folders])
        return list(columns_of(_with_constants(own, of_folders, of_folders)))


def folder_columns(files: Sequence[str]) -> Any:
    """Return the columns that folders called `market=de` and so on give, as pyarrow's schema, if there are any.

    All files together decide a column's type: what is a number in some names is text if it is text in others.
    """
    if not any("=" in str(Path(file).parent) for file in files):
        return None
    with _readable(files[0]):
        dataset = import_module("pyarrow.dataset")
        hive = dataset.partitioning(flavor="hive")
        return dataset.dataset(list(files), format="parquet", partitioning=hive).partitioning.schema


def _values_of_folders(path: str | PathLike[str], folders: Any) -> dict[str, Any]:
    """Return a file's values of the columns that folders give, as pyarrow's scalars."""
    if folders is None:
        return {}
    pyarrow, dataset = import_module("pyarrow"), import_module("pyarrow.dataset")
    named = dataset.partitioning(folders, flavor="hive").parse(str(path))
    values = dataset.get_partition_keys(named)
    return {column.name: pyarrow.scalar(values.get(column.name), column.type) for column in folders}


def _with_constants(table: Any, constants: dict[str, Any], names: Collection[str]) -> Any:
    """Return the table with those columns of one value that are named."""
    for name, value in constants.items():
        if name in names:
            table = table.append_column(name, import_module("pyarrow").repeat(value, len(table)))
    return table


@contextmanager
def _readable(path: str | PathLike[str]) -> Iterator[Any]:
    """Give pyarrow's reader; turn its errors about a file into sentences."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingPackageError(
            "Reading a Parquet file needs pyarrow: pip install 'rankwright[pyarrow]'."
        ) from None
    try:
        yield parquet
    except InputError:
        raise
    except (ValueError, TypeError, NotImplementedError) as error:
        raise InputError(f"{path} is not a readable Parquet file: {first_line(error)}") from None


def parquet_files(path: str | PathLike[str]) -> list[str]:
    """Return the files of a folder, without hidden and temporary ones, or of a pattern, in order."""
    pattern = Path(path)
    if pattern.is_dir():
        files = [file for file in pattern.rglob("*.parquet") if not _is_hidden(file.relative_to(pattern))]
        if not files:
            raise InputError(f"{path} holds no file that ends with .parquet.")
    else:
        files = [*Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor)))]
        if not files:
            raise InputError(f"There is no file {path}.")
    return sorted(map(str, files))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts)


def _require_equal_columns(files: Any) -> None:
    """Refuse files with other columns than the first, which would be left out or filled with missing values."""
    first, *others = files.get_fragments()
    for file in others:
        if odd := set(file.physical_schema.names).symmetric_difference(first.physical_schema.names):
            raise InputError(f"{file.path} and {first.path} differ in the columns {brief_list(sorted(odd))}.")
