import numpy as np
import pytest

from rankwright.base.errors import InputError
from rankwright.data.query_features import QueryFeature
from rankwright.models import (
    Combination,
    FeatureScorer,
    LinearScorer,
    QueryFeatureScorer,
    StandardisedScorer,
    load,
    save,
)
from rankwright.models.model_file import decode, encode
from rankwright.models.serialisation import State

X = np.array([[1, 5], [2, np.nan], [3, 3], [3, 4]], dtype=np.float32)
QID = ["a", "a", "a", "b"]


def example(**about):
    """Ten times the first feature's rank, and the second feature's z-score."""
    weights = [0.0, 0, 10, 0, 0, 1]
    inner = LinearScorer(weights, np.zeros(6), feature_names=tuple("abcdef"), about={"ranker": "inner"})
    return QueryFeatureScorer(inner, (QueryFeature.RANK, QueryFeature.ZSCORE), **about)


def test_scores_the_columns_made_within_the_query():
    assert example().predict(X, QID).tolist() == [0 + 1, 5 + 0, 10 - 1, 5 + 0]
    assert example().rank(X, QID).tolist() == [3, 2, 1, 1]


def test_needs_queries():
    assert example().needs_queries
    with pytest.raises(InputError, match="query ids are needed"):
        example().predict(X)
    assert example().predict(X, 7).tolist() == example().predict(X, [7, 7, 7, 7]).tolist()
    assert example().predict(X, 7).tolist() != example().predict(X, QID).tolist()


def test_a_combination_with_it_needs_queries():
    mix = Combination([example(), FeatureScorer(0, n_features=2, missing=0)], [1.0, 100.0])
    assert mix.needs_queries
    assert mix.predict(X, QID).tolist() == [101, 205, 309, 305]


def test_a_score_does_not_depend_on_other_queries():
    whole = example().predict(X, QID)
    assert example().predict(X[:3], 1).tobytes() == whole[:3].tobytes()
    assert example().predict(X[3:], 1).tobytes() == whole[3:].tobytes()


def test_has_the_features_of_the_data_and_their_names():
    scorer = example(feature_names=("bm25", "age"), about={"ranker": "LambdaMART"})
    assert (scorer.n_features, scorer.depth) == (2, 2)
    assert (scorer.inner.feature_names, scorer.inner.about) == (None, {})
    with pytest.raises(InputError, match="The model has 2 features, the data 6"):
        scorer.predict(np.zeros((1, 6)), 1)


def test_comes_back_from_a_file(tmp_path):
    scorer = example(feature_names=("bm25", "age"), about={"ranker": "LambdaMART"})
    save(scorer, tmp_path / "model.rw")
    loaded = load(tmp_path / "model.rw")
    assert loaded.columns == scorer.columns
    assert (loaded.feature_names, loaded.about) == (scorer.feature_names, scorer.about)
    assert loaded.predict(X, QID).tobytes() == scorer.predict(X, QID).tobytes()
    assert encode(loaded) == encode(scorer)


def test_may_hold_another():
    outer = QueryFeatureScorer(
        QueryFeatureScorer(FeatureScorer(3, n_features=4, missing=0), (QueryFeature.MINMAX,)), (QueryFeature.RANK,)
    )
    assert outer.n_features == 1
    assert decode(encode(outer), "model.rw").predict([[1.0], [2.0], [4.0]], 1).tolist() == [0, 0.5, 1]


def instead():
    """The first feature's z-score, and ten times the second's rank; missing ones count 0 and 1."""
    inner = LinearScorer([1.0, 0, 0, 10], [0.0, 0, 0, 1])
    return QueryFeatureScorer(inner, (QueryFeature.ZSCORE, QueryFeature.RANK), raw=False)


