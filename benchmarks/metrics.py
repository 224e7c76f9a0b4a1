"""Metrics on arrays: NDCG@10, MAP and MRR together, beside pytrec_eval, ir-measures and scikit-learn."""

from __future__ import annotations

import importlib.util
import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data import QueryGroups, Ranking
from rankwright.metrics import AP, NDCG, RR, find_convention, mean_over_queries

if TYPE_CHECKING:
    from collections.abc import Callable

N_QUERIES, N_DOCUMENTS = 2_000, 120
REPEATS = 7


def run() -> dict[str, Any]:
    """Time every tool in turn, several times over; each tool's own objects are built beforehand."""
    rng = np.random.default_rng(1)
    labels = rng.choice([0.0, 0.0, 0.0, 1.0, 2.0], size=N_QUERIES * N_DOCUMENTS)
    scores = rng.normal(size=len(labels))
    qid = np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)
    tools = _tools(labels, scores, qid)
    times: dict[str, list[float]] = {name: [] for name in tools}
    values = {name: tool() for name, tool in tools.items()}  # warms up, too
    for _ in range(REPEATS):
        for name, tool in tools.items():
            start = time.perf_counter()
            tool()
            times[name].append(time.perf_counter() - start)
    return {name: {"milliseconds": 1e3 * statistics.median(times[name]), "values": values[name]} for name in tools}


def main() -> None:
    """Print one table."""
    results = run()
    ours = results["rankwright"]["milliseconds"]
    print(f"Metrics: {N_QUERIES:,} queries x {N_DOCUMENTS} documents, median of {REPEATS} (ndcg@10, map, mrr)")
    for name, result in results.items():
        numbers = " ".join(f"{value:.6f}" for value in result["values"])
        ratio = result["milliseconds"] / ours
        print(f"{name:<38}{result['milliseconds']:>10.2f} ms{ratio:>8.1f} x   {numbers}")


def _tools(labels: Any, scores: Any, qid: Any) -> dict[str, Callable[[], list[float]]]:
    tools = {
        "rankwright": lambda: _ours(labels, scores, qid, None),
        "rankwright, 1 thread": lambda: _ours(labels, scores, qid, 1),
    }
    if importlib.util.find_spec("pytrec_eval"):
        tools["pytrec_eval"] = _pytrec_eval(labels, scores)
    if importlib.util.find_spec("ir_measures"):
        tools["ir-measures"] = _ir_measures(labels, scores)
    tools["scikit-learn (ndcg_score alone)"] = _scikit_learn(labels, scores)
    return tools


def _ours(labels: Any, scores: Any, qid: Any, n_threads: int | None) -> list[float]:
    """From plain arrays to means, counted as trec_eval does."""
    trec = find_convention("trec")
    ranking = Ranking.of(scores, QueryGroups.of(qid), n_threads=n_threads)
    metrics = [trec.apply(metric) for metric in (NDCG(k=10), AP(), RR())]
    return [mean_over_queries(metric.per_query(labels, ranking, n_threads=n_threads)) for metric in metrics]


def _by_query(values: Any, kind: type) -> dict[str, dict[str, Any]]:
    rows = values.reshape(N_QUERIES, N_DOCUMENTS).tolist()
    return {str(query): {f"d{i}": kind(value) for i, value in enumerate(row)} for query, row in enumerate(rows)}


def _pytrec_eval(labels: Any, scores: Any) -> Callable[[], list[float]]:
    import pytrec_eval

    names = ("ndcg_cut_10", "map", "recip_rank")
    evaluator = pytrec_eval.RelevanceEvaluator(_by_query(labels, int), set(names))
    run_of_scores = _by_query(scores, float)

    def evaluate() -> list[float]:
        found = evaluator.evaluate(run_of_scores).values()
        return [statistics.fmean(one[name] for one in found) for name in names]

    return evaluate


def _ir_measures(labels: Any, scores: Any) -> Callable[[], list[float]]:
    import ir_measures

    measures = [ir_measures.nDCG @ 10, ir_measures.AP, ir_measures.RR]
    evaluator = ir_measures.evaluator(measures, _by_query(labels, int))
    run_of_scores = _by_query(scores, float)

    def evaluate() -> list[float]:
        found = evaluator.calc_aggregate(run_of_scores)
        return [found[measure] for measure in measures]

    return evaluate


def _scikit_learn(labels: Any, scores: Any) -> Callable[[], list[float]]:
    from sklearn.metrics import ndcg_score

    shape = (N_QUERIES, N_DOCUMENTS)
    return lambda: [float(ndcg_score(labels.reshape(shape), scores.reshape(shape), k=10))]


if __name__ == "__main__":
    main()
