"""LambdaSMART: boosting that starts from another model."""

from types import SimpleNamespace

import numpy as np
import pytest

import rankwright as rw
from rankers.test_lambdamart import judged
from rankwright import MART, AdaRank, LambdaMART, McRank
from rankwright.base.errors import InputError
from rankwright.models import Combination, QueryFeatureScorer, ResidualModel, TreeEnsemble
from rankwright.models.model_file import encode

TRAIN, VALID, TEST = judged(), judged(seed=3), judged(seed=2)
LARGE = judged(100, seed=4)


def ranker(**parameters):
    return LambdaMART(**{"rounds": 8, "learning_rate": 0.2, "n_jobs": 1} | parameters)


@pytest.fixture(scope="module")
def background():
    """A model to start from. A global would outlive the interpreter's modules, and with it its native scorer."""
    return ranker(rounds=20).fit(LARGE)


def foreign(predict):
    """A model of another library: it takes an array and knows nothing of ours."""
    return SimpleNamespace(predict=predict)


def test_the_level_of_a_start_changes_no_tree_of_mart():
    start = AdaRank(n_jobs=1).fit(TRAIN).predict(TRAIN)
    few = MART(rounds=8, learning_rate=0.2, n_jobs=1)
    here, there = (
        few.fit(TRAIN, start=start + level).predict(TEST, init_score=np.zeros(len(TEST))) for level in (0.0, 64.0)
    )
    assert np.ptp(here) > 0.0
    np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-9)


# What the model holds


def test_trees_on_trees_are_one_ensemble_that_scores_alone(tmp_path, background):
    adapted = ranker().fit(TRAIN, start=background)
    assert isinstance(adapted.model_, TreeEnsemble)
    assert adapted.model_.n_trees == 20 + 8
    assert adapted.model_.first(20).predict(TEST).tobytes() == background.predict(TEST).tobytes()
    assert adapted.model_.about["start"] == "LambdaMART"
    rw.save(adapted, tmp_path / "model.rw")
    assert rw.load(tmp_path / "model.rw").predict(TEST).tobytes() == adapted.predict(TEST).tobytes()


def test_any_way_to_give_the_same_start_learns_the_same_trees(background):
    columns = {"start": background.predict(TRAIN), "validation_start": background.predict(VALID)}
    starts = [{"start": background}, {"start": background.model_}, {"start": foreign(background.predict)}, columns]
    fits = [ranker().fit(TRAIN, validation=VALID, **start) for start in starts]
    assert len({one.history_ for one in fits}) == 1
    first, second, *others = fits
    assert first.predict(TEST).tobytes() == second.predict(TEST).tobytes()
    for other in others:
        assert isinstance(other.model_, ResidualModel)
        scores = other.predict(TEST, init_score=background.predict(TEST))
        np.testing.assert_allclose(scores, first.predict(TEST), rtol=1e-12, atol=1e-12)
        assert other.rank(TEST.X, TEST.qid, init_score=scores).shape == (len(TEST),)


def test_a_start_of_another_kind_is_kept_beside_the_trees():
    start = AdaRank(n_jobs=1).fit(TRAIN)
    adapted = ranker().fit(TRAIN, start=start)
    assert isinstance(adapted.model_, Combination)
    assert adapted.model_.members[0].kind == "linear"
    trees = adapted.model_.members[1]
    np.testing.assert_allclose(adapted.predict(TEST), start.predict(TEST) + trees.predict(TEST))


def test_columns_made_within_the_query_join_where_both_have_them():
    wide = ranker(query_features=["rank"]).fit(LARGE)
    joined = ranker(query_features=["rank"]).fit(TRAIN, start=wide).model_
    assert isinstance(joined, QueryFeatureScorer)
    assert isinstance(joined.inner, TreeEnsemble)
    assert joined.n_rounds == 16
    beside = ranker().fit(TRAIN, start=wide).model_
    assert isinstance(beside, Combination)
    assert beside.needs_queries


def test_columns_made_within_the_query_alone_stay_beside_trees_that_see_the_features_too():
    start = rw.RankSVM(scaling="query-minmax").fit(TRAIN)
    adapted = ranker(query_features=("minmax",)).fit(TRAIN, start=start)
    assert isinstance(adapted.model_, Combination)
    before = ranker(query_features=("minmax",), rounds=1).fit(TRAIN, start=start.predict(TRAIN))
    np.testing.assert_allclose(
        ranker(query_features=("minmax",), rounds=1).fit(TRAIN, start=start).predict(TEST),
        before.predict(TEST, init_score=start.predict(TEST)),
        rtol=1e-12,
    )


def test_a_model_that_does_not_hold_its_start_says_what_it_needs(background):
    adapted = ranker().fit(TRAIN, start=foreign(background.predict))
    for use in (adapted.predict, adapted.rank, adapted.model_.predict):
        with pytest.raises(InputError, match="This model was trained on top of the scores of another"):
            use(TEST.X, TEST.qid)
    with pytest.raises(InputError, match="This model needs no init_score"):
        ranker().fit(TRAIN, start=background).predict(TEST, init_score=np.zeros(len(TEST)))


# What it learns


