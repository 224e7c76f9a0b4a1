import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgements.simulated_judges import graded
from properties import examples
from rankwright.judgements.dawid_skene import fit_dawid_skene
from reference.judgements import dawid_skene_step

CODES = st.tuples(st.integers(1, 8), st.integers(1, 4)).flatmap(
    lambda shape: arrays(int, shape, elements=st.integers(-1, 2))
)


@given(codes=CODES)
@examples(50)
def test_the_estimate_is_a_fixed_point_of_the_slow_step(codes):
    judged = codes[(codes >= 0).any(axis=1)]
    if len(judged) == 0:
        return
    model = fit_dawid_skene(judged, 3)
    np.testing.assert_allclose(model.posterior.sum(axis=1), 1)
    np.testing.assert_allclose(model.confusion.sum(axis=2), 1)
    again = dawid_skene_step(judged, model.posterior, 3)
    np.testing.assert_allclose(again, model.posterior, atol=1e-4)


def test_accuracy_is_found():
    table, true = graded(3, accuracy=(0.95, 0.8, 0.6, 0.8), n_queries=100)
    model = fit_dawid_skene(table.codes, 4)
    assert (model.posterior.argmax(axis=1) == true).mean() > 0.9
    assert np.argsort(model.accuracy)[0] == 2
    assert np.argmax(model.accuracy) == 0
    np.testing.assert_allclose(model.prior, np.bincount(true) / len(true), atol=0.06)
