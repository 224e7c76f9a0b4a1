"""A judging session: what each judge has done, what comes next, and how well judges agree so far."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.judgements.coincidences import alpha, coincidence_counts
from rankwright.judgements.grade_table import checked_scale, outside_of
from rankwright.judgements.judging.journal import JournalLine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankwright.judgements.judging.journal import Journal
    from rankwright.judgements.judging.pool import JudgingPool
    from rankwright.serve.http.tokens import KnownTokens
    from rankwright.serve.settings import Listening

LONGEST_NAME = 60
LONGEST_NOTE = 2000
MOST_GRADES = 10  # one key each


class AgreementSoFar(NamedTuple):
    """Krippendorff's alpha (ordinal), and the number of documents that two judges or more have graded."""

    alpha: float | None
    documents: int


class JudgeState:
    """What one judge has done: the last line about each document, in the order of doing."""

    def __init__(self, order: list[tuple[str, str]]) -> None:
        self.order = order
        self.lines: dict[tuple[str, str], JournalLine] = {}

    def add(self, line: JournalLine) -> None:
        """Take in a line of the journal."""
        pair = line.query, line.document
        self.lines.pop(pair, None)
        if line.grade is not None or line.skipped:
            self.lines[pair] = line

    def next_pair(self, *, skipped: bool) -> tuple[str, str] | None:
        """Return the next document to judge or, if asked for, the first that was skipped; None if there is none.

        A document that is skipped again comes after the other skipped ones.
        """
        new = (pair for pair in self.order if pair not in self.lines)
        again = (pair for pair, line in self.lines.items() if skipped and line.skipped)
        return next(chain(new, again), None)

    @property
    def last(self) -> JournalLine | None:
        """What the judge did last, and can undo."""
        return next(reversed(self.lines.values()), None)


class JudgingSession:
    """The state of a judging session, which is served; every change is in the journal before it is seen."""

    def __init__(
        self,
        pool: JudgingPool,
        journal: Journal,
        scale: Mapping[float, str],
        settings: Listening,
        tokens: KnownTokens,
    ) -> None:
        self.settings = settings
        self.tokens = tokens
        self.is_draining = False
        self.pool = pool
        self.scale = dict(sorted(scale.items()))
        self.unknown = 0
        """Lines of the journal about documents that are not in the pool; they stay in the file."""
        self.journal = journal
        self._judges: dict[str, JudgeState] = {}
        self._rows = set(pool.pairs)
        self._coincidences, self._n_shared = np.zeros((len(scale), len(scale))), 0
        for line in journal.lines:
            self._require_grade(line.grade, f"{line.where}: the")
            if (line.query, line.document) in self._rows:
                self._add(line)
            else:
                self.unknown += 1

    def state_of(self, judge: str) -> JudgeState:
        """Return what a judge has done; a judge without a name is refused."""
        name = judge.strip()
        if not name or not name.isprintable():
            raise InputError("A judge must have a name.")
        if len(name) > LONGEST_NAME:
            raise InputError(f"The name of a judge has at most {LONGEST_NAME} characters.")
        if name not in self._judges:
            self._judges[name] = JudgeState(self.pool.order_for(name))
        return self._judges[name]

    def record(self, line: JournalLine) -> None:
        """Write down what a judge does with a document, then take it in."""
        self.state_of(line.judge)
        if line.query not in self.pool.documents:
            raise InputError(f"There is no query {line.query!r} to judge.")
        if (line.query, line.document) not in self._rows:
            raise InputError(f"Document {line.document!r} of query {line.query!r} is not to be judged.")
        if len(line.note) > LONGEST_NOTE:
            raise InputError(f"A note has at most {LONGEST_NOTE:,} characters.")
        self._require_grade(line.grade)
        if (line.grade is None) != line.skipped:
            raise InputError("Give a grade, or skip the document.")
        self.journal.append(line)
        self._add(line)

    def undo(self, judge: str) -> JournalLine:
        """Withdraw what a judge did last, and return it."""
        state = self.state_of(judge)
        line = state.last
        if line is None:
            raise InputError("There is nothing to undo.")
        withdrawn = JournalLine(line.judge, line.query, line.document)
        self.journal.append(withdrawn)
        self._add(withdrawn)
        return line

    def graded(self) -> dict[str, int]:
        """Return the number of documents that each judge has graded."""
        counts = {
            name: sum(not line.skipped for line in state.lines.values()) for name, state in self._judges.items()
        }
        return {name: count for name, count in counts.items() if count}

    def agreement(self) -> AgreementSoFar | None:
        """Return how well judges agree so far; None if no document has two grades."""
        if not self._n_shared:
            return None
        value = float(alpha(self._coincidences, np.array(list(self.scale)), "ordinal"))
        return AgreementSoFar(None if np.isnan(value) else value, self._n_shared)

    def _add(self, line: JournalLine) -> None:
        """Take in a line; what the grades of its document add to the agreement is counted anew."""
        pair = line.query, line.document
        self._count(pair, -1)
        self.state_of(line.judge).add(line)
        self._count(pair, 1)

    def _count(self, pair: tuple[str, str], sign: int) -> None:
        """Add a document to what agreement is computed from, or take it away."""
        grades = list(self.scale)
        lines = [state.lines.get(pair) for state in self._judges.values()]
        codes = [grades.index(line.grade) for line in lines if line is not None and line.grade is not None]
        if len(codes) > 1:
            counts = coincidence_counts(np.array([codes]), len(grades), np.zeros(1, np.int64), 1)[0]
            self._coincidences += sign * counts
            self._n_shared += sign

    async def in_background(self, function: Callable[[], None]) -> None:
        """Call a function for which no answer waits."""
        function()

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()

    def _require_grade(self, grade: float | None, before: str = "The") -> None:
        if grade is not None and grade not in self.scale:
            raise InputError(f"{before} grade {grade:g} is {outside_of(list(self.scale))}.")


def parsed_scale(text: str) -> dict[float, str]:
    """Return the grades and their names that a text such as `0=no,1=yes` or `0,1,2` has."""
    scale: dict[float, str] = {}
    for part in text.split(","):
        number, _, name = part.partition("=")
        try:
            grade = float(number)
        except ValueError:
            raise InputError(
                f"{parameter('scale')} has grades with names, such as 0=no,1=yes, not {part.strip()!r}."
            ) from None
        if not np.isfinite(grade) or grade in scale:
            raise InputError(f"{parameter('scale')} must have different finite numbers, not {number.strip()!r}.")
        scale[grade] = name.strip()
    checked_scale(list(scale))
    if len(scale) > MOST_GRADES:
        raise InputError(f"{parameter('scale')} has {len(scale)} grades; the page has keys for {MOST_GRADES}.")
    return scale
