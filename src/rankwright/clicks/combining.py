"""Human labels and labels from clicks in one data set, weighed by what predicts held-out human labels better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import counted, metric_value
from rankwright.clicks.judgements import HIGHEST, ClickJudgements
from rankwright.clicks.learning.comparison import copied, not_among, per_query
from rankwright.data.dataset import RankingData
from rankwright.data.splitting import concat
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.reports.blocks import Column, Kind, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.blocks import Block

ROUNDS = 100  # of the ranker that compares weights, by default


@dataclass(frozen=True, repr=False, eq=False)
class CombinedJudgements(Result):
    """Documents with human labels and documents with labels from clicks, to train a ranker on.

    Parameters
    ----------
    data
        The documents with human labels, then those with labels from clicks, on the scale of human labels.
        Queries have new ids, since a query may be in both.
    weights
        One per document, for `fit(data, sample_weight=weights)`: 1 with a human label; otherwise the weight of the
        document's clicks, times the chosen one.
    weight
        The chosen weight of labels from clicks.
    values
        The metric of held-out human labels by weight of labels from clicks.
    metric
        Name of the metric.
    n_queries
        Number of held-out queries with human labels.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(60, n_documents=6, n_features=8, n_active=5, seed=2)
    >>> judged, searched = rw.split_queries(data, 0.3, 0.7)
    >>> log = rw.clicks.simulate(searched, {"old": searched.X[:, 0], "new": searched.X[:, 1]}, sessions=50)
    >>> clicked = rw.clicks.click_judgements(log, searched)
    >>> both = rw.clicks.combine_judgements(judged, clicked, rw.LambdaMART(rounds=20, n_jobs=1))
    >>> isinstance(both, rw.clicks.CombinedJudgements), len(both.data) == len(judged) + len(clicked.data)
    (True, True)
    """

    data: RankingData
    weights: Doubles
    weight: float
    values: dict[float, float]
    metric: str
    n_queries: int

    @property
    def summary(self) -> str:
        best = f"{self.metric} {metric_value(self.values[self.weight])} of {counted(self.n_queries, 'query')}"
        if self.weight == 0:
            return f"Labels from clicks are left out: held-out human labels are predicted best without, {best}."
        times = "" if self.weight == 1 else f"{self.weight:g} times "
        return f"Labels from clicks count {times}as much as human labels: {best} with human labels."

    def blocks(self) -> Iterator[Block]:
        columns = [Column("weight of clicks", Kind.NUMBER), Column(f"{self.metric} by held-out human labels")]
        yield Table(columns, list(self.values.items()))

    def to_dict(self) -> dict[str, Any]:
        values = {f"{weight:g}": value for weight, value in self.values.items()}
        return {"weight": self.weight, "metric": self.metric, "values": values, "queries": self.n_queries}


def combine_judgements(
    judged: RankingData,
    clicked: ClickJudgements,
    ranker: Ranker | None = None,
    *,
    weights: Sequence[float] = (0.0, 0.1, 0.3, 1.0),
    folds: int = 5,
    random_state: int = 0,
) -> CombinedJudgements:
    """Join human labels and labels from clicks, and weigh clicks by how well both predict held-out human labels.

    A ranker is fitted with each weight to all labels but those of a part of the human queries, which measure it.
    Of these queries clicks are held out too.

    Parameters
    ----------
    judged
        Documents with human labels.
    clicked
        Labels from clicks, by `click_judgements`.
    ranker
        What compares the weights; by default `LambdaMART(rounds=100)`.
    weights
        Weights of labels from clicks to try.
    folds
        Number of parts of the human queries.
    random_state
        Seed of the parts.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(60, n_documents=6, n_features=8, n_active=5, seed=2)
    >>> judged, searched = rw.split_queries(data, 0.3, 0.7)
    >>> log = rw.clicks.simulate(searched, {"old": searched.X[:, 0], "new": searched.X[:, 1]}, sessions=50)
    >>> clicked = rw.clicks.click_judgements(log, searched)
    >>> both = rw.clicks.combine_judgements(judged, clicked, rw.LambdaMART(rounds=20, n_jobs=1))
    >>> both.weight > 0
    True
    """
    require_type(judged, RankingData, "combine_judgements takes RankingData with human labels")
    require_type(clicked, ClickJudgements, "clicked must be ClickJudgements, as click_judgements returns them")
    if len(judged.groups) < 2:
        raise InputError("Human labels of at least two queries are needed to hold some of them out.")
    if not weights or not all(0.0 <= weight < np.inf for weight in weights):
        raise InputError("weights must hold numbers that are not negative.")
    chosen = LambdaMART(rounds=ROUNDS) if ranker is None else ranker
    n_folds = min(folds, len(judged.groups))
    if n_folds < 2:
        raise InputError(f"folds must be at least 2, not {folds}.")
    fold = np.random.default_rng(random_state).permutation(len(judged.groups)) % n_folds
    values: dict[float, list[Doubles]] = {float(weight): [] for weight in weights}
    for number in range(n_folds):
        train, test = (judged.take_queries(np.flatnonzero(part)) for part in (fold != number, fold == number))
        for weight, measured in values.items():
            data, of_rows = joined(train, clicked, weight, test)
            measured.append(per_query(copied(chosen).fit(data, sample_weight=of_rows), test))
    means = {weight: float(np.concatenate(measured).mean()) for weight, measured in values.items()}
    best = max(means, key=lambda weight: means[weight])
    data, of_rows = joined(judged, clicked, best)
    return CombinedJudgements(data, of_rows, best, means, str(chosen.metric), len(judged.groups))


def joined(
    judged: RankingData, clicked: ClickJudgements, weight: float, held_out: RankingData | None = None
) -> tuple[RankingData, Doubles]:
    """Return all documents but those of held-out queries, and their weights; without any of weight 0."""
    from_clicks, of_clicks = clicked.data, clicked.weights
    if held_out is not None:
        names = not_among(from_clicks, held_out)
        kept = np.isin(from_clicks.groups.query_of_row, names)
        from_clicks, of_clicks = from_clicks.take(np.flatnonzero(kept)), of_clicks[kept]
    if weight == 0.0 or len(from_clicks) == 0:
        return judged, np.ones(len(judged))
    attraction = (2.0**from_clicks.y - 1.0) / (2.0**HIGHEST - 1.0)
    scaled = from_clicks.with_labels(np.log2(1.0 + (2.0 ** max(1.0, float(judged.y.max())) - 1.0) * attraction))
    data = concat(judged, scaled, shared_queries="separate")
    return data, np.concatenate([np.ones(len(judged)), weight * of_clicks])
