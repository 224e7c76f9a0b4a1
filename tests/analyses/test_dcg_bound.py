from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from properties import examples
from rankwright.analyses import dcg_bound
from rankwright.analyses.dcg_bound import dcg_loss
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups, Ranking


@st.composite
def distributions(draw):
    shape = draw(st.tuples(st.integers(1, 12), st.integers(1, 5)))
    tables = [draw(arrays.arrays(np.float64, shape, elements=st.floats(0, 1) | st.just(0.0))) + 1e-3 for _ in "ab"]
    gains = draw(arrays.arrays(np.float64, shape[1], elements=st.floats(0, 15)))
    return *(table / table.sum(axis=1, keepdims=True) for table in tables), gains


@examples(300)
@given(distributions(), st.sampled_from([1.0, 1.5, 2.0, 7.0, np.inf]))
def test_the_loss_is_never_above_its_bounds(tables, power):
    lost, bound, corollary = dcg_loss(*tables, power=power)
    assert -1e-9 <= lost <= bound + 1e-9
    assert bound <= corollary + 1e-9


def test_the_loss_by_hand():
    true, estimated = [[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
    lost, bound, corollary = dcg_loss(estimated, true, [0.0, 3.0], power=1.0)
    half = 1 - 1 / np.log2(3)
    assert lost == pytest.approx(3 * half)
    assert bound == corollary == pytest.approx(2 * 3 * half)  # twice the discount's change, times a distance of 1
    assert dcg_loss(true, true, [0.0, 3.0]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([[0.5, 0.5]], [[0.5, 0.5]], [1.0]), "estimated must have one row per document and 1 columns"),
        (([[0.5, 0.5]], [[0.5, 0.6]], [1.0, 2.0]), "true must hold probabilities"),
        (([[0.5, 0.5]], [[0.5, 0.5]] * 2, [1.0, 2.0]), "true must have one row per document"),
    ],
)
def test_wrong_probabilities_are_refused(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        dcg_loss(*arguments)


@pytest.mark.parametrize("gains", [[0.0, np.nan], [0.0, np.inf], [[0.0, 1.0]]])
def test_gains_that_are_not_finite_numbers_are_refused(gains):
    with pytest.raises(InputError, match="gains must be finite numbers, one per class"):
        dcg_loss([[0.5, 0.5]], [[0.5, 0.5]], gains)


@examples(200)
@given(arrays.arrays(np.float64, st.integers(0, 12), elements=st.sampled_from([0.0, 0.25, 1.0])))
def test_ties_are_ranked_as_everywhere_else(chances):
    """Two classes, the second of gain 1: of equal documents the earlier comes first."""
    estimated, true = np.stack([1 - chances, chances], axis=1), np.stack([chances, 1 - chances], axis=1)
    groups = QueryGroups.of_one(len(chances))
    ranks, best = (Ranking.of(one, groups).ranks() for one in (chances, 1 - chances))
    expected = ((1 - chances) * (1 / np.log2(1 + best) - 1 / np.log2(1 + ranks))).sum()
    assert dcg_loss(estimated, true, [0.0, 1.0]).lost == pytest.approx(expected, abs=1e-12)


def test_the_bound_has_no_sort_of_its_own():
    """Ranking.of alone decides between equal scores."""
    assert "argsort" not in Path(dcg_bound.__file__).read_text(encoding="utf-8")


def test_a_power_below_1_is_refused():
    with pytest.raises(InputError, match="power must be at least 1"):
        dcg_loss([[1.0]], [[1.0]], [1.0], power=0.5)
