"""Models in which a document is clicked if it is examined and attracts: position-based and user browsing.

Both are estimated by EM in the core, over the cells of `ClickCounts`, and differ only in what examination depends
on. The first position counts as always examined: clicks only tell the product of examination and attraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from rankwright import _native
from rankwright.base.errors import requiring
from rankwright.base.resources import resolve_threads
from rankwright.clicks.models.click_model import BetaPrior, ClickModel, PairEstimates
from rankwright.reports.blocks import Column, Figure, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.clicks.counts import ClickCounts
    from rankwright.clicks.log import ClickLog
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

NODES = 1.0 / (1.0 + np.exp(np.linspace(8.0, -8.0, 64)))  # values of attraction, from 0.0003 to 0.9997
KERNEL_NODES = 2  # standard deviation of the kernel that smooths their weights
MAX_STRATA, PAIRS_OF_STRATUM = 16, 150
BLOCK = 4000  # pairs or lists that are computed at once
MAX_ERRORS = 1500  # classes of examination for which standard errors are computed: a dense matrix of this size


class Classes(NamedTuple):
    """What examination may depend on: position and last click of each class, sorted, and the class of each row."""

    position: Integers
    last: Integers
    of_row: Integers


@dataclass(frozen=True, repr=False, eq=False)
class ExaminationModel(ClickModel):
    """A model of examination and attraction.

    Parameters
    ----------
    attraction
        The probability of a click on an examined document, by pair: its posterior mean.
    position, last
        What each class of examination is: the position, and that of the last click above it (0: none, or any).
    examination, errors
        The probability of examination of each class, and its standard error; NaN where the log cannot tell it.
    objectives
        The log-likelihood, attraction integrated out, before every step of EM and after the last.
    """

    places: ClassVar[str] = "positions"  # what classes are, in messages
    attraction: PairEstimates
    position: Integers
    last: Integers
    examination: Doubles
    errors: Doubles
    objectives: Doubles

    @classmethod
    def classes(cls, position: NDArray[Any], last: NDArray[Any]) -> Classes:
        """Return the classes of examination of rows."""
        raise NotImplementedError

    @classmethod
    def fit(
        cls, counts: ClickCounts, *, max_steps: int = 1000, tolerance: float = 0.005, n_jobs: int | None = None
    ) -> Self:
        """Run EM for examination and for the distribution of attraction over pairs, on a grid.

        Pairs that were shown at similar positions share a distribution: rankers show attractive documents high,
        and with one distribution for all, examination would explain that too (correlated random effects, Mundlak
        1978). EM ends when a step raises the log-likelihood by at most the tolerance per million impressions.
        A class without a click counts as with half of one (Jeffreys' prior), since 0 would make clicks impossible.
        """
        classes = cls.classes(counts.position, counts.last)
        rates = by_class(counts, classes)
        start = np.clip(rates / max(rates[0], 1e-6), 1e-3, 0.95)  # at 1 EM could not move it
        start[0] = 1.0
        shown = np.maximum(counts.by_pair(counts.shown), 1e-300)
        exposure = counts.by_pair(counts.shown * np.log(counts.position)) / shown
        strata = strata_of(exposure)
        cells, n_strata = Cells.of(counts, classes)._replace(strata=strata), int(strata.max(initial=0)) + 1
        prior, threads = np.full(n_strata * len(NODES), 1 / len(NODES)), resolve_threads(n_jobs)
        enough = tolerance * max(1.0, float(counts.shown.sum()) / 1e6)
        _, _, examination, trust, weights, objectives = cells.fit(
            NODES, prior, start, np.zeros_like(start), max_steps, enough, threads
        )
        # Where it was shown says nothing about a document itself, so that all have one prior in the end.
        overall = np.bincount(strata) @ weights.reshape(n_strata, len(NODES)) / max(1, len(strata))
        cells = cells._replace(strata=np.zeros_like(strata))
        mean, deviation, *_ = cells.fit(NODES, smoothed(overall), examination, trust, 0, 0.0, threads)
        examination = with_half_clicks(examination, counts, classes, mean)
        errors, of_pairs = standard_errors(counts, classes, mean, deviation, examination)
        unknown = unidentified(counts, classes)
        notes = (*counts.notes, *_remarks(cls.name, cls.places, unknown, len(objectives) > max_steps))
        attraction = PairEstimates.of(counts, mean, of_pairs, BetaPrior.on_grid(NODES, overall))
        errors[unknown] = np.nan
        return cls(
            counts.n_lists, notes, attraction, classes.position, classes.last, examination, errors, objectives
        )

    def estimates(self) -> dict[str, PairEstimates]:
        return {"attraction": self.attraction}

    def parameters(self) -> Iterator[Block]:
        numbers = (self.position, self.last, self.examination, self.errors)
        rows = list(zip(*(each.tolist() for each in numbers), strict=True))
        columns = [Column("position", Kind.COUNT), Column("last click", Kind.COUNT)]
        table = Table([*columns, Column("examination"), Column("standard error")], rows, "Examination")
        yield (
            table
            if self.last.any()
            else Table([table.columns[0], *table.columns[2:]], [(row[0], *row[2:]) for row in rows], table.caption)
        )
        yield Figure(self.chart, "Examination by position, relative to the first.")

    def chart(self) -> Chart:
        """Return examination by position, before any click."""
        from rankwright.reports.charts.lines import line_chart

        first = self.last == 0
        position, values, errors = (each[first] for each in (self.position, self.examination, self.errors))
        wide = 1.96 * np.nan_to_num(errors)
        low, high = np.maximum(values - wide, 0.0), np.minimum(values + wide, 1.0)
        points = list(zip(position.tolist(), values.tolist(), strict=True))
        bands = {"": list(zip(position.tolist(), low.tolist(), high.tolist(), strict=True))}
        return line_chart(
            {"": points}, "position", "examination", description="Examination by position.", bands=bands
        )

    def examined(self, position: NDArray[Any], last: NDArray[Any]) -> Doubles:
        """Return the examination of each row."""
        return np.asarray(self.examination[self.class_of(position, last)])

    def class_of(self, position: NDArray[Any], last: NDArray[Any]) -> Integers:
        """Return the class of each row; of an unknown one that of the nearest position above, before."""
        span = 1 << 32
        known = self.position.astype(np.int64) * span + self.last
        keys = position.astype(np.int64) * span + last
        return np.asarray(np.maximum(np.searchsorted(known, keys, side="right") - 1, 0))


class PositionBasedModel(ExaminationModel):
    """Examination depends on the position alone (Richardson et al. 2007)."""

    name: ClassVar[str] = "position-based model"

    @classmethod
    def classes(cls, position: NDArray[Any], last: NDArray[Any]) -> Classes:  # noqa: ARG003  # as in the base class
        """Return one class per position."""
        positions, of_row = np.unique(position, return_inverse=True)
        return Classes(positions, np.zeros_like(positions), of_row)

    def conditional(self, log: ClickLog) -> Doubles:
        return np.asarray(self.attraction.in_log(log) * self.examined(log.position, np.zeros_like(log.position)))


class UserBrowsingModel(ExaminationModel):
    """Examination depends on the position and on that of the last click above (Dupret & Piwowarski 2008)."""

    name: ClassVar[str] = "user browsing model"
    places: ClassVar[str] = "combinations of position and last click"

    @classmethod
    def classes(cls, position: NDArray[Any], last: NDArray[Any]) -> Classes:
        """Return one class per position and last click."""
        keys, of_row = np.unique((position.astype(np.int64) << 32) | last, return_inverse=True)
        return Classes(keys >> 32, keys & 0xFFFF_FFFF, of_row)

    def conditional(self, log: ClickLog) -> Doubles:
        return np.asarray(self.attraction.in_log(log) * self.examined(log.position, log.last_clicks()))

    def marginal(self, log: ClickLog) -> Doubles:
        """Return click probabilities by a recursion over where the last click may have been."""
        attraction, chances = self.attraction.in_log(log), np.empty(len(log))
        for begin in range(0, log.n_lists, BLOCK):
            self._recur(log, np.arange(begin, min(begin + BLOCK, log.n_lists)), attraction, chances)
        return chances

    def _recur(self, log: ClickLog, some: Integers, attraction: Doubles, chances: Doubles) -> None:
        """Write the click probabilities of some lists."""
        sizes = log.offsets[some + 1] - log.offsets[some]
        last = np.zeros((len(some), log.max_position + 1))
        last[:, 0] = 1.0
        for rank in range(int(sizes.max(initial=0))):
            lists = np.flatnonzero(sizes > rank)
            rows = log.offsets[some[lists]] + rank
            positions = log.position[rows]
            clicked = np.zeros(len(rows))
            for before in np.flatnonzero(last[lists].any(axis=0)).tolist():
                examined = self.examined(positions, np.full(len(rows), before))
                chance = last[lists, before] * examined * attraction[rows]
                clicked += chance
                last[lists, before] -= chance
            last[lists, positions] += clicked
            chances[rows] = clicked


class Cells(NamedTuple):
    """Impressions and clicks of cells, one per pair and class, and the stratum of each pair, as EM takes them."""

    offsets: Integers
    strata: NDArray[np.int32]
    classes: NDArray[np.int32]
    shown: Doubles
    clicked: Doubles

    @classmethod
    def of(cls, counts: ClickCounts, classes: Classes) -> Cells:
        """Merge the cells of each pair and class; all pairs are of one stratum."""
        pair = counts.pair
        begins = np.flatnonzero(np.diff(pair * len(classes.position) + classes.of_row, prepend=-1))
        shown, clicked = (np.add.reduceat(each, begins) for each in (counts.shown, counts.clicked))
        offsets = np.searchsorted(begins, counts.pair_offsets)
        strata = np.zeros(len(offsets) - 1, dtype=np.int32)
        return cls(offsets, strata, classes.of_row[begins].astype(np.int32), shown, clicked)

    def fit(
        self,
        nodes: Doubles,
        prior: Doubles,
        examination: Doubles,
        trust: Doubles,
        max_steps: int,
        tolerance: float,
        n_threads: int,
        *,
        prior_only: bool = False,
    ) -> tuple[Doubles, Doubles, Doubles, Doubles, Doubles, Doubles]:
        """Run EM from prior, examination and trust; return what the kernel returns."""
        start = prior, examination, trust
        return _native.fit_examination(*self, nodes, *start, prior_only, max_steps, tolerance, n_threads)


def strata_of(values: Doubles, ties: Doubles | None = None) -> NDArray[np.int32]:
    """Return the stratum of each value: quantiles, of at least 150 pairs each; ties are broken by their order."""
    n_strata = int(np.clip(len(values) // PAIRS_OF_STRATUM, 1, MAX_STRATA))
    strata = np.zeros(len(values), dtype=np.int32)
    order = np.lexsort((np.arange(len(values)) if ties is None else ties, values))
    strata[order] = np.arange(len(values)) * n_strata // max(1, len(values))
    return strata


def smoothed(weights: Doubles) -> Doubles:
    """Return the weights of nodes smoothed by a normal kernel.

    The most likely distribution of attraction has few values, which would make estimates for pairs overconfident.
    """
    reach = 5 * KERNEL_NODES
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / KERNEL_NODES) ** 2)
    smooth = np.maximum(np.convolve(np.pad(weights, reach, mode="reflect"), kernel, mode="valid"), 1e-12)
    return np.asarray(smooth / smooth.sum())


def by_class(counts: ClickCounts, classes: Classes) -> Doubles:
    """Return the click rate of each class."""
    clicked, shown = (np.bincount(classes.of_row, each) for each in (counts.clicked, counts.shown))
    return np.asarray(clicked / np.maximum(shown, 1e-300))


def with_half_clicks(examination: Doubles, counts: ClickCounts, classes: Classes, attraction: Doubles) -> Doubles:
    """Return examination, of classes without a click as if there were half of one; the first is as it was."""
    clicked = np.bincount(classes.of_row, counts.clicked)
    always_examined = np.bincount(classes.of_row, counts.shown * attraction[counts.pair])
    has_clicks = (clicked > 0) | (np.arange(len(clicked)) == 0)
    return np.where(has_clicks, examination, 0.5 / (always_examined + 1.0))


def standard_errors(
    counts: ClickCounts, classes: Classes, attraction: Doubles, deviation: Doubles, examination: Doubles
) -> tuple[Doubles, Doubles]:
    """Return the standard errors of examination and of attraction, from the expected information.

    `deviation` is that of attraction if examination is known. Attraction is eliminated from the information
    matrix, pair by pair (a Schur complement), which leaves a matrix of classes: as if nothing were known about a
    pair but its clicks, since only documents in two classes tell their examination apart. With very many classes
    examination counts as known, and has no errors.
    """
    with requiring("scipy"):
        from scipy.sparse import csr_array, diags_array

    a, g = attraction[counts.pair], examination[classes.of_row]
    weight = counts.shown / np.maximum(a * g * (1.0 - a * g), 1e-12)
    n_classes, variance = len(examination), np.maximum(deviation, 1e-6) ** 2
    if n_classes > MAX_ERRORS or n_classes == 1:
        return np.where(np.arange(n_classes), np.nan, 0.0), deviation
    shared = csr_array((weight * a * g, (counts.pair, classes.of_row)), shape=(len(attraction), n_classes))
    information: Doubles = np.diag(np.bincount(classes.of_row, weight * a * a, minlength=n_classes))
    unknown = diags_array(1.0 / np.maximum(counts.by_pair(weight * g * g), 1e-12))
    information = information - (shared.T @ unknown @ shared).toarray()
    covariance = np.zeros((n_classes, n_classes))
    covariance[1:, 1:] = np.linalg.pinv(information[1:, 1:], hermitian=True)
    blocks = (shared[begin : begin + BLOCK].toarray() for begin in range(0, len(attraction), BLOCK))
    spread: Doubles = np.concatenate([((block @ covariance) * block).sum(axis=1) for block in blocks])
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return errors, np.sqrt(variance + np.maximum(spread, 0.0) * variance**2)


def unidentified(counts: ClickCounts, classes: Classes) -> NDArray[np.bool_]:
    """Return the classes that no chain of documents, each seen in two classes, connects with the first.

    Only a document that was seen in both of two classes tells their examination apart from its attraction.
    """
    with requiring("scipy"):
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

    n_pairs, n_classes = len(counts.pair_offsets) - 1, len(classes.position)
    links = csr_array(
        (np.ones(len(counts)), (counts.pair, n_pairs + classes.of_row)), shape=(n_pairs + n_classes,) * 2
    )
    component = connected_components(links, directed=False)[1][n_pairs:]
    return np.asarray(component != component[0])


def _remarks(name: str, places: str, unknown: NDArray[np.bool_], is_unfinished: bool) -> Iterator[str]:
    if unknown.any():
        part = "all" if unknown.sum() == len(unknown) - 1 else f"{int(unknown.sum()):,} of {len(unknown) - 1:,}"
        yield (
            f"The log does not tell examination from relevance at {part} other {places}, so that the {name} rests "
            "on its prior there: no document was seen both there and, directly or through other documents, at the "
            "first position."
        )
    if is_unfinished:
        yield f"EM for the {name} was stopped before it converged; raise max_steps."
