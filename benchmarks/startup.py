"""Processor time (user + system) until the command line answers, beside `python -c "import numpy"`.

    python -m benchmarks startup

Each line is the fastest of several runs. `train` and `crossval` stop where they would begin to read the data: they
are given a file that does not exist.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

RUNS = 5
COMMAND = [sys.executable, "-c", "from rankwright.cli import main; main()"]
CASES = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import rankwright": [sys.executable, "-c", "import rankwright"],
    "rankwright --help": [*COMMAND, "--help"],
    "rankwright trian": [*COMMAND, "trian"],
    "rankwright train --help": [*COMMAND, "train", "--help"],
    "rankwright train --modle": [*COMMAND, "train", "--modle", "x"],
    "rankwright predict --out": [*COMMAND, "predict", "--out"],
    "rankwright evaluate --datta": [*COMMAND, "evaluate", "--datta"],
    "rankwright rankers": [*COMMAND, "rankers"],
    "rankwright train": [*COMMAND, "train", "lambdamart", "--train", "no.txt", "--model", "no.rw"],
    "rankwright train ranksvm": [*COMMAND, "train", "ranksvm", "--train", "no.txt", "--model", "no.rw"],
    "rankwright crossval": [*COMMAND, "crossval", "lambdamart", "--data", "no"],
    "import sklearn.base": [sys.executable, "-c", "import sklearn.base"],
}


def processor_time(command: list[str]) -> float:
    """Return the processor seconds that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=False, env={**os.environ, "COLUMNS": "100"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Print the table."""
    times = {name: min(processor_time(command) for _ in range(RUNS)) for name, command in CASES.items()}
    print(f"{'':28}  seconds  times import numpy")
    for name, seconds in times.items():
        print(f"{name:28}  {seconds:7.2f}  {seconds / times['import numpy']:18.1f}")


if __name__ == "__main__":
    main()
