"""Fits on clusters: where their documents are, boosting on workers, and whole fits elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.version import __version__
from rankwright.training.boosting_loop import BLOCK_SCORES, boost
from rankwright.training.concurrent_fits import run_elsewhere
from rankwright.training.fit_task import Heartbeat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import Round
    from rankwright.training.monitor import Monitor, WeightedModel


@contextmanager
def located(documents: Any, cluster: Any, checkpoint: Any, bins: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Return the documents of a fit, and the cluster on which it runs; without one, None.

    There, what is not binned is binned with the options `bins`.
    """
    if cluster is None:
        if checkpoint is not None:
            raise InputError(f"{parameter('checkpoint')} needs a cluster: a fit in one process saves no rounds.")
        yield documents, None
        return
    from rankwright.distributed.cluster import opened_cluster, opened_source  # only clusters need it

    with opened_cluster(cluster, checkpoint) as opened, opened_source(documents, bins) as binned:
        yield binned, opened


def boosted_on_cluster(ranker: Any, learner: Any, monitor: Monitor, task: FitTask) -> list[WeightedModel]:
    """Add trees that grow on workers, as `boost` does in one process."""
    from rankwright.distributed.cluster_learner import ClusterLearner, ClusterRule

    with task.cluster.coordinator(task.train, ranker, ranker.n_jobs) as coordinator:
        nothing = f"There is nothing to learn: no swap of documents changes {ranker.metric}."
        checkpoint = task.cluster.checkpoint
        grower = ClusterLearner(
            coordinator,
            learner,
            n_classes=ranker.n_classes(task),
            learning_rate=ranker.learning_rate,
            measured=monitor.measures_training,
            checkpoint=None if checkpoint is None else checkpoint.of_fit(_identity(ranker, task)),
        )
        rule = ClusterRule(coordinator, nothing)
        start = np.zeros(BLOCK_SCORES)  # so many that each round is seen as it ends; the scores are on the workers
        return boost(rule, grower, start=start, rounds=ranker.n_rounds(task), monitor=monitor)


def fitted_elsewhere(ranker: Any, task: FitTask, *, refit: bool) -> Any:
    """Return a copy of the ranker that was fitted on an engine; `on_round` is called when the fit has ended."""
    on_round = task.on_round
    is_watched = on_round is not None and not isinstance(on_round, Heartbeat)
    sent = replace(task, on_round=None, n_threads=1)
    fitted, rounds = run_elsewhere(_fitted_with_rounds, ranker, sent, is_watched, refit)
    for ended in rounds:
        assert on_round is not None
        on_round(ended)
    return fitted


def _fitted_with_rounds(ranker: Any, task: FitTask, is_watched: bool, refit: bool) -> tuple[Any, list[Round]]:
    rounds: list[Round] = []
    watched = replace(task, on_round=rounds.append) if is_watched else task
    return ranker._fit_task(watched, refit=refit), rounds


def _identity(ranker: Any, task: FitTask) -> dict[str, Any]:
    """Return what makes two fits the same."""
    parameters = {name: str(value) for name, value in ranker.get_params(deep=False).items() if name != "n_jobs"}
    return {
        "version": __version__,  # what defaults mean may change
        "ranker": type(ranker).__name__,
        "parameters": parameters,
        "documents": task.train.fingerprint(),
    }
