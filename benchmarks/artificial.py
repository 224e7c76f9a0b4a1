"""LambdaMART, MART and McRank on artificial data by rounds (Wu, Burges, Svore & Gao 2010, table 1, figure 2).

`python -m benchmarks.artificial` prints the table; `--figure FILE` draws the curves. The target is a sparse random
polynomial: with a dense one the methods give similar results.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw

if TYPE_CHECKING:
    from rankwright.evaluation.rounds import RoundsReport
    from rankwright.rankers.ranker import Ranker

N_QUERIES, N_TEST_QUERIES, N_DOCUMENTS = 1_000, 1_000, 50
SEED = 1
METRICS = ("ndcg@10", "ndcg@3", "ndcg@1")
SHOWN = (25, 50, 100, 200, 300)
SYSTEMS = ("LambdaMART", "MART", "McRank", "McRank, ordinal", "McRank, tree per class")


def rankers(rounds: int, **options: Any) -> dict[str, Ranker]:
    """Return every method with the same trees, learning rate and rounds."""
    same = {"rounds": rounds, "learning_rate": 0.1, "max_leaves": 20, "feature_fraction": 1.0, **options}
    return {
        "LambdaMART": rw.LambdaMART(**same),
        "MART": rw.MART(**same),
        "McRank": rw.McRank(trees="shared", **same),
        "McRank, ordinal": rw.McRank(classes="ordinal", trees="shared", **same),
        "McRank, tree per class": rw.McRank(trees="per_class", **same),
    }


def run(queries: int = N_QUERIES, rounds: tuple[int, ...] = SHOWN, threads: int | None = None) -> RoundsReport:
    """Train every method, and evaluate its first rounds on held-out queries."""
    truth = rw.synthetic.RandomPolynomial.draw(SEED, n_features=50, n_terms=50, n_active=50)
    train = truth.sample(queries, seed=1, n_documents=N_DOCUMENTS)
    test = truth.sample(N_TEST_QUERIES, seed=3, n_documents=N_DOCUMENTS)
    fitted = {}
    for name, ranker in rankers(max(rounds), n_jobs=threads).items():
        started = time.process_time()
        fitted[name] = ranker.fit(train)
        print(f"({name}: {time.process_time() - started:.1f} s of processor time)", file=sys.stderr)
    return rw.evaluate_rounds(fitted, test, rounds, metrics=METRICS, n_jobs=threads)


def main() -> None:
    """Print the table, and the significance of LambdaMART's lead over each other method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=N_QUERIES)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    found = run(options.queries, threads=options.threads)
    sizes = f"{options.queries:,} training and {N_TEST_QUERIES:,} test queries of {N_DOCUMENTS} documents"
    print(f"Artificial data: {sizes}")
    print(f"{'':<24}{'rounds':>8}" + "".join(f"{metric:>10}" for metric in METRICS))
    for system in found.systems:
        for number in found.rounds:
            means = (f"{100 * found.mean(system, number, metric):>10.2f}" for metric in METRICS)
            print(f"{system:<24}{number:>8}{''.join(means)}")
    _compare(found)
    if options.figure:
        found.chart(METRICS[0]).save(options.figure)


def _compare(found: RoundsReport) -> None:
    last = found.rounds[-1]
    for other in SYSTEMS[1:]:
        names = (f"{system}, {last} rounds" for system in (SYSTEMS[0], other))
        lead = found.report.compare(*names, METRICS[0])
        low, high = (100 * end for end in lead.interval)
        print(
            f"{SYSTEMS[0]} over {other} at {last} rounds: {100 * lead.difference:+.2f} points of {METRICS[0]} "
            f"({low:+.2f} to {high:+.2f}), p = {lead.p_value:.4f}"
        )


if __name__ == "__main__":
    main()
