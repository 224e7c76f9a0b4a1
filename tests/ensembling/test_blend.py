import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.metrics import AP, DCG, ERR, NDCG, Gain, Metric
from rankwright.models import Combination, FeatureScorer, LinearScorer
from reference.sweep import sweep as slow_sweep


def judged(n_queries=40, n_documents=15, *, seed=1):
    """Queries whose labels follow two features alike, and a third not at all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_documents, 3)).astype(np.float32)
    value = X[:, 0] + X[:, 1] + rng.normal(size=len(X)) / 2
    return RankingData(X, np.clip(np.round(value), 0, 3), np.repeat(np.arange(n_queries), n_documents))


DATA = judged()
ONE, OTHER, NOISE = (FeatureScorer(feature, n_features=3, missing=0.0) for feature in range(3))


@dataclass(frozen=True)
class Mine(Metric):
    """A user's own metric: whether both of the first two are good."""

    def of_ranking(self, labels):
        return float((labels[:2] >= 2).all())


METRICS = [NDCG(k=3), NDCG(), AP(threshold=2), ERR(max_label=3), Mine()]
FEW = st.sampled_from([-1.0, 0.0, 1.0, 2.0])


@st.composite
def two_columns(draw):
    documents = draw(
        st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), FEW, FEW), min_size=1, max_size=14)
    )
    qid, y, s, t = (list(column) for column in zip(*documents, strict=True))
    return RankingData(np.zeros((len(y), 1)), y, qid), np.array(s), np.array(t)


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize(("low", "high"), [(0.0, np.inf), (-np.inf, np.inf), (0.1, 5.0), (-1.0, 0.75)])
@examples(15)
@given(two_columns())
def test_no_interval_is_better(metric, low, high, columns):
    data, s, t = columns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = rw.blend(s, t, on=data, metric=metric, form="sum", low=low, high=high)
    best = max(value for _, value in slow_sweep(metric, data.y, data.groups, s, t, low, high))
    alone = metric(data.y, s, data.qid) if low <= 0 <= high else -np.inf
    assert found.value == pytest.approx(max(best, alone), abs=1e-10)
    assert found.value == metric(data.y, s + found.alpha * t, data.qid)
    assert low <= found.alpha <= high


@pytest.mark.parametrize("metric", METRICS, ids=str)
@examples(15)
@given(two_columns())
def test_the_convex_form_finds_as_much(metric, columns):
    data, s, t = columns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = rw.blend(s, t, on=data, metric=metric)
    best = max(value for _, value in slow_sweep(metric, data.y, data.groups, s, t, 0.0, np.inf))
    assert found.value == pytest.approx(max(best, *found.alone), abs=1e-10)
    assert 0.0 <= found.alpha <= 1.0
    assert found.weights == pytest.approx((1.0 - found.alpha, found.alpha), abs=1e-15)


@pytest.mark.parametrize("scale", [10.0**power for power in (-250, -20, -13, -6, -1, 1, 6, 13, 20, 250)])
def test_the_scale_of_a_ranker_does_not_matter(scale):
    s, t = (DATA.X[:, feature].astype(float) for feature in (0, 1))
    plain = rw.blend(s, t, on=DATA)
    for found in (rw.blend(s, t * scale, on=DATA), rw.blend(s * scale, t, on=DATA)):
        assert found.value == pytest.approx(plain.value, abs=1e-10)


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_ties_are_broken_on_any_scale(scale):
    s = np.round(DATA.X[:, 0].astype(float))  # only where both are heard does one break the ties of the other
    t = np.round(DATA.X[:, 1].astype(float))
    plain = rw.blend(s, t, on=DATA)
    assert plain.value > max(plain.alone) + 0.01
    assert rw.blend(s, t * scale, on=DATA).value == pytest.approx(plain.value, abs=1e-10)


def test_two_models():
    mix = rw.blend(ONE, OTHER, on=DATA, metric="ndcg@10")
    assert mix.alone == tuple(NDCG(k=10)(DATA.y, one.predict(DATA), DATA.qid) for one in (ONE, OTHER))
    assert mix.value > max(mix.alone) + 0.05
    assert mix.value == NDCG(k=10)(DATA.y, mix.predict(DATA), DATA.qid)
    assert mix.value == pytest.approx(mix.curve(mix.alpha), abs=1e-12)
    assert mix.curve.values.max() == pytest.approx(mix.value, abs=1e-12)
    grid = [
        NDCG(k=10)(DATA.y, (1 - a) * DATA.X[:, 0] + a * DATA.X[:, 1], DATA.qid) for a in np.linspace(0, 1, 101)
    ]
    assert mix.value >= max(grid)
    assert not mix.constant
    assert isinstance(mix.model_, Combination)


def test_the_model_is_saved_and_scores_alone(tmp_path):
    ranker = rw.LambdaMART(rounds=3).fit(judged(seed=2))
    mix = rw.blend(ranker, OTHER, on=DATA)
    rw.save(mix, tmp_path / "mix.rw")
    model = rw.load(tmp_path / "mix.rw")
    np.testing.assert_array_equal(model.predict(DATA), mix.predict(DATA))
    assert model.about["ranker"] == "blend"
    assert model.about["metric"] == "ndcg@10"
    assert model.about["members"] == {"1 LambdaMART": mix.weights[0], "2 feature": mix.weights[1]}


