import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.examples import X_EXAMPLE, example, features, scorers
from rankwright.base.errors import InputError
from rankwright.data.dataset import Documents, RankingData
from rankwright.models import Combination, FeatureScorer, LinearScorer, Scorer, StandardisedScorer
from rankwright.models.serialisation import State


@dataclass(frozen=True, eq=False, repr=False)
class QueryMean(Scorer):
    """How far the first feature is above its query's mean."""

    kind: ClassVar[str] = "test: query mean"

    def __post_init__(self):
        self._set("n_features", 1)
        super().__post_init__()

    @property
    def needs_queries(self):
        return True

    def _score(self, X, groups, _threads, /):
        scores = X[:, 0].astype(np.float64)
        for rows in groups:
            scores[rows] -= scores[rows].mean()
        return scores

    def state(self):
        return State()

    @classmethod
    def from_state(cls, _state):
        return cls()


@given(scorers, features, st.data())
def test_a_score_does_not_depend_on_the_batch(scorer, X, data):
    whole = scorer.predict(X)
    rows = data.draw(st.permutations(range(len(X))))[: len(X) // 2 + 1]
    assert scorer.predict(X[rows]).tobytes() == whole[rows].tobytes()
    for row in range(len(X)):
        assert scorer.predict(X[row : row + 1]).tobytes() == whole[row : row + 1].tobytes()


@given(scorers, features)
def test_a_score_does_not_depend_on_threads_nor_on_the_layout(scorer, X):
    expected = scorer.predict(X).tobytes()
    assert scorer.predict(X, n_jobs=1).tobytes() == expected
    assert scorer.predict(X, n_jobs=3).tobytes() == expected
    assert scorer.predict(np.asfortranarray(X)).tobytes() == expected
    assert scorer.predict(X.tolist() if len(X) else X).tobytes() == expected


def test_a_long_batch_scores_as_single_rows_do():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 40)).astype(np.float32)
    scorer = LinearScorer(rng.normal(size=40), np.zeros(40))
    scores = scorer.predict(X)
    for row in (0, 1, 8191, 8192, 19_999):
        assert scorer.predict(X[row : row + 1])[0] == scores[row]


def test_documents_are_scored_without_labels():
    documents = Documents([[1.0], [2.0], [5.0]], ["b", "a", "b"], feature_names=("f",))
    assert QueryMean(feature_names=("f",)).predict(documents).tolist() == [-2, 0, 2]
    assert QueryMean().rank(documents).tolist() == [2, 1, 1]
    assert LinearScorer(np.ones(1), np.zeros(1)).contributions(documents).tolist() == [[1, 0], [2, 0], [5, 0]]
    with pytest.raises(InputError, match=r"Documents has its own query ids; do not give qid as well\."):
        QueryMean().predict(documents, [1, 1, 1])


def test_data_bring_their_queries_and_names():
    data = RankingData([[1.0], [2.0], [5.0]], [0, 0, 0], ["b", "a", "b"], feature_names=("f",))
    assert QueryMean().predict(data).tolist() == [-2, 0, 2]
    assert QueryMean().rank(data).tolist() == [2, 1, 1]
    with pytest.raises(InputError, match=r"The model needs 'g', which the data do not have\."):
        QueryMean(feature_names=("g",)).predict(data)
    with pytest.raises(InputError, match="do not give qid as well"):
        QueryMean().predict(data, [1, 1, 1])


THREE = [[1.0], [2.0], [6.0]]


@pytest.mark.parametrize("qid", [7, "a", np.int32(7), np.str_("a"), [7, 7, 7]])
def test_all_rows_are_one_query_if_the_caller_says_so(qid):
    assert QueryMean().predict(THREE, qid).tolist() == [-2, -1, 3]
    assert QueryMean().predict(THREE, qid=qid).tolist() == [-2, -1, 3]
    assert QueryMean().rank(THREE, qid).tolist() == [3, 2, 1]
    assert FeatureScorer(0, n_features=1, missing=0).rank(THREE, qid).tolist() == [3, 2, 1]


