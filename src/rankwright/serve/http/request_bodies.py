"""Request bodies: decoding, limits, and the features of the documents as the matrix that a model takes."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from struct import error as struct_error
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec
import numpy as np

from rankwright import _native
from rankwright.base.arrays import checked_features
from rankwright.base.errors import InputError
from rankwright.data.alignment import columns_by_name
from rankwright.data.readers.frame_columns import text_of
from rankwright.serve.http.exchange import JSON, Decoder, RefusalError
from rankwright.serve.models.loaded_models import for_other_model, in_model_order, new_columns, require_names
from rankwright.serve.models.monitoring import count_levels
from rankwright.serve.protocols import npy
from rankwright.serve.protocols.messages import AfterAddress, ExplainRequest, RankRequest, ScoreRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats
    from rankwright.data.categories import Category
    from rankwright.serve.http.exchange import Exchange
    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.service import Service

R = TypeVar("R", bound=ScoreRequest | RankRequest | ExplainRequest)
T = TypeVar("T")
AFTER = ("model", "version", "top", "interleave")
LONG_BODY = 1 << 20  # bytes, decoded in some milliseconds; longer bodies are decoded in a thread
NO_DOCUMENTS = msgspec.Raw(b"[]")  # for a request whose body is a matrix
OF_CURL = "application/x-www-form-urlencoded"  # what curl says about the body after -d


class Asked(NamedTuple, Generic[R]):
    """A request with its model, its documents as they were sent, and their matrix."""

    request: R
    model: ServedModel
    documents: Floats | Rows
    X: Floats

    def matrix_for(self, other: ServedModel) -> Floats:
        """Return the matrix for another model, whose new features the request may have."""
        if not new_columns(self.model, other):
            return for_other_model(self.X, self.model, other)
        names = self.request.feature_names
        if names is None and not (isinstance(self.documents, list) and isinstance(self.documents[0], dict)):
            names = list(self.model.names)
        return matrix_of(self.documents, names, other)


async def read_json(exchange: Exchange, decode: Decoder[T]) -> T:
    """Return the body of a request that must be JSON."""
    require_type(exchange, JSON)
    exchange.query()
    return decode(await exchange.body())


async def read_documents(
    service: Service, exchange: Exchange, decode: Decoder[R], *, scored: bool = True
) -> Asked[R]:
    """Return a request with documents, in JSON or as a matrix in numpy's format.

    Other parameters are in the JSON or in the query string; with a matrix, in the query string only.
    Unusual values are counted only of documents that are `scored`.
    """
    require_type(exchange, JSON, npy.MEDIA_TYPE)
    after = read_address(exchange, *(name for name in AFTER if name in decode.kind.__struct_fields__))
    body = await exchange.body()
    if exchange.media_type == npy.MEDIA_TYPE:
        request = decode.kind(NO_DOCUMENTS, **after)
        model = service.models.get(request.model, request.version)
        X = npy.read_matrix(body)
        service.require_few(len(X))
        return Asked(request, model, X, in_model_order(X, None, model))
    if len(body) > LONG_BODY:
        given, documents = await service.in_thread(_decoded, service, decode, body)
    else:
        given, documents = _decoded(service, decode, body)
    request = _joined(given, after)
    model = service.models.get(request.model, request.version)
    service.require_few(len(documents))
    X = matrix_of(documents, request.feature_names, model, scored=scored)
    _require_ids(request, len(X))
    return Asked(request, model, documents, X)


def _decoded(service: Service, decode: Decoder[R], body: bytes) -> tuple[R, Floats | Rows]:
    """Return a request in JSON and its documents."""
    service.require_few_lists(body)
    request = decode(body)
    return request, documents_in(request.features)


def read_address(exchange: Exchange, *known: str) -> dict[str, Any]:
    """Return the parameters of the query string, converted to the types of `AfterAddress`."""
    given = exchange.query(*known)
    if not given:
        return {}
    try:
        read = msgspec.convert(given, AfterAddress, strict=False)
    except msgspec.ValidationError as error:
        raise RefusalError(400, f"A parameter after ? is invalid: {error}.") from None
    return {name: getattr(read, name) for name in given}


def _joined(request: R, after: dict[str, Any]) -> R:
    for name, value in after.items():
        if getattr(request, name) is not None:
            raise InputError(f"{name} is given in the body and after ?; give it once.")
        setattr(request, name, value)
    return request


def require_type(exchange: Exchange, *known: str) -> None:
    """Refuse a body of another media type."""
    if exchange.media_type not in known:
        given = f"not {exchange.media_type[:60]}" if exchange.media_type else "and Content-Type must say so"
        hint = "; with curl, give --json instead of -d" if exchange.media_type == OF_CURL else ""
        raise RefusalError(415, f"The body must be {' or '.join(known)}, {given}{hint}.")


def _require_ids(request: ScoreRequest | RankRequest | ExplainRequest, n_documents: int) -> None:
    ids = getattr(request, "ids", None)
    if ids is not None and len(ids) != n_documents:
        raise InputError(f"There are {n_documents} documents but {len(ids)} ids.")


# Anything that JSON has, so that the refusal of a value can name its feature; integers become floats.
Value: TypeAlias = float | bool | str | list[Any] | dict[str, Any] | None
Row: TypeAlias = list[Value]
Record: TypeAlias = dict[str, Value]
Rows: TypeAlias = list[Row | Record]


class _Given(msgspec.Struct):
    """The part of a request that holds the documents, so that messages name the same field."""

    features: Rows


_decode = Decoder(_Given)


def documents_in(text: msgspec.Raw) -> Floats | Rows:
    """Return the documents in JSON: lists of numbers as a matrix, anything else as lists and objects.

    Most documents are lists of numbers, and decoding takes most of the time of a request: the core reads such
    lists without an object per number.
    """
    matrix = _native.read_json_matrix(np.frombuffer(text, np.uint8))
    return _decode(b'{"features":' + bytes(text) + b"}").features if matrix is None else matrix


def matrix_of(
    rows: Floats | Sequence[Row | Record], names: Sequence[str] | None, model: ServedModel, *, scored: bool = True
) -> Floats:
    """Return the features of documents that are given as a matrix, as lists or as objects with names.

    Lists are in the order of `names`, or else in the order of the model. Features that the model does not have are
    ignored; a feature that a document does not have is missing.
    """
    if isinstance(rows, np.ndarray):
        return in_model_order(rows, names, model)
    if not rows:
        raise InputError("There are no documents: features must have at least one row.")
    if isinstance(rows[0], dict):
        return _of_records(rows, names, model, scored=scored)
    return in_model_order(lists_as_matrix(rows, names or model.names), names, model)


def lists_as_matrix(rows: Sequence[Any], names: Sequence[str] = ()) -> Floats:
    """Return lists as a matrix; `names` are those of the columns, for messages."""
    width = len(rows[0])
    try:
        pack = _packer(width)
        return np.frombuffer(b"".join([pack(*row) for row in rows]), np.float32).reshape(len(rows), width)
    except (struct_error, OverflowError, TypeError):  # a missing or an invalid value
        return _of_other_lists(rows, width, names)


@lru_cache(maxsize=64)
def _packer(width: int) -> Callable[..., bytes]:
    return Struct(f"={width}f").pack  # with =, too large a number is an error


def _of_other_lists(rows: Sequence[Any], width: int, names: Sequence[str]) -> Floats:
    for number, row in enumerate(rows):
        if not isinstance(row, list):
            raise InputError(f"Row {number} of features is no list, and the first is; give all in one form.")
        if len(row) != width:
            raise InputError(f"Row {number} of features has {len(row)} numbers, and the first row {width}.")
        for column, value in enumerate(row):
            _require_number(value, names[column] if column < len(names) else str(column + 1), number)
    return checked_features(np.array(rows, np.float64), allow_infinite=True)  # JSON has no infinite numbers


def _require_number(value: Value, name: str, document: int) -> None:
    if isinstance(value, str | list | dict):
        given = "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
        raise InputError(f"Feature {name!r} of document {document} must be a number, not {given}.")


def _of_records(rows: Sequence[Any], names: Sequence[str] | None, model: ServedModel, *, scored: bool) -> Floats:
    if model.scorer.feature_names is None:
        raise InputError(
            f"The model {model.source.reference} has no names of features: give each document as a list of "
            f"{model.scorer.n_features} numbers."
        )
    if names is not None:
        raise InputError("feature_names are for documents that are lists; these have names of their own.")
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InputError(f"Row {number} of features is no object, and the first is; give all in one form.")
    require_names({name: None for row in rows for name in row}, model.columns, model)
    records = _Records(rows, model.columns)
    X = columns_by_name(records, model.scorer)
    for levels in records.levels if scored else ():  # when no document can be refused any more
        count_levels(model, *levels)
    return X


class _Records:
    """Objects with named features as the columns of a model; absent features are missing."""

    def __init__(self, rows: Sequence[Record], columns: Sequence[str]) -> None:
        self._rows = rows
        self.columns = columns
        self.levels: list[tuple[Category, list[str | None], NDArray[np.int64]]] = []

    def numbers(self, name: str) -> NDArray[Any]:
        values = [row.get(name) for row in self._rows]
        for number, value in enumerate(values):
            _require_number(value, name, number)
        return np.array(values, np.float64)

    def codes(self, category: Category) -> NDArray[np.int64]:
        texts: list[str | None] = []
        for number, row in enumerate(self._rows):
            value = row.get(category.name)
            if isinstance(value, list | dict):
                raise InputError(f"Feature {category.name!r} of document {number} must be text or a number.")
            texts.append(_category_text(value, category))
        codes = category.codes(texts)
        self.levels.append((category, texts, codes))
        return codes


def _category_text(value: float | bool | str | None, category: Category) -> str | None:
    """Return a category as text, as in training; true is "True" in a data frame and "true" in many files."""
    if isinstance(value, bool) and str(value) not in category.values:
        return str(value).lower()
    return None if value is None else text_of(value)
