"""The result of reproducing a paper: its table, and every experiment with remarks and figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.base.wording import counted, plain
from rankwright.papers.framework.groups import Groups
from rankwright.papers.framework.rows import HIGHER, REACHED, table_of
from rankwright.reports.blocks import Figure, Section, Text
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.papers.framework.experiment import Experiment, Paper
    from rankwright.papers.framework.measurements import Measurements
    from rankwright.papers.framework.rows import Row
    from rankwright.reports.blocks import Block

LEFT_OUT = ("where", "data", "what", "published", "remarks")
REMARKS = ("what", "state", "remarks")  # long texts, which would leave the other columns of one table no room
LEGEND = (
    "A number is reached if it differs from ours by no more than chance: the interval is ours plus and minus the "
    "half-width of a paired 95 % interval, the median over all pairs of our systems on these queries. A claim is "
    "reached if its direction is significant (p < .05, paired randomisation test, Holm's correction over the "
    "comparisons and rows of the claim), opposite if the other direction is, and otherwise not shown. That "
    "systems are alike, or that one is as good as another, is reached if the interval excludes a difference of a "
    "point; that there is no significant difference, if none is before the correction; that a method is better in "
    "all measures, if all its means are higher. Other data stand in for those of the paper, or have other "
    "features; in brackets is the state that they give. Against published: the same claim if the baselines have "
    "their published means. Variants of a method are not counted. What was measured for a claim, and why a number "
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
        """How many rows hold on the data of the paper; in the quick version, a caution as well."""
        groups = Groups.of(self.rows)
        tried = [*groups.numbers, *groups.claims]
        hold = sum(row.state in (REACHED, HIGHER) for row in tried)
        about = f"{hold} of {len(tried)} numbers and claims of {self.paper.authors} hold on data like the paper's"
        return f"{about}, in a quick version that says little." if self.quick else f"{about}."

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
        """Yield the verdict, the tables of rows, what their states mean, then every experiment."""
        groups = Groups.of(self.rows)
        yield Section("Results", [*map(Text, groups.verdict()), *groups.tables().values()])
        time = f"All fits and measurements took {self.seconds / 60:.1f} minutes of processor time."
        yield Section("States", [Text(f"{LEGEND} {time}")])
        yield from (done.section(done.results) for done in self.done if done.results is not None)
        if groups.not_tried:
            count = counted(len(groups.not_tried), "row")
            yield Section(
                "Left out", [replace(table_of(groups.not_tried, LEFT_OUT), folded=f"{count} without data")]
            )
