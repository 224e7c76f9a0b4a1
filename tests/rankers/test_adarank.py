from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright import AdaRank, LambdaMART, PermuRank
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.metrics import AP, DCG, ERR, NDCG, RR, WTA, DotProduct, Gain, KendallTau, MeanNDCG, Metric, Ties
from rankwright.models import LinearScorer
from rankwright.rankers import adarank as module
from reference import adarank as slow
from shared_data import SHARED, needs_shared_data

METRICS = st.sampled_from(
    [
        NDCG(),
        NDCG(k=2),
        NDCG(ties=Ties.EXPECTED, empty=None),
        AP(),
        ERR(max_label=2),
        WTA(),
        MeanNDCG(),
        KendallTau(),
    ]
)
# Each column has a scale of its own: only equal values tie, not sums of different ones that happen to be equal.
SCALES = np.sqrt([2.0, 3.0, 5.0])


@st.composite
def small_data(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    n = sum(sizes)
    value = st.sampled_from([-1.0, 0.0, 1.0, 2.0, np.nan])
    X = np.array(draw(st.lists(st.tuples(value, value, value), min_size=n, max_size=n))) * SCALES
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), dtype=float)
    rows = draw(st.permutations(range(n)))
    return X[rows].astype(np.float32), y[rows], np.repeat(np.arange(len(sizes)), sizes)[rows]


def fit_with_members(ranker, X, y, qid):
    """The fitted ranker, with the weak rankers it chose in each round."""
    with patch.object(module, "_as_linear", wraps=module._as_linear) as spy:
        ranker.fit(X, y, qid)
    members = spy.call_args.args[0]
    return [(slow.WeakRanker(one.model.feature, one.model.direction), one.weight) for one in members]


def can_be_learned(X, y, qid, metric, directions):
    queries = [query for query in slow.queries_of(X, y, qid) if slow.counts(metric, query.labels)]
    means = [
        np.mean(slow.qualities(metric, weak, queries)) if queries else 0
        for weak in slow.weak_rankers(X.shape[1], directions)
    ]
    return max(means) > slow.CLOSE and any(differ(y[qid == one]) and differ(X[qid == one]) for one in set(qid))


def differ(rows):
    return len(np.unique(np.nan_to_num(rows, nan=-99.0), axis=0)) > 1


@pytest.mark.parametrize("choose", ["loss", "measure"])
@pytest.mark.parametrize("directions", ["up", "both"])
@examples(100)
@given(data=small_data(), metric=METRICS, all_queries=st.booleans())
def test_fits_as_the_slow_twin(choose, directions, data, metric, all_queries):
    assume(can_be_learned(*data, metric, directions))
    options = {"rounds": 4, "choose": choose, "directions": directions, "all_queries": all_queries}
    ranker = AdaRank(metric, n_jobs=1, **options)
    members = fit_with_members(ranker, *data)
    wanted = slow.adarank(*data, metric, **options, between_equals=[weak for weak, _ in members])
    # A feature that is taken back leaves scores of nothing but rounding, and those rank as they please.
    assume(len({weak.feature for weak, _ in wanted}) == len({weak for weak, _ in wanted}))
    assert [weak for weak, _ in members] == [weak for weak, _ in wanted]
    np.testing.assert_allclose([alpha for _, alpha in members], [alpha for _, alpha in wanted], rtol=1e-5)
    assert [this.weight for this in ranker.history_] == [alpha for _, alpha in members]
    filled = np.concatenate([query.X for query in slow.queries_of(data[0], data[1], np.zeros(len(data[1])))])
    np.testing.assert_allclose(ranker.predict(data[0]), slow.scores_of(wanted, filled), rtol=1e-5, atol=1e-9)


def queries_of_three(*features):
    """Two queries of three documents whose best comes first; a feature for each list."""
    return np.array(features, dtype=float).T, [2, 1, 0, 2, 1, 0], [1, 1, 1, 2, 2, 2]


def noisy(n_queries=30, *, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 6, 6))
    y = np.clip(np.round(X[:, :3].sum(axis=1) + rng.normal(size=len(X))), 0, 3)
    return X, y, np.repeat(np.arange(n_queries), 6)


def test_a_perfect_feature_has_a_finite_weight_and_ends_it():
    for choose in ("loss", "measure"):
        ranker = AdaRank(choose=choose).fit(*queries_of_three([1, 2, 3, 3, 2, 1], [3, 2, 1, 6, 5, 4]))
        assert ranker.model_.weights[0] == 0
        assert ranker.model_.weights[1] == pytest.approx(0.5 * np.log(2e12), rel=1e-3)
        assert len(ranker.history_) == 1
        assert ranker.history_[0].train == 1.0


