"""Values by fold in time order."""

import json

import numpy as np
import pytest

import rankwright as rw
from crossval.test_folds import weeks
from rankwright.crossval.time_drift import TimeDrift


def test_the_change_is_that_of_two_independent_means():
    first, last = np.array([0.2, 0.4, 0.6, np.nan]), np.array([0.5, 0.7])
    drift = TimeDrift("map", ("1", "2", "3"), {"A": [first, np.array([1.0]), last]})
    assert drift.means("A") == pytest.approx([0.4, 1.0, 0.6])
    change = drift.change("A")
    error = np.sqrt(0.04 / 3 + 0.02 / 2)
    assert change.value == pytest.approx(0.2)
    assert (change.high - change.low) / 2 == pytest.approx(12.7062 * error, rel=1e-4)  # Student's t, one degree
    assert drift.summary.startswith(
        "From the first fold (1) to the last (3), the mean map of A goes from 0.4000 to"
    )
    assert "may be chance" in drift.summary


def test_a_fold_of_one_query_has_no_interval():
    drift = TimeDrift("map", ("1", "2"), {"A": [np.array([0.5]), np.array([0.25])]})
    assert np.isnan(drift.change("A").low)
    assert drift.summary.endswith("goes from 0.5000 to 0.2500 (-0.2500).")
    assert drift.to_dict()["change"]["A"] == {"value": -0.25, "interval": [None, None]}


def test_cross_validation_in_time_order_shows_it():
    result = rw.cross_validate("ranksvm", weeks(), folds=3, time_column="week", metrics="map")
    assert "From the first fold (4) to the last (7)" in str(result)
    facts = json.loads(json.dumps(result.to_dict()))
    assert facts["drift"]["means"]["ranksvm"] == pytest.approx([fold["metrics"]["map"] for fold in facts["folds"]])
    assert facts["folds"][0]["period"] == "4"
    assert rw.cross_validate("ranksvm", weeks(), folds=3, metrics="map").drift() is None


def test_several_rankers_in_time_order():
    compared = rw.cross_validate({"a": "ranksvm", "b": rw.AdaRank(rounds=2)}, weeks(), folds=3, time_column="week")
    assert set(compared.drift().values) == {"a", "b"}
    assert "drift" in compared.to_dict()
    assert compared.drift().chart()


def test_tuning_within_folds_is_in_time_order_too(monkeypatch):
    seen = []

    def watched(data, column):
        seen.append({float(week) for week in data.shown[column]})
        return original(data, column)

    from rankwright.data.query_times import QueryTimes

    original = QueryTimes.of
    monkeypatch.setattr("rankwright.training.training_set.QueryTimes.of", staticmethod(watched))
    rw.cross_validate(
        "ranksvm", weeks(12), folds=2, time_column="week", tune="out-of-fold", grid={"C": [1.0]}, metrics="map"
    )
    inner = [weeks_seen for weeks_seen in seen if max(weeks_seen) < 11]
    assert sorted(map(max, inner))[:2] == [5.0, 8.0]
