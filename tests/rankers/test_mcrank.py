import numpy as np
import pytest

from rankers.test_lambdamart import judged
from rankwright import McRank
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.metrics import AP, NDCG
from rankwright.models import ClassLink, ExpectedRelevance
from rankwright.models.model_file import encode
from rankwright.rankers.mcrank import ClassRule

TRAIN, VALID, TEST = judged(), judged(seed=3), judged(seed=2)
every_kind = pytest.mark.parametrize("classes", ["multiclass", "ordinal"])
all_trees = pytest.mark.parametrize("trees", ["shared", "per_class"])


def fitted(data=TRAIN, *, validation=None, sample_weight=None, **parameters):
    few = {"rounds": 8, "learning_rate": 0.2, "n_jobs": 1}
    return McRank(**few | parameters).fit(data, validation=validation, sample_weight=sample_weight)


# The rule


def targets_of(link, place, n_levels):
    first = 0 if link is ClassLink.MULTICLASS else 1
    rows = range(first, n_levels)
    return np.array([place == k if link is ClassLink.MULTICLASS else place >= k for k in rows], dtype=float)


def loss(link, targets, scores, weights):
    """Minus the log-likelihood, written out."""
    if link is ClassLink.MULTICLASS:
        chances = np.exp(scores) / np.exp(scores).sum(axis=0)
        return -(weights * (targets * np.log(chances)).sum(axis=0)).sum()
    chances = 1 / (1 + np.exp(-scores))
    each = targets * np.log(chances) + (1 - targets) * np.log(1 - chances)
    return -(weights * each.sum(axis=0)).sum()


@pytest.mark.parametrize("link", ClassLink)
@pytest.mark.parametrize("weighted", [False, True])
def test_signals_are_the_derivatives_of_the_likelihood(link, weighted):
    rng = np.random.default_rng(1)
    targets = targets_of(link, rng.integers(0, 4, 7), 4)
    scores = rng.normal(size=targets.shape)
    weights = rng.random(7) if weighted else np.ones(7)
    signal = ClassRule(targets, link, weights if weighted else None, 0.1).signal(scores)
    factor = 4 / 3 if link is ClassLink.MULTICLASS else 1.0
    for place in np.ndindex(scores.shape):
        step = np.zeros_like(scores)
        step[place] = 1e-4
        up, here, down = (loss(link, targets, scores + one, weights) for one in (step, 0 * step, -step))
        assert signal.gradient[place] == pytest.approx(-(up - down) / 2e-4, rel=1e-5, abs=1e-7)
        assert signal.hessian[place] == pytest.approx(factor * (up - 2 * here + down) / 1e-8, rel=1e-4, abs=1e-5)


def test_two_labels_are_the_same_either_way():
    """With two classes the softmax is the logistic function of the difference."""
    data = RankingData(TRAIN.X, TRAIN.y > 1, TRAIN.qid)
    plain = {"rounds": 1, "learning_rate": 1.0, "subsample": 1.0, "l2": 0.0}
    one, two = (fitted(data, classes=classes, **plain) for classes in ("multiclass", "ordinal"))
    np.testing.assert_allclose(one.predict(TEST), two.predict(TEST), rtol=1e-9)


# The model


@every_kind
@all_trees
def test_it_learns_and_scores_are_expected_labels(classes, trees):
    ranker = fitted(rounds=60, classes=classes, trees=trees)
    assert isinstance(ranker.model_, ExpectedRelevance)
    assert ranker.model_.n_rounds == 60
    scores = ranker.predict(TEST)
    assert scores.min() >= 0
    assert scores.max() <= 3
    best = max(NDCG(k=10)(TEST.y, TEST.X[:, one], TEST.qid) for one in range(5))
    assert ranker.score(*TEST) > best + 0.02


