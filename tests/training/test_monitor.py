import numpy as np
import pytest

from rankwright.data.dataset import RankingData
from rankwright.metrics import NDCG, RR
from rankwright.models import FeatureScorer, LinearScorer
from rankwright.training.history import History, Round, smoothed
from rankwright.training.monitor import Monitor
from rankwright.training.weak_model import WeightedModel

TRAIN = RankingData([[1.0], [2.0]], [1, 0], ["t", "t"])
VALID = RankingData([[3.0], [1.0], [2.0]], [1, 0, 0], ["v", "v", "v"])
UP, DOWN = FeatureScorer(0, 1, n_features=1, missing=0), FeatureScorer(0, -1, n_features=1, missing=0)


def watch(metric=RR(), validation=None, *, patience=None, on_round=None):  # noqa: B008  # a frozen value
    return Monitor(metric, TRAIN, validation, patience=patience, on_round=on_round, n_threads=1)


def test_without_validation_the_last_round_is_the_best():
    monitor = watch(patience=1)
    assert monitor.history == History((), 0, reason="there is no round")
    for number, scores in enumerate([[1.0, 0.0], [0.0, 1.0]], start=1):
        assert not monitor.observe(WeightedModel(0.5, UP), np.array(scores))
        assert monitor.best_round == number
    reason = "the last round: there are no validation data"
    assert monitor.history == History((Round(1, 0.5, 1.0), Round(2, 0.5, 0.5)), 2, reason=reason)


def test_validation_scores_are_the_weighted_sum_of_the_members():
    monitor = watch(validation=VALID)
    # 1 x up, then 1 - 3 of it, then 1 - 3 + 2.5
    for weight, model in ((1.0, UP), (3.0, DOWN), (2.5, UP)):
        monitor.observe(WeightedModel(weight, model), np.zeros(2))
    assert [this.validation for this in monitor.history] == pytest.approx([1.0, 1 / 3, 1.0])
    assert [this.weight for this in monitor.history] == [1.0, 3.0, 2.5]


def test_a_whole_model_is_judged_by_itself():
    monitor = watch(validation=VALID, patience=2)
    stops = [monitor.observe_model(model, np.array([1.0, 0.0])) for model in (DOWN, UP, DOWN, DOWN)]
    assert (stops, monitor.best_round) == ([False, False, False, True], 2)
    assert [this.validation for this in monitor.history] == pytest.approx([1 / 3, 1.0, 1 / 3, 1 / 3])
    assert [(this.weight, this.train) for this in monitor.history] == [(1.0, 1.0)] * 4


def test_where_rounds_converge_the_last_is_the_best():
    monitor = Monitor(RR(), TRAIN, VALID, patience=None, on_round=None, n_threads=1, converging=True)
    for model in (UP, DOWN):
        assert not monitor.observe_model(model, np.zeros(2))
    assert (monitor.best_round, monitor.history.converging) == (2, True)
    assert monitor.history.reason == "the last round: rounds approach the optimum"


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
    assert repr(History(rounds, best_round=12)) == "<History: Round 12 of 37 kept.>"
