from dataclasses import replace

import numpy as np
import pytest

from rankwright.base.errors import InputError
from rankwright.training.history import History, Round
from reports.charts.pictures import texts


def history(train, validation, best=1, diagnostics=None):
    facts = diagnostics or [{}] * len(train)
    both = zip(train, validation, facts, strict=True)
    return History(tuple(Round(place, 1.0, *one) for place, one in enumerate(both, start=1)), best)


def test_the_learning_curve_has_both_parts_and_the_kept_round():
    chart = history([0.5, 0.7, 0.9], [0.4, 0.6, 0.5], best=2).chart("ndcg@10")
    expected = "ndcg@10 in 3 rounds; 2 kept, 0.6000 on validation queries, 0.7000 on training queries."
    assert chart.description == expected
    assert {"training", "validation", "round", "ndcg@10"} <= set(texts(chart))
    assert [(one["x"], one["y"]) for one in chart.spec["datasets"]["marked"]] == [(2, 0.6), (2, 0.7)]


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_part_that_was_not_measured_is_not_drawn(missing):
    chart = history([0.5, 0.6], [missing, missing]).chart()
    assert {one["series"] for one in chart.spec["datasets"]["curves"]} == {"training"}
    with pytest.raises(InputError, match=r"^The metric was not measured in any round"):
        history([missing], [missing]).chart()


def test_no_round_may_be_kept():
    assert history([0.5], [0.4], best=0).chart().description == "metric in 1 round; 0 kept."


def test_misordered_pairs_lie_below_their_bound():
    told = history([0.5, 0.5], [None, None], diagnostics=[{"bound": 0.9, "misordered": 0.5}] * 2)
    assert told.has_bound
    assert {"fraction of misordered pairs", "upper bound"} <= set(texts(told.bound_chart()))


def test_the_metric_lies_above_its_bound():
    told = history([0.5, 0.6, 0.6], [None] * 3, diagnostics=[{"bound": -7.0}, {"bound": 0.0}, {"bound": 0.3}])
    assert dashed(told) == [(3, 0.3)]
    assert told.bound_chart().description.endswith("and its lower bound, 0.3000 in round 3.")
    below = history([-0.5, 0.6], [None, None], diagnostics=[{"bound": -0.9}, {"bound": -7.0}])
    assert dashed(below) == [(1, -0.9)]


def dashed(told):
    curves = told.bound_chart().spec["datasets"]["curves"]
    return [(one["x"], one["y"]) for one in curves if one["look"] == "dashed"]


def test_bounds_that_say_nothing_are_not_drawn():
    above = history([0.5, 0.5], [None, None], diagnostics=[{"bound": 1.2, "misordered": 0.5}] * 2)
    below = history([0.5, 0.6], [None, None], diagnostics=[{"bound": -0.3}, {"bound": -7.0}])
    for told in (above, below):
        assert told.has_bound
        assert told.useful_bounds == 0
        assert dashed(told) == []
        assert "trivial in every round" in told.bound_chart().description


def test_the_metric_is_named():
    named = History((Round(1, 1.0, 0.5, 0.4, {"bound": 0.3}),), 1, metric="ndcg@10")
    assert named.chart().description.startswith("ndcg@10 in 1 round")
    assert named.chart("gain").description.startswith("gain in 1 round")
    assert "ndcg@10 on training queries" in texts(named.bound_chart())


def test_without_a_bound():
    for told in (history([0.5], [None]), history([None], [None], diagnostics=[{"bound": 0.3}]), History((), 0)):
        assert not told.has_bound
        with pytest.raises(InputError, match=r"^These rounds have no bound"):
            told.bound_chart()


def test_the_summary_says_which_round_is_kept_and_why():
    assert history([0.5, 0.6], [0.4, 0.5], best=2).summary == "Round 2 of 2 was kept."
    assert History((), 0, reason="the model was ready").summary == "No round of 0 was kept: the model was ready."
    ended = History((Round(1, 1.0, 0.5),), 1, interrupted=True, reason="there are no validation data")
    assert ended.summary == "Round 1 of 1 was kept: there are no validation data. Ctrl-C ended the fit."


def test_a_history_is_shown_as_its_curve_and_a_table_of_rounds():
    shown = history([0.5, 0.25, 0.2], [None, None, None], diagnostics=[{"r": 0.5}, {}, {}])
    assert str(shown).split("\n") == [
        "Round 1 of 3 was kept.",
        "",
        "round  weight  training metric    r",
        "    1       1           0.5000  0.5",
        "    2       1           0.2500",
        "    3       1           0.2000",
    ]
    assert len(shown.figures) == 1
    assert shown.to_dict()["rounds"][0]["diagnostics"] == {"r": 0.5}
    assert History((), 0).sections == []


def test_a_long_history_has_a_short_table_with_the_kept_round_and_a_folded_one():
    long = history([0.5] * 500, [0.25] * 500, best=77)
    short, whole = long.tables
    numbers = [row[0] for row in short.rows]
    assert {1, 77, 500} <= set(numbers)
    assert len(numbers) == 21
    assert numbers == sorted(numbers)
    assert whole.folded == "All rounds"
    assert len(long.frame()) == len(whole.rows) == 500


def test_the_caption_of_the_curve_says_why_the_round_is_kept():
    kept = replace(history([0.5] * 3, [0.4, 0.6, 0.5], best=1), reason="the middle of 3")
    assert kept.figures[0].caption == "metric by round; round 1 of 3 was kept: the middle of 3."


def test_a_bound_that_is_trivial_and_a_curve_of_two_points_are_left_out():
    facts = {"bound": 1.2, "misordered": 0.5}
    shown = history([0.5] * 3, [None] * 3, diagnostics=[facts] * 3)
    assert "drawn" not in str(shown)
    assert len(shown.figures) == 1
    assert history([0.5, 0.6], [None, None]).figures == []
