import numpy as np
import pytest

from rankwright.data.dataset import RankingData
from rankwright.models import LinearScorer, load, save
from rankwright.models.linear import linear_of_columns
from rankwright.models.nested_scorers import over_columns
from rankwright.rankers.shared.scaled_rankers import SCALINGS, columns_of, learned_scaling
from rankwright.training.training_set import TrainingSet

rng = np.random.default_rng(3)
X = (rng.normal(size=(40, 4)) * [1, 100, 1e-3, 0] + [0, 1e4, 0, 7]).astype(np.float32)
X[rng.random(X.shape) < 0.1] = np.nan
TRAIN = RankingData(X, rng.integers(0, 3, 40), np.arange(40) // 8)
WEIGHTS = np.array([1.0, -2.0, 0.0, 0.5])


def scaled_linear(scaling):
    return over_columns(linear_of_columns(WEIGHTS, scaling), scaling)


@pytest.mark.parametrize("name", SCALINGS)
def test_scores_are_weights_times_scaled_features(name):
    scaling = learned_scaling(name, TrainingSet(TRAIN))
    scorer = scaled_linear(scaling)
    columns = columns_of(scaling, TrainingSet(TRAIN)).data.X
    np.testing.assert_allclose(scorer.predict(TRAIN), scaling.apply(columns) @ WEIGHTS, rtol=1e-9)
    assert scorer.used_features.tolist() == [0, 1, 3]


@pytest.mark.parametrize("name", SCALINGS)
def test_a_single_query_needs_nothing_else(name, tmp_path):
    scorer = scaled_linear(learned_scaling(name, TrainingSet(TRAIN)))
    save(scorer, tmp_path / "model.rw")
    loaded = load(tmp_path / "model.rw")
    assert loaded.predict(X[8:16], qid=1).tobytes() == scorer.predict(TRAIN)[8:16].tobytes()


@pytest.mark.parametrize("name", ["none", "global"])
def test_what_training_learned_folds_into_plain_weights(name):
    assert isinstance(scaled_linear(learned_scaling(name, TrainingSet(TRAIN))), LinearScorer)


@pytest.mark.parametrize("name", SCALINGS)
def test_contributions_sum_to_the_score(name):
    scorer = scaled_linear(learned_scaling(name, TrainingSet(TRAIN)))
    np.testing.assert_allclose(scorer.contributions(TRAIN).sum(axis=1), scorer.predict(TRAIN), rtol=1e-9)


@pytest.mark.parametrize("name", SCALINGS)
@pytest.mark.parametrize("bias", [0.0, 3.5])
def test_a_bias_is_added(name, bias):
    scaling = learned_scaling(name, TrainingSet(TRAIN))
    plain, more = (linear_of_columns(WEIGHTS, scaling, *given) for given in ((), (bias,)))
    assert more.intercept == plain.intercept + bias
    assert more.weights.tolist() == plain.weights.tolist()
