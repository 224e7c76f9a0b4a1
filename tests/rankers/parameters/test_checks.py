"""One dialect: what `--set` takes Python takes, as text, as plain values or as objects; names in any spelling."""

import numpy as np
import pytest
from sklearn.base import clone

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.rankers import make_ranker as from_command_line
from rankwright.metrics import AP, NDCG
from rankwright.models.model_file import encode
from rankwright.rankers.shared.distances import Linear
from rankwright.rankers.shared.exact_step import ExactStep

SAME = [
    # ranker, parameter, its value, and other forms of it: the first is the text that --set takes
    ("lambdamart", "metric", NDCG(k=5), ["ndcg@5", "NDCG@5"]),
    ("lambdamart", "metric", AP(threshold=2), ["map(threshold=2)"]),
    ("lambdamart", "step", ExactStep(on="validation"), ['{"on": "validation"}', {"on": "validation"}]),
    ("lambdamart", "step", None, ["none", None]),
    ("lambdamart", "monotone", {"bm25": 1}, ['{"bm25": 1}', {"bm25": 1}]),
    (
        "lambdamart",
        "query_features",
        ("zscore", "rank"),
        ["zscore,rank", '["zscore", "rank"]', ["zscore", "rank"]],
    ),
    ("lambdamart", "rounds", 7, ["7", 7, np.int64(7)]),
    ("lambdamart", "max_leaves", None, ["none", "None", None]),
    ("lambdamart", "coarse", True, ["true", True]),
    ("mpboost", "distance", Linear(0.25), ["linear(0.25)", "Linear(0.25)"]),
    ("ranknet", "hidden", (10, 5), ["10,5", "[10, 5]", [10, 5]]),
    ("calibrated-adaboost", "leaves", (3, 4), ["3,4", [3, 4], ("3", "4")]),
]


@pytest.mark.parametrize(("name", "parameter", "value", "forms"), SAME, ids=lambda one: str(one)[:25])
def test_a_parameter_means_the_same_in_every_form(name, parameter, value, forms):
    text = forms[0]
    for made in (
        from_command_line(name, [f"{parameter}={text}"], None),
        *(rw.make_ranker(name, **{parameter: form}) for form in forms),
        *(type(rw.make_ranker(name))(**{parameter: form}) for form in forms),
        *(rw.make_ranker(name).set_params(**{parameter: form}) for form in forms),
    ):
        made.check_parameters()
        found = getattr(made, parameter)
        assert (tuple(found) if isinstance(found, list) else found) == value
        copied = clone(made)
        assert getattr(copied, parameter) == found


def test_the_parameters_are_kept_as_they_were_given():
    given = ["zscore"]
    ranker = rw.LambdaMART("ndcg@5", query_features=given, step='{"low": 0.5}')
    assert ranker.get_params()["metric"] == "ndcg@5"
    assert ranker.get_params()["query_features"] is given
    assert ranker.metric == NDCG(k=5)
    assert ranker.step == ExactStep(low=0.5)
    assert clone(ranker).get_params() == ranker.get_params()
    assert "metric='ndcg@5'" in repr(ranker)
    assert rw.LambdaMART.metric == NDCG(k=10)


def judged(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)).astype(np.float32)
    return rw.RankingData(X, np.clip(np.round(X[:, 0] + 1), 0, 3), np.repeat(np.arange(10), 8))


def test_the_form_of_a_parameter_does_not_change_the_model():
    train, valid = judged(1), judged(2)
    values = {"metric": AP(), "query_features": ("rank",), "rounds": 4, "step": ExactStep(high=2.0)}
    texts = {"metric": "MAP", "query_features": "rank", "rounds": "4", "step": {"high": 2.0}}
    one, other = (rw.LambdaMART(n_jobs=1, **given).fit(train, validation=valid) for given in (values, texts))
    assert encode(one.model_) == encode(other.model_)
    assert one.score(valid) == other.score(valid)
    assert one.set_params(metric="ndcg@5").score(valid) == one.set_params(metric=NDCG(k=5)).score(valid)


def test_companions_in_every_form():
    for form in (
        "ranksvm,mart",
        '["RankSVM", {"ranker": "mart"}]',
        ["ranksvm", "MART"],
        [rw.RankSVM(), {"ranker": "mart"}],
        (rw.RankSVM(), rw.MART()),
    ):
        made = rw.CalibratedAdaBoost(companions=form)
        made.check_parameters()
        assert [type(one) for one in made.companions] == [rw.RankSVM, rw.MART]
    [mart] = rw.CalibratedAdaBoost(companions=[{"ranker": "mart", "rounds": 7, "metric": "map"}]).companions
    assert (mart.rounds, mart.metric) == (7, AP())


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"metric": "ndgc@5"}, "There is no metric 'ndgc'; did you mean 'ndcg'?"),
        ({"metric": 5}, "metric must be a Metric such as NDCG(k=10), not 5."),
        ({"rounds": "many"}, "rounds must be None or a positive integer, not 'many'."),
        ({"rounds": "0"}, "rounds must be None or a positive integer, not '0'."),
        ({"step": {"hihg": 1}}, "ExactStep has no field 'hihg'; did you mean 'high'?"),
        (
            {"monotone": "up"},
            "monotone must be None or a mapping from feature numbers or names to -1, 0 or 1, not 'up'.",
        ),
    ],
)
def test_a_form_that_means_nothing_is_refused_by_fit(parameters, sentence):
    ranker = rw.LambdaMART(**parameters)
    with pytest.raises(InputError) as error:
        ranker.fit(judged(1))
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("LambdaMART", rw.LambdaMART),
        ("lambda-mart", rw.LambdaMART),
        ("LAMBDA_MART", rw.LambdaMART),
        ("AdaBoost.MH", rw.AdaBoostMH),
        ("adaboost-mh", rw.AdaBoostMH),
        ("CalibratedAdaBoost", rw.CalibratedAdaBoost),
        ("svm map", rw.SVMmap),
    ],
)
def test_rankers_are_found_by_name_in_any_spelling(name, kind):
    assert type(rw.make_ranker(name)) is kind


def test_every_ranker_is_found_by_the_name_of_its_class():
    from rankwright.rankers.catalogue import known_rankers

    for name, kind in known_rankers().items():
        assert type(rw.make_ranker(kind.__name__)) is kind
        assert type(rw.make_ranker(name)) is kind


def test_a_wrong_name_or_value_is_refused_at_once():
    with pytest.raises(InputError, match=r"There is no ranker 'LambdaMRT'; did you mean 'lambdamart'\?"):
        rw.make_ranker("LambdaMRT")
    with pytest.raises(InputError, match=r"rounds must be a positive integer, not 0\."):
        rw.make_ranker("mart", rounds=0)
    with pytest.raises(InputError, match=r"MART has no parameter 'n_estimators': it is called rounds here\."):
        rw.make_ranker("mart", n_estimators=10)
