"""The loop with rules and learners that do as they are told."""

from dataclasses import dataclass, field
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright import MART, AdaBoostMH, LambdaMART, McRank, MPBoost, RankBoost, _native
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.metrics import NDCG, Ties
from rankwright.metrics.catalogue import as_metric
from rankwright.models import FeatureScorer
from rankwright.models.model_file import encode
from rankwright.rankers.shared.distances import Binary
from rankwright.training import boosting_loop
from rankwright.training.boosting_loop import boost
from rankwright.training.fit_task import FitTask
from rankwright.training.learners import tree
from rankwright.training.learners.class_learners import ClassLearner
from rankwright.training.learners.pair_signal import LabelPairs, NativePairs, equal_strength
from rankwright.training.learners.signal import Weak
from rankwright.training.learners.tree import NativeGradients, TreeLearner, TreeLimits
from rankwright.training.monitor import Monitor, WeightedModel
from rankwright.training.training_set import QueryLabels, TrainingSet

START = np.array([0.5, -0.25, 1.0])
DATA = RankingData([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]], [2, 1, 0], [7, 7, 7])
RIGHT, WRONG = (FeatureScorer(1 - wrong, n_features=2, missing=0) for wrong in (0, 1))


@dataclass
class Script:
    """A rule that takes the steps it was given, whose signal is the scores, and that remembers all it saw."""

    remedy = "write smaller steps"
    steps: list[float | None]
    seen: list = field(default_factory=list)

    def first_signal(self, scores):
        return ("first", scores.copy())

    def signal(self, scores):
        return ("next", scores.copy())

    def step(self, signal, outputs):
        self.seen.append((signal, outputs))
        return self.steps[len(self.seen) - 1]


@dataclass
class Repeat:
    """A learner that answers with the models it was given."""

    models: list[FeatureScorer]
    signals: list = field(default_factory=list)

    def fit(self, signal):
        model = self.models[len(self.signals)]
        self.signals.append(signal)
        return Weak(model, model.predict(DATA))


def run(steps, models=None, *, rounds=10, validation=None, patience=None, on_round=None):
    rule, learner = Script(steps), Repeat(models or [RIGHT] * len(steps))
    monitor = Monitor(NDCG(), DATA, validation, patience=patience, on_round=on_round, n_threads=1)
    members = boost(rule, learner, start=START, rounds=rounds, monitor=monitor)
    return members, rule, learner, monitor.history


def test_the_budget_ends_it():
    members, rule, _, history = run([1.0] * 5, rounds=3)
    assert members == [WeightedModel(1.0, RIGHT)] * 3
    assert len(rule.seen) == len(history) == history.best_round == 3


def test_the_rule_ends_it():
    members, rule, _, history = run([2.0, 1.0, None, 1.0])
    assert members == [WeightedModel(2.0, RIGHT), WeightedModel(1.0, RIGHT)]
    assert (len(rule.seen), len(history)) == (3, 2)


def test_a_rule_that_never_starts_leaves_no_members():
    members, _, _, history = run([None])
    assert (members, len(history), history.best_round) == ([], 0, 0)


def test_signals_come_from_the_start_plus_the_weighted_outputs():
    steps, models = [2.0, 0.5, -1.0, None], [RIGHT, WRONG, RIGHT, RIGHT]
    _, rule, learner, _ = run(steps, models)
    outputs = [model.predict(DATA) for model in models]
    for number, ((kind, scores), seen) in enumerate(rule.seen):
        assert kind == ("next" if number else "first")
        expected = START + sum(step * output for step, output in zip(steps[:number], outputs, strict=False))
        np.testing.assert_array_equal(scores, expected)
        np.testing.assert_array_equal(seen, outputs[number])
    assert learner.signals == [signal for signal, _ in rule.seen]


def test_scores_that_overflow_come_with_the_rules_advice():
    with pytest.raises(InputError, match=r"^The ensemble's scores are no longer finite; write smaller steps\.$"):
        run([1.0, 1e308, 1e308])


def test_the_start_is_left_alone():
    before = START.copy()
    run([1.0, 1.0], rounds=2)
    np.testing.assert_array_equal(START, before)


def test_patience_ends_it_and_members_end_with_the_best_round():
    # Round 1 is wrong, round 2 puts it right, and all others are wrong again.
    members, rule, _, history = run(
        [1.0, 5.0, 9.0, 1.0, 1.0], [WRONG, RIGHT, *[WRONG] * 3], validation=DATA, patience=2
    )
    assert members == [WeightedModel(1.0, WRONG), WeightedModel(5.0, RIGHT)]
    assert (len(rule.seen), len(history), history.best_round) == (4, 4, 2)


