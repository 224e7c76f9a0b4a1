"""The Open Inference Protocol, version 2, as KServe, Triton and MLServer speak it.

A model has one input `features` (documents x features) and the outputs `scores` and, if asked for, `ranks`. With
feature names it also takes one input per feature. Tensors may follow the JSON as bytes (Triton's extension
`binary_tensor_data`); outputs are always JSON.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from rankwright.base.arrays import checked_features
from rankwright.base.errors import InputError
from rankwright.base.version import __version__
from rankwright.serve.http import health
from rankwright.serve.http.exchange import JSON, Decoder, Response
from rankwright.serve.http.request_bodies import lists_as_matrix, require_type
from rankwright.serve.models.loaded_models import in_model_order, order_of
from rankwright.serve.protocols.messages import Positive  # noqa: TC001  # msgspec reads annotations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.serve.http.exchange import Exchange
    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.service import Service

FEATURES, SCORES, RANKS = "features", "scores", "ranks"
PLATFORM = "rankwright"
JSON_SIZE = b"inference-header-content-length"
MAX_DIGITS = 18  # of a number of bytes
Datatype: TypeAlias = Literal[
    "FP16", "FP32", "FP64", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"
]
KINDS = {"F": "f", "I": "i", "U": "u"}  # numpy's, by the first letter of a datatype


class TensorParameters(Struct):
    """What may be said of a tensor; only `binary_data_size` matters here."""

    binary_data_size: Positive | None = None


class InputTensor(Struct):
    """A tensor of features: documents x features, or the values of one feature."""

    name: str
    shape: Annotated[list[Positive], Meta(min_length=1, max_length=2)]
    datatype: Datatype
    data: list[float | list[float | None] | None] | None = None
    parameters: TensorParameters | None = None


class RequestedOutput(Struct):
    """An output that is asked for: `scores` or `ranks`."""

    name: str
    parameters: dict[str, Any] | None = None


class InferRequest(Struct):
    """Documents of one query to score."""

    inputs: Annotated[list[InputTensor], Meta(min_length=1)]
    id: str | None = None
    outputs: list[RequestedOutput] | None = None
    parameters: dict[str, Any] | None = None


class OutputTensor(Struct):
    """One number per document."""

    name: str
    shape: list[int]
    datatype: str
    data: list[int | float]


class InferResponse(Struct, omit_defaults=True):
    """Scores, or ranks from 1."""

    model_name: str
    model_version: str
    outputs: list[OutputTensor]
    id: str | UnsetType = UNSET


class TensorFacts(Struct):
    """What a tensor must be; -1 is any number of documents."""

    name: str
    datatype: str
    shape: list[int]


class ModelMetadata(Struct):
    """Inputs and outputs of a model."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorFacts]
    outputs: list[TensorFacts]


class ServerMetadata(Struct):
    """The service."""

    name: str
    version: str
    extensions: list[str]


class ServerLive(Struct):
    """Whether the service is alive."""

    live: bool


class ServerReady(Struct):
    """Whether the service takes requests."""

    ready: bool


class ModelReady(Struct):
    """Whether a model can be used."""

    name: str
    ready: bool


_infer_request = Decoder(InferRequest)


async def server(_service: Service, exchange: Exchange) -> Response:
    """Describe the service."""
    exchange.query()
    return Response.json(ServerMetadata("rankwright", __version__, ["binary_tensor_data"]))


async def live(_service: Service, exchange: Exchange) -> Response:
    """Answer that the process is alive."""
    exchange.query()
    return Response.json(ServerLive(live=True))


async def ready(service: Service, exchange: Exchange) -> Response:
    """Answer whether the service takes requests."""
    await health.ready(service, exchange)
    return Response.json(ServerReady(ready=True))


async def metadata(service: Service, exchange: Exchange, model: str, version: str | None = None) -> Response:
    """Describe a model."""
    exchange.query()
    served = service.models.get(model, version)
    name = served.source.name
    inputs = [TensorFacts(FEATURES, "FP32", [-1, served.scorer.n_features])]
    outputs = [TensorFacts(SCORES, "FP64", [-1]), TensorFacts(RANKS, "INT64", [-1])]
    return Response.json(ModelMetadata(name, service.models.versions(name), PLATFORM, inputs, outputs))


