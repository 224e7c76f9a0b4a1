"""Judges that stand apart: who orders documents differently from the others, and who grades higher or lower."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import require_type, requiring
from rankwright.base.wording import counted, enumerated, plain
from rankwright.judgements.dawid_skene import fit_dawid_skene
from rankwright.judgements.grade_table import GradeTable
from rankwright.judgements.judge_agreement import comparable, judges_left_out
from rankwright.reports.blocks import Cell, Column, Figure, Interval, Kind, Note, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import checked_level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

FEWEST_JUDGES = 3  # of two who disagree, neither stands apart
FEWEST_QUERIES = 10  # with fewer, documents are the independent units
MORE_DISAGREEMENT = 1.5  # as much as the others among themselves; less is no reason to name a judge
LEAST_SHIFT = 0.1  # as a fraction of the scale's range; less is no reason to name a judge
FLOOR = 0.002  # added to disagreements, 1/6 for judges who have nothing in common: nobody agrees for certain


@dataclass(frozen=True)
class JudgeFacts:
    """What is known of a judge.

    Parameters
    ----------
    judge
        The name.
    documents
        The number of documents with this judge's grade and another's.
    mean
        The mean grade.
    disagreement
        How much the judge disagrees with the others about the order of documents, as a multiple of how much the
        others disagree among themselves; NaN with fewer than three judges.
    shift
        By how much the judge grades higher than the median judge, on the same documents.
    accuracy
        How likely a grade is the true one, in the model of Dawid and Skene.
    findings
        What stands out: `disagrees`, `lenient` or `strict`.
    """

    judge: str
    documents: int
    mean: float
    disagreement: Interval
    shift: Interval
    accuracy: float
    findings: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class JudgeChecks(Result):
    """What is known of each judge, and who stands apart.

    Parameters
    ----------
    facts
        One per judge.
    level
        The level of intervals, for all judges together.
    notes
        What limits the findings.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> true = random.integers(0, 4, 300)
    >>> slips = random.random((300, 3)) < 0.2
    >>> careful = np.clip(true[:, None] + slips * random.choice([-1, 1], (300, 3)), 0, 3)
    >>> grades = np.column_stack([careful, random.integers(0, 4, 300)])
    >>> queries, names = np.repeat(np.arange(30), 10), np.arange(300)
    >>> table = rw.judgements.GradeTable.of(queries, names, ["ada", "bob", "cyd", "dan"], grades)
    >>> result = rw.judgements.judges(table)
    >>> isinstance(result, rw.judgements.JudgeChecks), result.named
    (True, ('dan',))
    """

    facts: tuple[JudgeFacts, ...]
    level: float
    notes: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """The judges who stand apart."""
        return tuple(each.judge for each in self.facts if each.findings)

    @property
    def summary(self) -> str:
        if not self.named:
            return f"None of {counted(len(self.facts), 'judge')} stands apart from the others."
        if len(self.facts) < FEWEST_JUDGES:  # each is as far from the median as the other
            lower, higher = sorted(self.facts, key=lambda each: each.shift.value)
            apart = higher.shift.value - lower.shift.value
            return f"{higher.judge} grades {apart:.2g} higher than {lower.judge}."
        return " ".join(f"{each.judge} {enumerated(_sentences(each))}." for each in self.facts if each.findings)

    def blocks(self) -> Iterator[Block]:
        columns = [
            Column("judge", Kind.TEXT),
            Column("documents", Kind.COUNT),
            Column("mean grade", Kind.MEASURED),
            Column("disagreement", Kind.MEASURED),
            Column("shift", Kind.DIFFERENCE),
            Column("correct", Kind.PERCENT),
        ]
        rows = [
            (
                Cell(each.judge, ", ".join(each.findings)),
                each.documents,
                each.mean,
                each.disagreement,
                each.shift,
                each.accuracy,
            )
            for each in self.facts
        ]
        yield Table(columns, rows, "Judges")
        yield Note(
            "Disagreement: about the order of documents, with the others, relative to theirs among themselves. "
            "Shift: grades above those of the median judge. Correct: how likely a grade is the true one, in the "
            "model of Dawid and Skene."
        )
        yield from map(Note, self.notes)
        yield Figure(self.chart, "By how much each judge grades higher than the median judge.")

    def chart(self) -> Chart:
        """Return the shift of each judge."""
        from rankwright.reports.charts.bars import described, interval_chart

        rows = [(each.judge, *each.shift) for each in self.facts]
        words = f"Shift of judges: {described(rows)}."
        return interval_chart(rows, "grades above the median judge", description=words, mark=0.0)

    def to_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = plain({"judges": self.facts, "level": self.level, "notes": self.notes})
        return values


def _sentences(facts: JudgeFacts) -> list[str]:
    """Return what stands out about a judge, as ends of a sentence."""
    times = f"{facts.disagreement.value:.1f} times"
    shift = f"{round(abs(facts.shift.value), 9):.2g}"  # on any machine the same, also halfway between two digits
    sizes = {
        "disagrees": f"disagrees with the others {times} as much as they do among themselves",
        "lenient": f"grades {shift} higher than the median judge",
        "strict": f"grades {shift} lower than the median judge",
    }
    return [sizes[finding] for finding in facts.findings]


def judges(table: GradeTable, *, level: float = 0.99) -> JudgeChecks:
    """Find judges who stand apart: who order documents differently from the others, are lenient or strict.

    A judge is named if the disagreement with the others is certainly larger than theirs among themselves, and at
    least 1.5 times as large; or if the shift from the median judge is certainly not 0, and at least a tenth of
    the scale's range. Intervals are jackknife intervals over queries, or over documents if there are fewer than
    ten queries. Disagreement is measured by ranks, which a shift leaves as they are.

    Parameters
    ----------
    table
        The grades of at least two judges; disagreement needs three.
    level
        The level of intervals, for all judges together.

    Examples
    --------
    >>> import numpy as np
    >>> grades = np.repeat(np.random.default_rng(0).integers(0, 3, (200, 1)), 3, axis=1)
    >>> grades[:, 2] += 1
    >>> queries, names = np.repeat(np.arange(20), 10), np.arange(200)
    >>> table = rw.judgements.GradeTable.of(queries, names, ["ada", "bob", "cyd"], grades)
    >>> print(rw.judgements.judges(table).summary)
    cyd grades 1 higher than the median judge.
    """
    require_type(table, GradeTable, "judges takes a GradeTable, as read_grades returns it")
    shared = comparable(table)
    few = len(shared.groups) < FEWEST_QUERIES
    units = np.arange(len(shared)) if few else shared.groups.query_of_row
    each_level = 1.0 - (1.0 - checked_level(level)) / len(shared.judges)  # Bonferroni
    ratios = _disagreement(shared, units, each_level)
    shifts = _shifts(shared, units, each_level)
    accuracy = fit_dawid_skene(shared.codes, len(shared.scale)).accuracy.tolist()
    least = LEAST_SHIFT * (shared.scale[-1] - shared.scale[0])
    facts = [
        JudgeFacts(
            shared.shown_name(judge),
            int((shared.codes[:, number] >= 0).sum()),
            float(table.judgements_of(judge).labels.mean()),
            ratios[number],
            shifts[number],
            accuracy[number],
            tuple(_findings(ratios[number], shifts[number], least)),
        )
        for number, judge in enumerate(shared.judges)
    ]
    return JudgeChecks(tuple(facts), level, (*table.notes, *_limits(table, shared, few)))


def _findings(ratio: Interval, shift: Interval, least: float) -> Iterator[str]:
    if ratio.value >= MORE_DISAGREEMENT and ratio.low > 1.0:
        yield "disagrees"
    if shift.value >= least and shift.low > 0.0:
        yield "lenient"
    if shift.value <= -least and shift.high < 0.0:
        yield "strict"


def _limits(table: GradeTable, shared: GradeTable, few: bool) -> Iterator[str]:
    if len(shared.judges) < FEWEST_JUDGES:
        yield "With two judges it is unknown which stands apart; the shift of each is half of their difference."
    if few:
        yield f"There are fewer than {FEWEST_QUERIES} queries: intervals take documents as independent."
    if alone := len(table) - len(shared):
        yield f"{counted(alone, 'document')} graded by one judge only, left out."
    yield from judges_left_out(table, shared)


def _disagreement(table: GradeTable, units: Integers, level: float) -> list[Interval]:
    """Return each judge's disagreement with the others, relative to theirs among themselves."""
    n_judges = len(table.judges)
    unknown = [Interval(np.nan, np.nan, np.nan)] * n_judges
    if n_judges < FEWEST_JUDGES:
        return unknown
    pairs = list(combinations(range(n_judges), 2))
    sums = np.array(
        [_pair_disagreement(table.grades[:, pair], units) for pair in pairs]
    )  # pair, sum or count, unit
    has_judge = np.array([[judge in pair for pair in pairs] for judge in range(n_judges)])

    def logarithm(totals: Doubles) -> Doubles:
        """Return the logarithm of the ratio of each judge, for sums over units (pair, sum or count, case)."""
        own = np.einsum("jp,psc->jsc", has_judge.astype(float), totals)
        rest = np.einsum("jp,psc->jsc", (~has_judge).astype(float), totals)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = (own[:, 0] / own[:, 1] + FLOOR) / (rest[:, 0] / rest[:, 1] + FLOOR)
        return np.asarray(np.log(ratio))

    return [Interval(*np.exp(limits)) for limits in _jackknife(sums, logarithm, level)]


