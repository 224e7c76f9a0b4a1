"""Steps of PyTerrier's pipelines; PyTerrier's own retrieval, which needs Java, is not used."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.text import BM25, FeatureSet, Index, Searcher, generated_collection

pt = pytest.importorskip("pyterrier")
pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")

from rankwright.text.pyterrier import Features, Reranker, Retriever  # noqa: E402


@pytest.fixture(scope="module")
def collection():
    return generated_collection(120, 20)


@pytest.fixture(scope="module")
def index(collection, tmp_path_factory):
    return Index.build(collection.documents, tmp_path_factory.mktemp("pyterrier") / "index")


@pytest.fixture(scope="module")
def topics(collection):
    return pd.DataFrame({"qid": collection.queries.ids, "query": collection.queries.texts})


@pytest.fixture(scope="module")
def qrels(collection):
    judged = collection.judgements
    columns = {"qid": judged.qid, "docno": judged.document_ids, "label": judged.labels.astype(int)}
    return pd.DataFrame(columns)


def test_a_retriever_finds_what_the_searcher_finds(index, topics):
    found = Retriever(Searcher(index), 5)(topics)
    assert list(found.columns) == ["qid", "query", "docno", "score", "rank"]
    for qid, query in zip(topics["qid"], topics["query"], strict=True):
        mine = found[found["qid"] == qid].sort_values("rank")
        expected = index.search(query, BM25(), 5)
        assert mine["docno"].tolist() == expected.ids
        assert mine["score"].tolist() == expected.scores.tolist()
        assert mine["rank"].tolist() == list(range(len(expected)))
        assert set(mine["query"]) == {query}


def test_nothing_found_is_an_empty_frame(index):
    pipeline = Retriever(Searcher(index), 5) >> Features(FeatureSet(["BM25"]), index)
    assert len(pipeline.search("zeppelin")) == 0


def test_features_are_those_of_the_set_in_any_order_of_rows(index, topics):
    features = FeatureSet(["BM25", "length"])
    found = Retriever(Searcher(index), 5)(topics).sample(frac=1.0, random_state=0)
    made = Features(features, index)(found)
    assert made.drop(columns="features").equals(found)
    for row in made.head(20).itertuples():
        expected = features.documents(index, {row.qid: row.query}, {row.qid: [row.docno]})
        assert row.features.tolist() == expected.X[0].tolist()


def test_an_unknown_document_is_refused(index):
    frame = pd.DataFrame({"qid": ["1"], "query": ["old bridge"], "docno": ["d999"], "score": [1.0], "rank": [0]})
    with pytest.raises(rw.InputError, match="d999"):
        Features(FeatureSet(["BM25"]), index)(frame)


def test_a_pipeline_is_fitted_and_evaluated(index, topics, qrels):
    features = FeatureSet(["BM25", "phrase", "length"])
    retriever = Retriever(Searcher(index), 30)
    names = features.names(index)
    pipeline = retriever >> Features(features, index) >> Reranker(rw.LambdaMART(rounds=20), names)
    pipeline.fit(topics[:12], qrels, topics[12:16], qrels)
    results = pt.Experiment(
        [retriever, pipeline], topics[16:], qrels, eval_metrics=["ndcg_cut_10", "map"], names=["BM25", "learned"]
    )
    assert results["name"].tolist() == ["BM25", "learned"]
    model = pipeline[-1].ranker.model_
    assert model.feature_names == tuple(names)
    found = pipeline(topics[16:17])
    searcher = Searcher(index, features, model, candidates=30)
    expected = searcher.search(topics["query"][16], 30)
    assert found.sort_values("rank")["docno"].tolist() == expected.ids
    np.testing.assert_allclose(sorted(found["score"], reverse=True), expected.scores)


def test_a_finished_model_and_features_of_others(index, topics, qrels):
    frame = Retriever(Searcher(index), 10)(topics)
    frame["features"] = [*frame[["score", "rank"]].to_numpy(float)]
    fitted = Reranker(rw.RankSVM()).fit(frame, qrels)
    again = Reranker(fitted.ranker.model_)
    assert again(frame).equals(fitted(frame))
    with pytest.raises(rw.InputError, match="is a finished model"):
        again.fit(frame, qrels)
    with pytest.raises(rw.InputError, match="has not been fitted"):
        Reranker(rw.RankSVM())(frame)


def test_java_is_not_started():
    assert not pt.java.started()