def test_between_equal_features_the_first_is_taken():
    column = [3, 1, 2, 6, 5, 4]
    for choose in ("loss", "measure"):
        ranker = AdaRank(choose=choose, rounds=1).fit(*queries_of_three([0] * 6, column, column, column))
        assert np.flatnonzero(ranker.model_.weights).tolist() == [1]


def test_the_opposite_of_a_feature_needs_both_directions():
    data = queries_of_three([1, 2, 3, 4, 5, 6])
    assert AdaRank().fit(*data).model_.weights[0] > 0
    assert AdaRank(directions="both").fit(*data).model_.weights[0] < 0
    assert AdaRank(directions="both").fit(*data).score(*data) == 1.0


def test_a_missing_value_counts_as_the_lowest():
    X, y, qid = queries_of_three([5, 4, 3, 6, 5, 4])
    X[[2, 5]] = np.nan
    # The lowest of all may belong to a query that teaches nothing.
    model = AdaRank().fit([*X, [1.5], [2.0]], [*y, 0, 0], [*qid, 3, 3]).model_
    assert isinstance(model, LinearScorer)
    assert model.missing.tolist() == [1.5]
    assert model.predict([[np.nan]]) == model.predict([[1.5]])


def test_queries_that_every_ranking_is_equally_good_at_are_left_out():
    X, y, qid = noisy()
    extra_y = [0, 0, 2, 2, 1]  # none relevant, all alike, one document
    extra_qid = [100, 100, 101, 101, 102]
    more = np.concatenate([X, X[:5]]), np.concatenate([y, extra_y]), np.concatenate([qid, extra_qid])
    for metric in (NDCG(), NDCG(empty=1.0), NDCG(empty=None)):
        with_more = AdaRank(metric, rounds=5).fit(*more)
        assert (
            with_more.model_.weights.tolist() == AdaRank(metric, rounds=5).fit(X, y, qid).model_.weights.tolist()
        )


def test_queries_that_no_ranking_changes_move_alpha_where_all_count():
    """Figure 1 by hand: a query in which every ranking is perfect, and one without relevant documents."""
    X = np.array([[3.0], [2.0], [1.0], [5.0], [4.0], [7.0], [6.0]])
    y, qid = [0, 1, 0, 1, 1, 0, 0], [1, 1, 1, 2, 2, 3, 3]
    # Precision at the only relevant document of query 1 is 1/2; query 2 has AP 1, query 3 none, which counts 0.
    own = 0.5 * np.log((1 + 0.5) / (1 - 0.5))
    phi = (0.5 + 1.0 + 0.0) / 3
    all_three, both = 0.5 * np.log((1 + phi) / (1 - phi)), 0.5 * np.log((1 + 0.75) / (1 - 0.75))
    for metric, options, wanted in (
        (AP(), {}, own),
        (AP(), {"all_queries": True}, all_three),
        (AP(empty=None), {"all_queries": True}, both),
    ):
        ranker = AdaRank(metric, rounds=1, **options).fit(X, y, qid)
        assert ranker.history_[0].weight == pytest.approx(wanted, rel=1e-12)
    assert ranker.history_[0].train == pytest.approx(0.75)


def figure_1(X, y, qid, metric, rounds):
    """Figure 1 over all queries, stopped as section 4.1 says: features, every alpha_t and sum of P_t E."""
    queries = slow.queries_of(X, y, qid)
    P, f = [1 / len(queries)] * len(queries), [np.zeros(len(query.labels)) for query in queries]
    chosen, before = [], -np.inf
    for _ in range(rounds):
        E = {weak: slow.qualities(metric, weak, queries) for weak in slow.weak_rankers(X.shape[1], "up")}
        h = max(E, key=lambda weak: slow.weighted_measure(P, E[weak]))
        alpha = slow.step(P, E[h])
        f = [scores + alpha * slow.outputs(h, query) for scores, query in zip(f, queries, strict=True)]
        values = [slow.measure(metric, scores, query.labels) for scores, query in zip(f, queries, strict=True)]
        if np.mean(values) <= before + slow.CLOSE:
            break
        chosen.append((h.feature, alpha, slow.weighted_measure(P, E[h])))
        before, losses = np.mean(values), np.exp(-np.array(values))
        P = losses / losses.sum()
    return chosen


