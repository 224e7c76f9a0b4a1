"""Threads that predict, fit and measure at once get what one thread gets.

RANKWRIGHT_CONCURRENCY_SECONDS sets how long they go on: 2 seconds unless it is set, 60 for a thorough run.
"""

import logging
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

import rankwright as rw
from rankwright import _native
from rankwright.metrics import AP, ERR, NDCG

SECONDS = float(os.environ.get("RANKWRIGHT_CONCURRENCY_SECONDS", "2"))
N_THREADS = 8
ROOT = Path(__file__).resolve().parents[1]
COMPILER = shutil.which(os.environ.get("CXX", "c++"))
N_BODIES = [(8, 8), *[(2, 44)] * 4, *[(3, 44)] * 2, (5, 44)]  # by threads, as threads_at_work.cpp runs them
LEAST_JOBS = 4  # of each thread, however slow the machine


def judged(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(240, 6)).astype(np.float32)
    y = np.clip(np.round(X[:, :3].sum(axis=1) + rng.normal(size=240)), 0, 3)
    return rw.RankingData(X, y, rng.integers(20, size=240))


def rankers():
    return {
        "adarank": rw.AdaRank(rounds=2),
        "lambdamart": rw.LambdaMART(rounds=3, n_jobs=2, query_features=("rank", "zscore", "minmax")),
        "lambdamart, all bins": rw.LambdaMART(rounds=3, n_jobs=1, coarse=True),
        "listnet": rw.ListNet(rounds=1),
        "mart": rw.MART(rounds=3, n_jobs=2),
        "mcrank": rw.McRank(rounds=2, n_jobs=1),
        "pool": rw.CalibratedAdaBoost(leaves=(3,), rounds_tried=(3,), splits=2, n_jobs=2),
        "rankboost": rw.RankBoost(rounds=3, n_jobs=2),
        "ranksvm": rw.RankSVM(n_jobs=2),
    }


FITS = """
import hashlib, sys
sys.path.insert(0, "tests")
import rankwright as rw
from test_concurrency import judged, rankers
networks = {"ranknet": rw.RankNet(rounds=2, hidden=(11,)), "lambdarank": rw.LambdaRank(rounds=2, hidden=(7, 3))}
scores = (ranker.fit(judged(1)).predict(judged(2)).tobytes() for ranker in (rankers() | networks).values())
print(hashlib.sha256(b"".join(scores)).hexdigest(), rw._native.widest_path())
"""


def test_fits_are_the_same_on_every_simd_path():
    names = ("portable", "avx2", "avx512")[: _native.widest_path() + 1]
    ran = [
        subprocess.run(
            [sys.executable, "-c", FITS], env=os.environ | {"RANKWRIGHT_SIMD": name}, capture_output=True
        )
        for name in names
    ]
    results = [process.stdout.split() for process in ran]
    assert {scores for scores, _ in results} == {results[0][0]}
    assert [int(path) for _, path in results] == list(range(len(names)))


@pytest.mark.slow
@pytest.mark.skipif(not COMPILER, reason="needs a C++ compiler")
def test_calls_within_calls_use_no_more_threads_than_the_outermost_may(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # of make sanitize
    sources = [ROOT / "tests/threads_at_work.cpp", ROOT / "native/threads/parallel_for.cpp"]
    options = ["-std=c++20", "-pthread", "-I", ROOT / "native", "-o", tmp_path / "count"]
    subprocess.run([COMPILER, *options, *sources], env=environment, check=True)
    ran = subprocess.run([tmp_path / "count"], env=environment, capture_output=True, text=True, check=True)
    lines = [f"{n} threads: {n} at work, {bodies} bodies" for n, bodies in 2 * N_BODIES]
    assert ran.stdout.splitlines() == lines


def test_an_unknown_simd_path_is_refused():
    code = "import rankwright as rw; rw.RankNet(rounds=1).fit([[0.0], [1.0]], [0, 1], [1, 1])"
    environment = os.environ | {"RANKWRIGHT_SIMD": "mmx"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "RANKWRIGHT_SIMD must be portable, avx2 or avx512" in ran.stderr


def jobs(data, valid):
    """What a thread may do, by name; each gives bytes. All of them share data, training sets and fitted models."""
    train, other = rw.TrainingSet(data), rw.TrainingSet(valid)
    work = {}
    for name, ranker in rankers().items():
        fitted = ranker.fit(data)

        def fit(name=name):
            return rankers()[name].fit(train, validation=other).predict(valid).tobytes()

        def predict(fitted=fitted):
            return fitted.predict(valid).tobytes() + fitted.rank(data).tobytes()

        work[f"fit {name}"], work[f"predict {name}"] = fit, predict
        work[f"pickle {name}"] = lambda fitted=fitted: pickle.loads(pickle.dumps(fitted)).predict(valid).tobytes()
    scores = np.round(np.random.default_rng(1).normal(size=len(data)), 1)
    for metric in (NDCG(k=10), AP(), ERR()):
        work[f"measure {metric}"] = lambda metric=metric: np.float64(metric(data.y, scores, data.qid)).tobytes()
    work["report"] = lambda: repr(rw.evaluate({"one": scores}, data).mean("one", "map")).encode()
    return work


@pytest.mark.slow
def test_threads_at_work_together_get_what_one_gets_alone():
    data, valid = judged(1), judged(2)
    expected = {name: job() for name, job in jobs(data, valid).items()}
    work = jobs(data, valid)  # whose training sets have nothing prepared yet
    ready, end = Barrier(N_THREADS), time.monotonic() + SECONDS

    def run(thread):
        names = cycle(np.random.default_rng(thread).permutation(list(work)))
        done = Counter()
        ready.wait()
        while time.monotonic() < end or done.total() < LEAST_JOBS:
            name = next(names)
            assert work[name]() == expected[name], name
            done[name] += 1
        return done

    with ThreadPoolExecutor(N_THREADS) as threads:
        done = sum(threads.map(run, range(N_THREADS)), Counter())
    assert done.total() >= N_THREADS * LEAST_JOBS
    logging.getLogger(__name__).info("%d jobs of %d kinds", done.total(), len(done))
