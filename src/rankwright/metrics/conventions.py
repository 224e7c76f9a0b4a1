"""Named conventions of other tools for computing metrics, so that their numbers can be reproduced.

| convention | gain | discount | ties | no relevant document | and |
|---|---|---|---|---|---|
| standard | 2^label - 1 | log2(1 + rank) | averaged | 0 | |
| letor3 | 2^label - 1 | 1, 1, log2(rank) | file order | 0 | LETOR 3.0's script |
| letor4 | 2^label - 1 | 1, 1, log2(rank) | file order | 0 | NDCG@k is 0 with fewer than k documents |
| trec | label | log2(1 + rank) | document id, descending | 0 | scores as 32-bit floats, negative labels as 0 |
| lightgbm | 2^label - 1 | log2(1 + rank) | input order | 1 | MAP@k is divided by min(relevant, k) |
| sklearn | label | log2(1 + rank) | averaged | 0 | |
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.data.ranking import Ranking
from rankwright.metrics.base import Metric, Ties
from rankwright.metrics.gain import Discount, Gain
from rankwright.metrics.parse import METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True)
class Convention:
    """How a tool computes metrics: the metrics that it has, and the values of their options."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = tuple(METRICS)
    reads_as_trec_eval: bool = False

    def apply(self, metric: Metric) -> Metric:
        """Return the metric as this convention computes it.

        The convention sets only options that were not given to the metric. Given options stay, even if they equal
        the defaults: `NDCG(gain=Gain.EXPONENTIAL)` and `ndcg(gain=exponential)` always keep their gain.
        """
        if metric.name not in self.metrics and metric.name in METRICS and METRICS[metric.name] is type(metric):
            raise InputError(f"The convention {self.name} has no {metric.name}; it has {', '.join(self.metrics)}.")
        open_options = {option.name for option in fields(metric)}.difference(metric._given)
        return metric.with_options(**{name: self.settings[name] for name in open_options & self.settings.keys()})

    def labels(self, labels: Doubles) -> Doubles:
        """Return the labels as the tool reads them."""
        return np.maximum(labels, 0.0) if self.reads_as_trec_eval else labels

    def rank(
        self,
        scores: ArrayLike,
        groups: QueryGroups,
        document_ids: ArrayLike | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Ranking:
        """Rank documents as the tool does."""
        if not self.reads_as_trec_eval:
            return Ranking.of(scores, groups, n_jobs=n_jobs)
        # trec_eval stores scores as 32-bit floats and sorts equal scores by document id in descending order.
        with np.errstate(over="ignore"):
            scores = np.asarray(scores, dtype=np.float32).astype(np.float64)
        if document_ids is None:
            return Ranking.of(scores, groups, n_jobs=n_jobs)
        # It compares bytes; in UTF-8 that is the order of code points.
        _, position = np.unique(np.asarray(document_ids).astype(np.str_), return_inverse=True)
        return Ranking.of(scores, groups, tie_break=-position, n_jobs=n_jobs)


_LETOR = {"discount": Discount.LETOR, "ties": Ties.STABLE}

CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("standard"),
        Convention("letor3", _LETOR, ("ndcg", "map", "p")),
        Convention("letor4", {**_LETOR, "fewer_than_k": 0.0}, ("ndcg", "mean_ndcg", "map", "p")),
        Convention(
            "trec",
            {"gain": Gain.LINEAR, "ties": Ties.STABLE},
            ("ndcg", "map", "mrr", "p", "recall"),
            reads_as_trec_eval=True,
        ),
        Convention("lightgbm", {"ties": Ties.STABLE, "empty": 1.0, "capped": True}, ("ndcg", "map")),
        Convention("sklearn", {"gain": Gain.LINEAR}, ("ndcg", "dcg")),
    )
}


def find_convention(name: str) -> Convention:
    """Return the convention of that name."""
    if name not in CONVENTIONS:
        raise InputError(f"There is no convention {name!r}{nearest(name, CONVENTIONS)}")
    return CONVENTIONS[name]