@pytest.mark.parametrize("metric", [AP(), NDCG(k=3)], ids=str)
def test_the_preset_is_figure_1_with_queries_that_no_ranking_changes(metric):
    """Every alpha_t, and every P_t by its sum with E; two queries have one label, and the fits several rounds."""
    longest = 0
    for seed in range(12):
        X, y, qid = noisy(5, seed=seed)
        X, y = X[:, 2:].astype(np.float32), y.copy()
        y[:6], y[6:12] = 2.0, 0.0
        wanted = figure_1(X, y, qid, metric, 5)
        ranker = AdaRank.as_printed(metric=metric, rounds=5, n_jobs=1)
        members = fit_with_members(ranker, X, y, qid)
        assert [weak.feature for weak, _ in members] == [feature for feature, _, _ in wanted]
        np.testing.assert_allclose([alpha for _, alpha in members], [alpha for _, alpha, _ in wanted], rtol=1e-12)
        phi = [one.diagnostics["phi"] for one in ranker.history_]
        np.testing.assert_allclose(phi, [one for _, _, one in wanted], rtol=1e-12)
        longest = max(longest, len(wanted))
    assert longest > 1


def test_all_queries_are_for_single_features():
    for weak in ("stump", "tree"):
        with pytest.raises(InputError, match="all_queries=True needs weak='feature'"):
            AdaRank(all_queries=True, weak=weak).fit(*noisy())


def test_what_counts_depends_on_the_metric():
    X, _, qid = queries_of_three([3, 2, 1, 6, 5, 4])
    with pytest.raises(InputError, match=r"every ranking of every query has the same map\.$"):
        AdaRank(AP()).fit(X, [2, 1, 1, 2, 1, 1], qid)


@pytest.mark.parametrize("metric", [KendallTau(), WTA()], ids=str)
def test_features_that_are_all_wrong_teach_nothing(metric):
    data = queries_of_three([1, 2, 3, 4, 5, 6])[0], [1, 0, 0, 1, 0, 0], [1, 1, 1, 2, 2, 2]
    with pytest.raises(InputError, match=f"nothing to learn: no feature alone has {metric} above 0"):
        AdaRank(metric).fit(*data)
    assert AdaRank(metric, directions="both").fit(*data).score(*data) == 1.0


def test_a_feature_of_zeros_ends_it_like_any_other():
    X, y, qid = queries_of_three([0] * 6, [1, 2, 3, 4, 5, 6])
    assert len(AdaRank(choose="measure").fit(X, y, qid).history_) == 1


@pytest.mark.parametrize("weak", ["feature", "stump", "tree"])
def test_a_metric_beyond_one_is_refused(weak):
    with pytest.raises(InputError, match=r"^AdaRank needs a metric between -1 and 1; dcg@5 is .* to .* here\.$"):
        AdaRank(DCG(k=5), weak=weak).fit(*noisy())


def test_a_metric_is_judged_by_its_best_rankings_not_by_single_features():
    X, y, qid = queries_of_three([1, 2, 3, 1, 2, 3])  # the worst rankings there are
    assert DCG(k=1)(y, X[:, 0], qid) < 1
    with pytest.raises(InputError, match="dcg@1 is 0 to 3 here"):
        AdaRank(DCG(k=1)).fit(X, y, qid)


