"""Fits on Ray and on Dask give the bytes of a fit in one process, also when a worker is killed or stopped."""

import contextlib
import os
import signal
import time
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

import rankwright as rw

pytestmark = pytest.mark.clusters
KILLS = int(os.environ.get("KILLS", "3"))
OWN = os.getpid()


def _ray(timeout):
    pytest.importorskip("ray")
    return rw.distributed.Ray(workers=2, timeout=timeout)


def _dask(timeout):
    pytest.importorskip("distributed")
    return rw.distributed.Dask(workers=2, timeout=timeout)


@pytest.fixture(params=[_ray, _dask], scope="module")
def engine(request):
    with request.param(timeout=300.0) as started:  # on a busy machine it takes a minute to start
        yield started


@pytest.fixture(scope="module")
def binned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    judged = rw.synthetic.polynomial_queries(1_500, n_documents=20, n_features=20, n_active=5, seed=4)
    rw.write_letor(judged, folder / "judged.txt")
    return rw.BinnedData.create(folder / "judged.txt", folder / "judged.binned")


def fitted(binned, **options):
    ranker = rw.LambdaMART(rounds=20, max_leaves=31, subsample=0.7, n_jobs=1)
    return ranker.fit(binned, **options)


def saved(ranker, folder):
    rw.save(ranker, folder / "model.rw")
    return (folder / "model.rw").read_bytes()


@pytest.fixture(scope="module")
def expected(binned, tmp_path_factory):
    return saved(fitted(binned), tmp_path_factory.mktemp("expected"))


def worker_processes(binned):
    """Return the processes, other than this, that have mapped the file."""
    pids = []
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            if str(binned.path) in maps.read_text() and int(maps.parent.name) != OWN:
                pids.append(int(maps.parent.name))
        except OSError:
            continue
    return pids


class Blow(Thread):
    """Sends a signal to a worker after so many seconds; if none has opened the file, to the first that does."""

    def __init__(self, binned, number, seconds, random):
        super().__init__(daemon=True)
        self.binned, self.number, self.seconds, self.random = binned, number, seconds, random
        self.victim, self.is_over = None, Event()

    def run(self):
        self.is_over.wait(self.seconds)
        while not self.is_over.is_set():
            if pids := worker_processes(self.binned):
                self.victim = int(self.random.choice(pids))
                os.kill(self.victim, self.number)
                return

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.join()


def lost_workers(ranker):
    return sum(ended.diagnostics["lost_workers"] for ended in ranker.history_.rounds)


@pytest.fixture(scope="module")
def seconds(engine, binned, expected, tmp_path_factory):
    """Return the seconds of a fit that nothing disturbs."""
    start = time.monotonic()
    ranker = fitted(binned, cluster=engine)
    assert saved(ranker, tmp_path_factory.mktemp("undisturbed")) == expected
    assert lost_workers(ranker) == 0
    return time.monotonic() - start


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_worker_that_is_killed_at_any_moment_changes_no_bit(engine, binned, expected, seconds, tmp_path, seed):
    random, victim = np.random.default_rng(seed), None
    while victim is None:  # the fit may have ended before
        with Blow(binned, signal.SIGKILL, random.uniform(0, seconds), random) as blow:
            ranker = fitted(binned, cluster=engine)
        victim = blow.victim
        assert saved(ranker, tmp_path) == expected


@pytest.mark.parametrize("start", [_ray, _dask])
def test_a_stopped_worker_is_replaced_after_the_timeout(start, binned, expected, tmp_path):
    blow = Blow(binned, signal.SIGSTOP, 0.0, np.random.default_rng(5))

    def stop(ended):
        if ended.number == 5:
            engine.timeout = 8.0  # to start takes longer on a busy machine
            blow.start()

    with start(timeout=300.0) as engine:
        try:
            ranker = fitted(binned, cluster=engine, on_round=stop)
        finally:
            with contextlib.suppress(ProcessLookupError, TypeError):
                os.kill(blow.victim, signal.SIGCONT)
    assert lost_workers(ranker) == 1
    assert saved(ranker, tmp_path) == expected


@pytest.mark.parametrize("start", [_ray, _dask])
def test_results_of_whole_fits_are_those_of_one_process(start):
    judged = rw.synthetic.polynomial_queries(40, n_documents=12, n_features=6, n_active=3, seed=2)

    def values():
        validated = rw.cross_validate(rw.LambdaMART(rounds=10), judged, folds=4, metrics="ndcg@5")
        mixed = rw.AutoRanker(portfolio=["lambdamart", "ranksvm"]).fit(judged)
        return [fold.report.mean("lambdamart", "ndcg@5") for fold in validated.folds], mixed.predict(
            judged
        ).tolist()

    alone = values()
    with start(timeout=60.0) as engine, rw.distributed.fits_on(engine):
        assert values() == alone


def _frame(judged):
    pd = pytest.importorskip("pandas")
    features = pd.DataFrame(judged.X, columns=[f"f{number}" for number in range(judged.n_features)])
    frame = pd.concat([pd.DataFrame({"qid": judged.qid, "label": judged.y}), features], axis=1)
    return frame.sample(
        frac=1.0, random_state=3, ignore_index=True
    )  # the documents of a query are in several partitions


@pytest.mark.filterwarnings("default")  # of Ray's data sets
def test_a_ray_dataset_and_a_dask_frame_are_sources(tmp_path):
    ray_data, dask_frames = pytest.importorskip("ray.data"), pytest.importorskip("dask.dataframe")
    judged = rw.synthetic.polynomial_queries(60, n_documents=12, n_features=6, n_active=3, seed=4)
    frame = _frame(judged)
    frame.to_parquet(tmp_path / "all.parquet")
    expected = saved(
        rw.LambdaMART(rounds=5).fit(rw.BinnedData.create(tmp_path, tmp_path / "all.binned")), tmp_path
    )
    with _ray(60.0) as engine:
        dataset = ray_data.from_pandas([frame[:300], frame[300:]])
        assert saved(rw.LambdaMART(rounds=5).fit(dataset, cluster=engine), tmp_path) == expected
    with _dask(60.0) as engine:
        partitions = dask_frames.from_pandas(frame, npartitions=3, sort=False)
        assert saved(rw.LambdaMART(rounds=5).fit(partitions, cluster=engine), tmp_path) == expected
