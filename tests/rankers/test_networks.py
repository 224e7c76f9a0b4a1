"""RankNet, LambdaRank and ListNet: their losses, and what all networks share."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from rankwright import LambdaRank, ListNet, RankNet, _native
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.metrics import AP, ERR, NDCG, RR, WTA, Metric, Precision, Recall
from rankwright.models import LinearScorer, NetworkScorer, QueryFeatureScorer
from rankwright.models.model_file import encode
from rankwright.rankers.shared.lambdas import LambdaGradients
from rankwright.training.learners.network_learner import Network
from rankwright.training.training_set import QueryLabels
from reference.lambdas import lambda_gradients
from reference.network import scores as slow_scores
from reference.network import softmax as slow_softmax

CLASSES = [RankNet, LambdaRank, ListNet]
every_class = pytest.mark.parametrize("ranker_class", CLASSES, ids=lambda one: one.__name__)
RNG = np.random.default_rng(4)
SIZES = [6, 1, 9]
JUDGED = QueryLabels(RNG.choice([0.0, 0.5, 1.0, 2.0], sum(SIZES)), QueryGroups.of_sizes(SIZES))


def judged(n_queries=15, n_documents=10, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_documents, 4)).astype(np.float32)
    y = np.round(np.clip(X[:, 0] + X[:, 1] + rng.normal(size=len(X)) / 2, 0, 3))
    return RankingData(X, y, np.repeat(np.arange(n_queries), n_documents))


def ranknet_loss(labels, scores):
    better = np.greater.outer(labels, labels)
    return np.logaddexp(0, -np.subtract.outer(scores, scores))[better].mean() if better.any() else 0.0


def listnet_loss(labels, scores):
    return -softmax(labels) @ log_softmax(scores)


LOSSES = [(RankNet, ranknet_loss, 2e-4), (ListNet, listnet_loss, 1e-6)]


@pytest.mark.parametrize(("ranker_class", "loss", "tolerance"), LOSSES)
def test_the_pull_is_the_slope_of_the_loss(ranker_class, loss, tolerance):
    pull = ranker_class()._pull(JUDGED)
    for query, rows in enumerate(JUDGED.groups):
        scores = RNG.normal(size=len(rows))
        steps = 1e-5 * np.eye(len(rows))
        labels = JUDGED.y[rows]
        slope = [(loss(labels, scores + step) - loss(labels, scores - step)) / 2e-5 for step in steps]
        found = pull(query, scores)
        np.testing.assert_allclose(
            found, -np.array(slope), rtol=0, atol=tolerance * max(1e-3, np.abs(slope).max())
        )


@pytest.mark.parametrize(("ranker_class", "loss", "tolerance"), LOSSES)
@pytest.mark.parametrize("hidden", [(), (3,), (3, 2)], ids=str)
def test_the_gradient_of_the_parameters_equals_finite_differences(ranker_class, loss, tolerance, hidden):
    X = RNG.normal(size=(sum(SIZES), 4)).astype(np.float32)
    random = np.random.default_rng(2)
    network = Network(X, JUDGED.groups, hidden=hidden, learning_rate=0.1, random=random)
    network.parameters = random.normal(size=len(network.parameters))
    pull = ranker_class()._pull(JUDGED)
    rows = JUDGED.groups.rows[:6]

    def loss_at(parameters):
        return loss(JUDGED.y[rows], slow_scores(X[rows], network.widths.tolist(), parameters, np.zeros(4)))

    given = {"widths": network.widths, "parameters": network.parameters, "missing": np.zeros(4), "values": X[rows]}
    found = _native.network_slope(**given, pull=pull(0, _native.network_scores(**given, n_threads=1)))
    steps = 1e-5 * np.eye(len(found))
    slope = [(loss_at(network.parameters + step) - loss_at(network.parameters - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(found, -np.array(slope), rtol=0, atol=5 * tolerance * max(1.0, np.abs(slope).max()))


@pytest.mark.parametrize("metric", [NDCG(), NDCG(k=2), AP(threshold=0.5)], ids=str)
def test_lambdarank_pulls_by_the_metric_over_all_ranks(metric):
    pull, whole = LambdaRank(metric)._pull(JUDGED), NDCG() if isinstance(metric, NDCG) else metric
    scores = RNG.normal(size=len(JUDGED.y))
    wanted, _ = lambda_gradients(whole, JUDGED.y, JUDGED.groups, scores, normalise=True)
    for query, rows in enumerate(JUDGED.groups):
        scale = np.abs(wanted[rows]).max()
        np.testing.assert_allclose(pull(query, scores[rows]), wanted[rows], rtol=0, atol=3e-4 * scale + 1e-24)


def test_lambdarank_needs_swaps_that_count():
    with pytest.raises(InputError, match="There is nothing to learn: no swap of documents changes p@3"):
        LambdaRank(Precision(k=3, threshold=9)).fit(*judged())


@pytest.mark.parametrize("values", [[1.0, 2.0, 0.5], [1e6 + 1, 1e6], [-1e300, 1e300], [4.0]], ids=str)
def test_listnet_pulls_towards_the_softmax_of_labels_however_large_the_values(values):
    judged = QueryLabels(np.zeros(len(values)), QueryGroups.of_one(len(values)))
    found = ListNet()._pull(judged)(0, np.array(values))
    assert found.tolist() == (slow_softmax([0.0] * len(values)) - slow_softmax(values)).tolist()
    np.testing.assert_allclose(1 / len(values) - found, softmax(values), rtol=1e-9, atol=1e-15)


class TopLabel(Metric):
    """A custom metric without a kernel."""

    def of_ranking(self, labels):
        return float(labels[0])


@pytest.mark.parametrize(
    "metric", [NDCG(), AP(threshold=0.5), RR(), ERR(), Recall(k=2), WTA(), TopLabel()], ids=str
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_lambdas_of_one_query_are_those_of_all(metric, weighted):
    scores = RNG.choice([0.0, 0.5, 0.25, 2.0], len(JUDGED.y))  # with ties
    weights = np.array([0.5, 2.0, 3.0]) if weighted else None
    lambdas = LambdaGradients(metric, *JUDGED, query_weights=weights)
    wanted, pull = lambdas(scores)[0], lambdas.pull()
    for query, rows in enumerate(JUDGED.groups):
        assert pull(query, scores[rows]).tobytes() == wanted[rows].tobytes()


@pytest.mark.parametrize("metric", [AP(), NDCG()], ids=str)
def test_labels_40_apart_have_the_lambdas_of_labels_1_apart(metric):
    near = judged()
    near = RankingData(near.X, (near.y > 0).astype(float), near.qid)
    far = RankingData(near.X, 40 * near.y, near.qid)
    scores = RNG.normal(size=len(near))
    pulls = [LambdaGradients(metric, data.y, data.groups)(scores) for data in (near, far)]
    np.testing.assert_allclose(pulls[1], pulls[0], rtol=1e-6, atol=1e-12)


def test_lambdarank_learns_from_grades_40_apart():
    train = judged()
    train = RankingData(train.X, 40 * train.y, train.qid)
    for metric in (AP(), NDCG()):
        ranker = LambdaRank(metric, rounds=5, learning_rate=0.01).fit(train)
        assert ranker.score(*train) > metric(train.y, np.zeros(len(train)), train.qid) + 0.05


class SumOfRanks(TopLabel):
    """A sum over documents until it is told to differ."""

    differs = False

    def of_ranking(self, labels):
        return super().of_ranking(labels) + (labels[1] * labels[2] if SumOfRanks.differs else 0.0)


def test_lambdarank_drops_a_sum_that_does_not_hold(monkeypatch):
    train = judged()
    lambdas = LambdaGradients(SumOfRanks(), train.y, train.groups)
    pull = lambdas.pull()
    monkeypatch.setattr(SumOfRanks, "differs", True)
    with pytest.warns(UserWarning, match="seemed to be a sum over documents"):
        found = [pull(query, RNG.normal(size=10)) for _ in range(20) for query in range(15)]
    assert np.isfinite(found).all()


def test_a_custom_metric_trains_lambdarank():
    train = judged()
    ranker = LambdaRank(TopLabel(), rounds=5, learning_rate=0.01).fit(train)
    assert ranker.score(*train) > TopLabel()(train.y, np.zeros(len(train)), train.qid) + 0.5


@pytest.mark.parametrize("name", ["linear", "linear_by_query", "expected_reciprocal_rank"])
def test_the_bindings_of_pulls_check_their_arrays(name):
    given = {
        "offsets": np.array([0, 2]), "labels": np.zeros(2), "query_weights": None, "truncation": None,
        "normalise": False, "sigma": 1.0, "gains": np.zeros(2, dtype=np.float32), "discounts": np.ones(2),
        "query_factors": np.ones(1), "stop_probability": np.zeros(2), "depth": None,
    }  # fmt: skip
    own = {
        "linear": ("gains", "discounts", "query_factors"),
        "linear_by_query": ("gains", "discounts", "query_factors"),
        "expected_reciprocal_rank": ("stop_probability", "depth"),
    }
    common = ("offsets", "labels", "query_weights", "truncation", "normalise", "sigma")
    arguments = {one: given[one] for one in (*common, *own[name])}
    make = getattr(_native, f"{name}_pull")
    assert make(**arguments)(0, np.zeros(2)).shape == (2,)
    wrong = {
        "offsets": np.array([0, 3]),
        "labels": np.array([0, np.nan]),
        "query_weights": np.ones(2),
        "sigma": 0.0,
    }
    for one, value in wrong.items():
        with pytest.raises(ValueError, match=r"."):
            make(**arguments | {one: value})
    for query, scores in ((1, np.zeros(2)), (0, np.zeros(3)), (0, np.array([0, np.inf]))):
        with pytest.raises(ValueError, match=r"query|lengths|finite|same number"):
            make(**arguments)(query, scores)


@every_class
def test_the_model_is_what_it_should_be(ranker_class):
    train = judged()
    plain = ranker_class(rounds=2, scaling="global").fit(train).model_
    within = ranker_class(rounds=2, scaling="query-minmax").fit(train).model_
    assert isinstance(plain, LinearScorer)
    assert isinstance(within, QueryFeatureScorer)
    assert isinstance(within.inner, LinearScorer)
    for hidden, widths in ((3, [4, 3, 1]), ((3,), [4, 3, 1]), ([3, 2], [4, 3, 2, 1])):
        network = ranker_class(rounds=2, hidden=hidden, scaling="none").fit(train).model_
        assert isinstance(network, NetworkScorer)
        assert network.widths.tolist() == widths


@every_class
@pytest.mark.parametrize("hidden", [(), (5,)], ids=str)
@pytest.mark.parametrize("scaling", ["none", "query-minmax", "query-zscore", "global"])
def test_every_scaling_learns_and_the_order_of_rows_changes_nothing(ranker_class, hidden, scaling):
    train, test = judged(), judged(30, seed=2)
    ranker = ranker_class(rounds=8, learning_rate=0.01, hidden=hidden, scaling=scaling)
    model = ranker.fit(train).model_
    by_chance = NDCG(k=10)(test.y, np.zeros(len(test)), test.qid)
    assert ranker.score(*test) > by_chance + 0.1
    rows = np.random.default_rng(3).permutation(len(train))
    assert encode(ranker.fit(train.take(rows)).model_) == encode(model)


@every_class
def test_seeds_differ(ranker_class):
    models = [ranker_class(rounds=2, hidden=(3,), random_state=seed).fit(judged()).model_ for seed in (0, 0, 1)]
    assert encode(models[0]) == encode(models[1])
    assert models[0].inner.parameters.tolist() != models[2].inner.parameters.tolist()


@every_class
def test_queries_of_one_label_teach_nothing_and_are_counted(ranker_class):
    X, y, qid = judged()
    alone = RankingData(X[:10], y[:10], qid[:10])
    beside = RankingData(X[:20], np.append(y[:10], np.full(10, 2.0)), qid[:20])
    first, second = (ranker_class(rounds=3).fit(data) for data in (alone, beside))
    assert first.model_.inner.weights.tolist() == second.model_.inner.weights.tolist()
    assert (first.skipped_queries_, second.skipped_queries_) == (0, 1)
    assert second.model_.about["skipped_queries"] == 1


@every_class
def test_a_document_without_weight_does_not_pull(ranker_class):
    train = judged()
    plain = ranker_class(rounds=2).fit(train).model_.inner.weights
    ones = ranker_class(rounds=2).fit(train, sample_weight=np.ones(len(train))).model_.inner.weights
    assert ones.tolist() == plain.tolist()
    labels = np.append(train.y[:10], 3 - train.y[:10])  # of a query, and of its copy that wants the opposite
    both = RankingData(np.tile(train.X[:10], (2, 1)), labels, np.repeat(["a", "b"], 10))
    first, second = (
        ranker_class(rounds=1).fit(both, query_weight=given).model_.rank(train.X[:10], 1)
        for given in ([1, 0], [0, 1])
    )
    assert np.corrcoef(first, second)[0, 1] < -0.3


@every_class
@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"learning_rate": 0}, "learning_rate must be a positive number, not 0."),
        ({"learning_rate": float("inf")}, "learning_rate must be a positive number, not inf."),
        ({"hidden": (3, 0)}, "hidden must be a positive integer or a list of them, not .3, 0."),
        ({"hidden": 2.5}, "hidden must be a positive integer or a list of them, not 2.5."),
        ({"hidden": None}, "hidden must be a positive integer or a list of them, not None."),
        ({"hidden": "ten"}, "hidden must be a positive integer or a list of them, not 'ten'."),
        (
            {"scaling": "zscore"},
            "scaling must be 'none', 'query-minmax', 'query-zscore' or 'global', not 'zs",
        ),
        ({"random_state": -1}, "random_state must be a non-negative integer, not -1."),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_told_in_a_sentence(ranker_class, parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        ranker_class(**parameters).fit(*judged())
