from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import rankwright as rw
from rankwright import CalibratedAdaBoost
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.label_classes import LabelClasses
from rankwright.metrics import NDCG
from rankwright.models import Calibrated, Combination
from rankwright.models.model_file import encode
from rankwright.rankers.shared.calibrated_classifiers import BaseLearner, Split
from rankwright.training.learners.class_learners import HammingTree
from rankwright.training.training_set import TrainingSet

SMALL = {"leaves": (4,), "terms": (2,), "rounds_tried": (5, 20), "calibrations": ("ls", "linear"), "splits": 2}


def judged(seed=1, n_queries=30, n_labels=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 10, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=len(X)), [0.3, 1.5][: n_labels - 1])
    return RankingData(X, y, np.repeat(np.arange(n_queries), 10))


def members_of(model):
    return [(one.n_rounds, len(one.calibration.members)) for one in model.members]


@pytest.mark.slow
def test_the_pool_holds_every_learner_split_and_number_of_rounds():
    ranker = CalibratedAdaBoost(**SMALL, exponents=(0.0,), kept_weight=1.0).fit(*judged(), validation=judged(2))
    assert members_of(ranker.model_) == [(5, 2), (20, 2)] * 4
    assert ranker.history_.converging
    weights = np.concatenate([one.calibration.weights for one in ranker.model_.members])
    np.testing.assert_allclose(weights, 1 / 16)
    assert len(ranker.history_) == 4


@pytest.mark.slow
def test_one_number_of_rounds_where_asked():
    ranker = CalibratedAdaBoost(**SMALL, pool_rounds="one").fit(*judged(), validation=judged(2))
    assert len({n_rounds for n_rounds, _ in members_of(ranker.model_)}) == 1


@pytest.mark.slow
def test_a_pruned_pool_is_smaller_and_scores_nearly_alike():
    train, valid, test = judged(), judged(2), judged(3)
    sharp = SMALL | {"exponents": (200.0,)}
    whole, pruned = (
        CalibratedAdaBoost(**sharp, kept_weight=kept).fit(*train, validation=valid) for kept in (1.0, 0.95)
    )
    assert len(encode(pruned.model_)) < len(encode(whole.model_))
    assert np.corrcoef(whole.predict(test), pruned.predict(test))[0, 1] > 0.98


def test_the_model_is_made_of_trees_and_calibrations_alone():
    model = CalibratedAdaBoost(**SMALL).fit(*judged()).model_
    assert isinstance(model, Combination)
    assert all(isinstance(one, Calibrated) for one in model.members)
    assert not model.needs_queries


@pytest.mark.slow
def test_scores_are_expected_gains_from_0_to_1():
    scores = CalibratedAdaBoost(**SMALL).fit(*judged()).predict(judged(2))
    assert 0 <= scores.min() < scores.max() <= 1


def learns(n_labels):
    train, valid, test = (judged(seed, n_labels=n_labels) for seed in (1, 2, 3))
    ranker = CalibratedAdaBoost(leaves=(5,), splits=2).fit(*train, validation=valid)
    return ranker.score(*test) > NDCG(k=10)(test.y, test.X[:, 0], test.qid) + 0.02


def test_it_learns_with_three_labels():
    assert learns(3)


@pytest.mark.slow
def test_it_learns_with_two_labels_and_says_that_calibration_adds_little():
    with pytest.warns(UserWarning, match="There are only two labels: calibrating their probabilities adds little"):
        assert learns(2)


def test_one_label_is_refused():
    train = judged()
    with pytest.raises(InputError, match="within every query all labels are equal"):
        CalibratedAdaBoost(**SMALL).fit(train.X, np.ones(len(train)), train.qid)


@pytest.mark.slow
def test_a_label_that_only_the_calibration_part_has_or_lacks():
    train = judged(n_queries=5)
    y = np.array(train.y)
    y[3] = 7.0  # one document in one query
    ranker = CalibratedAdaBoost(**SMALL | {"splits": 12}, kept_weight=1.0)
    ranker.fit(train.X, y, train.qid, validation=judged(2))
    assert {one.split for one in ranker.pool_} == set(range(12))
    assert np.isfinite(ranker.predict(train)).all()


@pytest.mark.slow
def test_validation_labels_that_training_has_not():
    train, valid = judged(), judged(2)
    y = np.array(valid.y, dtype=float)
    y[:5] = 5.0
    ranker = CalibratedAdaBoost(**SMALL).fit(*train, validation=(valid.X, y, valid.qid))
    assert np.isfinite(ranker.predict(train)).all()


