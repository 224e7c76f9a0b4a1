"""Fits on clusters give the bytes of fits in one process, however documents are divided and workers lost."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import Timer

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from in_process import InProcess
from properties import examples
from rankwright.base.errors import InputError
from rankwright.distributed.cluster import Cluster
from rankwright.distributed.engine import Actor, Call, Host

RANKERS = {
    "lambdamart": rw.LambdaMART(rounds=4, max_leaves=6),
    "gradient": rw.LambdaMART(rounds=3, subsample=0.5, subsample_by="gradient"),
    "queries": rw.LambdaMART("map", rounds=3, subsample=0.5, subsample_by="queries", min_documents=3),
    "two_each": rw.LambdaMART(rounds=3, min_documents=2),
    "monotone": rw.LambdaMART(rounds=3, monotone={2: 1}, min_documents=4),
    "leafwise": rw.LambdaMART(rounds=3, grow_policy="leafwise", pairs="all"),
    "symmetric": rw.MART(rounds=3, grow_policy="symmetric"),
    "mart": rw.MART(rounds=4, subsample=0.6, feature_fraction=0.5, targets="gains"),
    "mcrank": rw.McRank(rounds=2, min_documents=2),
    "ordinal": rw.McRank(rounds=2, classes="ordinal", subsample=0.5),
    "per_class": rw.McRank(rounds=2, trees="per_class", subsample=0.5, subsample_by="gradient"),
}
COARSE = ("lambdamart", "leafwise", "gradient", "queries", "two_each", "monotone", "mart")


def judged(n_queries=50, seed=3):
    random = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), random.integers(1, 14, n_queries))
    X = random.normal(size=(len(qid), 7)).astype(np.float32)
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 0], X[:, 1] = 1.0, random.integers(0, 4, len(qid))
    X[:, 3:5] = np.nan_to_num(X[:, 3:5])  # without missing values, workers count only some documents
    y = np.clip(np.nan_to_num(X[:, 2]) + X[:, 3] + random.normal(size=len(qid)), 0, 3).round()
    return rw.RankingData(X, y, qid)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("documents")
    rw.write_letor(judged(), path / "judged.txt")
    for coarse in (False, True):
        rw.BinnedData.create(path / "judged.txt", path / f"{coarse}.binned", coarse=coarse)
    return path


def saved(ranker, folder):
    path = folder / f"model-{os.getpid()}"
    rw.save(ranker, path)
    return path.read_bytes()


def fitted(name, folder, *, coarse=False, **options):
    ranker = type(RANKERS[name])(**RANKERS[name].get_params()).set_params(n_jobs=1)
    if coarse:
        ranker.set_params(coarse=True)
    ranker.fit(rw.BinnedData(folder / f"{coarse}.binned"), **options)
    return ranker


@pytest.fixture(scope="module")
def expected(folder):
    made = {}

    def model(name, coarse):
        if (name, coarse) not in made:
            ranker = fitted(name, folder, coarse=coarse)
            made[name, coarse] = saved(ranker, folder), [ended.train for ended in ranker.history_.rounds]
        return made[name, coarse]

    return model


CASES = [(name, coarse) for name in RANKERS for coarse in (False, True) if not coarse or name in COARSE]


@pytest.mark.parametrize(("name", "coarse"), CASES)
def test_workers_learn_the_model_of_one_process(name, coarse, folder, expected):
    ranker = fitted(name, folder, coarse=coarse, cluster=InProcess(3))
    assert (saved(ranker, folder), [ended.train for ended in ranker.history_.rounds]) == expected(name, coarse)


@examples(40)
@given(
    st.sampled_from(CASES),
    st.integers(1, 4),
    st.sampled_from([1, 2, 5, 49, 60]),
    st.sets(st.integers(1, 150)),
    st.booleans(),
)
def test_neither_partitions_nor_losses_change_a_bit(folder, expected, case, workers, partitions, lost, restarts):
    name, coarse = case
    lost = sorted(lost) if restarts else sorted(lost)[: min(workers, partitions) - 1]
    engine = InProcess(workers, lose=lost.__contains__, restarts=restarts)
    ranker = fitted(name, folder, coarse=coarse, cluster=Cluster(engine, n_partitions=partitions))
    assert saved(ranker, folder) == expected(name, coarse)[0]


class OtherThreads(InProcess):
    """Each of its workers uses another number of threads."""

    def start(self, make, n):
        return [Actor(k, make, Host(partial(make.func, *make.args[:2], 1 + k % 3))) for k in range(n)]


@pytest.mark.parametrize("name", ["lambdamart", "mcrank"])
def test_workers_of_different_numbers_of_threads_change_no_bit(name, folder, expected):
    ranker = fitted(name, folder, cluster=OtherThreads(4))
    assert saved(ranker, folder) == expected(name, False)[0]


# From calls 13 and 11 on each worker is asked once; calls 16 to 18 load the partitions of the lost on survivors.
@pytest.mark.parametrize(
    ("workers", "lost", "n_lost"),
    [(3, {13}, 1), (3, {13, 16}, 2), (5, {11, 12, 13}, 3), (5, {11, 12, 13, 18}, 4), (5, {11, 12, 13, 16, 18}, 4)],
)
def test_partitions_that_a_lost_worker_took_over_are_counted_once(folder, expected, workers, lost, n_lost):
    engine = InProcess(workers, lose=lost.__contains__, restarts=False)
    ranker = fitted("lambdamart", folder, cluster=engine)
    assert saved(ranker, folder) == expected("lambdamart", False)[0]
    assert sum(ended.diagnostics["lost_workers"] for ended in ranker.history_.rounds) == n_lost
    assert engine.n_starts == 1  # nobody joined


def test_workers_that_join_take_part(folder, expected):
    engine, ranker = InProcess(1), rw.LambdaMART(rounds=4, max_leaves=6, n_jobs=1)

    def join(_round):
        engine.workers = 3

    ranker.fit(rw.BinnedData(folder / "False.binned"), cluster=engine, on_round=join)
    assert saved(ranker, folder) == expected("lambdamart", False)[0]
    assert engine.n_starts == 2


class Living(InProcess):
    """Its actors give signs of life."""

    def last_sign(self, _actor):
        return time.monotonic()


def test_an_actor_that_lives_and_takes_much_longer_than_others_is_lost():
    engine = Living(2)
    actors = engine.start(list, 2)
    hung = Call(actors[1], Future())
    answers, losses = engine.wait([engine.call(actors[0], "copy"), hung], timeout=0.02)
    assert [done.call.actor for done in answers] == [actors[0]]
    assert losses == [(hung, "it did not answer within 0.2 s; a longer timeout gives it more")]


def test_a_call_that_is_waited_for_alone_may_take_ten_times_as_long_as_any_before():
    engine = Living(1)
    (actor,) = engine.start(list, 1)
    hung, slow = Call(actor, Future()), Call(actor, Future())
    assert engine.wait([hung], timeout=0.02) == (
        [],
        [(hung, "it did not answer within 0.2 s; a longer timeout gives it more")],
    )
    engine.timeout = 0.05
    Timer(0.3, slow.future.set_result, [7]).start()
    assert engine.wait([slow]) == ([(slow, 7)], [])
    start = time.monotonic()
    _, losses = engine.wait([hung], timeout=0.02)
    assert [lost.call for lost in losses] == [hung]
    assert time.monotonic() - start > 3.0


def test_neither_loads_nor_late_answers_give_later_calls_more_time():
    engine = Living(1)
    (actor,) = engine.start(list, 1)
    late, load, hung = (Call(actor, Future()) for _ in range(3))
    engine.timeout = 0.02
    assert [lost.call for lost in engine.wait([late])[1]] == [late]
    late.future.set_result(7)
    Timer(0.3, load.future.set_result, [7]).start()
    assert engine.wait([load], timeout=0.2) == ([(load, 7)], [])
    _, losses = engine.wait([hung])
    assert losses == [(hung, "it did not answer within 0.2 s; a longer timeout gives it more")]


def test_a_submitted_function_may_take_any_time():
    function = Call(None, Future())
    Timer(0.6, function.future.set_result, [7]).start()
    assert Living(1).wait([function], timeout=0.02) == ([(function, 7)], [])


def test_losses_and_traffic_are_in_the_history(folder):
    engine = InProcess(2, lose=lambda number: number == 30)
    rounds = fitted("lambdamart", folder, cluster=engine).history_.rounds
    assert sum(ended.diagnostics["lost_workers"] for ended in rounds) == 1
    assert all(ended.diagnostics["exchanged_bytes"] > 0 for ended in rounds)


def test_validation_chooses_the_same_round(folder):
    valid = judged(30, seed=8)
    alone = fitted("lambdamart", folder, validation=valid)
    together = fitted("lambdamart", folder, validation=valid, cluster=InProcess(2))
    assert saved(together, folder) == saved(alone, folder)
    assert [ended.validation for ended in together.history_.rounds] == [
        ended.validation for ended in alone.history_.rounds
    ]


@pytest.mark.parametrize("name", ["lambdamart", "mcrank", "per_class"])
def test_a_fit_resumes_from_its_checkpoint(name, folder, expected, tmp_path):
    saves = rw.distributed.Checkpoint(tmp_path / "fit.checkpoint", every=1)

    def stop(ended):
        if ended.number == 2:
            raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        fitted(name, folder, cluster=InProcess(2), checkpoint=saves, on_round=stop)
    ranker = fitted(name, folder, cluster=InProcess(3), checkpoint=saves)
    assert (saved(ranker, folder), [ended.train for ended in ranker.history_.rounds]) == expected(name, False)


def test_a_checkpoint_of_another_fit_is_refused(folder, tmp_path):
    path = tmp_path / "fit.checkpoint"
    fitted("mart", folder, cluster=InProcess(1), checkpoint=rw.distributed.Checkpoint(path, every=2))
    with pytest.raises(InputError, match="the checkpoint of another fit"):
        fitted("lambdamart", folder, cluster=InProcess(1), checkpoint=path)


def test_a_checkpoint_of_another_version_is_refused(folder, tmp_path, monkeypatch):
    saves = rw.distributed.Checkpoint(tmp_path / "fit.checkpoint", every=2)
    fitted("mart", folder, cluster=InProcess(1), checkpoint=saves)
    monkeypatch.setattr("rankwright.rankers.shared.cluster_fit.__version__", "0.0.1")
    with pytest.raises(InputError, match=r"or of another version; give another name"):
        fitted("mart", folder, cluster=InProcess(1), checkpoint=saves)


def test_a_damaged_checkpoint_is_refused(folder, tmp_path):
    path = tmp_path / "fit.checkpoint"
    fitted("mart", folder, cluster=InProcess(1), checkpoint=rw.distributed.Checkpoint(path, every=2))
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="give another name to begin anew"):
        fitted("mart", folder, cluster=InProcess(1), checkpoint=path)


@pytest.mark.parametrize(
    ("ranker", "options", "sentence"),
    [
        (rw.AdaRank(), {}, "AdaRank learns in one process"),
        (rw.LambdaMART(double_lambdas=None), {}, "takes no double_lambdas=None"),
        (rw.MART(), {"query_weight": np.ones(50)}, "query_weight follows the order of the input"),
        (rw.MART(), {"cluster": 0}, "must be a number of processes or an engine"),
        (rw.MART(), {"cluster": None, "checkpoint": "x"}, "checkpoint needs a cluster"),
    ],
)
def test_what_a_cluster_does_not_take_is_refused(ranker, options, sentence, folder):
    with pytest.raises(InputError, match=sentence):
        ranker.fit(rw.BinnedData(folder / "False.binned"), **{"cluster": InProcess(1), **options})


@pytest.mark.parametrize("name", ["mcrank", "symmetric", "mart"])
def test_files_are_binned_as_the_ranker_asks(name, folder, monkeypatch):
    for module in ("training.binned_data", "rankers.shared.tree_ranker"):
        monkeypatch.setattr(f"rankwright.{module}.COARSE_DOCUMENTS", 100)
    ranker = type(RANKERS[name])(**RANKERS[name].get_params()).set_params(max_bins=20, n_jobs=1)
    alone = ranker.fit(judged()).predict(judged())
    assert ranker.fit(folder / "judged.txt", cluster=InProcess(2)).predict(judged()).tobytes() == alone.tobytes()


def test_categories_split_by_sets_are_refused_with_a_remedy(tmp_path):
    random = np.random.default_rng(1)
    columns = {"qid": np.repeat(range(12), 5), "label": random.integers(0, 3, 60)}
    frame = pd.DataFrame(columns | {"brand": [f"brand {number}" for number in random.integers(0, 20, 60)]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    splits = {"sets": rw.MART(rounds=2), "thresholds": rw.MART(rounds=2, category_splits="thresholds")}
    for split, ranker in splits.items():
        options = {"categorical": ["brand"], "category_splits": split}
        binned = rw.BinnedData.create(tmp_path / "a.csv", tmp_path / split, **options)
        if split == "sets":
            with pytest.raises(InputError, match="bin them and fit with category_splits='thresholds'"):
                ranker.fit(binned, cluster=InProcess(2))
        else:
            assert ranker.fit(binned, cluster=InProcess(2)).model_.n_trees == 2


def test_a_memory_limit_is_refused(folder):
    with pytest.raises(InputError, match="A fit on a cluster takes no max_memory: more workers need less"):
        rw.MART().fit(rw.BinnedData(folder / "False.binned", max_memory=10**9), cluster=InProcess(2))


def test_a_checkpoint_that_cannot_be_written_is_refused_before_binning(folder, tmp_path):
    for path, sentence in (
        (tmp_path / "nodir" / "x", "there is no folder"),
        (tmp_path, "is a folder"),
    ):
        with pytest.raises(InputError, match=sentence):
            rw.MART().fit(folder / "nothing.txt", cluster=InProcess(2), checkpoint=path)


def test_documents_in_memory_are_refused():
    with pytest.raises(InputError, match="needs documents in files that all workers see, not RankingData"):
        rw.MART().fit(judged(), cluster=2)


@pytest.mark.slow
def test_processes_learn_from_files_and_survive_the_loss_of_one(folder, expected):
    with rw.distributed.Processes(2, timeout=60) as engine:
        ranker = rw.LambdaMART(rounds=4, max_leaves=6)

        def kill(ended):
            if ended.number == 2:
                next(iter(engine._channels)).process.send_signal(signal.SIGKILL)

        ranker.fit(folder / "judged.txt", cluster=engine, on_round=kill)
    assert saved(ranker, folder) == expected("lambdamart", False)[0]
    assert sum(ended.diagnostics["lost_workers"] for ended in ranker.history_.rounds) == 1


@pytest.mark.slow
def test_a_stopped_process_is_replaced_after_the_timeout(folder, expected):
    with rw.distributed.Processes(2, timeout=5) as engine:
        ranker = rw.LambdaMART(rounds=4, max_leaves=6, n_jobs=1)

        def stop(ended):
            if ended.number == 1:
                next(iter(engine._channels)).process.send_signal(signal.SIGSTOP)

        ranker.fit(rw.BinnedData(folder / "False.binned"), cluster=engine, on_round=stop)
    assert saved(ranker, folder) == expected("lambdamart", False)[0]


def test_a_binned_file_that_vanishes_is_named(folder, tmp_path):
    path = tmp_path / "gone.binned"
    path.write_bytes((folder / "False.binned").read_bytes())
    binned = rw.BinnedData(path)
    path.unlink()
    with pytest.raises(InputError, match=r"There is no file .*gone.binned"):
        rw.LambdaMART(rounds=2).fit(binned, cluster=InProcess(2))


@pytest.mark.slow
def test_a_binned_file_that_vanishes_before_a_worker_is_lost_is_named(folder, tmp_path):
    path = tmp_path / "gone.binned"
    path.write_bytes((folder / "False.binned").read_bytes())

    with rw.distributed.Processes(2, timeout=60) as engine:

        def vanish(ended):
            if ended.number == 1:
                path.unlink()
                next(iter(engine._channels)).process.send_signal(signal.SIGKILL)

        with pytest.raises(InputError, match=r"There is no file .*gone.binned"):
            rw.LambdaMART(rounds=4, n_jobs=1).fit(rw.BinnedData(path), cluster=engine, on_round=vanish)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cluster", ["2", *(pytest.param(name, marks=pytest.mark.clusters) for name in ("ray", "dask"))]
)
def test_a_killed_command_resumes_to_the_same_bytes(folder, tmp_path, cluster):
    train = ["train", "lambdamart", "--train", folder / "False.binned", "--set", "rounds=60", "--jobs", 1]
    command = [sys.executable, "-c", "from rankwright.cli import main; main()", *map(str, train)]
    on_workers = [*command, "--cluster", cluster, "--checkpoint", tmp_path / "fit.checkpoint"]
    killed = subprocess.Popen([*on_workers, "--model", tmp_path / "killed.rw"], stderr=subprocess.DEVNULL)
    while not (tmp_path / "fit.checkpoint").exists():
        assert killed.poll() is None
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "killed.rw").exists()
    subprocess.run([*command, "--model", tmp_path / "alone.rw"], check=True, capture_output=True)
    resumed = [*on_workers, "--model", tmp_path / "resumed.rw"]
    said = subprocess.run(resumed, check=True, capture_output=True, text=True).stderr
    assert f"resumes from the rounds in {tmp_path / 'fit.checkpoint'}\n" in said
    assert (tmp_path / "resumed.rw").read_bytes() == (tmp_path / "alone.rw").read_bytes()


def _memory(process):
    """Return the bytes of a process that are no pages of files."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("RssAnon:")))


