"""Declarations of parameters: what they accept, how text spells them, and where they show."""

import inspect
import pickle
import re

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.metrics import NDCG
from rankwright.metrics.catalogue import parse
from rankwright.rankers.catalogue import known_rankers, make_ranker
from rankwright.rankers.parameters.checks import (
    Flag,
    Fraction,
    Integer,
    Jobs,
    ListOf,
    OneOf,
    Real,
    Value,
    read_record,
)
from rankwright.rankers.parameters.declaration import Parameters, describe, fitted, fixed, parameter
from rankwright.rankers.shared.distances import Linear
from rankwright.rankers.shared.exact_step import ExactStep

CLASSES = sorted(known_rankers().values(), key=lambda one: one.__name__)
every_ranker = pytest.mark.parametrize("kind", CLASSES, ids=lambda one: one.__name__)

METRIC = Value(NDCG, "NDCG(k=10)", parse, "a metric such as ndcg@10")
CHECKS = [
    (Integer(1), "a positive integer", [1, 2**40, np.int8(3)], [0, -1, 1.0, True, None, "1", np.float64(1)]),
    (Integer(0), "a non-negative integer", [0], [-1]),
    (Integer(2, optional=True), "None or an integer of at least 2", [None, 2], [1]),
    (Integer(1, 16), "an integer from 1 to 16", [1, 16], [0, 17]),
    (Real(above=0.0), "a positive number", [1e-300, 3, np.float32(2)], [0, -1.0, np.nan, np.inf, True, "1", None]),
    (Real(least=0.0), "a non-negative number", [0, 0.0], [-1e-300]),
    (Real(), "a finite number", [-5.5], [np.inf, None]),
    (Real(least=1.0, most=2.0), "a number of at least 1 and at most 2", [1, 2.0], [0.9, 2.1]),
    (Fraction(optional=True), "None or a number above 0 and at most 1", [None, 1, 0.5], [0.0, 1.5]),
    (OneOf(("a", "b")), "'a' or 'b'", ["a"], ["c", None, ["a"], np.array(["a"])]),
    (OneOf(("a", "b", "c"), optional=True), "None, 'a', 'b' or 'c'", [None, "c"], ["None"]),
    (Flag(), "True or False", [True, np.False_], [0, 1, "true", None]),
    (Flag(optional=True), "None, True or False", [None, False], [0]),
    (ListOf(Integer(2)), "a list, each an integer of at least 2", [(), [2], range(2, 4), np.array([3])], [2, [1]]),
    (ListOf(OneOf(("a", "b")), least=1, distinct=True), None, [("a", "b")], [(), ("a", "a"), "a", None]),
    (ListOf(Integer(1), or_one=True), "a positive integer or a list of them", [5, (5, 6), ()], [0, (0,), "5"]),
    (METRIC, "a NDCG such as NDCG(k=10)", [NDCG()], ["ndcg"]),
    (Jobs(), "None, -1 or a positive integer", [None, -1, 3], [0, -2, True, 1.0]),
]


@pytest.mark.parametrize(("check", "words", "valid", "invalid"), CHECKS, ids=lambda one: str(one)[:30])
def test_a_check_accepts_its_range_and_refuses_the_rest_in_a_sentence(check, words, valid, invalid):
    assert words is None or str(check) == words
    for value in valid:
        check.require("it", value)
    for value in invalid:
        with pytest.raises(InputError) as error:
            check.require("it", value)
        assert str(error.value) == f"it must be {check}, not {value!r}."


@pytest.mark.parametrize(
    ("check", "text", "value"),
    [
        (Integer(1), "12", 12),
        (Integer(1, optional=True), "None", None),
        (Real(), "1e-3", 1e-3),
        (OneOf(("a", "none")), "none", "none"),
        (Flag(), "TRUE", True),
        (ListOf(Integer(1)), "3,4", (3, 4)),
        (ListOf(Integer(1)), "[3, 4]", (3, 4)),
        (ListOf(Integer(1)), "none", ()),
        (ListOf(OneOf(("a", "b"))), "a, b", ("a", "b")),
        (METRIC, "ndcg@5", NDCG(k=5)),
        (
            Value(ExactStep, "", read_record(ExactStep), ""),
            '{"low": 0.5, "refit": true}',
            ExactStep(low=0.5, refit=True),
        ),
        (Jobs(), "-1", -1),
    ],
)
def test_text_spells_values(check, text, value):
    found = check.parse("it", text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("check", "text", "sentence"),
    [
        (Integer(1), "1.5", "it must be a positive integer, not '1.5'."),
        (Real(above=0.0), "fast", "it must be a positive number, not 'fast'."),
        (Real(above=0.0), "inf", "it must be a positive number, not 'inf'."),
        (Integer(1), "none", "it must be a positive integer, not 'none'."),
        (ListOf(Integer(1)), "3,x", "it must be values separated by commas, each a positive integer, not '3,x'."),
        (ListOf(Integer(1)), "[3", "it must be values separated by commas, each a positive integer, not '[3'."),
        (
            Value(ExactStep, "ExactStep()", read_record(ExactStep), "JSON"),
            "[" * 5,
            "it must be JSON, not '[[[[['.",
        ),
        (
            Value(ExactStep, "", read_record(ExactStep), ""),
            '{"hihg": 1}',
            "ExactStep has no field 'hihg'; did you mean 'high'?",
        ),
        (
            Value(ExactStep, "", read_record(ExactStep), ""),
            '{"low": -1}',
            "low must be a non-negative number, not -1.",
        ),
    ],
)
def test_text_that_spells_no_value_is_refused_in_a_sentence(check, text, sentence):
    with pytest.raises(InputError) as error:
        check.parse("it", text)
    assert str(error.value) == sentence


