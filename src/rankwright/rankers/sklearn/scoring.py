"""Metrics as scorers of scikit-learn's tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.metrics.catalogue import MetricLike, as_metric
from rankwright.models.other_libraries import takes_query_ids
from rankwright.models.scorer import best_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankwright.metrics.base import Metric


def make_scorer(metric: MetricLike) -> RankingScorer:
    """Return a metric as `scoring` for `cross_validate`, `GridSearchCV` and other tools of scikit-learn.

    Without it they call the ranker's own `score`. With metadata routing enabled it gets the query ids by itself.

    Parameters
    ----------
    metric
        The metric, its name, or a function of labels in ranked order.

    Examples
    --------
    >>> from sklearn import config_context, model_selection
    >>> X, y, qid = rw.synthetic.gaussian_queries(6)
    >>> folds, given = model_selection.GroupKFold(3), {"qid": qid, "groups": qid}
    >>> how = {"scoring": rw.make_scorer("mrr"), "cv": folds, "params": given}
    >>> with config_context(enable_metadata_routing=True):
    ...     model_selection.cross_val_score(rw.AdaRank(), X, y, **how)
    array([1., 1., 1.])
    """
    return RankingScorer(as_metric(metric))


class RankingScorer:
    """Calls `predict` of an estimator, with query ids if it takes them, and returns the mean of a metric."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, qid: ArrayLike | None = None) -> float:
        """Return the mean over queries of the metric of the estimator's scores."""
        if qid is None:
            raise InputError(
                f"The metric {self.metric} needs query ids: call sklearn.set_config(enable_metadata_routing=True) "
                "and pass qid, as in cross_validate(..., params={'qid': qid})."
            )
        best = best_of(estimator)
        scores = best.predict(X, qid=qid) if takes_query_ids(best) else best.predict(X)
        return self.metric(y, scores, qid)

    def get_metadata_routing(self) -> Any:
        """Return what scikit-learn is to pass: the query ids."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="qid", alias=True)
        return request

    def __repr__(self) -> str:
        return f"make_scorer({str(self.metric)!r})"
