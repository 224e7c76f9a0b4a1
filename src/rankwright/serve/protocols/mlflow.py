"""MLflow's scoring protocol: `/invocations` with a data frame or a list as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from rankwright.base.errors import InputError
from rankwright.serve.http.exchange import JSON, Decoder, Response
from rankwright.serve.http.request_bodies import Record, Row, Rows, matrix_of, require_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.serve.http.exchange import Exchange
    from rankwright.serve.service import Service


class SplitFrame(Struct):
    """A data frame as pandas' `to_dict("split")` has it."""

    data: Annotated[list[Row], Meta(min_length=1)]
    columns: list[str | int] | None = None
    index: list[Any] | None = None


class Invocation(Struct, forbid_unknown_fields=True):
    """Documents of one query, as exactly one of the four."""

    dataframe_split: SplitFrame | None = None
    dataframe_records: list[Record] | None = None
    instances: Rows | None = None
    inputs: Rows | dict[str, Row] | None = None
    params: dict[str, Any] | None = None


class Predictions(Struct):
    """One score per document."""

    predictions: list[float]


_invocation = Decoder(Invocation)


async def invocations(service: Service, exchange: Exchange) -> Response:
    """Score documents with the first model."""
    require_type(exchange, JSON)
    exchange.query()
    body = await exchange.body()
    service.require_few_lists(body)
    rows, names = _rows(_invocation(body))
    service.require_few(len(rows))
    model = service.models.get()
    scores = await service.scores(exchange, model, matrix_of(rows, names, model))
    return Response.json(Predictions(scores.tolist()))


def _rows(given: Invocation) -> tuple[Sequence[Row | Record], Sequence[str] | None]:
    """Return the documents, and the names of their features if they are lists."""
    forms = (given.dataframe_split, given.dataframe_records, given.instances, given.inputs)
    if sum(form is not None for form in forms) != 1:
        raise InputError("Give one of dataframe_split, dataframe_records, instances and inputs.")
    if given.dataframe_split is not None:
        return _of_split(given.dataframe_split)
    if isinstance(given.inputs, dict):
        return _of_columns(given.inputs), None
    return given.dataframe_records or given.instances or given.inputs or [], None


def _of_split(frame: SplitFrame) -> tuple[Sequence[Row | Record], Sequence[str] | None]:
    """Return the rows of a data frame; as records if they hold text."""
    has_text = any(isinstance(cell, str) for row in frame.data for cell in row)
    numbered = frame.columns is None or all(isinstance(name, int) for name in frame.columns)
    if numbered:  # a frame that was made from an array
        return frame.data, None  # text is refused later
    names = [str(name) for name in frame.columns or ()]
    if not has_text:
        return frame.data, names
    for number, row in enumerate(frame.data):
        if len(row) != len(names):
            raise InputError(f"Row {number} has {len(row)} values, and there are {len(names)} columns.")
    return [dict(zip(names, row, strict=True)) for row in frame.data], None


def _of_columns(columns: dict[str, Row]) -> Sequence[Record]:
    """Return documents that are given as one list per feature."""
    sizes = {len(values) for values in columns.values()}
    if len(sizes) > 1:
        raise InputError("All lists of inputs must have the same number of values.")
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
