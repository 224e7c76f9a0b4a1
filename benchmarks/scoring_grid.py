"""Time of scoring by leaves, trees, type, memory order, number of documents and SIMD path, on one thread.

`python -m benchmarks.scoring_grid` trains LightGBM and XGBoost, reads their models, and prints nanoseconds per
document and tree for 60,000 documents and microseconds for one query of 100, each the shortest processor time of
several calls; those of ours and of the other library take turns.
LightGBM scores by `Booster.predict(raw_score=True)`, XGBoost by `inplace_predict(predict_type="margin")`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw
from benchmarks.scoring import N_FEATURES, generate
from rankwright import _native

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.models.trees import TreeEnsemble

LEAVES, TREES = (8, 31, 64, 255), (100, 500)
N_TRAINING, N_DOCUMENTS, QUERY_SIZE = 8_000, 60_000, 100
PATHS = ("portable", "avx2", "avx512")[: _native.widest_path() + 1]
LAYOUTS = [(dtype, order) for dtype in (np.float32, np.float64) for order in ("C", "F")]


def main() -> None:
    """Print one row per number of leaves and trees and per layout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaves", type=int, nargs="*", default=LEAVES)
    options = parser.parse_args([] if "scoring_grid" in sys.argv[1:] else None)
    print(f"{N_FEATURES} features, one thread; ns per document and tree, or microseconds for one query; ratios")
    columns = "".join(f"{name:>9}" for name in (*PATHS, "predict", "LightGBM", "XGBoost", "ratio", "ratio"))
    print(f"{'leaves':>6}{'trees':>6} {'layout':<10}{'':<7}{columns}", flush=True)
    rows, _ = generate(N_DOCUMENTS, seed=2)
    with tempfile.TemporaryDirectory() as folder:
        for leaves in options.leaves:
            peers = _lightgbm(leaves, Path(folder)), _xgboost(leaves, Path(folder))
            for n_trees in TREES:
                for dtype, order in LAYOUTS:
                    _print_rows(leaves, n_trees, np.asarray(rows, dtype, order), peers)


Peer = tuple["TreeEnsemble", "Callable[[Any, int], Any]"]


def _print_rows(leaves: int, n_trees: int, X: Any, peers: tuple[Peer, Peer]) -> None:
    order = "C" if X.flags.c_contiguous else "F"
    sizes = {"many": (X, 1e9 / (N_DOCUMENTS * n_trees), 3), "query": (X[:QUERY_SIZE].copy(order), 1e6, 100)}
    for size, (rows, unit, calls) in sizes.items():
        cells = _cells(rows, n_trees, peers, unit, calls)
        print(f"{leaves:>6}{n_trees:>6} {X.dtype!s:<8}{order:<2}{size:<7}{cells}", flush=True)


def _cells(rows: Any, n_trees: int, peers: tuple[Peer, Peer], unit: float, calls: int) -> str:
    models = [model.first(n_trees) for model, _ in peers]
    by_path = _seconds([partial(models[0]._prepared.score, rows, 1, path) for path in range(len(PATHS))], calls)
    pairs = [
        _seconds([partial(model.predict, rows, n_jobs=1), partial(score, rows, n_trees)], calls)
        for model, (_, score) in zip(models, peers, strict=True)
    ]
    seconds = (*by_path, pairs[0][0], *(their for _, their in pairs))
    times = "".join(f"{shortest * unit:>9.3g}" for shortest in seconds)
    return times + "".join(f"{their / our:>9.0f}" for our, their in pairs)


def _lightgbm(leaves: int, folder: Path) -> Peer:
    import lightgbm

    X, y = generate(N_TRAINING)
    booster = lightgbm.train({"num_leaves": leaves, "verbose": -1}, lightgbm.Dataset(X, y), max(TREES))
    booster.save_model(folder / "lightgbm")
    options = {"raw_score": True, "num_threads": 1}
    return rw.load(folder / "lightgbm"), lambda rows, n: booster.predict(rows, num_iteration=n, **options)


def _xgboost(leaves: int, folder: Path) -> Peer:
    import xgboost

    X, y = generate(N_TRAINING)
    shape = {"max_leaves": leaves, "max_depth": 0, "grow_policy": "lossguide", "tree_method": "hist"}
    booster = xgboost.train(shape, xgboost.DMatrix(X, y), max(TREES))
    booster.set_param("nthread", 1)
    booster.save_model(folder / "xgboost.json")

    def score(rows: Any, n_trees: int) -> Any:
        return booster.inplace_predict(rows, iteration_range=(0, n_trees), predict_type="margin")

    return rw.load(folder / "xgboost.json"), score


def _seconds(actions: list[Callable[[], Any]], n_calls: int) -> list[float]:
    """Return the shortest processor time of each action, which are called in turn after one call each."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(1 + n_calls):
        for action, of_action in zip(actions, times, strict=True):
            start = time.process_time()
            action()
            of_action.append(time.process_time() - start)
    return [min(of_action[1:]) for of_action in times]


if __name__ == "__main__":
    main()
