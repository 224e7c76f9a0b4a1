"""`crossval` with several rankers, folds as in LETOR, and dropped queries."""

from __future__ import annotations

import json

import pytest

import rankwright as rw


@pytest.fixture
def judged(fold):
    return fold / "train.txt"


def test_several_rankers(run, judged, tmp_path):
    words = ("crossval", "adarank", "few=lambdamart", "many=lambdamart", "--data", judged, "--folds", 3)
    words += ("--set", "few.rounds=1", "--set", "many.rounds=4", "--metrics", "ndcg@1-3")
    code, out, err = run(*words, "--report", tmp_path / "page.html")
    assert code == 0, err
    assert "mean over folds" in out
    assert "p (Holm)" in out
    assert {"adarank", "few", "many"} <= {line.split()[0] for line in out.splitlines() if line}
    assert "12 queries" in err
    assert "By cut-off" in (tmp_path / "page.html").read_text()
    found = run(*words, "--json", "--baseline", "few").json
    assert list(found["rankers"]) == ["adarank", "few", "many"]
    assert [fold["rounds"] for fold in found["rankers"]["many"]["folds"]] == [4, 4, 4]
    assert [pair["other"] for pair in found["comparison"]["pairs"]["ndcg@1"]] == ["few", "few"]
    expected = rw.cross_validate(
        {"few": rw.LambdaMART(rounds=1)}, rw.read_letor(judged), folds=3, metrics="ndcg@1-3"
    )
    assert found["rankers"]["few"]["mean"] == {one: expected.mean("few", one) for one in expected.metrics}


def test_settings_of_all_and_of_one(run, judged):
    words = ("crossval", "adarank", "mart", "--data", judged, "--folds", 2, "--set", "rounds=3", "--json")
    found = run(*words, "--set", "mart.rounds=2").json["rankers"]
    assert {fold["rounds"] for fold in found["mart"]["folds"]} == {2}
    assert max(fold["rounds"] for fold in found["adarank"]["folds"]) <= 3
    tuned = run(*words, "--tune", "--validation", 0.4, "--grid", "mart.max_leaves=4,8").json["rankers"]
    assert [len(fold["trials"]) for fold in tuned["mart"]["folds"]] == [2, 2]
    assert tuned["mart"]["protocol"] == "validation"


def test_rankers_as_printed(run, refuse, judged, tmp_path):
    words = ("crossval", "mart", "ada=adarank", "--data", judged, "--folds", 2, "--set", "rounds=2", "--json")
    outcome = run(*words, "--as-printed", "--set", "mart.max_leaves=3")
    assert "--as-printed changes nothing in mart: the defaults are the algorithm." in outcome.err
    how = {"folds": 2}
    rankers = {"mart": rw.MART(rounds=2, max_leaves=3), "ada": rw.AdaRank.as_printed(rounds=2)}
    expected = rw.cross_validate(rankers, rw.read_letor(judged), **how)
    for name in rankers:
        found = outcome.json["rankers"][name]["mean"]
        assert found == {metric: expected.mean(name, metric) for metric in expected.metrics}
    one = run(*words, "--set", "ada.as_printed=true").json["rankers"]["ada"]["mean"]
    assert one == outcome.json["rankers"]["ada"]["mean"]
    assert "MART has no setting of a paper" in refuse("crossval", "mart", "--data", judged, "--as-printed")
    model = tmp_path / "m.rw"
    train = ("train", "lambdamart", "--train", judged, "--model", model, "--as-printed", "--set", "rounds=2")
    assert run(*train).code == 0
    data = rw.read_letor(judged)
    wanted = rw.LambdaMART.as_printed(rounds=2).fit(data).predict(data)
    assert rw.load(model).predict(data).tolist() == wanted.tolist()
    assert "--as-printed, or --set as_printed=true" in run("rankers", "lambdamart").out
    assert run("rankers", "lambdamart", "--json").json["as_printed"]["split_by"] == "squared_error"
    assert "as-printed" not in run("rankers", "mart").out


