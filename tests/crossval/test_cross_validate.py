from __future__ import annotations

import _thread
import json

import numpy as np
import pytest

from rankwright import AdaRank, RankBoost
from rankwright.base.errors import InputError
from rankwright.crossval.cross_validate import cross_validate
from rankwright.data import synthetic
from rankwright.data.readers.fold_folders import read_fold
from rankwright.data.readers.letor import write_letor
from rankwright.evaluation.evaluate import evaluate
from rankwright.metrics import AP, NDCG
from rankwright.tuning.tune import tune


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds")
    truth = synthetic.RandomPolynomial.draw(3, n_features=5, n_active=3, n_terms=4)
    for number in (1, 2, 3):
        (folder / f"Fold{number}").mkdir()
        for part, name in enumerate(("train.txt", "vali.txt", "test.txt")):
            write_letor(truth.sample(10, seed=10 * number + part, n_documents=6), folder / f"Fold{number}" / name)
    return folder


RANKER = AdaRank(NDCG(k=5), directions="both", rounds=10)


def test_each_fold_is_fitted_chosen_and_tested(folder):
    found = cross_validate(RANKER, folder, metrics=[NDCG(k=5), "map"])
    assert [fold.fold for fold in found.folds] == ["Fold1", "Fold2", "Fold3"]
    for fold in found.folds:
        train, valid, test = read_fold(folder / fold.fold)
        fitted = AdaRank(NDCG(k=5), directions="both", rounds=10).fit(*train, validation=valid)
        expected = evaluate({"adarank": fitted}, test, metrics=[NDCG(k=5), AP()])
        for metric in ("ndcg@5", "map"):
            np.testing.assert_array_equal(
                fold.report.per_query("adarank", metric), expected.per_query("adarank", metric)
            )
        assert fold.best_round == fitted.history_.best_round
    assert not hasattr(RANKER, "model_")  # the ranker given is left as it was


def test_the_mean_is_over_folds(folder):
    found = cross_validate(RANKER, folder)
    means = [fold.report.mean("adarank", "map") for fold in found.folds]
    assert found.mean("map") == pytest.approx(np.mean(means))


def test_ties_averaged_stand_beside_the_conventions_number(tmp_path):
    (tmp_path / "Fold1").mkdir()
    for name in ("train.txt", "vali.txt", "test.txt"):
        (tmp_path / "Fold1" / name).write_text("1 qid:1 1:2\n0 qid:1 1:2\n0 qid:1 1:1\n")
    found = cross_validate(AdaRank(), tmp_path, metrics=["map"], convention="letor3")
    assert found.mean("map") == 1.0
    assert found.mean("map", averaged_ties=True) == 0.75


def test_plain_json(folder):
    found = cross_validate(RANKER, folder, metrics=["ndcg@10", "map"], convention="letor4")
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (plain["ranker"], plain["convention"]) == ("adarank", "letor4")
    assert [set(fold["metrics"]) for fold in plain["folds"]] == [{"ndcg@10", "map"}] * 3
    assert plain["mean"] == {metric: found.mean(metric) for metric in ("ndcg@10", "map")}
    assert plain["seconds"] > 0


def test_progress_is_told(folder):
    seen = []
    found = cross_validate(RANKER, folder, on_fold=seen.append)
    assert tuple(seen) == found.folds


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"metrics": ["ndgc"]}, "did you mean 'ndcg'"),
        ({"metrics": []}, "at least one metric"),
        ({"convention": "letor"}, "no convention 'letor'"),
        ({"convention": "letor3", "metrics": ["err@10"]}, "letor3 has no err"),
    ],
)
def test_what_cannot_be_measured_is_told_before_training(folder, monkeypatch, options, sentence):
    monkeypatch.setattr(AdaRank, "fit", None)
    with pytest.raises(InputError, match=sentence):
        cross_validate(RANKER, folder, **options)


def test_ctrl_c_ends_all_folds_not_one(folder, monkeypatch):
    """Half a fit is a model to keep, but no fold's result; nothing says that a model is kept."""
    fits, observed = [], AdaRank.fit

    def interrupted(self, *data, on_round, **options):
        def press_ctrl_c(one):
            _thread.interrupt_main()
            while True:
                on_round(one)  # ends when the main thread has seen it

        fits.append(self)
        return observed(self, *data, **options, on_round=press_ctrl_c)

    monkeypatch.setattr(AdaRank, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cross_validate(RANKER, folder)
    assert len(fits) == 1


@pytest.mark.slow
def test_a_ranker_may_be_given_by_name(folder):
    by_name = cross_validate("rank-boost", folder)
    assert by_name.per_query("map").tolist() == cross_validate(RankBoost(), folder).per_query("map").tolist()
    mean = f"a mean ndcg@10 of {by_name.mean('ndcg@10'):.4f}"
    assert repr(by_name).startswith(f"<CrossValidation: RankBoost has {mean} (standard error ")
    tuning = tune(
        {"ranker": "adarank", "rounds": 5}, read_fold(folder / "Fold1").train, grid={"repeats": ["once"]}
    )
    assert tuning.ranker.get_params()["repeats"] == "once"
    assert repr(tuning).startswith("<Tuning: ")


@pytest.mark.parametrize(
    ("given", "found"), [(AdaRank, "the class AdaRank"), (3, "int"), (NDCG(k=5), "NDCG"), (None, "NoneType")]
)
def test_anything_but_a_ranker_is_refused(folder, given, found):
    for call in (cross_validate, tune):
        with pytest.raises(InputError) as caught:
            call(given, folder)
        assert str(caught.value) == f"Give a ranker, such as LambdaMART() or 'lambdamart', not {found}."
