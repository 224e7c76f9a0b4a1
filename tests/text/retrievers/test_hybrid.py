"""Several retrievers joined: candidates, features, searchers; fusion against literal formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.data.fusion import FusionMethod, comparable
from rankwright.data.groups import QueryGroups
from rankwright.data.readers.trec import Run
from rankwright.text import BM25, Dense, Encoder, FeatureSet, Hybrid, Index, Searcher

VALUES = st.sampled_from([0.0, 1.0, 2.5, -3.0, np.nan])
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letters(texts):
    return [[text.count(letter) for letter in LETTERS] for text in texts]


@pytest.fixture(scope="module")
def collection():
    return rw.text.generated_collection(150, 20)


@pytest.fixture(scope="module")
def index(collection, tmp_path_factory):
    made = Index.build(collection.documents, tmp_path_factory.mktemp("i") / "index")
    made.encode(Encoder(letters, "letters"))
    return made


HYBRID = Hybrid([BM25(), Dense("letters")])


def literal(column, method):
    """Return one column of one query, by a literal reading of the formulas."""
    known = [value for value in column if not np.isnan(value)]
    if method is FusionMethod.RRF:
        ranks = [1 + sum(v > x for v in known) + (sum(v == x for v in known) - 1) / 2 for x in column]
        return [0.0 if np.isnan(x) else 1 / (60 + rank) for x, rank in zip(column, ranks, strict=True)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if method is FusionMethod.MINMAX:
        return [0.0 if np.isnan(x) or high == low else (x - low) / (high - low) for x in column]
    mean, deviation = (np.mean(known), np.std(known)) if known else (0.0, 0.0)
    scores = [(low if np.isnan(x) else x) for x in column]
    return [0.0 if high == low else (x - mean) / deviation for x in scores]


@pytest.mark.parametrize("method", FusionMethod)
@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.5, -3.0, np.nan]), min_size=1, max_size=6), min_size=1, max_size=4
    )
)
@examples(100)
def test_scores_become_comparable(method, queries):
    column = np.array([value for query in queries for value in query], np.float32)
    groups = QueryGroups.of_sizes([len(query) for query in queries])
    expected = [value for query in queries for value in literal(query, method)]
    np.testing.assert_allclose(comparable(column[:, None], groups, method)[:, 0], expected, atol=1e-5)


def test_candidates_are_those_of_any_retriever(index, collection):
    queries = collection.queries
    joined = HYBRID.find(index, queries, 7)
    parts = HYBRID.found(index, queries, 7)
    for results, *lists in zip(joined, *parts, strict=True):
        assert {*results.ids} == {*lists[0].ids, *lists[1].ids}
        assert len({*results.ids}) == len(results)
        assert np.all(np.diff(results.scores) <= 0)
    assert len(index.search("old bridge", HYBRID, n=5)) == 5


def test_features_of_retrievers(index, collection):
    features = FeatureSet(["BM25", "dense"], retrieval=HYBRID)
    names = features.names(index)
    assert names[-8:] == [
        "letters: cosine",
        *("BM25: retrieval score", "letters: retrieval score", "BM25: retrieval rank", "letters: retrieval rank"),
        *("fusion: zscore", "fusion: minmax", "fusion: rrf"),
    ]
    judged = features.judged(index, collection.queries, collection.judgements, candidates=9)
    data = judged.data
    column = dict(zip(names, data.X.T, strict=True))
    assert (column["letters: cosine"] == column["letters: retrieval score"]).all()
    assert not np.isnan(column["BM25: retrieval score"]).any()
    assert np.nanmax(column["BM25: retrieval rank"]) == 9
    by_both = ~np.isnan(column["BM25: retrieval rank"]) & ~np.isnan(column["letters: retrieval rank"])
    assert 0 < by_both.sum() < len(data)
    assert (~np.isnan(column["BM25: retrieval rank"]) | ~np.isnan(column["letters: retrieval rank"])).all()
    first = data.qid == data.qid[0]
    assert column["fusion: rrf"][first] == pytest.approx(
        np.sum(
            [literal(column[f"{name}: retrieval score"][first], FusionMethod.RRF) for name in ("BM25", "letters")],
            0,
        ),
        rel=1e-5,
    )


def test_recall_is_reported_by_source(index, collection):
    judged = FeatureSet(["BM25"], retrieval=HYBRID).judged(
        index, collection.queries, collection.judgements, candidates=9
    )
    assert [*judged.recall_of] == ["BM25", "letters"]
    assert max(judged.recall_of.values()) <= judged.recall
    assert "BM25" in str(judged)
    assert judged.to_dict()["recall_by_source"].keys() == judged.recall_of.keys()


def test_a_model_finds_its_retrievers_by_name(index, collection, tmp_path):
    hybrid = Hybrid([BM25(k1=0.9), Dense("letters")])
    features = FeatureSet(["BM25", "dense"], retrieval=hybrid)
    data = features.judged(index, collection.queries, collection.judgements, candidates=20).data
    ranker = rw.LambdaMART(rounds=5).fit(data)
    rw.save(ranker, tmp_path / "m.rw")
    alone = Searcher(index, model=rw.load(tmp_path / "m.rw"), candidates=20)
    assert alone.retrieval == hybrid
    whole = Searcher(index, features, ranker, candidates=20)
    assert [*alone.search("old bridge repair")] == [*whole.search("old bridge repair")]
    loaded = Searcher.load(whole.save(tmp_path / "s.rws"), encoders=[Encoder(letters, "letters")])
    assert [*loaded.search("old bridge repair")] == [*whole.search("old bridge repair")]
    with pytest.raises(rw.InputError, match="candidates must be found by it"):
        Searcher(index, features, ranker, retrieval=BM25())


def test_a_run_of_ones_own(index, collection):
    run = Run.of(["q1", "q1", "q2"], ["d5", "d7", "unknown"], [1.0, 2.0, 1.0], tag="mine")
    hybrid = Hybrid([BM25(), run])
    features = FeatureSet(["BM25"], retrieval=hybrid)
    data = features.documents(index, collection.queries, hybrid.find(index, collection.queries, 5), depth=5)
    ranks = dict(zip(data.feature_names, data.X.T, strict=True))["mine: retrieval rank"]
    rows = {(q, d): rank for q, d, rank in zip(data.qid.tolist(), data.document_ids, ranks, strict=True)}
    assert (rows["q1", "d7"], rows["q1", "d5"]) == (1, 2)
    assert np.isnan([rank for (query, _), rank in rows.items() if query != "q1"]).all()
    with pytest.raises(rw.InputError, match="A run finds documents for its own queries only"):
        Searcher(index, retrieval=hybrid).save()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hybrid([BM25()]), "at least two retrievers"),
        (lambda: Hybrid("bm25"), "at least two retrievers"),
        (lambda: Hybrid([BM25(), 3]), "must be BM25"),
        (lambda: Hybrid([BM25(), Dense()], fusion="sum"), "fusion must be 'zscore', 'minmax' or 'rrf'"),
        (lambda: FeatureSet(retrieval=BM25()), "must be Hybrid"),
    ],
)
def test_what_is_no_hybrid(make, message):
    with pytest.raises(rw.InputError, match=message):
        make()


def test_two_retrievers_of_one_name(index):
    with pytest.raises(rw.InputError, match="Two retrievers are called 'BM25'"):
        FeatureSet(retrieval=Hybrid([BM25(), BM25()])).names(index)


def test_a_search_does_not_depend_on_the_number_of_results(tmp_path):
    documents, queries, _ = rw.text.generated_collection(200, 5)
    index = rw.text.Index.build(documents, tmp_path / "index")
    retrieval = rw.text.Hybrid([rw.text.BM25(), rw.text.Dirichlet(mu=50)])
    many = index.search_all(queries.texts, retrieval, 20)
    few = index.search_all(queries.texts, retrieval, 3)
    assert [[*results] for results in few] == [[*results.first(3)] for results in many]
    assert rw.text.Searcher(index, retrieval=retrieval).search(queries.texts[0], 3).ids == few[0].ids
