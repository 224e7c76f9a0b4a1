"""Metric transfer: every cell is the value of its own fit."""

import pytest

import rankwright as rw
from rankers.test_lambdamart import judged
from rankwright.base.errors import InputError

DATA, TEST = judged(), judged(seed=2)  # 30 queries each
FAST = rw.AdaRank("map", n_jobs=1)


def calls():
    done = []
    return done, lambda: done.append(1)


class TestMetricTransfer:
    def test_every_cell_is_the_value_of_its_own_fit(self):
        done, on_fit = calls()
        found = rw.analyses.metric_transfer(FAST, [(DATA, TEST)], metrics="map,ndcg@3", on_fit=on_fit)
        assert len(done) == 2
        for trained in ("map", "ndcg@3"):
            ranker = rw.AdaRank(trained, n_jobs=1).fit(DATA)
            for measured in ("map", "ndcg@3"):
                test, train = (
                    rw.evaluate(ranker, part, metrics=measured).mean("AdaRank", measured) for part in (TEST, DATA)
                )
                assert found.test[trained, measured] == test
                assert found.train[trained, measured] == train
        difference = found.against_own["ndcg@3", "map"].difference
        assert difference == pytest.approx(found.test["ndcg@3", "map"] - found.test["map", "map"])
        assert len(found.tables[0].rows) == 4
        assert found.to_dict()["values"][1]["measured"] == "ndcg@3"
        assert "trained with map" in str(found.chart().spec)

    def test_folds_are_made_and_repeated(self):
        once = rw.analyses.metric_transfer(FAST, DATA, metrics=["map", "mrr"], folds=3)
        twice = rw.analyses.metric_transfer(FAST, DATA, metrics=["map", "mrr"], folds=3, repeats=2)
        assert once.n_queries == twice.n_queries == 30
        expected = rw.cross_validate(FAST, DATA, folds=3, metrics=["map"])
        assert once.test["map", "map"] == pytest.approx(expected.per_query("map").mean())

    def test_a_ranker_to_which_the_metric_means_nothing_is_told(self):
        found = rw.analyses.metric_transfer(rw.RankSVM(n_jobs=1), [(DATA, TEST)], metrics="map,mrr")
        assert found.summary == "The metric in training makes no difference to RankSVM on 30 test queries."

    @pytest.mark.parametrize("metrics", ["map", ["map", "map"]])
    def test_one_metric_is_refused(self, metrics):
        with pytest.raises(InputError, match="At least two different metrics are needed, not map"):
            rw.analyses.metric_transfer(FAST, DATA, metrics=metrics)
