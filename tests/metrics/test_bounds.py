"""The bounds of Xu et al. (2010), held to enumeration of all permutations, and theorems 1 to 3."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright import RankingData, bounds
from rankwright.base.errors import InputError
from rankwright.metrics import AP, DCG, NDCG, WTA
from reference import margin as slow

SMOOTH = ["exponential", "logistic", "hinge"]
metrics = st.sampled_from([AP(), NDCG(), NDCG(k=2), WTA()])
kinds = st.sampled_from(["all", "mixed"])


@st.composite
def models(draw):
    """One query of up to five documents and a linear model, of any length."""
    n = draw(st.integers(2, 5))
    labels = draw(
        st.lists(st.integers(0, draw(st.sampled_from([1, 1, 3]))), min_size=n, max_size=n).filter(
            lambda one: 0 in one and any(one)
        )
    )
    values = st.integers(-4, 4)
    X = np.array(draw(st.lists(st.tuples(values, values), min_size=n, max_size=n)), dtype=float)
    w = np.array(draw(st.tuples(values, values)), dtype=float) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    return RankingData(X, labels, np.zeros(n, dtype=int)), w


def enumerated(data, w, metric, pairs):
    """E and F of every permutation."""
    scores, relevant = (data.X @ w).tolist(), data.y.tolist()
    levels, labels = np.unique(data.y, return_inverse=True)
    labels = labels.astype(float) if len(levels) == 2 else data.y
    value, F = [], []
    for order in slow.orders(len(data)):
        value.append(metric.of_ranking(labels[list(order)]))
        F.append(slow.joint_score(order, scores) if pairs == "all" else slow.mixed_score(order, scores, relevant))
    return np.array(value), np.array(F)


@examples(60)
@given(models(), metrics, kinds)
def test_every_bound_equals_enumeration(model, metric, pairs):
    data, w = model
    losses_of = bounds.SurrogateBounds(data, metric, pairs=pairs)
    value, F = enumerated(data, w, metric, pairs)
    perfect = value >= value.max() - 1e-9
    lost, short = (value.max() - value[~perfect])[:, None], np.subtract.outer(F[~perfect], F[perfect])
    for name in SMOOTH:
        each = lost * bounds.SURROGATES[name](short)
        assert losses_of.type_two(w, name) == pytest.approx(each.max(), rel=1e-9, abs=1e-12)
        assert losses_of.type_two(w, name, over="sum") == pytest.approx(each.sum(), rel=1e-9, abs=1e-12)
    assert losses_of.margin_hinge(w) == pytest.approx(max(0.0, (lost + short).max()), abs=1e-9)


@examples(60)
@given(models(), kinds)
def test_theorem_1_sorting_by_score_gives_the_most_f(model, pairs):
    data, w = model
    _, F = enumerated(data, w, AP(), pairs)
    order = np.argsort(-(data.X @ w), kind="stable").tolist()
    scores, relevant = (data.X @ w).tolist(), data.y.tolist()
    found = slow.joint_score(order, scores) if pairs == "all" else slow.mixed_score(order, scores, relevant)
    assert found == pytest.approx(F.max(), abs=1e-9)


@examples(100)
@given(models(), metrics, kinds)
def test_theorem_2_and_all_that_lies_above_the_basic_loss(model, metric, pairs):
    data, w = model
    losses_of = bounds.SurrogateBounds(data, metric, pairs=pairs)
    basic, close = losses_of.basic(w), 1e-9
    step = losses_of.type_two(w, "zero-one")
    assert basic <= step + close
    assert basic <= losses_of.type_one(w, "exponential") + close <= losses_of.type_one(w, "logistic") + 2 * close
    for name in SMOOTH:
        assert step <= losses_of.type_two(w, name) + close
        assert losses_of.type_two(w, name) <= losses_of.type_two(w, name, over="sum") * (1 + close) + close
    assert basic <= losses_of.margin_hinge(w) + close


@examples(100)
@given(models(), metrics)
def test_theorem_3_type_two_is_tighter_under_condition_9(model, metric):
    data, w = model
    losses_of = bounds.SurrogateBounds(data, metric, pairs="mixed")
    w = w * 1e3  # condition 9 asks for margins that only long weights have
    if losses_of.close_to_optimal(w):  # the next test shows that there are such
        for name in SMOOTH:
            assert losses_of.type_two(w, name) <= losses_of.type_one(w, name) + 1e-9


@pytest.mark.slow
def test_condition_9_does_hold_somewhere():
    losses_of = bounds.SurrogateBounds(bounds.simulate(1), pairs="mixed")
    assert losses_of.close_to_optimal([1e3, 1e3])
    assert not losses_of.close_to_optimal([1.0, 1.0])
    assert not losses_of.close_to_optimal([-1e3, -1e3])


@pytest.mark.slow
@pytest.mark.parametrize("mixed", [False, True], ids=["figure 3", "figure 4"])
def test_the_figures_have_the_papers_shape(mixed):
    losses_of = bounds.SurrogateBounds(bounds.simulate(1, mixed=mixed), pairs="mixed")
    best, against = np.array([1.0, 1.0]) / np.sqrt(2.0), -np.array([1.0, 1.0]) / np.sqrt(2.0)
    assert losses_of.type_two(best) < losses_of.type_one(best)  # tighter close to the optimum
    assert losses_of.type_two(against) > 100 * losses_of.type_one(against)  # and far above elsewhere
    around = [(np.cos(one), np.sin(one)) for one in np.linspace(0, 2 * np.pi, 16, endpoint=False)]
    for losses in ([losses_of.type_one(w) for w in around], [losses_of.type_two(w) for w in around]):
        assert np.argmin(losses) in (0, 1, 2, 3)  # in the quarter around pi / 4
    assert losses_of.basic(best) < 0.05


def test_losses_are_summed_over_queries_that_have_both_labels():
    data = bounds.simulate(1, n_relevant=2, n_irrelevant=3)
    twice = RankingData(
        np.concatenate([data.X, data.X, data.X[:2]]), [*data.y, *data.y, 1, 1], [1] * 5 + [2] * 5 + [3] * 2
    )
    one, two = bounds.SurrogateBounds(data), bounds.SurrogateBounds(twice)
    w = [0.3, -1.0]
    for loss in ("basic", "type_one", "type_two", "margin_hinge"):
        assert getattr(two, loss)(w) == pytest.approx(2 * getattr(one, loss)(w))


@pytest.mark.slow
def test_mistakes_are_told():
    losses_of = bounds.SurrogateBounds(bounds.simulate(1))
    with pytest.raises(InputError, match="40 documents with these labels have too many arrangements"):
        bounds.SurrogateBounds(bounds.simulate(1, n_relevant=20, n_irrelevant=20))
    with pytest.raises(InputError, match="A sum over permutations takes queries of up to 7 documents, not 21"):
        losses_of.type_two([1, 1], over="sum")
    with pytest.raises(InputError, match="over must be 'max' or 'sum', not 'mean'"):
        losses_of.type_two([1, 1], over="mean")
    with pytest.raises(InputError, match=r"surrogate must be one of .*, not 'log'"):
        losses_of.type_one([1, 1], "log")
    for w in ([1, 2, 3], [1, np.nan], ["a", "b"], [[1], [2, 3]], None):
        with pytest.raises(InputError, match="w must be 2 finite numbers"):
            losses_of.basic(w)
    with pytest.raises(InputError, match="pairs must be one of 'all', 'mixed', not 'some'"):
        bounds.SurrogateBounds(bounds.simulate(1), pairs="some")
    with pytest.raises(InputError, match=r"There is no metric 'mop'; did you mean 'map'"):
        bounds.SurrogateBounds(bounds.simulate(1), "mop")
    with pytest.raises(InputError, match=r"SurrogateBounds needs a metric between 0 and 1; dcg is .* here"):
        bounds.SurrogateBounds(bounds.simulate(1), DCG())
    with pytest.raises(InputError, match="SurrogateBounds takes documents without missing values"):
        bounds.SurrogateBounds(RankingData([[np.nan], [1.0]], [0, 1], [1, 1]))
    with pytest.raises(InputError, match="There is nothing to bound: no query has documents of different labels"):
        bounds.SurrogateBounds(RankingData([[0.0], [1.0]], [0, 1], [1, 2]))
    with pytest.raises(InputError, match="There is nothing to bound: all rankings of a query have the same map"):
        bounds.SurrogateBounds(bounds.simulate(1), AP(threshold=2.0))


def test_a_bound_too_large_for_a_number_is_infinite():
    data = RankingData([[0.0, -1.0], [4.0, 4.0]], [1, 0], [0, 0])
    assert bounds.SurrogateBounds(data, AP(), pairs="mixed").type_two([400.0, 400.0], "exponential") == np.inf
