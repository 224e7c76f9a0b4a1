"""Requests per second of `rankwright serve`, in JSON and in numpy's format, and of the same server with LightGBM.

100 documents x 136 features, 500 trees of 31 leaves. Both may use all cores: rankwright by one process per core,
LightGBM in the same server by processes or by threads. Servers and load are on this machine, and all are measured
in turn in one run: first how many requests per second a closed loop of a few clients gets answered, then
the latencies at half of that rate. The CPU time per request depends less on what else the machine does.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.load import pace, saturate
from benchmarks.scoring import N_LEAVES, N_TREES, QUERY_SIZE, generate
from rankwright.base.resources import available_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

CONNECTIONS = 4
QUIET = 0.001  # of the time; 99 % of the requests of a turn then have nothing to do with other machines
CORES = available_threads()
KINDS = {
    "rankwright, 1 process": ("ours", 1),
    f"rankwright, {CORES} processes": ("ours", CORES),
    f"LightGBM, {CORES} processes": ("1", CORES),
    f"LightGBM, {CORES} threads": (str(CORES), 1),
}
N_TRAINING = 20_000
NPY = "application/x-npy"
TICKS = os.sysconf("SC_CLK_TCK")


class Turn(NamedTuple):
    """Latencies of some seconds, and the fraction of that time that other virtual machines took from this one."""

    latencies: list[float]
    stolen: float


@dataclass
class Measured:
    """The answers of one server to one kind of request."""

    rates: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return float(np.median(self.rates))

    def cells(self) -> list[str]:
        quiet = [turn for turn in self.turns if turn.stolen < QUIET]
        p50, p99 = (f"{_quantile(self.turns, part):.1f}" for part in (0.5, 0.99))
        of_quiet = f"{_quantile(quiet, 0.99):.1f} ({len(quiet)})" if quiet else "(0)"
        return [f"{self.rate:.0f}", f"{np.median(self.processor) * 1000:.2f}", p50, p99, of_quiet]


def _quantile(turns: Sequence[Turn], part: float) -> float:
    """Return a quantile of latencies in milliseconds."""
    return float(np.quantile(np.concatenate([turn.latencies for turn in turns]), part)) * 1000


class Server:
    """A service in processes of its own, around rankwright or around LightGBM."""

    def __init__(self, model: Path, threads: str, workers: int) -> None:
        command = [sys.executable, "-m", "benchmarks.serving", "--serve", str(model)]
        command += ["--threads", threads, "--workers", str(workers)]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        ready = 0
        for line in self._process.stderr:
            if '"listening"' in line:
                self.port = json.loads(line)["port"]
            ready += '"ready"' in line
            if ready == workers:
                return
        raise RuntimeError("The server did not start.")

    def processor(self) -> float:
        """Return the seconds of the processor that the server and its workers have used."""
        pid = self._process.pid
        workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return sum(map(_processor, [str(pid), *workers]))

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()


def _processor(pid: str) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _stolen() -> float:
    """Return the seconds, per core, in which other virtual machines had a processor that this one wanted."""
    return int(Path("/proc/stat").read_text().split(maxsplit=9)[8]) / TICKS / CORES


def serve(model: Path, threads: str, workers: int) -> None:
    """Serve a model with rankwright, or the same server around LightGBM's predict."""
    from rankwright.serve.http.workers import serve as run
    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.settings import ModelSource, Settings

    if threads != "ours":
        import lightgbm

        booster = lightgbm.Booster(model_file=str(model), params={"num_threads": int(threads)})
        ServedModel.scores = lambda _self, X: booster.predict(X, num_threads=int(threads))  # type: ignore[method-assign]
    source = ModelSource("model", "1", model)
    run(Settings((source,), port=0, workers=workers, reload=0, grace=0, log_requests=False))


def requests_of(X: Any) -> dict[str, bytes]:
    """Return the same documents as a request in JSON and in numpy's format."""
    saved = io.BytesIO()
    np.save(saved, X)
    rows = json.dumps({"features": X.astype(float).tolist()}).encode()
    return {"JSON": _written(rows, "application/json"), "npy": _written(saved.getvalue(), NPY)}


