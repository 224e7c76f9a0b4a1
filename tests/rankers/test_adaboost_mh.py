from itertools import pairwise

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.label_classes import LabelClasses
from rankwright.metrics import NDCG
from rankwright.models.model_file import encode
from rankwright.rankers.adaboost_mh import AdaBoostMHRule
from rankwright.training.boosting_loop import boost
from rankwright.training.learners.class_learners import ClassLearner, DecisionProduct, HammingTree
from rankwright.training.monitor import Monitor
from rankwright.training.training_set import TrainingSet


def judged(seed=1, n_queries=30, labels=(0.0, 1.0, 2.0)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 10, 4)).astype(np.float32)
    place = np.digitize(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=len(X)), [0.0, 1.2][: len(labels) - 1])
    return RankingData(X, np.array(labels)[place], np.repeat(np.arange(n_queries), 10))


def test_the_first_weights_are_those_of_section_4():
    labels = np.array([0.0, 2.0, 1.0])
    rule = AdaBoostMHRule.of(labels, LabelClasses.of(labels), None, 1.0)
    by_hand = np.array([[1, 0.5, 0.5], [2, 2, 4], [1, 2, 1]]).T
    np.testing.assert_allclose(rule.weights, by_hand / by_hand.sum())
    assert rule.targets.tolist() == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]
    doubled = AdaBoostMHRule.of(labels, LabelClasses.of(labels), np.array([2.0, 1.0, 1.0]), 1.0)
    assert doubled.weights[0, 0] / doubled.weights[0, 1] == 2 * rule.weights[0, 0] / rule.weights[0, 1]


@pytest.mark.parametrize("shape", [HammingTree(6), DecisionProduct(3)], ids=str)
@pytest.mark.parametrize("opposite", [True, False])
def test_every_round_multiplies_the_loss_by_the_root_of_1_less_the_squared_edge(shape, opposite):
    """For votes of +1 and -1, Z_t = sum w exp(-alpha z h) = sqrt(1 - edge^2) with the step of the paper."""
    data = judged()
    rule = AdaBoostMHRule.of(TrainingSet(data).labels.y, LabelClasses.of(data.y), None, 1.0)
    learner = ClassLearner(TrainingSet(data).binned(255), shape=shape, opposite=opposite, n_threads=1)
    scores, losses, expected = np.zeros_like(rule.targets), [1.0], [1.0]
    for _ in range(15):
        signal = rule.signal(scores)
        weak = learner.fit(signal)
        edge = signal.edge(weak.outputs)
        scores = scores + rule.step(signal, weak.outputs) * weak.outputs
        losses.append(float((rule.weights * np.exp(-rule.targets * scores)).sum()))
        expected.append(expected[-1] * np.sqrt(1 - edge**2))
        assert 0 < edge < 1
    np.testing.assert_allclose(losses, expected, rtol=1e-9)
    assert all(later < before for before, later in pairwise(losses))


def test_a_classifier_no_better_than_chance_ends_the_fit():
    labels = np.array([0.0, 1.0])
    rule = AdaBoostMHRule.of(labels, LabelClasses.of(labels), None, 1.0)
    signal = rule.first_signal(np.zeros((2, 2)))
    assert rule.step(signal, -rule.targets) is None
    assert rule.step(signal, rule.targets) < 15  # a perfect one still has a finite step


def test_every_prefix_of_rounds_is_the_model_of_so_many_rounds():
    train = judged()
    long = rw.AdaBoostMH(rounds=20).fit(*train).model_
    short = rw.AdaBoostMH(rounds=7).fit(*train).model_
    assert long.classes.first(7).outputs(train).tolist() == short.classes.outputs(train).tolist()
    np.testing.assert_allclose(long.first(7).predict(train), short.predict(train), rtol=1e-9)
    loud = Monitor(NDCG(k=10), None, None, patience=None, on_round=None, n_threads=1)
    rule = AdaBoostMHRule.of(TrainingSet(train).labels.y, LabelClasses.of(train.y), None, 0.1)
    learner = ClassLearner(TrainingSet(train).binned(255), shape=HammingTree(20), opposite=True, n_threads=1)
    start = np.zeros((3, len(train)))
    members = boost(rule, learner, start=start, rounds=7, monitor=loud)
    assert short.calibration.total == pytest.approx(sum(weight for weight, _ in members), rel=1e-12)


