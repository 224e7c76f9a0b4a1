"""Time of NDCG@10, MAP and MRR on arrays, compared with pytrec_eval, ir-measures and scikit-learn."""

from __future__ import annotations

import importlib.util
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data.groups import QueryGroups, Ranking
from rankwright.metrics import AP, NDCG, RR, find_convention, mean_over_queries

if TYPE_CHECKING:
    from collections.abc import Callable

N_QUERIES, N_DOCUMENTS = 2_000, 120
REPEATS = 7


def run() -> dict[str, Any]:
    """Time every tool in a separate process, one after another; building its objects is not timed."""
    return {name: _in_own_process(name) for name in TOOLS if _is_there(name)}


def _in_own_process(name: str) -> dict[str, Any]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_measure, name).result()


def _measure(name: str) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    labels = rng.choice([0.0, 0.0, 0.0, 1.0, 2.0], size=N_QUERIES * N_DOCUMENTS)
    scores = rng.normal(size=len(labels))
    tool = TOOLS[name](labels, scores)
    values = tool()  # also the warm-up
    return {"milliseconds": 1e3 * statistics.median(_time(tool) for _ in range(REPEATS)), "values": values}


def _time(tool: Callable[[], list[float]]) -> float:
    """Return the mean seconds of one call, over as many calls as take 0.2 seconds."""
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < 0.2:
        tool()
        calls += 1
    return (time.perf_counter() - start) / calls


def main() -> None:
    """Print the table."""
    results = run()
    ours = results["rankwright"]["milliseconds"]
    print(f"Metrics: {N_QUERIES:,} queries x {N_DOCUMENTS} documents, median of {REPEATS} (ndcg@10, map, mrr)")
    for name, result in results.items():
        numbers = " ".join(f"{value:.6f}" for value in result["values"])
        ratio = result["milliseconds"] / ours
        print(f"{name:<38}{result['milliseconds']:>10.2f} ms{ratio:>8.1f} x   {numbers}")


def _is_there(name: str) -> bool:
    package = PACKAGES.get(name)
    if package is None or importlib.util.find_spec(package):
        return True
    print(f"({name} is not installed: skipped)")
    return False


def _rankwright(labels: Any, scores: Any, n_jobs: int | None = None) -> Callable[[], list[float]]:
    """Return a function that computes the means from plain arrays, as trec_eval defines them."""
    qid = np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)
    metrics = [find_convention("trec").apply(metric) for metric in (NDCG(k=10), AP(), RR())]

    def evaluate() -> list[float]:
        ranking = Ranking.of(scores, QueryGroups.of(qid), n_jobs=n_jobs)
        return [mean_over_queries(one.per_query(labels, ranking, n_jobs=n_jobs)) for one in metrics]

    return evaluate


def _rankwright_on_one_thread(labels: Any, scores: Any) -> Callable[[], list[float]]:
    return _rankwright(labels, scores, 1)


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


TOOLS: dict[str, Callable[[Any, Any], Callable[[], list[float]]]] = {
    "rankwright": _rankwright,
    "rankwright, 1 thread": _rankwright_on_one_thread,
    "pytrec_eval": _pytrec_eval,
    "ir-measures": _ir_measures,
    "scikit-learn (ndcg_score alone)": _scikit_learn,
}
PACKAGES = {"pytrec_eval": "pytrec_eval", "ir-measures": "ir_measures"}

if __name__ == "__main__":
    main()
