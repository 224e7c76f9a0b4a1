"""Theorem 1 and figures 1 and 2 of Xu et al. (2010): they hold, and a violation would be noticed."""

from papers.small_collections import measured
from rankwright.papers.direct_2008.surrogates import surrogates
from rankwright.papers.framework.experiment import Setup
from rankwright.papers.framework.rows import OPPOSITE, REACHED


def test_every_claim_holds_and_figures_are_drawn():
    experiment = surrogates(Setup({}, quick=True))
    results = measured(experiment)
    assert {claim.test(results).state for claim in experiment.claims} == {REACHED}
    for picture in experiment.figures:
        assert picture.draw(results).description


def test_models_that_rank_differently_are_noticed():
    experiment = surrogates(Setup({}, quick=True))
    results = measured(experiment)
    for key in list(results.arrays):
        if key[1] == "alike":
            results.arrays[key] = 0.0 * results.arrays[key]
    assert experiment.claims[0].test(results).state == OPPOSITE