def test_a_metric_may_round_to_more_than_one():
    X, _, qid = queries_of_three([1, 1, 1, 2, 2, 1])
    y = [0.1, 0.1, 0.1, 0.1, 0.1, 0.0]  # the mean of three times .1 is a little more than .1
    ranker = AdaRank(NDCG(gain=Gain.LINEAR)).fit(X, y, qid)
    assert ranker.score(X, y, qid) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"rounds": 0}, "rounds must be a positive integer, not 0."),
        ({"patience": -1}, "patience must be None or a positive integer, not -1."),
        ({"choose": "best"}, "choose must be 'loss' or 'measure', not 'best'."),
        ({"directions": "down"}, "directions must be 'up' or 'both', not 'down'."),
        ({"choose": ["loss"]}, r"choose must be 'loss' or 'measure', not \['loss'\]."),
        ({"repeats": "never"}, "repeats must be 'allow', 'once' or 'aside', not 'never'."),
        ({"stop": "early"}, "stop must be 'loss', 'measure' or 'rounds', not 'early'."),
        ({"weak": "net"}, "weak must be 'feature', 'stump' or 'tree', not 'net'."),
        ({"halvings": -1}, "halvings must be a non-negative integer, not -1."),
        ({"halvings": 1, "choose": "measure"}, "halvings needs choose='loss' and weak='feature'"),
        ({"halvings": 1, "weak": "tree"}, "halvings needs choose='loss' and weak='feature'"),
        ({"max_leaves": 1}, "max_leaves must be an integer of at least 2, not 1."),
        ({"random_state": -1}, "random_state must be a non-negative integer, not -1."),
    ],
)
def test_wrong_parameters_are_told(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        AdaRank(**parameters).fit(*noisy())


@dataclass(frozen=True)
class TopLabel(Metric):
    """A user's own: the label on top, as a share of the best."""

    def of_ranking(self, labels):
        return labels[0] / labels.max() if labels.max() > 0 else np.nan


def test_a_metric_of_ones_own_trains():
    data = noisy()
    ranker = AdaRank(TopLabel(), rounds=5).fit(*data)
    assert ranker.score(*data) > TopLabel()(data[1], np.zeros(len(data[1])), data[2]) + 0.1
    assert ranker.model_.about["parameters"]["metric"] == "toplabel"


@pytest.mark.parametrize("choose", ["loss", "measure"])
@pytest.mark.parametrize("metric", [NDCG(k=3), AP(), RR(), KendallTau()], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_exponential_loss_falls_every_round(choose, metric, seed):
    X, y, qid = noisy(seed=seed)
    losses = []
    for rounds in range(1, 30):
        ranker = AdaRank(metric, rounds=rounds, choose=choose).fit(X, y, qid)
        if len(ranker.history_) < rounds:
            break
        ranking = rw.data.Ranking.of(ranker.predict(X), rw.QueryGroups.of(qid))
        values = metric.per_query_with_empty(y, ranking)
        losses.append(np.exp(-values[~np.isnan(values)]).sum())
    assert len(losses) > (choose == "loss")
    assert (np.diff(losses) < 0).all()


def test_the_loss_chooses_no_worse_than_the_measure_on_training_data():
    data = noisy(60)
    by_loss, by_measure = (AdaRank(choose=choose).fit(*data).score(*data) for choose in ("loss", "measure"))
    assert by_loss >= by_measure


def weights_with_halvings(metric, X, y, qid, halvings):
    """Equation 8 with the alpha of figure 1 for each feature, halved where none lowers the loss."""
    queries = slow.queries_of(X, y, qid)
    weak_rankers = slow.weak_rankers(X.shape[1], "up")
    qualities = {weak: slow.qualities(metric, weak, queries) for weak in weak_rankers}
    f, P, loss, scale = (
        [np.zeros(len(one.labels)) for one in queries],
        [1 / len(queries)] * len(queries),
        np.inf,
        1.0,
    )
    weights = np.zeros(X.shape[1])
    while True:
        steps = {weak: scale * slow.step(P, qualities[weak]) for weak in weak_rankers}
        losses = {weak: slow.loss_with(metric, f, steps[weak], weak, queries) for weak in weak_rankers}
        best = min(losses, key=losses.__getitem__)
        if losses[best] < loss - slow.CLOSE:
            f = [one + steps[best] * slow.outputs(best, query) for one, query in zip(f, queries, strict=True)]
            weights[best.feature] += steps[best]
            measured = [slow.measure(metric, one, query.labels) for one, query in zip(f, queries, strict=True)]
            loss = np.exp(-np.array(measured)).sum()
            P = np.exp(-np.array(measured)) / loss
        elif halvings:
            halvings, scale = halvings - 1, scale / 2
        else:
            return weights, loss


@pytest.mark.parametrize("metric", [AP(threshold=2), NDCG(k=3)], ids=str)
def test_weights_are_halved_where_no_feature_lowers_the_loss(metric):
    X, y, qid = noisy(25)
    keep = np.isin(qid, [one for one in set(qid) if len({*(y[qid == one] >= 2)}) == 2])
    data = X[keep].astype(np.float32), y[keep], qid[keep]
    losses = []
    for halvings in (0, 3):
        weights, loss = weights_with_halvings(metric, *data, halvings)
        ranker = AdaRank(metric, halvings=halvings, n_jobs=1).fit(*data)
        np.testing.assert_allclose(ranker.model_.weights, weights, rtol=1e-6)
        losses.append(loss)
    assert losses[1] < losses[0]
    assert all(one.train >= one.diagnostics["bound"] for one in ranker.history_)  # Theorem 1 holds of any step


@pytest.mark.parametrize("rounds", [1, 4])
def test_a_round_ranks_by_the_feature_and_by_the_ensemble_once(rounds):
    with patch.object(module, "Ranking", wraps=module.Ranking) as spy:
        AdaRank(choose="measure", rounds=rounds, stop="rounds").fit(*noisy())
    assert spy.of.call_count == 2 + 2 * rounds  # two rankings tell which queries count


def test_patience_stops_on_the_validation_part():
    train, valid = noisy(), noisy(seed=2)
    patient = AdaRank(patience=1).fit(*train, validation=valid)
    history = patient.history_
    assert len(history) - history.best_round <= 1
    assert len(history) <= len(AdaRank().fit(*train, validation=valid).history_)


def shares_of_theorem_1(metric, ranker, X, y, qid):
    """phi and delta_min of every round, from the models of each round alone."""
    queries = [query for query in slow.queries_of(X, y, qid) if slow.counts(metric, query.labels)]
    members = fit_with_members(ranker, X, y, qid)
    f, E = [np.zeros(len(query.labels)) for query in queries], [0.0] * len(queries)
    P = [1 / len(queries)] * len(queries)
    for weak, alpha in members:
        own = slow.qualities(metric, weak, queries)
        f = [scores + alpha * slow.outputs(weak, query) for scores, query in zip(f, queries, strict=True)]
        after = [slow.measure(metric, scores, query.labels) for scores, query in zip(f, queries, strict=True)]
        deltas = [a - b - alpha * e for a, b, e in zip(after, E, own, strict=True)]
        yield slow.weighted_measure(P, own), min(deltas)
        losses = [np.exp(-e) for e in after]
        E, P = after, [one / sum(losses) for one in losses]


@pytest.mark.slow
@pytest.mark.parametrize("metric", [NDCG(), NDCG(k=3), AP(), KendallTau()], ids=str)
@pytest.mark.parametrize("options", [{}, {"choose": "measure", "repeats": "once", "stop": "rounds"}], ids=str)
def test_the_diagnostics_of_a_round_are_those_of_theorem_1(metric, options):
    data = noisy()
    ranker = AdaRank(metric, rounds=6, **options)
    wanted = list(shares_of_theorem_1(metric, ranker, *data))
    history = ranker.history_
    np.testing.assert_allclose(history.curve("phi"), [phi for phi, _ in wanted], atol=1e-9)
    np.testing.assert_allclose(history.curve("delta_min"), [delta for _, delta in wanted], atol=1e-9)
    factors = [np.exp(-delta) * np.sqrt(1 - phi**2) for phi, delta in wanted]
    np.testing.assert_allclose(history.curve("bound"), 1 - np.cumprod(factors))
    assert (np.array([this.train for this in history]) >= history.curve("bound")).all()


def test_the_bound_is_tight_where_one_feature_ranks_all():
    history = AdaRank().fit(*queries_of_three([3, 2, 1, 6, 5, 4])).history_
    assert history[0].diagnostics["phi"] == 1.0
    assert history[0].diagnostics["bound"] == pytest.approx(1.0, abs=1e-3)


def features_of(ranker, data):
    return [weak.feature for weak, _ in fit_with_members(ranker, *data)]


def test_what_becomes_of_a_feature_that_is_chosen_again():
    data = noisy()
    options = {"choose": "measure", "stop": "rounds", "rounds": 6}
    allowed, once, aside = (
        features_of(AdaRank(repeats=how, **options), data) for how in ("allow", "once", "aside")
    )
    assert len(set(allowed)) < len(allowed) == 6
    assert len(set(once)) == len(once) == 6
    assert aside[:2] == once[:2]  # the first would only repeat itself
    assert len(set(aside)) > len(set(allowed))


def test_each_feature_once_ends_with_the_features():
    assert len(AdaRank(repeats="once", stop="rounds").fit(*noisy()).history_) <= 6


def test_when_it_ends():
    data = noisy()
    by_loss, by_measure, by_rounds = (
        AdaRank(stop=stop, rounds=40).fit(*data).history_ for stop in ("loss", "measure", "rounds")
    )
    assert len(by_loss) < 40
    assert len(by_measure) < 40
    assert (np.diff([this.train for this in by_measure]) > 0).all()
    assert len(by_rounds) == 40


@pytest.mark.parametrize("weak", ["stump", "tree"])
class TestWeakLearnersOnDrawnQueries:
    options: ClassVar = {"rounds": 8, "stop": "rounds"}

    def test_they_learn(self, weak):
        train, test = noisy(60), noisy(60, seed=2)
        by_chance = NDCG()(test[1], np.zeros(len(test[1])), test[2])
        ranker = AdaRank(weak=weak, **self.options).fit(*train)
        assert ranker.score(*test) > by_chance + 0.05
        assert ranker.model_.n_trees == 8

    def test_the_seed_decides_what_is_drawn(self, weak):
        data = noisy()
        models = [AdaRank(weak=weak, random_state=seed, **self.options).fit(*data).model_ for seed in (1, 1, 2)]
        assert models[0].threshold.tolist() == models[1].threshold.tolist() != models[2].threshold.tolist()

    def test_neither_the_order_of_rows_nor_threads_matter(self, weak):
        X, y, qid = noisy()
        rows = np.random.default_rng(3).permutation(len(y))
        one = AdaRank(weak=weak, n_jobs=1, **self.options).fit(X, y, qid)
        other = AdaRank(weak=weak, n_jobs=2, **self.options).fit(X[rows], y[rows], qid[rows])
        assert one.predict(X).tobytes() == other.predict(X).tobytes()
        assert one.history_ == other.history_

    def test_theorem_1_holds_of_them_too(self, weak):
        history = AdaRank(weak=weak, **self.options).fit(*noisy()).history_
        assert (np.array([this.train for this in history]) >= history.curve("bound")).all()

    def test_features_that_say_nothing_are_told(self, weak):
        X, y, qid = queries_of_three([0, 0, 0, 1, 1, 1])
        y, qid = [2, 1, 0, 2, 1, 0], [1] * 6
        with pytest.raises(InputError, match=f"nothing to learn: no {weak} alone has kendall_tau above 0"):
            AdaRank(KendallTau(), weak=weak).fit(X, y, qid)


@needs_shared_data
@pytest.mark.parametrize("collection", ["OHSUMED", "MQ2008"])
def test_theorem_1_holds_on_real_folds(collection):
    train, valid, _ = rw.read_fold(SHARED / "letor" / collection / "Fold1")
    for options in ({}, {"choose": "measure", "repeats": "once", "stop": "rounds", "rounds": 20}):
        history = AdaRank(**options).fit(train, validation=valid).history_
        assert (np.array([this.train for this in history]) >= history.curve("bound")).all()


@needs_shared_data
def test_ohsumed_reaches_what_letor_published():
    folds = SHARED / "letor" / "OHSUMED"
    result = rw.cross_validate(AdaRank(), folds, metrics=["ndcg@10"], convention="letor3")
    assert len(result.folds) == 5
    assert result.mean("ndcg@10") >= 0.4429


# A dot product


def scaled_noisy():
    X, y, qid = noisy()
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y, qid


@pytest.mark.parametrize("choose", ["loss", "measure"])
def test_with_a_dot_product_delta_is_0_and_every_round_improves(choose):
    """Section 5.1 of Xu et al. (2010): the measure is linear in the scores."""
    data = scaled_noisy()
    history = AdaRank(DotProduct(), choose=choose, stop="rounds", rounds=12, directions="both").fit(*data).history_
    assert len(history) == 12
    for one in history:
        assert one.diagnostics["delta_min"] == pytest.approx(0.0, abs=1e-9)
        assert one.train >= one.diagnostics["bound"] - 1e-9
    for name in ("train", "bound"):
        values = [one.train if name == "train" else one.diagnostics["bound"] for one in history]
        assert all(later > earlier for earlier, later in pairwise(values))


def test_a_dot_product_by_hand():
    y, scores, qid = [0, 1, 2, 1, 1], [0.1, 0.9, 0.6, 0.3, 0.2], [1, 1, 1, 2, 2]
    ranking = Ranking.of(scores, QueryGroups.of(qid))
    assert DotProduct().per_query_with_empty(y, ranking)[0] == pytest.approx((-0.1 + 0.6) / 2)
    assert np.isnan(DotProduct().per_query_with_empty(y, ranking)[1])
    assert DotProduct()(y[:3], y[:3]) == 1.0


def test_a_dot_product_is_for_scores():
    X, y, qid = scaled_noisy()
    with pytest.raises(InputError, match=r"must be between -1 and 1, and is up to .* scale the features"):
        AdaRank(DotProduct(), directions="both").fit(1e3 * X, y, qid)
    for kind in (LambdaMART, PermuRank):
        with pytest.raises(InputError, match="dot_product is a measure of scores, not of a ranking"):
            kind(DotProduct()).fit(X, y, qid)
