"""The base class of rankers of scaled features, which count the queries that they skip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.rankers.parameters.declaration import fitted
from rankwright.rankers.parameters.shared_parameters import ScalingParameters
from rankwright.rankers.ranker import Ranker

if TYPE_CHECKING:
    from rankwright.data.scaling import Scaling
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.monitor import Monitor
    from rankwright.training.training_set import QueryLabels


class ScaledRanker(ScalingParameters, Ranker):
    """A ranker of scaled features."""

    skipped_queries_: int = fitted("Number of training queries that were not informative and were skipped.")

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        return super()._about(task, history) | {"skipped_queries": self.skipped_queries_}

    def _monitor(self, labels: QueryLabels, scaling: Scaling, task: FitTask, **options: Any) -> Monitor:
        """Return the monitor of models that score the columns which the scaling applies to."""
        columns = task if scaling.within is None else task.with_query_features((scaling.within,), raw=False)
        return columns.monitor(self.metric, labels, **options)
