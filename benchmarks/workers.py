"""Growth on workers and within a memory limit, beside growth on threads in memory; the models must be equal.

`python -m benchmarks.workers` bins generated documents and fits LambdaMART of 31 leaves: on threads, then on as
many processes of one thread, and on Ray and Dask with `--ray` and `--dask`. It prints seconds per round, the ratio
to threads, and bytes per round.

With `--limit` bytes, the second fit is instead one on threads that adds no more to the process; the system
enforces that (RLIMIT_DATA). Before, it shows how fast the file is read, and verified, after the system has
forgotten it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw
from rankwright.base.array_files import ArrayFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.distributed.engine import Engine

DOCUMENTS_PER_QUERY = 100


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--file", type=Path, help="a binned file, made if it is not there")
    parser.add_argument("--integers", action="store_true", help="features are integers, written and binned faster")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "documents.binned"
        if not path.exists():
            _bin(path, options.queries, options.features, integers=options.integers)
        base, models = None, set()
        if options.limit:
            _show_cold_reads(path)
        for name, reading, engine in _ways(options):
            seconds, ranker = _measured(path, reading, engine, options)
            base = base or seconds
            numbers = dict(ranker.history_.rounds[-1].diagnostics)
            models.add(hashlib.sha256(ranker.model_.leaf_value.tobytes()).hexdigest()[:12])
            print(f"{name:<16} {seconds:.3f} s per round, {seconds / base:.2f} of threads, {numbers}", flush=True)
    if len(models) > 1:
        sys.exit(f"The models differ: {models}")


def _ways(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any], Engine | None]]:
    """Yield a name, how the file is read, and where it is learned from, if not on threads."""
    yield "threads", {}, None
    if options.limit:
        yield "within a limit", {"max_memory": options.limit}, None
        return
    yield "processes", {}, rw.distributed.Processes(options.workers)
    if options.ray:
        yield "Ray", {}, rw.distributed.Ray(workers=options.workers)
    if options.dask:
        yield "Dask", {}, rw.distributed.Dask(workers=options.workers)


def _measured(
    path: Path, reading: dict[str, Any], engine: Engine | None, options: argparse.Namespace
) -> tuple[float, rw.LambdaMART]:
    """Return the median seconds of a round after the first, and the ranker; threads need 750,000 documents."""
    ended = []
    if "max_memory" in reading:
        resource.setrlimit(resource.RLIMIT_DATA, (_data_bytes() + reading["max_memory"], resource.RLIM_INFINITY))
    with engine or nullcontext():
        ranker = rw.LambdaMART(
            rounds=1 + options.rounds, max_leaves=31, n_jobs=1 if engine else options.workers
        ).fit(rw.BinnedData(path, **reading), cluster=engine, on_round=lambda _: ended.append(time.perf_counter()))
    return float(np.median(np.diff(ended))), ranker


def _data_bytes() -> int:
    """Return the bytes of this process that RLIMIT_DATA counts."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmData:")[1].split()[0])


def _show_cold_reads(path: Path) -> None:
    """Print how fast a file that is not in the page cache is read, and verified."""
    for name, read in (("reading", _read), ("verifying", lambda path: ArrayFile(path, None).verify_all())):
        os.sync()
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start = time.perf_counter()
        read(path)
        print(f"{name:<16} {path.stat().st_size / 1e6 / (time.perf_counter() - start):,.0f} MB/s", flush=True)


def _read(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        part = bytearray(1 << 20)
        while file.readinto(part):
            pass


def _bin(path: Path, n_queries: int, n_features: int, *, integers: bool = False) -> None:
    """Write generated documents as Parquet, a part at a time, and bin them."""
    import pandas as pd

    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for first in range(0, n_queries, 1_000):
            qid = np.repeat(np.arange(first, min(first + 1_000, n_queries)), DOCUMENTS_PER_QUERY)
            shape = (len(qid), n_features)
            X = random.integers(128, size=shape, dtype=np.uint8) if integers else random.normal(size=shape)
            X = X if integers else X.astype(np.float32)
            scores = (X[:, :5] - 63.5 * integers).sum(axis=1) / (74 if integers else 2)
            y = np.clip(scores + random.normal(size=len(qid)), 0, 4).round()
            columns = {f"f{number}": column for number, column in enumerate(X.T)}
            pd.DataFrame({"qid": qid, "label": y, **columns}).to_parquet(Path(folder) / f"{first:08}.parquet")
        rw.BinnedData.create(folder, path)


if __name__ == "__main__":
    main()
