"""The evaluator `ranker`: metrics per query for any model that MLflow knows, with a page and a table."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mlflow
import numpy as np
from mlflow.models.evaluation.artifacts import JsonEvaluationArtifact
from mlflow.models.evaluation.base import EvaluationResult, ModelEvaluator

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.data.column_roles import QUERY, no_column
from rankwright.data.dataset import RankingData
from rankwright.evaluation.evaluate import evaluate
from rankwright.mlflow.autologging import metric_name

if TYPE_CHECKING:
    from rankwright.evaluation.report import Report

MODEL_TYPE = "ranker"
SYSTEM = "model"
DEFAULT_METRICS = ("ndcg@10", "map", "mrr")


class RankerEvaluator(ModelEvaluator):  # type: ignore[misc]
    """Evaluates rankings: `mlflow.models.evaluate(..., model_type="ranker", evaluators="ranker")`.

    Its `evaluator_config` may have `qid`, the column of query ids (by default `qid`), and `metrics`, their names.
    Logged are the mean of each metric, `queries.json` with the values of each query, and with `rankwright[report]`
    the page `ranking.html`.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: dict[str, Any], **_: Any) -> bool:  # noqa: ARG003
        """Return whether the type of the model is `ranker`."""
        return model_type == MODEL_TYPE

    def evaluate(
        self, *, dataset: Any, run_id: str, evaluator_config: dict[str, Any], model: Any = None, **_: Any
    ) -> Any:
        """Score the documents, unless the data has predictions, and log their metrics."""
        config = dict(evaluator_config or {})
        column, metrics = config.pop("qid", QUERY), config.pop("metrics", DEFAULT_METRICS)
        if config:
            raise InputError(f"The evaluator takes qid and metrics, not {next(iter(config))!r}.")
        features = dataset.features_data
        if column not in features.columns:
            raise InputError(no_column(column, [str(name) for name in features.columns]))
        if dataset.labels_data is None:
            raise InputError("Judged documents are needed: name the column of labels as targets.")
        qid = np.asarray(features[column])
        named = features.drop(columns=column).assign(**{QUERY: qid.astype(str)})
        scores = dataset.predictions_data if model is None else model.predict(named)
        if scores is None:
            raise InputError("There is nothing to evaluate: give a model, or the column of predictions.")
        judged = RankingData(np.zeros((len(qid), 1)), dataset.labels_data, qid)
        report = evaluate({SYSTEM: np.asarray(scores, dtype=np.float64).ravel()}, judged, metrics=list(metrics))
        means = {metric_name(str(metric)): report.mean(SYSTEM, metric) for metric in report.metrics}
        client = mlflow.MlflowClient()
        for name, value in means.items():
            client.log_metric(run_id, name, value)
        return EvaluationResult(metrics=means, artifacts=_logged(client, run_id, report))


def _logged(client: Any, run_id: str, report: Report) -> dict[str, Any]:
    """Log the table of all queries, and the page; return them by name."""
    with tempfile.TemporaryDirectory() as folder:
        table, page = Path(folder) / "queries.json", Path(folder) / "ranking.html"
        values = report.to_dict()
        table.write_text(json.dumps(values))
        client.log_artifact(run_id, str(table))
        try:
            report.write_page(page)
        except MissingPackageError as error:
            client.set_tag(run_id, "page", str(error))
        else:
            client.log_artifact(run_id, str(page))
        artifact = JsonEvaluationArtifact(uri=f"runs:/{run_id}/{table.name}", content=values)
        return {table.stem: artifact}
