from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import rankwright as rw
from rankwright import MART, AutoRanker, LambdaMART, RankBoost, RankSVM
from rankwright.base.errors import InputError, MissingPackageError
from rankwright.data import synthetic
from rankwright.data.readers.letor import write_letor
from rankwright.tuning import optuna_search as search_module
from rankwright.tuning import optuna_storage as studies
from rankwright.tuning.optuna_search import is_worse
from rankwright.tuning.tune import tune

RANKER = LambdaMART(rounds=4, patience=None, min_documents=2)  # with more, 72 documents teach nothing
SPACE = {"max_leaves": "2..8", "learning_rate": "0.05..0.5"}


@pytest.fixture(scope="module")
def data():
    truth = synthetic.RandomPolynomial.draw(3, n_features=4, n_active=3, n_terms=4)
    return truth.sample(16, seed=1, n_documents=6, noise=0.3)


@pytest.fixture(scope="module")
def found(data):
    return tune(RANKER, data, trials=12, workers=1)


def results(tuning):
    return [(one.number, one.state, one.parameters, one.rounds, one.value) for one in tuning.trials]


def test_the_rankers_own_setting_comes_first(found, data):
    assert found.baseline is found.trials[0]
    assert all(getattr(RANKER, name) == value for name, value in found.baseline.parameters.items())
    own = tune(RANKER, data, grid={})
    assert (found.baseline.rounds, found.baseline.value) == (own.best.rounds, own.best.value)
    np.testing.assert_allclose(found.baseline.values, own.best.values, atol=1e-6)


def test_lambdamart_is_searched_around_its_defaults_for_small_data(data):
    assert not {"truncation", "min_documents"} & set(LambdaMART.space)
    assert "min_documents" in MART.space
    tried = tune(LambdaMART(rounds=2, n_jobs=1), data, trials=8, space={"pairs": [None], "grow_policy": [None]})
    fitted = LambdaMART(rounds=2, **tried.trials[-1].parameters).fit(data)
    assert fitted.model_.about["parameters"]["grow_policy"] == "symmetric"
    assert fitted.model_.about["parameters"]["pairs"] == "neighbours"


def test_settings_lie_within_the_space(found):
    assert set(found.space) == set(LambdaMART.space) - {"min_documents"}
    for one in found.trials[1:]:
        configured = LambdaMART(**one.parameters)
        configured.check_parameters()
        assert 0.01 <= configured.learning_rate <= 0.3
        assert 4 <= configured.max_leaves <= 64
        assert one.parameters["query_features"] in [(), ("zscore",), ("rank",), ("zscore", "rank")]


def test_the_best_is_fitted_with_its_rounds(found):
    complete = [one for one in found.trials if one.state == "complete"]
    assert found.best.value == max(one.value for one in complete)
    fitted = found.fit()
    assert fitted.history_.best_round == found.best.rounds == fitted.rounds
    assert {name: getattr(fitted, name) for name in found.best.parameters} == dict(found.best.parameters)


def test_the_values_of_queries_are_those_of_the_mean(found):
    for one in found.trials:
        if one.state == "complete":  # all folds have four queries
            assert len(one.values) == 16
            assert one.values.mean() == pytest.approx(one.value, abs=1e-6)


@pytest.mark.slow
def test_neither_workers_nor_threads_change_the_search(found, data):
    assert results(tune(RANKER, data, trials=12, workers=3)) == results(found)
    assert results(
        tune(LambdaMART(rounds=4, patience=None, min_documents=2, n_jobs=1), data, trials=12)
    ) == results(found)


def test_another_seed_tries_other_settings(found, data):
    other = tune(RANKER, data, trials=3, random_state=1)
    assert [one.parameters for one in other.trials[1:]] != [one.parameters for one in found.trials[1:3]]


