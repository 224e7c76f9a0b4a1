"""Whether a search finds better settings than the small grid: LambdaMART on every fold of a LETOR collection.

`python -m benchmarks.tuning OHSUMED --cache tuning.json` chooses a setting on the training and validation queries
of each fold, out of fold: the ranker's own setting, the best of its grid, and the best of a search. Each is fitted
on these queries with its best number of rounds and measured once on the test part; nothing is chosen there.
Results are kept in `--cache FILE`, and the trials of a search beside it, so that a run can resume.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import rankwright as rw
from rankwright.data.readers.fold_folders import find_folds, read_fold

METRIC = "ndcg@10"
WAYS = ("default", "grid", "search")


def main() -> None:
    """Print the mean of the test parts for each way to choose, and what each promised."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--ranker", default="lambdamart")
    parser.add_argument("--folds", type=int, help="only the first so many folds")
    parser.add_argument("--cache", type=Path, default=Path("tuning.json"))
    options = parser.parse_args()
    kept: dict[str, Any] = json.loads(options.cache.read_text()) if options.cache.exists() else {}
    for path in find_folds(options.folder)[: options.folds]:
        for way in WAYS:
            key = f"{path.name} {way}"
            if key not in kept:
                storage = options.cache.with_suffix(f".{path.name}.journal")
                kept[key] = measured(path, way, options.ranker, options.trials, storage)
                options.cache.write_text(json.dumps(kept, indent=1))
                print(key, kept[key], file=sys.stderr, flush=True)
    for way in WAYS:
        _show(way, [one for key, one in kept.items() if key.endswith(way)])


def measured(path: Path, way: str, ranker: str, trials: int, storage: Path) -> dict[str, Any]:
    """Return the test value of the setting chosen in one way, its value out of fold, and the corrected value."""
    train, valid, test = read_fold(path)
    started = time.perf_counter()
    how: dict[str, Any] = {
        "default": {"grid": {}},
        "grid": {"grid": True},
        "search": {"trials": trials, "storage": storage},
    }[way]
    tuning = rw.tune(rw.make_ranker(ranker, metric=METRIC), train, validation=valid, choose="out-of-fold", **how)
    states = [one.state for one in tuning.trials]
    return {
        "test": tuning.fit().score(test),
        "chosen": tuning.best.value,
        "corrected": tuning.correction.value,
        "setting": tuning.to_dict()["best"]["parameters"],
        "rounds": tuning.best.rounds,
        "states": {state: states.count(state) for state in sorted(set(states))},
        "seconds": time.perf_counter() - started,
    }


def _show(way: str, results: list[dict[str, Any]]) -> None:
    means = {name: float(np.mean([one[name] for one in results])) for name in ("test", "chosen", "corrected")}
    seconds = sum(one["seconds"] for one in results)
    print(
        f"{way:<8} {len(results)} folds: test {means['test']:.4f}; out of fold {means['chosen']:.4f}, "
        f"corrected {means['corrected']:.4f}; {seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
