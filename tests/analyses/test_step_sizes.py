"""Steps of rounds: weights of the history, and spreads of the leaves."""

import numpy as np
import pytest

import rankwright as rw
from analyses.fitted_models import CLASSES, LINEAR, TRAIN, TREES
from rankwright.base.errors import InputError


class TestSteps:
    def test_weights_are_those_of_the_history(self):
        found = rw.analyses.steps({"a": LINEAR, "b": TREES})
        assert found.measure == "weight"
        assert found.by_system["a"].tolist() == [one.weight for one in LINEAR.history_]
        assert found.to_dict()["systems"]["b"] == found.by_system["b"].tolist()
        assert "step (weight of the round)" in str(found.chart().spec)

    def test_the_spread_is_that_of_what_a_round_adds_to_training_scores(self):
        found = rw.analyses.steps({"a": TREES.model_})
        before, expected = np.zeros(len(TRAIN)), []
        for rounds in range(1, 7):
            scores = TREES.model_.first(rounds).predict(TRAIN)
            expected.append((scores - before).std())
            before = scores
        np.testing.assert_allclose(found.by_system["a"], expected, rtol=1e-6)

    def test_a_round_of_classes_counts_all_its_trees(self):
        assert len(rw.analyses.steps(CLASSES.model_).by_system["McRank"]) == 4

    def test_the_table_has_fifths_of_the_rounds(self):
        rows = rw.analyses.steps(TREES).tables[0].rows
        assert [row[1] for row in rows] == ["1", "2", "3 to 4", "5", "6"]

    @pytest.mark.parametrize(
        ("systems", "measure", "sentence"),
        [
            ({"a": TREES.model_}, "weight", "a is no ranker fitted in rounds"),
            ({"a": LINEAR}, "spread", "a is no boosted model of trees"),
            ({"a": np.zeros(3)}, None, "a is no boosted model of trees"),
            ({"a": TREES}, "size", "measure must be 'weight' or 'spread', not 'size'."),
        ],
    )
    def test_what_has_no_steps_is_refused(self, systems, measure, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.steps(systems, measure=measure)
