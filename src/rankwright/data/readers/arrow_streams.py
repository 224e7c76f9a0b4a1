"""Tables that come as Arrow streams, read batch by batch into one matrix of features.

A stream's batches are released as soon as they are read, and the matrix grows in place: at no time are there two
copies of the features.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import MissingPackageError
from rankwright.data.readers.frame_columns import MatrixColumn, columns_of
from rankwright.data.tables import FilledMatrix, assigned_columns

if TYPE_CHECKING:
    from rankwright.base.arrays import Floats
    from rankwright.data.column_roles import Roles
    from rankwright.data.tables import TableColumn

GROWTH = 16  # the matrix grows by a sixteenth: new memory is filled with zeros, so more of it would be used


def is_stream(frame: Any) -> bool:
    """Return whether a frame is only to be had as a stream, as a relation of DuckDB, and is no table in memory."""
    in_memory = ("iloc", "get_columns", "to_batches")  # of pandas, polars and pyarrow
    return hasattr(frame, "__arrow_c_stream__") and not any(hasattr(frame, name) for name in in_memory)


def stream_columns(frame: Any, roles: Roles) -> tuple[list[TableColumn], FilledMatrix]:
    """Return the columns of a stream, and the matrix of those of its features that are numbers."""
    try:
        arrow = import_module("pyarrow")
    except ModuleNotFoundError:
        raise MissingPackageError(
            f"Reading a {type(frame).__name__} needs pyarrow: pip install 'rankwright[pyarrow]'."
        ) from None
    reader = arrow.RecordBatchReader.from_stream(frame)
    use = assigned_columns(columns_of(reader.schema.empty_table()), roles)
    names = [name for name in use.features if name not in (*use.categorical, *use.dates)]
    only_in_matrix = {name for name in names if reader.schema.field(name).type == arrow.float32()}
    others = [name for name in reader.schema.names if name not in only_in_matrix]
    pieces: dict[str, list[Any]] = {name: [] for name in others}
    X, n_rows = np.empty((0, len(names)), dtype=np.float32), 0
    for batch in reader:
        X = _with_room(X, n_rows + len(batch))
        table = arrow.Table.from_batches([batch])
        with np.errstate(over="ignore"):  # Documents refuses numbers that float32 cannot hold
            for position, column in enumerate(columns_of(table.select(names))):
                X[n_rows : n_rows + len(batch), position] = column.numbers()
        for name in others:  # copied, since a part of a batch keeps all of it in memory
            array = batch.column(name)
            pieces[name].append(arrow.concat_arrays([array.slice(0, 0), array]))
        n_rows += len(batch)
    X.resize((n_rows, len(names)), refcheck=False)
    types = {name: reader.schema.field(name).type for name in others}
    rest = arrow.table({name: arrow.chunked_array(pieces[name], types[name]) for name in others})
    by_name = {column.name: column for column in columns_of(rest)}
    by_name |= {name: MatrixColumn(name, X[:, names.index(name)]) for name in only_in_matrix}
    return [by_name[name] for name in reader.schema.names], FilledMatrix(tuple(names), X)


def _with_room(X: Floats, n_rows: int) -> Floats:
    """Return the matrix with at least that many rows; nothing else may refer to its memory."""
    if n_rows > len(X):
        X.resize((max(n_rows, len(X) + len(X) // GROWTH), X.shape[1]), refcheck=False)
    return X
