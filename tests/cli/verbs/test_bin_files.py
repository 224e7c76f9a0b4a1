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


def table(tmp_path, n_queries=20):
    random = np.random.default_rng(3)
    n = 10 * n_queries
    columns = {
        "query": np.repeat(np.arange(n_queries), 10),
        "grade": random.integers(0, 3, n),
        "bm25": random.normal(size=n),
        "brand": random.choice(["a", "b", "c"], n),
        "title": "text",
        "clicks": random.random(n),
    }
    pd.DataFrame(columns).to_csv(tmp_path / "a.csv", index=False)
    return tmp_path / "a.csv", ("--label", "grade", "--qid", "query")


def test_columns_are_listed_as_other_readers_list_them(run, tmp_path):
    file, columns = table(tmp_path)
    options = (*columns, "--weight", "clicks", "--categorical", "brand")
    code, _, err = run("bin", file, "--out", tmp_path / "t", *options)
    assert code == 0
    assert err.startswith(
        "features: 2 columns (bm25, brand); categorical: brand; "
        "not used: title (text), clicks (weight of documents)\nwrote "
    )
    described = json.loads(run("info", tmp_path / "t", "--json")[1])
    assert described["columns"] == {
        "grade": "label",
        "query": "qid",
        "bm25": "feature",
        "brand": "categorical",
        "title": "not used: text",
        "clicks": "not used: weight of documents",
    }
    assert [*described["categories"]] == ["brand"]
    plain = run("info", tmp_path / "t")
    assert plain.code == 0
    assert "bm25" in plain.out


def test_validation_documents_may_have_columns_of_their_own(run, refuse, tmp_path):
    file, columns = table(tmp_path)
    options = ("--drop", "clicks", "--categorical", "brand")
    run("bin", file, "--out", tmp_path / "t", *columns, *options)
    training = ("train", "lambdamart", "--train", tmp_path / "t", "--model", tmp_path / "m", "--rounds", "3")
    assert run(*training, "--valid", file)[0] == 0  # label and qid are called as those that were binned
    with_same_names = rw.load(tmp_path / "m")
    own = tmp_path / "b.csv"
    pd.read_csv(file).rename(columns={"grade": "points", "query": "q"}).to_csv(own, index=False)
    assert "There is no column 'grade'" in refuse(*training, "--valid", own)
    assert run(*training, "--valid", own, "--label", "points", "--qid", "q")[0] == 0
    data = rw.read_csv(file, label="grade", qid="query", categorical=["brand"], drop=["title", "clicks"])
    expected = rw.LambdaMART(rounds=3).fit(data, validation=data)
    for model in (with_same_names, rw.load(tmp_path / "m")):
        assert model.predict(data).tobytes() == expected.predict(data).tobytes()
    assert "which is binned already" in refuse(*training, *columns)


def test_dates_of_validation_documents_are_those_that_were_binned(run, tmp_path):
    file, columns = table(tmp_path)
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(200), "D")
    pd.read_csv(file).assign(day=days).drop(columns=["brand", "title"]).to_csv(file, index=False)
    assert run("bin", file, "--out", tmp_path / "t", *columns, "--dates", "day")[0] == 0
    training = ("train", "lambdamart", "--train", tmp_path / "t", "--model", tmp_path / "m", "--rounds", "3")
    assert run(*training, "--valid", file)[0] == 0
    data = rw.read_csv(file, label="grade", qid="query", dates=["day"])
    expected = rw.LambdaMART(rounds=3).fit(data, validation=data)
    assert rw.load(tmp_path / "m").predict(data).tobytes() == expected.predict(data).tobytes()


def test_a_pattern_of_files_is_scored_as_their_documents_in_memory(run, refuse, tmp_path):
    file, columns = table(tmp_path)
    read = pd.read_csv(file).drop(columns=["brand", "title"])
    read.to_csv(file, index=False)
    read[:105].to_csv(tmp_path / "part-1.csv", index=False)  # query 10 is in both
    read[105:].to_csv(tmp_path / "part-2.csv", index=False)
    run("bin", file, "--out", tmp_path / "t", *columns)
    run("train", "lambdamart", "--train", tmp_path / "t", "--model", tmp_path / "m", "--rounds", "3")
    parts = tmp_path / "part-*.csv"
    for verb in (("predict", "--qid", "query"), ("rank", "--qid", "query"), ("evaluate", *columns)):
        expected = run(verb[0], tmp_path / "m", "--data", file, *verb[1:])
        found = run(verb[0], tmp_path / "m", "--data", parts, *verb[1:])
        assert (expected.code, found.code, found.out) == (0, 0, expected.out)
    sentence = f"{parts} names 2 files: here give one, or a pattern of .parquet files."
    assert refuse("train", "mart", "--train", parts, "--model", tmp_path / "n") == sentence
    assert refuse("predict", tmp_path / "m", "--data", parts, "--out", tmp_path / "scores.csv") == sentence
    assert "There is no file" in refuse("predict", tmp_path / "m", "--data", tmp_path / "none-*.csv")


def test_what_needs_values_is_refused_before_training(refuse, fold, tmp_path):
    rw.BinnedData.create(fold / "train.txt", tmp_path / "t")
    training = (
        "train",
        "mart",
        "--train",
        tmp_path / "t",
        "--valid",
        fold / "test.txt",
        "--model",
        tmp_path / "m",
    )
    needs_values = f"needs the values of features, and {tmp_path / 't'} holds bins: leave it out."
    assert f"--report {needs_values}" in refuse(*training, "--report", tmp_path / "page.html")
    assert f"--tune {needs_values}" in refuse(*training, "--tune")
    assert f"--refit {needs_values}" in refuse(*training, "--refit", "--valid", fold / "test.txt")
    rw.save(rw.MART(rounds=1).fit(rw.read_letor(fold / "train.txt")), tmp_path / "s")
    assert f"--start {needs_values}" in refuse(*training, "--start", tmp_path / "s")
    assert "no folder" in refuse(*training, "--cluster", "2", "--checkpoint", tmp_path / "nodir" / "x")
    assert not (tmp_path / "m").exists()
    on_cluster = (*training[:3], fold / "train.txt", *training[4:], "--cluster", "2")
    assert f"--cluster needs a binned file that all workers see: rankwright bin {fold}" in refuse(*on_cluster)


def test_binned_files_are_no_documents(run, refuse, fold, tmp_path):
    rw.BinnedData.create(fold / "train.txt", tmp_path / "t")
    assert run("train", "mart", "--train", tmp_path / "t", "--model", tmp_path / "m", "--rounds", "2").code == 0
    sentence = f"{tmp_path / 't'} holds bins of features, not their values: give the files that it was made from."
    for verb in ("evaluate", "predict", "rank", "drift"):
        assert refuse(verb, tmp_path / "m", "--data", tmp_path / "t") == sentence
    for verb in ("crossval", "tune"):
        assert refuse(verb, "mart", "--data", tmp_path / "t") == sentence
    training = ("train", "mart", "--train", tmp_path / "t", "--model", tmp_path / "n")
    assert refuse(*training, "--valid", tmp_path / "t") == sentence
    assert refuse("bin", tmp_path / "t", "--out", tmp_path / "u") == sentence
