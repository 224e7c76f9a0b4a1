"""Training at internet scale, on paper: constants measured here, put into a model of time, memory and traffic.

`python -m benchmarks.scale` fits LambdaMART of 31 leaves on workers of this machine in several sizes, finds the
four constants of the model from some of the runs, holds the model against the others, and prints time, memory and
traffic per round for 1e9 documents x 700 features on 10 to 1,000 workers. `--runs FILE` keeps the measurements.

The seconds of a round are those of the documents of a worker (per byte of their codes, and per document), those
of the requests, and those of the bytes that the coordinator exchanges with all workers.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

import rankwright as rw

LEAVES = 31
ROUNDS = 6
SIZES = [(1_000, 40), (4_000, 40), (1_000, 200), (3_000, 100), (2_000, 136), (6_000, 136)]  # queries, features
HELD_OUT = 2  # the last sizes, which the model must predict
DOCUMENTS_PER_QUERY = 50
NETWORK = 1.25e9  # bytes per second of a coordinator's 10 Gbit/s
TRIP = 5e-4  # seconds of a request to another machine and back
CORES = 16  # of a worker
BYTES_PER_DOCUMENT = 120  # labels, scores, gradients


class Run(NamedTuple):
    """One measured fit on workers of one thread: what a round needed, and its seconds."""

    documents: int
    features: int
    workers: int
    requests: float
    divisions: float
    exchanged_bytes: float
    seconds: float

    @property
    def parts(self) -> list[float]:
        """What each of the constants is multiplied with."""
        per_worker = self.documents / self.workers
        return [per_worker * row_bytes(self.features), per_worker, self.requests, self.exchanged_bytes]


class Constants(NamedTuple):
    """Seconds per byte of codes and per document on one core, per request, and per exchanged byte."""

    code: float
    document: float
    request: float
    byte: float

    @classmethod
    def of(cls, runs: list[Run]) -> Constants:
        """Return the constants with the smallest relative errors."""
        parts = np.array([run.parts for run in runs]) / np.array([[run.seconds] for run in runs])
        return cls(*nnls(parts, np.ones(len(runs)))[0].tolist())

    def seconds(self, run: Run) -> float:
        """Return the modelled seconds of a round."""
        return float(np.dot(self, run.parts))


def row_bytes(features: int) -> int:
    """Return the bytes of a row of coarse codes."""
    return -(-features // 2)


def main() -> None:
    """Measure, check the model, and print what it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, help="measurements, made if they are not there")
    path = parser.parse_args().runs
    if path is not None and path.exists():
        runs = [Run(*values) for values in json.loads(path.read_text())]
    else:
        runs = [measured(queries, features, workers) for queries, features in SIZES for workers in (1, 2)]
    if path is not None:
        path.write_text(json.dumps(runs))
    constants = Constants.of(runs[: -2 * HELD_OUT])
    print(
        f"seconds per byte of codes, document, request, exchanged byte: {', '.join(f'{c:.3g}' for c in constants)}"
    )
    for run in runs:
        print(
            f"{run.documents:>9,} documents x {run.features:<4} {run.workers} workers: {run.seconds:.4f} s, "
            f"model / measured {constants.seconds(run) / run.seconds:.2f}"
        )
    print(extrapolated(constants, runs))


def measured(queries: int, features: int, workers: int) -> Run:
    """Fit on processes of one thread each."""
    with tempfile.TemporaryDirectory() as folder:
        binned = _binned(Path(folder), queries, features)
        taken: list[float] = []
        with rw.distributed.Processes(workers) as engine:
            ranker = rw.LambdaMART(rounds=ROUNDS, max_leaves=LEAVES, feature_fraction=1.0, coarse=True, n_jobs=1)
            ranker.fit(binned, cluster=engine, on_round=lambda _: taken.append(time.perf_counter()))
    rounds = ranker.history_.rounds[1:]
    numbers = [
        float(np.mean([ended.diagnostics[name] for ended in rounds]))
        for name in ("requests", "divisions", "exchanged_bytes")
    ]
    return Run(len(binned), features, workers, *numbers, float(np.median(np.diff(taken))))


def _binned(folder: Path, queries: int, features: int) -> rw.BinnedData:
    import pandas as pd

    random = np.random.default_rng(0)
    qid = np.repeat(np.arange(queries), DOCUMENTS_PER_QUERY)
    X = random.normal(size=(len(qid), features)).astype(np.float32)
    y = np.clip(X[:, :5].sum(axis=1) / 2 + random.normal(size=len(qid)), 0, 4).round()
    columns = {f"f{number}": column for number, column in enumerate(X.T)}
    pd.DataFrame({"qid": qid, "label": y, **columns}).to_parquet(folder / "documents.parquet")
    return rw.BinnedData.create(folder / "documents.parquet", folder / "documents.binned", coarse=True)


def extrapolated(constants: Constants, runs: list[Run], documents: float = 1e9, features: int = 700) -> str:
    """Return a table of a round on clusters of other sizes, by how histograms are added up."""
    requests = float(np.mean([run.requests for run in runs]))
    divisions = float(np.mean([run.divisions for run in runs]))
    fine = 4_112 * 4 * (1 + 2 * divisions)
    coarse = 128 * features * (1 + divisions)
    voted = 128 * 40 * (1 + divisions) + fine  # 2 x 20 features that workers vote for
    head = ("workers", "GB each", "MB sent by each", "s without exchange")
    lines = [(*head, "to one coordinator", "tree", "by feature", "voting"), ("---:",) * (len(head) + 4)]
    for workers in (10, 30, 100, 300, 1_000):
        per_worker = documents / workers
        memory = per_worker * (1.5 * features + BYTES_PER_DOCUMENT) / 1e9
        compute = per_worker * (constants.code * row_bytes(features) + constants.document) / CORES
        own = coarse + fine
        trips = requests * TRIP
        steps = int(np.ceil(np.log2(workers)))
        per_byte = 1 / NETWORK + constants.byte
        waits = (
            workers * own * per_byte + trips,
            steps * (own * per_byte + trips),
            2 * own * per_byte + trips,
            workers * voted * per_byte + trips,
        )
        seconds = [f"{compute + wait:.2f}" for wait in waits]
        lines.append((f"{workers:,}", f"{memory:.1f}", f"{own / 1e6:.0f}", f"{compute:.2f}", *seconds))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
