"""Propensities: the probability that users examine each position, relative to the first, with intervals.

Clicks at two positions can be compared where the documents there are equally good: in lists that were shuffled,
over all documents; in other logs, over documents that several rankers showed at both positions (intervention
harvesting, Agarwal et al. 2019), which the position-based model does with all pairs of positions at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, parameter, require_type
from rankwright.base.wording import brief_list, counted, interval, listed, metric_value
from rankwright.clicks.counts import ClickCounts
from rankwright.clicks.log import ClickLog
from rankwright.clicks.models.examination import PositionBasedModel
from rankwright.clicks.models.features import PositionFeatures, TrustFeatures
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.dataset import Documents
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

NORMAL_95 = 1.959964
SAMPLES = 1000  # of queries, for intervals
NO_CLICK = 0.5, 3.69  # clicks that a position without any counts as, and may have had (Poisson, 97.5 %)
ASSUMPTIONS = {
    "shuffled": "Assumes that the order of these lists was random, and that examination depends on the position.",
    "pivot": "Assumes that a document attracts alike at every position and in every list of the query; compares "
    "documents that were shown at the position and at the first one.",
    "model": "Assumes the position-based model: examination depends on the position, and attraction does not.",
    "features": "Assumes the position-based model, and that documents for which features predict the same "
    "attraction attract alike at every position.",
    "trust": "Assumes that examination and trust depend on the position, and that documents for which features "
    "predict the same attraction attract alike at every position.",
}
WITH_FEATURES = {"features": PositionFeatures, "trust": TrustFeatures}
BY_FEATURES = (
    ": too few documents were seen at several positions. The method 'features', by features, may tell it."
)


@dataclass(frozen=True, repr=False, eq=False)
class Propensities(Result):
    """The probability of examination by position, relative to the first.

    Parameters
    ----------
    method
        `shuffled`, `pivot`, `model`, `features` or `trust`.
    position
        The positions.
    values, low, high
        The propensities and the limits of their 95 % intervals; NaN where the log cannot tell.
    n_impressions
        Number of impressions at each position that were used.
    notes
        What the log cannot say, in sentences.
    trust
        With `trust`, the probability of a click on an examined document that does not attract.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(100, n_documents=5, seed=1)
    >>> log = rw.clicks.simulate(data, {"old": data.X[:, 0], "new": data.X[:, 1]}, sessions=200)
    >>> found = rw.clicks.propensities(log)
    >>> isinstance(found, rw.clicks.Propensities), found.values.round(1).tolist()
    (True, [1.0, 0.5, 0.3, 0.3, 0.2])
    """

    method: str
    position: Integers
    values: Doubles
    low: Doubles
    high: Doubles
    n_impressions: Doubles
    notes: tuple[str, ...] = ()
    trust: Doubles | None = None

    def in_log(self, log: ClickLog) -> Doubles:
        """Return the propensity of each impression; refuse positions without one."""
        return self.by_position(log.max_position)[log.position]

    def by_position(self, last: int, values: Doubles | None = None) -> Doubles:
        """Return the propensities, or other values, of positions 0 (1) to the last; refuse unknown ones."""
        known = np.full(last + 1, np.nan)
        inside = self.position <= last
        known[self.position[inside]] = (self.values if values is None else values)[inside]
        known[0] = 1.0
        if np.isnan(known).any():
            unknown = f"There is no propensity of position {int(np.isnan(known).argmax())}"
            raise InputError(f"{unknown}{'.' if self.method in WITH_FEATURES else BY_FEATURES}")
        return known

    @property
    def summary(self) -> str:
        known = np.flatnonzero(~np.isnan(self.values))
        last = known[-1]
        if last == 0:
            return "The log does not tell the propensity of any position but the first."
        value = f"{metric_value(self.values[last])} ({interval(self.low[last], self.high[last])})"
        positions = counted(len(known), "position")
        return f"Propensities of {positions}: from 1 at the first to {value} at position {self.position[last]}."

    def blocks(self) -> Iterator[Block]:
        limits = zip(*(each.tolist() for each in (self.values, self.low, self.high)), strict=True)
        rows: list[tuple[Any, ...]] = [
            (position, shown, Interval(*numbers))
            for position, shown, numbers in zip(
                self.position.tolist(), self.n_impressions.tolist(), limits, strict=True
            )
        ]
        columns = [Column("position", Kind.COUNT), Column("impressions", Kind.COUNT), Column("propensity")]
        if self.trust is not None:
            columns.append(Column("trust"))
            rows = [(*row, trust) for row, trust in zip(rows, self.trust.tolist(), strict=True)]
        yield Table(columns, rows)
        yield Figure(self.chart, "Propensity by position, with its 95 % interval.")
        for note in (ASSUMPTIONS[self.method], *self.notes):
            yield Note(note)

    def chart(self) -> Chart:
        """Return propensity by position."""
        from rankwright.reports.charts.lines import line_chart

        known = ~np.isnan(self.values)
        position, values, low, high = (each[known] for each in (self.position, self.values, self.low, self.high))
        points = list(zip(position.tolist(), values.tolist(), strict=True))
        bands = {"": list(zip(position.tolist(), low.tolist(), high.tolist(), strict=True))}
        description = "Propensity by position, with its 95 % interval."
        return line_chart({"": points}, "position", "propensity", description=description, bands=bands)


def propensities(
    log: ClickLog,
    method: str = "model",
    *,
    data: Documents | None = None,
    policy: Any = "shuffled",
    random_state: int = 0,
) -> Propensities:
    """Estimate how likely users examine each position, relative to the first.

    Parameters
    ----------
    log
        The log.
    method
        `model`: of the position-based model, from all documents that were seen at several positions; `pivot`: from
        those that were seen at the position and at the first one; `shuffled`: from lists in random order;
        `features`: from documents with similar features, which a single ranker shows at different positions too;
        `trust`: the same, and how much users trust each position (affine).
    data
        With `features` and `trust`, the documents of the log with their features.
    policy
        With `shuffled`, the policy of the lists in random order.
    random_state
        Seed of the intervals of `pivot` and `shuffled`, which are of samples of queries.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(100, n_documents=5, seed=1)
    >>> log = rw.clicks.simulate(data, data.X[:, 0], sessions=400, shuffled=0.5)
    >>> rw.clicks.propensities(log, "shuffled").values.round(1).tolist()
    [1.0, 0.5, 0.3, 0.3, 0.2]
    """
    require_type(log, ClickLog, "propensities takes a ClickLog")
    if method not in ASSUMPTIONS:
        raise InputError(f"{parameter('method')} must be {listed(ASSUMPTIONS)}, not {method!r}.")
    if method == "shuffled":
        log = _of_policy(log, policy)
    counts = ClickCounts.of(log)
    if not counts.clicked[counts.position == 1].any():
        raise InputError("There are no clicks at position 1, with which other positions are compared.")
    if counts.position.max() == 1:
        raise InputError("All impressions are at position 1; there is nothing to compare it with.")
    if method in WITH_FEATURES:
        return _of_features(method, counts, data, random_state)
    if method == "model":
        return _of_model(counts)
    by_query = _of_shuffled(counts) if method == "shuffled" else _of_pivot(counts)
    return _of_sums(method, counts, *by_query, random_state)


def _of_policy(log: ClickLog, policy: Any) -> ClickLog:
    ids = [] if log.policy is None or log.policy_ids is None else log.policy_ids.tolist()
    if policy not in ids:
        raise InputError(f"The log has no policy {policy!r}; name that of the lists in random order in policy.")
    assert log.policy is not None
    return log.take_lists(log.policy[log.offsets[:-1]] == ids.index(policy))


def _of_features(method: str, counts: ClickCounts, data: Documents | None, random_state: int) -> Propensities:
    if data is None:
        raise InputError(f"The method {method!r} needs {parameter('data')}: documents with features.")
    model = WITH_FEATURES[method].fit_features(counts, data, random_state=random_state)
    if model.is_biased and not model.is_identified:
        raise InputError(model.notes[-1])
    position = np.flatnonzero(counts.by_position(counts.shown))
    of_position = model.class_of(position, np.zeros_like(position))
    values, errors = model.examination[of_position], model.errors[of_position]
    low, high = (np.clip(values + side * NORMAL_95 * errors, 0.0, None) for side in (-1, 1))
    trust = model.trust[of_position] if method == "trust" else None
    shown = counts.by_position(counts.shown)[position]
    return Propensities(method, position, values, low, high, shown, model.notes, trust)


def _of_model(counts: ClickCounts) -> Propensities:
    model = PositionBasedModel.fit(counts)
    values = np.where(np.isnan(model.errors), np.nan, model.examination)
    low, high = (np.clip(values + side * NORMAL_95 * model.errors, 0.0, None) for side in (-1, 1))
    shown = counts.by_position(counts.shown)[model.position]
    return Propensities("model", model.position, values, low, high, shown, model.notes)


def _of_shuffled(counts: ClickCounts) -> tuple[Doubles, Doubles, Doubles, Doubles]:
    """Return, by query and position: clicks and impressions there, and the same at the first position."""
    clicked, shown = (_by_query(counts, each) for each in (counts.clicked, counts.shown))
    first = np.ones(clicked.shape[1])
    return clicked, shown, np.outer(clicked[:, 1], first), np.outer(shown[:, 1], first)


def _of_pivot(counts: ClickCounts) -> tuple[Doubles, Doubles, Doubles, Doubles]:
    """Return the same of documents that were seen there and at the first position, weighted to be alike.

    A document counts as often as it was seen in the rarer of the two places.
    """
    n_pairs, n_positions = len(counts.pair_offsets) - 1, int(counts.position.max()) + 1
    shape = (n_pairs, n_positions)
    shown, clicked = np.zeros(shape), np.zeros(shape)
    np.add.at(shown, (counts.pair, counts.position), counts.shown)
    np.add.at(clicked, (counts.pair, counts.position), counts.clicked)
    weight = np.minimum(shown, shown[:, 1:2])
    rate = clicked / np.maximum(shown, 1e-300)
    query = counts.query[counts.pair_offsets[:-1]]
    parts = weight * rate, weight, weight * rate[:, 1:2], weight
    sums = [np.zeros((len(counts.query_ids), n_positions)) for _ in parts]
    for total, part in zip(sums, parts, strict=True):
        np.add.at(total, query, part)
    return sums[0], sums[1], sums[2], sums[3]


def _by_query(counts: ClickCounts, values: Doubles) -> Doubles:
    sums = np.zeros((len(counts.query_ids), int(counts.position.max()) + 1))
    np.add.at(sums, (counts.query, counts.position), values)
    return sums


def _of_sums(
    method: str,
    counts: ClickCounts,
    clicked: Doubles,
    shown: Doubles,
    first_clicked: Doubles,
    first_shown: Doubles,
    random_state: int,
) -> Propensities:
    """Return ratios of click rates, with percentile intervals over samples of queries."""
    n_queries = len(clicked)
    random = np.random.default_rng(random_state)
    drawn = random.multinomial(n_queries, np.full(n_queries, 1 / n_queries), size=SAMPLES).astype(np.float64)
    sums = clicked, shown, first_clicked, first_shown
    totals = [each.sum(axis=0) for each in sums]
    values = _ratios(*totals)
    samples = _ratios(*(drawn @ each for each in sums))
    with np.errstate(all="ignore"):
        low, high = np.quantile(np.nan_to_num(samples, nan=0.0), [0.025, 0.975], axis=0)
    silent = values == 0.0  # no sample has a click either
    values[silent], high[silent] = (_ratios(np.full_like(values, n), *totals[1:])[silent] for n in NO_CLICK)
    position = np.unique(counts.position).astype(np.int64)
    values, low, high = (np.where(position == 1, 1.0, each[position]) for each in (values, low, high))
    unknown = np.isnan(values)
    low[unknown] = high[unknown] = np.nan
    names = brief_list(map(str, position[unknown].tolist()))
    notes = [f"No document was seen both at the first position and at these: {names}."] if names else []
    return Propensities(method, position, values, low, high, totals[1][position], (*counts.notes, *notes))


def _ratios(clicked: Doubles, shown: Doubles, first_clicked: Doubles, first_shown: Doubles) -> Doubles:
    with np.errstate(all="ignore"):
        ratio = (clicked / shown) / (first_clicked / first_shown)
    return np.where((shown > 0) & (first_clicked > 0), ratio, np.nan)
