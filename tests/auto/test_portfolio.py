"""Models that are ready: AutoRanker judges them and mixes them with what it trains."""

import numpy as np
import pytest

import rankwright as rw
from rankwright.auto.portfolio import companion_entries

TRUTH = rw.synthetic.RandomPolynomial.draw(1, n_features=6, n_active=3, n_terms=4)
OLD, JUDGED, NEW = (TRUTH.sample(n, seed=seed, n_documents=8) for n, seed in ((60, 1), (12, 2), (20, 3)))
SIMPLE = {"portfolio": "ranksvm", "n_jobs": 1}


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.rw"
    rw.save(rw.LambdaMART(rounds=30).fit(OLD), path)
    return path


def auto(*models, **options):
    return rw.AutoRanker(models=models, **SIMPLE | options)


def test_a_model_joins_as_it_is(old):
    ranker = auto(old).fit(JUDGED)
    member = next(one for one in ranker.standings_ if one.name == "model old.rw")
    assert member.weight > 0.5  # it has learned from five times as many queries
    model = rw.load(old)
    assert member.value == pytest.approx(rw.metrics.parse("ndcg@10")(JUDGED.y, model.predict(JUDGED), JUDGED.qid))
    assert ranker.model_.n_trees == model.n_trees


def test_a_model_of_another_tool(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(OLD.X, OLD.y)
    booster = lightgbm.train({"num_leaves": 7, "min_data_in_leaf": 5, "verbose": -1}, data, 20)
    booster.save_model(tmp_path / "lightgbm.txt")
    ranker = auto(tmp_path / "lightgbm.txt").fit(JUDGED)
    assert {one.name for one in ranker.standings_} == {"RankSVM", "model lightgbm.txt"}
    saved = rw.load(_saved(ranker, tmp_path / "mixture.rw"))
    np.testing.assert_array_equal(saved.predict(NEW), ranker.predict(NEW))


def _saved(ranker, path):
    rw.save(ranker, path)
    return path


def test_models_of_one_name_in_two_folders(old, tmp_path):
    (tmp_path / "other").mkdir()
    again = _saved(rw.MART(rounds=10).fit(OLD), tmp_path / "other" / "old.rw")
    assert {one.name for one in auto(old, again).fit(JUDGED).standings_} == {
        "RankSVM",
        f"model {old}",
        f"model {again}",
    }


def test_another_file_of_the_same_name_is_another_model(old, tmp_path):
    work = tmp_path / "work"
    first = auto(old, work=work).fit(JUDGED)
    _saved(rw.AdaRank().fit(OLD), old)
    second = auto(old, work=work).fit(JUDGED)
    assert first.model_.state() != second.model_.state()
    assert len(list(work.glob("model-old-rw-*"))) == 2
    assert len(list(work.glob("ranksvm-*"))) == 1


def test_a_time_limit_does_not_pass_over_what_is_ready(old):
    slow = rw.LambdaMART(rounds=100_000)
    with pytest.warns(UserWarning, match="LambdaMART is skipped"):
        ranker = auto(old, portfolio=[slow], time_limit=1.0).fit(JUDGED)
    assert [one.name for one in ranker.standings_] == ["model old.rw"]


def test_models_of_other_names_and_data_without(old, tmp_path):
    names = rw.RankingData(OLD.X, OLD.y, OLD.qid, feature_names=[*"abcdef"])
    other = rw.RankingData(OLD.X, OLD.y, OLD.qid, feature_names=[*"uvwxyz"])
    files = [_saved(rw.MART(rounds=3).fit(one), tmp_path / f"{n}.rw") for n, one in enumerate((names, other))]
    ranker = auto(*files).fit(JUDGED)
    assert ranker.model_.feature_names is None
    assert ranker.model_.about["parameters"]["models"] == str(tuple(map(str, files)))


def test_what_is_refused(old, tmp_path):
    with pytest.raises(rw.InputError, match=r"A model file is given twice\."):
        auto(old, old.parent / "." / "old.rw").fit(JUDGED)
    with pytest.raises(rw.InputError, match=r"A model file is given twice\."):
        auto(str(old), old).fit(JUDGED)
    with pytest.raises(rw.InputError, match=r"There is no file .*missing.rw"):
        auto(tmp_path / "missing.rw").fit(JUDGED)
    with pytest.raises(rw.InputError, match=r"old.rw says that the data have 6 features, not 4\."):
        auto(old).fit(rw.RankingData(JUDGED.X[:, :4], JUDGED.y, JUDGED.qid))
    names = rw.RankingData(JUDGED.X, JUDGED.y, JUDGED.qid, feature_names=[*"abcdef"])
    _saved(rw.MART(rounds=3).fit(names), old)
    swapped = rw.RankingData(JUDGED.X, JUDGED.y, JUDGED.qid, feature_names=[*"bacdef"])
    with pytest.raises(rw.InputError, match="must have the same names, categories and order"):
        auto(old).fit(swapped)
    residual = rw.LambdaMART(rounds=3).fit(JUDGED, start=np.arange(len(JUDGED), dtype=float))
    _saved(residual, tmp_path / "residual.rw")
    with pytest.raises(rw.InputError, match="holds a residual model"):
        auto(tmp_path / "residual.rw").fit(JUDGED)


def test_companions_come_with_settings_of_both_kinds():
    pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    small, defaults = companion_entries(["lightgbm"])
    assert (small.name, defaults.name) == ("LightGBM", "LightGBM, defaults")
    assert small.ranker.settings["num_leaves"] == 7
    assert not defaults.ranker.settings
    data = rw.synthetic.polynomial_queries(20, n_documents=30, n_features=5, n_active=3)
    leaves = [
        max(np.diff(entry.ranker.unfitted().set_params(rounds=3).fit(data).model_.splits)) + 1
        for entry in (small, defaults)
    ]
    assert leaves[0] <= 7 < leaves[1] <= 31
