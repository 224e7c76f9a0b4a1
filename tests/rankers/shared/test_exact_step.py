from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright import ExactStep, LambdaMART
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.metrics import AP, NDCG, Metric
from rankwright.models.model_file import encode
from reference.sweep import sweep as slow_sweep


def judged(n_queries=30, n_documents=12, *, seed=1):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_queries * n_documents, 5)), 1).astype(np.float32)
    value = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X)) / 3
    return RankingData(X, np.clip(np.round(value), 0, 3), np.repeat(np.arange(n_queries), n_documents))


TRAIN, VALID, TEST = judged(), judged(seed=2), judged(seed=3)


def fitted(step, *, train=TRAIN, validation=None, **parameters):
    few = {"metric": NDCG(k=5), "rounds": 6, "n_jobs": 1, "patience": None}
    return LambdaMART(**few | parameters, step=step).fit(train, validation=validation)


def outputs(ranker, tree, data):
    """What one tree adds to the scores, its weight included."""
    trees = ranker.model_
    return trees.first(tree + 1).predict(data) - trees.first(tree).predict(data)


@pytest.mark.parametrize("metric", [NDCG(k=5), AP()], ids=str)
def test_no_weight_of_a_tree_would_have_been_better(metric):
    data = judged(8, 8)
    ranker = fitted(ExactStep(low=0.2, high=4.0), train=data, metric=metric, rounds=4)
    for tree in range(1, 4):
        s, t = ranker.model_.first(tree).predict(data), outputs(ranker, tree, data) / ranker.history_[tree].weight
        s, t = np.round(s, 9), np.round(t, 9)  # what was tied but for rounding is tied
        best = max(value for _, value in slow_sweep(metric, data.y, data.groups, s, t, 0.2, 4.0))
        assert ranker.history_[tree].train == pytest.approx(best, abs=1e-9)
        assert 0.2 <= ranker.history_[tree].weight <= 4.0


def test_the_first_tree_takes_the_newton_step():
    assert fitted(ExactStep()).history_[0].weight == 1.0
    assert fitted(ExactStep(low=2.0)).history_[0].weight == 2.0
    assert fitted(ExactStep(high=0.5)).history_[0].weight == 0.5


def test_training_rises_faster_than_with_small_steps():
    exact, small = fitted(ExactStep(), rounds=12), fitted(None, rounds=12, learning_rate=0.1)
    assert exact.history_[-1].train > small.history_[-1].train + 0.02
    assert len({one.weight for one in exact.history_}) > 3


def test_on_the_validation_part():
    ranker = fitted(ExactStep(on="validation"), validation=VALID, rounds=15)
    other = fitted(ExactStep(), validation=VALID, rounds=15)
    assert ranker.history_.validation.max() > other.history_.validation.max()
    best = ranker.history_.best_round
    assert ranker.score(*VALID) == pytest.approx(ranker.history_[best - 1].validation, abs=1e-12)


def test_shrinkage_scales_the_weight():
    full, half = fitted(ExactStep(), rounds=1), fitted(ExactStep(shrinkage=0.5), rounds=1)
    assert half.history_[0].weight == 0.5 * full.history_[0].weight


