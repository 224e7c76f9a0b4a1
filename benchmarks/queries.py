"""Rankers of scaled features on very many short queries or few long ones, compared with another version.

`python -m benchmarks.queries --beside PYTHON` runs the same fits with the rankwright of another interpreter, and
prints the ratio of both times. Times are processor seconds, which depend less on other load.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

FITS: dict[str, dict[str, Any]] = {
    "ListNet": {"rounds": 2},
    "RankNet": {"rounds": 2},
    "LambdaRank": {"rounds": 2},
    "RankSVM": {},
    "SVMmap": {},
}
N_FEATURES = 5


def main() -> None:
    """Print one row per ranker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--length", type=int, default=2, help="documents per query")
    parser.add_argument("--rankers", nargs="+", choices=FITS, default=list(FITS))
    parser.add_argument("--beside", type=Path, help="an interpreter with another version of rankwright")
    parser.add_argument("--fit", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        print(json.dumps([_fit(name, options.queries, options.length) for name in options.rankers]))
        return
    print(f"{options.queries:,} queries of {options.length:,} documents, {N_FEATURES} features")
    print("ranker       seconds   peak GB   beside   ratio")
    for name in options.rankers:
        own = _run(sys.executable, name, options)
        row = f"{name:10} {own['seconds']:9.2f} {own['peak'] / 1e9:9.2f}"
        if options.beside:
            other = _run(str(options.beside), name, options)
            row += f" {other['seconds']:8.2f} {other['seconds'] / own['seconds']:7.1f}"
        print(row, flush=True)


def _run(interpreter: str, name: str, options: argparse.Namespace) -> dict[str, float]:
    """Fit in a separate process, so that its peak memory can be measured."""
    shape = ["--queries", str(options.queries), "--length", str(options.length)]
    command = [interpreter, __file__, "--fit", "--rankers", name, *shape]
    found: list[dict[str, float]] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found[0]


def _fit(name: str, n_queries: int, length: int) -> dict[str, float]:
    import rankwright as rw  # of the interpreter that runs this

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_queries * length, N_FEATURES)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(np.float64)
    ranker = getattr(rw, name)(**FITS[name], n_jobs=1)
    started = time.process_time()
    ranker.fit(X, y, np.repeat(np.arange(n_queries), length))
    seconds = time.process_time() - started
    return {"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0}


if __name__ == "__main__":
    main()
