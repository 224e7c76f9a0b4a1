"""Bodies of requests, decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from rankwright.errors import InputError
from rankwright.serve import npy
from rankwright.serve.exchange import JSON
from rankwright.serve.features import in_model_order, matrix_of
from rankwright.serve.messages import ExplainRequest, RankRequest, ScoreRequest
from rankwright.serve.refusals import RefusalError

if TYPE_CHECKING:
    from rankwright.arrays import Floats
    from rankwright.serve.exchange import Exchange
    from rankwright.serve.models import ServedModel
    from rankwright.serve.service import Service

R = TypeVar("R", bound=ScoreRequest | RankRequest | ExplainRequest)
T = TypeVar("T")


class Asked(NamedTuple, Generic[R]):
    """A request with its model and the matrix of its documents."""

    request: R
    model: ServedModel
    X: Floats


class Decoder(Generic[T]):
    """Decodes JSON of one type; a body that is not of the type is refused."""

    def __init__(self, kind: type[T]) -> None:
        self.kind = kind
        self._decode = msgspec.json.Decoder(kind).decode

    def __call__(self, body: bytes) -> T:
        try:
            return self._decode(body)
        except msgspec.ValidationError as error:
            raise InputError(f"The body is not as it should be: {error}.") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"The body is not JSON: {error}; a missing value is null, not NaN.") from None


async def read_json(exchange: Exchange, decode: Decoder[T]) -> T:
    """Return the body of a request that must be JSON."""
    require_type(exchange, JSON)
    exchange.query()
    return decode(await exchange.body())


async def read_documents(service: Service, exchange: Exchange, decode: Decoder[R]) -> Asked[R]:
    """Return a request with documents, in JSON or as a matrix in numpy's format."""
    require_type(exchange, JSON, npy.MEDIA_TYPE)
    if exchange.media_type == npy.MEDIA_TYPE:
        return await _read_matrix(service, exchange, decode.kind)
    request = await read_json(exchange, decode)
    model = service.models.get(request.model, request.version)
    service.require_few(len(request.features))
    asked = Asked(request, model, matrix_of(request.features, request.feature_names, model))
    _require_ids(request, len(asked.X))
    return asked


async def _read_matrix(service: Service, exchange: Exchange, kind: type[R]) -> Asked[R]:
    """Return a request whose matrix is the body and whose other parts stand after `?`."""
    fields = [name for name in ("model", "version", "top") if name in kind.__struct_fields__]
    given: dict[str, Any] = dict(exchange.query(*fields))
    try:
        request = msgspec.convert({**given, "features": [[]]}, kind, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"A parameter after ? is not as it should be: {error}.") from None
    model = service.models.get(request.model, request.version)
    X = npy.read_matrix(await exchange.body())
    service.require_few(len(X))
    return Asked(request, model, in_model_order(X, None, model))


def require_type(exchange: Exchange, *known: str) -> None:
    """Refuse a body of another type."""
    if exchange.media_type not in known:
        raise RefusalError(415, f"The body must be {' or '.join(known)}.")


def _require_ids(request: ScoreRequest | RankRequest | ExplainRequest, n_documents: int) -> None:
    ids = getattr(request, "ids", None)
    if ids is not None and len(ids) != n_documents:
        raise InputError(f"There are {n_documents} documents but {len(ids)} ids.")