def _written(body: bytes, kind: str) -> bytes:
    head = f"POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\naccept: {kind}\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def measure(server: Server, request: bytes, seconds: float, measured: Measured) -> None:
    """Measure one server with one kind of request for a while."""
    used = server.processor()
    start = time.perf_counter()
    rate = saturate(server.port, request, CONNECTIONS, seconds)
    took = time.perf_counter() - start
    measured.rates.append(rate)
    measured.processor.append((server.processor() - used) / (rate * took))
    stolen, start = _stolen(), time.perf_counter()
    latencies = pace(server.port, request, 4 * CONNECTIONS, seconds, measured.rate / 2)
    measured.turns.append(Turn(latencies, (_stolen() - stolen) / (time.perf_counter() - start)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5, help="per server, kind of request and turn")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", default="", help="rows with all of these words, such as 'rankwright JSON'")
    parser.add_argument("--model", type=Path, help="LightGBM model of 136 features; by default one is trained")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--threads", default="ours", help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, default=1, help=argparse.SUPPRESS)
    options, _ = parser.parse_known_args()
    if options.serve is not None:
        serve(options.serve, options.threads, options.workers)
    elif not find_spec("lightgbm") or not find_spec("uvicorn"):
        print("Serving needs LightGBM and rankwright[serve]: `make bench` installs them.")
    else:
        with tempfile.TemporaryDirectory() as folder:
            model = options.model or _trained(Path(folder) / "model.txt")
            _show(_compare(model, options.seconds, options.turns, options.only.split()))


def _trained(path: Path) -> Path:
    import lightgbm

    X, y = generate(N_TRAINING)
    lightgbm.train({"num_leaves": N_LEAVES, "verbose": -1}, lightgbm.Dataset(X, y), N_TREES).save_model(path)
    return path


def _compare(model: Path, seconds: float, turns: int, words: list[str]) -> dict[str, Measured]:
    requests = requests_of(generate(QUERY_SIZE, seed=2)[0])
    servers = {name: Server(model, *kind) for name, kind in KINDS.items()}
    results = {}
    for _ in range(turns):
        for (name, server), (form, request) in product(servers.items(), requests.items()):
            row = f"{name}, {form}"
            if all(word in row for word in words):
                measure(server, request, seconds, results.setdefault(row, Measured()))
    for server in servers.values():
        server.end()
    return results


def _show(results: dict[str, Measured]) -> None:
    print(f"Serving: {QUERY_SIZE} documents x 136 features, {N_TREES} trees x {N_LEAVES} leaves")
    print(f"{'':<53}   latency at half the rate, ms")
    print(f"{'':<30}{'requests/s':>12}{'ms of CPU':>11}{'p50':>9}{'p99':>9}{'quiet p99':>13}")
    for name, one in results.items():
        rate, processor, p50, p99, quiet = one.cells()
        print(f"{name:<30}{rate:>12}{processor:>11}{p50:>9}{p99:>9}{quiet:>13}")
    print(f"quiet: turns (their number) in which other machines took less than {QUIET:.1%} of the processor")
    if len(results) == len(KINDS) * 2:
        _show_ratios(results)
    print(f"load of the machine in the last minute: {os.getloadavg()[0]:.1f}")


def _show_ratios(results: dict[str, Measured]) -> None:
    ours, binary, peer = (
        max(
            (one for name, one in results.items() if name.startswith(who) and form in name),
            key=lambda one: one.rate,
        )
        for who, form in (("rankwright", "JSON"), ("rankwright", "npy"), ("LightGBM", "JSON"))
    )
    cpu = [float(np.median(one.processor)) for one in (ours, binary, peer)]
    print(f"JSON: {ours.rate / peer.rate:.1f} times LightGBM's rate ({cpu[2] / cpu[0]:.1f} by CPU)")
    print(f"npy: {binary.rate / ours.rate:.1f} times JSON's rate ({cpu[0] / cpu[1]:.1f} by CPU)")


if __name__ == "__main__":
    main()