@pytest.mark.slow
def test_a_journal_cut_anywhere_goes_on_as_if_nothing_had_happened(data, tmp_path):
    file = tmp_path / "trials.log"
    whole = tune(RANKER, data, trials=9, space=SPACE, storage=file)
    lines = file.read_bytes().splitlines(keepends=True)
    for cut in range(1, len(lines), len(lines) // 3):
        file.write_bytes(b"".join(lines[:cut]) + lines[cut][: cut % 3 * 9])
        assert results(tune(RANKER, data, trials=9, space=SPACE, storage=file)) == results(whole), cut


def test_more_trials_go_on_with_those_there_are(data, tmp_path):
    seen = []
    first = tune(RANKER, data, trials=5, space=SPACE, storage=tmp_path / "t", on_fit=lambda: seen.append(1))
    assert 16 < len(seen) <= 20  # four folds; nothing can be pruned in the first batch
    more = tune(RANKER, data, trials=6, space=SPACE, storage=tmp_path / "t", on_fit=lambda: seen.append(1))
    assert results(more)[:5] == results(first)
    assert len(seen) <= 24
    again = tune(RANKER, data, trials=2, space=SPACE, storage=tmp_path / "t", on_fit=lambda: seen.append(1))
    assert results(again) == results(more)
    assert len(seen) <= 24


KILLED = """
import sys
import rankwright as rw
ranker = rw.LambdaMART(rounds=30, patience=None, min_documents=2)
rw.tune(ranker, rw.read_letor(sys.argv[1]), trials=40, prune=False, storage=sys.argv[2])
"""


@pytest.mark.slow
def test_a_killed_search_loses_only_the_trials_under_way(data, tmp_path):
    write_letor(data, tmp_path / "judged.txt")
    file, ranker = tmp_path / "trials.log", LambdaMART(rounds=30, patience=None, min_documents=2)
    process = subprocess.Popen([sys.executable, "-c", KILLED, tmp_path / "judged.txt", file])
    until = time.monotonic() + 120
    while not file.exists() or file.read_bytes().count(b'"state":1') < 6:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    left = file.read_bytes().count(b'"state":1')
    judged, seen = rw.read_letor(tmp_path / "judged.txt"), []
    options = {"trials": left + 6, "prune": False}
    resumed = tune(ranker, judged, **options, storage=file, on_fit=lambda: seen.append(1))
    assert [one.number for one in resumed.trials] == list(range(left + 6))
    assert len(seen) <= 4 * 6  # four folds each; what was finished is not fitted again
    assert all(one.state == "complete" for one in resumed.trials)
    assert results(resumed) == results(tune(ranker, judged, **options))


def test_a_file_in_use_is_refused(data, tmp_path):
    with studies.open_study(tmp_path / "t", {"a": 1}), pytest.raises(InputError, match="in use by another search"):
        tune(RANKER, data, trials=1, storage=tmp_path / "t")


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"ranker": LambdaMART("map", rounds=4, patience=None, min_documents=2)}, "metric"),
        ({"ranker": LambdaMART(rounds=5, patience=None, min_documents=2)}, "settings"),
        ({"ranker": RankBoost(rounds=4)}, "ranker and settings and space"),
        ({"space": {"max_leaves": "2..9"}}, "space"),
        ({"random_state": 3}, "random_state"),
    ],
)
def test_the_storage_of_another_search_is_refused(data, tmp_path, options, difference):
    tune(RANKER, data, trials=1, storage=tmp_path / "t")
    with pytest.raises(InputError, match=f"belongs to a search that differs in {difference}: choose another file"):
        tune(**{"ranker": RANKER, "data": data, "trials": 1, "storage": tmp_path / "t", **options})


def test_the_storage_of_an_edited_metric_is_refused(data, tmp_path):
    def searched(factor):
        def first_label(labels):
            return float(labels[0]) * factor

        ranker = rw.RankSVM(first_label)
        return tune(ranker, data, trials=2, space={"C": "0.1..10"}, storage=tmp_path / "t").best.value

    assert searched(0.5) == searched(0.5)
    with pytest.raises(InputError, match="belongs to a search that differs in metric: choose another file"):
        searched(1.0)


def test_the_storage_of_other_data_is_refused(data, tmp_path):
    tune(RANKER, data, trials=1, storage=tmp_path / "t")
    other = rw.RankingData(data.X, data.y[::-1], data.qid)
    with pytest.raises(InputError, match="differs in data"):
        tune(RANKER, other, trials=1, storage=tmp_path / "t")
    train, valid = rw.split_queries(data, 0.75, 0.25)
    with pytest.raises(InputError, match="differs in data and protocol"):
        tune(RANKER, train, validation=valid, trials=1, storage=tmp_path / "t")


@pytest.mark.parametrize(
    "content",
    [
        b"hello\n",
        b"hello",
        b'{"a": 1}\n',
        b"[1]\n",
        b'{"op_code":77}\n',
        b'{"op_code":4,"study_id":9}\n',
        b"\xff\n",
    ],
)
def test_a_file_that_is_no_storage_is_refused_and_left_alone(data, tmp_path, content):
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(InputError, match="is not the storage file of a search, or is damaged"):
        tune(RANKER, data, trials=1, storage=tmp_path / "t")
    assert (tmp_path / "t").read_bytes() == content


