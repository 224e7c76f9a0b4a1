"""What all click models share: estimates for pairs of query and document, and predictions for a log."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.wording import counted
from rankwright.reports.blocks import Column, Facts, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.clicks.counts import ClickCounts
    from rankwright.clicks.log import ClickLog
    from rankwright.reports.blocks import Block

SHOWN_PAIRS = 20
CERTAIN = 1e-9  # no prediction is nearer to 0 or 1


@dataclass(frozen=True)
class BetaPrior:
    """The distribution of a probability over pairs: its mean, and the number of trials that it is worth."""

    mean: float
    strength: float

    @classmethod
    def of(cls, clicks: Doubles, trials: Doubles) -> BetaPrior:
        """Estimate the distribution of rates from clicks in trials, by moments: what chance does not explain."""
        total = float(trials.sum())
        if total <= 0:
            return cls(0.5, 1.0)
        mean = min(max(float(clicks.sum()) / total, CERTAIN), 1 - CERTAIN)
        seen = trials > 0
        squares = float((trials[seen] * (clicks[seen] / trials[seen] - mean) ** 2).sum())
        spread = total - float((trials**2).sum()) / total
        variance = (squares - (int(seen.sum()) - 1) * mean * (1 - mean)) / spread if spread > 0 else 0.0
        strongest, weakest = 1e6, 0.1
        strength = mean * (1 - mean) / variance - 1 if variance > 0 else strongest
        return cls(mean, float(np.clip(strength, weakest, strongest)))

    @classmethod
    def on_grid(cls, nodes: Doubles, weights: Doubles) -> BetaPrior:
        """Return the distribution with the mean and the variance of weighted values."""
        mean = float(weights @ nodes)
        variance = float(weights @ (nodes - mean) ** 2)
        return cls(mean, mean * (1 - mean) / max(variance, 1e-9) - 1)

    def shrunken(self, clicks: Doubles, trials: Doubles) -> tuple[Doubles, Doubles]:
        """Return the posterior means of the rates and their standard deviations."""
        worth = trials + self.strength
        rates = (clicks + self.mean * self.strength) / worth
        return rates, np.sqrt(rates * (1 - rates) / (worth + 1))


@dataclass(frozen=True, eq=False)
class PairEstimates:
    """A probability for each pair of query and document of a log, sorted by their numbers.

    Parameters
    ----------
    query, document
        The numbers of the ids of each pair.
    query_ids, document_ids
        The ids by number.
    values, errors
        The estimates and their standard errors.
    shown
        Number of impressions of each pair.
    prior
        The distribution over pairs, whose mean is the estimate for all others.
    """

    query: NDArray[np.int32]
    document: NDArray[np.int32]
    query_ids: NDArray[Any]
    document_ids: NDArray[Any]
    values: Doubles
    errors: Doubles
    shown: Doubles
    prior: BetaPrior

    @classmethod
    def of(cls, counts: ClickCounts, values: Doubles, errors: Doubles, prior: BetaPrior) -> PairEstimates:
        """Return estimates for the pairs of the counts."""
        first = counts.pair_offsets[:-1]
        ids = counts.query_ids, counts.document_ids
        shown = counts.by_pair(counts.shown)
        return cls(counts.query[first], counts.document[first], *ids, values, errors, shown, prior)

    def __len__(self) -> int:
        return len(self.values)

    def in_log(self, log: ClickLog) -> Doubles:
        """Return the estimate for each impression of a log: of its pair; if that is unknown, the mean."""
        of_pair = self.find(log.pairs.query, log.pairs.document, log.query_ids, log.document_ids)
        values = np.append(self.values, self.prior.mean)  # which the number -1 means
        return values[of_pair[log.pairs.of_impression]]

    def of_pairs(self, counts: ClickCounts) -> tuple[Doubles, Doubles]:
        """Return the estimate and its error for each pair of counts; the prior's for unknown ones."""
        first = counts.pair_offsets[:-1]
        pairs = self.find(counts.query[first], counts.document[first], counts.query_ids, counts.document_ids)
        mean, strength = self.prior.mean, self.prior.strength
        deviation = np.sqrt(mean * (1.0 - mean) / (strength + 1.0))
        return np.append(self.values, mean)[pairs], np.append(self.errors, deviation)[pairs]

    def find(
        self,
        query: NDArray[np.int32],
        document: NDArray[np.int32],
        query_ids: NDArray[Any],
        document_ids: NDArray[Any],
    ) -> Integers:
        """Return the number of each pair, given by numbers of ids; -1 for pairs without an estimate."""
        queries = _translated(query_ids, self.query_ids)[query]
        documents = _translated(document_ids, self.document_ids)[document]
        keys = (queries << 32) | documents
        known = (self.query.astype(np.int64) << 32) | self.document
        places = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
        is_known = (queries >= 0) & (documents >= 0) & (known[places] == keys if len(known) else False)
        return np.where(is_known, places, -1)

    def table(self, title: str) -> Table:
        """Return the pairs that were shown most."""
        columns = [Column("query", Kind.TEXT), Column("document", Kind.TEXT), Column("impressions", Kind.COUNT)]
        most = np.argsort(-self.shown, kind="stable")[:SHOWN_PAIRS]
        rows = [
            (str(self.query_ids[self.query[pair]]), str(self.document_ids[self.document[pair]]), *numbers)
            for pair, *numbers in zip(
                most.tolist(),
                *(each[most].tolist() for each in (self.shown, self.values, self.errors)),
                strict=True,
            )
        ]
        return Table([*columns, Column(title), Column("standard error")], rows, f"{title} of what was shown most")