def test_adding_goes_on_where_the_start_ended():
    same = {"subsample": 1.0, "feature_fraction": 1.0, "grow_policy": "leafwise", "pairs": "all"}
    whole = ranker(rounds=10, **same).fit(TRAIN)
    half = ranker(rounds=5, **same).fit(TRAIN)
    rest = ranker(rounds=5, **same).fit(TRAIN, start=half)
    assert rest.predict(TEST).tobytes() == whole.predict(TEST).tobytes()


def test_a_few_queries_improve_a_related_model():
    truth = rw.synthetic.RandomPolynomial.draw(1, n_features=10, n_active=5, n_terms=8)
    target = truth.shifted(0.7, seed=1)
    start = ranker(rounds=60).fit(truth.sample(400, seed=1, n_documents=10))
    train, test = (target.sample(60, seed=seed, n_documents=10) for seed in (2, 3))
    adapted, alone = ranker(rounds=40).fit(train, start=start), ranker(rounds=40).fit(train)
    assert adapted.score(*test) > max(start.score(*test), alone.score(*test)) + 0.003


def test_where_no_round_is_better_the_start_remains():
    perfect = foreign(lambda X: VALID.y if len(X) == len(VALID) else np.zeros(len(X)))
    adapted = ranker(patience=3).fit(TRAIN, validation=VALID, start=perfect)
    assert (adapted.history_.best_round, len(adapted.history_)) == (0, 3)
    scores = np.arange(len(TEST), dtype=float)
    assert adapted.predict(TEST, init_score=scores).tolist() == scores.tolist()
    kept = ranker(patience=3).fit(TRAIN, validation=TEST, start=ranker(rounds=150).fit(TEST))
    assert kept.history_.best_round == 0
    assert kept.model_.n_trees == 150


def test_the_order_of_rows_and_threads_change_nothing(background):
    rows = np.random.default_rng(4).permutation(len(TRAIN))
    fits = [
        ranker().fit(TRAIN, start=background),
        ranker().fit(TRAIN.take(rows), start=background),
        ranker(n_jobs=2).fit(TRAIN, start=background),
    ]
    assert len({encode(one.model_) for one in fits}) == 1
    columns = [(TRAIN, background.predict(TRAIN)), (TRAIN.take(rows), background.predict(TRAIN)[rows])]
    assert len({encode(ranker().fit(data, start=column).model_) for data, column in columns}) == 1


def test_mart_takes_a_start_too():
    start = MART(rounds=10, n_jobs=1).fit(LARGE)
    adapted = MART(rounds=10, n_jobs=1).fit(TRAIN, start=start)
    assert adapted.model_.n_trees == 20


# Mistakes


def failing(X):
    raise ValueError("number of features 5 is not the 7 of training")


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (np.zeros(3), r"start must be 360 scores, one per document, not shape \(3,\)"),
        (np.zeros((360, 1)), r"start must be 360 scores, one per document, not shape \(360, 1\)"),
        (np.r_[np.zeros(7), np.nan, np.zeros(352)], "start must be finite scores, but that of row 7 is nan"),
        (np.full(360, np.inf), "but that of row 0 is inf"),
        ("model.rw", "start must be scores, or a model that predicts them, not 'model.rw'"),
        (foreign(failing), "start, a SimpleNamespace, cannot score the training documents: number of features 5"),
        (np.zeros(360, dtype=complex), "start must be real numbers, not complex128."),
        (np.ma.array(np.zeros(360), mask=np.arange(360) > 4), "start must not be masked, but row 5 is"),
        (
            foreign(lambda X: np.full(len(X), np.nan)),
            "scores by start of the training documents must be finite",
        ),
        (
            foreign(lambda X: np.zeros((len(X), 2))),
            "by start of the training documents must be 360 scores",
        ),
        (ranker(), "start, a LambdaMART, cannot score the training documents: This LambdaMART is not fitted yet"),
        (
            ranker().fit(judged(n_features=4)),
            "cannot score the training documents: The model has 4 features, the data 5",
        ),
        (
            ranker().fit(TRAIN, start=foreign(lambda X: np.zeros(len(X)))),
            "cannot score the training documents: This model was trained on top of the scores of another",
        ),
    ],
)
def test_a_start_that_does_not_fit_is_told_in_a_sentence(start, sentence):
    with pytest.raises(InputError, match=sentence):
        ranker().fit(TRAIN, start=start)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"start": np.zeros(360), "validation": VALID},
            "so validation_start is needed: the same model's scores of the validation documents",
        ),
        (
            {"start": np.zeros(360), "validation_start": np.zeros(360)},
            "validation_start needs validation documents",
        ),
        (
            {"start": AdaRank(n_jobs=1).fit(TRAIN), "validation_start": np.zeros(360), "validation": VALID},
            "this start is a model",
        ),
        (
            {"start": np.zeros(360), "validation_start": np.zeros(2), "validation": VALID},
            "validation_start must be 360 scores",
        ),
        (
            {"start": foreign(lambda _: np.zeros(360)), "validation": judged(2)},
            "The scores by start of the validation documents must be 24 scores",
        ),
    ],
)
def test_columns_for_the_wrong_parts_are_told_in_a_sentence(given, sentence):
    with pytest.raises(InputError, match=sentence):
        ranker().fit(TRAIN, **given)


@pytest.mark.parametrize("other", [AdaRank(), McRank()], ids=lambda one: one.name)
def test_rankers_that_cannot_start_from_a_model_say_so(other, background):
    with pytest.raises(InputError, match="takes no start: it cannot improve on another model"):
        other.fit(TRAIN, start=background)
