"""The result of a tuning as text and tables."""

from dataclasses import replace

import pytest

import rankwright as rw
from auto.small_run import small_data
from rankwright.base.wording import interval, metric_value
from rankwright.rankers.parameters.spelling import spelled


@pytest.fixture(scope="module")
def tuning():
    grid = {"max_leaves": [2, 4, 8, 16], "learning_rate": [0.05, 0.1, 0.2]}
    return rw.tune(rw.LambdaMART(rounds=2, min_documents=2, n_jobs=1), small_data(), grid=grid)


def test_trials_are_listed_the_best_first(tuning):
    best, everything = tuning.tables
    assert (len(best.rows), len(everything.rows)) == (10, 12)
    assert everything.folded == "All 12 trials"
    values = [row[1] for row in everything.rows]
    assert values == sorted((trial.value for trial in tuning.trials), reverse=True)
    assert best.rows[0][0] == tuning.best.number + 1


def test_text_says_the_choice_and_the_selection_bias(tuning):
    text = str(tuning)
    assert text.startswith(tuning.summary)
    for name, value in tuning.best.parameters.items():
        assert name in text
        assert spelled(value) in text
    assert "selection bias, from choosing the best of 12 complete trials" in " ".join(text.split())
    assert "12 trials: 12 complete." in text


def test_every_parameter_has_a_chart(tuning):
    captions = [figure.caption for figure in tuning.figures]
    assert captions[-2:] == ["max_leaves", "learning_rate"]
    assert tuning.charts[-1].description == "ndcg@10 of 12 trials by learning_rate."


def test_a_search_that_ended_early_says_so(tuning):
    assert "The search ended early: time limit." in str(replace(tuning, ended="time limit"))


def test_the_summary_has_the_value_to_expect_with_its_interval(tuning):
    low, high = tuning.correction.interval
    value, limits = metric_value(tuning.correction.value), interval(low, high)
    expected = f"is expected to have a mean ndcg@10 of {value} on new queries (95 % interval {limits})"
    assert expected in tuning.summary


def test_the_chosen_setting_can_be_pasted(tuning):
    setting = " ".join(f"{name}={spelled(value)}" for name, value in tuning.best.parameters.items())
    assert f"chosen setting  {setting} rounds={tuning.best.rounds}" in str(tuning)


def test_the_own_setting_is_marked_wherever_it_ranks(tuning):
    worst = min(tuning.trials, key=lambda trial: trial.value)
    assert str(replace(tuning, baseline=worst)).count("complete (own setting)") == 1


def test_an_own_setting_that_is_best_is_drawn_once(tuning):
    own = replace(tuning, baseline=tuning.best)
    assert own.summary.startswith(
        "None of 11 other settings is better than the own setting of LambdaMART, which is"
    )
    assert [row["name"] for row in own.charts[0].spec["datasets"]["values"]] == ["own setting"]
