"""The features of a model."""

import numpy as np
import pytest

from auto.small_run import small_data
from rankwright.cards.feature_card import FeatureCard
from rankwright.models import LinearScorer


def test_features_are_ordered_by_importance():
    data = small_data(feature_names=["a", "b", "c", "d"])
    scorer = LinearScorer(np.array([1.0, 0.0, -4.0, 0.0]), np.zeros(4), feature_names=list("abcd"))
    card = FeatureCard.of("sum", scorer, data)
    assert list(card.importances) == ["c", "a"]
    assert sum(card.importances.values()) == pytest.approx(1.0)
    assert list(card.dependence) == ["c", "a"]
    assert card.summary == "sum uses 2 features; the most important is c."
    assert card.charts[0].description.endswith("The highest is c.")


def test_a_model_without_features():
    card = FeatureCard.of("none", LinearScorer(np.zeros(4), np.zeros(4)), small_data())
    assert (card.importances, card.dependence) == ({}, {})
    assert card.summary == "The model uses no feature."