@pytest.mark.slow
def test_splits_whose_queries_to_learn_from_are_all_of_one_label_are_left_out():
    few = judged(n_queries=2)
    y = np.where(few.qid == 0, few.y, 0.0)
    pool = SMALL | {"splits": 10, "kept_weight": 1.0}
    ranker = CalibratedAdaBoost(**pool | {"calibrations": ("standard", "ls")})
    ranker.fit(few.X, y, few.qid, validation=judged(2))
    assert 0 < len({one.split for one in ranker.pool_}) < 10
    assert {one.calibration for one in ranker.pool_} == {"standard"}
    with pytest.raises(InputError, match="in the queries drawn to learn from and in those to calibrate on"):
        CalibratedAdaBoost(**pool).fit(few.X, y, few.qid, validation=judged(2))


@pytest.mark.parametrize("calibrations", [("standard",), ("ls", "linear"), ("standard", "sn")], ids=str)
def test_features_that_say_nothing_are_refused(calibrations):
    train = judged()
    both_values = np.tile([[0.0], [1.0]], (len(train), 1))  # of every document
    with pytest.raises(InputError, match="There is nothing to learn: no feature tells labels apart"):
        CalibratedAdaBoost(**SMALL | {"calibrations": calibrations}).fit(
            both_values, np.repeat(train.y, 2), np.repeat(train.qid, 2)
        )


@pytest.mark.slow
def test_a_pool_whose_scores_of_the_validation_part_are_constant_is_mixed_evenly():
    train, valid = judged(), judged(2)
    blank = RankingData(np.zeros_like(valid.X), valid.y, valid.qid)
    ranker = CalibratedAdaBoost(**SMALL, exponents=(0.0, 100.0), kept_weight=1.0).fit(*train, validation=blank)
    np.testing.assert_allclose([one.weight for one in ranker.pool_], 1 / len(ranker.pool_))
    assert np.ptp(ranker.predict(train)) > 0


def test_the_pool_tells_what_each_member_is_made_of_is_worth_and_weighs():
    train, valid = judged(), judged(2)
    ranker = CalibratedAdaBoost(**SMALL, exponents=(50.0,)).fit(*train, validation=valid)
    sizes = {(one.split, one.learner, one.rounds, one.calibration) for one in ranker.pool_}
    assert sizes == set(product((0, 1), ("4 leaves", "2 terms"), (5, 20), ("ls", "linear")))
    kept = [one for one in ranker.pool_ if one.weight]
    weights = np.array([one.weight for one in kept])
    assert weights.sum() == pytest.approx(1.0)
    expected = np.exp(50.0 * np.array([one.value for one in kept]))
    np.testing.assert_allclose(weights, expected / expected.sum())


def test_a_split_leaves_a_fifth_out_and_a_bag_those_not_drawn():
    train = TrainingSet(judged())
    for bagging, expected in ((False, {6}), (True, {9, 10, 11, 12, 13})):
        for learn, weights, calibrate in CalibratedAdaBoost(bagging=bagging, splits=4)._splits(train):
            n_learned, n_left = len(learn.data.groups), len(calibrate.data.groups)
            assert n_left in expected
            assert n_learned + n_left == 30
            assert bagging == (weights is not None)


def test_a_query_drawn_twice_counts_twice():
    """As if the bag held its documents twice."""
    train, classes = judged(n_queries=8), LabelClasses.of(judged(n_queries=8).y)
    ranker = CalibratedAdaBoost(**SMALL)
    split = ranker._splits(TrainingSet(train))[0]
    times = split.weights.astype(int)
    twice = TrainingSet(split.learn.data.take(np.repeat(split.learn.canonical_rows, times)))
    learned = [
        ranker._boost(BaseLearner(0, one, HammingTree(4)), classes).trees.outputs(train)
        for one in (split, Split(twice, None, split.calibrate))
    ]
    np.testing.assert_allclose(*learned, atol=1e-9)


@pytest.mark.slow
def test_each_round_of_the_history_is_the_mixture_so_far():
    train, valid = judged(), judged(2)
    whole = CalibratedAdaBoost(**SMALL, kept_weight=1.0).fit(train, validation=valid)
    assert whole.history_[-1].validation == pytest.approx(whole.score(*valid), abs=1e-12)
    first = CalibratedAdaBoost(**SMALL | {"splits": 1, "terms": ()}, kept_weight=1.0).fit(train, validation=valid)
    assert whole.history_[0].validation == first.history_[-1].validation


