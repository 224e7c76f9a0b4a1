"""Names of features: the choice of features by family or name, and full names.

A full name says all that a value depends on: the fields, the formula, and its parameters.

A name such as "title: BM25" stands for the default parameters; others are part of the name, as in
"title: BM25 (k1=0.9 b=0.4)". So a model that was saved with its names can have its features computed again.
"""

from __future__ import annotations

import re
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import nearest
from rankwright.text.features.definitions import ADARANK_2007, ALL_FIELDS, FAMILIES, FEATURES, TABLE_2
from rankwright.text.retrieval import model_of, state_of_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankwright.text.features.definitions import TextFeature
    from rankwright.text.retrieval import RetrievalModel

JOIN = " + "  # between the fields of a scope that is not the whole document
SPELLED = re.compile(r"(?P<name>.+) \((?P<parameters>[\w.+=-]+(?: [\w.+=-]+)*)\)")
DENSE = "dense"  # the family of features of encoders
FEATURE_OF = {feature.name: feature for feature in FEATURES}


def whole_scope(chosen: Sequence[str], of_index: Sequence[str]) -> str:
    """Return the name of all chosen fields together."""
    return ALL_FIELDS if {*chosen} == {*of_index} else JOIN.join(chosen)


def full_name(scope: str, feature: TextFeature, models: Mapping[str, RetrievalModel]) -> str:
    """Return the name of a feature in a scope, with the parameters of its model that are not the default."""
    spelled = "" if feature.model is None else _spelled(models[feature.model])
    return f"{feature.named(scope)} ({spelled})" if spelled else feature.named(scope)


MODEL_NAMES = {"bm25": "BM25", "dirichlet": "LM Dirichlet", "jelinek_mercer": "LM Jelinek-Mercer"}


def model_name(model: RetrievalModel) -> str:
    """Return the name of a model as a retriever, with its parameters that are not the default."""
    spelled = _spelled(model)
    name = MODEL_NAMES[state_of_model(model)[0]]
    return f"{name} ({spelled})" if spelled else name


def model_named(name: str) -> RetrievalModel | None:
    """Return the model that `model_name` spells, None if it spells none."""
    base, parameters = _split(name)
    known = {spelled: key for key, spelled in MODEL_NAMES.items()}
    return model_of(known[base], parameters) if base in known else None


def settings_of(names: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of the `FeatureSet` whose features have these full names."""
    short: list[str] = []
    models: dict[str, RetrievalModel] = {}
    scopes: dict[str, None] = {}
    for name in names:
        base, parameters = _split(name)
        scope, _, feature_name = base.rpartition(": ")
        feature = FEATURE_OF.get(feature_name)
        if feature is None or (parameters and feature.model is None):
            short.append(name)  # unknown: `chosen_columns` refuses it
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
    """Return a parameter as text that parses to the same value."""
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


Column = tuple[str, "TextFeature"]  # a scope, by name, and a feature


def checked_features(given: Any) -> list[str] | str | None:
    """Return wanted features: None for all, a name, or a list of names."""
    if given is None or given == ADARANK_2007:
        return given  # type: ignore[no-any-return]
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{parameter('features')} must be names of features or families, not {given!r}.")
    if ADARANK_2007 in names:
        raise InputError(f"{ADARANK_2007!r} stands alone: give features={ADARANK_2007!r}.")
    return [*names]


def chosen_fields(given: Sequence[str] | None, of_index: Sequence[str]) -> tuple[str, ...]:
    """Return the fields to use."""
    if given is None:
        return tuple(of_index)
    fields = (given,) if isinstance(given, str) else tuple(given)
    if not fields or not all(isinstance(field, str) for field in fields) or len({*fields}) < len(fields):
        raise InputError(
            f"{parameter('fields')} must name at least one field of the index, each once, not {given!r}."
        )
    for field in fields:
        if field not in of_index:
            raise InputError(f"The index has no field {field!r}; it has {', '.join(of_index)}.")
    return fields


def chosen_encoders(features: Sequence[str] | None, encoders: Iterable[str]) -> tuple[str, ...]:
    """Return the encoders whose cosine is wanted."""
    if features == ADARANK_2007:
        return ()
    return tuple(
        name for name in encoders if features is None or DENSE in features or dense_name(name) in features
    )


def dense_name(encoder: str) -> str:
    """Return the name of the feature of an encoder."""
    return f"{encoder}: cosine"


def chosen_columns(
    features: Sequence[str] | None, fields: Sequence[str], encoders: Iterable[str] = ()
) -> list[Column]:
    """Return the wanted features of words, as declared, field by field, then of all fields together.

    All fields together are the field itself if there is only one.
    """
    whole = ALL_FIELDS if len(fields) > 1 else fields[0]
    if features == ADARANK_2007:
        return [(whole, feature) for feature in TABLE_2]
    scopes = [*fields, ALL_FIELDS] if len(fields) > 1 else [*fields]
    every = [(scope, feature) for scope in scopes for feature in FEATURES if not feature.of_query]
    every += [(whole, feature) for feature in FEATURES if feature.of_query]
    if features is None:
        return [(scope, feature) for scope, feature in every if not feature.of_document]
    wanted = dict.fromkeys(features)
    known = {feature.named(scope): None for scope, feature in every}
    known |= dict.fromkeys([*FAMILIES, DENSE, *(feature.name for feature in FEATURES)])
    known |= dict.fromkeys(map(dense_name, encoders))
    for name in wanted:
        if name not in known:
            raise InputError(f"There is no feature {name!r}{nearest(name, known)}")
    return [
        (scope, feature)
        for scope, feature in every
        if feature.named(scope) in wanted or feature.name in wanted or feature.family in wanted
    ]
