"""What the rankers of scaled features share: watching rounds, and counting the queries that they skip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.rankers.ranker import Ranker
from rankwright.training import Monitor

if TYPE_CHECKING:
    from rankwright.data.dataset import Judged
    from rankwright.data.scaling import Scaling
    from rankwright.rankers.ranker import FitTask
    from rankwright.training import History


class ScaledRanker(Ranker):
    """A ranker of scaled features.

    After `fit`, `skipped_queries_` is the number of queries that taught it nothing.
    """

    scaling: str
    skipped_queries_: int

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        return super()._about(task, history) | {"skipped_queries": self.skipped_queries_}

    def _monitor(self, judged: Judged, scaling: Scaling, task: FitTask, **options: Any) -> Monitor:
        """Return what watches the rounds."""
        return Monitor(
            self.metric,
            judged,
            None if task.validation is None else scaling.columns(task.validation),
            on_round=task.on_round,
            n_threads=task.n_threads,
            **options,
        )
