"""Bias and coverage of AutoRanker's estimate: the value on fresh queries of many generated collections beside it.

`python -m benchmarks.estimates --collections 200` draws collections of 60, 150 and 400 judged queries in turn,
from linear, quadratic and cubic functions with some random labels, and measures each model on 5,000 fresh queries
of the same kind. The bias is the mean of estimate minus value; the interval should cover the value 95 times in
100. The portfolio has four rankers, so that 200 collections take minutes and not hours; `--portfolio built-in`
measures the built-in one. Results are kept in `--cache FILE`, so that a run can resume.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw
from benchmarks.curves import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.rankers.ranker import Ranker

SIZES = (60, 150, 400)
FRESH_QUERIES, DOCUMENTS = 5000, 10
METRIC = "ndcg@10"
SMALL = (rw.RankSVM(), rw.LambdaMART(rounds=200), rw.MART(rounds=200), rw.AdaRank())


def main() -> None:
    """Print bias and coverage by size, and of all collections together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=int, default=200)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--portfolio", choices=["small", "built-in"], default="small")
    options = parser.parse_args()
    kept = [] if options.cache is None or not options.cache.exists() else json.loads(options.cache.read_text())
    for number in range(len(kept), options.collections):
        started = time.perf_counter()
        kept.append(measured(number, SMALL if options.portfolio == "small" else None))
        print(f"{number + 1}: {kept[-1]}, {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        if options.cache is not None:
            options.cache.write_text(json.dumps(kept))
    for size in SIZES:
        _show(f"{size} queries", [one for one in kept if one["queries"] == size])
    _show("all", kept)


def measured(number: int, portfolio: Sequence[Ranker] | None) -> dict[str, Any]:
    """Return the estimate, its interval and the value on fresh queries for one collection."""
    kind, size = list(FUNCTIONS)[number % 3], SIZES[number // 3 % 3]
    function, noise = FUNCTIONS[kind]
    truth = rw.synthetic.RandomPolynomial.draw(5000 + number, **function)
    judged = truth.sample(size, seed=9000 + 2 * number, n_documents=DOCUMENTS, noise=noise)
    fresh = truth.sample(FRESH_QUERIES, seed=9001 + 2 * number, n_documents=DOCUMENTS, noise=noise)
    ranker = rw.AutoRanker(METRIC, portfolio=portfolio).fit(judged)
    found = ranker.estimate_
    return {
        "kind": kind,
        "queries": size,
        "estimate": found.value,
        "interval": list(found.interval),
        "value": ranker.score(fresh),
    }


def _show(name: str, results: list[dict[str, Any]]) -> None:
    differences = np.array([one["estimate"] - one["value"] for one in results])
    covered = [one["interval"][0] <= one["value"] <= one["interval"][1] for one in results]
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    print(
        f"{name:<12} {len(results):4d} collections: bias {differences.mean():+.4f} (standard error {error:.4f}), "
        f"the interval covers {np.mean(covered):.1%}"
    )


if __name__ == "__main__":
    main()