@pytest.mark.slow
def test_without_a_validation_part_all_queries_are_learned_from_and_those_left_out_judge():
    train = judged()
    even, judged_too = (
        CalibratedAdaBoost(**SMALL, exponents=(c,), kept_weight=1.0).fit(train) for c in (0.0, 20.0)
    )
    weights = [np.concatenate([one.calibration.weights for one in r.model_.members]) for r in (even, judged_too)]
    np.testing.assert_allclose(weights[0], 1 / 16)
    for split in np.split(np.log(weights[1]), 2):  # no split is preferred for its queries
        assert np.ptp(split) > 0
    np.testing.assert_allclose(*[split.mean() for split in np.split(np.log(weights[1]), 2)])
    assert np.isnan(even.history_.validation).all()
    chooses = CalibratedAdaBoost(**SMALL, exponents=(0.0, 20.0)).fit(train)
    assert not np.isnan(chooses.history_.validation).any()


def test_left_out_queries_without_anything_relevant_judge_nobody():
    train = judged(n_queries=3)
    y = np.where(train.groups.query_of_row == 0, train.y, 0.0)
    ranker = CalibratedAdaBoost(**SMALL | {"calibrations": ("standard",), "splits": 4}).fit(train.X, y, train.qid)
    assert np.isfinite(ranker.predict(train)).all()


@pytest.mark.slow
def test_companions_are_mixed_with_the_pool_on_the_scale_of_the_query():
    train, test = judged(), judged(3)
    alone = CalibratedAdaBoost(**SMALL).fit(train)
    companions = (rw.RankSVM(), rw.AdaRank(rounds=5))
    together = CalibratedAdaBoost(**SMALL, companions=companions).fit(train)
    apart = [alone, *(one.fit(train) for one in companions)]
    scores = np.stack([one.predict(test) for one in apart]).reshape(3, -1, 10)
    spread = scores.std(axis=2, keepdims=True)
    expected = ((scores - scores.mean(axis=2, keepdims=True)) / spread).mean(axis=0).ravel()
    np.testing.assert_allclose(together.predict(test), expected, atol=1e-9)
    assert together.model_.needs_queries


@pytest.mark.slow
def test_companions_stay_as_they_were():
    companion = rw.RankSVM(n_jobs=1)
    CalibratedAdaBoost(**SMALL, companions=[companion]).fit(judged())
    assert not hasattr(companion, "model_")
    assert companion.n_jobs == 1


