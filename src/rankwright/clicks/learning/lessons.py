"""What rankers learn from: labels of documents, or the impressions of a log with clicks as labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import listed
from rankwright.clicks.judgements import click_judgements
from rankwright.clicks.learning.examined import NAIVE
from rankwright.clicks.models.features import FeatureModel
from rankwright.data.dataset import Documents, RankingData

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Integers
    from rankwright.clicks.learning.examined import ExaminedLog
    from rankwright.clicks.log import ClickLog
    from rankwright.rankers.ranker import Ranker

JUDGEMENTS, WEIGHTS, UNBIASED = "judgements", "weights", "unbiased"
BY = (JUDGEMENTS, WEIGHTS, UNBIASED)


@dataclass(frozen=True, eq=False)
class Lesson:
    """Documents or impressions with labels, and the number of the data's query of each row.

    `exposure` has positions or propensities of impressions, as `fit` takes them.
    """

    data: RankingData
    query: Integers
    exposure: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_labels(cls, data: RankingData) -> Lesson:
        """Return the lesson of labels of documents."""
        return cls(data, data.groups.query_of_row)

    def fitted(self, ranker: Ranker, queries: NDArray[np.bool_] | None = None, **options: Any) -> Any:
        """Fit the ranker to the queries of a mask, or to all."""
        if queries is None:
            return ranker.fit(self.data, **self.exposure, **options)
        rows = np.flatnonzero(queries[self.query])
        exposure = {name: values[rows] for name, values in self.exposure.items()}
        return ranker.fit(self.data.take(rows), **exposure, **options)


def lessons(
    by: str, log: ClickLog, data: Documents, naive: RankingData, examined: ExaminedLog
) -> dict[str, Lesson]:
    """Return the lesson of the naive twin and, unless it is doubted, that with corrected clicks."""
    if by == JUDGEMENTS:
        taught = {NAIVE: Lesson.of_labels(naive)}
        if not examined.doubt:
            model = examined.model
            model = model.by_features() if isinstance(model, FeatureModel) else model
            taught[examined.best] = Lesson.of_labels(click_judgements(log, data, model).data)
        return taught
    known = np.flatnonzero(log.rows_in(data) >= 0)
    rows = log.rows_in(data)[known]
    lists = RankingData(
        data.X[rows],
        log.clicked[known] > 0,
        log.list_of_impression[known],
        feature_names=data.feature_names,
        categories=data.categories,
    )
    number = {name: query for query, name in enumerate(naive.groups.ids.tolist())}
    names = data.groups.ids[data.groups.query_of_row[rows]].tolist()
    query = np.array([number[name] for name in names], dtype=np.int64)
    taught = {NAIVE: Lesson(lists, query)}
    if not examined.doubt:
        slope = np.clip(examined.model.affine(log)[0][known], 1e-9, 1.0)
        exposure = {"propensity": slope} if by == WEIGHTS else {"positions": log.position[known]}
        taught[by] = Lesson(lists, query, exposure)
    return taught


def checked_by(by: str, ranker: Ranker) -> None:
    """Refuse an unknown way to correct clicks, and one that the ranker does not have."""
    if by not in BY:
        raise InputError(f"{parameter('by')} must be {listed(BY)}, not {by!r}.")
    needed = {WEIGHTS: "propensity", UNBIASED: "positions"}.get(by)
    if needed is not None and needed not in ranker.takes_exposure:
        rankers = "LambdaMART and RankSVM do" if by == WEIGHTS else "LambdaMART does"
        raise InputError(f"{type(ranker).__name__} does not learn by {by!r}; {rankers}.")
