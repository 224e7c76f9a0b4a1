"""One grade by a judge, as a file or a data frame gives it: checked, with its line or row."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, NamedTuple

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import shortened
from rankwright.data.readers.csv import MISSING


class GivenGrade(NamedTuple):
    """One grade, or None where a judge skipped a document or withdrew a grade; `where` names its line or row.

    Lines of `rankwright judge` also say whether a document was skipped, and have notes.
    """

    query: str
    document: str
    judge: str
    grade: float | None
    time: float | None
    where: str
    skipped: bool = False
    note: str = ""


def given_grade(
    query: str | None, document: str | None, judge: str | None, grade: Any, time: Any, where: str, column: str
) -> GivenGrade:
    """Return a grade whose query, document, judge, number and time are valid."""
    for role, text in (("query", query), ("document", document)):
        if text is None or not text.strip():
            raise InputError(f"{where}: there is no {role}.")
    if judge is None or not judge.strip():
        raise InputError(f"{where}: the judge has no name.")
    assert query is not None
    assert document is not None
    return GivenGrade(query, document, judge.strip(), _number(grade, where, column), _time(time, where), where)


def _number(grade: Any, where: str, column: str) -> float | None:
    if grade is None or (isinstance(grade, str) and grade.strip() in MISSING):
        return None
    try:
        number = math.nan if isinstance(grade, bool) else float(grade)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        shown = shortened(str(grade))
        raise InputError(
            f"{where}: {shown!r} in {column!r} is not a grade; name columns of judges in {parameter('judges')}."
        )
    return number


def _time(time: Any, where: str) -> float | None:
    """Return a time, in seconds or as ISO 8601 writes it, as a number that later ones exceed."""
    if time is None:
        return None
    try:
        seconds = float(time)
    except (TypeError, ValueError):
        seconds = math.nan
    if math.isfinite(seconds):
        return seconds
    try:
        moment = datetime.fromisoformat(str(time).strip())
    except ValueError:
        raise InputError(f"{where}: {shortened(str(time))!r} is not a time such as 2026-03-31T12:30:00.") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
