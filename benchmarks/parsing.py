"""Why the core has its own readers of CSV and of JSON matrices: their time beside libraries, on generated text.

CSV: 200,000 documents x 20 features, with labels and query ids; every reader parses all columns and returns the
features as a float32 matrix. JSON: the features of one request, 100 documents x 136 features as lists of numbers.
Times are those of the processor, of all threads together: they depend less on what else the machine does.
"""

from __future__ import annotations

import csv
import json
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native, read_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

N_ROWS, N_FEATURES = 200_000, 20
DOCUMENTS_PER_QUERY = 100
REQUEST = (100, 136)
OURS = "rankwright"


def generate(path: Path, n_rows: int, seed: int = 1) -> None:
    """Write a CSV file of labels, query ids, counts and fractions."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30_000, (n_rows, N_FEATURES // 2))
    fractions = rng.normal(0, 20, (n_rows, N_FEATURES - counts.shape[1])).round(6)
    names = [f"feature_{number}" for number in range(N_FEATURES)]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["label", "qid", *names])
        for row, numbers in enumerate(zip(counts.tolist(), fractions.tolist(), strict=True)):
            writer.writerow([row % 5, row // DOCUMENTS_PER_QUERY, *numbers[0], *numbers[1]])


def _by_rankwright(path: Path) -> NDArray[np.float32]:
    return read_csv(path).X


def _by_csv_module(path: Path) -> NDArray[np.float32]:
    with path.open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        table = np.array([[float(field) for field in row] for row in rows])
    return table[:, 2:].astype(np.float32)


def _by_numpy(path: Path) -> NDArray[np.float32]:
    return np.loadtxt(path, delimiter=",", skiprows=1)[:, 2:].astype(np.float32)


def _by_pandas(path: Path) -> NDArray[np.float32]:
    import pandas as pd

    return pd.read_csv(path).iloc[:, 2:].to_numpy(np.float32)


def _by_pyarrow(path: Path) -> NDArray[np.float32]:
    from pyarrow import csv as arrow

    table = arrow.read_csv(path)
    return np.column_stack([column.to_numpy().astype(np.float32) for column in table.columns[2:]])


CSV_READERS: dict[str, tuple[str, Callable[[Path], NDArray[np.float32]]]] = {
    OURS: ("numpy", _by_rankwright),
    "csv module": ("csv", _by_csv_module),
    "numpy.loadtxt": ("numpy", _by_numpy),
    "pandas": ("pandas", _by_pandas),
    "pyarrow": ("pyarrow", _by_pyarrow),
}


def _matrix_by_core(text: bytes) -> Any:
    return _native.read_json_matrix(np.frombuffer(text, np.uint8))


def _matrix_by_msgspec(text: bytes) -> Any:
    import msgspec

    return np.array(msgspec.json.decode(text, type=list[list[float]]), np.float32)


def _matrix_by_json(text: bytes) -> Any:
    return np.array(json.loads(text), np.float32)


JSON_READERS: dict[str, tuple[str, Callable[[bytes], Any]]] = {
    OURS: ("numpy", _matrix_by_core),
    "msgspec and numpy": ("msgspec", _matrix_by_msgspec),
    "json and numpy": ("json", _matrix_by_json),
}


def quickest(readers: dict[str, tuple[str, Callable[[Any], Any]]], source: Any, repeats: int) -> dict[str, float]:
    """Return the shortest time of every installed reader, measured in turn; all must read the same numbers."""
    installed = {name: read for name, (package, read) in readers.items() if find_spec(package)}
    expected = installed[OURS](source)
    seconds = dict.fromkeys(installed, float("inf"))
    for _ in range(repeats):
        for name, read in installed.items():
            start = time.process_time()
            numbers = read(source)
            seconds[name] = min(seconds[name], time.process_time() - start)
            np.testing.assert_array_equal(numbers, expected)
    return seconds


def run(n_rows: int = N_ROWS, repeats: int = 3) -> dict[str, dict[str, float]]:
    """Return the seconds of each reader for the CSV file and for the JSON matrix."""
    X = np.random.default_rng(2).normal(0, 20, REQUEST).astype(np.float32)
    text = json.dumps(X.astype(float).tolist()).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        generate(path, n_rows)
        return {"CSV": quickest(CSV_READERS, path, repeats), "JSON": quickest(JSON_READERS, text, 100 * repeats)}


def main() -> None:
    """Print the table."""
    for kind, seconds in run().items():
        size = f"{N_ROWS:,} x {N_FEATURES + 2}" if kind == "CSV" else f"{REQUEST[0]} x {REQUEST[1]}"
        print(f"{kind + ', ' + size:28}{'CPU ms':>14}{'rankwright is faster by':>26}")
        for name, taken in seconds.items():
            print(f"{name:28}{taken * 1000:14.2f}{taken / seconds[OURS]:26.1f}")


if __name__ == "__main__":
    main()
