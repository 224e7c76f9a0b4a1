import numpy as np
import pandas as pd
import pytest

import rankwright as rw
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
    sentence = "Give one of --events, --yandex, --tiangong and --columns."
    assert refuse("clicks", "check", tmp_path / "yandex", "--yandex", "--columns", "a=b") == sentence
    sentence = "--columns takes ROLE=COLUMN,..., not 'clicked'."
    assert refuse("clicks", "check", tmp_path / "yandex", "--columns", "clicked") == sentence


IMPRESSIONS = pd.DataFrame(
    {
        "session": np.repeat(np.arange(30), 2),
        "query": "hats",
        "document": np.tile(["a", "b", "b", "a"], 15),
        "position": np.tile([1, 2], 30),
        "clicked": np.tile([1, 0, 0], 20),
    }
)


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (IMPRESSIONS.assign(position=IMPRESSIONS["position"] - 1), "Positions are counted from 0 in the input"),
        (IMPRESSIONS.replace({"position": {2: None}}), "30 impressions without a position left out."),
        (IMPRESSIONS[::2], "All impressions are at position 1."),
        (IMPRESSIONS.assign(time=np.arange(60, 0, -1)), "30 impressions earlier than the one before in the same"),
    ],
    ids=["positions from 0", "some positions", "a single position", "times out of order"],
)
def test_check_counts_what_is_odd(log, sentence, run, tmp_path):
    log.to_csv(tmp_path / "log.csv", index=False)
    code, _, err = run("clicks", "check", tmp_path / "log.csv")
    assert code == 0
    assert sentence in err


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (
            IMPRESSIONS.drop(columns="position"),
            "There is no column 'position' among session, query, document, clicked; if it has another name, say "
            "position=NAME in --columns.",
        ),
        (IMPRESSIONS.assign(propensity=0.0), "propensity of row 0 is 0; it must be above 0 and at most 1."),
    ],
    ids=["no positions", "propensity 0"],
)
def test_check_refuses_a_log_in_one_sentence(log, sentence, refuse, tmp_path):
    log.to_csv(path := tmp_path / "log.csv", index=False)
    assert refuse("clicks", "check", path) == f"{path}: {sentence}"


def test_unknown_documents_are_refused_or_counted(run, tmp_path):
    IMPRESSIONS.to_csv(log := tmp_path / "log.csv", index=False)
    documents = pd.DataFrame({"qid": "hats", "docid": ["a", "c"], "price": [1.0, 2.0]})
    documents.to_csv(data := tmp_path / "docs.csv", index=False)
    words = ("clicks", "judge", log, "--out", tmp_path / "judged.csv", "--data", data)
    shown = run(*words).out
    assert "documents never shown                  1" in shown
    assert "documents of the log that are unknown  1" in shown
    documents.assign(docid=["x", "y"]).to_csv(data, index=False)
    code, _, err = run(*words)
    assert code == 2
    assert err.endswith("No query and document of the log is among the documents; do their ids agree?\n")


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


@pytest.fixture(scope="module")
def log_of_two(folder, tmp_path_factory):
    """The log of two rankers, as `clicks simulate` writes it."""
    data = read_letor(folder / "Fold1" / "train.txt")
    log = rw.clicks.simulate(data, {"old": data.X[:, 0], "new": data.y}, sessions=100)
    path = tmp_path_factory.mktemp("clicks") / "log.csv"
    pd.DataFrame(log.columns()).to_csv(path, index=False)
    return path


def test_evaluate_needs_no_labels(run, fold, log_of_two, tmp_path):
    data = read_letor(fold / "train.txt")
    frame = pd.DataFrame(data.X, columns=[f"f{column}" for column in range(data.n_features)])
    frame.assign(qid=data.qid, docid=data.document_names).to_csv(tmp_path / "docs.csv", index=False)
    np.savetxt(tmp_path / "ideal.txt", data.y)
    system = f"ideal={tmp_path / 'ideal.txt'}"
    words = ("clicks", "evaluate", log_of_two, system, "--data", tmp_path / "docs.csv")
    done = run(*words, "--report", tmp_path / "page.html")
    assert done.out.startswith("ideal would have had ")
    assert "<html" in (tmp_path / "page.html").read_text()
    log = rw.clicks.read_log(log_of_two)
    expected = rw.clicks.off_policy(log, {"ideal": data.y}, data, examination="features")
    assert run(*words, "--examination", "features", "--json").json == expected.to_dict()
    sentence = "--assume must be 'position', 'item_position', 'list' or 'first', not 'nothing'."
    assert run(*words, "--assume", "nothing").err.endswith(f"rankwright: {sentence}\n")


def test_train_saves_what_it_chose(run, refuse, fold, log_of_two, tmp_path):
    words = ("clicks", "train", log_of_two, "--data", fold / "train.txt", "--model", tmp_path / "new.rw")
    done = run(*words, "--models", "position", "--rounds", 5, "--json")
    assert done.code == 0
    assert done.json["chosen"] in ("naive", "position")
    assert "wrote" in done.err
    scores = rw.load(tmp_path / "new.rw").predict(read_letor(fold / "train.txt"))
    assert len(np.unique(scores)) > 1
    assert refuse(*words, "--judged", tmp_path / "none.txt") == f"There is no file {tmp_path / 'none.txt'}."


def test_interleaving_reads_a_table(run, refuse, tmp_path):
    credited = pd.DataFrame({"first": [0, 1, 0] * 100, "second": [1, 0, 1] * 100, "user": np.arange(300)})
    credited.to_csv(tmp_path / "credits.csv", index=False)
    done = run("clicks", "interleaving", tmp_path / "credits.csv", "--planned", 300)
    assert done.out.startswith("Users prefer second to first by 0.3333")
    assert "over 300 users" in done.out
    sentence = "The credits have no session."
    assert refuse("clicks", "interleaving", tmp_path / "credits.csv", "--by", "session") == sentence


def test_ab_compares_the_policies_of_a_log(run, refuse, log_of_two, tmp_path):
    done = run("clicks", "ab", log_of_two, "--json")
    assert set(done.json["names"]) == {"old", "new"}
    assert sum(done.json["sizes"]) == 1200
    table = pd.read_csv(log_of_two)
    table[table["policy"] == "old"].to_csv(tmp_path / "one.csv", index=False)
    assert "two" in refuse("clicks", "ab", tmp_path / "one.csv")


def test_ab_says_what_the_reader_left_out(run, log_of_two, tmp_path):
    log = pd.read_csv(log_of_two)
    log.assign(position=log["position"].where(log.index != 1)).to_csv(path := tmp_path / "log.csv", index=False)
    assert "1 impression without a position left out." in run("clicks", "ab", path).err


def test_plan_counts_sessions(run, refuse):
    assert "with 387 sessions in 80 % of cases" in run("clicks", "plan", "--preference", 0.1, "--ties", 0.5).out
    assert "16,783 sessions" in run("clicks", "plan", "--rate", 0.3, "--difference", 0.02).out
    sentence = "Give --preference and if known --ties, or --rate and --difference."
    assert refuse("clicks", "plan", "--rate", 0.3) == sentence
    assert refuse("clicks", "plan", "--rate", 0.3, "--difference", 0.02, "--ties", 0.5) == sentence
