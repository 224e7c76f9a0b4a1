"""Full names of features, which say all that a value depends on: the fields, the formula, and its parameters.

A name such as "title: BM25" stands for the default parameters; others are part of the name, as in
"title: BM25 (k1=0.9 b=0.4)". So a model that was saved with its names can have its features computed again.
"""

from __future__ import annotations

import re
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.text.features.definitions import ALL_FIELDS, FEATURES
from rankwright.text.retrieval import model_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.text.features.definitions import TextFeature
    from rankwright.text.retrieval import RetrievalModel

JOIN = " + "  # between the fields of a scope that is not the whole document
SPELLED = re.compile(r"(?P<name>.+) \((?P<parameters>[\w.+=-]+(?: [\w.+=-]+)*)\)")
FEATURE_OF = {feature.name: feature for feature in FEATURES}


def whole_scope(chosen: Sequence[str], of_index: Sequence[str]) -> str:
    """Return the name of all chosen fields together."""
    return ALL_FIELDS if {*chosen} == {*of_index} else JOIN.join(chosen)


def full_name(scope: str, feature: TextFeature, models: Mapping[str, RetrievalModel]) -> str:
    """Return the name of a feature in a scope, with the parameters of its model that are not the default."""
    spelled = "" if feature.model is None else _spelled(models[feature.model])
    return f"{feature.named(scope)} ({spelled})" if spelled else feature.named(scope)


def settings_of(names: Sequence[str]) -> dict[str, Any]:
    """Return what to give to `FeatureSet`, so that its features are those of full names."""
    short: list[str] = []
    models: dict[str, RetrievalModel] = {}
    scopes: dict[str, None] = {}
    for name in names:
        base, parameters = _split(name)
        scope, _, feature_name = base.rpartition(": ")
        feature = FEATURE_OF.get(feature_name)
        if feature is None or (parameters and feature.model is None):
            short.append(name)  # nobody knows it, as will be said
            continue
        if feature.model is not None:
            model = model_of(feature.model, parameters)
            if models.setdefault(feature.model, model) != model:
                raise InputError(f"{name!r} and another feature of the model have different parameters.")
        if scope == ALL_FIELDS or JOIN in scope:
            scopes[scope] = None
        short.append(f"{ALL_FIELDS}: {feature_name}" if JOIN in scope else base)
    if len(scopes) > 1:
        raise InputError(f"The model has features of different fields together: {', '.join(scopes)}.")
    joined = [scope.split(JOIN) for scope in scopes if JOIN in scope]
    return {"features": short, "fields": joined[0] if joined else None, **models}


def _spelled(model: RetrievalModel) -> str:
    default = type(model)()
    values = {field.name: getattr(model, field.name) for field in fields_of(model)}  # type: ignore[arg-type]
    changed = {name: value for name, value in values.items() if value != getattr(default, name)}
    return " ".join(f"{name}={_number(value)}" for name, value in changed.items())


def _number(value: Any) -> str:
    """Return a parameter as text from which exactly it can be read."""
    return value if isinstance(value, str) else repr(float(value)).removesuffix(".0")


def _split(name: str) -> tuple[str, dict[str, Any]]:
    """Return a name without its parameters, and these."""
    match = SPELLED.fullmatch(name)
    if match is None:
        return name, {}
    pairs = [part.partition("=") for part in match["parameters"].split()]
    return match["name"], {key: _value(value) for key, _, value in pairs}


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
