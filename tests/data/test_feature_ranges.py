"""Ranges and missing rates of features."""

import numpy as np
import pandas as pd

import rankwright as rw
from rankwright.data import feature_ranges
from rankwright.data.feature_ranges import FeatureRanges

NAN = np.nan


def documents(X):
    return rw.Documents(np.array(X, np.float32), np.zeros(len(X), int))


def test_ranges_leave_out_missing_values():
    ranges = FeatureRanges.of(documents([[1, NAN, NAN], [-2, NAN, 5], [7, NAN, 5], [0, NAN, NAN]]))
    assert ranges.minimum.tolist() == [-2, np.inf, 5]
    assert ranges.maximum.tolist() == [7, -np.inf, 5]
    assert ranges.missing.tolist() == [0, 1, 0.5]


def test_a_one_hot_category_is_missing_where_no_column_is_1():
    frame = pd.DataFrame({"qid": 1, "colour": ["red", None, "blue", "red"], "size": [1.0, 2.0, 3.0, NAN]})
    ranges = FeatureRanges.of(rw.from_pandas(frame, label=None, categorical=["colour"]))
    assert ranges.missing.tolist() == [0.25] * 3


def test_many_documents_are_counted_in_parts(monkeypatch):
    X = np.where(np.random.default_rng(0).random((50, 3)) < 0.3, NAN, 1).astype(np.float32)
    expected = feature_ranges.extremes(X)[2].tolist()
    monkeypatch.setattr(feature_ranges, "ROWS", 7)
    assert feature_ranges.extremes(X)[2].tolist() == expected == np.isnan(X).sum(axis=0).tolist()


def test_a_fit_keeps_the_ranges_of_its_training_documents_and_a_mixture_those_of_all_members():
    parts = rw.synthetic.gaussian_queries(10, seed=1), rw.synthetic.gaussian_queries(10, seed=2)
    models = [rw.AdaRank().fit(part).model_ for part in parts]
    for part, model in zip(parts, models, strict=True):
        assert model.ranges.minimum.tolist() == part.X.min(axis=0).tolist()
    both = np.concatenate([part.X for part in parts])
    mixed = rw.mix_exponentially(models, parts[0])
    assert mixed.ranges.minimum.tolist() == both.min(axis=0).tolist()
    assert mixed.ranges.maximum.tolist() == both.max(axis=0).tolist()