def test_without_patience_it_goes_on_but_keeps_the_best_round():
    members, _, _, history = run([1.0, 5.0, 100.0], [RIGHT, RIGHT, WRONG], rounds=3, validation=DATA)
    assert members == [WeightedModel(1.0, RIGHT)]
    assert (len(history), history.best_round) == (3, 1)


def interrupt(this):
    if this.number == 2:
        raise KeyboardInterrupt


def test_ctrl_c_ends_the_loop_with_the_rounds_so_far():
    with pytest.warns(UserWarning, match="Interrupted after round 2; the model is that of round 2"):
        members, rule, _, history = run([1.0, 3.0, 1.0], on_round=interrupt)
    assert members == [WeightedModel(1.0, RIGHT), WeightedModel(3.0, RIGHT)]
    assert len(rule.seen) == len(history) == 2


def test_ctrl_c_keeps_the_best_of_the_rounds_so_far():
    with pytest.warns(UserWarning, match="Interrupted after round 2; the model is that of round 1"):
        members, *_ = run([1.0, 1.0, 1.0], validation=DATA, on_round=interrupt)
    assert members == [WeightedModel(1.0, RIGHT)]


def test_ctrl_c_while_a_weak_model_is_fitted():
    class Slow(Repeat):
        def fit(self, signal):
            if len(self.signals) == 1:
                raise KeyboardInterrupt
            return super().fit(signal)

    monitor = Monitor(NDCG(), DATA, None, patience=None, on_round=None, n_threads=1)
    with pytest.warns(UserWarning, match="Interrupted after round 1"):
        members = boost(Script([1.0]), Slow([RIGHT]), start=START, rounds=9, monitor=monitor)
    assert members == [WeightedModel(1.0, RIGHT)]


def test_ctrl_c_before_the_first_round_is_the_callers():
    class Stuck(Script):
        def first_signal(self, _scores):
            raise KeyboardInterrupt

    monitor = Monitor(NDCG(), DATA, None, patience=None, on_round=None, n_threads=1)
    with pytest.raises(KeyboardInterrupt):
        boost(Stuck([]), Repeat([]), start=START, rounds=9, monitor=monitor)


def test_other_errors_are_the_callers():
    def fail(_this):
        raise RuntimeError("no disk")

    with pytest.raises(RuntimeError, match="no disk"):
        run([1.0, 1.0], on_round=fail)


def test_a_rule_may_report_diagnostics_of_every_round():
    class Diagnosed(Script):
        def diagnostics(self, before, outputs, step, after):
            return {"step": step, "before": before[1][0], "after": after[1][0], "output": outputs[0]}

    monitor = Monitor(NDCG(), DATA, None, patience=None, on_round=None, n_threads=1)
    boost(Diagnosed([2.0, 0.5]), Repeat([RIGHT, WRONG]), start=START, rounds=2, monitor=monitor)
    outputs = [model.predict(DATA)[0] for model in (RIGHT, WRONG)]
    first = START[0] + 2.0 * outputs[0]
    assert monitor.history[0].diagnostics == {
        "step": 2.0,
        "before": START[0],
        "after": first,
        "output": outputs[0],
    }
    assert monitor.history[1].diagnostics["after"] == first + 0.5 * outputs[1]
    assert monitor.history.curve("step").tolist() == [2.0, 0.5]
    assert np.isnan(monitor.history.curve("unknown")).all()


def test_a_rule_without_diagnostics_reports_none():
    assert [this.diagnostics for this in run([1.0, 1.0], rounds=2)[-1]] == [{}, {}]