# Declarations


class Shared(Parameters):
    """A family."""

    size: int = parameter(Integer(1), "How large.", default=3, tune=(1, 2))
    colour: str = parameter(OneOf(("red", "blue")), "Which colour.", default="red")


class Child(Shared):
    """A class with parameters.

    More of it.
    """

    own: float = parameter(Real(), "Its own.", default=0.5)
    size: int = parameter(default=4)
    colour: str = fixed(default="blue")
    found_: int = fitted("What was found.")


def test_a_declaration_inherits_what_it_leaves_out():
    own, size = describe(Child)
    assert (own.name, own.default, own.tune) == ("own", 0.5, ())
    assert (size.name, size.default, str(size.check)) == ("size", 4, "a positive integer")
    assert (size.meaning, size.tune) == ("How large.", (1, 2))
    assert Child.grid == {"size": (1, 2)}
    assert [one.name for one in describe(Shared)] == ["size", "colour"]


def test_a_fixed_parameter_cannot_be_set():
    assert Child().colour == "blue"
    with pytest.raises(InputError, match=r"Child has no parameter 'colour'; there are own, size."):
        Child(colour="red")


def test_the_docstring_follows_from_the_declarations():
    assert Child.__doc__ == inspect.cleandoc(
        """A class with parameters.

        More of it.

        Parameters
        ----------
        own : a finite number, default=0.5
            Its own.
        size : a positive integer, default=4
            How large.

        Attributes
        ----------
        found_
            What was found.
        """
    )


def test_a_field_without_a_declaration_is_an_error_of_the_programmer():
    with pytest.raises(TypeError, match=r"Careless.size must be declared by parameter, fixed or fitted"):

        class Careless(Parameters):
            size: int = 3


def test_an_unknown_name_is_refused_with_the_nearest():
    for mistake in (lambda: rw.LambdaMART(max_leafs=3), lambda: rw.LambdaMART().set_params(max_leafs=3)):
        with pytest.raises(
            InputError, match=r"LambdaMART has no parameter 'max_leafs'; did you mean 'max_leaves'?"
        ):
            mistake()
    assert pickle.loads(pickle.dumps(rw.MART(rounds=3))).rounds == 3


# All rankers


@every_ranker
def test_every_parameter_of_every_ranker_is_declared_in_full(kind):
    declared = describe(kind)
    assert declared[0].name == "metric"
    assert declared[-1].name == "n_jobs"
    assert sorted(one.name for one in declared) == sorted(inspect.signature(kind).parameters)
    for one in declared:
        assert re.fullmatch(r".*[.]", one.meaning)
        assert f"{one.name} : {one.check}, default=" in kind.__doc__
        for value in (one.default, *one.tune):
            one.check.require(one.name, value)
    kind().check_parameters()


@every_ranker
def test_defaults_can_be_set_as_the_command_line_spells_them(kind):
    from rankwright.rankers.parameters.spelling import spelled

    for one in describe(kind):
        for value in (one.default, *one.tune):
            assert one.check.parse(one.name, spelled(value)) == value


def test_rankers_are_made_from_text():
    made = make_ranker(
        "lambdamart", monotone='{"0": 1, "bm25": -1}', step='{"on": "validation"}', max_leaves="none"
    )
    assert made.monotone == {"0": 1, "bm25": -1}
    assert made.step == ExactStep(on="validation")
    assert make_ranker("mpboost", distance="linear(0.25)").distance == Linear(0.25)


def test_companions_are_made_from_names_or_with_parameters_of_their_own():
    by_name = make_ranker("calibrated-adaboost", companions="ranksvm,mart").companions
    assert [type(one) for one in by_name] == [rw.RankSVM, rw.MART]
    text = '["adarank", {"ranker": "mart", "rounds": 7, "query_features": ["rank"], "metric": "map"}]'
    first, second = make_ranker("calibrated-adaboost", companions=text).companions
    assert type(first) is rw.AdaRank
    assert (second.rounds, second.query_features, str(second.metric)) == (7, ["rank"], "map")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rnaksvm", "There is no ranker 'rnaksvm'; did you mean 'ranksvm'?"),
        ('[{"ranker": "mart", "round": 7}]', "MART has no parameter 'round'; did you mean 'rounds'?"),
        ('[{"ranker": "mart", "rounds": 0}]', "rounds must be a positive integer, not 0."),
        ('[{"rounds": 7}]', 'A ranker is spelled {"ranker": "mart", "rounds": 50}, not {"rounds": 7}.'),
    ],
)
def test_wrong_companions_are_refused_in_a_sentence(text, sentence):
    with pytest.raises(InputError) as error:
        make_ranker("calibrated-adaboost", companions=text)
    assert str(error.value) == sentence
