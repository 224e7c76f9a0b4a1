"""Examples and schemas that fit the models of a service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.serve.protocols import messages, mlflow
from rankwright.serve.protocols import open_inference as inference

if TYPE_CHECKING:
    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.service import Service

FEW = 8  # features that are shown by name
VALUES = (0.5, 2.0, 1.25)


def example_of(kind: type[Any], service: Service) -> Any:
    """Return a request that the first model answers; None for a request that needs another one's answer."""
    if kind is messages.SearchRequest:
        return {"query": "old bridge", "n": 10, "snippets": True}
    if not len(service.models) or kind is messages.ClickRequest:
        return None
    model = service.models.get()
    if kind is mlflow.Invocation:
        return {"inputs": _lists(model)}
    if kind is inference.InferRequest:
        return {"inputs": [_tensor(model)]}
    example: dict[str, Any] = {"features": _documents(model)}
    if kind is not messages.ScoreRequest:
        example |= {"ids": ["a", "b", "c"], "top": 3}
    return example


def argument(name: str, service: Service) -> str:
    """Return the name or the version of the first model."""
    if not len(service.models):
        return "none"
    source = service.models.get().source
    return source.name if name == "model" else source.version


def documents_schema(service: Service) -> dict[str, Any]:
    """Return the schema of a document: of lists with the right length, or objects with the right names."""
    number = {"type": ["number", "null"], "minimum": -messages.LARGEST, "maximum": messages.LARGEST}
    sizes = {one.scorer.n_features for one in service.models}
    as_list: dict[str, Any] = {"type": "array", "items": number}
    if len(sizes) == 1:
        as_list |= {"minItems": min(sizes), "maxItems": max(sizes)}
    named = [one for one in service.models if one.columns]
    if not named:
        return as_list
    cell = {"type": ["number", "string", "null"], "minimum": -messages.LARGEST, "maximum": messages.LARGEST}
    as_object: dict[str, Any] = {"type": "object", "additionalProperties": cell}
    if len(named) == len(service.models) and len({one.columns for one in named}) == 1:
        categories = {category.name for category in named[0].scorer.categories}
        as_object["required"] = list(named[0].columns)
        as_object["properties"] = {name: cell if name in categories else number for name in named[0].columns}
    return {"anyOf": [as_list, as_object]}


def _documents(model: ServedModel) -> list[Any]:
    if model.columns and len(model.columns) <= FEW:
        values = {category.name: category.values[0] for category in model.scorer.categories if category.values}
        return [{name: values.get(name, value) for name in model.columns} for value in VALUES]
    return _lists(model)


def _lists(model: ServedModel) -> list[list[float]]:
    return [[value] * model.scorer.n_features for value in VALUES]


def _tensor(model: ServedModel) -> dict[str, Any]:
    shape = [len(VALUES), model.scorer.n_features]
    return {"name": inference.FEATURES, "shape": shape, "datatype": "FP32", "data": _lists(model)}
