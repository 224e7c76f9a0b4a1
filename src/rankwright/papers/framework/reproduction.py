"""The result of reproducing a paper: its table, and every experiment with remarks and figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.base.wording import enumerated, plain
from rankwright.papers.framework.rows import NO_DATA, OTHER_DATA, Groups, counts, table_of
from rankwright.reports.blocks import Column, Figure, Kind, Section, Table, Text
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.papers.framework.experiment import Experiment, Paper
    from rankwright.papers.framework.measurements import Measurements
    from rankwright.papers.framework.rows import Row
    from rankwright.reports.blocks import Block

REMARKS = ("what", "state", "remarks")  # long texts, which would leave the other columns of one table no room
PHRASES = {OTHER_DATA: "measured on other data"}  # of states, in a sentence
LEGEND = (
    "A number is reached if it lies in the 95 % interval of ours over test queries, and higher than published if "
    "the interval lies above it. A claim is reached if its direction is significant (p < .05, paired "
    "randomisation test, Holm's correction over the comparisons of the claim), opposite if the other direction is "
    "significant, and otherwise not shown. That systems are alike is reached if no significant difference "
    "contradicts it; that a method is better in all measures, if all its means are higher. Other data stand in "
    "for those of the paper, which are not public; in brackets is the state that they give. Against published: "
    "the same claim if the baselines have their published means. What was measured for a claim, and why a number "
    "is not reached, is said with each experiment."
)


class Done(NamedTuple):
    """An experiment with its measurements, None without data, and its rows of the table."""

    experiment: Experiment
    results: Measurements | None
    rows: Sequence[Row]

    def section(self, results: Measurements) -> Section:
        """Return the protocol, remarks on the rows, and the figures."""
        blocks: list[Block] = [Text(self.experiment.about)]
        if remarked := [row for row in self.rows if row.remarks]:
            blocks.append(table_of(remarked, REMARKS, "What was measured, and remarks."))
        figures = [
            Figure(partial(picture.draw, results), f"{picture.where}. {picture.claim}")
            for picture in self.experiment.figures
        ]
        return Section(self.experiment.name, [*blocks, *figures])


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Result):
    """The results of a paper's experiments.

    Parameters
    ----------
    paper, quick
        The paper, and whether this was the quick version.
    done
        Every experiment with its measurements.
    seconds
        The processor time of all fits and measurements together, those of earlier runs included.
    """

    paper: Paper
    quick: bool
    done: Sequence[Done]
    seconds: float

    @property
    def title(self) -> str:
        """Title and authors of the paper."""
        return f"{self.paper.title} ({self.paper.authors})"

    @property
    def rows(self) -> list[Row]:
        """One row per published number and claim."""
        return [row for experiment in self.done for row in experiment.rows]

    @property
    def summary(self) -> str:
        """How many rows were reached; in the quick version, a caution as well."""
        by_state = counts([row for row in self.rows if row.state != NO_DATA])
        about = f"numbers and claims of {self.paper.authors}"
        if not by_state:
            return f"None of the {len(self.rows)} {about} can be tested without more data."
        verbs = {state: f"{n} {'is' if n == 1 else 'are'}" for state, n in by_state.items()}
        states = enumerated(f"{verb} {PHRASES.get(state, state)}" for state, verb in verbs.items())
        quick = ", in a quick version that says little" if self.quick else ""
        return f"Of the {sum(by_state.values())} {about} that these data can test, {states}{quick}."

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON values."""
        return {
            "paper": self.paper.name,
            "title": self.paper.title,
            "authors": self.paper.authors,
            "quick": self.quick,
            "seconds": self.seconds,
            "rows": plain(self.rows),
        }

    def blocks(self) -> Iterator[Section]:
        """Yield the verdict, the tables of rows, then every experiment."""
        groups = Groups.of(self.rows)
        yield Section("Verdict", [Text(groups.verdict())])
        for title, table in groups.tables().items():
            yield Section(title, [table])
        time = f"All fits and measurements took {self.seconds / 60:.1f} minutes of processor time."
        yield Section("States", [Text(f"{LEGEND} {time}")])
        yield from (done.section(done.results) for done in self.done if done.results is not None)
        columns = [Column("experiment", Kind.TEXT), Column("why", Kind.TEXT)]
        left_out = [done.experiment for done in self.done if done.results is None]
        rows = [(left.name, getattr(left.source, "why", "there are no data")) for left in left_out]
        yield Section("Left out", [Table(columns, rows)] if rows else [])