async def model_ready(service: Service, exchange: Exchange, model: str, version: str | None = None) -> Response:
    """Answer that a model is in service; an unknown model is not found (404)."""
    exchange.query()
    return Response.json(ModelReady(service.models.get(model, version).source.name, ready=True))


async def infer(service: Service, exchange: Exchange, model: str, version: str | None = None) -> Response:
    """Score documents."""
    exchange.query()
    served = service.models.get(model, version)
    request, X = await _read(service, exchange, served)
    wanted = [SCORES] if not request.outputs else [output.name for output in request.outputs]
    for name in wanted:
        if name not in (SCORES, RANKS):
            raise InputError(f"There is no output {name[:60]!r}; there are {SCORES} and {RANKS}.")
    scores = await service.scores(exchange, served, X)
    outputs = [_output(name, scores) for name in wanted]
    given = UNSET if request.id is None else request.id
    return Response.json(InferResponse(served.source.name, served.source.version, outputs, given))


async def _read(service: Service, exchange: Exchange, model: ServedModel) -> tuple[InferRequest, Floats]:
    require_type(exchange, JSON, "application/octet-stream")
    body = await exchange.body()
    size = exchange.headers.get(JSON_SIZE, str(len(body)).encode())
    if not size.isdigit() or len(size) > MAX_DIGITS or int(size) > len(body):
        raise InputError("Inference-Header-Content-Length must be the number of bytes of the JSON in the body.")
    service.require_few_lists(body[: int(size)])
    request = _infer_request(body[: int(size)])
    for tensor in request.inputs:
        service.require_few(int(tensor.shape[0]))
    return request, _matrix(request.inputs, memoryview(body)[int(size) :], model)


def _matrix(inputs: Sequence[InputTensor], rest: memoryview, model: ServedModel) -> Floats:
    """Return the tensors of a request as the model's matrix."""
    arrays = []
    for tensor in inputs:
        array, rest = _array(tensor, rest)
        arrays.append(array)
    if len(rest):
        raise InputError("Bytes follow the last tensor.")
    if len(inputs) == 1 and len(inputs[0].shape) == 2:
        return in_model_order(arrays[0], None, model)
    sizes = {len(array) for array in arrays}
    if len(sizes) > 1 or any(array.size != len(array) for array in arrays):
        raise InputError("There must be one input of documents x features, or one value per document in each.")
    columns = np.concatenate([array.reshape(-1, 1) for array in arrays], axis=1)
    return in_model_order(columns, [tensor.name for tensor in inputs], model)


def _array(tensor: InputTensor, rest: memoryview) -> tuple[Floats, memoryview]:
    """Return a tensor, and the bytes after it."""
    dtype = np.dtype(f"<{KINDS[tensor.datatype[0]]}{int(tensor.datatype.lstrip('FPUINT')) // 8}")
    shape = [*map(int, tensor.shape)]
    given = None if tensor.parameters is None else tensor.parameters.binary_data_size
    if (given is None) == (tensor.data is None):
        raise InputError(f"The input {tensor.name[:60]!r} must have data or a binary_data_size.")
    if given is not None:
        size = int(given)
        if size != prod(shape) * dtype.itemsize or size > len(rest):
            raise InputError(f"binary_data_size of {tensor.name[:60]!r} does not fit its shape or the body.")
        values = np.frombuffer(rest[:size], dtype).reshape(shape[0], -1)
        return checked_features(values, allow_infinite=True).reshape(shape), rest[size:]
    return _of_lists(tensor, shape).reshape(shape), rest


def _of_lists(tensor: InputTensor, shape: list[int]) -> Floats:
    """Return data that are flat, or nested as the shape has them."""
    data: Any = tensor.data
    nested = bool(data) and isinstance(data[0], list)
    values = lists_as_matrix(data if nested else [data])
    if values.shape != (tuple(shape) if nested else (1, prod(shape))):
        raise InputError(f"The data of {tensor.name[:60]!r} do not have the shape {shape}.")
    return values


def _output(name: str, scores: Doubles) -> OutputTensor:
    if name == SCORES:
        return OutputTensor(SCORES, [len(scores)], "FP64", scores.tolist())
    ranks: list[int | float] = [0] * len(scores)
    for rank, row in enumerate(order_of(scores), start=1):
        ranks[row] = rank
    return OutputTensor(RANKS, [len(scores)], "INT64", ranks)
