"""Users' mistakes: each is one sentence, exit code 2, and leaves every file as it was."""

from __future__ import annotations

import gzip
import os

import numpy as np
import pytest
import typer

import rankwright
from rankwright.base.errors import InputError
from rankwright.cli.options.usage_errors import sentence_of
from rankwright.data.readers.letor import ADD_QUERIES
from rankwright.models.model_file import FORMAT_VERSION, sealed

NO_QUERIES = ADD_QUERIES.format("data.txt")


def train(path, model="m.rw"):
    return ("train", "adarank", "--train", path, "--model", model)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "data.txt holds no documents."),
        ("# nothing\n", "data.txt holds no documents."),
        ("1 1:2\n", f"data.txt, line 1: expected qid:ID, found '1:2'; {NO_QUERIES}."),
        (
            "1\n",
            f"data.txt, line 1: expected qid:ID, found the end of the line; {NO_QUERIES}.",
        ),
        ("high qid:1 1:2\n", "data.txt, line 1: expected a number as the label, found 'high'."),
        ("inf qid:1 1:2\n", "data.txt, line 1: expected a finite label, found 'inf'."),
        (
            "0 qid:1 1:2\n1 qid:1 1:high\n",
            "data.txt, line 2: expected a number or NULL after the colon, found '1:high'.",
        ),
        ("1 qid:1 high\n", "data.txt, line 1: expected feature:value, found 'high'."),
        (
            "1 qid:1 0:2\n",
            "data.txt, line 1: expected a positive feature number before the colon, found '0:2'; if the file "
            "numbers features from 0, set --zero-based.",
        ),
        ("1 qid:1 -3:2\n", "data.txt, line 1: expected a positive feature number before the colon, found '-3:2'."),
        (
            "1 qid:1 2:2 1:2\n",
            "data.txt, line 1: expected features in ascending order, each once, found '1:2'.",
        ),
        ("1 qid:1 4000000000:2\n", "data.txt, line 1: expected no feature above 1,000,000, found '4000000000:2'."),
        (
            "1 qid:1 99999999999999999999999:2\n",
            "data.txt, line 1: expected no feature above 1,000,000, found '99999999999999999999999:2'.",
        ),
        ("1 qid:1 1:inf\n", "data.txt, line 1: expected a value that a 32-bit float can hold, found '1:inf'."),
        ("1 qid:1 1:1e99\n", "data.txt, line 1: expected a value that a 32-bit float can hold, found '1:1e99'."),
        (
            "-1 qid:1 1:1\n0 qid:1 1:2\n",
            "A gain is not defined for negative labels, but one label is -1; shift the labels, or choose a "
            "metric that only compares them, such as pair_accuracy or kendall_tau.",
        ),
        (
            "1 qid:1 1:1\n",
            "There is nothing to learn: within every query all labels are equal.",
        ),
        (
            "0 qid:1 1:1\n0 qid:1 1:2\n",
            "There is nothing to learn: within every query all labels are equal.",
        ),
    ],
)
def test_bad_data(run, refuse, tmp_path, text, sentence):
    (tmp_path / "data.txt").write_text(text)
    assert refuse(*train("data.txt")) == sentence
    assert [path.name for path in tmp_path.iterdir()] == ["data.txt"]


def test_negative_labels_are_told_in_evaluation_too(refuse, model, tmp_path):
    (tmp_path / "data.txt").write_text("-1 qid:1 6:1\n0 qid:1 6:2\n")
    assert "not defined for negative labels" in refuse("evaluate", model, "--data", "data.txt")


@pytest.mark.parametrize("ranker", ["ranksvm", "svmmap", "permurank"])
@pytest.mark.parametrize("C", ["1e150", "1e300"])
def test_a_margin_problem_whose_numbers_overflow(refuse, fold, ranker, C):
    words = ("train", ranker, "--train", fold / "train.txt", "--model", "m.rw", "--set", f"C={C}")
    assert "use a less extreme C, or features of a smaller scale" in refuse(*words)


def few_labels(labels, features):
    """Ten queries of as many documents as there are labels, each with the feature beside its label."""
    rows = list(zip(labels, features, strict=True))
    return "".join(f"{label} qid:{query} 1:{feature}\n" for query in range(10) for label, feature in rows)