@pytest.mark.slow
@every_kind
@all_trees
def test_probabilities_fit_the_training_labels(classes, trees):
    ranker = fitted(rounds=150, max_leaves=20, min_documents=1, classes=classes, trees=trees)
    probabilities = ranker.model_.probabilities(TRAIN.X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    labels = np.unique(TRAIN.y)
    assert np.mean(labels[probabilities.argmax(axis=1)] == TRAIN.y) > 0.95


@all_trees
def test_more_rounds_continue_the_same_model(trees):
    short, long = fitted(rounds=4, trees=trees), fitted(rounds=9, trees=trees)
    assert long.model_.first(4).predict(TEST).tobytes() == short.predict(TEST).tobytes()


@every_kind
@all_trees
def test_validation_chooses_the_round_by_the_expectation(classes, trees):
    ranker = fitted(validation=VALID, rounds=30, classes=classes, trees=trees, metric=AP())
    best = ranker.history_.best_round
    assert ranker.score(*VALID) == pytest.approx(ranker.history_[best - 1].validation, rel=1e-12)


def test_gains_change_only_how_classes_are_read():
    labels, gains = fitted(), fitted(relevance="gains")
    assert gains.model_.levels.tolist() == [0, 1, 3, 7]
    np.testing.assert_array_equal(gains.model_.probabilities(TEST.X), labels.model_.probabilities(TEST.X))
    np.testing.assert_allclose(gains.predict(TEST), gains.model_.probabilities(TEST.X) @ [0, 1, 3, 7])


@every_kind
@all_trees
def test_the_order_of_rows_and_threads_change_nothing(classes, trees):
    rows = np.random.default_rng(4).permutation(len(TRAIN))
    kind = {"classes": classes, "trees": trees}
    fits = [fitted(**kind), fitted(TRAIN.take(rows), **kind), fitted(**kind, n_jobs=2)]
    assert len({encode(one.model_) for one in fits}) == 1


@pytest.mark.parametrize("by", ["documents", "queries", "gradient"])
@all_trees
def test_documents_can_be_drawn_in_every_way(by, trees):
    ranker = fitted(subsample=0.5, subsample_by=by, trees=trees, rounds=30)
    assert ranker.score(*TEST) > NDCG(k=10)(TEST.y, np.zeros(len(TEST)), TEST.qid) + 0.05


def test_a_weighted_document_counts_as_many():
    X, y, qid = TRAIN
    doubled = np.repeat(np.arange(len(y)), np.where(y > 1, 2, 1))
    plain = {"subsample": 1.0, "feature_fraction": 1.0, "rounds": 1, "min_documents": 1, "max_leaves": 2}
    weighted = fitted(sample_weight=np.where(y > 1, 2.0, 1.0), **plain)
    repeated = fitted(RankingData(X[doubled], y[doubled], qid[doubled]), **plain)
    np.testing.assert_allclose(weighted.predict(TEST), repeated.predict(TEST), rtol=1e-9)


def test_columns_made_within_the_query_travel_in_the_model():
    wide = fitted(query_features=["rank"])
    assert wide.model_.needs_queries
    assert wide.model_.n_rounds == 8
    assert wide.model_.first(3).n_rounds == 3


# Mistakes


def test_labels_of_the_same_gain_are_told_before_boosting():
    data = RankingData(TRAIN.X, TRAIN.y * 1e-20, TRAIN.qid)
    sentence = "The labels 0 and 1e-20 have the same gain; use relevance='labels'."
    with pytest.raises(InputError, match=sentence):
        McRank(relevance="gains", rounds=1).fit(data, on_round=lambda _: pytest.fail("boosted"))


def test_too_many_labels_are_told():
    labels = np.arange(len(TRAIN)) / 7
    with pytest.raises(
        InputError, match="McRank treats every distinct label as a class: 360 are too many, at most 256"
    ):
        fitted(RankingData(TRAIN.X, labels, TRAIN.qid))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"classes": "softmax"}, "classes must be 'multiclass' or 'ordinal', not 'softmax'"),
        ({"trees": "one"}, "trees must be 'shared' or 'per_class', not 'one'"),
        ({"relevance": None}, "relevance must be 'labels' or 'gains', not None"),
        ({"feature_fraction": 0}, "feature_fraction must be None or a number above 0 and at most 1, not 0"),
    ],
)
def test_a_wrong_parameter_is_told_in_a_sentence(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        fitted(**parameters)
