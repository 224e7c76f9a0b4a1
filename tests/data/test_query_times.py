"""Times of queries, and their division into periods in time order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.data.query_times import QueryTimes


def timed(times, *, column="week", n_docs=2):
    """Queries of two documents, in an order of their own, each with the time given."""
    n = len(times)
    rows = np.random.default_rng(0).permutation(n * n_docs)
    query = np.repeat(np.arange(n), n_docs)[rows]
    data = rw.RankingData(np.arange(n * n_docs)[:, None], np.arange(n * n_docs) % 2, query, feature_names=["x"])
    return data.with_columns(None, {column: [times[number] for number in query]})


@given(st.lists(st.integers(0, 12), min_size=2, max_size=60), st.lists(st.integers(1, 5), min_size=1, max_size=5))
@examples(300)
def test_periods_are_in_time_order_and_never_divide_a_time(times, weights):
    sizes = [weight / sum(weights) for weight in weights]
    data = timed(list(map(str, times)))
    known = QueryTimes.of(data, "week")
    assert known.values.tolist() == [times[query] for query in data.groups.ids]
    if len(set(times)) < len(sizes):
        with pytest.raises(rw.InputError, match=r"periods need at least \d different times; column 'week' has"):
            known.periods(sizes)
        return
    periods = known.periods(sizes)
    assert set(periods) == set(range(len(sizes)))
    latest = -1
    for period in range(len(sizes)):
        own = known.values[periods == period]
        assert own.min() > latest
        latest = own.max()


def test_periods_have_their_sizes_where_times_differ():
    known = QueryTimes.of(timed([f"2026-01-{day:02}" for day in range(1, 21)]), "week")
    assert np.bincount(known.periods([0.5, 0.25, 0.25])).tolist() == [10, 5, 5]
    assert np.bincount(known.folds(5) + 1).tolist() == [10, 2, 2, 2, 2, 2]
    assert known.span(known.folds(5) == 4) == "2026-01-19 to 2026-01-20"


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["10", "9", "2.5"], [2, 1, 0]),
        (["2026-02-01", "2026-01-31 12:00:00", "2025-12-31"], [2, 1, 0]),
        (["2026-W10", "2026-W09", "2025-W52"], [2, 1, 0]),
    ],
)
def test_times_are_numbers_or_dates(times, expected):
    data = timed(times)
    by_query = dict(zip(data.groups.ids.tolist(), QueryTimes.of(data, "week").values, strict=True))
    ranks = np.argsort(np.argsort([by_query[query] for query in range(len(times))]))
    assert ranks.tolist() == expected


def test_a_feature_may_hold_the_times():
    data = rw.RankingData([[3.0], [3.0], [1.5]], [0, 1, 0], [7, 7, 8], feature_names=["week"])
    known = QueryTimes.of(data, "week")
    assert known.values.tolist() == [3.0, 1.5]
    assert known.texts.tolist() == ["3", "1.5"]


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        (["1", None], r"^Query '1' has no time in column 'week': every document needs one\.$"),
        (["1", " "], r"^Query '1' has no time in column 'week'"),
        (
            ["2026-01-01", "soon"],
            r"^'soon' in column 'week' is neither a date nor a number: times are all numbers",
        ),
        (["2026-01-01", "7"], r"^'7' in column 'week' is no date as others are, but a number: "),
        (["nan", "7"], r"^'nan' in column 'week' is neither a date nor a number: "),
    ],
)
def test_times_that_cannot_be_used(times, sentence):
    with pytest.raises(rw.InputError, match=sentence):
        QueryTimes.of(timed(times), "week")


def test_a_query_has_one_time():
    data = timed(["1", "2"]).with_columns(None, {"week": ["1", "2", "1", "1"]})
    with pytest.raises(
        rw.InputError, match=r"^The documents of query '\d' have different times in column 'week', "
    ):
        QueryTimes.of(data, "week")


def test_a_column_that_is_not_there():
    with pytest.raises(rw.InputError, match=r"^There is no column 'day'; the table has week, x\.$"):
        QueryTimes.of(timed(["1", "2"]), "day")