@pytest.mark.parametrize("ranker", ["adaboost-mh", "calibrated-adaboost"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (few_labels([1, 1, 1], [1, 2, 3]), "within every query all labels are equal."),
        (few_labels([0, 1, 2], [5, 5, 5]), "every feature is constant within every query whose labels differ."),
    ],
    ids=["one label", "constant scores"],
)
def test_nothing_for_classifiers_to_tell_apart(refuse, tmp_path, ranker, text, sentence):
    (tmp_path / "data.txt").write_text(text)
    words = ("train", ranker, "--train", "data.txt", "--model", "m.rw")
    assert refuse(*words).startswith(f"There is nothing to learn: {sentence}")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_two_labels_train_a_pool_with_a_word_about_calibration(run, tmp_path):
    (tmp_path / "data.txt").write_text(few_labels([0, 1, 1, 0], [1, 2, 3, 2]))
    code, out, err = run("train", "calibrated-adaboost", "--train", "data.txt", "--model", "m.rw")
    assert code == 0
    assert out == "Trained calibrated-adaboost (round 20 of 20)\n"
    assert "rankwright: There are only two labels: calibrating their probabilities adds little.\n" in err


@pytest.mark.parametrize("name", ["data.txt", "data.txt.gz", "data.csv", "data.parquet"])
@pytest.mark.parametrize("verb", ["train", "info", "evaluate", "predict", "rank"])
def test_no_such_file(refuse, model, name, verb):
    words = {"train": train(name), "info": ("info", name)}
    assert refuse(*words.get(verb, (verb, model, "--data", name))) == f"There is no file {name}."


@pytest.mark.parametrize(("name", "what"), [("data.txt", "a file"), ("data.csv", "a table")])
def test_a_folder_for_a_file(refuse, tmp_path, name, what):
    (tmp_path / name).mkdir()
    assert refuse(*train(name)) == f"{name} is a folder, not {what}."


