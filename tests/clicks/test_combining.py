import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.clicks.combining import joined

DATA = rw.synthetic.polynomial_queries(120, n_documents=8, n_features=8, n_active=5, seed=3)
JUDGED, SEARCHED = rw.split_queries(DATA, 0.2, 0.8)
RANKER = rw.LambdaMART(rounds=20, n_jobs=1)
RANKERS = {"old": SEARCHED.X[:, 0], "new": SEARCHED.X[:, 1]}


def clicked_on(data):
    return rw.clicks.click_judgements(rw.clicks.simulate(data, RANKERS, sessions=50), SEARCHED)


def test_good_clicks_are_used():
    clicked = clicked_on(SEARCHED)
    both = rw.clicks.combine_judgements(JUDGED, clicked, RANKER)
    assert both.weight > 0
    assert both.values[both.weight] == max(both.values.values()) > both.values[0.0]
    assert (both.weights[: len(JUDGED)] == 1).all()
    np.testing.assert_allclose(both.weights[len(JUDGED) :], both.weight * clicked.weights)
    assert (both.data.y[: len(JUDGED)] == JUDGED.y).all()
    assert both.data.y.max() <= JUDGED.y.max()
    assert "count" in both.summary
    json.dumps(both.to_dict(), allow_nan=False)


def test_misleading_clicks_are_left_out():
    backwards = SEARCHED.with_labels(SEARCHED.y.max() - SEARCHED.y)
    both = rw.clicks.combine_judgements(JUDGED, clicked_on(backwards), RANKER)
    assert (both.weight, len(both.data)) == (0.0, len(JUDGED))
    assert both.summary.startswith("Labels from clicks are left out")


def test_clicks_of_a_held_out_query_are_held_out():
    clicked, queries = clicked_on(SEARCHED), SEARCHED.take_queries(np.arange(10))
    data, weights = joined(JUDGED, clicked, 0.5, held_out=queries)
    left_out = int(np.isin(clicked.data.qid, queries.qid).sum())
    assert left_out > 0
    assert len(data) == len(weights) == len(JUDGED) + len(clicked.data) - left_out


def test_bad_input_is_refused_in_a_sentence():
    clicked = clicked_on(SEARCHED)
    with pytest.raises(InputError, match="clicked must be ClickJudgements"):
        rw.clicks.combine_judgements(JUDGED, SEARCHED)
    with pytest.raises(InputError, match="at least two queries"):
        rw.clicks.combine_judgements(JUDGED.take_queries(np.array([0])), clicked)
    with pytest.raises(InputError, match="not negative"):
        rw.clicks.combine_judgements(JUDGED, clicked, weights=[-1.0])
    with pytest.raises(InputError, match="folds must be at least 2"):
        rw.clicks.combine_judgements(JUDGED, clicked, folds=1)
