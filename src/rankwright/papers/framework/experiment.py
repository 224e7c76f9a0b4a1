"""What a reproduction declares: data, systems, measures, what was published, and what counts as reached."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.papers.framework.measurements import Measurements
    from rankwright.reports.charts.chart import Chart


class DataTrial(NamedTuple):
    """The parts of one trial, such as a fold; `others` has data that only some systems learn from."""

    name: str
    train: RankingData
    valid: RankingData | None
    test: RankingData
    others: Mapping[str, RankingData] = {}


class Source(Protocol):
    """Where the trials of an experiment come from; its `repr` names everything that they depend on."""

    @property
    def title(self) -> str:
        """The name of the data in tables."""

    def trials(self) -> Sequence[str]:
        """Return the names of the trials."""

    def trial(self, name: str) -> DataTrial:
        """Read or make a trial."""


@dataclass(frozen=True)
class Absent:
    """Data that are not there, why, and the `repr` of the source that would have read them."""

    title: str
    why: str
    declared: str = ""

    def trials(self) -> Sequence[str]:
        """Return no trials."""
        return ()

    def trial(self, name: str) -> DataTrial:
        """Refuse: there are no trials."""
        raise KeyError(name)


System = Callable[[DataTrial, int], Any]
"""Fits on a trial with a number of threads; returns a model, or several by name. Its `repr` has its settings."""

Measure = Callable[[Any, DataTrial, int], Mapping[str, "Doubles"]]
"""Measures a model on a trial with a number of threads; returns arrays by name, most with one value per query."""


@dataclass(frozen=True)
class Published:
    """A number of a paper, and what it is compared with here.

    Parameters
    ----------
    where
        The table or figure of the paper.
    system, measured
        The system, and the name under which its measure is kept.
    value
        The number as published.
    other_features
        Whether the data have the paper's queries and labels, but other features, so that the number can be higher
        or lower for that reason alone.
    comparable
        Whether the data are the paper's, so that the number can be reached.
    why
        Why ours differs, where that is known.
    variant
        Whether the system is a variant of that of the paper: the number is counted with the other one.
    """

    where: str
    system: str
    measured: str
    value: float
    comparable: bool = True
    why: str = ""
    other_features: bool = False
    variant: bool = False


@dataclass(frozen=True)
class Claim:
    """A claim of a paper in our words, and the function that tests it.

    Parameters
    ----------
    where, text
        The section, table or figure of the paper, and the claim.
    test
        Tests it on what was measured.
    why
        Why it is not reached, where that is known.
    against_published
        Tests a claim about baselines against their published numbers instead of ours.
    proved
        Whether the paper proves it, so that any data can refute it.
    part_of
        The claim in the paper's words, if several rows of the experiment test it: they share Holm's correction,
        and the verdict names them together.
    variant
        Whether a variant of the paper's method is tested, which is not counted.
    """

    where: str
    text: str
    test: Callable[[Measurements], Finding]
    why: str = ""
    against_published: Callable[[Measurements], Finding] | None = None
    proved: bool = False
    part_of: str = ""
    variant: bool = False


@dataclass(frozen=True)
class Finding:
    """What the test of a claim found.

    Parameters
    ----------
    state
        `REACHED`, `NOT_SHOWN` or `OPPOSITE`.
    measured
        What was measured, in words.
    value, interval, p_value
        The difference or ratio that decided, its 95 % interval and p-value, where there are any.
    unit
        What the value is: a difference of metric values, rounds, or anything else.
    """

    state: str
    measured: str
    value: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    unit: str = "difference"


@dataclass(frozen=True)
class Picture:
    """A figure of a paper drawn from our results, beside what the paper says of it."""

    where: str
    claim: str
    draw: Callable[[Measurements], Chart]


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper: every system is fitted on every trial, and everything is measured.

    Parameters
    ----------
    name
        Names its results; unique in the paper.
    about
        Data and protocol in one or two sentences.
    source
        Where the trials come from.
    systems
        By name; a system may return several models, which then have their own names.
    measures
        What is measured of every model.
    published, claims, figures
        What the paper says of it.
    stand_in
        Whether the data stand in for those of the paper, so that nothing can be reached or refuted.
    """

    name: str
    about: str
    source: Source
    systems: Mapping[str, System]
    measures: Sequence[Measure]
    published: Sequence[Published] = ()
    claims: Sequence[Claim] = ()
    figures: Sequence[Picture] = ()
    stand_in: bool = False

    def mark(self) -> str:
        """Return a hash of the source, systems and measures, by which results of other ones are noticed.

        It is the same with and without the data.
        """
        source = self.source.declared if isinstance(self.source, Absent) else repr(self.source)
        declared = repr((source, dict(self.systems), tuple(self.measures)))
        return hashlib.sha256(declared.encode()).hexdigest()[:16]


class Setup(NamedTuple):
    """What a run has: folders of data by collection name, and whether sizes are small, or those of the paper."""

    folders: Mapping[str, Path]
    quick: bool
    full: bool = False


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments; `reduced` says what is smaller than in the paper unless the run is full."""

    name: str
    title: str
    authors: str
    experiments: Callable[[Setup], Sequence[Experiment]] = field(repr=False)
    reduced: str = ""
