"""The columns of a table: how options name them, and what each is used for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypedDict

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import brief_list, closest, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LABEL, QUERY, DOCUMENT = "label", "qid", "docid"  # the names that columns have by default
SCORE = "score"  # in tables of scores

# Common other names of these columns: suggested in error messages, never used without being asked for.
ALTERNATIVES = {
    LABEL: ("relevance", "rel", "grade", "target", "rating", "judgement", "judgment", "y"),
    QUERY: ("query_id", "queryid", "q_id", "query", "group_id", "group", "srch_id", "search_id", "session_id"),
}

# `id` and `ids` as a word of their own, as in doc_id, docId and DOC-ID, or with a usual word before it; and the
# name that pandas gives to an index without one.
ID_NAME = re.compile(
    r"(.*[^a-z0-9])?ids?|(q|query|doc|document|item|product|user|session|page|url|u|gu|uu)ids?|(unnamed: [0-9]+)?",
    re.IGNORECASE,
)
CAMEL_ID = re.compile(r".*[a-z0-9](Id|ID)s?")
ID_REASON = "looks like an id"


class ColumnOptions(TypedDict, total=False):
    """The options of all readers of tables, apart from `label`."""

    qid: str
    docid: str | None
    features: Sequence[str] | None
    drop: Sequence[str]
    categorical: Sequence[str]
    show: Sequence[str]


@dataclass(frozen=True)
class Roles:
    """The roles of columns that the caller asks for; see `from_pandas`."""

    label: str | None = LABEL
    qid: str = QUERY
    docid: str | None = None
    features: Sequence[str] | str | None = None
    drop: Sequence[str] | str = ()
    categorical: Sequence[str] | str = ()
    show: Sequence[str] | str = ()

    def document_column(self, names: Sequence[str]) -> str | None:
        """Return the column of document ids: by default `docid`, if there is one."""
        if self.docid is not None:
            return self.docid
        return DOCUMENT if DOCUMENT in names and DOCUMENT not in matching(names, self.drop) else None


@dataclass(frozen=True)
class Columns:
    """What the columns of a table were used for; prints as one line.

    Parameters
    ----------
    label, qid, docid
        The columns of labels, query ids and document ids; None if there is none.
    features
        The columns that became features, in order.
    categorical
        Those of them that hold categories.
    not_used
        The other columns, and why each is not used.
    guessed
        Those of them that a rule left out: the caller did not mention them.
    """

    label: str | None
    qid: str
    docid: str | None
    features: tuple[str, ...]
    categorical: tuple[str, ...] = ()
    not_used: Mapping[str, str] = field(default_factory=dict)
    guessed: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"features: {counted(len(self.features), 'column')} ({brief_list(self.features)})"]
        if self.categorical:
            parts.append(f"categorical: {brief_list(self.categorical)}")
        if self.not_used:
            parts.append(f"not used: {brief_list(f'{name} ({why})' for name, why in self.not_used.items())}")
        return "; ".join(parts)

    def without(self, names: Iterable[str], why: str) -> Columns:
        """Return these columns with some features left out by a rule."""
        left_out = dict.fromkeys(names, why)
        return replace(
            self,
            features=tuple(name for name in self.features if name not in left_out),
            not_used={**self.not_used, **left_out},
            guessed=(*self.guessed, *left_out),
        )

    @property
    def warning(self) -> str | None:
        """A sentence about the columns that a rule left out; None if there are none."""
        if not self.guessed:
            return None
        names = brief_list(f"{name} ({self.not_used[name]})" for name in self.guessed)
        return f"Columns that are not used: {names}. Name them in features, categorical or docid, or in drop."


def looks_like_id(name: str) -> bool:
    """Return whether the name of a column says that it holds ids."""
    return bool(ID_NAME.fullmatch(name) or CAMEL_ID.fullmatch(name))


def matching(names: Sequence[str], wanted: Sequence[str] | str) -> list[str]:
    """Return the columns that are named or match a shell-style pattern, each once, in the order of `wanted`."""
    chosen: dict[str, None] = {}
    for pattern in [wanted] if isinstance(wanted, str) else wanted:
        if not isinstance(pattern, str):
            raise InputError(f"Columns are named by strings, not {pattern!r:.60}.")
        matched = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        if not matched:
            raise InputError(_no_match(pattern, names))
        chosen |= dict.fromkeys(matched)
    return list(chosen)


def no_column(name: str, names: Sequence[str]) -> str:
    """Return the sentence about a column that is not there."""
    lower = {column.lower(): column for column in names}
    usual = [lower[other] for other in (name, *ALTERNATIVES.get(name, ())) if other in lower]
    if usual and name in (LABEL, QUERY, DOCUMENT):
        return f"There is no column {name!r}; if it is {usual[0]!r}, pass it as {parameter(name)}."
    close = usual[0] if usual else closest(name, names)
    hint = f"did you mean {close!r}?" if close else f"the table has {brief_list(names) or 'none'}."
    return f"There is no column {name!r}; {hint}"


def _no_match(wanted: str, names: Sequence[str]) -> str:
    if any(character in wanted for character in "*?["):
        return f"No column matches {wanted!r}; the table has {brief_list(names) or 'none'}."
    return no_column(wanted, names)