def test_a_truncated_gzip_file(refuse, fold, tmp_path):
    whole = gzip.compress((fold / "train.txt").read_bytes())
    (tmp_path / "data.txt.gz").write_bytes(whole[: len(whole) // 2])
    assert refuse(*train("data.txt.gz")) == "data.txt.gz is not a complete gzip file: it is truncated or corrupt."
    (tmp_path / "data.txt.gz").write_bytes(b"1 qid:1 1:1\n")
    assert refuse(*train("data.txt.gz")) == "data.txt.gz is not a complete gzip file: it is truncated or corrupt."


@pytest.mark.parametrize(
    "text", ["", "label,qid\n1,1\n", "label,bm25\n1,2\n", "label,qid,bm25\nhigh,1,2\n", "\0\1"]
)
def test_bad_tables_are_named(refuse, tmp_path, text):
    (tmp_path / "data.csv").write_text(text)
    assert "data.csv" in refuse(*train("data.csv"))
    (tmp_path / "data.parquet").write_text(text)
    assert "data.parquet" in refuse(*train("data.parquet"))


def test_a_truncated_table(refuse, tmp_path):
    whole = gzip.compress(b"label,qid,bm25\n" + b"1,1,2\n" * 10_000)
    (tmp_path / "data.csv.gz").write_bytes(whole[: len(whole) // 2])
    assert "data.csv.gz" in refuse(*train("data.csv.gz"))


def broken_models(whole):
    yield "empty", b""
    yield "cut short", whole[:-5]
    yield "only begun", whole[:10]
    yield "edited", whole.replace(b"AdaRank", b"OdaRank")
    yield "no model", b"1 qid:1 1:1\n"


@pytest.mark.parametrize("kind", ["empty", "cut short", "only begun", "edited", "no model"])
@pytest.mark.parametrize("verb", ["evaluate", "predict", "rank"])
def test_a_broken_model(refuse, fold, model, tmp_path, kind, verb):
    (tmp_path / "broken.rw").write_bytes(dict(broken_models(model.read_bytes()))[kind])
    assert "broken.rw" in refuse(verb, "broken.rw", "--data", fold / "test.txt")


def test_a_model_of_a_later_version(refuse, fold, tmp_path):
    (tmp_path / "new.rw").write_bytes(sealed(b"{}", b"", version=FORMAT_VERSION + 1))
    sentence = refuse("predict", "new.rw", "--data", fold / "test.txt")
    assert "new.rw" in sentence
    assert "later version of rankwright" in sentence


def test_a_model_with_other_features(refuse, model, tmp_path):
    (tmp_path / "few.txt").write_text("1 qid:1 3:1\n")
    assert refuse("predict", model, "--data", "few.txt") == (
        "few.txt has 3 features, the model was trained on 6; "
        "if the file never mentions the last ones, add --n-features 6."
    )
    (tmp_path / "many.txt").write_text("1 qid:1 7:1\n")
    assert refuse("rank", model, "--data", "many.txt") == "many.txt has 7 features, the model was trained on 6."
    assert refuse("evaluate", model, "--data", "many.txt", "--n-features", 6) == (
        "many.txt has 7 features, more than the 6 expected."
    )


def test_validation_with_more_features(refuse, fold, tmp_path):
    (tmp_path / "vali.txt").write_text("1 qid:1 7:1\n")
    sentence = refuse(*train(fold / "train.txt"), "--valid", "vali.txt")
    assert sentence == "vali.txt has 7 features, more than the 6 expected."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["adrank"], "There is no ranker 'adrank'; did you mean 'adarank'?"),
        (["AdRank"], "There is no ranker 'AdRank'; did you mean 'adarank'?"),
        (
            ["AdaRank", "--set", "num_leaves=5"],
            "AdaRank has no parameter 'num_leaves': it is called max_leaves here.",
        ),
        (["AdaRank", "--set", "-tree=5"], "AdaRank has no parameter '-tree': it is called rounds here."),
        (["adarank", "--set", "round=5"], "AdaRank has no parameter 'round'; did you mean 'rounds'?"),
        (["adarank", "--set", "rounds"], "--set takes name=value, not 'rounds'."),
        (["adarank", "--set", "rounds=many"], "rounds must be a positive integer, not 'many'."),
        (["adarank", "--set", "rounds=0"], "rounds must be a positive integer, not '0'."),
        (["adarank", "--set", "choose=best"], "choose must be 'loss' or 'measure', not 'best'."),
        (
            ["calibrated-adaboost", "--set", "companions=rnaksvm"],
            "There is no ranker 'rnaksvm'; did you mean 'ranksvm'?",
        ),
        (["adarank", "--set", "metric=ndgc"], "There is no metric 'ndgc'; did you mean 'ndcg'?"),
        (["adarank", "--set", "metric=dcg"], None),
        (
            ["lambdamart", "--set", "query_features=rnak"],
            "query_features must be distinct values separated by commas, each 'zscore', 'rank' or 'minmax', "
            "not 'rnak'.",
        ),
        (
            ["lambdamart", "--set", "monotone=1:1"],
            "monotone must be none, or JSON such as {\"bm25\": 1}, not '1:1'.",
        ),
        (
            ["lambdamart", "--set", "step=exact"],
            'step must be none, or JSON such as {"on": "validation"}, not \'exact\'.',
        ),
        (["adarank", "--set", "n_jobs=0"], "n_jobs must be none, -1 or a positive integer, not '0'."),
    ],
)
def test_unknown_rankers_and_parameters(refuse, fold, words, sentence):
    found = refuse("train", *words, "--train", fold / "train.txt", "--model", "m.rw")
    assert found == sentence or (sentence is None and found.startswith("AdaRank needs a metric between -1 and 1"))


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--metrics", "ndgc@10", "There is no metric 'ndgc'; did you mean 'ndcg'?"),
        ("--metrics", "ndcg@ten", "A metric's cut-off must be a positive integer, not 'ten'."),
        ("--metrics", "p", "The metric p needs a cut-off, as in 'p@10'."),
        ("--metrics", ",", "Name at least one metric, as in 'ndcg@10,map'."),
        ("--metrics", "map(treshold=2)", "The metric map has no option 'treshold'; did you mean 'threshold'?"),
        ("--convention", "letor33", "There is no convention 'letor33'; did you mean 'letor3'?"),
    ],
)
def test_unknown_metrics_and_conventions(refuse, folder, fold, model, monkeypatch, option, value, sentence):
    assert refuse("evaluate", model, "--data", fold / "test.txt", option, value) == sentence
    monkeypatch.setattr("rankwright.AdaRank.fit", None)  # told before anything is trained
    assert refuse("crossval", "adarank", "--data", folder, option, value) == sentence


