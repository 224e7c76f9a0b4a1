"""Training time of boosted trees for NDCG, compared with LightGBM, XGBoost and CatBoost, in separate processes.

`python -m benchmarks.training` runs all; `--queries`, `--rounds`, `--leaves` and `--threads` change the size,
`--busy` keeps one core busy with other work.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


N_QUERIES = 6_000
N_TEST_QUERIES = 1_000
ROUNDS, LEAVES, LEARNING_RATE = 100, 31, 0.1
PEERS = {"lightgbm": "lightgbm", "xgboost": "xgboost", "catboost": "catboost"}
SYSTEMS = ("rankwright", "rankwright, 30 % of rows", "rankwright, 10 % of rows", *PEERS)


def run(
    queries: int = N_QUERIES,
    rounds: int = ROUNDS,
    leaves: int = LEAVES,
    threads: tuple[int, ...] = (1, 2),
    systems: tuple[str, ...] = SYSTEMS,
    features: int | None = None,
) -> list[dict[str, Any]]:
    """Train every system on the same documents, one after another, and evaluate it on held-out queries."""
    with tempfile.TemporaryDirectory() as folder:
        # A process inherits the peak memory of the one that starts it, so the large arrays are made elsewhere.
        with ProcessPoolExecutor(1) as other:
            other.submit(_write_collection, Path(folder), queries, features).result()
        jobs = [(system, n) for n in threads for system in systems]
        return [_in_own_process(Path(folder), *job, rounds, leaves) for job in jobs if _is_there(job[0])]


def main() -> None:
    """Print a table of seconds, held-out NDCG@10, memory and ratios to rankwright."""
    options = _options()
    if options.child:
        print(
            json.dumps(
                _train_one(Path(options.folder), options.child, options.threads[0], options.rounds, options.leaves)
            )
        )
        return
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if options.busy else None
    try:
        results = run(options.queries, options.rounds, options.leaves, tuple(options.threads))
    finally:
        if busy is not None:
            busy.kill()
    _show(results, options)


def _show(results: list[dict[str, Any]], options: argparse.Namespace) -> None:
    busy = ", one core busy" if options.busy else ""
    print(f"Training: {options.queries:,} queries, {options.rounds} trees of {options.leaves} leaves{busy}")
    print(f"{'':<28}{'threads':>8}{'dataset s':>11}{'train s':>9}{'all s':>8}{'ndcg@10':>9}{'MB':>7}{'ratio':>7}")
    ours = {one["threads"]: one["seconds"] for one in results if one["system"] == "rankwright"}
    for one in results:
        print(
            f"{one['system']:<28}{one['threads']:>8}{one['dataset']:>11.2f}{one['train']:>9.2f}{one['seconds']:>8.2f}"
            f"{one['ndcg@10']:>9.4f}{one['peak_mb']:>7.0f}{one['seconds'] / ours[one['threads']]:>7.2f}"
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=N_QUERIES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--leaves", type=int, default=LEAVES)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    return parser.parse_args([] if "training" in sys.argv[1:] else None)


def _is_there(system: str) -> bool:
    if system not in PEERS or importlib.util.find_spec(PEERS[system]):
        return True
    print(f"({system} is not installed: skipped)")
    return False


def _write_collection(folder: Path, queries: int, features: int | None = None) -> None:
    from benchmarks.collection import web_search

    for name, n_queries, seed in (("train", queries, 1), ("test", N_TEST_QUERIES, 2)):
        X, y, qid = web_search(n_queries, seed=seed)
        for part, values in (("X", np.ascontiguousarray(X[:, :features])), ("y", y), ("qid", qid)):
            np.save(folder / f"{name}-{part}.npy", values)


def _read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, qid = (np.load(folder / f"{name}-{part}.npy") for part in ("X", "y", "qid"))
    return X, y, qid


def _in_own_process(folder: Path, system: str, threads: int, rounds: int, leaves: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.training", "--child", system, "--folder", str(folder)]
    sizes = ["--threads", str(threads), "--rounds", str(rounds), "--leaves", str(leaves)]
    done = subprocess.run([*command, *sizes], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _train_one(folder: Path, system: str, threads: int, rounds: int, leaves: int) -> dict[str, Any]:
    """Time the data set and the training of one system, after its imports and a small warm-up fit."""
    X, y, qid = _read(folder, "train")
    make = _TRAINERS[system]
    small = slice(0, int(np.searchsorted(qid, 20)))
    make(X[small], y[small], qid[small], threads, 2, leaves)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, processor = time.perf_counter(), time.process_time()
    predict, dataset_seconds = make(X, y, qid, threads, rounds, leaves)
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    test = _read(folder, "test")
    from rankwright.metrics import NDCG

    return {
        "system": system,
        "threads": threads,
        "dataset": dataset_seconds,
        "train": seconds - dataset_seconds,
        "seconds": seconds,
        "processor": processor,
        "ndcg@10": NDCG(k=10)(test[1], predict(test[0]), test[2]),
        "peak_mb": peak / 1024,
    }


Trained = tuple["Callable[[np.ndarray], np.ndarray]", float]


def _rankwright(
    X: Any, y: Any, qid: Any, threads: int, rounds: int, leaves: int, subsample: float = 1.0
) -> Trained:
    from rankwright import LambdaMART, RankingData, TrainingSet
    from rankwright.rankers.shared.tree_ranker import COARSE_DOCUMENTS

    started = time.perf_counter()
    data = TrainingSet(RankingData(X, y, qid, copy=False))
    data.binned(255, threads, coarse=len(y) >= COARSE_DOCUMENTS)
    dataset_seconds = time.perf_counter() - started
    ranker = LambdaMART(
        rounds=rounds,
        learning_rate=LEARNING_RATE,
        max_leaves=leaves,
        min_documents=20,
        pairs="all",
        subsample=subsample,
        subsample_by="gradient",
        feature_fraction=1.0,
        l2=0.0,
        random_state=0,
        n_jobs=threads,
    ).fit(data)
    return ranker.predict, dataset_seconds


def _lightgbm(X: Any, y: Any, qid: Any, threads: int, rounds: int, leaves: int) -> Trained:
    import lightgbm

    started = time.perf_counter()
    sizes = np.diff(np.append(np.flatnonzero(np.diff(qid, prepend=-1)), len(qid)))
    options = {
        "objective": "lambdarank",
        "num_leaves": leaves,
        "learning_rate": LEARNING_RATE,
        "num_threads": threads,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(X, y, group=sizes, params=options).construct()
    dataset_seconds = time.perf_counter() - started
    model = lightgbm.train(options, data, rounds)
    return model.predict, dataset_seconds


def _xgboost(X: Any, y: Any, qid: Any, threads: int, rounds: int, leaves: int) -> Trained:
    import xgboost

    started = time.perf_counter()
    data = xgboost.QuantileDMatrix(X, y, qid=qid, nthread=threads)
    dataset_seconds = time.perf_counter() - started
    options = {
        "objective": "rank:ndcg",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": leaves,
        "max_depth": 0,
        "eta": LEARNING_RATE,
        "nthread": threads,
    }
    model = xgboost.train(options, data, rounds)
    return lambda test: model.predict(xgboost.DMatrix(test)), dataset_seconds


def _catboost(X: Any, y: Any, qid: Any, threads: int, rounds: int, leaves: int) -> Trained:
    import catboost

    started = time.perf_counter()
    data = catboost.Pool(X, y, group_id=qid)
    dataset_seconds = time.perf_counter() - started
    model = catboost.CatBoost(
        {
            "loss_function": "YetiRank",
            "iterations": rounds,
            "depth": round(np.log2(leaves)),
            "learning_rate": LEARNING_RATE,
            "thread_count": threads,
            "verbose": False,
            "allow_writing_files": False,
        }
    ).fit(data)
    return model.predict, dataset_seconds


_TRAINERS: dict[str, Callable[..., Trained]] = {
    "rankwright": _rankwright,
    "rankwright, 30 % of rows": lambda *arguments: _rankwright(*arguments, subsample=0.3),
    "rankwright, 10 % of rows": lambda *arguments: _rankwright(*arguments, subsample=0.1),
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "catboost": _catboost,
}

if __name__ == "__main__":
    main()
