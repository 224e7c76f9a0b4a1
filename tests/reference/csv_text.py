"""The slow twin of the CSV parser: one character at a time, in the words of the format."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MISSING = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"}
TRUE, FALSE = {"true", "True", "TRUE"}, {"false", "False", "FALSE"}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?")


class WrongRecordError(Exception):
    """The first line of a record and its fault."""


@dataclass
class Record:
    line: int
    fields: list[str] = field(default_factory=list)


def parse(data: bytes, delimiter: str) -> list[Record] | tuple[int, str]:
    """Return the records that are not empty lines, or the line and the name of the first fault."""
    try:
        return _records(data, delimiter)
    except WrongRecordError as error:
        line, fault = error.args
        return line, fault


def _records(data: bytes, delimiter: str) -> list[Record]:
    text = data.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape") + "\n"
    found: list[Record] = []
    at, line = 0, 1
    while at < len(text):
        record, start = Record(line), at
        while True:
            value, at = _field(text, at, delimiter, line)
            record.fields.append(value)
            at += 1
            if text[at - 1] == "\n":
                break
        line += text.count("\n", start, at)
        if record.fields != [""]:
            _check(record, found)
            found.append(record)
    return found


def _field(text: str, at: int, delimiter: str, line: int) -> tuple[str, int]:
    """Return a field and the place of the delimiter or line feed after it."""
    if text[at] == '"':
        quoted = re.compile(r'"((?:[^"]|"")*)"(?!")', re.DOTALL).match(text, at)
        if quoted is None:
            raise WrongRecordError(line, "quote_not_closed")
        value, at = quoted[1].replace('""', '"'), quoted.end()
    else:
        plain = re.compile(f"[^{delimiter}\r\n]*").match(text, at)
        value, at = plain[0], plain.end()
    if text[at] == "\r":
        if text[at + 1] != "\n":
            raise WrongRecordError(line, "carriage_return")
        at += 1
    if text[at] not in (delimiter, "\n"):
        raise WrongRecordError(line, "text_after_quote")
    return value, at


def _check(record: Record, before: list[Record]) -> None:
    if before and len(record.fields) != len(before[0].fields):
        few = len(record.fields) < len(before[0].fields)
        raise WrongRecordError(record.line, "too_few_fields" if few else "too_many_fields")
    for value in record.fields:
        if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
            raise WrongRecordError(record.line, "not_utf8")


def number(value: str) -> float | None:
    """Return the number that a field holds, NaN if it is missing, None if it is text."""
    word = value.strip(" \t")
    if word in MISSING:
        return float("nan")
    if word in TRUE or word in FALSE:
        return float(word in TRUE)
    return float(word) if NUMBER.fullmatch(word) else None
