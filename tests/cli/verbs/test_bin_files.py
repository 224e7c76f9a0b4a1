import json

import numpy as np
import pandas as pd

import rankwright as rw


def test_bin_and_train(run, fold, tmp_path):
    data = rw.read_letor(fold / "train.txt")
    rw.write_letor(data.take(np.arange(20)), tmp_path / "part-1.txt")
    rw.write_letor(data.take(np.arange(20, len(data))), tmp_path / "part-2.txt")
    code, _, err = run("bin", tmp_path / "part-*.txt", "--out", tmp_path / "t.binned")
    assert (code, err.split(":")[0]) == (0, f"wrote {tmp_path / 't.binned'}")
    options = ("--valid", fold / "test.txt", "--model", tmp_path / "a.rw", "--rounds", "5")
    assert run("train", "lambdamart", "--train", tmp_path / "t.binned", *options)[0] == 0
    expected = rw.LambdaMART(rounds=5).fit(data, validation=rw.read_letor(fold / "test.txt"))
    assert rw.load(tmp_path / "a.rw").predict(data).tobytes() == expected.predict(data).tobytes()


def test_facts_of_binned_data(run, fold, tmp_path):
    _, out, _ = run("bin", fold / "train.txt", "--out", tmp_path / "t", "--max-bins", "9", "--json")
    facts = json.loads(out)
    assert (facts["max_bins"], facts["coarse"], facts["bytes"]) == (9, False, (tmp_path / "t").stat().st_size)
    described = json.loads(run("info", tmp_path / "t", "--json")[1])
    assert described["documents"] == facts["documents"] == len(rw.read_letor(fold / "train.txt"))
    run("bin", fold / "train.txt", "--out", tmp_path / "t", "--coarse", "true")
    assert rw.BinnedData(tmp_path / "t").coarse


def test_options_without_effect_are_refused(refuse, fold, tmp_path):
    binning = ("bin", fold / "train.txt", "--out", tmp_path / "t")
    assert "--docid is not for bin." in refuse(*binning, "--docid", "id")
    assert "--coarse takes true or false, not 'no'." in refuse(*binning, "--coarse", "no")
    assert "no file" in refuse("bin", tmp_path / "nothing.txt", "--out", tmp_path / "t")
    rw.BinnedData.create(fold / "train.txt", tmp_path / "t")
    training = ("train", "lambdamart", "--train", tmp_path / "t", "--model", tmp_path / "m")
    assert "which is binned already" in refuse(*training, "--label", "grade")


def test_categories_query_features_and_weights(run, tmp_path):
    random = np.random.default_rng(1)
    columns = {
        "qid": np.repeat(np.arange(20), 10),
        "label": random.integers(0, 3, 200),
        "bm25": random.normal(size=200),
        "brand": [f"brand {number}" for number in random.integers(0, 20, 200)],
        "clicks": random.random(200),
    }
    pd.DataFrame(columns).to_csv(tmp_path / "a.csv", index=False)
    options = ("--categorical", "brand", "--query-features", "zscore,rank", "--weight", "clicks")
    assert run("bin", tmp_path / "a.csv", "--out", tmp_path / "t", *options)[0] == 0
    training = ("--train", tmp_path / "t", "--model", tmp_path / "m", "--rounds", "3")
    assert run("train", "mart", *training, "--set", "query_features=zscore,rank")[0] == 0
    data = rw.read_csv(tmp_path / "a.csv", categorical=["brand"], drop=["clicks"])
    expected = rw.MART(rounds=3, query_features=["zscore", "rank"]).fit(data, sample_weight=columns["clicks"])
    assert rw.load(tmp_path / "m").predict(data).tobytes() == expected.predict(data).tobytes()