@pytest.mark.long  # what other processes do changes which pages stay in memory
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="it says how much memory a process has")
def test_memory_of_a_worker_is_that_of_the_docs(tmp_path):
    used = []
    for n_documents in (100_000, 400_000):
        random = np.random.default_rng(0)
        columns = {f"f{number}": random.normal(size=n_documents).astype(np.float32) for number in range(4)}
        qid = np.arange(n_documents) // 100
        frame = pd.DataFrame({"qid": qid, "label": random.integers(0, 3, n_documents), **columns})
        frame.to_parquet(tmp_path / "judged.parquet")
        binned = rw.BinnedData.create(tmp_path / "judged.parquet", tmp_path / "judged.binned")
        with rw.distributed.Processes(1) as engine:
            seen = []
            rw.LambdaMART(rounds=3).fit(
                binned,
                cluster=engine,
                on_round=lambda _, engine=engine, seen=seen: seen.extend(
                    _memory(channel.process) for channel in engine._channels
                ),
            )
        used.append(max(seen))
    assert used[1] - used[0] == pytest.approx(120 * 300_000, rel=0.2)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(("coarse", "feature_bytes", "fine_features"), [(False, 2_112, 1), (True, 128, 4)])
def test_traffic_is_that_of_the_formula_in_the_docs(workers, coarse, feature_bytes, fine_features, tmp_path):
    rw.write_letor(rw.synthetic.polynomial_queries(100, n_documents=20, n_features=12, seed=1), tmp_path / "a.txt")
    binned = rw.BinnedData.create(tmp_path / "a.txt", tmp_path / "a.binned", coarse=coarse)
    ranker = rw.LambdaMART(rounds=4, max_leaves=12, coarse=coarse, feature_fraction=1.0, grow_policy="leafwise")
    for ended in ranker.fit(binned, cluster=InProcess(workers)).history_.rounds:
        divisions = ended.diagnostics["divisions"]
        expected = feature_bytes * 12 * (1 + divisions) + 4_112 * fine_features * (1 + 2 * divisions)
        assert ended.diagnostics["exchanged_bytes"] == pytest.approx(workers * expected, rel=0.2)
        assert 11 <= divisions <= 24
