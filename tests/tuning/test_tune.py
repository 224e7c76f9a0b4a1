from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from rankwright import AdaRank, CalibratedAdaBoost, LambdaMART, PermuRank, RankBoost, RankSVM, SVMmap
from rankwright.base.errors import InputError
from rankwright.crossval.cross_validate import count_fits, cross_validate
from rankwright.data import synthetic
from rankwright.data.dataset import RankingData
from rankwright.data.readers.fold_folders import read_fold
from rankwright.data.readers.letor import write_letor
from rankwright.evaluation.evaluate import evaluate
from rankwright.metrics import NDCG
from rankwright.training.concurrent_fits import run_all
from rankwright.training.history import smoothed
from rankwright.tuning.grid import settings_of
from rankwright.tuning.judging_queries import by_validation, out_of_fold
from rankwright.tuning.trials import Trial, best_of, mean_curve

TUNES = ("validation", "out-of-fold")
GRID = {"max_leaves": (2, 4), "learning_rate": (0.1, 0.3)}
RANKER = LambdaMART(NDCG(k=5), rounds=25, patience=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds")
    truth = synthetic.RandomPolynomial.draw(3, n_features=5, n_active=3, n_terms=4)
    for number in (1, 2):
        (folder / f"Fold{number}").mkdir()
        for part, name in enumerate(("train.txt", "vali.txt", "test.txt")):
            write_letor(truth.sample(12, seed=10 * number + part, n_documents=8), folder / f"Fold{number}" / name)
    return folder


def without_seconds(result):
    return {name: value for name, value in result.to_dict().items() if name != "seconds"}


def test_settings_are_the_product_of_the_grid():
    assert settings_of(RANKER, GRID) == [
        {"max_leaves": leaves, "learning_rate": rate} for leaves in (2, 4) for rate in (0.1, 0.3)
    ]
    assert settings_of(RANKER, {}) == [{}]


def test_what_is_set_is_not_tuned():
    assert {*settings_of(RankBoost())[0]} == {"pair_weights", "directions"}
    assert settings_of(RankBoost(directions="both")) == [{"pair_weights": "uniform"}, {"pair_weights": "query"}]


@pytest.mark.parametrize("ranker", [AdaRank(), LambdaMART(), PermuRank(), RankSVM(), SVMmap()])
def test_the_grid_of_every_ranker_is_small_and_its_own(ranker):
    assert 1 < len(settings_of(ranker)) <= 8


def test_a_curve_that_ended_stays_where_it_was():
    found = mean_curve([np.array([0.2, 0.4]), np.array([0.4, 0.0, 0.8, 1.0])])
    np.testing.assert_allclose(found, [0.3, 0.2, 0.6, 0.7])


def test_the_first_of_equals_is_best():
    trials = [Trial({"a": 1}, 3, 0.5), Trial({"a": 2}, 2, 0.7), Trial({"a": 3}, 1, 0.7)]
    assert best_of(trials) is trials[1]


@pytest.mark.slow
def test_the_validation_part_chooses_setting_and_round(folder):
    """The rule again, step by step."""
    result = cross_validate(RANKER, folder, metrics=["ndcg@5"], tune="validation", grid=GRID)
    for fold in result.folds:
        train, valid, test = read_fold(folder / fold.fold)
        expected = []
        for setting in settings_of(RANKER, GRID):
            one = LambdaMART(NDCG(k=5), rounds=25, patience=8, **setting).fit(train, validation=valid)
            curve = smoothed(np.array([this.validation for this in one.history_]))
            expected.append(Trial(setting, int(curve.argmax()) + 1, curve.max()))
        assert fold.trials == tuple(expected)
        best = max(expected, key=lambda trial: trial.value)
        assert (fold.chosen, fold.best_round) == (best.parameters, best.rounds)
        chosen = LambdaMART(NDCG(k=5), **{**best.parameters, "rounds": best.rounds}).fit(train)
        report = evaluate({"lambdamart": chosen}, test, metrics=["ndcg@5"])
        assert fold.report.mean("lambdamart", "ndcg@5") == report.mean("lambdamart", "ndcg@5")


@pytest.mark.parametrize("tune", TUNES)
def test_where_rounds_converge_the_last_of_them_is_judged(folder, tune):
    result = cross_validate(RankSVM(C=3.0), folder, metrics=["ndcg@5"], tune=tune, grid={"C": (0.1, 100.0)})
    train, valid, _ = read_fold(folder / "Fold1")
    for trial in result.folds[0].trials:
        if tune == "validation":
            history = RankSVM(**trial.parameters).fit(train, validation=valid).history_
            assert (trial.rounds, trial.value) == (len(history), history.validation[-1])
    assert result.folds[0].chosen["C"] == best_of(result.folds[0].trials).parameters["C"]


@pytest.mark.slow
@pytest.mark.parametrize("tune", TUNES)
def test_a_pool_is_judged_as_a_whole_and_fitted_on_what_the_protocol_says(folder, tune):
    pool = CalibratedAdaBoost(NDCG(k=5), leaves=(3,), rounds_tried=(5,), splits=2)
    fold = cross_validate(pool, folder, metrics=["ndcg@5"], tune=tune, workers=1).folds[0]
    assert [trial.parameters for trial in fold.trials] == [{"bagging": True}, {"bagging": False}]
    train, valid, test = read_fold(folder / "Fold1")
    for trial in fold.trials:
        one = CalibratedAdaBoost(NDCG(k=5), leaves=(3,), rounds_tried=(5,), splits=2, **trial.parameters)
        if tune == "validation":
            history = one.fit(train, validation=valid).history_
            assert (trial.rounds, trial.value) == (2, history.validation[-1])
        if trial.parameters == fold.chosen:
            one.fit((by_validation if tune == "validation" else out_of_fold)(train, valid).final)
            assert fold.report.mean("calibrated-adaboost", "ndcg@5") == pytest.approx(one.score(*test), abs=1e-12)


def test_no_query_judges_what_it_taught(folder):
    train, valid, _ = read_fold(folder / "Fold1")
    parts, final = out_of_fold(train, valid)
    judges = [set(part.judges.data.qid) for part in parts]
    assert all(not set(part.train.data.qid) & set(part.judges.data.qid) for part in parts)
    assert all(set(part.train.data.qid) | set(part.judges.data.qid) == set(final.data.qid) for part in parts)
    assert sum(map(len, judges)) == len(set.union(*judges)) == 24  # equal ids of the two parts stay two queries
    np.testing.assert_array_equal(final.data.X, np.concatenate([train.X, valid.X]))


def test_the_validation_part_teaches_nothing_of_its_own(folder):
    train, valid, _ = read_fold(folder / "Fold1")
    parts, final = by_validation(train, valid)
    assert [(part.train.data, part.judges.data) for part in parts] == [(train, valid)]
    assert final is parts[0].train


def test_neither_the_order_of_rows_nor_the_names_of_queries_change_the_folds(folder):
    train, valid, _ = read_fold(folder / "Fold1")
    rows = np.random.default_rng(3).permutation(len(train))
    renamed = RankingData(train.X[rows], train.y[rows], [f"q{one}" for one in train.qid[rows]])
    one, other = (out_of_fold(part, valid).parts for part in (train, renamed))
    for part, twin in zip(one, other, strict=True):
        for data, same in zip(part, twin, strict=True):
            np.testing.assert_array_equal(data.data.X[data.canonical_rows], same.data.X[same.canonical_rows])


@pytest.mark.slow
@pytest.mark.parametrize("tune", TUNES)
def test_the_test_part_chooses_nothing(folder, tmp_path, tune):
    (tmp_path / "Fold1").mkdir()
    for name in ("train.txt", "vali.txt"):
        (tmp_path / "Fold1" / name).write_bytes((folder / "Fold1" / name).read_bytes())
    test = read_fold(folder / "Fold1").test
    write_letor(RankingData(-test.X, test.y, test.qid), tmp_path / "Fold1" / "test.txt")
    one, other = (cross_validate(RANKER, place, tune=tune, grid=GRID).folds[0] for place in (folder, tmp_path))
    assert (one.trials, one.chosen, one.best_round) == (other.trials, other.chosen, other.best_round)
    assert one.report.mean("lambdamart", "map") != other.report.mean("lambdamart", "map")


@pytest.mark.slow
@pytest.mark.parametrize("tune", TUNES)
def test_the_number_of_workers_changes_nothing(folder, tune):
    one, two = (
        without_seconds(cross_validate(RANKER, folder, tune=tune, grid=GRID, workers=workers))
        for workers in (1, 2)
    )
    assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("tune", [None, *TUNES])
def test_every_fit_is_counted(folder, tune):
    seen = []
    cross_validate(RANKER, folder, tune=tune, grid=GRID, on_fit=lambda: seen.append(1))
    assert len(seen) == 2 * count_fits(RANKER, tune=tune, grid=GRID)


@pytest.mark.slow
@pytest.mark.parametrize("tune", TUNES)
def test_plain_json(folder, tune):
    plain = json.loads(json.dumps(cross_validate(RANKER, folder, tune=tune, grid=GRID).to_dict(), allow_nan=False))
    assert plain["protocol"] == tune
    for fold in plain["folds"]:
        assert set(fold["chosen"]) == {"max_leaves", "learning_rate"}
        assert [trial["parameters"] for trial in fold["trials"]] == settings_of(RANKER, GRID)
        best = max(fold["trials"], key=lambda trial: trial["value"])
        assert (fold["chosen"], fold["rounds"]) == (best["parameters"], best["rounds"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tune": "test"}, "no tuning protocol 'test'; choose 'validation' or 'out-of-fold'"),
        ({"grid": {"leaves": (2,)}}, "no parameter 'leaves'; did you mean 'max_leaves'"),
        ({"grid": {"max_leaves": ()}}, "a list of values for max_leaves"),
        ({"grid": {"subsample_by": "queries"}}, "a list of values for subsample_by"),
        ({"grid": {"rounds": (5, 10)}}, "cannot contain rounds"),
        ({"workers": 0}, "workers must be"),
    ],
)
def test_mistakes_are_told_before_training(folder, monkeypatch, options, sentence):
    monkeypatch.setattr(LambdaMART, "fit", None)
    with pytest.raises(InputError, match=sentence):
        cross_validate(RANKER, folder, **{"tune": "validation", **options})


def test_a_setting_that_cannot_be_is_told(folder):
    with pytest.raises(InputError, match="max_leaves must be"):
        cross_validate(RANKER, folder, tune="validation", grid={"max_leaves": (4, 1)})


def test_too_few_queries_for_folds():
    data = RankingData([[1.0], [2.0]], [0, 1], [1, 1])
    with pytest.raises(InputError, match="4 folds need at least 4 queries, not 2"):
        out_of_fold(data, data)


def test_results_come_in_the_order_of_tasks():
    first_may_end = threading.Event()

    def work(task, _on_round):
        if task == 0:
            assert first_may_end.wait(10)
        first_may_end.set()
        return task

    assert run_all(work, [0, 1, 2], workers=2, on_done=lambda: None) == [0, 1, 2]


@pytest.mark.parametrize("mishap", [KeyboardInterrupt, InputError])
def test_a_mishap_ends_all_fits(mishap):
    """Each at its next round; those that had not begun never do."""
    begun, first_waits = [], threading.Event()

    def work(task, on_round):
        begun.append(task)
        if task == 1:
            assert first_waits.wait(10)
            raise mishap
        first_waits.set()
        while True:
            on_round(None)

    with pytest.raises(mishap):
        run_all(work, range(100), workers=2, on_done=lambda: None)
    assert len(begun) < 10