def _translated(ids: NDArray[Any], known: NDArray[Any]) -> Integers:
    """Return the number of each id among the known ones; -1 for others."""
    if ids is known:
        return np.arange(len(ids))
    number = {str(name): code for code, name in enumerate(known.tolist())}
    return np.array([number.get(str(name), -1) for name in ids.tolist()], dtype=np.int64)


@dataclass(frozen=True, repr=False, eq=False)
class ClickModel(Result):
    """The base class of click models: frozen values that predict clicks.

    Parameters
    ----------
    n_lists
        Number of result lists that it was fitted to.
    notes
        What the log cannot say, in sentences.

    Examples
    --------
    >>> log = rw.clicks.from_sessions([("hats", ["d1", "d2"], [1, 0]), ("hats", ["d2", "d1"], [0, 1])])
    >>> isinstance(rw.clicks.fit_click_model(log, "cascade"), rw.clicks.ClickModel)
    True
    """

    name: ClassVar[str]
    n_lists: int
    notes: tuple[str, ...]

    @abstractmethod
    def conditional(self, log: ClickLog) -> Doubles:
        """Return the probability of a click on each impression, given the clicks above it."""

    def marginal(self, log: ClickLog) -> Doubles:
        """Return the probability of a click on each impression, whatever is clicked above it."""
        return self.conditional(log)

    def affine(self, log: ClickLog) -> tuple[Doubles, Doubles]:
        """Return slope and intercept of `conditional`, which is affine in the attraction of the document."""
        attraction = np.maximum(self.estimates()["attraction"].in_log(log), CERTAIN)
        return self.conditional(log) / attraction, np.zeros(len(log))

    def estimates(self) -> dict[str, PairEstimates]:
        """Return the estimates for pairs of query and document, by name; `attraction` is their relevance."""
        return {}

    def parameters(self) -> Iterator[Block]:
        """Return the tables and charts of other parameters."""
        return iter(())

    @property
    def summary(self) -> str:
        pairs = [counted(len(each), "pair") for each in self.estimates().values()]
        of_pairs = f" and {pairs[0]} of query and document" if pairs else ""
        return f"The {self.name} of {counted(self.n_lists, 'list')}{of_pairs}."

    def blocks(self) -> Iterator[Block]:
        yield from self.parameters()
        for title, estimates in self.estimates().items():
            prior = {f"mean {title}": estimates.prior.mean, "impressions it is worth": estimates.prior.strength}
            yield Facts(prior)
            yield estimates.table(title)
        for note in self.notes:
            yield Note(note)

    def to_dict(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"model": self.name, "lists": self.n_lists, "notes": list(self.notes)}
        for title, each in self.estimates().items():
            facts[title] = {
                "query": [str(name) for name in each.query_ids[each.query]],
                "document": [str(name) for name in each.document_ids[each.document]],
                "value": each.values.tolist(),
                "standard_error": [None if np.isnan(error) else error for error in each.errors.tolist()],
                "prior": {"mean": each.prior.mean, "strength": each.prior.strength},
            }
        return facts


def by_position(counts: ClickCounts) -> Doubles:
    """Return the click rate at each position, from 0; without a click, as if there were half of one."""
    clicked, shown = counts.by_position(counts.clicked), counts.by_position(counts.shown)
    return np.where((clicked == 0) & (shown > 0), 0.5 / (shown + 1.0), clicked / np.maximum(shown, 1e-300))


def at_positions(values: Doubles, log: ClickLog, otherwise: float) -> Doubles:
    """Return the value of each impression's position; `otherwise` for positions beyond the last known."""
    padded = np.append(values, otherwise)
    return padded[np.minimum(log.position, len(values))]
