"""Fits that are sent to processes give the results of one process."""

import os
import signal
from concurrent.futures import Future

import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.distributed.engine import Call, LostError
from rankwright.training.concurrent_fits import fits_at_once, is_sent

DATA = rw.synthetic.polynomial_queries(30, n_documents=12, n_features=6, n_active=3, seed=2)


@pytest.fixture(scope="module")
def engine():
    with rw.distributed.Processes(2) as started:
        yield started


def cross_validated():
    both = rw.cross_validate([rw.LambdaMART(rounds=5), rw.AdaRank(rounds=5)], DATA, folds=3, metrics="ndcg@5")
    return {name: [fold.report.mean(name, "ndcg@5") for fold in each.folds] for name, each in both.results.items()}


def tuned():
    result = rw.tune(rw.RankSVM(), DATA, grid={"C": [0.1, 1.0]})
    return [(trial.value, trial.rounds) for trial in result.trials]


def searched():
    pytest.importorskip("optuna")
    result = rw.tune(rw.MART(rounds=8), DATA, trials=3, random_state=1)
    return [(trial.value, trial.rounds) for trial in result.trials]


def mixed():
    ranker = rw.AutoRanker(portfolio=[rw.LambdaMART(rounds=5), rw.RankSVM()]).fit(DATA)
    return ranker.predict(DATA).tolist(), ranker.estimate_.value


@pytest.mark.slow
@pytest.mark.parametrize("results", [cross_validated, tuned, searched, mixed])
def test_results_are_those_of_one_process(engine, results):
    alone = results()
    with rw.distributed.fits_on(engine):
        assert results() == alone


class _KillsOnce(rw.RankSVM):
    """Ends its process at the first fit."""

    def _fit(self, task):
        try:
            os.close(os.open(os.environ["KILLED"], os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            pass
        return super()._fit(task)


@pytest.mark.slow
def test_a_fit_whose_process_is_killed_runs_again(tmp_path, monkeypatch):
    monkeypatch.setenv("KILLED", str(tmp_path / "killed"))
    expected = rw.cross_validate(rw.RankSVM(), DATA, folds=2, metrics="map").mean("map")
    with rw.distributed.fits_on(2):
        assert rw.cross_validate(_KillsOnce(), DATA, folds=2, metrics="map").mean("map") == expected
    assert (tmp_path / "killed").exists()


@pytest.mark.slow
def test_what_a_process_cannot_import_is_refused(engine):
    class Local(rw.RankSVM):
        pass

    with rw.distributed.fits_on(engine), pytest.raises(InputError, match="must be importable there"):
        rw.cross_validate(Local(), DATA, folds=2)


class _Loses(rw.distributed.Processes):
    def submit(self, *_):
        future = Future()
        future.set_exception(LostError("its process was ended by SIGKILL"))
        return Call(None, future)


def test_a_fit_that_is_lost_again_and_again_is_refused():
    with (
        rw.distributed.fits_on(_Loses(1)),
        pytest.raises(InputError, match="lost on 3 workers: its process"),
    ):
        rw.cross_validate(rw.RankSVM(), DATA, folds=2)


class _Hangs(rw.distributed.Processes):
    def submit(self, *_):
        return Call(None, Future())


def test_a_failure_ends_the_wait_for_other_fits():
    def work(task, _on_round):
        if task:
            raise KeyError
        rw.RankSVM().fit(DATA)

    with (
        rw.distributed.fits_on(_Hangs(2)),
        pytest.raises(KeyError),
        fits_at_once(work, [False, True], workers=1) as running,
    ):
        running[1].result()


def test_fits_outside_the_block_stay_here(engine):
    with rw.distributed.fits_on(engine):
        assert not is_sent()  # only fits that run at once are sent
        rw.RankSVM().fit(DATA)
    with fits_at_once(lambda _task, _on_round: is_sent(), [0], workers=1) as running:
        assert not running[0].result()


def test_the_cluster_must_be_one():
    with (
        pytest.raises(InputError, match="must be a number of processes or an engine"),
        rw.distributed.fits_on("x"),
    ):
        pass
