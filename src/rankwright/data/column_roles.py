"""The columns of a table: how options name them, and what each is used for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypedDict

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import brief_list, closest, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LABEL, QUERY, DOCUMENT = "label", "qid", "docid"  # the names that columns have by default
SCORE = "score"  # in tables of scores

# Common other names of these columns: suggested in error messages, never used without being asked for.
ALTERNATIVES = {
    LABEL: ("relevance", "rel", "grade", "target", "rating", "judgement", "judgment", "y"),
    QUERY: ("query_id", "queryid", "q_id", "query", "group_id", "group", "srch_id", "search_id", "session_id"),
}


class ColumnOptions(TypedDict, total=False):
    """The options of all readers of tables, apart from `label`."""

    qid: str
    docid: str | None
    features: Sequence[str] | None
    drop: Sequence[str]
    categorical: Sequence[str]
    dates: Sequence[str]
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
    dates: Sequence[str] | str = ()
    show: Sequence[str] | str = ()

    def __post_init__(self) -> None:
        for name in ("features", "drop", "categorical", "dates", "show"):
            if isinstance(value := getattr(self, name), str):
                object.__setattr__(self, name, (value,))

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
    categorical, dates
        Those of them that hold categories, and those that hold dates.
    not_used
        The other columns, and why each is not used.
    guessed
        Those of them that a rule left out: the caller did not mention them.
    rounded
        Features whose integers 32-bit floats cannot tell apart, and how many remain.
    library
        The library of the data frame that had these columns, such as polars; empty if it was a file.
    """

    label: str | None
    qid: str
    docid: str | None
    features: tuple[str, ...]
    categorical: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    not_used: Mapping[str, str] = field(default_factory=dict)
    guessed: tuple[str, ...] = ()
    rounded: Mapping[str, str] = field(default_factory=dict)
    library: str = ""

    @classmethod
    def of(cls, described: Any) -> Columns | None:
        """Return the columns that `dataclasses.asdict` described, also after JSON; None if it did not."""
        match described:
            case {
                "label": label,
                "qid": str(qid),
                "docid": docid,
                "features": [*features],
                "categorical": [*categorical],
                "dates": [*dates],
                "not_used": dict(unused),
                "rounded": dict(rounded),
            }:
                texts = [
                    *features,
                    *categorical,
                    *dates,
                    *unused.values(),
                    *rounded.values(),
                    label or "",
                    docid or "",
                ]
                if all(isinstance(text, str) for text in texts):
                    uses = tuple(features), tuple(categorical), tuple(dates), unused
                    return cls(label, qid, docid, *uses, rounded=rounded)
        return None

    def __str__(self) -> str:
        parts = [f"features: {counted(len(self.features), 'column')} ({brief_list(self.features)})"]
        if self.categorical:
            parts.append(f"categorical: {brief_list(self.categorical)}")
        if self.dates:
            parts.append(f"dates: {brief_list(self.dates)}")
        if self.not_used:
            parts.append(f"not used: {_with_reasons(self.not_used)}")
        if self.rounded:
            parts.append(f"rounded: {_with_reasons(self.rounded)}")
        return "; ".join(parts)

    def without(self, why: Mapping[str, str]) -> Columns:
        """Return these columns with some features left out by a rule, each for its reason."""
        return replace(
            self,
            features=tuple(name for name in self.features if name not in why),
            not_used={**self.not_used, **why},
            guessed=(*self.guessed, *why),
        )

    @property
    def warning(self) -> str | None:
        """What to know of columns that a rule left out, and of features that were rounded; None if nothing."""
        sentences = []
        if self.guessed:
            left_out = _with_reasons({name: self.not_used[name] for name in self.guessed})
            hint = "Name them in features, categorical, dates or docid, or in drop."
            sentences.append(f"Columns that are not used: {left_out}. {hint}")
        if self.rounded:
            sentences.append(f"Features that lose digits: {_with_reasons(self.rounded)}.")
        return " ".join(sentences) or None


def _with_reasons(columns: Mapping[str, str]) -> str:
    return brief_list(f"{name} ({why})" for name, why in columns.items())


def matching(names: Sequence[str], wanted: Sequence[str] | str) -> list[str]:
    """Return the columns that are named or match a shell-style pattern, each once, in the order of `wanted`."""
    chosen: dict[str, None] = {}
    known = set(names)
    for pattern in [wanted] if isinstance(wanted, str) else wanted:
        if not isinstance(pattern, str):
            raise InputError(f"Columns are named by strings, not {pattern!r:.60}.")
        matched = [pattern] if pattern in known else [name for name in names if fnmatchcase(name, pattern)]
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
    if not names:
        return "The table is empty."
    if any(character in wanted for character in "*?["):
        return f"No column matches {wanted!r}; the table has {brief_list(names)}."
    return no_column(wanted, names)
