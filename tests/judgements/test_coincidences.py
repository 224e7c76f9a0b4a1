import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score

from properties import examples
from rankwright.judgements.coincidences import (
    KAPPA_POWERS,
    LEVELS,
    alpha,
    bootstrap_limits,
    coincidence_counts,
    confusion_counts,
    kappa,
)
from reference import judgements as reference

WEIGHTS = {"kappa": None, "linear kappa": "linear", "quadratic kappa": "quadratic"}
GRADES = st.sampled_from([np.nan, 0.0, 1.0, 2.5, 4.0])
TABLES = st.tuples(st.integers(2, 12), st.integers(2, 4)).flatmap(
    lambda shape: arrays(float, shape, elements=GRADES)
)


def coded(grades):
    scale = np.unique(grades[~np.isnan(grades)])
    return scale, np.where(np.isnan(grades), -1, np.searchsorted(scale, grades))


def counted(grades):
    scale, codes = coded(grades)
    queries = np.arange(len(grades)) % 3
    return scale, coincidence_counts(codes, len(scale), queries, 3).sum(axis=0)


@pytest.mark.parametrize("level", LEVELS)
@given(grades=TABLES)
@examples(100)
def test_alpha_is_that_of_krippendorff_and_of_the_slow_twin(level, grades):
    if len(np.unique([grade for row in reference.units(grades) for grade in row])) < 2:
        if len(reference.units(grades)):
            scale, counts = counted(grades)
            assert np.isnan(alpha(counts, scale, level))
        return
    scale, counts = counted(grades)
    value = float(alpha(counts, scale, level))
    assert value == pytest.approx(reference.alpha(grades, reference.DISTANCES[level]), abs=1e-9)
    theirs = krippendorff.alpha(reliability_data=grades.T, level_of_measurement=level)
    assert value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("name", KAPPA_POWERS)
@given(pairs=st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, 2.5, 4.0])] * 2), min_size=2, max_size=20))
@examples(100)
def test_kappa_is_that_of_scikit_learn(name, pairs):
    grades = np.array(pairs)
    scale, codes = coded(grades)
    counts = confusion_counts(*codes.T, len(scale), np.arange(len(grades)) % 3, 3).sum(axis=0)
    value = float(kappa(counts, KAPPA_POWERS[name]))
    if len(scale) == 1:
        assert np.isnan(value)
        return
    theirs = cohen_kappa_score(*codes.T, labels=np.arange(len(scale)), weights=WEIGHTS[name])
    assert value == pytest.approx(theirs, abs=1e-9, nan_ok=True)


def test_an_interval_needs_two_queries_and_covers_the_value():
    random = np.random.default_rng(0)
    first = random.integers(0, 3, 400)
    second = np.where(random.random(400) < 0.7, first, random.integers(0, 3, 400))
    counts = confusion_counts(first, second, 3, np.arange(400) // 10, 40)

    def measure(matrices):
        return kappa(matrices, 2)

    how = {"level": 0.95, "random_state": 0}
    ((low, high),) = bootstrap_limits(counts, measure, **how)
    assert low < measure(counts.sum(axis=0)) < high
    assert 0.05 < high - low < 0.3
    ((narrow, wide),) = bootstrap_limits(counts, measure, level=0.5, random_state=0)
    assert low < narrow < wide < high
    assert np.isnan(bootstrap_limits(counts[:1], measure, **how)).all()


@pytest.mark.slow
def test_intervals_cover_the_value_of_many_queries():
    random = np.random.default_rng(1)
    inside = 0
    for _ in range(200):
        counts = np.array([_query(random) for _ in range(30)])
        ((low, high),) = bootstrap_limits(counts, lambda sums: kappa(sums, 2), level=0.9, random_state=0)
        inside += low <= TRUE_KAPPA <= high
    assert 165 <= inside <= 195


def _query(random):
    first = random.integers(0, 3, 20)
    second = np.where(random.random(20) < 0.7, first, random.integers(0, 3, 20))
    return confusion_counts(first, second, 3, np.zeros(20, int), 1)[0]


TRUE_KAPPA = 0.7  # with probability 0.7 the same grade, otherwise an independent one
