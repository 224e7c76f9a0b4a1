"""The slow twin of the LETOR parser: a line at a time, in the words of the format."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

BLANKS = " \t\r"
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
MISSING = {"NULL", "null", "nan", "NaN"}


class WrongLineError(Exception):
    """A fault and the token it was found in."""


@dataclass
class Parsed:
    rows: list[dict[int, float]] = field(default_factory=list)
    labels: list[float] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)

    def matrix(self, absent: float, width: int) -> np.ndarray:
        X = np.full((len(self.rows), width), absent, dtype=np.float32)
        for row, values in enumerate(self.rows):
            for feature, value in values.items():
                X[row, feature - 1] = value
        return X

    @property
    def n_features(self) -> int:
        return max((max(row, default=0) for row in self.rows), default=0)

    def number_queries(self) -> tuple[list[str], list[int]]:
        ids = list(dict.fromkeys(self.queries))
        return ids, [ids.index(query) for query in self.queries]


@dataclass(frozen=True)
class Rules:
    judged: bool = True
    queries: str = "field"
    zero_based: bool = False
    max_feature: int = 1_000_000
    max_line: int = 1 << 30
    max_query_id: int = 1_000


def parse(data: bytes, rules: Rules) -> Parsed | tuple[int, str, bytes]:
    """Return what a file holds, or the line, the fault and the token of its first wrong line."""
    parsed = Parsed()
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            if len(line) > rules.max_line:
                raise WrongLineError("line_too_long", line[:64].decode(errors="surrogateescape"))
            _read_line(line.decode(errors="surrogateescape"), rules, parsed)
        except WrongLineError as error:
            fault, token = error.args
            return number, fault, token.encode(errors="surrogateescape")
    return parsed


def _read_line(line: str, rules: Rules, parsed: Parsed) -> None:
    fields, _, comment = line.partition("#")
    tokens = re.findall(f"[^{BLANKS}]+", fields)
    if not tokens:
        return
    starts_otherwise = tokens[0].startswith("qid:") if rules.queries == "field" else ":" in tokens[0]
    if rules.judged or not starts_otherwise:
        label = _label(tokens.pop(0))
        if rules.judged:
            parsed.labels.append(label)
    query = ""
    if rules.queries == "field":
        query = _query(tokens.pop(0) if tokens else "", rules.max_query_id)
    row = _features(tokens, rules.max_feature, rules.zero_based)
    document = _document(comment)
    if rules.queries == "comment":
        query = _named(comment, "qid", ":=") or _first_word(comment)
        if not query:
            raise WrongLineError("comment_missing", "")
        query, document = _checked_query(query, rules.max_query_id), _named(comment, "docid", "=")
    parsed.documents.append(_checked_id(document))
    parsed.queries.append(query)
    parsed.rows.append(row)


def _label(token: str) -> float:
    if token.startswith("qid:"):
        raise WrongLineError("label_missing", token)
    if token in MISSING or INFINITY.fullmatch(token):
        raise WrongLineError("label_not_finite", token)
    if not NUMBER.fullmatch(token):
        raise WrongLineError("label_not_number", token)
    if np.isinf(float(token)):
        raise WrongLineError("label_not_finite", token)
    return float(token)


def _query(token: str, longest: int) -> str:
    if not token.startswith("qid:") or token == "qid:":
        raise WrongLineError("query_missing", token)
    return _checked_query(token.removeprefix("qid:"), longest)


def _checked_query(text: str, longest: int) -> str:
    query = _checked_id(text)
    if len(query) > longest:
        raise WrongLineError("query_id_too_long", query.encode()[:64].decode(errors="surrogateescape"))
    return query


def _features(tokens: list[str], max_feature: int, zero_based: bool) -> dict[int, float]:
    row: dict[int, float] = {}
    last = 0
    for token in tokens:
        number, colon, text = token.partition(":")
        if not colon:
            raise WrongLineError("pair_malformed", token)
        if not re.fullmatch("[0-9]+", number) or int(number) + zero_based == 0:
            raise WrongLineError("feature_not_positive", token)
        feature = int(number) + zero_based
        if feature > max_feature:
            raise WrongLineError("feature_too_high", token)
        if feature <= last:
            raise WrongLineError("feature_order", token)
        last = feature
        row[last] = _value(text, token)
    return row


def _value(text: str, token: str) -> float:
    if text in MISSING:
        return float("nan")
    if not NUMBER.fullmatch(text) and not INFINITY.fullmatch(text):
        raise WrongLineError("value_not_number", token)
    with np.errstate(over="ignore"):
        value = np.float32(float(text))
    if np.isinf(value):
        raise WrongLineError("value_not_finite", token)
    return float(value)


def _document(comment: str) -> str:
    return _named(comment, "docid", "=") or _first_word(comment)


def _named(comment: str, name: str, signs: str) -> str:
    found = re.search(f"(?:^|[{BLANKS}]){name}[{BLANKS}]*[{signs}][{BLANKS}]*([^{BLANKS}]+)", comment)
    return found[1] if found else ""


def _first_word(comment: str) -> str:
    return next(iter(re.findall(f"[^{BLANKS}]+", comment)), "")


def _checked_id(text: str) -> str:
    if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise WrongLineError("id_not_text", text)
    return text
