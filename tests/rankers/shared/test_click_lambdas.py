import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.base.errors import InputError
from rankwright.data.groups import Ranking
from rankwright.metrics.gain import NDCG
from rankwright.rankers.shared.click_lambdas import ClickLambdas
from rankwright.rankers.shared.lambdas import LambdaGradients
from rankwright.training.fit_task import Exposure
from rankwright.training.training_set import QueryLabels
from reference.click_lambdas import click_lambdas, position_bias

ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),  # the list
        st.booleans(),  # clicked
        st.integers(1, 5),  # the position, also twice in a list
        st.sampled_from([-2.0, -0.5, 0.0, 0.5, 3.0]),  # the score, with ties
        st.floats(0.01, 1.0),
    ),
    min_size=1,
    max_size=20,
)
DATA = rw.synthetic.polynomial_queries(100, n_documents=8, n_features=6, n_active=4, seed=3)
TRAIN, NEW = rw.split_queries(DATA, 0.5, 0.5)
LOG = rw.clicks.simulate(TRAIN, TRAIN.X[:, 0], sessions=20)
SHOWN = rw.RankingData(TRAIN.X[LOG.rows_in(TRAIN)], LOG.clicked, LOG.list_of_impression)
RANKER = rw.LambdaMART(rounds=30, n_jobs=1)


def judged(rows):
    lists, clicks, positions, scores, propensity = map(np.array, zip(*rows, strict=True))
    data = rw.RankingData(np.zeros((len(rows), 1)), clicks.astype(float), lists)
    return QueryLabels(data.y, data.groups), positions, scores, propensity


@given(ROWS)
@examples(100)
def test_inverse_propensity_weights_are_those_of_loops(rows):
    labels, _, scores, propensity = judged(rows)
    weighted = ClickLambdas(NDCG(), labels, Exposure(None, propensity), truncation=None, normalise=False)
    gradient, hessian = weighted(scores)
    ranks = Ranking.of(scores, labels.groups).ranks()
    weights = 1 / np.maximum(propensity, 0.05)
    expected = click_lambdas(labels.y, labels.groups.query_of_row, scores, ranks, weights, np.ones(len(rows)))
    np.testing.assert_allclose(gradient, expected[0], atol=1e-12)
    np.testing.assert_allclose(hessian, expected[1], atol=1e-12)
    np.testing.assert_allclose(np.bincount(labels.groups.query_of_row, gradient), 0.0, atol=1e-9)


@given(ROWS)
@examples(100)
def test_bias_is_estimated_as_by_loops(rows):
    labels, positions, scores, _ = judged(rows)
    unbiased = ClickLambdas(NDCG(), labels, Exposure(positions, None), truncation=None, normalise=False)
    bias = [[1.0] * (positions.max() + 1)] * 2
    for step in range(3):
        now = scores * (step + 1)
        ranks = Ranking.of(now, labels.groups).ranks()
        above, below = (1 / np.array(each)[positions] for each in bias)
        expected = click_lambdas(labels.y, labels.groups.query_of_row, now, ranks, above, below)
        gradient, hessian = unbiased(now)
        np.testing.assert_allclose(gradient, expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(hessian, expected[1], rtol=1e-9, atol=1e-12)
        bias = position_bias(expected[2], positions.tolist(), *bias)
        np.testing.assert_allclose(unbiased.bias, bias, rtol=1e-9)


@given(ROWS, st.sampled_from([None, 1, 3]), st.booleans())
@examples(60)
def test_without_bias_lambdas_are_those_of_labels(rows, truncation, normalise):
    labels, _, scores, _ = judged(rows)
    options = {"truncation": truncation, "normalise": normalise}
    naive = LambdaGradients(NDCG(), *labels, double=True, **options)(scores)
    even = ClickLambdas(NDCG(), labels, Exposure(None, np.ones(len(rows))), **options)(scores)
    np.testing.assert_allclose(even, naive, atol=1e-12)


@pytest.mark.parametrize("exposure", [{"positions": LOG.position}, {"propensity": 1 / LOG.position}])
def test_corrected_clicks_rank_better_than_naive_ones(exposure):
    naive, corrected = RANKER.fit(SHOWN).score(NEW), rw.LambdaMART(rounds=30, n_jobs=1).fit(SHOWN, **exposure)
    assert corrected.score(NEW) > naive + 0.05
    other = rw.LambdaMART(rounds=30, n_jobs=2).fit(SHOWN, **exposure)
    assert other.predict(NEW).tobytes() == corrected.predict(NEW).tobytes()
    order = np.random.default_rng(1).permutation(len(SHOWN))
    moved = {name: values[order] for name, values in exposure.items()}
    again = rw.LambdaMART(rounds=30, n_jobs=1).fit(SHOWN.take(order), **moved)
    np.testing.assert_allclose(again.predict(NEW), corrected.predict(NEW), rtol=1e-9)


def test_weighted_clicks_of_ranksvm():
    propensity = np.maximum(1 / LOG.position, 0.05)
    naive, corrected = rw.RankSVM().fit(SHOWN), rw.RankSVM().fit(SHOWN, propensity=1 / LOG.position)
    assert corrected.score(NEW) > naive.score(NEW) + 0.05
    same = rw.RankSVM().fit(SHOWN, sample_weight=np.where(SHOWN.y > 0, propensity**-2, 1.0))
    np.testing.assert_allclose(corrected.predict(NEW), same.predict(NEW), rtol=1e-6)


def test_positions_from_0_and_far_below():
    from_0 = rw.LambdaMART(rounds=5).fit(SHOWN, positions=LOG.position - 1)
    from_1 = rw.LambdaMART(rounds=5).fit(SHOWN, positions=LOG.position)
    assert from_0.predict(NEW).tobytes() == from_1.predict(NEW).tobytes()


@pytest.mark.parametrize(
    ("ranker", "options", "sentence"),
    [
        (rw.LambdaMART(), {"positions": [1]}, "positions must have .* numbers"),
        (rw.LambdaMART(), {"positions": LOG.position + 0.5}, "positions must be integers from 1"),
        (rw.LambdaMART(), {"propensity": LOG.position - 1.0}, "propensity must be above 0 and at most 1"),
        (rw.LambdaMART(), {"positions": LOG.position, "propensity": 1 / LOG.position}, "not both"),
        (rw.LambdaMART("map"), {"positions": LOG.position}, "need a metric such as ndcg@10, not map"),
        (rw.RankSVM(), {"positions": LOG.position}, "RankSVM takes no positions"),
        (rw.AdaRank(), {"propensity": 1 / LOG.position}, "AdaRank takes no propensity"),
        (rw.LambdaMART(), {"positions": LOG.position, "refit": True, "validation": NEW}, "refit takes no weights"),
    ],
)
def test_what_cannot_be_used_is_refused(ranker, options, sentence):
    with pytest.raises(InputError, match=sentence):
        ranker.fit(SHOWN, **options)


def test_labels_are_clicks():
    with pytest.raises(InputError, match="labels are clicks: 0 or 1"):
        rw.LambdaMART().fit(TRAIN, positions=np.ones(len(TRAIN)))
