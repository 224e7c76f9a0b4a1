"""Options from signatures: what is read from the source equals what Python says, and becomes options."""

from __future__ import annotations

import inspect
from operator import attrgetter

import pytest
from typer.main import get_command

import rankwright as rw
from rankwright.cli.app import app
from rankwright.cli.options.faces import FACES
from rankwright.cli.options.option_groups import REQUIRED, as_command, option
from rankwright.cli.options.signatures import Declared, Given, declared, help_text, options_of, summary
from rankwright.cli.verbs.tasks.analyse import KINDS

FUNCTIONS = ["evaluate", "cross_validate", "make_folds", "tune", "export", "load"]
FUNCTIONS += ["analyses." + kind.function for kind in KINDS.values() if kind.function != "cutoff_curves"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_source_says_what_python_says(name):
    parameters = inspect.signature(attrgetter(name)(rw)).parameters.values()
    expected = {
        each.name: each.default
        for each in parameters
        if (each.kind is each.KEYWORD_ONLY or each.default is not each.empty) and not each.name.startswith("on_")
    }
    assert {each.name: each.default for each in declared(name).values()} == expected
    assert [each.name for each in declared(name).values() if not each.meaning and each.name != "n_jobs"] == []


@pytest.mark.parametrize("name", ["compare", "analyses.cutoff_curves"])
def test_options_that_a_function_passes_on(name):
    assert declared(name)["min_relevant"] == declared("evaluate")["min_relevant"]
    assert {"convention", "queries", "drop_one_label", "n_jobs"} <= declared(name).keys()


def test_a_parameter_that_is_explained_elsewhere():
    assert declared("cross_validate")["folds"].meaning == declared("make_folds")["folds"].meaning
    assert declared("analyses.ablation")["folds"].meaning == declared("make_folds")["folds"].meaning
    assert declared("blend")["metric"].default == "NDCG(k=10)"


def test_the_parameters_of_a_ranker():
    found = declared("AutoRanker")
    assert found["time_limit"].meaning == rw.AutoRanker.declared["time_limit"].meaning
    assert {"name", "estimate_"} & found.keys() == set()


def test_summaries_are_first_sentences():
    assert summary("analyses.pair_errors") == rw.analyses.pair_errors.__doc__.partition("\n")[0]


@pytest.mark.parametrize(
    ("meaning", "default", "shown"),
    [
        ('Whether to drop `a` or `"b"`.', False, "Drop a or b."),
        ("Time. None: no limit.", None, "Time. By default no limit."),
        ("Fits; None: one per thread.", None, "Fits; by default one per thread."),
        ("The tool. By default `trec`.", "standard", "The tool."),
        ("The tool. By default `trec`.", None, "The tool. By default trec."),
    ],
)
def test_descriptions_become_help(meaning, default, shown):
    assert help_text(Declared("x", "str", default, meaning)) == shown


def test_a_verb_receives_the_values_of_the_function():
    received = {}

    def verb(*, out: str = option("File.", "FILE", default=REQUIRED), how: Given = options_of("export")):
        received.update(how, out=out)

    command = as_command(verb)
    parameters = inspect.signature(command).parameters
    assert parameters["no_missing"].default is False
    assert parameters["feature_names"].annotation.__metadata__[0].metavar == "LIST"
    given = {name: each.default for name, each in parameters.items()}
    command(**given | {"out": "x", "no_missing": True, "feature_names": "a, b", "format": "solr"})
    assert (received["missing"], received["feature_names"], received["out"]) == (False, ["a", "b"], "x")


def test_messages_spell_parameters_as_options():
    from rankwright.base.errors import InputError, parameter

    def verb(*, how: Given = options_of("evaluate"), refit: bool = option("Flag.", default=False)):
        raise InputError(f"{parameter('n_jobs')}, {parameter('refit=True')}, {parameter('min_relevant=3')}.")

    command = as_command(verb)
    given = {name: each.default for name, each in inspect.signature(command).parameters.items()}
    with pytest.raises(InputError, match=r"^--jobs, --refit, --min-relevant 3\.$"):
        command(**given)


def test_nan_is_in_no_range():
    """Typer below 0.29 would take it."""
    from rankwright.base.errors import InputError

    def verb(*, max_age: float = option("Age.", "SECONDS", min=0, max=9, default=1.0)):
        pytest.fail("reached")

    with pytest.raises(InputError, match=r"^--max-age must be a number, not nan\.$"):
        as_command(verb)(max_age=float("nan"))


def test_every_face_is_used():
    """What is said of a parameter that no verb has would mislead."""
    names = {
        each.name
        for name in (*FUNCTIONS, "compare", "blend", "AutoRanker", "analyses.cutoff_curves", "BinnedData.create")
        for each in declared(name).values()
    }
    assert FACES.keys() - names == set()


def test_all_options_have_help():
    def verbs(group):
        for name in group.commands:
            verb = group.full_command(name)
            yield from verbs(verb) if hasattr(verb, "commands") else [verb]

    for verb in verbs(get_command(app)):
        assert [each.name for each in verb.params if not each.help] == []