def test_a_ranker_that_adds_nothing_is_left_out():
    data = RankingData(np.column_stack([DATA.y, DATA.X[:, 2]]), DATA.y, DATA.qid)
    perfect, noise = (FeatureScorer(feature, n_features=2, missing=0.0) for feature in range(2))
    mix = rw.blend(perfect, noise, on=data)
    assert (mix.alpha, mix.weights, mix.value) == (0.0, (1.0, 0.0), 1.0)
    assert len(mix.model_.members) == 1
    mix = rw.blend(noise, perfect, on=data)
    assert (mix.alpha, mix.weights, mix.value) == (1.0, (0.0, 1.0), 1.0)


def test_documents_may_cross_in_the_middle_of_the_best_interval():
    # Both intervals around alpha = 1 are best, and there all four documents are tied.
    data = RankingData(np.zeros((4, 1)), [0, 2, 2, 2], [1] * 4)
    s, t = np.array([0.0, -1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, -1.0])
    mix = rw.blend(s, t, on=data, metric=AP(), form="sum")
    assert mix.value == pytest.approx(mix.curve(mix.alpha)) == pytest.approx(mix.curve.values.max())


def test_a_negative_weight_where_it_is_allowed():
    against = LinearScorer([0.0, -1.0, 0.0], np.zeros(3))
    assert rw.blend(ONE, against, on=DATA, form="sum").alpha == 0.0
    mix = rw.blend(ONE, against, on=DATA, form="sum", low=-np.inf)
    assert mix.alpha < 0.0
    assert mix.value > mix.alone[0] + 0.05


def test_a_constant_first_ranker_gives_way_to_the_second():
    mix = rw.blend(np.zeros(len(DATA)), OTHER, on=DATA)
    assert (mix.alpha, mix.value) == (1.0, mix.alone[1])
    assert not mix.constant


@pytest.mark.parametrize("form", ["convex", "sum"])
def test_a_metric_that_is_constant_says_so(form):
    with pytest.warns(UserWarning, match=r"ndcg@10 is the same for every alpha; alpha is 0\."):
        mix = rw.blend(ONE, 2 * DATA.X[:, 0], on=DATA, form=form)
    assert (mix.alpha, mix.constant) == (0.0, True)
    assert mix.curve.constant


def test_the_order_of_rows_and_threads_do_not_matter():
    mix = rw.blend(ONE, OTHER, on=DATA, n_jobs=1)
    shuffled = DATA.take(np.random.default_rng(3).permutation(len(DATA)))
    again = rw.blend(ONE, OTHER, on=shuffled, n_jobs=2)
    assert (again.alpha, again.value) == (mix.alpha, mix.value)
    assert again.curve.edges.tobytes() == mix.curve.edges.tobytes()
    assert again.curve.values.tobytes() == mix.curve.values.tobytes()


# More than two


def test_three_rankers_are_no_worse_than_any_alone_or_the_best_first_pair():
    data = judged(seed=4)
    steps = []
    mix = rw.blend(NOISE, ONE, OTHER, on=data, on_step=steps.append)
    assert mix.value > max(mix.alone) + 0.05
    assert sum(mix.weights) == pytest.approx(1.0)
    assert min(mix.weights) >= 0.0
    assert steps == sorted(steps)
    assert steps[-1] == pytest.approx(mix.value, abs=1e-10)
    assert len(steps) % 3 == 0
    assert mix.value == NDCG(k=10)(data.y, mix.predict(data), data.qid)
    assert (mix.alpha, mix.curve, mix.constant) == (None, None, False)
    with pytest.raises(InputError, match="Only a blend of two rankers has a curve"):
        mix.chart()


def test_no_single_weight_can_be_changed_for_the_better():
    mix = rw.blend(ONE, OTHER, NOISE, on=DATA, metric=AP(), form="sum", low=-2.0, high=2.0)
    assert mix.weights[0] == 1.0
    columns = DATA.X.astype(np.float64).T
    scores = sum(weight * column for weight, column in zip(mix.weights, columns, strict=True))
    for place in (1, 2):
        for weight in np.linspace(-2, 2, 41):
            other = scores + (weight - mix.weights[place]) * columns[place]
            assert AP()(DATA.y, other, DATA.qid) <= mix.value + 1e-10


# Columns


def test_columns_of_scores():
    mix = rw.blend(DATA.X[:, 0], list(DATA.X[:, 1]), on=DATA)
    assert mix.alpha == rw.blend(ONE, OTHER, on=DATA).alpha
    assert mix.model_ is None
    with pytest.raises(InputError, match="This blend has no model, because columns of scores"):
        mix.predict(DATA)


def test_a_model_of_another_library():
    class Foreign:
        def predict(self, X):
            return X[:, 1]

    mix = rw.blend(ONE, Foreign(), on=DATA)
    assert mix.alpha == rw.blend(ONE, OTHER, on=DATA).alpha
    assert mix.model_ is None
    with pytest.raises(InputError, match="Ranker 1: This AdaRank is not fitted yet"):
        rw.blend(rw.AdaRank(), ONE, on=DATA)


