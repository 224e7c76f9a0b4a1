"""OffPolicyClicks: estimated clicks as a metric, one value per query, to stand beside others in `compare`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.clicks.off_policy.evaluation import LEAST_SUPPORT, logged_lists
from rankwright.clicks.off_policy.logged_lists import CLICKS, POSITION, LoggedLists
from rankwright.metrics.base import Metric, Ties

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles
    from rankwright.clicks.log import ClickLog
    from rankwright.clicks.position_bias import Propensities
    from rankwright.data.dataset import Documents
    from rankwright.data.groups import Ranking


@dataclass(frozen=True, eq=False)
class OffPolicyClicks(Metric):
    """Clicks per result list that a ranking would have had, estimated from a log by inverse propensity scores.

    A metric of `evaluate` and `compare` beside those of labels. A query that the log lacks has no value; a ranker
    of which the log has shown too little is refused. The mean is over queries, that of `off_policy` over lists.

    Parameters
    ----------
    log, data
        The log, and the documents that will be evaluated.
    reward, assume, examination
        As for `off_policy`.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(50, n_documents=5, seed=1)
    >>> log = rw.clicks.simulate(data, {"old": data.X[:, 0], "new": data.X[:, 1]}, sessions=100)
    >>> clicks = rw.clicks.OffPolicyClicks(log, data)
    >>> compared = rw.compare({"old": data.X[:, 0], "new": data.X[:, 1]}, data, metrics=["ndcg@5", clicks])
    >>> compared.metrics
    ('ndcg@5', 'clicks')
    """

    name: ClassVar[str] = CLICKS
    log: ClickLog = field(repr=False)
    data: Documents = field(repr=False)
    reward: str = CLICKS
    assume: str = POSITION
    examination: Propensities | str = "model"
    ties: Ties = field(default=Ties.STABLE, kw_only=True)
    empty: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        lists = logged_lists(self.log, self.data, self.assume, self.reward, self.examination)
        object.__setattr__(self, "_lists", lists)

    def __str__(self) -> str:
        return self.reward

    def of_ranking(self, labels: Doubles) -> float:  # noqa: ARG002  # as in the base class
        raise InputError(
            "OffPolicyClicks ranks documents that a log knows; labels alone do not say which they are."
        )

    def per_query_with_empty(self, labels: ArrayLike, ranking: Ranking, *, n_jobs: int | None = None) -> Doubles:  # noqa: ARG002  # as in the base class
        """Return the estimate for each query; NaN for those without a list."""
        lists: LoggedLists = self._lists  # type: ignore[attr-defined]
        if ranking.groups.n_rows != len(self.data):
            raise InputError("OffPolicyClicks was made for other documents than these.")
        ranks: Any = ranking.ranks()
        sample = lists.weighted(ranks)
        support = lists.support(ranks, sample)
        if support < LEAST_SUPPORT:
            raise InputError(
                f"The log has shown {support:.0%} of what this ranker would show: clicks cannot be estimated."
            )
        sums = np.bincount(
            lists.query_of_list, sample.by_list(sample.weights * sample.rewards), minlength=lists.n_queries
        )
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / lists.lists_of_query)
