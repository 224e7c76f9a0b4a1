"""Searchers: candidates, features and model as one, saved and loaded whole."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import rankwright as rw
from rankwright.models.model_file import encode
from rankwright.text import BM25, Analyser, Dirichlet, FeatureSet, Index, Queries, Searcher, generated_collection
from rankwright.text.searcher import MAGIC, file_content, read_searcher


@pytest.fixture(scope="module")
def collection():
    return generated_collection(120, 20)


@pytest.fixture(scope="module")
def index(collection, tmp_path_factory):
    return Index.build(collection.documents, tmp_path_factory.mktemp("searcher") / "index")


@pytest.fixture(scope="module")
def ranker(collection, index):
    judged = FeatureSet(["BM25", "phrase", "length"]).judged(
        index, collection.queries, collection.judgements, candidates=40, judged_too=False
    )
    return rw.LambdaMART(rounds=20).fit(judged.data)


def test_without_a_model_it_is_the_index(index):
    model = Dirichlet(300.0)
    assert [*Searcher(index, retrieval=model).search("old bridge", 7)] == [*index.search("old bridge", model, 7)]


def test_the_model_ranks_the_candidates(index, ranker):
    searcher = Searcher(index, model=ranker, candidates=30)
    query = "old bridge repair"
    candidates = index.search(query, BM25(), 30)
    documents = FeatureSet(["BM25", "phrase", "length"]).documents(index, {"q": query}, [candidates])
    scores = ranker.predict(documents)
    expected = sorted(zip(candidates.ids, scores.tolist(), strict=True), key=lambda one: -one[1])
    assert [*searcher.search(query, 50)] == expected
    assert [*searcher.search(query, 3)] == [*searcher.search(query, 50)][:3]


def test_many_queries_are_searched_as_one(index, ranker, collection):
    searcher = Searcher(index, model=ranker, candidates=30)
    queries = Queries(("none", *collection.queries.ids[:5]), ("zeppelin", *collection.queries.texts[:5]))
    run = searcher.search_all(queries, 4, tag="mine")
    assert run.tag == "mine"
    found = {query: [*searcher.search(text, 4)] for query, text in queries}
    rows = list(zip(run.qid.tolist(), run.document_ids.tolist(), run.scores.tolist(), strict=True))
    assert rows == [(query, *one) for query, results in found.items() for one in results]
    assert found["none"] == []
    assert len(searcher.search_all(Queries((), ()))) == 0
    assert run.scores.tobytes() == searcher.search_all(queries, 4, n_jobs=2).scores.tobytes()


def test_snippets_mark_the_words_of_the_query(index, ranker):
    searcher = Searcher(index, model=ranker)
    results = searcher.search("repairs of old bridges", 3)
    snippets = searcher.snippets("repairs of old bridges", results)
    assert len(snippets) == 3
    for snippet in snippets:
        words = {snippet.text[begin:end].lower() for begin, end in snippet.marks}
        assert words <= {"repair", "old", "bridge"}
        assert words


@pytest.fixture(scope="module")
def tuned(collection, index):
    """A model of features with parameters that are not the default."""
    features = FeatureSet(["BM25", "length"], fields=["body"], bm25=BM25(0.7, 0.3))
    judged = features.judged(index, collection.queries, collection.judgements, candidates=40)
    return features, rw.LambdaMART(rounds=20).fit(judged.data)


def test_a_saved_searcher_is_whole(index, tuned, collection, tmp_path):
    columns = {"clicks": {document.id: float(place) for place, document in enumerate(collection.documents)}}
    features = FeatureSet(["BM25", "length"], fields=["body"], columns=columns, bm25=BM25(0.7, 0.3))
    searcher = Searcher(index, features, tuned[1], candidates=20, retrieval=BM25(2.0, 0.4))
    path = searcher.save(tmp_path / "mine.rws")
    loaded = Searcher.load(path)
    assert (loaded.candidates, loaded.retrieval) == (20, BM25(2.0, 0.4))
    assert [*loaded.search("public library cost", 20)] == [*searcher.search("public library cost", 20)]
    assert loaded.features.state() == features.state()


def test_features_have_the_parameters_that_the_model_was_fitted_with(index, tuned, tmp_path):
    features, ranker = tuned
    rw.save(ranker, tmp_path / "m.rw")
    alone = Searcher(index, model=rw.load(tmp_path / "m.rw"), candidates=30)
    assert alone.features.bm25 == BM25(0.7, 0.3)
    whole = Searcher(index, features, ranker, candidates=30)
    assert [*alone.search("old bridge")] == [*whole.search("old bridge")]
    with pytest.raises(rw.InputError, match=r"with a feature 'body: BM25 \(k1=0.7 b=0.3\)', which the feature"):
        Searcher(index, FeatureSet(["BM25", "length"]), ranker)
    unnamed = rw.RankSVM().fit(rw.RankingData(np.eye(2), [0, 1], [1, 1]))
    with pytest.raises(rw.InputError, match="has 2 features without names, the feature set has 73"):
        Searcher(index, model=unnamed)


def test_columns_by_query_need_the_ids_of_queries(index, tuned, collection):
    columns = {"similarity": {(query, collection.documents[0].id): 1.0 for query in collection.queries.ids}}
    features = FeatureSet(["BM25", "length"], fields=["body"], columns=columns, bm25=BM25(0.7, 0.3))
    searcher = Searcher(index, features, tuned[1])
    with pytest.raises(rw.InputError, match="column 'similarity' depend on the query's id: use search_all"):
        searcher.search("old bridge")
    known = collection.queries.ids[0]
    assert len(searcher.search_all({known: "old bridge"}, 3)) == 3
    with pytest.raises(
        rw.InputError, match="Column 'similarity' has numbers for none of the queries, such as 'x'"
    ):
        searcher.search_all({"x": "old bridge"}, 3)
    with pytest.warns(rw.text.CoverageWarning, match="has no number for 1 query of 2, such as 'x'"):
        assert len(searcher.search_all({known: "old bridge", "x": "old bridge"}, 3)) == 6


def test_a_folder_can_be_moved(collection, ranker, tmp_path):
    searcher = Searcher(Index.build(collection.documents, tmp_path / "a" / "index"), model=ranker)
    assert searcher.save() == tmp_path / "a" / "index" / "searcher.rws"
    searcher.save(tmp_path / "a" / "beside.rws")
    expected = [*searcher.search("small canal")]
    (tmp_path / "a").rename(tmp_path / "b")
    assert [*Searcher.load(tmp_path / "b" / "index").search("small canal")] == expected
    assert [*Searcher.load(tmp_path / "b" / "beside.rws").search("small canal")] == expected


def test_functions_must_be_given_again(index, ranker, tmp_path):
    features = FeatureSet(["BM25", "phrase", "length"], functions={"size": lambda _, one: len(one.fields["body"])})
    path = Searcher(index, features, ranker).save(tmp_path / "s.rws")
    with pytest.raises(rw.InputError, match="give functions= again"):
        Searcher.load(path)
    loaded = Searcher.load(path, functions=features.functions)
    assert len(loaded.search("old bridge")) == 10


def test_documents_may_be_added_but_not_analysed_otherwise(collection, ranker, tmp_path):
    *most, last = collection.documents
    path = Searcher(Index.build(most, tmp_path / "i"), model=ranker, candidates=200).save()
    Index.open(tmp_path / "i").add([last])
    assert last.id in Searcher.load(path).search(last.fields["body"], 200).ids
    Index.build(most, tmp_path / "i", analyser=Analyser(stemmer=None))
    with pytest.raises(rw.InputError, match="was built again, with another analyser"):
        Searcher.load(path)


@pytest.mark.parametrize("column", [None, "pagerank"])
def test_a_model_of_other_features_is_refused(index, column):
    names = ["body: BM25", column or "colour"]
    data = rw.RankingData(np.eye(2), [0, 1], [1, 1], feature_names=names)
    model = rw.RankSVM().fit(data)
    with pytest.raises(rw.InputError, match=f"There is no feature '{names[1]}'"):
        Searcher(index, model=model)
    with pytest.raises(rw.InputError, match="which the feature set does not have"):
        Searcher(index, FeatureSet(), model)
    assert len(Searcher(index, FeatureSet(columns={names[1]: {"d1": 1.0}}), model).search("old"))


def test_pyterrier_is_needed_for_its_steps_only(monkeypatch):
    import importlib
    import sys

    monkeypatch.setitem(sys.modules, "pyterrier", None)
    monkeypatch.delitem(sys.modules, "rankwright.text.pyterrier", raising=False)
    with pytest.raises(rw.MissingPackageError, match="pip install pyterrier"):
        importlib.import_module("rankwright.text.pyterrier")


def test_wrong_input_is_one_sentence(index, ranker):
    for options, message in (
        ({"model": "model.rw"}, "model must be a scorer or a fitted ranker, not str"),
        ({"candidates": 0}, "candidates must be a positive integer"),
        ({"retrieval": "bm25"}, "model must be BM25"),
    ):
        with pytest.raises(rw.InputError, match=message):
            Searcher(index, **options)


def damaged(path, change):
    """Write a file with other settings and a right checksum."""
    settings, model = read_searcher(path)
    path.write_bytes(file_content(json.dumps(change(settings)).encode(), encode(model)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: [one], "its settings are not a JSON object"),
        (lambda _: {}, "its settings must be index"),
        (lambda one: one | {"index": 3}, "its settings must be index"),
        (lambda one: one | {"index": "nowhere"}, "is not an index"),
        (lambda one: one | {"candidates": "many"}, "candidates must be a positive integer"),
        (lambda one: one | {"retrieval": ["tfidf", {}]}, "There is no retrieval model"),
        (lambda one: one | {"retrieval": ["absolute_discounting", {}]}, "does not search"),
        (lambda one: one | {"retrieval": 5}, "a retriever must be a name and parameters"),
        (lambda one: one | {"features": {"names": 1}}, "a feature set must have"),
        (lambda one: one | {"retrieval": ["bm25", {"b": 0.75}]}, "its settings are not complete"),
        (lambda one: one | {"features": one["features"] | {"field": ["body"]}}, "its settings are not complete"),
        (lambda one: one | {"features": one["features"] | {"fields": [{}]}}, "at least one field of the index"),
        (lambda one: one | {"retrieval": ["bm25", {"x": [one] * 50}]}, r"parameters k1, b, method, not .*\.\.\.$"),
        (lambda one: one | {"candidates": 2**64}, "candidates must be a positive integer below 2\\^63"),
    ],
)
def test_wrong_settings_are_one_sentence(index, ranker, tmp_path, change, message):
    path = Searcher(index, model=ranker).save(tmp_path / "s.rws")
    damaged(path, change)
    with pytest.raises(rw.InputError, match=message):
        Searcher.load(path)


def test_every_cut_and_change_is_noticed(index, ranker, tmp_path):
    path = Searcher(index, model=ranker).save(tmp_path / "s.rws")
    whole = path.read_bytes()
    for size in [*range(60), len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(rw.InputError, match=r"cut short|not a searcher"):
            Searcher.load(path)
    for place in (len(MAGIC) + 8, 100, len(whole) - 40, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(rw.InputError, match=r"altered or damaged|cut short"):
            Searcher.load(path)
    path.write_bytes(whole[: len(MAGIC)] + struct.pack("<I", 7) + whole[len(MAGIC) + 4 :])
    with pytest.raises(rw.InputError, match="has format 7, this version of rankwright reads format 1"):
        Searcher.load(path)
    with pytest.raises(rw.InputError, match="There is no file"):
        Searcher.load(tmp_path / "missing.rws")


def test_a_failed_save_leaves_the_old_file(index, ranker, tmp_path, monkeypatch):
    path = Searcher(index, model=ranker).save(tmp_path / "s.rws")
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(rw.InputError, match="No space left"):
        Searcher(index).save(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["s.rws"]
