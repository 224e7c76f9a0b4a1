"""Which features are wanted: by family, by name in all fields, or by full name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.text.features.definitions import ADARANK_2007, ALL_FIELDS, FAMILIES, FEATURES, TABLE_2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.text.features.definitions import TextFeature

Column = tuple[str, "TextFeature"]  # a scope, by name, and a feature


def checked_features(given: Any) -> list[str] | str | None:
    """Return wanted features: None for all, a name, or a list of names."""
    if given is None or given == ADARANK_2007:
        return given  # type: ignore[no-any-return]
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(f"features must be names of features or families, not {given!r}.")
    if ADARANK_2007 in names:
        raise InputError(f"{ADARANK_2007!r} stands alone: give features={ADARANK_2007!r}.")
    return [*names]


def chosen_fields(given: Sequence[str] | None, of_index: Sequence[str]) -> tuple[str, ...]:
    """Return the fields to use."""
    if given is None:
        return tuple(of_index)
    fields = (given,) if isinstance(given, str) else tuple(given)
    if not fields or len({*fields}) < len(fields):
        raise InputError(f"fields must name at least one field of the index, each once, not {given!r}.")
    for field in fields:
        if field not in of_index:
            raise InputError(f"The index has no field {field!r}; it has {', '.join(of_index)}.")
    return fields


def chosen_columns(features: Sequence[str] | None, fields: Sequence[str]) -> list[Column]:
    """Return the wanted features, in the order of the declarations, field by field, then of all fields together.

    All fields together are the field itself if there is only one.
    """
    whole = ALL_FIELDS if len(fields) > 1 else fields[0]
    if features == ADARANK_2007:
        return [(whole, feature) for feature in TABLE_2]
    scopes = [*fields, ALL_FIELDS] if len(fields) > 1 else [*fields]
    every = [(scope, feature) for scope in scopes for feature in FEATURES if not feature.of_query]
    every += [(whole, feature) for feature in FEATURES if feature.of_query]
    if features is None:
        return every
    wanted = dict.fromkeys(features)
    known = {feature.named(scope): None for scope, feature in every}
    known |= dict.fromkeys([*FAMILIES, *(feature.name for feature in FEATURES)])
    for name in wanted:
        if name not in known:
            raise InputError(f"There is no feature {name!r}{nearest(name, known)}")
    return [
        (scope, feature)
        for scope, feature in every
        if feature.named(scope) in wanted or feature.name in wanted or feature.family in wanted
    ]
