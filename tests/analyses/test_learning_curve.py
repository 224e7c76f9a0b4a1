"""Learning curve: points are out of fold, sizes are checked."""

import numpy as np
import pytest

import rankwright as rw
from rankers.test_lambdamart import judged
from rankwright.analyses.learning_curve import count_learning_fits
from rankwright.base.errors import InputError
from rankwright.crossval.splits import SplitOptions

DATA, TEST = judged(), judged(seed=2)  # 30 queries each
FAST = rw.AdaRank("map", n_jobs=1)


def calls():
    done = []
    return done, lambda: done.append(1)


class TestLearningCurve:
    def test_points_are_out_of_fold_and_the_last_uses_all_training_queries(self):
        done, on_fit = calls()
        how = {"sizes": [5, 10, 24], "draws": 2, "metric": "map"}
        found = rw.analyses.learning_curve(FAST, DATA, on_fit=on_fit, **how)
        assert len(done) == count_learning_fits(DATA, SplitOptions(), [5, 10, 24], 2) == 5 * (2 + 2 + 1)
        assert [point.n_queries for point in found.points] == [5, 10, 24]
        expected = rw.cross_validate(FAST, DATA, metrics=["map"]).per_query("map").mean()
        assert found.points[-1].value.value == pytest.approx(expected)
        assert found.n_queries == 30
        assert found.gain.value == pytest.approx(found.doubled.value - found.now.value)
        assert found.gain.low < found.gain.value < found.gain.high
        assert found.curve[0][0] == pytest.approx(5)
        assert found.curve[-1][0] == pytest.approx(60)
        assert [row[0] for row in found.tables[0].rows] == [5, 10, 24, 30, 60]
        assert "twice" in found.summary
        assert found.to_dict()["points"][0]["train_queries"] == 5
        assert "fitted" in str(found.chart().spec)
        again = rw.analyses.learning_curve(FAST, DATA, **how, workers=2)
        assert again.to_dict() == found.to_dict()

    def test_default_sizes_are_halves(self):
        found = rw.analyses.learning_curve(FAST, DATA, draws=2)
        assert [point.n_queries for point in found.points] == [6, 12, 24]

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"sizes": [5, 10, 25]}, "A subset of 25 queries cannot be drawn: a fold has 24 training queries."),
            ({"sizes": [5, 10]}, r"sizes must be at least 3 ascending numbers of queries, .* not \[5, 10\]"),
            ({"sizes": [10, 5, 20]}, "sizes must be at least 3 ascending"),
            ({"sizes": [0.001, 0.5, 1.0]}, "fractions that give at least one, not 0.001"),
            ({"sizes": [5, 10, 1.5]}, "fractions that give at least one, not 1.5"),
            ({"draws": 1}, "draws must be an integer of at least 2, not 1"),
            ({"folds": 31}, "31 folds need at least 31 queries, not 30"),
        ],
    )
    def test_sizes_that_cannot_be_drawn_are_refused(self, options, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.learning_curve(FAST, DATA, **options)

    def test_few_queries_are_refused(self):
        few = DATA.take_queries(np.arange(15))
        with pytest.raises(InputError, match="needs at least 20 training queries per fold, not 12"):
            rw.analyses.learning_curve(FAST, few)
