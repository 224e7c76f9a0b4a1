"""Diversity of calibrations: t-tests combined by Fisher's method, as SciPy has them."""

import numpy as np
import pytest
from scipy.stats import combine_pvalues, ttest_rel

from rankwright.analyses.diversity import calibration_diversity
from rankwright.base.errors import InputError


def test_diversity_is_scipys():
    rng = np.random.default_rng(1)
    scores = {
        name: [rng.normal(size=30) + shift for _ in range(5)] for name, shift in (("a", 0), ("b", 0.3), ("c", 0))
    }
    found = calibration_diversity(scores)
    assert list(found) == [("a", "b"), ("a", "c"), ("b", "c")]
    for (one, other), p in found.items():
        by_fold = [ttest_rel(*pair).pvalue for pair in zip(scores[one], scores[other], strict=True)]
        assert p == pytest.approx(combine_pvalues(by_fold, method="fisher").pvalue)


def test_equal_scores_are_not_diverse_and_shifted_ones_are():
    same = [np.arange(5.0)] * 3
    found = calibration_diversity({"a": same, "b": same, "c": [one + 1 for one in same]})
    assert found["a", "b"] == 1.0
    assert found["a", "c"] < 1e-100


def test_scores_of_other_documents_are_refused():
    with pytest.raises(InputError, match="the same documents"):
        calibration_diversity({"a": [[1.0, 2.0]], "b": [[1.0]]})
