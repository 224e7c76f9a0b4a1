"""Fits that MLflow logs by itself: parameters, the curves of the rounds, estimate, page and model."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import mlflow
import numpy as np
from mlflow.utils.autologging_utils import autologging_integration, safe_patch

from rankwright.auto.ranker import AutoRanker
from rankwright.base.errors import MissingPackageError
from rankwright.mlflow.flavour import FLAVOUR, log_model
from rankwright.rankers.parameters.spelling import spelled
from rankwright.rankers.ranker import Ranker

if TYPE_CHECKING:
    from collections.abc import Iterator

_fitting = Lock()  # held by the fit that is logged: those of AutoRanker's members are parts of it
LONGEST_PARAMETER = 500  # characters that MLflow stores


def autolog(
    *, log_models: bool = True, log_pages: bool = True, disable: bool = False, silent: bool = False
) -> None:
    """Log every fit of a ranker as a run, or to the active run.

    Logged are its parameters, the metric of each round in training and validation, the round that was kept, what
    AutoRanker expects on new queries with its interval, the page about the fit (with `rankwright[report]`) and the
    model. An error while logging is a warning of MLflow; it never ends a fit. While one fit is logged, others in
    the same process are not.

    Parameters
    ----------
    log_models, log_pages
        Whether to log the model, and the page.
    disable
        Whether to stop logging.
    silent
        Whether to hide MLflow's own messages.
    """
    _autolog(log_models=log_models, log_pages=log_pages, disable=disable, silent=silent)


@autologging_integration(FLAVOUR)  # type: ignore[untyped-decorator]
def _autolog(log_models: bool = True, log_pages: bool = True, disable: bool = False, silent: bool = False) -> None:
    del disable, silent  # MLflow reads them

    def fit(original: Any, self: Ranker, *args: Any, **options: Any) -> Any:
        with _alone() as is_outer:
            fitted = original(self, *args, **options)
            if is_outer:
                with mlflow.start_run() if mlflow.active_run() is None else nullcontext():
                    _log(self, pages=log_pages, models=log_models)
        return fitted

    for kind in (Ranker, AutoRanker):
        safe_patch(FLAVOUR, kind, "fit", fit)


@contextmanager
def _alone() -> Iterator[bool]:
    """Give whether no other fit is being logged."""
    taken = _fitting.acquire(blocking=False)
    try:
        yield taken
    finally:
        if taken:
            _fitting.release()


def _log(ranker: Ranker, *, pages: bool, models: bool) -> None:
    parameters = {"ranker": ranker.name} | {name: spelled(value) for name, value in ranker.get_params().items()}
    mlflow.log_params({name: value[:LONGEST_PARAMETER] for name, value in parameters.items()})
    history = ranker.history_
    for part, curve in (("training", history.training), ("validation", history.validation)):
        for step, value in enumerate(curve, 1):
            if np.isfinite(value):
                mlflow.log_metric(metric_name(f"{part} {history.metric}"), float(value), step=step)
    mlflow.log_metric("best round", history.best_round)
    if isinstance(ranker, AutoRanker):
        estimate = ranker.estimate_
        low, high = estimate.interval
        values = {"expected": estimate.value, "expected low": low, "expected high": high}
        mlflow.log_metrics(
            {
                metric_name(f"{name} {estimate.metric}"): value
                for name, value in values.items()
                if np.isfinite(value)
            }
        )
    if pages:
        _log_page(ranker)
    if models:
        log_model(ranker)


def _log_page(ranker: Ranker) -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "fit.html"
        try:
            if isinstance(ranker, AutoRanker):
                ranker.report(page)
            else:
                ranker.history_.write_page(page, reproduce=f"rankwright.{ranker!r}.fit(data)")
        except MissingPackageError as error:
            mlflow.set_tag("page", str(error))
        else:
            mlflow.log_artifact(str(page))


def metric_name(name: str) -> str:
    """Return the name of a metric with the characters that MLflow allows: `ndcg@10` is `ndcg at 10`."""
    return name.replace("@", " at ")
