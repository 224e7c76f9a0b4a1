"""Partial dependence of scores on features."""

import numpy as np
import pytest

import rankwright as rw
from auto.small_run import small_data
from rankwright.analyses.dependence import partial_dependence
from rankwright.models import FeatureScorer, LinearScorer


def test_partial_dependence_of_a_weighted_sum_is_a_line():
    data = small_data()
    scorer = LinearScorer(np.array([2.0, 0.0, -1.0, 0.0]), np.zeros(4))
    rising, falling = partial_dependence(scorer, data, [0, 2])
    assert np.polyfit(rising.values, rising.scores, 1)[0] == pytest.approx(2.0, abs=1e-5)
    assert np.polyfit(falling.values, falling.scores, 1)[0] == pytest.approx(-1.0, abs=1e-5)


def test_partial_dependence_moves_a_document_among_the_others_of_its_query():
    data = small_data()
    ranker = rw.RankSVM().fit(data)
    assert ranker.model_.needs_queries
    for found in partial_dependence(ranker.model_, data, [0, 1]):
        assert found.scores[-1] > found.scores[0] + 0.1


def test_constant_features_have_no_dependence():
    X = np.random.default_rng(1).normal(size=(120, 5))
    X[:, 1] = 3.0
    data = rw.RankingData(X, np.tile([0, 1, 2], 40), np.repeat(np.arange(20), 6))
    assert partial_dependence(FeatureScorer(0, n_features=5, missing=0.0), data, [1]) == []