def test_a_metric_that_a_convention_lacks(refuse, folder, monkeypatch):
    monkeypatch.setattr("rankwright.AdaRank.fit", None)
    words = ("crossval", "adarank", "--data", folder, "--convention", "letor3", "--metrics", "mrr")
    assert refuse(*words) == "The convention letor3 has no mrr; it has ndcg, map, p."


def test_a_folder_without_folds(refuse, fold, tmp_path):
    sentence = f"{tmp_path} contains no folds: looked for folders Fold1, Fold2 and so on."
    assert refuse("crossval", "adarank", "--data", tmp_path) == sentence
    assert refuse("crossval", "adarank", "--data", "nowhere") == "There is no file or folder nowhere."
    (tmp_path / "Fold1").mkdir()
    assert "Fold1 is not a complete fold" in refuse("crossval", "adarank", "--data", tmp_path)


def outputs(fold, model):
    yield "train", (*train(fold / "train.txt")[:-1],)
    yield "predict", ("predict", model, "--data", fold / "test.txt", "--out")
    yield "rank", ("rank", model, "--data", fold / "test.txt", "--out")
    yield "generate", ("generate", "gaussian", "--queries", 2, "--out")
    yield "demo", ("demo", "--queries", 10, "--report")


@pytest.mark.parametrize("verb", ["train", "predict", "rank", "generate", "demo"])
def test_outputs_that_cannot_be_written(refuse, fold, model, tmp_path, verb):
    words = dict(outputs(fold, model))[verb]
    assert refuse(*words, "nowhere/out") == "nowhere/out cannot be written: there is no folder nowhere."
    (tmp_path / "file").write_text("old")
    assert refuse(*words, "file/out") == "file/out cannot be written: there is no folder file."
    assert refuse(*words, tmp_path) == f"{tmp_path} is a folder, not a file to write."
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_a_folder_that_nothing_can_be_written_to_is_refused_before_any_work(refuse, fold, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda _path, mode: mode != os.W_OK)
    sentence = refuse(*train(fold / "train.txt"))
    assert sentence == f"m.rw cannot be written: nothing can be written to the folder {tmp_path}."


@pytest.mark.parametrize("verb", ["train", "predict", "rank"])
def test_an_input_is_never_overwritten(refuse, fold, model, verb):
    words = dict(outputs(fold, model))[verb]
    read = fold / ("train.txt" if verb == "train" else "test.txt")
    before = read.read_bytes()
    assert refuse(*words, read) == f"{read} is an input of this command; write to another file."
    assert read.read_bytes() == before


def test_a_failure_while_writing_leaves_the_old_file(refuse, fold, tmp_path, monkeypatch):
    (tmp_path / "m.rw").write_text("old")

    def disk_full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", disk_full)
    sentence = refuse(*train(fold / "train.txt"))
    assert sentence == f"{tmp_path / 'm.rw'} cannot be written: No space left on device."
    assert [path.name for path in tmp_path.iterdir()] == ["m.rw"]
    assert (tmp_path / "m.rw").read_text() == "old"


def test_the_demos_page_is_not_its_model(refuse):
    assert refuse("demo", "--report", "x.rw").startswith("x.rw would be overwritten by the model")


def test_generate_refuses_what_it_cannot_do(refuse, tmp_path):
    (tmp_path / "file").write_text("old")
    assert refuse("generate", "polynomial", "--fold", "--out", "file") == (
        "The folder file cannot be created: File exists."
    )
    assert "at least 3 documents" in refuse("generate", "gaussian", "--documents", 2, "--out", "x.txt")
    assert "--noise is for polynomial" in refuse("generate", "gaussian", "--noise", 0.5, "--out", "x.txt")


def test_a_model_named_twice(refuse, fold, model):
    assert refuse("evaluate", model, model, "--data", fold / "test.txt") == f"{model} is given twice."


def test_a_model_combined_with_itself(refuse, fold, model):
    words = ("combine", model, model, "--data", fold / "test.txt", "--model", "mix.rw")
    assert refuse(*words) == f"{model} is given twice."