DAMAGES = {
    "a line cut": lambda lines: [*lines[:2], lines[2][:9], *lines[3:]],
    "a line lost": lambda lines: [*lines[:3], *lines[4:]],
    "a line twice": lambda lines: [*lines[:4], *lines[3:]],
    "lines swapped": lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]],
    "a value": lambda lines: [line.replace(b'"value":0.', b'"value":1.') for line in lines],
    "a state": lambda lines: [line.replace(b'"state":1', b'"state":2') for line in lines],
    "a setting": lambda lines: [line.replace(b'"max_leaves"', b'"max_leaveS"') for line in lines],
    "an empty line": lambda lines: [*lines[:3], b"\n", *lines[3:]],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_storage_is_refused(stored, data, tmp_path, damage):
    file, lines = tmp_path / "t", stored.splitlines(keepends=True)
    damaged = DAMAGES[damage](lines)
    assert damaged != lines
    file.write_bytes(b"".join(damaged))
    with pytest.raises(InputError) as caught:
        tune(RANKER, data, trials=2, space=SPACE, storage=file)
    assert str(caught.value) == (
        f"{file} is not the storage file of a search, or is damaged: choose another file, or delete this one."
    )


@pytest.fixture(scope="module")
def stored(data, tmp_path_factory):
    """The content of the storage file of a small search."""
    file = tmp_path_factory.mktemp("stored") / "t"
    tune(RANKER, data, trials=2, space=SPACE, storage=file)
    return file.read_bytes()


def test_optuna_itself_reads_a_storage(stored, tmp_path):
    (tmp_path / "t").write_bytes(stored)
    optuna = studies.import_optuna()
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "t"))
    study = optuna.load_study(study_name=studies.NAME, storage=optuna.storages.JournalStorage(backend))
    assert len(study.trials) == 2


