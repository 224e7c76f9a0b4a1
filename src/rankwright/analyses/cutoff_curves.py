"""A metric at the first ranks, by cut-off, such as NDCG@1 to NDCG@10 (Xu & Li 2007, figures 2 to 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from rankwright.evaluation.cutoffs import CutoffCurves, bare_name, ranged
from rankwright.evaluation.evaluate import evaluate
from rankwright.metrics.catalogue import as_metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.data.dataset import RankingData
    from rankwright.data.readers.trec import Judgements
    from rankwright.evaluation.evaluate import EvaluationOptions


def cutoff_curves(
    systems: Any,
    data: RankingData | Judgements | tuple[Any, Any, Any],
    *,
    metric: str = "ndcg",
    cutoffs: str | Sequence[int] = "1-10",
    **options: Unpack[EvaluationOptions],
) -> CutoffCurves:
    """Measure systems by a metric at several cut-offs.

    Parameters
    ----------
    systems, data
        As for `rankwright.evaluate`.
    metric
        Name of a metric with a cut-off, without it: `ndcg`, `p`, `err`, `recall`, `ndcg(gain=linear)`.
    cutoffs
        The cut-offs: a list of integers, or a text such as `"1-10"` or `"1,3,5,10"`.
    options
        `convention`, `queries`, `min_relevant`, `drop_one_label` and `n_jobs`, as for `rankwright.evaluate`.

    Examples
    --------
    >>> data = rw.synthetic.gaussian_queries(20, spread=(0.5, 9.0))
    >>> systems = {"first": data.X[:, 0], "second": data.X[:, 1]}
    >>> result = rw.analyses.cutoff_curves(systems, data, metric="p", cutoffs="1,3,5")
    >>> {name: [round(point.value, 2) for point in curve] for name, curve in result.curves.items()}
    {'first': [1.0, 0.98, 0.94], 'second': [0.65, 0.63, 0.55]}
    """
    spelled = cutoffs if isinstance(cutoffs, str) else ",".join(map(str, cutoffs))
    asked = as_metrics(",".join(ranged(metric, cutoff) for cutoff in spelled.split(",") if cutoff.strip()))
    report = evaluate(systems, data, metrics=asked, **options)
    return CutoffCurves.of(report, bare_name(asked[0]))
