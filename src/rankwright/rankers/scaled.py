"""What the rankers of scaled features share: watching rounds, and counting the queries that they skip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.rankers.ranker import Ranker

if TYPE_CHECKING:
    from rankwright.data.scaling import Scaling
    from rankwright.training import FitTask, History, Monitor, QueryLabels


class ScaledRanker(Ranker):
    """A ranker of scaled features.

    After `fit`, `skipped_queries_` is the number of queries that taught it nothing.
    """

    scaling: str
    skipped_queries_: int

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        return super()._about(task, history) | {"skipped_queries": self.skipped_queries_}

    def _monitor(self, labels: QueryLabels, scaling: Scaling, task: FitTask, **options: Any) -> Monitor:
        """Return the monitor of models that score the columns which the scaling applies to."""
        columns = task if scaling.within is None else task.with_query_features((scaling.within,), raw=False)
        return columns.monitor(self.metric, labels, **options)
