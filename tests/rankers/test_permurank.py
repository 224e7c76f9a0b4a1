import tracemalloc
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from properties import examples
from rankwright import AdaRank, PermuRank, RankingData
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups
from rankwright.metrics import AP, DCG, ERR, NDCG, RR, WTA, KendallTau, MeanNDCG, Precision, Recall
from rankwright.rankers.permurank import WorkingSets
from rankwright.rankers.shared.permutations import CLOSE, Permutations, _moves
from reference import margin as slow

METRICS = [
    NDCG(),
    NDCG(k=2),
    AP(),
    AP(threshold=2),
    AP(k=2),
    ERR(max_label=2),
    RR(),
    WTA(),
    Precision(k=2),
    Recall(k=3),
    MeanNDCG(),
]


@st.composite
def one_query(draw, longest=5):
    n = draw(st.integers(2, longest))
    labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n).filter(lambda one: len(set(one)) > 1))
    scores = draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n))
    if draw(st.booleans()):  # nearly always in the right order, so that the search has to look beyond the sort
        scores = [10 * label + score / 6 for label, score in zip(labels, scores, strict=True)]
    return np.array(labels, dtype=float), np.array(scores, dtype=float)


def order_of(ranks):
    return np.argsort(ranks).tolist()


def enumerated(labels, scores, metric):
    """The least F of a perfect permutation, and the most of an imperfect one; None if there is no such."""
    found = [
        (metric.of_ranking(labels[list(one)]), slow.joint_score(one, scores.tolist()))
        for one in slow.orders(len(labels))
    ]
    best = max(value for value, _ in found)
    imperfect = [score for value, score in found if value < best - CLOSE]
    return min(score for value, score in found if value >= best - CLOSE), max(imperfect, default=None)


def check_searches(labels, scores, metric):
    if np.isnan(metric.of_ranking(labels)):
        return
    permutations = Permutations(labels, QueryGroups.of_one(len(labels)), metric, 1)
    least, most = enumerated(labels, scores, metric)
    perfect = order_of(permutations.most_violated_perfect(scores))
    assert metric.of_ranking(labels[perfect]) == pytest.approx(permutations.best[0])
    assert slow.joint_score(perfect, scores) == pytest.approx(least, abs=1e-9)
    if most is not None:
        imperfect = order_of(permutations.most_violated_imperfect(scores))
        assert metric.of_ranking(labels[imperfect]) < permutations.best[0] - CLOSE
        assert slow.joint_score(imperfect, scores) == pytest.approx(most, abs=1e-9)


@pytest.mark.parametrize("metric", METRICS, ids=str)
@examples(40)
@given(query=one_query())
def test_both_searches_equal_those_among_all_permutations(metric, query):
    check_searches(*query, metric)


@pytest.mark.slow
@pytest.mark.parametrize("metric", [NDCG(), NDCG(k=3), AP(), Precision(k=2)], ids=str)
def test_so_they_do_for_seven_documents(metric):
    rng = np.random.default_rng(3)
    labels = rng.permutation([2.0, 2, 1, 1, 0, 0, 0])
    check_searches(labels, rng.normal(size=7), metric)
    check_searches(labels, labels + rng.normal(size=7) / 9, metric)


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-3, 3)), min_size=1, max_size=9))
def test_moves_come_in_the_order_of_the_slow_twin(documents):
    documents.sort(key=lambda one: -one[1])
    labels, scores = np.array(documents, dtype=float).T
    assert list(_moves(labels, scores)) == slow.moves(labels.tolist(), scores.tolist())


