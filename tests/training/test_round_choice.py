from math import sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.data.dataset import RankingData
from rankwright.metrics import AP
from rankwright.models import FeatureScorer
from rankwright.training.monitor import Monitor
from rankwright.training.round_choice import is_as_good_as, last_round, middle_round
from rankwright.training.weak_model import WeightedModel

VALUES = st.integers(0, 8).map(lambda eighths: eighths / 8)  # ties are common, sums are exact


@st.composite
def curves(draw):
    """Draw the values of every query, round by round."""
    n_queries = draw(st.integers(1, 6))
    row = st.lists(VALUES, min_size=n_queries, max_size=n_queries)
    return draw(st.lists(row, min_size=1, max_size=12))


def chosen(rounds, to_beat=-np.inf):
    return middle_round([mean(row) for row in rounds], [np.array(row) for row in rounds], to_beat)


def slow_choice(rounds, to_beat):
    """Return the round to keep, query by query."""
    means = [mean(row) for row in rounds]
    best = means.index(max(means))
    if means[best] <= to_beat:
        return 0
    good = []
    for number, row in enumerate(rounds, start=1):
        lost = [top - value for top, value in zip(rounds[best], row, strict=True)]
        error = stdev(lost) / sqrt(len(lost)) if len(lost) > 1 else 0.0
        # Where both are equal, rounding decides; such examples are not compared.
        if len(lost) > 1 and lost != [0.0] * len(lost) and abs(mean(lost) - error) < 1e-9:
            return None
        if mean(lost) <= error and means[number - 1] > to_beat:
            good.append(number)
    one, other = good[(len(good) - 1) // 2], good[len(good) // 2]
    return one if means[one - 1] >= means[other - 1] else other


@given(curves(), st.none() | VALUES)
def test_the_middle_of_the_rounds_within_one_standard_error(rounds, start):
    to_beat = -np.inf if start is None else start
    expected = slow_choice(rounds, to_beat)
    if expected is not None:
        assert chosen(rounds, to_beat).best_round == expected


@given(curves())
def test_the_kept_round_is_within_one_error_of_the_best(rounds):
    values = np.array(rounds)
    best, kept = values[values.mean(axis=1).argmax()], values[chosen(rounds).best_round - 1]
    assert is_as_good_as(best, kept)


@given(curves(), st.integers(0, 2**32 - 1))
def test_the_order_of_queries_changes_nothing(rounds, seed):
    shuffled = np.array(rounds)[:, np.random.default_rng(seed).permutation(len(rounds[0]))]
    assert chosen(rounds) == chosen(shuffled.tolist())


@given(st.integers(1, 40), st.integers(1, 5))
def test_a_constant_curve_keeps_its_middle(n_rounds, n_queries):
    assert chosen([[0.3] * n_queries] * n_rounds).best_round == (n_rounds + 1) // 2


def test_one_round():
    assert chosen([[0.5, 0.0]]).best_round == 1
    assert "all others" in chosen([[0.0, 0.0], [1.0, 1.0]]).reason


def test_of_two_middle_rounds_the_better_is_kept():
    assert chosen([[0.8, 0.2], [0.2, 0.9]]).best_round == 2
    assert chosen([[0.2, 0.9], [0.8, 0.2]]).best_round == 1


def test_one_query_has_no_standard_error():
    assert chosen([[0.2], [0.9], [0.8], [0.9], [0.9]]).best_round == 4
    assert chosen([[0.2], [0.9], [0.8]]).best_round == 2


def test_a_lucky_early_round_does_not_win():
    random = np.random.default_rng(3)
    skill = 0.5 + 0.2 * (1 - np.exp(-np.arange(300) / 40))  # rises until the end
    noise = random.normal(scale=0.1, size=(300, 20))
    rounds = skill[:, None] + noise
    rounds[5] += 0.25  # the best single value, by luck
    assert np.argmax(rounds.mean(axis=1)) == 5
    assert chosen(rounds.tolist()).best_round > 50


def test_a_curve_that_falls_is_left_early():
    random = np.random.default_rng(4)
    falling = 0.8 - 0.001 * np.arange(300)
    rounds = falling[:, None] + random.normal(scale=0.02, size=(300, 20))
    assert chosen(rounds.tolist()).best_round < 20


def test_no_round_is_kept_if_none_beats_the_start():
    choice = chosen([[0.5], [0.4]], to_beat=0.5)
    assert choice == (0, "no round is better on validation than the start")
    kept = chosen([[0.1, 0.4], [0.3, 0.5], [0.2, 0.4]], to_beat=0.3)  # the others are as good, but not better
    assert kept.best_round == 2


def test_queries_left_out_do_not_count():
    values = [np.array([np.nan, 0.1, 0.2]), np.array([np.nan, 0.8, 0.9]), np.array([np.nan, 0.7, 0.9])]
    assert middle_round([0.15, 0.85, 0.8], values).best_round == chosen([[0.1, 0.2], [0.8, 0.9], [0.7, 0.9]])[0]


def test_without_any_value_the_last_round_is_kept():
    choice = middle_round([np.nan] * 3, [np.full(2, np.nan)] * 3)
    assert choice == (3, "the last round: no validation query has a value")
    assert last_round(0, "nothing") == (0, "there is no round")


@pytest.mark.parametrize("patience", [None, 1])
def test_a_metric_without_values_never_stops_a_fit(patience):
    data = RankingData([[1.0], [2.0]], [0, 0], ["q", "q"])
    metric = AP(empty=None)
    monitor = Monitor(metric, data, data, patience=patience, on_round=None, n_threads=1)
    member = WeightedModel(1.0, FeatureScorer(0, 1, n_features=1, missing=0))
    assert not any(monitor.observe(member, np.zeros(2)) for _ in range(4))
    assert monitor.best_round == 4
