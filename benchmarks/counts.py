"""Instructions of kernels and small fits, `make bench-counts`: repeatable on any machine, unlike times.

Valgrind counts the instructions of a process that runs a case once and of one that runs it four times; a third of
the difference is the cost of the case. `benchmarks/counts.json` has the counts last accepted: a case that
needs 3 % more fails the run, and `--accept` writes the new counts. They depend on the compiler and the versions of
Python and numpy. Valgrind has no AVX-512, so the AVX2 path is counted.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TABLE = Path(__file__).with_suffix(".json")
TOLERANCE = 0.03
REPEATS = 4

# The documents of all cases: 60 queries of 50 documents, 30 features.
SETUP = """
import numpy as np, rankwright as rw
data = rw.synthetic.polynomial_queries(60, n_documents=50, n_features=30, n_active=6, seed=1)
train, valid = rw.split_queries(data, 0.7, 0.3, random_state=1)
shared, judging = rw.TrainingSet(train), rw.TrainingSet(valid)
scores = np.random.default_rng(1).normal(size=len(data))
"""
LEAFWISE = "rw.LambdaMART(rounds=50, grow_policy='leafwise', pairs='all', n_jobs=1)"
CASES = {
    "LambdaMART, leafwise, all pairs": f"{LEAFWISE}.fit(shared, validation=judging)",
    **{
        f"{ranker}, {rounds} rounds": f"rw.{ranker}(rounds={rounds}, n_jobs=1).fit(shared, validation=judging)"
        for ranker, rounds in {
            "LambdaMART": 50,
            "MART": 50,
            "McRank": 20,
            "RankBoost": 50,
            "MPBoost": 50,
            "AdaRank": 50,
            "AdaBoostMH": 20,
        }.items()
    },
    "RankSVM": "rw.RankSVM(n_jobs=1).fit(shared)",
    "binning": "rw.TrainingSet(train).binned(255, n_jobs=1)",
    "NDCG@10": "rw.metrics.NDCG(k=10).mean(data.y, scores, data.groups, n_jobs=1)",
    "MAP": "rw.metrics.AP().mean(data.y, scores, data.groups, n_jobs=1)",
    "scoring by 50 trees": "model.predict(data, n_jobs=1)",
}
SETUP_OF = {"scoring by 50 trees": f"model = {LEAFWISE}.fit(train).model_"}


def count(case: str, repeats: int) -> int:
    """Return the instructions of a process that runs the case so many times."""
    code = f"{SETUP}{SETUP_OF.get(case, '')}\nfor _ in range({repeats}):\n    {CASES[case]}"
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    environment = os.environ | {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(
        [*command, sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, env=environment
    )
    refs = re.search(r"I\s+refs:\s+([\d,]+)", ran.stderr)
    if ran.returncode or refs is None:
        sys.exit(f"{case}: {ran.stderr[-2000:]}")
    return int(refs[1].replace(",", ""))


def cost(case: str) -> int:
    """Return the instructions of one run of the case."""
    return (count(case, REPEATS) - count(case, 1)) // (REPEATS - 1)


def main() -> None:
    """Count all cases, or those named, and compare them with the table."""
    if shutil.which("valgrind") is None:
        sys.exit("make bench-counts needs valgrind.")
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("cases", nargs="*", help="beginnings of names of cases; all by default")
    arguments.add_argument("--accept", action="store_true", help="write the counts to the table")
    given = arguments.parse_args()
    cases = [case for case in CASES if not given.cases or case.startswith(tuple(given.cases))]
    accepted = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(cases, pool.map(cost, cases), strict=True))
    changes = {case: counts[case] / accepted[case] - 1.0 for case in cases if case in accepted}
    print(f"{'case':<26}{'instructions':>15}{'accepted':>15}{'change':>9}")
    for case in cases:
        change = f"{changes[case]:+.1%}" if case in changes else "new"
        print(f"{case:<26}{counts[case]:>15,}{accepted.get(case, 0):>15,}{change:>9}")
    if given.accept:
        TABLE.write_text(json.dumps(accepted | counts, indent=1) + "\n")
    elif slower := [case for case, change in changes.items() if change > TOLERANCE]:
        sys.exit(f"More instructions than the table allows: {', '.join(slower)}.")


if __name__ == "__main__":
    main()