def test_folds_as_in_letor(run, judged):
    words = ("crossval", "adarank", "--data", judged, "--validation", "fold", "--stratify", "--json")
    found = run(*words, "--folds", 4, "--random-state", 2).json
    how = {"folds": 4, "validation": "fold", "stratify": True, "random_state": 2}
    expected = rw.cross_validate("adarank", rw.read_letor(judged), **how)
    assert found["mean"] == {metric: expected.mean(metric) for metric in expected.metrics}


def test_dropped_queries_are_told(run, judged, model):
    data = rw.read_letor(judged)
    least = int(rw.data.query_filters.relevant_documents(data.y, data.groups).min()) + 1
    left = len(rw.drop_queries(data, min_relevant=least).groups)
    told = f"dropped: {12 - left} quer"
    words = ("crossval", "adarank", "--data", judged, "--folds", 2, "--min-relevant", least)
    assert told in run(*words).err
    assert sum(run(*words, "--json").json["dropped_queries"].values()) == 12 - left
    for verb, files in {"evaluate": [model], "compare": [model, model.parent / "other.rw"]}.items():
        if verb == "compare":
            rw.save(rw.AdaRank(rounds=1).fit(data), files[1])
        words = (verb, *files, "--data", judged, "--min-relevant", least, "--drop-one-label")
        assert told in run(*words).err
        found = run(*words, "--json").json
        assert found["queries"] + sum(found["dropped_queries"].values()) == 12
    trees = model.parent / "rounds.rw"
    rw.save(rw.LambdaMART(rounds=3).fit(data), trees)
    words = ("evaluate", trees, "--data", judged, "--rounds", "1,3", "--min-relevant", least)
    assert told in run(*words).err


def test_the_final_model_is_fitted_without_dropped_queries(run, judged, tmp_path):
    words = ("crossval", "mart", "--data", judged, "--folds", 2, "--set", "rounds=2", "--model", tmp_path / "m.rw")
    data = rw.drop_queries(rw.read_letor(judged), min_relevant=4)
    assert f"of {len(data.groups)} queries" in run(*words, "--min-relevant", 4).err
    expected = rw.MART(rounds=2).fit(data).predict(data)
    assert rw.load(tmp_path / "m.rw").predict(data).tolist() == expected.tolist()


def test_a_configuration_may_name_several_rankers(run, folder, tmp_path):
    path, saved = tmp_path / "run.json", tmp_path / "saved.toml"
    options = {"ranker": ["adarank", "few=mart"], "data": str(folder), "set": {"few.rounds": 2}}
    path.write_text(json.dumps(options))
    found = run("crossval", "--config", path, "--save-config", saved, "--json").json
    assert list(found["rankers"]) == ["adarank", "few"]
    again = run("crossval", "--config", saved, "--json").json
    assert [again["rankers"][name]["mean"] for name in again["rankers"]] == [
        found["rankers"][name]["mean"] for name in found["rankers"]
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("adarank adarank", "Two rankers are called adarank; name them, as in one=adarank other=adarank."),
        ("=adarank", "A ranker is spelled RANKER or NAME=RANKER, not '=adarank'."),
        ("adarnk", "There is no ranker 'adarnk'; did you mean 'adarank'?"),
        ("mart --set adarank.rounds=3", "--set adarank.rounds=3 is for no ranker of this command"),
        ("mart adarank --set choose=loss", "MART has no parameter 'choose'"),
        ("mart adarank --model m.rw", "--model fits one ranker on all queries"),
        ("mart --baseline mart", "--baseline needs several rankers to compare."),
        ("mart adarank --baseline mrt", "There is no ranker 'mrt' to be the baseline; did you mean 'mart'?"),
        ("mart --validation letor", "validation must be a number from 0 to below 1, or 'fold', not 'letor'."),
        ("mart --validation fold --folds 2", "validation='fold' needs at least 3 folds"),
        ("mart --folds 13", "13 folds need at least 13 queries, not 12."),
        ("mart --min-relevant 99", "There is nothing left: every query has fewer than 99 relevant documents."),
    ],
)
def test_mistakes(refuse, judged, words, sentence):
    assert sentence in refuse("crossval", *words.split(), "--data", judged)
