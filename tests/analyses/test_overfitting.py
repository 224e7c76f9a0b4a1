"""Overfitting: each point is the value of a cut model."""

import numpy as np
import pytest

import rankwright as rw
from analyses.fitted_models import CLASSES, LINEAR, TEST, TRAIN, TREES
from rankwright.analyses.truncated_models import rounds_of
from rankwright.base.errors import InputError


class TestOverfitting:
    def test_each_point_is_the_value_of_a_cut(self):
        found = rw.analyses.overfitting(
            {"a": TREES, "b": CLASSES.model_}, TRAIN, TEST, metric="map", rounds=[2, 5, 99]
        )
        assert found.curves["a"].rounds == (2, 5, 6)
        assert found.curves["b"].rounds == (2, 4)
        expected = rw.evaluate({"a": TREES.model_.first(5)}, TEST, metrics="map").mean("a", "map")
        assert found.curves["a"].value(5) == expected
        assert found.curves["a"].train[-1] == rw.evaluate(TREES, TRAIN, metrics="map").mean("LambdaMART", "map")
        curve = found.curves["a"]
        assert curve.value(curve.peak) == max(curve.test)
        assert curve.lost.value == pytest.approx(max(curve.test) - curve.test[-1])
        assert found.to_dict()["systems"]["b"]["rounds"] == [2, 4]
        assert [row[0] for row in found.tables[0].rows] == ["a", "b"]
        assert "a, training" in str(found.chart().spec)

    def test_by_default_about_twenty_rounds_are_measured(self):
        assert rounds_of(TREES.model_, None) == (1, 2, 3, 4, 5, 6)
        many = rounds_of(rw.LambdaMART(rounds=50, max_leaves=2, n_jobs=1).fit(TRAIN).model_, None)
        assert (many[0], many[-1], len(many)) == (1, 50, 20)

    @pytest.mark.parametrize(
        ("systems", "rounds", "sentence"),
        [
            ({"a": LINEAR}, None, "a is no boosted model, so it cannot be cut"),
            ({"a": np.zeros(3)}, None, "a is neither a model of rankwright nor a fitted ranker"),
            (TREES, [0], "rounds must be one or more positive integers"),
        ],
    )
    def test_what_has_no_rounds_is_refused(self, systems, rounds, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.overfitting(systems, TRAIN, TEST, rounds=rounds)
