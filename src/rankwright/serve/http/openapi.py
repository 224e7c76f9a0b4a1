"""The OpenAPI document of a service, derived from its routes and models, and its HTML page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import msgspec

from rankwright.base.version import __version__
from rankwright.serve.http.exchange import JSON, PAGE_TYPE
from rankwright.serve.http.health import METRICS_TYPE
from rankwright.serve.http.request_bodies import matrix_of
from rankwright.serve.protocols import messages, mlflow, npy, open_inference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.serve.http.exchange import Route
    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.service import Service

ERRORS = {
    400: "The request is not of the form described here.",
    404: "There is no such model or address.",
    405: "The address takes other methods.",
    408: "The request did not arrive in time.",
    413: "The request is too long or has too many documents.",
    415: "The body is of a type that is not read, or has none.",
    421: "The service does not answer under this name.",
    422: "The request does not fit the model, or its parts do not fit each other.",
    500: "The service failed.",
    503: "The service is stopping, or the answer was not ready in time.",
}
TEXT = {"type": "string"}
BINARY = {"type": "string", "format": "binary"}
MEANINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "model": ("Name of a model; by default the first one.", {**TEXT, "minLength": 1}),
    "version": ("Its version; by default the last one.", {**TEXT, "minLength": 1}),
    "top": ("Number of documents to return, or of features per document.", {"type": "integer", "minimum": 1}),
    "interleave": ("false for the model's own ranking where two are interleaved.", {"type": "boolean"}),
    "q": ("The query in words.", {**TEXT, "minLength": 1, "maxLength": 10_000}),
    "n": ("Number of results.", {"type": "integer", "minimum": 1, "maximum": 1000}),
    "snippets": ("Whether to return parts of the texts.", {"type": "boolean"}),
}
FIXED = {
    "/metrics": (METRICS_TYPE, TEXT),
    "/openapi.json": (JSON, {"type": "object"}),
    "/": (PAGE_TYPE, TEXT),
}


def document(service: Service, routes: Sequence[Route]) -> dict[str, Any]:
    """Return the OpenAPI document."""
    kinds = {kind for route in routes for kind in (route.request, route.answer) if kind is not None}
    ordered = sorted(kinds | {messages.Error}, key=lambda kind: kind.__name__)
    _, schemas = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    _restrict(schemas, service)
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, service)
    secured = service.tokens is not None
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rankwright",
            "version": __version__,
            "description": "Ranks, scores and explains documents. Each request has the documents of one query.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}} if secured else {},
        },
    }


def html(described: dict[str, Any]) -> bytes:
    """Return the HTML page of an OpenAPI document, which loads nothing else."""
    style = (files("rankwright.reports") / "templates" / "page.css").read_text(encoding="utf-8")
    # No text can end the script element that it stands in.
    data = msgspec.json.encode(described).decode().replace("<", "\\u003c").replace("&", "\\u0026")
    return _template().replace("/* style */", style).replace('"described"', data).encode()


@cache
def _template() -> str:
    return (files("rankwright.serve") / "page.html").read_text(encoding="utf-8")


def _operation(route: Route, service: Service) -> dict[str, Any]:
    answers = {"200": {"description": "The answer", "headers": _headers(), "content": _answers(route)}}
    for status, meaning in ERRORS.items():
        answers[str(status)] = _refused(meaning)
    if service.tokens is not None and not route.public:
        answers["401"] = _refused("A bearer token is needed.")
    operation: dict[str, Any] = {
        "operationId": f"{route.method.lower()}{route.path}".replace("/", "_").replace("{", "").replace("}", ""),
        "tags": [route.tag],
        "summary": route.summary,
        "parameters": _parameters(route, service),
        "responses": answers,
    }
    if service.tokens is not None and not route.public:
        operation["security"] = [{"token": []}]
    if route.request is not None:
        operation["requestBody"] = {"required": True, "content": _bodies(route, service)}
    return operation


def _answers(route: Route) -> dict[str, Any]:
    if route.answer is None:
        kind, schema = FIXED[route.path]
        return {kind: {"schema": schema}}
    content: dict[str, Any] = {JSON: {"schema": _reference(route.answer)}}
    if route.gives_matrix:
        content[npy.MEDIA_TYPE] = {"schema": BINARY}
    return content


def _bodies(route: Route, service: Service) -> dict[str, Any]:
    assert route.request is not None
    body: dict[str, Any] = {"schema": _reference(route.request)}
    example = example_of(route.request, service)
    if example is not None:
        body["example"] = example
    content = {JSON: body}
    if route.takes_matrix:
        content[npy.MEDIA_TYPE] = {"schema": BINARY}
    return content


def _parameters(route: Route, service: Service) -> list[dict[str, Any]]:
    """Return the parameters in the path, and those of the query string."""
    inside = [part[1:-1] for part in route.segments if part.startswith("{")]
    parameters = []
    for name in inside:
        meaning, schema = MEANINGS[name]
        example = example_argument(name, service)
        parameters.append({"name": name, "in": "path", "required": True, "description": meaning, "schema": schema})
        parameters[-1]["example"] = example
    for name in route.parameters:
        meaning, schema = MEANINGS[name]
        needed = name == "q"
        parameters.append(
            {"name": name, "in": "query", "required": needed, "description": meaning, "schema": schema}
        )
        if needed:
            parameters[-1]["example"] = "old bridge"
    return parameters


def _refused(meaning: str) -> dict[str, Any]:
    content = {JSON: {"schema": _reference(messages.Error)}}
    return {"description": meaning, "headers": _headers(), "content": content}


def _headers() -> dict[str, Any]:
    return {"x-request-id": {"description": "As sent, or a new one.", "schema": TEXT}}


def _reference(kind: type[Any]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _restrict(schemas: dict[str, Any], service: Service) -> None:
    """Restrict the schemas to what the models of this service take."""
    shape = schemas[open_inference.InputTensor.__name__]["properties"]["shape"]
    shape["items"]["maximum"] = service.settings.max_documents
    documents = documents_schema(service)
    for kind in (messages.RankRequest, messages.ScoreRequest, messages.ExplainRequest):
        features = schemas[kind.__name__]["properties"]["features"]
        features["items"] = documents
        features |= {"minItems": 1, "maxItems": service.settings.max_documents}


FRACTIONS = (0.25, 0.5, 0.75)  # of the range of a feature, one per document of an example


def example_of(kind: type[Any], service: Service) -> Any:
    """Return an example that the first model answers; None if there is no model."""
    if kind is messages.SearchRequest:
        return {"query": "old bridge", "n": 10, "snippets": True}
    if kind is messages.ClickRequest:
        return {"impression": service.impressions.example(*service.example_pair()), "ranks": [1, 3]}
    if not len(service.models):
        return None
    model = service.models.get()
    if kind is mlflow.Invocation:
        return {"dataframe_records" if model.columns else "inputs": _documents(model)}
    if kind is open_inference.InferRequest:
        return {"inputs": [_tensor(model)]}
    example: dict[str, Any] = {"features": _documents(model), "ids": ["a", "b", "c"]}
    return example if kind is messages.ScoreRequest else example | {"top": 3}


def example_argument(name: str, service: Service) -> str:
    """Return the name or the version of the first model."""
    if not len(service.models):
        return "none"
    source = service.models.get().source
    return source.name if name == "model" else source.version


def documents_schema(service: Service) -> dict[str, Any]:
    """Return the schema of a document: of lists with the right length, or objects with the right names."""
    number = {"type": ["number", "boolean", "null"], "minimum": -messages.LARGEST, "maximum": messages.LARGEST}
    sizes = {model.scorer.n_features for model in service.models}
    as_list: dict[str, Any] = {"type": "array", "items": number}
    if len(sizes) == 1:
        as_list |= {"minItems": min(sizes), "maxItems": max(sizes)}
    named = [model for model in service.models if model.columns]
    if not named:
        return as_list
    cell = {**number, "type": ["number", "boolean", "string", "null"]}
    as_object: dict[str, Any] = {"type": "object", "additionalProperties": cell}
    if len(named) == len(service.models) and len({model.columns for model in named}) == 1:
        categories = {category.name for category in named[0].scorer.categories}
        as_object["required"] = list(named[0].columns)
        as_object["properties"] = {name: cell if name in categories else number for name in named[0].columns}
    return {"anyOf": [as_list, as_object]}


def _documents(model: ServedModel) -> list[Any]:
    """Return three documents with usual values: by name if the model has names, categories as text."""
    rows = [
        [_between(*limits, fraction) for limits in zip(*model.limits[:2], strict=True)] for fraction in FRACTIONS
    ]
    if not model.columns:
        return rows
    levels = {category.name: category.values or (None,) for category in model.scorer.categories}
    numbers = [dict(zip(model.names, row, strict=True)) for row in rows]
    return [
        {
            name: levels[name][row % len(levels[name])] if name in levels else numbers[row][name]
            for name in model.columns
        }
        for row in range(len(rows))
    ]


def _between(low: float, high: float, fraction: float) -> float:
    """Return a number in a range; the fraction itself if the range is unknown."""
    return float(f"{low + fraction * (high - low):.3g}") if isfinite(high - low) else fraction


def _lists(model: ServedModel) -> list[list[float | None]]:
    matrix = matrix_of(_documents(model), None, model)
    return [[None if isnan(value) else float(f"{value:.7g}") for value in row] for row in matrix.tolist()]


def _tensor(model: ServedModel) -> dict[str, Any]:
    shape = [len(FRACTIONS), model.scorer.n_features]
    return {"name": open_inference.FEATURES, "shape": shape, "datatype": "FP32", "data": _lists(model)}