def judged(seed, n_queries, *, decimals=1):
    """Documents with ties, missing values, a constant column, and queries of one document."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 9, n_queries)
    X = random.normal(size=(sizes.sum(), 4)).round(decimals).astype(np.float32)
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 3] = 5.0
    y = (np.nan_to_num(X[:, 0]) + random.normal(size=len(X)) > 0.5).astype(float) + (X[:, 1] > 1.0)
    y[:2], X[:2, 0] = (0, 1), (0, 1)  # something to learn, whatever was drawn
    return RankingData(X, y, np.repeat(np.arange(n_queries), sizes).astype(str))


SHARED_SETTINGS = {
    "rounds": st.sampled_from([1, 5, 40]),
    "learning_rate": st.sampled_from([0.05, 0.5]),
    "max_leaves": st.sampled_from([2, 4, 8]),
    "min_documents": st.sampled_from([1, 3]),
    "subsample": st.sampled_from([0.4, 1.0]),
    "subsample_by": st.sampled_from(["documents", "queries", "gradient"]),
    "feature_fraction": st.sampled_from([0.3, 1.0]),
    "patience": st.sampled_from([None, 3]),
    "n_jobs": st.sampled_from([1, 2]),
}
SETTINGS = st.fixed_dictionaries(
    {**SHARED_SETTINGS, "monotone": st.sampled_from([None, {0: 1}]), "coarse": st.booleans()}
)
METRICS = [
    *("ndcg@3", "dcg", "map", "rr", "err"),
    *(NDCG(k=3, ties=ties) for ties in (Ties.STABLE, Ties.WORST)),
    NDCG(k=3, fewer_than_k=0.5),
    NDCG(k=3, empty=1.0),
]


def fitted(ranker, seed, *, validated, weighted):
    train, valid = judged(seed, 12), judged(seed + 1, 8)
    weights = np.linspace(0.5, 2.0, len(train.groups)) if weighted else None
    history = []
    ranker.fit(
        train,
        validation=valid if validated else None,
        query_weight=weights,
        on_round=history.append,
    )
    return ranker.model_, history, ranker.history_


@given(
    st.sampled_from([partial(make, metric) for make in (MART, LambdaMART) for metric in METRICS]),
    SETTINGS,
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
)
@examples(60)
def test_rounds_in_native_code_are_those_of_the_loop_in_python(make, settings, seed, validated, weighted):
    options = {"seed": seed, "validated": validated, "weighted": weighted}
    model, rounds, history = fitted(make(**settings), **options)
    with patch.object(TreeLearner, "in_core", lambda *_: None):
        expected, expected_rounds, expected_history = fitted(make(**settings), **options)
    for name in ("splits", "feature", "threshold", "missing_left", "left", "right", "leaf_value", "gain", "cover"):
        assert getattr(model, name).tobytes() == getattr(expected, name).tobytes()
    assert repr(rounds) == repr(expected_rounds)
    assert repr(history) == repr(expected_history)


@given(
    st.sampled_from([partial(McRank, metric) for metric in METRICS]),
    st.fixed_dictionaries(
        {
            **SHARED_SETTINGS,
            "classes": st.sampled_from(["multiclass", "ordinal"]),
            "trees": st.sampled_from(["shared", "per_class"]),
        }
    ),
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
)
@examples(60)
def test_rounds_of_classes_in_native_code_are_those_of_the_loop_in_python(
    make, settings, seed, validated, weighted
):
    options = {"seed": seed, "validated": validated, "weighted": weighted}
    model, rounds, history = fitted(make(**settings), **options)
    with patch.object(TreeLearner, "in_core", lambda *_: None):
        expected, expected_rounds, expected_history = fitted(make(**settings), **options)
    assert encode(model) == encode(expected)
    assert repr(rounds) == repr(expected_rounds)
    assert repr(history) == repr(expected_history)


# Without a relevant feature that stands out, the sample chooses the wrong features; with one, it does not.
@pytest.mark.parametrize(("n_relevant", "grows"), [(60, True), (1, False)])
def test_more_documents_are_drawn_where_samples_mislead(n_relevant, grows, monkeypatch):
    monkeypatch.setattr(tree, "LEAST_DRAWN", 0)
    random = np.random.default_rng(7)
    X = random.normal(size=(3000, 60)).astype(np.float32)
    y = (X[:, :n_relevant] @ np.ones(n_relevant) > 0).astype(float)
    options = {"rounds": 30, "max_leaves": 8, "coarse": True, "subsample": 0.05, "subsample_by": "gradient"}
    drawn = []
    draw = _native.draw_by_size

    def watched(*arguments):
        drawn.append(draw(*arguments))
        return drawn[-1]

    data = RankingData(X, y, np.arange(3000) // 30)
    in_core = LambdaMART(**options, n_jobs=2).fit(data).model_
    with patch.object(TreeLearner, "in_core", lambda *_: None), patch.object(_native, "draw_by_size", watched):
        model = LambdaMART(**options, n_jobs=1).fit(data).model_
    assert encode(model) == encode(in_core)
    sizes = [len(rows) for rows, _ in drawn]
    assert (max(sizes) > 1.4 * sizes[0]) == grows
    assert len(sizes) == 30 or grows


CLASS_SETTINGS = st.fixed_dictionaries(
    {
        "rounds": st.sampled_from([1, 5, 40]),
        "learning_rate": st.sampled_from([0.05, 1.0]),
        "learner": st.sampled_from(["tree", "product"]),
        "max_leaves": st.sampled_from([2, 5]),
        "max_terms": st.sampled_from([1, 3]),
        "votes": st.sampled_from(["opposite", "free"]),
        "patience": st.sampled_from([None, 3]),
        "n_jobs": st.sampled_from([1, 2]),
    }
)


@given(CLASS_SETTINGS, st.integers(0, 99), st.booleans(), st.booleans())
@examples(60)
def test_rounds_of_votes_in_native_code_are_those_of_the_loop_in_python(settings, seed, validated, weighted):
    options = {"seed": seed, "validated": validated, "weighted": weighted}
    model, rounds, history = fitted(AdaBoostMH(**settings), **options)
    with patch.object(ClassLearner, "in_core", lambda *_: None):
        expected, expected_rounds, expected_history = fitted(AdaBoostMH(**settings), **options)
    assert encode(model) == encode(expected)
    assert repr(rounds) == repr(expected_rounds)
    assert repr(history) == repr(expected_history)


PAIR_SETTINGS = st.fixed_dictionaries(
    {
        "rounds": st.sampled_from([1, 5, 40]),
        "patience": st.sampled_from([None, 3]),
        "pair_weights": st.sampled_from(["uniform", "query"]),
        "all_thresholds": st.booleans(),
        "n_jobs": st.sampled_from([1, 2]),
    }
)
PAIR_RANKERS = [
    *(partial(RankBoost, directions=directions) for directions in ("up", "both")),
    *(partial(MPBoost, newton=newton, learning_rate=rate) for newton in (False, True) for rate in (0.1, 1.0)),
]


@given(
    st.sampled_from([partial(make, metric) for make in PAIR_RANKERS for metric in METRICS]),
    PAIR_SETTINGS,
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
)
@examples(60)
def test_rounds_of_pairs_in_native_code_are_those_of_the_loop_in_python(make, settings, seed, validated, weighted):
    options = {"seed": seed, "validated": validated, "weighted": weighted}
    model, rounds, history = fitted(make(**settings), **options)
    with patch.object(NativePairs, "of", lambda *_: None):
        expected, expected_rounds, expected_history = fitted(make(**settings), **options)
    assert encode(model) == encode(expected)
    assert repr(rounds) == repr(expected_rounds)
    assert repr(history) == repr(expected_history)


@pytest.mark.parametrize("known", [NativePairs.of, lambda *_: None], ids=["core", "Python"])
def test_a_loss_of_pairs_that_overflows_comes_with_advice(known):
    data = RankingData([[0.0], [1.0], [0.5]], [0, 1, 1], [1, 1, 1])
    ranker = MPBoost(rounds=9, learning_rate=1e308, distance=Binary())
    with patch.object(NativePairs, "of", known), pytest.raises(InputError, match=r"no longer finite; use a lower"):
        ranker.fit(data)


def test_rounds_of_pairs_refuse_other_documents_and_queries():
    data, other = judged(0, 4), judged(1, 5)
    pairs, others = (
        LabelPairs.of(QueryLabels(part.y, part.groups), equal_strength, n_threads=1) for part in (data, other)
    )
    binned, start = TrainingSet(data).binned(255, 1), np.zeros(len(data))
    following = np.zeros((0, 4), np.float32), binned.sources
    with pytest.raises(ValueError, match="the pairs and the matrix must have the same rows"):
        _native.boost_pair_votes(binned.matrix, others.in_core, start, 1, False, True, *following, None, 1)
    measure = NDCG().native_measure(data.y, QueryGroups.of(np.zeros(len(data), int)))
    with pytest.raises(ValueError, match="the pairs and the measure must have the same queries"):
        _native.boost_pair_votes(binned.matrix, pairs.in_core, start, 1, False, True, *following, measure, 1)
    with pytest.raises(MemoryError):  # also under an address sanitizer, which would end the process
        _native.boost_pair_votes(binned.matrix, pairs.in_core, start, 2**40, False, True, *following, None, 1)


def test_blocks_of_rounds_end_when_nothing_is_left_to_improve():
    ranker = LambdaMART(rounds=200, learning_rate=1.0, max_leaves=2).fit([[0.0], [1.0]], [0, 1], [1, 1])
    with patch.object(TreeLearner, "in_core", lambda *_: None):
        expected = LambdaMART(rounds=200, learning_rate=1.0, max_leaves=2).fit([[0.0], [1.0]], [0, 1], [1, 1])
    assert len(ranker.history_) == len(expected.history_)


def test_scores_that_overflow_in_native_code_come_with_the_rules_advice():
    data = RankingData([[0.0], [1.0]], [0, 1e100], [1, 1])
    with pytest.raises(InputError, match=r"no longer finite; use a lower learning_rate\.$"):
        MART(rounds=300, learning_rate=1e300, l2=0.0).fit(data)


def test_ctrl_c_in_a_block_keeps_the_rounds_that_were_recorded():
    with pytest.warns(UserWarning, match="Interrupted after round 2; the model is that of round 2"):
        ranker = LambdaMART(rounds=50).fit(judged(0, 12), on_round=interrupt)
    assert ranker.model_.n_trees == len(ranker.history_) == 2


def test_blocks_are_shorter_if_there_are_many_validation_documents(monkeypatch):
    train, valid, lengths, fit = judged(0, 4), judged(1, 40), [], TreeLearner.boost

    def counted(learner, rule, scores, n_rounds, following):
        lengths.append(n_rounds)
        return fit(learner, rule, scores, n_rounds, following)

    monkeypatch.setattr(boosting_loop, "BLOCK_SCORES", 3 * len(valid))
    monkeypatch.setattr(TreeLearner, "boost", counted)
    MART(rounds=7).fit(train, validation=valid)
    assert lengths == [3, 3, 1]


def test_a_rule_in_native_code_refuses_weights_that_no_fit_has():
    for weights in ([1.0, -1.0], [1.0, np.nan], [1.0]):
        with pytest.raises(ValueError, match="row_weights must be one number per row, none of them negative"):
            _native.squared_error_rule(np.zeros(2), np.array(weights))


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_a_metric_in_native_code_leaves_nothing_to_python(metric):
    """Only ties by label, and the value of short queries, are Python's."""
    data = judged(0, 12)
    metric = as_metric(metric)
    of_python = metric.ties is Ties.WORST or getattr(metric, "fewer_than_k", None) is not None
    assert (metric.native_measure(data.y, data.groups) is None) == of_python