# Pictures


def test_a_picture():
    mix = rw.blend(ONE, OTHER, on=DATA)
    (chosen,) = mix.chart().spec["datasets"]["marked"]
    assert chosen["x"] == mix.alpha
    assert chosen["y"] == pytest.approx(mix.value)
    assert repr(mix).startswith("<Blend: Weights 0.")


# Mistakes


@pytest.mark.parametrize(
    ("rankers", "options", "sentence"),
    [
        ([ONE], {}, "blend takes at least two rankers, not 1."),
        ([ONE, OTHER], {"on": (1, 2, 3)}, "on must be RankingData, not tuple."),
        ([ONE, OTHER], {"metric": 3}, "metric must be a Metric such as NDCG"),
        ([ONE, OTHER], {"metric": "ndgc@10"}, "ndgc"),
        ([ONE, OTHER], {"form": "mean"}, "form must be 'convex' or 'sum', not 'mean'."),
        ([ONE, OTHER], {"low": 1.0}, "low must be a number below high, not 1.0 and 1.0."),
        ([ONE, OTHER], {"low": "0"}, "low must be a number below high, not '0' and 1.0."),
        ([ONE, OTHER], {"low": float("nan")}, "low must be a number below high, not nan and 1.0."),
        (
            [ONE, OTHER],
            {"low": -1.0},
            "A convex combination has alpha between 0 and 1, not -1 to 1",
        ),
        ([ONE, OTHER, NOISE], {"high": 0.5}, "low and high limit the weights of more than two rankers only"),
        ([ONE, np.zeros(7)], {}, "Ranker 2: There are 600 documents but scores of shape (7,)."),
        ([np.zeros((600, 1)), ONE], {}, "Ranker 1: There are 600 documents but scores of shape (600, 1)."),
        ([ONE, np.full(600, np.nan)], {}, "Ranker 2: Row 0 is NaN in scores; it cannot be ranked."),
        ([ONE, np.full(600, np.inf)], {}, "Ranker 2: the score of row 0 is too large to combine."),
        ([ONE, ["high"] * 600], {}, "Ranker 2: scores must be numbers."),
        ([ONE, FeatureScorer(0, n_features=9, missing=0.0)], {}, "Ranker 2: "),
    ],
)
def test_mistakes(rankers, options, sentence):
    with pytest.raises(InputError) as caught:
        rw.blend(*rankers, **{"on": DATA} | options)
    assert sentence in str(caught.value)


def test_rankers_of_other_features_do_not_combine():
    with pytest.raises(InputError, match=r"Ranker 1: .*features"):
        rw.blend(rw.AdaRank().fit(judged().X[:, :2], DATA.y, DATA.qid), ONE, on=DATA)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308])
def test_a_metric_that_is_not_finite(value):
    class Odd(Metric):
        def of_ranking(self, labels):
            return value if labels[0] > 2 else 1e308

    with pytest.raises(InputError, match="odd must be a finite number for every ranking, but for some it is not"):
        rw.blend(ONE, OTHER, on=DATA, metric=Odd())


def test_gains_that_cannot_be_added_up():
    data = RankingData(DATA.X, DATA.y * 1e307, DATA.qid)
    with pytest.raises(InputError, match="cannot be summed over queries: the gain of a label is 3e\\+307"):
        rw.blend(ONE, OTHER, on=data, metric=DCG(gain=Gain.LINEAR))


def test_no_query_that_counts():
    nothing = RankingData(DATA.X, np.zeros(len(DATA)), DATA.qid)
    with pytest.raises(InputError, match="There is nothing to choose by: no query counts for ndcg"):
        rw.blend(ONE, OTHER, on=nothing, metric=NDCG(empty=None))


def test_an_alpha_at_which_documents_tie_is_not_taken():
    data = rw.RankingData(np.zeros((4, 1)), [0, 0, 2, 2], [1, 1, 1, 1])
    s, t = (
        np.array([-1.0, 0, -1, 0]),
        np.array([0.0, -1, 0, -1]),
    )  # all are equal at alpha 1, and AP is higher there
    with pytest.warns(UserWarning, match="same for every alpha"):
        found = rw.blend(s, t, on=data, metric=AP(threshold=2), form="sum")
    assert found.alpha != 1
    assert found.value == pytest.approx(2 / 3)


def test_a_blend_is_a_result():
    mix = rw.blend(ONE, OTHER, on=DATA)
    facts = mix.to_dict()
    assert (facts["metric"], facts["value"], facts["alpha"]) == (str(mix.metric), mix.value, mix.alpha)
    assert facts["weights"] == list(mix.weights)
    assert facts["steps"] == len(mix.curve)
    assert [row[1:] for row in mix.tables[0].rows] == list(zip(mix.weights, mix.alone, strict=True))
    assert len(mix.figures) == 1
    three = rw.blend(ONE, OTHER, ONE, on=DATA)
    assert three.figures == []
    assert three.to_dict()["steps"] is None
