import pytest

from rankwright.reports.charts.drawing import log_ticks, round_numbers


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1, 10, [1, 2, 5, 10]),
        (0.03, 0.6, [0.05, 0.1, 0.2, 0.5]),
        (5, 400, [5, 10, 20, 50, 100, 200]),
        (2.1, 4.9, []),
    ],
)
def test_round_numbers(low, high, expected):
    assert round_numbers(low, high) == expected


def test_ticks_of_wide_and_of_short_ranges():
    assert log_ticks((1, 1e5))["values"] == [1, 10, 100, 1000, 10_000, 100_000]
    assert len(log_ticks((1e-20, 1e20))["values"]) <= 10
    assert log_ticks((2.1, 4.9)) == {}
