import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError

QUERIES = rw.synthetic.polynomial_queries(240, n_documents=10, n_features=8, n_active=5, seed=3)
DATA, NEW = rw.split_queries(QUERIES, 0.5, 0.5)
RANKER = rw.LambdaMART(rounds=30, n_jobs=1)


def learned(behaviour, data=DATA, **options):
    log = rw.clicks.simulate(data, DATA.X[:, 0], behaviour, sessions=20)
    return rw.clicks.learn(log, data, RANKER, n_jobs=1, **options)


@pytest.mark.parametrize("behaviour", ["position", "trust", "browsing", "cascade", "dependent"])
def test_corrected_clicks_rank_better_than_naive_ones(behaviour):
    result = learned(behaviour)
    assert result.chosen != "naive"
    naive, corrected = (result.rankers[name].score(NEW) for name in ("naive", result.chosen))
    assert corrected > naive + 0.02
    assert result.ranker is result.rankers[result.chosen]
    assert "ahead of its naive twin by +0." in result.reason
    json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.parametrize("by", ["weights", "unbiased"])
def test_impressions_teach_too(by):
    result = learned("position", by=by, models=["position"])
    assert (result.chosen, sorted(result.rankers)) == (by, sorted(["naive", by]))
    assert result.ranker.score(NEW) > result.rankers["naive"].score(NEW) + 0.02
    assert by in str(result)
    assert learned("none", by=by, models=["position"]).chosen == "naive"


def test_rankers_that_do_not_weight_clicks_are_refused():
    log = rw.clicks.simulate(DATA, DATA.X[:, 0], sessions=2)
    with pytest.raises(InputError, match="RankSVM does not learn by 'unbiased'; LambdaMART does"):
        rw.clicks.learn(log, DATA, rw.RankSVM(), by="unbiased")
    with pytest.raises(InputError, match="by must be 'judgements', 'weights' or 'unbiased', not 'weigths'"):
        rw.clicks.learn(log, DATA, by="weigths")


def test_without_position_bias_the_naive_twin_is_chosen():
    result = learned("none")
    assert (result.chosen, list(result.rankers)) == ("naive", ["naive"])
    assert "no position bias" in str(result)


def test_what_the_log_cannot_tell_is_said():
    position = np.concatenate([np.argsort(np.argsort(-part)) for part in DATA.X[:, 0].reshape(-1, 10)])
    result = learned("position", rw.RankingData(position[:, None], DATA.y, DATA.qid), models=["position"])
    assert result.chosen == "naive"
    assert "cannot tell position bias from relevance" in result.reason


def test_human_labels_decide():
    result = learned("position", judged=NEW)
    assert "by human labels of" in result.reason
    backwards = NEW.with_labels(NEW.y.max() - NEW.y)
    opposite = learned("position", judged=backwards)
    assert (opposite.chosen, "is not ahead by more than chance" in opposite.reason) == ("naive", True)
    assert "ndcg@10 by human labels" in str(opposite)
    few = learned("position", judged=NEW.take_queries(np.arange(3)))
    assert "by weighted clicks of" in few.reason


def test_the_same_seed_gives_the_same_ranker():
    first, second = (learned("position", models=["position"]).ranker.predict(NEW) for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_other_rankers_learn_too():
    log = rw.clicks.simulate(DATA, DATA.X[:, 0], sessions=20)
    result = rw.clicks.learn(log, DATA, rw.RankSVM(n_jobs=1), models=["position"])
    assert result.rankers["position"].score(NEW) > result.rankers["naive"].score(NEW)


def test_bad_input_is_refused_in_a_sentence():
    log = rw.clicks.simulate(DATA, DATA.X[:, 0], sessions=2)
    with pytest.raises(InputError, match="learn takes a ClickLog"):
        rw.clicks.learn(DATA, DATA)
    with pytest.raises(InputError, match="learn takes Documents"):
        rw.clicks.learn(log, DATA.X)
    with pytest.raises(InputError, match="no correction 'positon'; did you mean 'position'"):
        rw.clicks.learn(log, DATA, models=["positon"])
    with pytest.raises(InputError, match="do their ids agree"):
        rw.clicks.learn(log, rw.Documents([[1.0]], ["other"]))
    lists = [("q", ["a", "b"], [0, 0])]
    with pytest.raises(InputError, match="no clicks"):
        rw.clicks.learn(rw.clicks.from_sessions(lists), DATA)
    with pytest.raises(InputError, match="All impressions are at position 1"):
        rw.clicks.learn(rw.clicks.from_sessions([("q", ["a"], [1])]), DATA)
    with pytest.raises(InputError, match="too few sessions with clicks"):
        rw.clicks.learn(rw.clicks.from_sessions([("q", ["a", "b"], [1, 0])]), DATA)
