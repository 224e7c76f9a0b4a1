"""Bounds that papers prove, measured: they hold, and a violation would be noticed."""

import numpy as np
import pytest

from rankwright.papers.calibrated_2011.dcg_bound import NoisyLabels, dcg_bound
from rankwright.papers.direct_2008.surrogates import surrogates
from rankwright.papers.framework.experiment import Setup
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.rows import OPPOSITE, REACHED

QUICK = Setup({}, quick=True)


def _measured(experiment):
    arrays = {}
    for name in experiment.source.trials():
        trial = experiment.source.trial(name)
        for system, fit in experiment.systems.items():
            fitted = fit(trial, 1)
            models = fitted if isinstance(fitted, dict) else {system: fitted}
            for model, scorer in models.items():
                for measure in experiment.measures:
                    arrays |= {(model, key, name): values for key, values in measure(scorer, trial, 1).items()}
    return Measurements(tuple(experiment.source.trials()), arrays)


@pytest.mark.parametrize("make", [surrogates, dcg_bound])
def test_every_claim_holds_and_figures_are_drawn(make):
    experiment = make(QUICK)
    results = _measured(experiment)
    assert {claim.test(results).state for claim in experiment.claims} == {REACHED}
    for picture in experiment.figures:
        assert picture.draw(results).description


def test_a_loss_above_its_bound_is_noticed():
    experiment = dcg_bound(QUICK)
    results = _measured(experiment)
    for key in list(results.arrays):
        if key[1].startswith("lost"):
            results.arrays[key] = results.arrays[key] + 100.0
    assert {claim.test(results).state for claim in experiment.claims} == {OPPOSITE}


def test_models_that_rank_differently_are_noticed():
    experiment = surrogates(QUICK)
    results = _measured(experiment)
    for key in list(results.arrays):
        if key[1] == "alike":
            results.arrays[key] = 0.0 * results.arrays[key]
    assert experiment.claims[0].test(results).state == OPPOSITE


def test_probabilities_of_noisy_labels_are_the_frequencies():
    source = NoisyLabels(2000)
    data = source.trial("1").train
    expected = source.probabilities(data)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0)
    for label in range(3):
        assert (data.y == label).mean() == pytest.approx(expected[:, label].mean(), abs=0.01)
        likely = expected[:, label] > 0.5
        assert (data.y[likely] == label).mean() == pytest.approx(expected[likely, label].mean(), abs=0.01)
