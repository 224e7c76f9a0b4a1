"""Time and memory of reading LETOR text with rankwright, scikit-learn and XGBoost, on a generated file."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

N_FEATURES = 136
FILE_BYTES = 120_000_000
DOCUMENTS_PER_QUERY = 120

# Each reader runs in a separate process, which measures its peak memory. It reads a few lines first, so that
# one-time imports and initialisation count neither as time nor as memory.
PROGRAM = """
import json, resource, sys, time
{imports}
def read(path):
    return {call}
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
warm_up, path = sys.argv[1:]
read(warm_up)
before, start = peak(), time.perf_counter()
data = read(path)
seconds = time.perf_counter() - start
print(json.dumps({{"seconds": seconds, "peak_bytes": peak() - before}}))
"""

READERS = {
    "rankwright, 1 thread": ("from rankwright.data import read_letor", "read_letor(path, n_jobs=1)"),
    "rankwright, 2 threads": ("from rankwright.data import read_letor", "read_letor(path, n_jobs=2)"),
    "XGBoost": ("import xgboost", "xgboost.DMatrix(path + '?format=libsvm')"),
    "scikit-learn": (
        "from sklearn.datasets import load_svmlight_file",
        "load_svmlight_file(path, query_id=True)",
    ),
}


def generate(path: Path, n_bytes: int, seed: int = 1) -> int:
    """Write about `n_bytes` of text like MSLR-WEB's (counts, zeros, fractions); return the number of documents."""
    rng = np.random.default_rng(seed)
    block = _text_rows(rng, 6_000)
    written = n_documents = 0
    with path.open("w") as file:
        while written < n_bytes:
            for row in rng.permutation(block):
                query = n_documents // DOCUMENTS_PER_QUERY
                written += file.write(f"{n_documents % 5} qid:{query} {row}\n")
                n_documents += 1
    return n_documents


def _text_rows(rng: np.random.Generator, n_rows: int) -> list[str]:
    kinds = (
        rng.integers(0, 6, (n_rows, N_FEATURES)),
        rng.integers(0, 30_000, (n_rows, N_FEATURES)),
        rng.random((n_rows, N_FEATURES)).round(6),
        rng.normal(0, 20, (n_rows, N_FEATURES)).round(6),
    )
    X = np.choose(np.arange(N_FEATURES) % len(kinds), kinds)
    X[rng.random(X.shape) < 0.2] = 0
    return [" ".join(f"{place}:{value:.10g}" for place, value in enumerate(row, start=1)) for row in X.tolist()]


def measure(name: str, warm_up: Path, path: Path) -> dict[str, float]:
    """Run one reader in a separate process."""
    imports, call = READERS[name]
    program = PROGRAM.format(imports=imports, call=call)
    command = [sys.executable, "-W", "ignore", "-c", program, str(warm_up), str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def run(repeats: int = 3) -> dict[str, Any]:
    """Measure every installed reader, in turn; return the highest speed and the highest peak memory of each."""
    with tempfile.TemporaryDirectory() as folder:
        path, warm_up = Path(folder) / "data.txt", Path(folder) / "few.txt"
        # In a separate process, because the readers inherit the peak memory of the process that starts them.
        with ProcessPoolExecutor(max_workers=1) as other:
            n_documents = other.submit(generate, path, FILE_BYTES).result()
        with path.open() as file:
            warm_up.write_text("".join(next(file) for _ in range(100)))
        megabytes = path.stat().st_size / 1e6
        runs = [(name, measure(name, warm_up, path)) for _ in range(repeats) for name in _installed()]
    quickest = {name: min(one["seconds"] for other, one in runs if other == name) for name in _installed()}
    highest = {name: max(one["peak_bytes"] for other, one in runs if other == name) for name in _installed()}
    readers = {
        name: {
            "megabytes_per_second": megabytes / quickest[name],
            "peak_over_matrix": highest[name] / (n_documents * N_FEATURES * 4),
        }
        for name in _installed()
    }
    return {"megabytes": megabytes, "documents": n_documents, "readers": readers}


def _installed() -> list[str]:
    return [name for name in READERS if name != "XGBoost" or importlib.util.find_spec("xgboost")]


def main() -> None:
    """Print the table."""
    report = run()
    readers = report["readers"]
    best = readers["rankwright, 2 threads"]["megabytes_per_second"]
    print(f"Reading {report['megabytes']:.0f} MB: {report['documents']:,} documents x {N_FEATURES} features")
    print(f"{'reader':24}{'MB/s':>8}{'peak memory / matrix':>24}{'rankwright is faster by':>26}")
    for name, one in readers.items():
        speed = one["megabytes_per_second"]
        print(f"{name:24}{speed:8.0f}{one['peak_over_matrix']:24.2f}{best / speed:26.1f}")
    if "XGBoost" not in readers:
        print("XGBoost is not installed: `make bench` installs it.")


if __name__ == "__main__":
    main()
