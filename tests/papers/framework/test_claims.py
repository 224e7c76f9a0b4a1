"""Tests of claims that have only one trial."""

import numpy as np
import pytest

from rankwright.papers.framework.claims import faster
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.rows import NOT_SHOWN, OPPOSITE, REACHED


@pytest.mark.parametrize(("seconds", "state"), [(3.0, REACHED), (1.2, NOT_SHOWN), (0.3, OPPOSITE)])
def test_a_single_time_needs_a_clear_factor(seconds, state):
    arrays = {("a", "fit seconds", "1"): np.array([1.0]), ("b", "fit seconds", "1"): np.array([seconds])}
    finding = faster("a", ("b",))(Measurements(("1",), arrays))
    assert (finding.state, finding.p_value, finding.interval) == (state, None, None)
    assert finding.value == pytest.approx(seconds)