def test_a_weight_for_every_leaf():
    one, each = fitted(ExactStep(high=1.001, low=1.0), rounds=1), fitted(ExactStep(leaves=True), rounds=1)
    assert each.history_[0].train > one.history_[0].train
    factors = each.model_.leaf_value / one.model_.leaf_value
    assert len(np.unique(np.round(factors, 6))) > 1
    assert ((factors >= 0.1 - 1e-9) & (factors <= 5.0 + 1e-9)).all()
    assert each.score(*TRAIN) == pytest.approx(each.history_[0].train, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("on", ["training", "validation"])
@pytest.mark.parametrize("bounds", [(0.1, 5.0), (0.0, 1.0), (1.5, 9.0)], ids=str)
def test_weights_of_leaves_keep_the_monotone_constraints(on, bounds):
    step = ExactStep(*bounds, on=on, leaves=True)
    for sign in (1, -1):
        ranker = fitted(step, validation=VALID, rounds=12, monotone={1: sign, 2: sign}, max_leaves=12)
        for feature in (1, 2):
            grid = np.repeat(TEST.X[:, None], 40, axis=1)
            grid[:, :, feature] = np.linspace(-3.0, 3.0, 40)
            scores = ranker.model_.predict(grid.reshape(-1, 5)).reshape(len(TEST), 40)
            assert (sign * np.diff(scores, axis=1)).min() >= -1e-12


def test_weights_of_leaves_in_order_still_improve():
    one, each = (
        fitted(step, rounds=2, monotone={1: 1}, max_leaves=12)
        for step in (ExactStep(low=1.0, high=1.001), ExactStep(leaves=True))
    )
    assert each.history_[0].train == one.history_[0].train  # in order, the weights of one tree change no ranking
    assert each.history_[1].train > one.history_[1].train


def test_steps_that_overflow_advise_what_can_be_lowered():
    for shrinkage, fault in ((1.0, "too large for a line search"), (1e3, "no longer finite")):
        with pytest.raises(InputError) as caught:
            fitted(ExactStep(low=1e307, high=1.7e307, shrinkage=shrinkage))
        assert (
            str(caught.value) == f"The ensemble's scores are {fault}; use a lower high or shrinkage of ExactStep."
        )


def test_a_weight_for_every_leaf_on_the_validation_part():
    each = fitted(ExactStep(leaves=True, on="validation"), validation=VALID)
    assert each.history_.validation.max() > fitted(ExactStep(), validation=VALID).history_.validation.max()


@pytest.mark.parametrize("on", ["training", "validation"])
def test_refitting_all_weights_improves_what_chose_them(on):
    step = ExactStep(on=on)
    before = fitted(step, validation=VALID)
    after = fitted(replace(step, refit=True), validation=VALID)
    data = TRAIN if on == "training" else VALID
    assert after.score(*data) > before.score(*data)
    assert after.model_.n_trees == before.model_.n_trees


def test_ctrl_c_while_weights_are_refitted_keeps_the_trees(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    plain = fitted(ExactStep())
    monkeypatch.setattr("rankwright.ensembling.line_search.refined_in_turn", interrupted)
    with pytest.warns(UserWarning, match="Interrupted after round 6; the model is that of round 6"):
        stopped = fitted(ExactStep(refit=True))
    assert stopped.history_.interrupted
    assert stopped.predict(TEST).tobytes() == plain.predict(TEST).tobytes()


def test_the_same_bytes_on_any_threads_and_in_any_order():
    step = ExactStep(leaves=True, refit=True)
    shuffled = TRAIN.take(np.random.default_rng(1).permutation(len(TRAIN)))
    models = [fitted(step), fitted(step, train=shuffled, n_jobs=2)]
    assert encode(models[0].model_) == encode(models[1].model_)


def test_columns_made_within_the_query():
    ranker = fitted(ExactStep(on="validation", refit=True), validation=VALID, query_features=["zscore"])
    assert ranker.score(*VALID) > NDCG(k=5)(VALID.y, np.zeros(len(VALID)), VALID.qid)


class FirstIsBest(Metric):
    """A user's own."""

    def of_ranking(self, labels):
        return float(labels[0] == labels.max())


def test_a_metric_of_ones_own():
    ranker = fitted(ExactStep(), metric=FirstIsBest(), train=judged(10, 6), rounds=4)
    assert ranker.history_[-1].train >= ranker.history_[0].train


def test_it_travels_with_the_model():
    assert "ExactStep(low=0.1" in fitted(ExactStep()).model_.about["parameters"]["step"]
    assert rw.ExactStep is ExactStep


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"low": -1.0}, "low must be a non-negative number, not -1.0."),
        ({"low": 2.0, "high": 2.0}, "high must be a number above 2, not 2.0."),
        ({"high": np.inf}, "high must be a number above 0.1, not inf."),
        ({"on": "test"}, "on must be 'training' or 'validation', not 'test'."),
        ({"shrinkage": 0}, "shrinkage must be a positive number, not 0."),
    ],
)
def test_bad_steps(options, sentence):
    with pytest.raises(InputError) as caught:
        ExactStep(**options)
    assert str(caught.value) == sentence


def test_mistakes():
    with pytest.raises(InputError, match=r"step must be None or an ExactStep such as .*, not 'exact'"):
        fitted("exact")
    with pytest.raises(
        InputError, match=r"ExactStep\(on='validation'\) needs validation data, but fit was given none"
    ):
        fitted(ExactStep(on="validation"))
