"""One page of speed and accuracy beside other libraries, with the history of earlier runs.

`python -m benchmarks.tracked` measures and prints; `--write` adds the run to benchmarks/tracked.json and writes
docs/tracked.md. `--data FOLDER` names a folder with collections of LETOR (OHSUMED, MQ2008), on which accuracy is
measured. It takes some minutes. Each measurement is that of another benchmark, in a smaller size.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
from collections import defaultdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import rankwright as rw
from benchmarks import accuracy, metrics, reading, scoring, training
from benchmarks.collection import DOCUMENTS_PER_QUERY
from rankwright.cli.output.installation import this_installation

ROOT = Path(__file__).parents[1]
HISTORY = Path(__file__).with_suffix(".json")
PAGE = ROOT / "docs" / "tracked.md"
BOOSTERS = ("lightgbm", "xgboost", "catboost")
LIBRARIES = (*BOOSTERS, "xgboost-cpu", "scikit-learn", "pytrec-eval-terrier", "ir-measures")
QUERIES, ROUNDS, LEAVES = 1_000, 50, 31
SPELLED = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}
OURS = "rankwright"
ACCURATE = ("AutoRanker", "LambdaMART", "LightGBM, small", "XGBoost, small", "CatBoost, small")
TASKS = {  # the key of a run, and what its numbers are; a ratio above 1 means that rankwright is faster
    "training": "processor seconds to train",
    "scoring": "microseconds to score one query of 100 documents",
    "reading": "seconds to read 1 GB of LETOR text",
    "metrics": "milliseconds for NDCG@10, MAP and MRR of 2,000 queries",
}


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    runs = [*history(), measure(options.data)]
    if options.write:
        HISTORY.write_text(json.dumps(runs, indent=1) + "\n")
        PAGE.write_text(page(runs))
    print(page(runs))


def history() -> list[dict[str, Any]]:
    """Return the earlier runs, the oldest first."""
    return json.loads(HISTORY.read_text()) if HISTORY.exists() else []


def measure(data: Path | None) -> dict[str, Any]:
    """Return one run: when, where, with which versions, and all numbers."""
    today = datetime.now(UTC).date().isoformat()
    run: dict[str, Any] = {"date": today, "commit": _commit(), "machine": _machine()}
    versions = {OURS: rw.__version__, "Python": platform.python_version()}
    run["versions"] = versions | {name: found for name in LIBRARIES if (found := _version(name))}
    fits = training.run(QUERIES, ROUNDS, LEAVES, (1,), (OURS, *training.PEERS))
    run["training"] = {_spelled(fit["system"]): fit["processor"] for fit in fits}
    run["trained"] = {_spelled(fit["system"]): [fit["ndcg@10"], fit["peak_mb"]] for fit in fits}
    run["scoring"] = {}
    for name, times in scoring.run(BOOSTERS).items():
        theirs, ours = (seconds * 1e6 for seconds in times["query"])
        run["scoring"] |= {f"{OURS}, model of {name}": ours, name: theirs}
    readers = reading.run(repeats=1)["readers"]
    run["reading"] = {name: 1_000 / reader["megabytes_per_second"] for name, reader in readers.items()}
    run["metrics"] = {name: result["milliseconds"] for name, result in metrics.run().items()}
    folders = [folder for folder in (data / "OHSUMED", data / "MQ2008") if folder.is_dir()] if data else []
    run["accuracy"] = {folder.name: _accuracy(folder) for folder in folders}
    return _rounded(run)


def page(runs: list[dict[str, Any]]) -> str:
    """Return the page: the last run in full, and the ratios of all."""
    if not runs:
        return f"{INTRODUCTION}\nNo run is recorded yet.\n"
    last = runs[-1]
    rows = [
        (name, f"{seconds:.2f}", _times_ours("training", name, last), *_quality(*last["trained"][name]))
        for name, seconds in last["training"].items()
    ]
    sizes = {"queries": QUERIES, "documents": QUERIES * DOCUMENTS_PER_QUERY, "rounds": ROUNDS, "leaves": LEAVES}
    parts = [
        INTRODUCTION,
        LAST.format(**last, **last["machine"]),
        TRAINING.format(**sizes),
        _table(("system", TASKS["training"], "times ours", "NDCG@10", "MB"), rows),
    ]
    for task in ("scoring", "reading", "metrics"):
        rows = [
            (name, f"{value:,.0f}" if value >= 100 else f"{value:.3g}", _times_ours(task, name, last))
            for name, value in last[task].items()
        ]
        parts += [f"## {task.capitalize()}\n", _table(("system", TASKS[task], "times ours"), rows)]
    if last["accuracy"]:
        names = [*last["accuracy"]]
        rows = [(name, *(f"{last['accuracy'][each][name]:.4f}" for each in names)) for name in ACCURATE]
        parts += [ACCURACY, _table(("mean NDCG@10 over five folds", *names), rows)]
    parts += ["## History\n", "How many times as fast as each library, in every run.\n", _history_table(runs)]
    versions = ", ".join(f"{name} {number}" for name, number in last["versions"].items())
    return "\n".join([*parts, "## Versions\n", f"{versions}."]) + "\n"


INTRODUCTION = """\
# Beside other libraries

