import numpy as np
import pandas as pd

from rankwright.data.readers.letor import read_letor


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


def test_check_describes_a_log_and_its_problems(run, fold, model, tmp_path):
    out = tmp_path / "log.csv"
    run("clicks", "simulate", model, "--data", fold / "train.txt", "--out", out)
    code, shown, err = run("clicks", "check", out)
    assert code == 0
    assert "1 problem seen." in shown
    assert "clicks cannot tell position from relevance" in err
    assert run("clicks", "check", out, "--json").json["facts"]["lists"] == 240
    pd.read_csv(out).rename(columns={"clicked": "is_click"}).to_csv(tmp_path / "renamed.csv")
    named = run("clicks", "check", tmp_path / "renamed.csv", "--columns", "clicked=is_click", "--json")
    assert named.json["facts"] == run("clicks", "check", out, "--json").json["facts"]


def test_check_reads_ubi_and_yandex(run, refuse, tmp_path):
    (tmp_path / "queries").write_text('{"query_id": "1", "user_query": "a", "query_response_hit_ids": ["x", "y"]}')
    (tmp_path / "events").write_text('{"query_id": "2", "action_name": "click"}')
    (tmp_path / "yandex").write_text("1\t0\tQ\t5\t0\tx\ty\n1\t3\tC\ty\n")
    done = run("clicks", "check", tmp_path / "queries", "--events", tmp_path / "events", "--json")
    assert "1 UBI record (events) with an unknown query_id left out." in done.json["problems"]
    assert run("clicks", "check", tmp_path / "yandex", "--yandex", "--json").json["facts"]["clicks"] == 1
    sentence = "Give one of --events, --yandex and --columns."
    assert refuse("clicks", "check", tmp_path / "yandex", "--yandex", "--columns", "a=b") == sentence
    sentence = "--columns takes ROLE=COLUMN,..., not 'clicked'."
    assert refuse("clicks", "check", tmp_path / "yandex", "--columns", "clicked") == sentence


def test_models_are_compared(run, fold, model, tmp_path):
    out = tmp_path / "log.csv"
    run("clicks", "simulate", model, "--data", fold / "train.txt", "--out", out, "--by", "-1")
    words = ("clicks", "models", out, "--models", "position,cascade", "--seed", 1, "--fraction", 0.5)
    code, shown, _ = run(*words, "--plot", tmp_path / "models.svg")
    assert code == 0
    assert shown.startswith("Of 2 click models, position predicts")
    assert (tmp_path / "models.svg").exists()
    assert set(run(*words, "--json").json["models"]) == {"position", "cascade"}


def test_judge_writes_labels_and_weights(run, refuse, fold, model, tmp_path):
    log, judged, weights = tmp_path / "log.csv", tmp_path / "judged.txt", tmp_path / "weights"
    run("clicks", "simulate", model, "--data", fold / "train.txt", "--out", log, "--by", "-1", "--sessions", 200)
    words = ("clicks", "judge", log, "--data", fold / "train.txt", "--out", judged, "--weights", weights)
    shown = run(*words).out
    assert shown.startswith("96 documents of 12 queries judged by the position-based model")
    labels = read_letor(judged).y
    assert np.corrcoef(labels, read_letor(fold / "train.txt").y)[0, 1] > 0.8
    assert len(weights.read_text().split()) == 96
    assert run(*words, "--json").json["documents"] == 96
    assert refuse(*words, "--model", "positon") == "There is no click model 'positon'; did you mean 'position'?"


def test_propensities_are_shown_and_drawn(run, fold, model, tmp_path):
    log, chart = tmp_path / "log.csv", tmp_path / "chart.svg"
    run(
        "clicks",
        "simulate",
        model,
        "--data",
        fold / "train.txt",
        "--out",
        log,
        "--shuffled",
        0.5,
        "--sessions",
        100,
    )
    code, shown, err = run("clicks", "propensities", log, "--method", "shuffled", "--plot", chart)
    assert code == 0
    assert shown.startswith("Propensities of 8 positions: from 1 at the first to 0.")
    assert "Assumes that the order of these lists was random" in err
    assert chart.exists()
