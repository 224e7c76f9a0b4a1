"""Click models on long logs: time and memory.

`python -m benchmarks.clicks` simulates 1 and 10 million impressions of two rankers, writes them as Parquet, and
measures in a new process how long it takes to read the file into counts and to fit a position-based model, on two
threads, and the largest memory of the process. `--impressions` chooses other sizes, `--models` other models.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import rankwright as rw
from rankwright.data.writers import write_table

SESSIONS, DOCUMENTS = 100, 10  # per query

MEASURED = """
import json, re, sys, time
from pathlib import Path
import rankwright as rw

begin = time.perf_counter()
counts = rw.clicks.read_counts(sys.argv[1])
read = time.perf_counter()
model = rw.clicks.fit_click_model(counts, sys.argv[2], **json.loads(sys.argv[3]))
fitted = time.perf_counter()
steps = len(getattr(model, "objectives", ()))
# Not ru_maxrss, which begins with the memory of the process that started this one.
megabytes = int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps([len(counts), read - begin, fitted - read, steps, megabytes]))
"""


def main() -> None:
    """Print one line per size and model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--impressions", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--models", nargs="+", default=["position"])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(sys.argv[1:] if __name__ == "__main__" else [])
    print("impressions  model         cells  reading s  fitting s  steps  memory MB")
    for impressions in options.impressions:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log.parquet"
            write_log(impressions, path)
            for model in options.models:
                jobs = {"n_jobs": options.jobs} if model in ("position", "browsing") else {}
                command = [sys.executable, "-c", MEASURED, str(path), model, json.dumps(jobs)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                cells, reading, fitting, steps, memory = json.loads(done.stdout)
                row = f"{reading:9.1f}  {fitting:9.1f}  {steps:5}  {memory:9.0f}"
                print(f"{impressions:11,}  {model:10}  {cells:7,}  {row}")


def write_log(impressions: int, path: Path) -> None:
    """Simulate a log of two rankers."""
    data = rw.synthetic.polynomial_queries(impressions // (SESSIONS * DOCUMENTS), n_documents=DOCUMENTS)
    log = rw.clicks.simulate(data, {"old": data.X[:, 0], "new": data.X[:, 1]}, sessions=SESSIONS)
    write_table(log.columns(), path)


if __name__ == "__main__":
    main()
