from math import sqrt
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.data.dataset import RankingData
from rankwright.metrics import AP, NDCG, RR
from rankwright.models import FeatureScorer, LinearScorer
from rankwright.training.history import History, Round, smoothed
from rankwright.training.monitor import (
    Monitor,
    RoundBlock,
    RoundsEnd,
    WeightedModel,
    is_as_good_as,
    last_round,
    middle_round,
)

TRAIN = RankingData([[1.0], [2.0]], [1, 0], ["t", "t"])
VALID = RankingData([[3.0], [1.0], [2.0]], [1, 0, 0], ["v", "v", "v"])
UP, DOWN = FeatureScorer(0, 1, n_features=1, missing=0), FeatureScorer(0, -1, n_features=1, missing=0)


def always(value):
    return lambda: value


def watch(metric=RR(), validation=None, *, patience=None, on_round=None):  # noqa: B008  # a frozen value
    return Monitor(metric, TRAIN, validation, patience=patience, on_round=on_round, n_threads=1)


def test_without_validation_the_last_round_is_the_best():
    monitor = watch(patience=1)
    assert monitor.history == History((), 0, reason="there is no round")
    for number, scores in enumerate([[1.0, 0.0], [0.0, 1.0]], start=1):
        assert not monitor.observe(WeightedModel(0.5, UP), np.array(scores))
        assert monitor.best_round == number
    reason = "the last round, because there are no validation data"
    assert monitor.history == History((Round(1, 0.5, 1.0), Round(2, 0.5, 0.5)), 2, reason=reason)


def test_validation_scores_are_the_weighted_sum_of_the_members():
    monitor = watch(validation=VALID)
    # 1 x up, then 1 - 3 of it, then 1 - 3 + 2.5
    for weight, model in ((1.0, UP), (3.0, DOWN), (2.5, UP)):
        monitor.observe(WeightedModel(weight, model), np.zeros(2))
    assert [this.validation for this in monitor.history] == pytest.approx([1.0, 1 / 3, 1.0])
    assert [this.weight for this in monitor.history] == [1.0, 3.0, 2.5]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rounds_that_are_observed_together_are_those_observed_one_by_one(sign):
    def read(sums, total):
        return sign * sums if total < 4.5 else -sign * sums  # from the third round on

    members = [WeightedModel(weight, model) for weight, model in ((1.0, UP), (3.0, DOWN), (2.5, UP))]
    scores = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    single, block = (
        Monitor(RR(), TRAIN, VALID, patience=None, on_round=None, n_threads=1, read=read) for _ in range(2)
    )
    for member, of_round in zip(members, scores, strict=True):
        single.observe(member, of_round)
    outputs = np.array([member.model.outputs(VALID) for member in members])
    block.observe_rounds(RoundBlock(members, scores, outputs, RoundsEnd.ALL_DONE))
    assert block.history == single.history
    assert block.history[0].train == (1.0 if sign > 0 else 0.5)


def test_a_whole_model_is_judged_by_itself():
    monitor = watch(validation=VALID, patience=2)
    models = (DOWN, UP, DOWN, DOWN)
    stops = [monitor.observe_model(always(model), always(np.array([1.0, 0.0]))) for model in models]
    assert (stops, monitor.best_round) == ([False, False, False, True], 2)
    assert [this.validation for this in monitor.history] == pytest.approx([1 / 3, 1.0, 1 / 3, 1 / 3])
    assert [(this.weight, this.train) for this in monitor.history] == [(1.0, 1.0)] * 4


def test_a_model_that_nobody_measures_is_not_made():
    def refuse():
        raise AssertionError

    monitor = Monitor(RR(), None, None, patience=None, on_round=None, n_threads=1)
    assert not monitor.observe_model(refuse, refuse)
    assert len(monitor.history) == 1


def test_where_rounds_converge_the_last_is_the_best():
    monitor = Monitor(RR(), TRAIN, VALID, patience=None, on_round=None, n_threads=1, converging=True)
    for model in (UP, DOWN):
        assert not monitor.observe_model(always(model), always(np.zeros(2)))
    assert (monitor.best_round, monitor.history.converging) == (2, True)
    assert monitor.history.reason == "the last round, because rounds approach the optimum"


def test_the_middle_of_equal_rounds_is_kept():
    monitor = watch(validation=VALID, patience=1)
    for _ in range(3):
        assert not monitor.observe(WeightedModel(1.0, UP), np.zeros(2))
    assert monitor.best_round == 2
    reason = monitor.history.reason
    assert reason == (
        "in the middle of 3 rounds whose value on validation is at most one standard error below the best, that "
        "of round 1"
    )


def test_patience_counts_from_the_last_round_that_is_as_good_as_the_best():
    monitor = watch(validation=VALID, patience=2)
    weights = [-1.0, 3.0, -1.0, -2.0, -1.0]  # wrong, right, still right, wrong, wrong
    stops = [monitor.observe(WeightedModel(weight, UP), np.zeros(2)) for weight in weights]
    assert (stops, monitor.best_round) == ([False, False, False, False, True], 2)


