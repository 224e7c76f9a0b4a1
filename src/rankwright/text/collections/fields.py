"""Chooses the id and the text fields of records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.text.collections.formats.records import Record

FIRST_RECORDS = 100  # by which it is decided which fields hold numbers
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def checked_choice(fields: Mapping[str, str] | Sequence[str] | None) -> dict[str, str] | None:
    """Return names of fields with the fields of the file that they are read from; None is every text field."""
    if fields is None:
        return None
    if isinstance(fields, str):
        raise InputError(
            f"{parameter('fields')} must be a list of names or a mapping, such as [{fields!r}], not {fields!r}."
        )
    choice = dict(fields) if isinstance(fields, Mapping) else {name: name for name in fields}
    if not choice:
        raise InputError(f"{parameter('fields')} must name at least one field.")
    for name in chain(choice, choice.values()):
        if not isinstance(name, str) or not name:
            raise InputError(f"{parameter('fields')} must be names, not {name!r}.")
    return choice


def id_name(record: Record, names: Sequence[str]) -> str:
    """Return the field of a record that holds its id."""
    for name in names:
        if name in record.fields:
            return name
    wanted = repr(names[0]) if len(names) == 1 else listed(names)
    raise InputError(
        f"{record.where}: no id: expected a field {wanted}, found {_names(record)}; pass {parameter('id')}."
    )


def id_of(record: Record, name: str) -> str:
    """Return the id that a field holds: text or an integer."""
    value = record.fields[name]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{record.where}: the id in {name!r} must be text or an integer, not {_shown(value)}.")
    text = str(value).strip()
    if not text:
        raise InputError(f"{record.where}: the id in {name!r} is empty.")
    return text


def chosen_fields(
    records: Iterator[Record], choice: Mapping[str, str], *, tabular: bool
) -> Iterator[tuple[Record, dict[str, str]]]:
    """Yield each record with the fields that were asked for; one that no record has is an error."""
    absent = dict.fromkeys(choice.values())
    last = None
    for record in records:
        last = record
        for name in [name for name in absent if name in record.fields]:
            del absent[name]
        if tabular:
            _require_all(absent, record)
        yield (
            record,
            {
                name: _as_text(value, field, record.where)
                for name, field in choice.items()
                if (value := record.fields.get(field)) is not None
            },
        )
    if last is not None:
        _require_all(absent, last)


def text_fields(
    records: Iterator[Record], ids: Sequence[str], *, typed: bool
) -> Iterator[tuple[Record, dict[str, str]]]:
    """Yield each record with all its fields that hold text, except the id."""
    first = list(islice(records, FIRST_RECORDS))
    numbers = set() if typed else _fields_of_numbers(first)
    has_text = False
    for number, record in enumerate(chain(first, records), start=1):
        omitted = numbers | {id_name(record, ids)}
        texts = {
            name: text
            for name, value in record.fields.items()
            if name not in omitted and (text := _text(value)) is not None
        }
        has_text = has_text or bool(texts)
        if not has_text and number == len(first):
            raise InputError(
                f"{record.where}: none of {_names(record)} holds text; name some with {parameter('fields')}."
            )
        yield record, texts


def _text(value: Any) -> str | None:
    """Return text, or lines of text from a list of texts; None if the value is something else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    return None


def _as_text(value: Any, name: str, where: str) -> str:
    """Return the text of a field that was asked for: a number too is text then."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    text = "" if value == [] else _text(value)
    if text is None:
        raise InputError(f"{where}: the field {name!r} must hold text, not {_shown(value)}.")
    return text


def _fields_of_numbers(records: Sequence[Record]) -> set[str]:
    """Return the fields in which all words of the records are numbers."""
    kinds: dict[str, bool] = {}
    for record in records:
        for name, value in record.fields.items():
            words = value.split()
            if words and kinds.get(name, True):
                kinds[name] = all(NUMBER.fullmatch(word) for word in words)
    return {name for name, numeric in kinds.items() if numeric}


def _require_all(absent: Mapping[str, None], record: Record) -> None:
    if absent:
        name = next(iter(absent))
        raise InputError(f"{record.where}: no field {name!r} here or before; the fields are {_names(record)}.")


def _names(record: Record) -> str:
    return ", ".join(map(repr, record.fields)) or "none"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