@pytest.mark.parametrize(("learner", "votes"), [("tree", "opposite"), ("product", "free")])
def test_unless_told_trees_vote_oppositely_and_products_freely(learner, votes):
    train, kept = judged(), {"learner": learner, "rounds": 5, "max_terms": 2}
    plain, told, other = (
        rw.AdaBoostMH(**kept, votes=one).fit(*train).predict(train).tolist()
        for one in (None, votes, {"opposite": "free", "free": "opposite"}[votes])
    )
    assert plain == told != other


@pytest.mark.parametrize("parameters", [{}, {"learner": "product"}, {"votes": "free"}], ids=str)
def test_it_learns_what_takes_two_features(parameters):
    train, test = judged(n_queries=60), judged(2, 60)
    ranker = rw.AdaBoostMH(rounds=60, max_leaves=8, **parameters).fit(*train, validation=judged(3, 60))
    by_feature = NDCG(k=10)(test.y, test.X[:, 2], test.qid)
    assert ranker.score(*test) > by_feature + (0.002 if parameters == {"learner": "product"} else 0.02)


@pytest.mark.parametrize("labels", [(0.0, 1.0), (0.0, 3.0, 10.0), (0.5, 1.5, 1.75)], ids=str)
def test_labels_need_not_be_consecutive_nor_whole(labels):
    train, test = judged(labels=labels), judged(2, labels=labels)
    by_chance = NDCG(k=10)(test.y, np.zeros(len(test)), test.qid)
    assert rw.AdaBoostMH(rounds=30).fit(*train).score(*test) > by_chance + 0.05


def test_sample_weight_count_as_copies():
    train = judged(n_queries=8)
    weights = np.ones(len(train))
    weights[:10] = 2.0
    ranker = rw.AdaBoostMH(rounds=4, max_leaves=4).fit(*train, sample_weight=weights)
    twice = train.take(np.concatenate([np.arange(len(train)), np.arange(10)]))
    copied = rw.AdaBoostMH(rounds=4, max_leaves=4).fit(*twice)
    np.testing.assert_allclose(ranker.predict(train), copied.predict(train), rtol=1e-9)


def test_one_label_is_refused():
    train = judged()
    with pytest.raises(InputError, match="within every query all labels are equal"):
        rw.AdaBoostMH().fit(train.X, np.ones(len(train)), train.qid)


def test_features_that_say_nothing_are_refused():
    train = judged()
    both_values = np.tile([[0.0], [1.0]], (len(train), 1))  # of every document
    with pytest.raises(InputError, match="There is nothing to learn: no feature tells labels apart"):
        rw.AdaBoostMH().fit(both_values, np.repeat(train.y, 2), np.repeat(train.qid, 2))


def test_too_many_labels_are_refused():
    train = judged()
    with pytest.raises(InputError, match=r"There are 300 distinct labels.* at most 64 are allowed"):
        rw.AdaBoostMH().fit(train.X, np.arange(300) / 10, train.qid)
    with pytest.raises(InputError, match="must be between -500 and 500; one label is 600"):
        LabelClasses.of(np.array([0.0, 600.0]))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"learner": "stump"}, "learner must be 'tree' or 'product', not 'stump'"),
        ({"votes": "loud"}, "votes must be None, 'opposite' or 'free'"),
        ({"max_leaves": 1}, "max_leaves must be an integer of at least 2"),
        ({"max_terms": 0}, "max_terms must be an integer from 1 to 16, not 0"),
        ({"max_terms": 17}, "max_terms must be an integer from 1 to 16, not 17"),
        ({"learning_rate": 0}, "learning_rate must be a positive number"),
        ({"max_bins": 1}, "max_bins must be an integer from 2 to 255"),
    ],
)
def test_a_wrong_parameter_is_told_in_a_sentence(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        rw.AdaBoostMH(**parameters).fit(*judged())


def test_threads_and_the_order_of_rows_change_nothing_of_a_product():
    train = judged()
    rows = np.random.default_rng(1).permutation(len(train))
    models = [
        rw.AdaBoostMH(rounds=8, learner="product", n_jobs=n).fit(*data).model_
        for n, data in ((1, train), (2, train.take(rows)))
    ]
    assert encode(models[0]) == encode(models[1])