def test_a_fit_stops_after_so_many_rounds():
    monitor = Monitor(RR(), TRAIN, None, patience=None, on_round=None, n_threads=1, stop_after=2)
    assert [monitor.observe(WeightedModel(1.0, UP), np.zeros(2)) for _ in range(2)] == [False, True]
    assert monitor.best_round == 2


def test_ties_in_training_scores_are_averaged_as_the_metric_says():
    monitor = watch()
    monitor.observe(WeightedModel(1.0, UP), np.zeros(2))
    assert monitor.history[0].train == 0.75


def test_a_round_is_told_after_it_is_kept():
    kept = []
    monitor = watch(on_round=lambda this: kept.append((this, monitor.history[-1], monitor.best_round)))
    monitor.observe(WeightedModel(1.0, UP), np.zeros(2))
    assert kept == [(monitor.history[0], monitor.history[0], 1)]


def test_whole_query_models_see_the_validation_queries():
    class Centred(LinearScorer):
        def _score(self, X, groups, n_threads, /):
            assert len(groups) == 2
            return super()._score(X, groups, n_threads)

    valid = RankingData([[1.0], [2.0]], [1, 0], ["a", "b"])
    watch(validation=valid).observe(WeightedModel(1.0, Centred([1.0], [0.0])), np.zeros(2))


def test_a_history_is_a_sequence_of_rounds():
    rounds = (Round(1, 0.5, 0.1, 0.2), Round(2, 0.25, 0.3, 0.1))
    history = History(rounds, 1)
    assert (len(history), list(history), history[-1]) == (2, list(rounds), rounds[1])


def test_only_ctrl_c_after_a_round_is_swallowed():
    with pytest.raises(KeyboardInterrupt), watch():
        raise KeyboardInterrupt
    monitor = watch()
    monitor.observe(WeightedModel(1.0, UP), np.zeros(2))
    with pytest.raises(ValueError, match="mine"), monitor:
        raise ValueError("mine")
    with pytest.warns(UserWarning, match="Interrupted after round 1"), monitor:
        raise KeyboardInterrupt


def test_ctrl_c_before_a_round_beats_the_start_leaves_the_start():
    start = np.array([3.0, 2.0, 1.0])
    monitor = Monitor(RR(), TRAIN, VALID, patience=None, on_round=None, n_threads=1, validation_start=start)
    monitor.observe(WeightedModel(9.0, DOWN), np.zeros(2))
    with pytest.warns(UserWarning, match="Interrupted after round 1; the model is the start"), monitor:
        raise KeyboardInterrupt
    assert (monitor.history.best_round, monitor.history.interrupted) == (0, True)


def test_the_order_of_validation_queries_changes_no_bit():
    rng = np.random.default_rng(1)
    data = RankingData(rng.normal(size=(400, 1)), rng.integers(0, 3, 400), np.repeat(np.arange(100), 4))
    values = set()
    for part in (data, data.take(rng.permutation(400))):
        monitor = watch(NDCG(), part)
        monitor.observe(WeightedModel(1.0, UP), np.zeros(2))
        values.add(monitor.history[0].validation)
    assert len(values) == 1


def test_the_validation_curve():
    history = History((Round(1, 0.5, 0.1, 0.2), Round(2, 0.25, 0.3, 0.1)), 1)
    np.testing.assert_array_equal(history.validation, [0.2, 0.1])
    assert np.isnan(History((Round(1, 0.5, 0.1),), 1).validation).all()


def test_smoothing_averages_a_tenth_to_either_side():
    short = np.array([0.1, 0.9, 0.4])
    np.testing.assert_array_equal(smoothed(short), short)  # a tenth of three rounds is none
    curve = np.array([3.0, 0.0, 0.0, 9.0, 0.0, 6.0, 6.0, 6.0, 0.0, 1.0])
    np.testing.assert_allclose(smoothed(curve), [1.5, 1.0, 3.0, 3.0, 5.0, 4.0, 6.0, 4.0, 7 / 3, 0.5])
    wide = np.zeros(20)
    wide[10] = 1.0
    np.testing.assert_allclose(smoothed(wide)[7:14], [0.0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.0])


def test_smoothing_keeps_a_level_curve_level():
    assert len(set(smoothed(np.full(137, 0.1)))) == 1


def test_repr_of_a_history_is_short():
    rounds = tuple(Round(number, 1.0, None) for number in range(1, 38))
    assert repr(History(rounds, best_round=12)) == "<History: Round 12 of 37 was kept.>"


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
    assert choice == (3, "the last round, because no validation query has a value")
    assert last_round(0, "nothing") == (0, "there is no round")


@pytest.mark.parametrize("patience", [None, 1])
def test_a_metric_without_values_never_stops_a_fit(patience):
    data = RankingData([[1.0], [2.0]], [0, 0], ["q", "q"])
    metric = AP(empty=None)
    monitor = Monitor(metric, data, data, patience=patience, on_round=None, n_threads=1)
    member = WeightedModel(1.0, FeatureScorer(0, 1, n_features=1, missing=0))
    assert not any(monitor.observe(member, np.zeros(2)) for _ in range(4))
    assert monitor.best_round == 4