def test_options_that_would_have_no_effect(refuse, fold, model, tmp_path):
    assert refuse("evaluate", model, "--data", fold / "test.txt", "--per-query") == "--per-query needs --json."
    words = (*train(fold / "train.txt"), "--set", "n_jobs=1", "--jobs", 2)
    assert refuse(*words) == "Give --jobs or --set n_jobs, not both."
    (tmp_path / "data.csv").write_text("label,qid,bm25\n1,1,2\n0,1,1\n")
    sentence = "--n-features is for LETOR files only."
    assert refuse(*train("data.csv"), "--n-features", 3) == sentence
    assert refuse("rank", model, "--data", "data.csv", "--n-features", 3) == sentence


def test_a_table_with_other_features(refuse, model, tmp_path):
    (tmp_path / "data.csv").write_text("label,qid,bm25\n1,1,2\n0,1,1\n")
    assert refuse("rank", model, "--data", "data.csv") == (
        "data.csv has 1 feature (bm25), the model was trained on 6."
    )


@pytest.mark.parametrize("verb", ["train", "evaluate"])
def test_a_table_without_labels(refuse, model, tmp_path, verb):
    (tmp_path / "data.csv").write_text("qid,bm25\n1,2\n1,1\n")
    words = {"train": train("data.csv"), "evaluate": ("evaluate", model, "--data", "data.csv")}
    assert refuse(*words[verb]) == (
        "data.csv: There is no column 'label'; the table has qid, bm25. "
        "If the documents have no labels, use `rank` or `predict`."
    )


@pytest.mark.parametrize(
    ("y", "qid", "sentence"),
    [
        ([1, 0], [1, 1, 1], r"There are 3 documents but labels of shape \(2,\)\."),
        ([1, 0, 0], [1, 1], r"There are 3 documents but 2 query ids\."),
    ],
)
def test_lengths_that_differ(y, qid, sentence):
    with pytest.raises(InputError, match=sentence):
        rankwright.AdaRank().fit(np.zeros((3, 2)), y, qid)


def test_training_on_a_letor_file_without_labels(refuse, tmp_path):
    (tmp_path / "new.txt").write_text("qid:1 1:2\n")
    words = ("train", "mart", "--train", tmp_path / "new.txt", "--model", tmp_path / "m.rw")
    assert refuse(*words) == (
        f"{tmp_path / 'new.txt'}, line 1: expected a label "
        "(read documents without labels with `rank` or `predict`), found 'qid:1'."
    )


@pytest.mark.parametrize(
    "words",
    [
        ("train", "mart", "--train", "x.txt", "--model", "-"),
        ("combine", "a.rw", "b.rw", "--data", "x.txt", "--model", "-"),
        ("generate", "gaussian", "--out", "-"),
    ],
)
def test_only_scores_and_rankings_go_to_standard_output(refuse, words):
    assert refuse(*words) == "- is standard output, where only scores and rankings can go; name a file."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("crossval lambdamart --data x --folds 1", "--folds must be at least 2"),
        ("crossval lambdamart --data x --folds many", "--folds must be an integer"),
        ("demo --seed -1", "--seed must be at least 0"),
        ("crossval lambdamart", "The option --data is missing."),
        ("train lambdamart --trian x", "There is no option --trian"),
        ("info a b c", "These words are too many: b c."),
        ("trian x", "No such command 'trian'."),
        ("analyse nothing", "No such command 'nothing'."),
    ],
)
def test_words_that_make_no_command(refuse, words, sentence):
    assert refuse(*words.split()).startswith(sentence)


def test_a_range_as_typer_below_0_29_says_it():
    mistake = typer.BadParameter("inf is not in the range 0.1<=x<=86400.", param_hint="'--timeout'")
    assert sentence_of(mistake) == "--timeout must be from 0.1 to 86400, not inf."


@pytest.mark.parametrize(
    "words",
    [
        ("search", "--index", "index", "ship", "--n"),
        ("index", "docs.jsonl", "--out", "index", "--memory"),
        ("generate", "polynomial", "--out", "data.txt", "--queries"),
        ("demo", "--seed"),
    ],
)
def test_integers_that_no_array_can_hold(refuse, words):
    assert refuse(*words, 2**64) == f"{words[-1]} must be at most {2**63 - 1}, not {2**64}."
