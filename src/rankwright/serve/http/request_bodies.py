"""Request bodies: decoding, limits and invalid input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from rankwright.base.errors import InputError
from rankwright.serve.http.exchange import JSON, Decoder, RefusalError
from rankwright.serve.protocols import npy
from rankwright.serve.protocols.messages import AfterAddress, ExplainRequest, RankRequest, ScoreRequest
from rankwright.serve.protocols.request_features import documents_in, in_model_order, matrix_of

if TYPE_CHECKING:
    from rankwright.base.arrays import Floats
    from rankwright.serve.http.exchange import Exchange
    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.protocols.request_features import Rows
    from rankwright.serve.service import Service

R = TypeVar("R", bound=ScoreRequest | RankRequest | ExplainRequest)
T = TypeVar("T")
AFTER = ("model", "version", "top")
LONG_BODY = 1 << 20  # bytes, some milliseconds: less than that is decoded before other requests go on
NO_DOCUMENTS = msgspec.Raw(b"[]")  # for a request whose body is a matrix
# Up to the next list or object that is not part of a string; without a way back, so that it takes linear time.
_NEXT_LIST = re.compile(rb'(?:[^"\[{]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+[\[{]', re.DOTALL)
OF_CURL = "application/x-www-form-urlencoded"  # what it says about the body after -d


class Asked(NamedTuple, Generic[R]):
    """A request with its model and the matrix of its documents."""

    request: R
    model: ServedModel
    X: Floats


async def read_json(exchange: Exchange, decode: Decoder[T]) -> T:
    """Return the body of a request that must be JSON."""
    require_type(exchange, JSON)
    exchange.query()
    return decode(await exchange.body())


async def read_documents(service: Service, exchange: Exchange, decode: Decoder[R]) -> Asked[R]:
    """Return a request with documents, in JSON or as a matrix in numpy's format.

    What else belongs to the request may stand after `?`; beside a matrix there is no other place.
    """
    require_type(exchange, JSON, npy.MEDIA_TYPE)
    after = read_address(exchange, *(name for name in AFTER if name in decode.kind.__struct_fields__))
    body = await exchange.body()
    if exchange.media_type == npy.MEDIA_TYPE:
        request = decode.kind(NO_DOCUMENTS, **after)
        model = service.models.get(request.model, request.version)
        X = npy.read_matrix(body)
        service.require_few(len(X))
        return Asked(request, model, in_model_order(X, None, model))
    if len(body) > LONG_BODY:
        given, documents = await service.in_thread(_decoded, service, decode, body)
    else:
        given, documents = _decoded(service, decode, body)
    request = _joined(given, after)
    model = service.models.get(request.model, request.version)
    service.require_few(len(documents))
    X = matrix_of(documents, request.feature_names, model)
    _require_ids(request, len(X))
    return Asked(request, model, X)


def _decoded(service: Service, decode: Decoder[R], body: bytes) -> tuple[R, Floats | Rows]:
    """Return a request in JSON and its documents."""
    service.require_few_lists(body)
    request = decode(body)
    return request, documents_in(request.features)


def read_address(exchange: Exchange, *known: str) -> dict[str, Any]:
    """Return what stands after `?`, converted to the types of `AfterAddress`."""
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
    """Refuse a body of another type."""
    if exchange.media_type not in known:
        given = f"not {exchange.media_type[:60]}"
        hint = "; with curl, give --json instead of -d" if exchange.media_type == OF_CURL else ""
        raise RefusalError(415, f"The body must be {' or '.join(known)}, {given}{hint}.")


def _require_ids(request: ScoreRequest | RankRequest | ExplainRequest, n_documents: int) -> None:
    ids = getattr(request, "ids", None)
    if ids is not None and len(ids) != n_documents:
        raise InputError(f"There are {n_documents} documents but {len(ids)} ids.")


def has_more_lists(text: bytes, most: int) -> bool:
    """Return whether there are more than so many lists and objects in JSON."""
    if text.count(b"[") + text.count(b"{") <= most:
        return False
    position = 0
    for _ in range(most + 1):
        match = _NEXT_LIST.match(text, position)
        if match is None:
            return False
        position = match.end()
    return True