def test_ctrl_c_in_a_companion_ends_the_fit(monkeypatch):
    def interrupted(self, task):
        model, history = learned(self, task)
        return model, replace(history, interrupted=True)

    learned = rw.AdaRank._fit
    monkeypatch.setattr(rw.AdaRank, "_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        CalibratedAdaBoost(**SMALL, companions=(rw.AdaRank(rounds=2),)).fit(judged())


def test_ctrl_c_keeps_the_learners_so_far():
    def interrupt(this):
        if this.number == 2:
            raise KeyboardInterrupt

    ranker = CalibratedAdaBoost(**SMALL)
    with pytest.warns(UserWarning, match="Interrupted after 2 of 4 base learners"):
        ranker.fit(*judged(), on_round=interrupt)
    assert ranker.history_.interrupted
    assert len(ranker.history_) == 2
    assert np.isfinite(ranker.predict(judged())).all()


@pytest.mark.slow
def test_the_seed_draws_the_splits():
    models = [encode(CalibratedAdaBoost(**SMALL, random_state=seed).fit(*judged()).model_) for seed in (0, 0, 1)]
    assert models[0] == models[1]
    assert models[0] != models[2]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"leaves": (), "terms": ()}, "leaves and terms must not both be empty"),
        ({"leaves": (1,)}, "leaves must be a list, each an integer of at least 2, not .1,."),
        ({"leaves": 5}, "leaves must be a list, each an integer of at least 2, not 5"),
        ({"terms": (17,)}, "terms must be a list, each an integer from 1 to 16, not .17,."),
        ({"rounds_tried": ()}, "rounds_tried must be a non-empty list, each a positive integer"),
        ({"rounds_tried": (0,)}, "rounds_tried must be a non-empty list, each a positive integer"),
        ({"pool_rounds": "some"}, "pool_rounds must be 'one' or 'all'"),
        ({"calibrations": ()}, "calibrations must be a non-empty list, each"),
        ({"calibrations": ("sigmoid",)}, "calibrations must be a non-empty list, each 'standard', 'ls'"),
        ({"exponents": 20.0}, "exponents must be a non-empty list, each a non-negative number, not 20.0"),
        ({"calibrations": "sl"}, "calibrations must be a non-empty list, each .*, not 'sl'"),
        ({"exponents": ()}, "exponents must be a non-empty list, each a non-negative number"),
        ({"exponents": (-1.0,)}, "exponents must be a non-empty list, each a non-negative number"),
        ({"splits": 0}, "splits must be a positive integer"),
        ({"kept_weight": 0.0}, "kept_weight must be a number above 0 and at most 1"),
        ({"bagging": "some"}, "bagging must be True or False, not 'some'"),
        ({"companions": ("ranksvn",)}, "There is no ranker 'ranksvn'; did you mean 'ranksvm'"),
        ({"companions": (3,)}, "companions must be a list, each a Ranker such as RankSVM"),
        ({"companions": rw.RankSVM()}, "companions must be a list, each a Ranker such as RankSVM"),
        ({"votes": "loud"}, "votes must be None, 'opposite' or 'free'"),
    ],
)
def test_a_wrong_parameter_is_told_in_a_sentence(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        CalibratedAdaBoost(**parameters).fit(*judged())


def test_sample_weight_are_refused():
    train = judged()
    with pytest.raises(InputError, match="CalibratedAdaBoost takes no weights"):
        CalibratedAdaBoost(**SMALL).fit(*train, sample_weight=np.ones(len(train)))


@pytest.mark.slow
def test_a_saved_pool_scores_alike_and_cut_pools_too(tmp_path):
    ranker = CalibratedAdaBoost(**SMALL).fit(*judged())
    rw.save(ranker, tmp_path / "pool.rw")
    assert rw.load(tmp_path / "pool.rw").predict(judged(2)).tolist() == ranker.predict(judged(2)).tolist()


# As the paper prints it


@pytest.mark.slow
def test_unseen_extremes_keep_their_order_where_nothing_is_clipped():
    train, far = judged(), judged(3)
    clipped, printed = (
        CalibratedAdaBoost(**SMALL | {"calibrations": ("linear",), "bagging": False}, clip=clip).fit(
            train, validation=judged(2)
        )
        for clip in (True, False)
    )
    scores = printed.predict(far)
    assert len(np.unique(scores)) >= len(np.unique(clipped.predict(far)))
    assert encode(printed.model_) != encode(clipped.model_)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"entropy_power": 1.0}, "entropy_power changes nothing: it is used by the calibration 'ewls'"),
        ({"smoothness": 1.0}, "smoothness changes nothing: it is used by the calibration 'sn'"),
        (
            {"clip": False, "calibrations": ("ls", "logistic")},
            "clip changes nothing: it is used by .* 'linear' or",
        ),
    ],
)
def test_an_option_of_a_calibration_that_is_not_used_is_refused(options, sentence):
    with pytest.raises(InputError, match=sentence):
        CalibratedAdaBoost(**SMALL | options).fit(judged())


def test_scores_of_members_are_kept_where_asked():
    train, valid = judged(), judged(2)
    options = SMALL | {"rounds_tried": (5,), "splits": 1}
    kept = CalibratedAdaBoost(**options, kept_weight=1.0, keep_scores=True).fit(train, validation=valid)
    assert kept.pool_scores_.shape == (len(kept.pool_), len(valid))
    for member, scores in zip(kept.pool_, kept.pool_scores_, strict=True):
        assert kept.metric(valid.y, scores, valid.qid) == pytest.approx(member.value, rel=1e-12)
    mixed = np.array([one.weight for one in kept.pool_]) @ kept.pool_scores_
    np.testing.assert_allclose(kept.predict(valid), mixed, rtol=1e-5, atol=1e-7)
    assert CalibratedAdaBoost(**options).fit(train, validation=valid).pool_scores_ is None
    with pytest.raises(InputError, match="keep_scores=True needs validation data"):
        CalibratedAdaBoost(**options, keep_scores=True).fit(train)