def test_a_model_that_needs_queries_does_not_guess_them():
    assert QueryMean().predict(THREE, [7, 8, 8]).tolist() == [0, -2, 2]
    mixed = Combination([QueryMean(), FeatureScorer(0, n_features=1, missing=0)], [1, 1])
    for scorer in (QueryMean(), mixed, StandardisedScorer(FeatureScorer(0, n_features=1, missing=0))):
        for method in (scorer.predict, scorer.contributions):
            with pytest.raises(InputError, match=r"so query ids are needed: give qid, one id per row, or"):
                method(THREE)


def test_ranks_need_queries_whatever_the_model():
    for scorer in (QueryMean(), FeatureScorer(0, n_features=1, missing=0)):
        with pytest.raises(InputError, match="Documents are ranked within their query, so query ids are needed"):
            scorer.rank(THREE)


@pytest.mark.parametrize("qid", [True, 2.5, b"a", np.float64(1.5), None, np.array(7), 2**70])
def test_a_single_id_is_an_integer_or_a_string(qid):
    with pytest.raises(InputError, match="qid"):
        QueryMean().predict(THREE, qid)


def test_a_combination_needs_queries_if_a_member_does():
    plain = FeatureScorer(0, n_features=1, missing=0)
    assert not Combination([plain], [1]).needs_queries
    mixed = Combination([plain, QueryMean()], [1, 10])
    assert mixed.needs_queries
    assert mixed.predict([[1.0], [2.0], [6.0]], [7, 8, 8]).tolist() == [1, -18, 26]


def test_equal_scores_keep_the_order_of_the_rows():
    scorer = FeatureScorer(0, n_features=1, missing=0)
    assert scorer.rank([[1], [2], [1], [2]], 1).tolist() == [3, 1, 4, 2]
    assert scorer.rank([[1], [2], [1], [2]], ["a", "b", "b", "a"]).tolist() == [2, 1, 2, 1]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_a_frame_are_found_by_name(library):
    columns = dict(zip(["bm25", "length", "pagerank"], np.transpose(X_EXAMPLE), strict=True))
    expected = example().predict(X_EXAMPLE).tolist()
    assert example().predict(library(columns)).tolist() == expected
    other_order = {name: columns[name] for name in ("pagerank", "bm25", "length")}
    assert example().predict(library(other_order)).tolist() == expected
    more = {"qid": ["q"] * len(X_EXAMPLE), "label": columns["bm25"], "docid": columns["bm25"], **other_order}
    assert example().predict(library(more)).tolist() == expected
    assert example().rank(library(more), 1).tolist() == example().rank(X_EXAMPLE, 1).tolist()
    extra = {"title": ["t"] * len(X_EXAMPLE), "bm52": columns["bm25"]}
    with pytest.warns(UserWarning, match=r"^The model does not use title, bm52\.$"):
        assert example().predict(library(extra | columns)).tolist() == expected


def test_missing_columns_are_named_with_the_nearest_name():
    frame = pd.DataFrame(X_EXAMPLE, columns=["bm_25", "length", "age"])
    with pytest.raises(InputError) as caught:
        example().predict(frame)
    assert str(caught.value) == (
        "The model needs 'bm25', 'pagerank', which the data do not have; did you mean 'bm_25'?"
    )
    with pytest.raises(InputError, match=r"Column 'length' does not hold numbers\."):
        example().predict(frame.rename(columns={"bm_25": "pagerank", "age": "bm25"}).assign(length="long"))


def test_data_with_names_are_put_in_order():
    data = RankingData(X_EXAMPLE, np.arange(len(X_EXAMPLE)), [1] * len(X_EXAMPLE))
    shuffled = Documents(data.X[:, [2, 0, 1]], data.qid, feature_names=["pagerank", "bm25", "length"])
    assert example().predict(shuffled).tolist() == example().predict(data).tolist()
    assert example().rank(shuffled).tolist() == example().rank(data).tolist()
    linear = LinearScorer([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], feature_names=["bm25", "length", "pagerank"])
    assert linear.contributions(shuffled).tolist() == linear.contributions(data).tolist()
    wide = Documents(
        np.hstack([data.X, data.X[:, :1]]), data.qid, feature_names=["bm25", "length", "pagerank", "z"]
    )
    with pytest.warns(UserWarning, match=r"^The model does not use z\.$"):
        assert example().predict(wide).tolist() == example().predict(data).tolist()


