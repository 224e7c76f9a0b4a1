"""Configurations: options of `train` and `crossval` in files, saved and given again."""

from __future__ import annotations

import json
import sys
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright.cli.options.config import as_text, read_config
from rankwright.models import load

TOML = """\
ranker = "lambdamart"
train = "{fold}/train.txt"
valid = "{fold}/vali.txt"
model = "{model}"
jobs = 1

[set]
rounds = 4
metric = "ndcg@5"
coarse = true
query_features = ["zscore", "rank"]
monotone = {{1 = 1}}
"""


@pytest.fixture
def config(fold, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(TOML.format(fold=fold, model=tmp_path / "m.rw"))
    return path


def parameters(path):
    return load(path).about["parameters"]


def test_a_file_gives_all_options(run, config, tmp_path):
    found = run("train", "--config", config, "--json").json
    assert (found["ranker"], found["metric"], found["rounds"]) == ("lambdamart", "ndcg@5", 4)
    assert found["validation"] is not None
    assert parameters(tmp_path / "m.rw")["query_features"] == "('zscore', 'rank')"


def test_the_command_line_overrides_the_file(run, config, tmp_path):
    words = ("--model", tmp_path / "other.rw", "--set", "rounds=2", "--json")
    found = run("train", "mart", "--config", config, *words).json
    assert (found["ranker"], found["metric"], found["rounds"]) == ("mart", "ndcg@5", 2)
    assert (tmp_path / "other.rw").exists()
    assert not (tmp_path / "m.rw").exists()


@pytest.mark.parametrize("suffix", ["toml", "json", "yaml", "yml"])
def test_what_was_run_is_saved_and_runs_again(run, fold, tmp_path, suffix):
    saved, first, again = tmp_path / f"run.{suffix}", tmp_path / "first.rw", tmp_path / "again.rw"
    sets = (
        "rounds=3",
        "metric=map(threshold=2)",
        'monotone={"2": -1}',
        "query_features=zscore,rank",
        "patience=none",
    )
    words = [word for one in sets for word in ("--set", one)]
    run("train", "lambdamart", "--train", fold / "train.txt", "--model", first, *words, "--save-config", saved)
    options = read_config(saved)
    assert options == {
        "ranker": "lambdamart",
        "train": str(fold / "train.txt"),
        "model": str(first),
        "set": {
            "rounds": 3,
            "metric": "map(threshold=2)",
            "monotone": {"2": -1},
            "query_features": "zscore,rank",
            "patience": "none",
        },
    }
    assert run("train", "--config", saved, "--model", again).code == 0
    assert first.read_bytes() == again.read_bytes()


def test_crossval_takes_and_saves_a_configuration(run, folder, tmp_path):
    path, saved = tmp_path / "run.json", tmp_path / "saved.json"
    options = {"ranker": "adarank", "data": str(folder), "metrics": ["ndcg@3", "map"], "set": {"rounds": 2}}
    path.write_text(json.dumps(options))
    found = run("crossval", "--config", path, "--save-config", saved, "--json").json
    assert set(found["mean"]) == {"ndcg@3", "map"}
    assert run("crossval", "--config", saved, "--json").json["mean"] == found["mean"]


def test_names_may_have_hyphens_or_underscores(run, config):
    config.write_text('"n-features" = 9\n' + config.read_text())
    assert run("train", "--config", config, "--json").json["features"] == 9
    config.write_text(config.read_text().replace('"n-features" = 9', "n_features = 8"))
    assert run("train", "--config", config, "--json").json["features"] == 8


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('trian = "x"', "{} has the option 'trian', which `train` does not take; did you mean 'train'?"),
        ('ranker = "mart"\n[set]\nround = 3', "MART has no parameter 'round'; did you mean 'rounds'?"),
        ("set = 3", "{}: 'set' must be a table of parameters and their values."),
        ("model = {a = 1}", "{}: the option 'model' must not be a table."),
        ("a =", "{} cannot be read as TOML: Invalid value (at end of document)."),
    ],
)
def test_mistakes_in_a_file(refuse, fold, tmp_path, text, sentence):
    path = tmp_path / "run.toml"
    path.write_text(text)
    words = ("--train", fold / "train.txt", *(() if "model" in text else ("--model", tmp_path / "m.rw")))
    assert refuse("train", "--config", path, *words) == sentence.format(path)


