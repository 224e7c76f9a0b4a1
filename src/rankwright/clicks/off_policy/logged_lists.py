"""The weights of logged impressions for a new ranking, under assumptions about what clicks depend on.

The fewer things a click may depend on, the more of a log can be used for a ranking that was never shown (Li et al.
2018). With P(d, k) the probability that the log's policy shows document d of the query at position k, and a new
ranking that puts d at rank j, a click on d at position k has the weight

- `list`: 1 / P(the whole list) if the new list is the same, otherwise 0; nothing is assumed.
- `item_position`: 1 / P(d, k) if j = k, otherwise 0: a click depends on the document and its position.
- `position`: e(j) / sum over k' of e(k') P(d, k'), with e the chance of examination: the position-based model.
- `first`: as `item_position`, for the first position alone.

P is the log's propensity if it has one; otherwise it is counted: how often was d at k in the lists of the query?
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.clicks.off_policy.estimators import WeightedRewards

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.clicks.log import ClickLog
    from rankwright.data.dataset import Documents

LIST, ITEM_POSITION, POSITION, FIRST = "list", "item_position", "position", "first"
ASSUMPTIONS = {
    POSITION: "Assumes the position-based model: a click needs examination, which depends on the position, and "
    "attraction, which does not.",
    ITEM_POSITION: "Assumes that a click depends on the document and its position, not on the rest of the list.",
    LIST: "Assumes nothing about clicks: only lists that the new ranker would show in full count.",
    FIRST: "Measures the first position alone.",
}
CLICKS, DCG = "clicks", "dcg"


@dataclass(frozen=True, eq=False)
class LoggedLists:
    """The lists of a log whose queries are among the documents, ready to be weighted for any ranking of these.

    Parameters
    ----------
    log
        The lists that are used.
    row
        The row of each impression's document in the data; -1 if it is unknown, so that no ranking shows it.
    query_of_list
        The number of each list's query in the data.
    sizes
        Number of documents of each query in the data.
    assume, reward
        The assumption, and what counts: `clicks` or `dcg`.
    examination, upper
        The probability of examination by position, from 0, and the upper limits of its intervals; ones where the
        assumption does not use it.
    notes
        What was left out.
    """

    log: ClickLog
    row: Integers
    query_of_list: Integers
    sizes: Integers
    assume: str
    reward: str
    examination: Doubles
    upper: Doubles
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, log: ClickLog, data: Documents, assume: str, reward: str, examination: Doubles, upper: Doubles
    ) -> LoggedLists:
        """Find the log's queries and documents in the data."""
        number = {str(name): query for query, name in enumerate(data.groups.ids.tolist())}
        known = np.array([number.get(str(name), -1) for name in log.query_ids.tolist()], dtype=np.int64)
        query = known[log.query[log.offsets[:-1]]]
        used = log.take_lists(query >= 0)
        if used.n_lists == 0:
            raise InputError("No query of the log is among the documents.")
        row = used.rows_in(data)
        notes = (*log.notes, *_left_out(int((query < 0).sum()), int((row < 0).sum())))
        sizes = data.groups.sizes
        return cls(used, row, query[query >= 0], sizes, assume, reward, examination, upper, notes)

    def at_limits(self) -> tuple[LoggedLists, ...]:
        """Return the lists with examination at both limits of its intervals; none if it is known.

        On a logarithmic scale, on which intervals are symmetric and no limit is 0. All positions are low or high
        together, as errors are that come from the first position.
        """
        if np.array_equal(self.upper, self.examination):
            return ()
        return tuple(replace(self, examination=each) for each in (self.examination**2 / self.upper, self.upper))

    @property
    def n_queries(self) -> int:
        """Number of queries in the data."""
        return len(self.sizes)

    @cached_property
    def depth(self) -> Integers:
        """The largest position of each list's query, to which new rankings are shown."""
        deepest = np.zeros(self.n_queries, dtype=np.int64)
        np.maximum.at(deepest, self.query_of_list[self.log.list_of_impression], self.log.position)
        return np.minimum(deepest, 1) if self.assume == FIRST else deepest

    @cached_property
    def lists_of_query(self) -> Doubles:
        """Number of lists of each query."""
        return np.bincount(self.query_of_list, minlength=self.n_queries).astype(np.float64)

    @property
    def query(self) -> Integers:
        """The number of each impression's query in the data."""
        return self.query_of_list[self.log.list_of_impression]

    @cached_property
    def gains(self) -> Doubles:
        """What a click counts at each position, from 0: 1, or the discount of DCG."""
        positions = np.arange(self.log.max_position + 1)
        return np.ones(len(positions)) if self.reward == CLICKS else 1.0 / np.log2(np.maximum(positions, 1) + 1.0)

    @cached_property
    def at_rank(self) -> Doubles:
        """What a new ranking is measured by at each rank, from 0, before attraction or clicks."""
        if self.assume != POSITION:
            return np.ones_like(self.gains)
        return self.examination if self.reward == CLICKS else self.gains

    @cached_property
    def shown(self) -> Doubles:
        """The probability of what each impression shows under the log's policy, as the assumption needs it."""
        log = self.log
        if self.assume == POSITION:
            sums = np.bincount(log.pairs.of_impression, self.examination[log.position])
            return sums[log.pairs.of_impression] / self.lists_of_query[self.query]
        if log.propensity is not None:
            return log.propensity
        if self.assume == LIST:
            return self._frequency(self._list_codes())[log.list_of_impression]
        keys = log.pairs.of_impression * (log.max_position + 1) + log.position
        _, cell, times = np.unique(keys, return_inverse=True, return_counts=True)
        return np.asarray(times[cell] / self.lists_of_query[self.query])

    def _list_codes(self) -> Integers:
        """Return a number for each list; lists of a query with the same documents in the same order share one."""
        log, codes = self.log, dict[bytes, int]()
        cells = np.stack([log.query, log.document, log.position], axis=1)
        ends = zip(log.offsets[:-1].tolist(), log.offsets[1:].tolist(), strict=True)
        return np.array([codes.setdefault(cells[begin:end].tobytes(), len(codes)) for begin, end in ends])

    def _frequency(self, codes: Integers) -> Doubles:
        return np.asarray(np.bincount(codes)[codes] / self.lists_of_query[self.query_of_list])

    def weights(self, ranks: Integers) -> Doubles:
        """Return the weight of each impression for a ranking, given as the rank of each row of the data."""
        log = self.log
        rank = np.where(self.row >= 0, ranks[self.row], 0)
        within = (rank > 0) & (rank <= self.depth[self.query])
        if self.assume == POSITION:
            return np.where(within, self.at_rank[np.where(within, rank, 0)], 0.0) / self.shown
        same = within & (rank == log.position)
        if self.assume == LIST:
            whole = np.bincount(log.list_of_impression, ~same, minlength=log.n_lists) == 0
            same &= (whole & (np.diff(log.offsets) == self.depth[self.query_of_list]))[log.list_of_impression]
        return np.asarray(same / self.shown)

    @cached_property
    def counts(self) -> Doubles:
        """1 for the impressions that are measured, 0 for others."""
        return np.ones(len(self.log)) if self.assume != FIRST else (self.log.position == 1).astype(np.float64)

    @property
    def click_gains(self) -> Doubles:
        """What a click on each impression counts before it is weighted."""
        return self.counts if self.assume == POSITION else self.counts * self.gains[self.log.position]

    @property
    def as_logged(self) -> float:
        """What the lists of the log have themselves, per list."""
        log = self.log
        weights = self.at_rank[log.position] / self.examination[log.position] if self.assume == POSITION else 1.0
        return float((log.clicked * self.click_gains * weights).sum()) / log.n_lists

    def weighted(self, ranks: Integers) -> WeightedRewards:
        """Return the rewards and weights of all impressions for a ranking, given as the rank of each row."""
        log = self.log
        control = self.examination[log.position] if self.assume == POSITION else self.counts
        sessions = np.unique(log.session[log.offsets[:-1]], return_inverse=True)[1]
        total = float(self.sums_at_ranks()[self.query_of_list].sum())
        rewards = log.clicked * self.click_gains
        return WeightedRewards(rewards, self.weights(ranks), log.list_of_impression, sessions, control, total)

    def sums_at_ranks(self) -> Doubles:
        """Return, for each query, the sum over the ranks of a new list of what they are measured by."""
        sums = np.cumsum(self.at_rank) - self.at_rank[0]
        return np.asarray(sums[np.minimum(self.depth, self.sizes)])

    def support(self, ranks: Integers, sample: WeightedRewards) -> float:
        """Return which part of a new ranking the log supports, over all lists.

        That is what it has shown, as the assumption needs it. With known propensities, which need not have shown
        everything, it is the mean weight, 1 in expectation, plus three standard errors.
        """
        if self.log.propensity is not None and self.assume != POSITION:
            sums = sample.by_list(sample.weights * sample.control)
            spread = float(sums.std()) * float(np.sqrt(len(sums)))
            return min(1.0, (float(sums.sum()) + 3.0 * spread) / sample.total)
        rows = np.unique(self.row[sample.weights > 0])
        query_of_row = np.zeros(len(ranks), dtype=np.int64)
        query_of_row[self.row[self.row >= 0]] = self.query[self.row >= 0]
        covered = np.bincount(query_of_row[rows], self.at_rank[ranks[rows]], minlength=self.n_queries)
        return float(self.lists_of_query @ covered / sample.total)


def _left_out(n_lists: int, n_impressions: int) -> Iterator[str]:
    if n_lists:
        yield f"{counted(n_lists, 'list')} of queries that are not among the documents left out."
    if n_impressions:
        yield f"{counted(n_impressions, 'impression')} of unknown documents, which no new ranker shows."
