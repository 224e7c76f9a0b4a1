"""What this machine can do, additions and bytes per second, and how near to it the kernels are, on one thread.

`python -m benchmarks.roofline`. A histogram can be summed no faster than one number of the table is incremented
after the other, which a small C program measures (it needs a compiler); what only moves data, by a copy.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rankwright as rw
from benchmarks.collection import web_search
from rankwright import _native
from rankwright.metrics import NDCG
from rankwright.rankers.shared.lambdas import LambdaGradients

if TYPE_CHECKING:
    from collections.abc import Callable

INCREMENTS = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void) {  /* 16 features of 264 bins, 8 bytes each: 34 KB */
    enum { rows = 4096, features = 16, stride = 264, repeats = 2000 };
    static int64_t sums[features * stride];
    static uint8_t codes[rows * features];
    struct timespec start, end;
    for (int i = 0; i < rows * features; ++i) codes[i] = (uint8_t)rand();
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int repeat = 0; repeat < repeats; ++repeat)
        for (int row = 0; row < rows; ++row)
            for (int feature = 0; feature < features; ++feature)
                sums[feature * stride + codes[row * features + feature]] += row + repeat;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t total = 0;
    for (int i = 0; i < features * stride; ++i) total += sums[i];
    double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    printf("%.9g %lld\n", seconds / ((double)repeats * rows * features), (long long)total);
}
"""
REPEATS = 7
QUERIES = 2_000
TREES = 100
TREE_ROUNDS = 10


class Kernel(NamedTuple):
    """Nanoseconds of one unit of a kernel's work, and what limits it: bytes to move, or bins to increment."""

    name: str
    unit: str
    nanoseconds: float
    n_bytes: float = 0.0
    increments: float = 0.0


def fastest(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the seconds of the fastest of several runs."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def increment_nanoseconds() -> float | None:
    """Return the time of one increment of a random bin; None without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "increments.c"), Path(folder, "increments")
        source.write_text(INCREMENTS)
        subprocess.run([compiler, "-O2", "-o", program, source], check=True)
        runs = [subprocess.run([program], check=True, capture_output=True, text=True) for _ in range(REPEATS)]
    return min(float(run.stdout.split()[0]) for run in runs) * 1e9


def copied_bytes_per_second() -> float:
    """Return the bytes per second, read and written, of a copy that does not fit the caches."""
    source = np.ones(50_000_000, dtype=np.float64)
    target = np.zeros_like(source)
    return 2 * source.nbytes / fastest(lambda: np.copyto(target, source))


def measure() -> dict[str, Any]:
    """Return the limits of the machine, and the kernels."""
    data = web_search(QUERIES, seed=1)
    kernels = [*_histograms(data), _lambdas(data), *_scoring(data), *_columns(data), _split_gains()]
    return {
        "increment": increment_nanoseconds(),
        "bytes_per_second": copied_bytes_per_second(),
        "kernels": kernels,
    }


def _histograms(data: rw.RankingData) -> list[Kernel]:
    """By differences: the time of a tree of two leaves with all features and with half of them."""
    kernels = []
    for coarse in (False, True):
        half, whole = (_stump_seconds(data, n, coarse=coarse) for n in (data.n_features // 2, data.n_features))
        values = len(data) * (data.n_features - data.n_features // 2)
        name = "histograms, two-stage search" if coarse else "histograms, all bins"
        kernels.append(Kernel(name, "value", (whole - half) / values * 1e9, 0.0, 0.5 if coarse else 1.0))
        per_document = (2 * half - whole) / len(data) * 1e9
    kernels.append(Kernel("residuals, rounding, partition, scores", "document", per_document))
    return kernels


def _stump_seconds(data: rw.RankingData, n_features: int, *, coarse: bool) -> float:
    train = rw.TrainingSet(rw.RankingData(data.X[:, :n_features], data.y, data.qid))
    times = []
    for rounds in (1, 1 + TREE_ROUNDS):
        ranker = rw.MART(rounds=rounds, max_leaves=2, subsample=1.0, feature_fraction=1.0, coarse=coarse, n_jobs=1)
        times.append(fastest(lambda: ranker.fit(train)))  # noqa: B023
    return (times[1] - times[0]) / TREE_ROUNDS


def _lambdas(data: rw.RankingData) -> Kernel:
    truncation, scores = rw.LambdaMART().truncation, np.random.default_rng(1).normal(size=len(data))
    gradients = LambdaGradients(NDCG(), data.y, data.groups, truncation=truncation)
    n_pairs = 0
    for rows in data.groups:
        labels = data.y[rows][np.argsort(-scores[rows])]
        n_pairs += int(np.triu(labels[:truncation, None] != labels).sum())  # a pair is counted once
    return Kernel("lambdas", "pair", fastest(lambda: gradients(scores, n_threads=1)) / n_pairs * 1e9)


def _scoring(data: rw.RankingData) -> list[Kernel]:
    kernels, X = [], data.X[:20_000]
    for leaves in (8, 31, 127):
        model = rw.LambdaMART(rounds=TREES, max_leaves=leaves).fit(data).model_
        seconds = fastest(lambda: model.predict(X, n_jobs=1))  # noqa: B023
        kernels.append(
            Kernel(
                f"scoring, {TREES} trees of {leaves} leaves", "document and tree", seconds / len(X) / TREES * 1e9
            )
        )
    return kernels


def _columns(data: rw.RankingData) -> list[Kernel]:
    from rankwright.data.query_features import QueryFeature, with_query_features

    kernels = []
    for kind in QueryFeature:
        seconds = fastest(lambda: with_query_features(data.X, data.groups, (kind,), raw=False))  # noqa: B023
        kernels.append(Kernel(f"column within the query, {kind.value}", "value", seconds / data.X.size * 1e9, 8.0))
    return kernels


def _split_gains() -> Kernel:
    left = np.arange(1, 200_001, dtype=np.int64) << 32
    seconds = fastest(
        lambda: _native.split_gains(left, int(left[-1]) + 1, 1.0, 1.0, 1.0, 0.0, 0.0, _native.widest_path())
    )
    return Kernel("gains of splits", "bin", seconds / len(left) * 1e9)


def table(measured: dict[str, Any]) -> list[str]:
    """Return the lines of the table."""
    increment, per_second = measured["increment"], measured["bytes_per_second"]
    known = "" if increment is None else f" Incrementing a random bin of a table takes {increment:.2f} ns."
    lines = [
        f"A copy moves {per_second / 1e9:.1f} GB per second, read and written, on one thread.{known}",
        "",
        "| kernel | unit | ns per unit | limit | ns per unit at the limit |",
        "|---" * 5 + "|",
    ]
    for kernel in (Kernel(*values) for values in measured["kernels"]):
        limit = ""
        if kernel.increments and increment is not None:
            limit = f"{kernel.increments:g} x increment | {kernel.increments * increment:.2g}"
        elif kernel.n_bytes:
            limit = f"{kernel.n_bytes:g} bytes | {kernel.n_bytes / per_second * 1e9:.2g}"
        lines.append(f"| {kernel.name} | {kernel.unit} | {kernel.nanoseconds:.2g} | {limit or '|'} |")
    return lines


def main() -> None:
    """Print the table."""
    print("\n".join(table(measure())))


if __name__ == "__main__":
    main()
