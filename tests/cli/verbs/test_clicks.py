import pandas as pd


def test_simulate_writes_a_table_of_impressions(run, fold, model, tmp_path):
    out = tmp_path / "log.csv"
    words = ("clicks", "simulate", model, "--data", fold / "train.txt", "--out", out, "--sessions", 3)
    done = run(*words, "--depth", 4, "--seed", 5, "--json")
    table = pd.read_csv(out)
    assert list(table) == ["session", "query", "document", "position", "clicked"]
    assert len(table) == 12 * 3 * 4
    assert done.json == {"out": str(out), "impressions": 144, "lists": 36, "clicks": int(table["clicked"].sum())}
    run(*words[:-4], "--out", tmp_path / "again.csv", "--sessions", 3, "--depth", 4, "--seed", 5)
    assert (tmp_path / "again.csv").read_bytes() == out.read_bytes()


def test_simulate_by_a_feature_and_a_model(run, fold, model, tmp_path):
    out = tmp_path / "log.parquet"
    words = ("clicks", "simulate", f"new={model}", "--data", fold / "train.txt", "--out", out, "--by", "-1")
    assert run(*words, "--shuffled", 0.5, "--behaviour", "cascade").code == 0
    assert set(pd.read_parquet(out)["policy"]) == {"-1", "new", "shuffled"}


def test_simulate_needs_an_order_and_a_table(refuse, fold, model, tmp_path):
    data = ("--data", fold / "train.txt")
    sentence = "Name a system that orders the documents, or a column with --by."
    assert refuse("clicks", "simulate", *data, "--out", tmp_path / "log.csv") == sentence
    sentence = "The name of a log ends with .csv, .tsv, .parquet, .csv.gz or .tsv.gz, not log.txt."
    assert refuse("clicks", "simulate", model, *data, "--out", tmp_path / "log.txt") == sentence
    sentence = "The behaviour 'cascade' has no --eta."
    words = ("--out", tmp_path / "log.csv", "--behaviour", "cascade", "--eta", 2)
    assert refuse("clicks", "simulate", model, *data, *words) == sentence