@pytest.mark.parametrize(
    ("X", "qid", "sentence"),
    [
        ([[1.0, 2.0]], 1, "The model has 3 features, the data 2."),
        ([1.0, 2.0, 3.0], 1, "must form a matrix"),
        ([[1.0, 2.0, np.inf]], 1, "is infinite"),
        ([["a", "b", "c"]], 1, "must be numbers"),
        ([[1.0, 2.0, 3.0]], [1, 2], "1 documents but 2 query ids"),
        ([[1.0, 2.0, 3.0]], [0.5], "integers or strings"),
    ],
)
def test_wrong_input_is_refused(X, qid, sentence):
    for method in (example().predict, example().rank):
        with pytest.raises(InputError, match=sentence):
            method(X, qid)


def test_threads_are_checked():
    with pytest.raises(InputError, match="n_jobs"):
        example().predict(X_EXAMPLE, n_jobs=0)


def test_no_document_no_score():
    empty = np.zeros((0, 3))
    assert example().predict(empty).shape == (0,)
    assert example().rank(empty, 1).shape == (0,)


def test_a_score_beyond_all_numbers_is_told():
    with pytest.raises(InputError, match="score of row 1 is not finite"):
        LinearScorer([1e300, -1e300], [0, 0]).predict([[1, 1], [1e38, 1e38]])


def test_described_copies():
    plain = LinearScorer([1.0, 2.0], [0.0, 0.0])
    named = plain.described(feature_names=["a", "b"], about={"ranker": "RankSVM"})
    assert (plain.feature_names, plain.about) == (None, {})
    assert (named.feature_names, named.about) == (("a", "b"), {"ranker": "RankSVM"})
    again = named.described(about={"rounds": 3})
    assert (again.feature_names, again.about) == (("a", "b"), {"rounds": 3})
    assert (named.bare().feature_names, named.bare().about) == (None, {})


def test_facts_are_a_copy_and_plain():
    facts = {"grid": [1, 2]}
    scorer = LinearScorer([1.0], [0.0], about=facts)
    facts["grid"].append(3)
    assert scorer.about == {"grid": [1, 2]}
    for wrong in ({"metric": object()}, {"rate": float("nan")}, [1], "AdaRank"):
        with pytest.raises(InputError, match="about must"):
            scorer.described(about=wrong)


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", 2], "ab"])
def test_wrong_names_are_refused(names):
    with pytest.raises(InputError, match="eature name"):
        LinearScorer([1.0, 2.0], [0.0, 0.0], feature_names=names)


def test_scorers_are_frozen():
    scorer = LinearScorer([1.0], [0.0])
    with pytest.raises(FrozenInstanceError):
        scorer.intercept = 3.0
    with pytest.raises(ValueError, match="read-only"):
        scorer.weights[0] = 3.0


def test_scorers_can_be_copied_and_pickled():
    expected = example().predict(X_EXAMPLE).tolist()
    assert copy.deepcopy(example()).predict(X_EXAMPLE).tolist() == expected
    assert pickle.loads(pickle.dumps(example())).predict(X_EXAMPLE).tolist() == expected


def test_two_scorers_cannot_be_of_one_kind():
    with pytest.raises(TypeError, match="both of kind 'linear'"):
        type("Other", (Scorer,), {"kind": "linear"})


def test_repr_is_short():
    assert repr(example()) == "Combination(3 features)"


@pytest.mark.parametrize("method", ["predict", "rank"])
def test_a_plain_scorer_refuses_init_score(method):
    scorer = LinearScorer(np.ones(2), np.zeros(2))
    with pytest.raises(InputError, match="This model needs no init_score: only a residual model takes it"):
        getattr(scorer, method)(np.zeros((3, 2)), 1, init_score=np.zeros(3))