def test_a_value_of_the_wrong_kind_names_the_option(run, config):
    config.write_text(config.read_text().replace("jobs = 1", 'jobs = "many"'))
    code, _, err = run("train", "--config", config)
    assert code == 2
    assert "--jobs" in err


@pytest.mark.parametrize("option", ["--config", "--save-config"])
def test_another_format_is_refused(refuse, config, tmp_path, option):
    (tmp_path / "run.ini").write_text("")
    assert refuse("train", "--config", config, option, tmp_path / "run.ini") == (
        f"{tmp_path / 'run.ini'} is no configuration file: its name must end with .toml, .yaml, .yml or .json."
    )


def test_a_file_that_is_not_there(refuse, tmp_path):
    assert refuse("train", "--config", tmp_path / "no.toml") == f"There is no file {tmp_path / 'no.toml'}."


def test_yaml_needs_its_package(refuse, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    (tmp_path / "run.yaml").write_text("ranker: mart\n")
    assert refuse("train", "--config", tmp_path / "run.yaml") == (
        "A YAML file needs PyYAML: pip install 'rankwright[yaml]'."
    )


def test_yaml_executes_nothing(refuse, tmp_path):
    (tmp_path / "run.yaml").write_text("ranker: !!python/object/apply:os.getcwd []\n")
    assert "cannot be read as YAML" in refuse("train", "--config", tmp_path / "run.yaml")


LAUGHS = "a0: &a0 [ha, ha]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("laughs.yaml", LAUGHS, "aliases (*name) and tags (!name) are not allowed"),
        ("self.yaml", "set: &x\n  rounds: *x\n", "aliases (*name) and tags (!name) are not allowed"),
        ("list.yaml", "train: &x [1, *x]\n", "aliases (*name) and tags (!name) are not allowed"),
        ("tag.yaml", "set: !!bool x\n", "aliases (*name) and tags (!name) are not allowed"),
        ("date.yaml", "set: {rounds: 2020-01-01}\n", "2020-01-01 is a date; write it in quotation marks"),
        ("time.toml", "jobs = 07:32:00\n", "07:32:00 is a time; write it in quotation marks"),
        ("nul.json", '{"train": "a\\u0000b"}', "a text has the character NUL: a\\x00b"),
        ("twice.yaml", "jobs: 1\njobs: 2\n", "jobs is given twice"),
        ("twice.json", '{"set": {"rounds": 1, "rounds": 2}}', "rounds is given twice"),
        ("deep.json", f'{{"features": {"[" * 500}{"]" * 500}}}', "it is nested too deeply"),
        ("hex.toml", f"jobs = 0x{'f' * 9000}\n", "a number has too many digits"),
        ("dots.toml", f"{'a.' * 30_000}a = 1\n", "a line has more than 500 dots"),
    ],
)
def test_hostile_files_get_one_sentence(refuse, tmp_path, name, text, sentence):
    path = tmp_path / name
    path.write_text(text)
    assert refuse("train", "--config", path) == f"{path} cannot be read as {path.suffix[1:].upper()}: {sentence}."


@pytest.mark.parametrize("suffix", ["toml", "json", "yaml"])
def test_an_endless_file(refuse, tmp_path, suffix):
    path = tmp_path / f"endless.{suffix}"
    path.symlink_to("/dev/zero")
    assert refuse("train", "--config", path) == f"{path} is too large: a configuration file has at most 64 KiB."


def test_a_sentence_about_a_long_value_is_short(refuse, tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"ranker": "x" * 50_000, "train": "t.txt", "model": str(tmp_path / "m.rw")}))
    sentence = refuse("train", "--config", path)
    assert sentence.startswith("There is no ranker 'xxx")
    assert len(sentence) < 1000


def test_nothing_is_saved_of_a_run_that_fails(refuse, tmp_path):
    words = ("--train", tmp_path / "no.txt", "--model", tmp_path / "m.rw", "--save-config", tmp_path / "run.toml")
    refuse("train", "mart", *words)
    assert not (tmp_path / "run.toml").exists()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@examples(100)
@given(st.dictionaries(texts, values, max_size=4))
def test_toml_is_read_as_it_was_written(tmp_path_factory, options):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    assert tomllib.loads(as_text(options, path)) == options