def test_a_measure_of_other_documents_is_refused():
    data, other = judged(0, 4), judged(1, 5)
    learner = LambdaMART()._learner(FitTask(TrainingSet(data), None, None, None, 1), np.zeros(0, np.int8))
    measure = NDCG().native_measure(other.y, other.groups)
    rule = NativeGradients(_native.squared_error_rule(np.zeros(len(data)), None), 0.1, measure)
    with pytest.raises(ValueError, match="the rule and the measure must have the same rows"):
        learner.boost(rule, np.zeros(len(data)), 1, np.zeros((0, 4), np.float32))


def test_rounds_in_native_code_need_documents():
    nothing, rows, directions = np.zeros((0, 1), np.float32), np.zeros(0, np.uint32), np.zeros(0, np.int8)
    binned, rule = (
        _native.encode(nothing, np.arange(0), np.arange(0), [[0.5]], False, 1),
        _native.squared_error_rule(np.zeros(0), None),
    )
    limits = (*TreeLimits(2, 1, 0.0, 0.0), 0.1)
    with pytest.raises(ValueError, match="there must be documents"):
        _native.boost_trees(
            *(binned, rule, False, np.zeros(0), [(rows, rows, 0)], directions, *limits),
            *(nothing, np.zeros(1, np.int64), None, 1, None, _native.GrowthWorkspace()),
        )


def test_rounds_in_native_code_need_the_draws_of_whole_rounds():
    X, features, directions = np.zeros((4, 1), np.float32), np.zeros(1, np.uint32), np.zeros(1, np.int8)
    binned = _native.encode(X, np.arange(4), np.arange(4), [[0.5]], False, 1)
    rule = _native.class_rule(np.zeros((3, 4)), True, None)
    draw = (np.arange(4, dtype=np.uint32), features, 0)
    following, limits = np.zeros((0, 1), np.float32), (*TreeLimits(2, 1, 0.0, 0.0), 0.1)
    for n_draws in (1, 2, 4):
        with pytest.raises(ValueError, match="there must be one draw per tree of whole rounds"):
            _native.boost_trees(
                *(binned, rule, False, np.zeros(12), [draw] * n_draws, directions, *limits),
                *(following, np.zeros(1, np.int64), None, 1, None, _native.GrowthWorkspace()),
            )
