"""Learning curves beside the bounds that theorems give."""

import pytest

import rankwright as rw
from analyses.fitted_models import LINEAR, TRAIN, TREES
from rankwright.base.errors import InputError


class TestBound:
    def test_the_metric_is_above_its_bound(self):
        found = rw.analyses.bound_curve(LINEAR)
        assert (found.ranker, found.measure, found.side) == ("AdaRank", "map", "lower")
        assert found.values.tolist() == [one.train for one in LINEAR.history_]
        assert (found.bounds <= found.values + 1e-12).all()
        assert "lower bound" in str(found.chart().spec)

    def test_misordered_pairs_are_below_their_bound(self):
        found = rw.analyses.bound_curve(rw.RankBoost(rounds=12, n_jobs=1).fit(TRAIN))
        assert found.side == "upper"
        assert (found.values <= found.bounds + 1e-12).all()
        assert len(found.tables[0].rows) == 10
        assert found.summary == (
            "The upper bound of the misordered pairs of RankBoost in training improves in 12 of 12 rounds."
        )
        assert len(found.to_dict()["bounds"]) == 12

    @pytest.mark.parametrize(
        ("ranker", "sentence"),
        [
            (TREES, "LambdaMART records no bound; AdaRank, RankBoost and MPBoost do."),
            (LINEAR.model_, "The bound is recorded during training: give a ranker after fit"),
        ],
    )
    def test_what_has_no_bound_is_refused(self, ranker, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.bound_curve(ranker)