def _pair_disagreement(grades: Doubles, units: Integers) -> Doubles:
    """Return for each unit the sum of squared differences of two judges' ranks, as fractions, and their number."""
    with requiring("scipy"):
        from scipy.stats import rankdata

    rows = np.flatnonzero(~np.isnan(grades).any(axis=1))
    ranks = rankdata(grades[rows], axis=0) / max(len(rows), 1)
    n_units = int(units.max()) + 1
    squares = np.bincount(units[rows], (ranks[:, 0] - ranks[:, 1]) ** 2, minlength=n_units)
    return np.array([squares, np.bincount(units[rows], minlength=n_units)])


def _shifts(table: GradeTable, units: Integers, level: float) -> list[Interval]:
    """Return each judge's shift from the median judge, by least squares with one effect per document and judge."""
    given = ~np.isnan(table.grades)
    n_units, n_judges = int(units.max()) + 1, len(table.judges)
    per_row = given / given.sum(axis=1, keepdims=True)
    centred = np.where(given, table.grades - np.nansum(table.grades * per_row, axis=1, keepdims=True), 0.0)
    # Normal equations: judge by judge, and the right side as a last column; they add up over units.
    equations = np.zeros((n_units, n_judges, n_judges + 1))
    products = given[:, :, None] * (np.eye(n_judges) - per_row[:, None, :])
    np.add.at(equations, units, np.concatenate([products, centred[:, :, None]], axis=2))

    def effects(totals: Doubles) -> Doubles:
        """Return the shift of each judge for sums over units (judge, judge or right side, case)."""
        cases = np.moveaxis(totals, -1, 0)
        solved = (np.linalg.pinv(cases[:, :, :-1], hermitian=True) @ cases[:, :, -1:])[:, :, 0]
        return np.asarray((solved - np.median(solved, axis=1, keepdims=True)).T)

    return [Interval(*limits) for limits in _jackknife(np.moveaxis(equations, 0, -1), effects, level)]


def _jackknife(by_unit: Doubles, statistic: Callable[[Doubles], Doubles], level: float) -> list[tuple[float, ...]]:
    """Return each value of a statistic of sums over units (the last axis), with its jackknife interval.

    The interval is Student's, with one unit left out at a time; units without any data are left out altogether.
    """
    with requiring("scipy"):
        from scipy.special import stdtrit

    kept = by_unit[..., by_unit.reshape(-1, by_unit.shape[-1]).any(axis=0)]
    n_units = kept.shape[-1]
    total = kept.sum(axis=-1, keepdims=True)
    values = statistic(total)[:, 0]
    if n_units < 2:
        return [(value, np.nan, np.nan) for value in values.tolist()]
    without = statistic(total - kept)
    spread = without - without.mean(axis=1, keepdims=True)
    errors = np.sqrt((n_units - 1) / n_units * (spread**2).sum(axis=1))
    reach = float(stdtrit(n_units - 1, (1.0 + level) / 2.0)) * errors
    return list(zip(values.tolist(), (values - reach).tolist(), (values + reach).tolist(), strict=True))