Speed and accuracy of rankwright and of the libraries that do the same task, measured one after another in one run.
"Times ours" is how many times as long a library takes as rankwright. [Speed](speed.md) and
[Accuracy](accuracy.md) have more sizes and more settings.

`make bench-page DATA=FOLDER` measures again, writes this page, and adds the run to `benchmarks/tracked.json`;
FOLDER has the collections for accuracy.
"""
LAST = """\
Run of {date}, commit {commit}: {processor}, {cores} cores, SIMD path {simd}, load of other processes at the start
{load}.
"""
TRAINING = """\
## Training

{queries:,} queries, {documents:,} documents x 136 features, {rounds} trees of {leaves} leaves, one thread. Times
include building the data set; NDCG@10 is that of 1,000 other queries, memory the peak beyond the feature matrix.
"""
ACCURACY = """\
## Accuracy

Small judged collections of LETOR. The other libraries have settings for small data and early stopping: see
[Accuracy](accuracy.md).
"""


def ratios(run: dict[str, Any]) -> dict[str, float]:
    """Return the times of the other systems divided by ours, by task and system."""
    return {
        f"{task}, {name}": value / own
        for task in TASKS
        for name, value in run[task].items()
        if (own := _own(task, name, run)) and not name.startswith(OURS)
    }


def _own(task: str, name: str, run: dict[str, Any]) -> float | None:
    """Return our time for what a library did: with the same model, or the fastest."""
    if task == "scoring":
        return run[task].get(f"{OURS}, model of {name}")
    return min(value for other, value in run[task].items() if other.startswith(OURS))


def _times_ours(task: str, name: str, run: dict[str, Any]) -> str:
    ratio = ratios(run).get(f"{task}, {name}")
    return "" if ratio is None else f"{ratio:.1f}"


def _history_table(runs: list[dict[str, Any]]) -> str:
    """Return the ratios of all runs, the latest first."""
    latest = [(f"{run['date']} {run['commit']}", ratios(run)) for run in reversed(runs)]
    names = dict.fromkeys(name for _, own in latest for name in own)
    rows = [(name, *(f"{own[name]:.1f}" if name in own else "" for _, own in latest)) for name in names]
    return _table(("task and system", *(head for head, _ in latest)), rows)


def _quality(ndcg: float, megabytes: float) -> tuple[str, str]:
    return f"{ndcg:.4f}", f"{megabytes:.0f}"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows)) + "\n"


def _accuracy(folder: Path) -> dict[str, float]:
    """Return the mean NDCG@10 over folds of each system."""
    means = defaultdict(list)
    for path in sorted(folder.glob("Fold*")):
        train, valid, test = rw.read_fold(path)
        scores = {name: accuracy.SYSTEMS[name](train, valid)(test) for name in ACCURATE}
        report = rw.evaluate(scores, test, metrics=accuracy.METRIC)
        for name in ACCURATE:
            means[name].append(report.mean(name, accuracy.METRIC))
    return {name: float(np.mean(values)) for name, values in means.items()}


def _machine() -> dict[str, Any]:
    """Return the processor, without anything that names the machine."""
    here = this_installation().machine
    info = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    processor = named[1] if named else platform.processor() or platform.machine()
    load = round(os.getloadavg()[0], 1)  # what other processes ask for: 0 on a quiet machine
    return {"processor": processor, "cores": here["threads"], "simd": here["vector path"], "load": load}


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    return done.stdout.strip() or "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _spelled(name: str) -> str:
    return SPELLED.get(name, name)


def _rounded(value: Any) -> Any:
    """Return the values with four significant digits, to keep the history small."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


if __name__ == "__main__":  # needed because some benchmarks start processes
    main()
