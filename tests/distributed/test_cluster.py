"""Fits on Ray and on Dask give the bytes of a fit in one process, also when a worker is killed or stopped."""

import contextlib
import os
import signal
import time
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

import rankwright as rw

pytestmark = pytest.mark.clusters
ROUNDS = 8
OWN = os.getpid()


def _ray(timeout):
    pytest.importorskip("ray")
    return rw.distributed.Ray(workers=2, timeout=timeout)


def _dask(timeout):
    pytest.importorskip("distributed")
    return rw.distributed.Dask(workers=2, timeout=timeout)


@pytest.fixture(params=[_ray, _dask], scope="module")
def engine(request):
    with request.param(timeout=60.0) as started:
        yield started


@pytest.fixture(scope="module")
def binned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    judged = rw.synthetic.polynomial_queries(200, n_documents=20, n_features=10, n_active=5, seed=4)
    rw.write_letor(judged, folder / "judged.txt")
    return rw.BinnedData.create(folder / "judged.txt", folder / "judged.binned")


def fitted(binned, **options):
    ranker = rw.LambdaMART(rounds=ROUNDS, max_leaves=4, subsample=0.7, n_jobs=1)
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


class Blow:
    """Sends a signal to a worker at a random moment of a fit, not in its last rounds."""

    def __init__(self, binned, number, seed):
        random = np.random.default_rng(seed)
        self.round, self.delay = int(random.integers(1, ROUNDS - 3)), random.uniform(0, 0.05)
        self.binned, self.number, self.which, self.victim = binned, number, random.random(), None

    def __call__(self, ended):
        if ended.number == self.round:
            Thread(target=self._strike).start()

    def _strike(self):
        pids = worker_processes(self.binned)
        time.sleep(self.delay)
        self.victim = pids[int(self.which * len(pids))]
        os.kill(self.victim, self.number)


def lost_workers(ranker):
    return sum(ended.diagnostics["lost_workers"] for ended in ranker.history_.rounds)


def test_two_workers_learn_the_model_of_one_process(engine, binned, expected, tmp_path):
    ranker = fitted(binned, cluster=engine)
    assert saved(ranker, tmp_path) == expected
    assert lost_workers(ranker) == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_worker_changes_no_bit(engine, binned, expected, tmp_path, seed):
    ranker = fitted(binned, cluster=engine, on_round=Blow(binned, signal.SIGKILL, seed))
    assert lost_workers(ranker) == 1
    assert saved(ranker, tmp_path) == expected


@pytest.mark.parametrize("start", [_ray, _dask])
def test_a_stopped_worker_is_replaced_after_the_timeout(start, binned, expected, tmp_path):
    blow = Blow(binned, signal.SIGSTOP, 5)
    with start(timeout=8.0) as engine:
        try:
            ranker = fitted(binned, cluster=engine, on_round=blow)
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