def test_a_full_disk_ends_a_search_with_a_sentence(stored, data, tmp_path):
    file = tmp_path / "t"
    file.write_bytes(stored)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(stored) + 100, hard))
    try:
        with pytest.raises(InputError, match=r"^The storage file .* cannot be written: File too large\.$"):
            tune(RANKER, data, trials=3, space=SPACE, storage=file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert results(tune(RANKER, data, trials=3, space=SPACE, storage=file)) == results(
        tune(RANKER, data, trials=3, space=SPACE)
    )


@pytest.mark.parametrize(
    ("path", "sentence"), [("", "is a folder or a device; name a file"), ("no/such/file", "there is no folder")]
)
def test_a_storage_that_cannot_be_written_is_refused(data, tmp_path, path, sentence):
    with pytest.raises(InputError, match=sentence):
        tune(RANKER, data, trials=1, storage=tmp_path / path)


def test_ctrl_c_keeps_the_best_so_far(data):
    def stop(progress):
        if len(progress.trials) == 3:
            raise KeyboardInterrupt

    found = tune(RANKER, data, trials=20, on_progress=stop)
    assert (found.ended, len(found.trials)) == ("interrupted", 3)
    assert found.fit().history_.best_round == found.best.rounds


def test_ctrl_c_before_the_first_result_stays_ctrl_c(data):
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(RANKER, data, trials=20, on_progress=stop)


def test_time_ends_a_search(data):
    with pytest.raises(InputError, match=r"0\.001 s was too short to try even one setting"):
        tune(LambdaMART(rounds=1_000_000, patience=None), data, time_limit=0.001)
    found = tune(RANKER, data, trials=4000, time_limit="2s")
    assert found.ended == "time limit"
    assert 0 < len(found.trials) < 4000


def test_a_setting_that_fails_is_passed_over(data, monkeypatch):
    curve = search_module.judged_curve

    def fails(ranker, part, on_round):
        if ranker.max_leaves is not None:
            raise InputError("There is nothing to learn.")
        return curve(ranker, part, on_round)

    monkeypatch.setattr(search_module, "judged_curve", fails)
    found = tune(RANKER, data, trials=3)
    assert [one.state for one in found.trials] == ["complete", "failed", "failed"]
    assert found.trials[1].reason == "There is nothing to learn."
    assert found.best is found.baseline
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_ranker_that_cannot_learn_says_so(data):
    constant = rw.RankingData(np.ones_like(data.X), data.y, data.qid)
    with pytest.raises(InputError, match="nothing to learn"):
        tune(RANKER, constant, trials=3)


def test_a_setting_is_not_fitted_twice(data):
    seen = []
    found = tune(RankBoost(rounds=3), data, trials=16, prune=False, on_fit=lambda: seen.append(1))
    different = {tuple(one.parameters.items()) for one in found.trials}
    assert len(different) <= 8
    assert len(seen) < 4 * 16


def test_what_is_set_is_not_searched(data):
    assert "max_leaves" not in tune(LambdaMART(rounds=4, max_leaves=3), data, trials=1).space
    space = {"max_leaves": [3, 4], "learning_rate": "0.2,0.4", "l2": "1..2"}
    found = tune(LambdaMART(rounds=4, max_leaves=5), data, trials=5, space=space)
    assert (found.space["max_leaves"], found.space["learning_rate"], found.space["l2"]) == (
        "3,4",
        "0.2,0.4",
        "1..2:log",
    )
    assert found.baseline.parameters["max_leaves"] == 5
    assert {one.parameters["max_leaves"] for one in found.trials[1:]} <= {3, 4}
    assert {one.parameters["learning_rate"] for one in found.trials[1:]} <= {0.2, 0.4}


def test_validation_chooses_if_it_is_given(data):
    train, valid = rw.split_queries(data, 0.75, 0.25)
    found = tune(RANKER, train, validation=valid, trials=3)
    assert (found.protocol, len(found.best.values)) == ("validation", 4)
    assert found.data.data is train


def test_rounds_that_converge(data):
    found = tune(RankSVM(), data, trials=4, space={"loss": ["squared_hinge"], "C": "0.1..10"})
    assert {one.parameters["loss"] for one in found.trials} == {"squared_hinge"}
    assert all(0.1 <= one.parameters["C"] <= 10 for one in found.trials)


def test_optunas_study_is_there_and_nothing_of_it_is_heard(data, capfd, caplog):
    study = tune(RANKER, data, trials=4).study
    assert [one.number for one in study.trials] == [0, 1, 2, 3]
    assert study.best_value == max(one.value for one in study.trials if one.value is not None)
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_optuna_absent(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'rankwright\[tune\]'"):
        tune(RANKER, data)
    assert tune(RANKER, data, grid={"max_leaves": [2, 4]}).study is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ranker": AutoRanker()}, "nothing to tune in AutoRanker: it declares no search space"),
        ({"ranker": RankSVM(C=2, loss="hinge", balance="pairs", scaling="none")}, "all of .* are set"),
        ({"trials": 0}, "trials must be a positive integer, not 0"),
        ({"trials": "many"}, "trials must be a positive integer"),
        ({"time_limit": -1}, "time_limit must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"space": {"leaves": "2..8"}}, "no parameter 'leaves'; did you mean 'max_leaves'"),
        ({"space": {"max_leaves": "8..2"}}, "low below high, not 8..2"),
        ({"space": {"max_leaves": "1..8"}}, "max_leaves must be"),
        ({"space": {"max_leaves": "2..8:ln"}}, "low..high or low..high:log"),
        ({"space": {"max_leaves": "2..none"}}, "numbers low..high"),
        ({"space": {"max_leaves": 3}}, "text such as"),
        ({"space": {"max_leaves": []}}, "at least one choice"),
        ({"space": {"subsample_by": "a..b"}}, "subsample_by must be"),
        ({"space": {"subsample": "0..1"}}, "subsample must be"),
        ({"space": {"min_hessian": "0..1:log"}}, "above 0 to be spread on a log scale"),
        ({"space": {"rounds": "1..9"}}, "The space cannot contain rounds"),
        ({"grid": True, "trials": 3}, "trials is for a search"),
        ({"grid": {}, "storage": "x"}, "storage is for a search"),
        ({"choose": "test"}, "no tuning protocol 'test'"),
    ],
)
def test_mistakes_are_told_before_training(data, monkeypatch, options, sentence):
    monkeypatch.setattr(LambdaMART, "fit", None)
    with pytest.raises(InputError, match=sentence):
        tune(**{"ranker": RANKER, "data": data, **options})


def test_fewer_queries_than_folds():
    data = rw.RankingData([[1.0], [2.0], [3.0]], [0, 1, 1], [1, 2, 3])
    with pytest.raises(InputError, match="4 folds need at least 4 queries, not 3"):
        tune(RANKER, data)


def test_only_a_clear_difference_prunes():
    random = np.random.default_rng(0)
    best = random.random(40)
    assert is_worse(best - 0.1 * random.random(40), best)
    assert not is_worse(best + 0.1 * random.random(40), best)
    assert not is_worse(best, best)
    assert not is_worse(best + 0.1 * random.standard_normal(40), best)
    assert not is_worse(np.full(5, np.nan), best)
    assert is_worse(np.append(best[:20] - 0.1, np.nan), best)


def test_a_tuning_is_plain_json(found):
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["best"]["number"] == found.best.number
    assert plain["baseline"]["parameters"]["max_leaves"] == "none"
    assert plain["correction"]["default"]["value"] == found.baseline.value
    assert len(plain["trials"]) == 12
