"""The bound of section 6 of Busa-Fekete et al. (2011): it holds, and a violation would be noticed."""

import numpy as np
import pytest

from papers.small_collections import measured
from rankwright.papers.calibrated_2011.dcg_bound import NoisyLabels, dcg_bound
from rankwright.papers.framework.experiment import Setup
from rankwright.papers.framework.rows import OPPOSITE, REACHED


def test_the_loss_is_below_its_bounds_and_a_loss_above_them_is_noticed():
    experiment = dcg_bound(Setup({}, quick=True))
    results = measured(experiment)
    assert {claim.test(results).state for claim in experiment.claims} == {REACHED}
    for picture in experiment.figures:
        assert picture.draw(results).description
    for key in list(results.arrays):
        if key[1].startswith("lost"):
            results.arrays[key] = results.arrays[key] + 100.0
    assert {claim.test(results).state for claim in experiment.claims} == {OPPOSITE}


def test_probabilities_of_noisy_labels_are_the_frequencies():
    source = NoisyLabels(2000)
    data = source.trial("1").train
    expected = source.probabilities(data)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0)
    for label in range(3):
        assert (data.y == label).mean() == pytest.approx(expected[:, label].mean(), abs=0.01)
        likely = expected[:, label] > 0.5
        assert (data.y[likely] == label).mean() == pytest.approx(expected[likely, label].mean(), abs=0.01)
