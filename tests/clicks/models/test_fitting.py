import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.clicks.models.fitting import MODELS, PredictedClicks

DATA = rw.synthetic.polynomial_queries(60, n_documents=5, seed=3)
RANKERS = {"old": DATA.X[:, 0], "new": DATA.X[:, 1]}


def simulated(behaviour="position", sessions=100):
    return rw.clicks.simulate(DATA, RANKERS, behaviour, sessions=sessions)


@pytest.mark.parametrize(
    ("behaviour", "best"),
    [
        ("cascade", {"cascade", "simplified_bayesian", "bayesian", "browsing"}),
        ("browsing", {"browsing"}),
        ("dependent", {"browsing", "bayesian"}),
    ],
)
def test_the_model_of_the_users_predicts_best(behaviour, best):
    result = rw.clicks.compare_click_models(simulated(behaviour))
    assert result.best in best
    assert set(result.models) == set(MODELS)


def test_position_bias_is_found_in_a_biased_log_only():
    biased = rw.clicks.compare_click_models(simulated(), ["position", "document_rates", "position_rates"])
    assert biased.best == "position"
    free = rw.clicks.fit_click_model(simulated("none", 300), "position")
    assert (free.examination > 0.95).all()


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_a_result(name):
    model = rw.clicks.fit_click_model(simulated(sessions=10), name)
    json.dumps(model.to_dict() | {"text": str(model)}, allow_nan=False)
    assert str(model).startswith(f"The {model.name} of 600 lists")
    assert len(model.tables) >= 1


def test_the_comparison_is_a_result():
    result = rw.clicks.compare_click_models(simulated(sessions=10), ["coec", "cascade"])
    assert list(result.frame()["model"]) == sorted(
        result.predicted, key=lambda name: -result.predicted[name].log_likelihood
    )
    assert len(result.charts) == 1


def test_perplexity_and_likelihood_by_hand():
    log = rw.clicks.from_sessions([("q", ["a", "b"], [1, 0]), ("q", ["a"], [0])])
    model = rw.clicks.fit_click_model(log, "position_rates")
    predicted = PredictedClicks.of(model, log)
    assert predicted.by_position == pytest.approx((2.0, 4 / 3))  # half a click in two impressions
    assert predicted.perplexity == pytest.approx(5 / 3)
    assert predicted.log_likelihood == pytest.approx(np.log(0.5) + np.log(0.75) / 2)


@pytest.mark.parametrize(
    ("log", "model", "options", "sentence"),
    [
        (simulated(), "postion", {}, "There is no click model 'postion'; did you mean 'position'?"),
        (rw.clicks.ClickLog([], [], [], [], []), "position", {}, "The log has no impressions."),
        (
            rw.clicks.ClickLog([1], [1], [1], [1], [0]),
            "position",
            {},
            "The log has no clicks, from which nothing can be learned.",
        ),
        (
            rw.clicks.ClickCounts.of(simulated()),
            "bayesian",
            {},
            "The click model 'bayesian' is fitted to a ClickLog; counts do not hold whole lists.",
        ),
        (simulated(), "cascade", {"max_steps": 3}, "The click model 'cascade' has no option 'max_steps'."),
        ([1, 2], "cascade", {}, "A click model is fitted to a ClickLog or ClickCounts, not list."),
    ],
)
def test_what_cannot_be_fitted_is_refused(log, model, options, sentence):
    with pytest.raises(InputError) as refused:
        rw.clicks.fit_click_model(log, model, **options)
    assert str(refused.value) == sentence


def test_too_few_sessions_are_refused():
    log = rw.clicks.from_sessions([("q", ["a"], [1])])
    with pytest.raises(InputError, match="too few sessions"):
        rw.clicks.compare_click_models(log)
