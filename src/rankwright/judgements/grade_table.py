"""The grades of several judges, one row per document of a query and one column per judge."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.arrays import checked_numbers, sealed
from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import brief_list, counted, nearest
from rankwright.data.readers.trec import Judgements, NamedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Integers


@dataclass(frozen=True, eq=False, repr=False)
class GradeTable(NamedRows):
    """The grades that several judges gave to documents of queries.

    Parameters
    ----------
    qid, document_ids
        Query and document of each row; a document occurs once per query.
    judges
        The names of the judges.
    grades
        One row per document, one column per judge; NaN where a judge gave no grade.
    scale
        The grades that judges may give, ascending.
    language_models
        Those of the judges that are language models.
    notes
        What was noticed while the grades were read, in sentences.

    Examples
    --------
    >>> grades = [[2, 2], [0, 1], [1, float("nan")]]
    >>> table = rw.judgements.GradeTable.of(["q1", "q1", "q2"], ["d1", "d2", "d1"], ["ada", "bob"], grades)
    >>> table
    GradeTable(3 documents, 2 queries, 2 judges, 5 grades)
    >>> table.judgements_of("bob").labels.tolist()
    [2.0, 1.0]
    """

    judges: tuple[str, ...]
    grades: Doubles
    scale: tuple[float, ...]
    language_models: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        qid: ArrayLike,
        document_ids: Sequence[object],
        judges: Sequence[str],
        grades: ArrayLike,
        *,
        scale: Sequence[float] | None = None,
        language_models: Sequence[str] | str | None = None,
        notes: Sequence[str] = (),
    ) -> GradeTable:
        """Make a table from columns; by default the scale is made of the grades that were given."""
        names = checked_judges(judges)
        numbers = checked_numbers(grades, "grades").copy()
        if numbers.ndim != 2 or numbers.shape[1] != len(names):
            raise InputError(f"grades must have one column per judge, {len(names)}, not shape {numbers.shape}.")
        rows = Judgements.of(qid, document_ids, np.zeros(len(numbers)))
        given = numbers[~np.isnan(numbers)]
        if len(given) == 0:
            raise InputError("There are no grades.")
        allowed = np.unique(given) if scale is None else checked_scale(scale)
        outside = np.argwhere(~np.isnan(numbers) & ~np.isin(numbers, allowed))
        if len(outside):
            row, judge = outside[0]
            document, query = rows.document_ids[row], rows.qid[row]
            raise InputError(
                f"Judge {names[judge]!r} gave document {document!r} of query {str(query)!r} the grade "
                f"{numbers[row, judge]:g}, which is {outside_of(allowed.tolist())}."
            )
        models = chosen_judges(names, language_models or ())
        return cls(
            rows.qid,
            rows.document_ids,
            names,
            sealed(numbers),
            tuple(allowed.tolist()),
            frozenset(models),
            tuple(notes),
        )

    @cached_property
    def codes(self) -> Integers:
        """The position of each grade in the scale; -1 where there is none."""
        return np.where(np.isnan(self.grades), -1, np.searchsorted(self.scale, self.grades))

    @cached_property
    def n_judges(self) -> Integers:
        """The number of judges of each document."""
        return np.asarray((self.codes >= 0).sum(axis=1))

    def judgements_of(self, judge: str) -> Judgements:
        """Return the grades of one judge as judgements."""
        column = self.grades[:, self.judges.index(judge)]
        rows = np.flatnonzero(~np.isnan(column))
        return Judgements(self.qid[rows], self.document_ids[rows], column[rows])

    def take(self, rows: Any) -> GradeTable:
        """Return some of the documents."""
        kept = (self.qid[rows], self.document_ids[rows])
        return GradeTable(*kept, self.judges, self.grades[rows], self.scale, self.language_models, self.notes)

    def of_judges(self, judges: Sequence[str]) -> GradeTable:
        """Return the grades of some of the judges."""
        columns = [self.judges.index(judge) for judge in judges]
        models = self.language_models & set(judges)
        grades = self.grades[:, columns]
        return GradeTable(self.qid, self.document_ids, tuple(judges), grades, self.scale, models, self.notes)

    def shown_name(self, judge: str) -> str:
        """Return the name of a judge, and whether it is a language model."""
        return f"{judge} (language model)" if judge in self.language_models else judge

    def __repr__(self) -> str:
        sizes = ((len(self), "document"), (len(self.groups), "query"), (len(self.judges), "judge"))
        numbers = ", ".join(counted(number, noun) for number, noun in sizes)
        return f"GradeTable({numbers}, {counted(int((self.codes >= 0).sum()), 'grade')})"


def checked_judges(judges: Sequence[str]) -> tuple[str, ...]:
    """Return the names of judges: each has one, and no two the same."""
    names = tuple(judges)
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"A judge must have a name, not {name!r}.")
        if names.count(name) > 1:
            raise InputError(f"Two judges are called {name!r}.")
    if not names:
        raise InputError("There are no judges.")
    return names


def chosen_judges(names: Sequence[str], wanted: Sequence[str] | str) -> list[str]:
    """Return the judges that are named or match a shell-style pattern; a name or pattern of nobody is refused."""
    patterns = [wanted] if isinstance(wanted, str) else list(wanted)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InputError(f"There is no judge {pattern!r}{nearest(pattern, names)}")
    return [name for name in names if is_among(name, patterns)]


def is_among(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a judge is named by one of the patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def checked_scale(scale: Sequence[float]) -> Doubles:
    """Return the grades of a scale, ascending: at least two finite numbers."""
    numbers = np.unique(checked_numbers(scale, parameter("scale")))
    if len(numbers) < 2 or not np.isfinite(numbers).all():
        raise InputError(f"{parameter('scale')} must hold at least two different grades, such as 0,1,2,3.")
    return numbers


def outside_of(scale: Sequence[float]) -> str:
    """Return the end of a sentence about a grade that is not in the scale."""
    return f"outside the scale {brief_list(f'{grade:g}' for grade in scale)}"