@pytest.mark.slow
def test_memory_grows_with_the_documents_not_with_their_pairs():
    n = 4000
    labels = np.repeat([1.0, 0.0], n // 2)
    permutations = Permutations(labels, QueryGroups.of_one(n), AP(), 1)
    tracemalloc.start()
    ranks = permutations.most_violated_imperfect(-np.arange(n, dtype=float))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.flatnonzero(ranks != np.arange(1, n + 1)).tolist() == [n // 2 - 1, n // 2]
    assert most < 2000 * n  # bytes; one number for every pair would take 16 times as much


def test_features_are_the_differences_of_all_pairs():
    rng = np.random.default_rng(4)
    X, labels = rng.normal(size=(11, 3)), rng.integers(0, 3, 11).astype(float)
    groups = QueryGroups.of_sizes([5, 6])
    permutations = Permutations(labels, groups, NDCG(), 1)
    ranks = np.concatenate([rng.permutation(5), rng.permutation(6)]) + 1
    for rows, phi in zip(groups, permutations.features(ranks, X.T), strict=True):
        expected = [slow.joint_score(order_of(ranks[rows]), column) for column in X[rows].T]
        np.testing.assert_allclose(phi, expected, atol=1e-12)


def test_the_loss_is_that_of_the_paper():
    rng = np.random.default_rng(5)
    X, labels = rng.normal(size=(8, 3)), np.array([2.0, 1, 0, 0, 1, 1, 0, 0])
    groups = QueryGroups.of_sizes([4, 4])
    permutations = Permutations(labels, groups, NDCG(), 1)
    sets = WorkingSets(permutations, X)
    assert sets.add(permutations.ideal, permutations.worst)
    assert not sets.add(permutations.ideal, permutations.worst)
    scores = rng.normal(size=8)
    added = permutations.most_violated_perfect(scores), permutations.most_violated_imperfect(scores)
    assert sets.add(*added)
    w, expected = rng.normal(size=3) * 3, 0.0
    for query, rows in enumerate(groups):
        perfect = {tuple(one[rows]) for one in (permutations.ideal, added[0])}
        imperfect = {tuple(one[rows]) for one in (permutations.worst, added[1])}
        for good in perfect:
            for bad in imperfect:
                F = [slow.joint_score(order_of(one), X[rows] @ w) for one in (good, bad)]
                lost = permutations.best[query] - NDCG().of_ranking(labels[rows][order_of(bad)])
                expected += lost * max(0.0, 1.0 - (F[0] - F[1])) / len(perfect) / 2
    plane = sets.pairs(1).hinge(w)
    assert plane.slope @ w + plane.offset == pytest.approx(expected, rel=1e-9)


def literal_loss(w, X, labels, groups, metric, sets):
    """The objective of figure 7 with equation 7, over lists of orders B_i and C_i, by every pair of them."""
    total = 0.0
    for rows, (perfect, imperfect) in zip(groups, sets, strict=True):
        scores, values = (X[rows] @ w).tolist(), labels[rows]
        for good in perfect:
            for bad in imperfect:
                lost = metric.of_ranking(values[list(good)]) - metric.of_ranking(values[list(bad)])
                short = 1.0 - (slow.joint_score(good, scores) - slow.joint_score(bad, scores))
                total += lost * max(0.0, short) / len(perfect)
    return total / len(sets)


def literal_violated(w, X, labels, groups, metric):
    """The most violated perfect and imperfect order of every query, among all orders."""
    for rows in groups:
        scores, values = (X[rows] @ w).tolist(), labels[rows]
        value_of = {one: metric.of_ranking(values[list(one)]) for one in slow.orders(len(rows))}
        best = max(value_of.values())
        F = {one: slow.joint_score(one, scores) for one in value_of}
        perfect = [one for one in value_of if value_of[one] >= best - CLOSE]
        yield min(perfect, key=F.get), max((one for one in value_of if one not in perfect), key=F.get)


@pytest.mark.parametrize("seed", range(3))
def test_every_round_is_that_of_figure_7(seed):
    """Hinge loss, last round: each w is the optimum over literal working sets, and their sizes are reported."""
    rng, metric, C = np.random.default_rng(seed), NDCG(k=3), 10.0
    X, groups = rng.normal(size=(12, 2)), QueryGroups.of_sizes([4, 4, 4])
    labels = np.array([2.0, 1, 0, 0] * 3)
    permutations = Permutations(labels, groups, metric, 1)
    first = (permutations.ideal, permutations.worst)
    sets = [tuple({tuple(order_of(one[rows]))} for one in first) for rows in groups]
    printed = PermuRank.as_printed(metric=metric, C=C, rounds=6)
    rounds = list(printed._rounds(permutations, X, None))
    assert len(rounds) > 2
    for w, sizes in rounds:

        def objective(w):
            return w @ w / 2 + C * literal_loss(w, X, labels, groups, metric, sets)

        starts = (w, np.zeros(2), np.ones(2))
        best = min(minimize(objective, one, method="Nelder-Mead", options={"fatol": 1e-9}).fun for one in starts)
        assert objective(w) <= best * (1 + 3e-3)
        n_perfect, n_imperfect = np.mean([[len(one) for one in two] for two in sets], axis=0)
        assert sizes == {"perfect": pytest.approx(n_perfect), "imperfect": pytest.approx(n_imperfect)}
        for two, violated in zip(sets, literal_violated(w, X, labels, groups, metric), strict=True):
            for one, order in zip(two, violated, strict=True):
                one.add(order)


def test_the_sizes_of_the_working_sets_are_in_the_history():
    sizes = [one.diagnostics for one in PermuRank(rounds=5, C=100.0).fit(noisy()).history_]
    assert sizes[0] == {"perfect": 1.0, "imperfect": 1.0}
    for kind in ("perfect", "imperfect"):
        assert sizes[0][kind] < sizes[-1][kind] <= len(sizes)


def test_the_working_sets_may_begin_with_what_another_ranker_violates():
    data, metric = noisy(), NDCG(k=3)
    scores = AdaRank(metric).fit(data).predict(data)
    with patch.object(PermuRank, "_rounds", autospec=True, side_effect=PermuRank._rounds) as spy:
        begun = PermuRank(metric, rounds=1, first=AdaRank(metric)).fit(data)
    _, permutations, _, first = spy.call_args.args
    informative = np.concatenate([rows for rows in data.groups if len(set(data.y[rows])) > 1])
    found, wanted = zip(permutations.labels, first, strict=True), zip(data.y, scores, strict=True)
    assert sorted(map(list, found)) == sorted(np.array(list(wanted))[informative].tolist())
    assert begun.history_[0].diagnostics == {"perfect": pytest.approx(2.0, abs=0.2), "imperfect": 2.0}
    assert not np.allclose(begun.predict(data), PermuRank(metric, rounds=1).fit(data).predict(data))


def test_a_ranker_to_begin_with_is_given_by_name_or_refused():
    data = noisy()
    by_name, by_value = (PermuRank(rounds=2, first=one).fit(data) for one in ("adarank", AdaRank()))
    np.testing.assert_array_equal(by_name.predict(data), by_value.predict(data))
    assert not hasattr(by_value.first, "model_")
    with pytest.raises(InputError, match="first must be None or a Ranker"):
        PermuRank(first=3).fit(data)


def noisy(n_queries=30, *, seed=1, n_documents=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_documents, 5)).astype(np.float32)
    y = np.clip(np.round(X[:, :2].sum(axis=1) + rng.normal(size=len(X))), 0, 2)
    return RankingData(X, y, np.repeat(np.arange(n_queries), n_documents))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("metric", [NDCG(k=3), AP(), MeanNDCG()], ids=str)
def test_it_learns_any_metric_between_0_and_1(metric, loss):
    train, test = noisy(60), noisy(60, seed=2)
    ranker = PermuRank(metric, rounds=8, loss=loss).fit(train)
    assert ranker.score(*test) > metric(test.y, np.zeros(len(test)), test.qid) + 0.05


def test_the_mean_of_the_rounds_is_steadier_than_the_last():
    train = noisy(60)
    swings = []
    for average in (True, False):
        values = [one.train for one in PermuRank(rounds=20, C=1000.0, average=average).fit(train).history_]
        swings.append(np.abs(np.diff(values[5:])).mean())
    assert swings[0] < swings[1]


def test_the_first_round_is_the_same_with_and_without_the_mean():
    data = noisy()
    scores = [PermuRank(rounds=1, average=one).fit(data).rank(*list(data)[::2]) for one in (True, False)]
    np.testing.assert_array_equal(*scores)


def test_it_ends_where_no_permutation_is_new():
    data = RankingData([[2.0], [1.0], [0.0]], [1, 0, 0], [1, 1, 1])
    ranker = PermuRank(rounds=50, C=1000.0).fit(data)
    assert len(ranker.history_) < 50
    assert ranker.score(*data) == 1.0


def test_queries_that_every_ranking_is_equally_good_at_are_skipped_and_counted():
    data = noisy()
    y = data.y.copy()
    y[data.qid == 3], y[data.qid == 4] = 0.0, 1.0
    flat = sum(np.ptp(y[rows]) == 0 for rows in data.groups)
    assert PermuRank(rounds=2).fit(data.X, y, data.qid).skipped_queries_ == flat >= 2
    with pytest.raises(InputError, match=r"every ranking of every query has the same map\.$"):
        PermuRank(AP()).fit(data.X, y / 9, data.qid)


@pytest.mark.parametrize("metric", [DCG(k=3), KendallTau()], ids=str)
def test_a_metric_outside_of_0_to_1_is_refused(metric):
    with pytest.raises(InputError, match=rf"^PermuRank needs a metric between 0 and 1; {metric} is .* here\.$"):
        PermuRank(metric).fit(noisy())


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"C": 0}, "C must be a positive number, not 0."),
        ({"loss": "log"}, "loss must be 'squared_hinge' or 'hinge', not 'log'."),
        ({"average": 1}, "average must be True or False, not 1."),
        ({"scaling": "max"}, "scaling must be .*, not 'max'."),
    ],
)
def test_wrong_parameters_are_told(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        PermuRank(**parameters).fit(noisy())


def test_weights_are_refused():
    with pytest.raises(InputError, match=r"PermuRank takes no weights: every query counts the same\."):
        PermuRank().fit(noisy(), query_weight=np.ones(30))
