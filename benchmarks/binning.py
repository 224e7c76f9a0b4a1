"""Binning of files, compared with XGBoost's external memory and LightGBM's two rounds, and training from them.

`python -m benchmarks.binning` generates Parquet and CSV files and bins them with each tool, each in its own
process; `--queries` and `--features` change the size, `--folder` keeps the files. Then it trains from the binned
file and from documents in memory, and prints time, memory and a hash of the model.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

QUERIES_PER_FILE = 500
FIRST = "first"  # the folder of a few documents, on which each tool runs before it is timed
ROUNDS = 10
PEERS = {"xgboost": "xgboost", "lightgbm": "lightgbm"}


def main() -> None:
    """Print seconds, also of processors, megabytes per second and peak memory of each tool, then of training."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", choices=_TASKS, help=argparse.SUPPRESS)
    options = parser.parse_args([] if "binning" in sys.argv[1:] else None)
    if options.child:
        if not options.child.startswith("training"):
            _TASKS[options.child](options.folder / FIRST, options.threads)  # imports are not timed
        print(json.dumps(_TASKS[options.child](options.folder, options.threads) | _memory()))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if not (folder / "parquet").exists():
            _write_files(folder, options.queries, options.features)
            _write_files(folder / FIRST, 10, options.features)
        for task in _TASKS:
            package = PEERS.get(task.split(",")[0])
            if package is None or importlib.util.find_spec(package):
                _show(task, _in_own_process(folder, task, options.threads))


def _show(task: str, measured: dict[str, Any]) -> None:
    facts = [
        f"{name} {value:,.2f}" if isinstance(value, float) else f"{name} {value}"
        for name, value in measured.items()
    ]
    print(f"{task:<28}", ", ".join(facts))


def _in_own_process(folder: Path, task: str, threads: int) -> dict[str, Any]:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "benchmarks.binning",
        "--child",
        task,
        "--folder",
        str(folder),
    ]
    done = subprocess.run([*command, "--threads", str(threads)], check=True, capture_output=True, text=True)
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _memory() -> dict[str, float]:
    return {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _write_files(folder: Path, n_queries: int, n_features: int) -> None:
    """Write documents of queries with 80 to 150 documents; half of the features have many zeros."""
    import pandas as pd

    (folder / "parquet").mkdir(parents=True)
    weights = np.random.default_rng(0).normal(size=n_features) / np.sqrt(n_features)
    for part, first in enumerate(range(0, n_queries, QUERIES_PER_FILE)):
        random = np.random.default_rng(part + 1)
        sizes = random.integers(80, 150, min(QUERIES_PER_FILE, n_queries - first))
        qid = np.repeat(np.arange(first, first + len(sizes)), sizes)
        X = random.normal(size=(len(qid), n_features)).astype(np.float32)
        X[:, n_features // 2 :] = np.maximum(0, np.round(10 * X[:, n_features // 2 :]))
        truth = X @ weights + X[:, 0] * X[:, 1] + 2 * random.normal(size=len(qid))
        label = np.digitize(truth, np.quantile(truth, [0.5, 0.75, 0.9, 0.97]))
        columns = {"label": label.astype(np.float32), "qid": qid}
        frame = pd.DataFrame(columns | {f"f{number}": column for number, column in enumerate(X.T)})
        frame.to_parquet(folder / "parquet" / f"part-{part:04d}.parquet", compression=None)
        frame.to_csv(folder / "all.csv", mode="a", header=part == 0, index=False, float_format="%.6g")


def _timed(size: int, work: Callable[[], Any]) -> dict[str, Any]:
    started, cpu = time.perf_counter(), time.process_time()
    work()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    return {"seconds": seconds, "cpu_seconds": cpu, "mb_per_second": size / 2**20 / seconds}


def _parquet_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in (folder / "parquet").iterdir())


def _rankwright_parquet(folder: Path, threads: int) -> dict[str, Any]:
    import rankwright as rw

    create = rw.BinnedData.create
    return _timed(
        _parquet_bytes(folder), lambda: create(folder / "parquet", folder / "all.binned", n_jobs=threads)
    )


def _rankwright_csv(folder: Path, threads: int) -> dict[str, Any]:
    import rankwright as rw

    file = folder / "all.csv"
    return _timed(file.stat().st_size, lambda: rw.BinnedData.create(file, folder / "csv.binned", n_jobs=threads))


def _xgboost(folder: Path, threads: int) -> dict[str, Any]:
    import pyarrow.parquet as pq
    import xgboost

    class Files(xgboost.DataIter):
        def __init__(self) -> None:
            self._files = sorted((folder / "parquet").iterdir())
            self._next = 0
            super().__init__(cache_prefix=str(folder / "cache"))

        def next(self, input_data: Callable[..., None]) -> bool:
            if self._next == len(self._files):
                return False
            table = pq.read_table(self._files[self._next])
            features = table.drop_columns(["label", "qid"])
            input_data(data=features, label=table["label"].to_numpy(), qid=table["qid"].to_numpy())
            self._next += 1
            return True

        def reset(self) -> None:
            self._next = 0

    return _timed(
        _parquet_bytes(folder), lambda: xgboost.ExtMemQuantileDMatrix(Files(), max_bin=255, nthread=threads)
    )


def _lightgbm(folder: Path, threads: int) -> dict[str, Any]:
    import lightgbm

    options = {
        "two_round": True,
        "header": True,
        "label_column": "name:label",
        "group_column": "name:qid",
        "num_threads": threads,
        "objective": "lambdarank",
        "verbosity": -1,
    }
    file = folder / "all.csv"
    return _timed(file.stat().st_size, lambda: lightgbm.Dataset(str(file), params=options).construct())


def _train(data: Any, threads: int) -> dict[str, Any]:
    import rankwright as rw

    ranker = rw.LambdaMART(rounds=ROUNDS, max_leaves=31, n_jobs=threads)
    started = time.perf_counter()
    ranker.fit(data)
    seconds = time.perf_counter() - started
    with tempfile.NamedTemporaryFile() as file:
        rw.save(ranker, file.name)
        return {"seconds": seconds, "model": hashlib.sha256(Path(file.name).read_bytes()).hexdigest()[:12]}


def _train_binned(folder: Path, threads: int) -> dict[str, Any]:
    import rankwright as rw

    return _train(rw.BinnedData(folder / "all.binned"), threads)


def _train_in_memory(folder: Path, threads: int) -> dict[str, Any]:
    import rankwright as rw

    return _train(rw.read_parquet(folder / "parquet"), threads)


_TASKS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "rankwright, Parquet": _rankwright_parquet,
    "xgboost, Parquet": _xgboost,
    "rankwright, CSV": _rankwright_csv,
    "lightgbm, CSV": _lightgbm,
    "training, binned file": _train_binned,
    "training, in memory": _train_in_memory,
}

if __name__ == "__main__":
    main()