def test_scores_columns_instead_of_the_features():
    assert instead().n_features == 2
    np.testing.assert_allclose(instead().predict([[1, 5], [3, np.nan], [1, 4], [3, 3]], 1), [9, 11, 4, 1])
    assert instead().used_features.tolist() == [0, 1]
    values = instead().contributions(X, QID)
    np.testing.assert_allclose(values.sum(axis=1), instead().predict(X, QID))
    assert values.shape == (4, 3)


def test_a_file_says_whether_the_features_come_too():
    for scorer in (example(), instead()):
        loaded = decode(encode(scorer), "model.rw")
        assert loaded.raw == scorer.raw
        assert loaded.predict(X, QID).tobytes() == scorer.predict(X, QID).tobytes()
    assert b'"raw"' not in encode(example())  # as in files of versions that had no choice


@pytest.mark.parametrize("raw", [None, 0, 1, "false", [], {}, "x" * 10_000], ids=lambda one: repr(one)[:20])
def test_hostile_raw_is_told_in_a_short_sentence(raw):
    state = State(fields={"columns": ["rank"], "raw": raw}, children={"inner": example().inner})
    with pytest.raises(InputError, match="raw must be true or false, not ") as error:
        QueryFeatureScorer.from_state(state)
    assert len(str(error.value)) < 150


def test_no_columns_at_all_are_refused():
    with pytest.raises(InputError, match="columns must name at least one kind of column, each only once"):
        QueryFeatureScorer(LinearScorer(np.ones(5), np.zeros(5)), (), raw=False)


@pytest.mark.parametrize(
    "columns",
    [(), (QueryFeature.RANK, QueryFeature.RANK), (QueryFeature.RANK,) * 2, tuple(QueryFeature)],
    ids=["none", "twice", "twice again", "three for five"],
)
def test_columns_that_do_not_fit_are_refused(columns):
    with pytest.raises(InputError, match=r"columns must name at least one|5 columns cannot be 4 per feature"):
        QueryFeatureScorer(LinearScorer(np.ones(5), np.zeros(5)), columns)


@pytest.mark.parametrize(
    "columns",
    [None, "rank", ["rang"], [1], [["rank"]], {"rank": 1}, [None], "x" * 10_000],
    ids=lambda one: repr(one)[:20],
)
def test_hostile_columns_are_told_in_a_short_sentence(columns):
    with pytest.raises(InputError, match="columns must be a list of zscore, rank, minmax, not ") as error:
        QueryFeatureScorer.from_state(State(fields={"columns": columns}, children={"inner": example().inner}))
    assert len(str(error.value)) < 150


@pytest.mark.parametrize(
    ("fields", "children"), [({}, {}), ({"columns": ["rank"]}, {}), ({}, {"inner": example()})], ids=str
)
def test_a_part_that_is_not_there_is_told(fields, children):
    with pytest.raises(InputError, match=r"columns must be a list|The scorer inner is missing"):
        QueryFeatureScorer.from_state(State(fields=fields, children=children))


@pytest.mark.parametrize("columns", [[], ["rank", "rank"], ["rank", "zscore", "minmax", "rank"]], ids=str)
def test_hostile_columns_that_do_not_fit_the_inner_scorer_are_refused(columns):
    with pytest.raises(InputError, match="columns must name at least one"):
        QueryFeatureScorer.from_state(State(fields={"columns": columns}, children={"inner": example().inner}))


def test_nested_scorers_make_a_bounded_number_of_columns():
    scorer = FeatureScorer(0, n_features=4**3, missing=0)
    for _ in range(2):
        scorer = QueryFeatureScorer(scorer, tuple(QueryFeature))
    assert (scorer.n_features, scorer.columns_per_feature) == (4, 16)
    mix = StandardisedScorer(Combination([scorer, FeatureScorer(0, n_features=4, missing=0)], [1.0, 1.0]))
    assert mix.columns_per_feature == 16
    for inner in (scorer, mix):
        with pytest.raises(InputError, match="64 columns of each feature; at most 16 are allowed"):
            QueryFeatureScorer(inner, tuple(QueryFeature))
