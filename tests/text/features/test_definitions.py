"""Features against a literal reading of their formulas; choices, columns, functions, candidates, bad input."""

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.data.readers.trec import Judgements, Run
from rankwright.text import BM25, AbsoluteDiscounting, Analyser, Dirichlet, FeatureSet, Index, JelinekMercer
from rankwright.text.features.definitions import FAMILIES, FEATURES
from rankwright.text.features.feature_names import settings_of
from reference import text_features as reference
from reference.text import words as literal_words
from text_documents import VOCABULARY, Text

GAPPY = Analyser(stop_words=["the"], stemmer=None)
MODELS = {
    "bm25": BM25(k1=0.9, b=0.4),
    "dirichlet": Dirichlet(mu=5),
    "jelinek_mercer": JelinekMercer(0.3),
    "absolute_discounting": AbsoluteDiscounting(0.6),
}
NUMBERS = {"k1": 0.9, "b": 0.4, "mu": 5, "smoothing": 0.3, "delta": 0.6}
SENTENCES = st.lists(st.sampled_from(VOCABULARY), max_size=9).map(" ".join)
FIELDS = st.fixed_dictionaries({"title": SENTENCES, "body": SENTENCES})
QUERIES = st.lists(st.sampled_from([*VOCABULARY, "unknown"]), max_size=6).map(" ".join)


def terms(text):
    return [None if word == "the" else word for word in literal_words(text)]


@pytest.fixture
def index(tmp_path):
    """Three documents, one of them empty."""
    documents = [
        Text("a", {"title": "ship at sea", "body": "the ship left the harbour"}),
        Text("b", {"title": "sea", "body": "the sea is the sea"}),
        Text("c", {"title": "", "body": ""}),
    ]
    return Index.build(documents, tmp_path / "i", analyser=GAPPY)


@given(
    st.lists(FIELDS, min_size=1, max_size=8),
    st.lists(FIELDS, max_size=6),
    st.sets(st.integers(0, 13)),
    st.lists(QUERIES, min_size=1, max_size=3),
    st.randoms(use_true_random=False),
)
@examples(150)
def test_each_feature_equals_its_formula(tmp_path_factory, first, second, removed, queries, random):
    made = [Text(f"d{number}", fields) for number, fields in enumerate([*first, *second])]
    index = Index.build(made[: len(first)], tmp_path_factory.mktemp("i") / "i", analyser=GAPPY)
    if second:
        index.add(made[len(first) :])
    gone = {made[number].id for number in removed if number < len(made)} - {made[0].id}
    index.remove(gone)
    kept = [document for document in made if document.id not in gone]
    random.shuffle(kept)
    named = {f"q{number}": text for number, text in enumerate(queries)}
    found = FeatureSet(FAMILIES, **MODELS).documents(
        index, named, {name: [one.id for one in kept] for name in named}
    )
    assert found.document_ids.tolist() == [one.id for one in kept] * len(queries)
    tokens = [{name: terms(text) for name, text in one.fields.items()} for one in kept]
    expected = [row for text in queries for row in reference.features(tokens, terms(text), **NUMBERS)]
    wanted = [[row[name] for name in FeatureSet(FAMILIES).names(index)] for row in expected]
    np.testing.assert_allclose(found.X, np.array(wanted), rtol=3e-6, atol=1e-6)


def test_all_features_are_in_the_reference(index):
    names = FeatureSet(FAMILIES).names(index)
    assert names == [*reference.features([{"title": ["a"], "body": ["a"]}], ["a"])[0]]
    assert len(names) == 3 * (len(FEATURES) - 1) + 1
    assert FeatureSet().names(index) == [name for name in names if not name.endswith(": length")]


def test_scores_of_models_are_those_of_a_search(index):
    found = index.search("ship sea", BM25(), fields={"body": 1})
    chosen = FeatureSet(["body: BM25"]).documents(index, {"q": "ship sea"}, {"q": found.ids})
    np.testing.assert_allclose(chosen.X[:, 0], found.scores.astype(np.float32), rtol=1e-6)


def test_bm25_equals_bm25s(tmp_path):
    bm25s = pytest.importorskip("bm25s")
    rng = np.random.default_rng(5)
    texts = [[f"w{n}" for n in rng.zipf(1.4, rng.integers(1, 40)) % 60] for _ in range(300)]
    plain = Analyser(stop_words=None, stemmer=None)
    made = [Text(str(number), {"body": " ".join(words)}) for number, words in enumerate(texts)]
    index = Index.build(made, tmp_path / "i", analyser=plain)
    queries = {str(n): " ".join(f"w{k}" for k in rng.choice(60, 4, replace=False)) for n in range(20)}
    found = FeatureSet(["body: BM25"], bm25=BM25(k1=1.5, b=0.6)).documents(
        index, queries, {query: [one.id for one in made] for query in queries}
    )
    other = bm25s.BM25(k1=1.5, b=0.6, method="lucene")
    other.index(texts, show_progress=False)
    expected = np.concatenate([other.get_scores(text.split()) for text in queries.values()])
    np.testing.assert_allclose(found.X[:, 0], expected, rtol=1e-4, atol=1e-5)


def test_table_2_of_the_paper(index):
    names = ["log tf", "icf", "idf", "log normalised tf", "log tf-idf", "log tf-icf", "log BM25"]
    assert FeatureSet("adarank-2007").names(index) == [f"all fields: {name}" for name in names]
    one_field = FeatureSet("adarank-2007", fields=["body"])
    assert one_field.names(index) == [f"body: {name}" for name in names]


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_matter(index, threads):
    queries = {str(n): " ".join(VOCABULARY[n % 5 :]) for n in range(40)}
    lists = {query: ["c", "a", "b"] for query in queries}
    alone = FeatureSet().documents(index, queries, lists, n_jobs=1)
    found = FeatureSet().documents(index, queries, lists, n_jobs=threads)
    assert alone.X.tobytes() == found.X.tobytes()


def test_features_are_chosen_by_family_name_and_field(index):
    assert FeatureSet(["phrase"], fields=["title"]).names(index) == ["title: ordered pairs", "title: phrase"]
    assert FeatureSet("minimal span").names(index) == [
        f"{one}: minimal span" for one in ("title", "body", "all fields")
    ]
    assert FeatureSet(["body: cosine", "title: tf"]).names(index) == ["title: tf", "body: cosine"]
    assert FeatureSet(["cosine"], fields=["body"]).names(index) == ["body: cosine"]


def test_names_say_what_values_depend_on(index, tmp_path):
    chosen = ["log BM25", "LM Dirichlet", "all fields: LM absolute discounting", "title: tf"]
    assert FeatureSet(chosen, fields=["title", "body"], **MODELS).names(index) == [
        "title: tf",
        "title: log BM25 (k1=0.9 b=0.4)",
        "title: LM Dirichlet (mu=5)",
        "body: log BM25 (k1=0.9 b=0.4)",
        "body: LM Dirichlet (mu=5)",
        "all fields: log BM25 (k1=0.9 b=0.4)",
        "all fields: LM Dirichlet (mu=5)",
        "all fields: LM absolute discounting (delta=0.6)",
    ]
    three = Index.build([Text("a", {"title": "ship", "body": "sea", "author": "x"})], tmp_path / "three")
    some = FeatureSet(["all fields: BM25"], fields=["title", "body"], bm25=BM25(method="atire"))
    assert some.names(three) == ["title + body: BM25 (method=atire)"]


@given(
    st.floats(0, 1e3) | st.integers(0, 9),
    st.floats(0, 1),
    st.sampled_from(["lucene", "robertson", "atire"]),
    st.floats(1e-3, 1e6),
)
@examples(50)
def test_features_are_made_again_from_their_names(tmp_path_factory, k1, b, method, mu):
    documents = [Text("a", {"title": "ship", "body": "sea", "author": "x"})]
    index = Index.build(documents, tmp_path_factory.mktemp("i") / "i", analyser=GAPPY)
    made = FeatureSet(fields=["title", "body"], bm25=BM25(k1, b, method), dirichlet=Dirichlet(mu))
    again = FeatureSet(**settings_of(made.names(index)))
    assert again.names(index) == made.names(index)
    assert (again.bm25, again.dirichlet, again.fields) == (made.bm25, made.dirichlet, ["title", "body"])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["title: BM25 (k1=2)", "body: BM25"], "have different parameters"),
        (["title: BM25 (k2=2)"], "has the parameters k1, b, method"),
        (["title: BM25 (k1=many)"], "k1 must be a number"),
        (["title + body: tf", "all fields: tf"], "different fields together"),
        (["title: tf (k1=2)"], "There is no feature 'title: tf"),
        (["colour (k1=2)"], "There is no feature 'colour"),
    ],
)
def test_names_that_no_feature_set_has(index, names, message):
    with pytest.raises(rw.InputError, match=message):
        FeatureSet(**settings_of(names)).names(index)


def test_columns_are_joined_by_id(index):
    columns = {"price": {"a": 3, "c": 1.5}, "clicks": {("q", "b"): 7, ("other", "a"): 9}}
    found = FeatureSet(["length"], fields=["body"], columns=columns).documents(
        index, {"q": "sea"}, {"q": ["a", "b", "c"]}
    )
    assert found.feature_names == ("body: length", "price", "clicks")
    np.testing.assert_array_equal(found.X[:, 1:], np.array([[3, np.nan], [np.nan, 7], [1.5, np.nan]], np.float32))


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "frame"])
def test_columns_come_from_tables(index, tmp_path, kind):
    frame = pd.DataFrame({"docid": ["a", "b"], "rank": [0.5, np.nan], "votes": [3, 4]})
    path = tmp_path / f"table.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    found = FeatureSet(["query"], columns=frame if kind == "frame" else path).documents(
        index, {"q": "sea"}, {"q": ["a", "b", "c"]}
    )
    assert found.feature_names == ("query length", "rank", "votes")
    np.testing.assert_array_equal(found.X[:, 1:], np.array([[0.5, 3], [np.nan, 4], [np.nan, np.nan]], np.float32))


def test_a_table_may_have_queries(index):
    frame = pd.DataFrame({"qid": [1, 1], "document": ["a", "b"], "similarity": [0.5, 0.25]})
    with pytest.warns(rw.text.CoverageWarning, match="no number for 1 query of 2"):
        found = FeatureSet(["query"], columns=frame).documents(
            index, {"1": "sea", "2": "sea"}, {"1": ["a", "b"], "2": ["a"]}
        )
    np.testing.assert_array_equal(found.X[:, 1], np.array([0.5, 0.25, np.nan], np.float32))


def test_functions_see_the_query_and_the_document(index):
    functions = {"letters": lambda query, document: len(query) + len(document.fields["title"])}
    found = FeatureSet(["query"], functions=functions).documents(index, {"q": "sea"}, {"q": ["b", "a"]})
    assert found.X[:, 1].tolist() == [6, 14]


def test_candidates_are_results_runs_or_mappings(index):
    queries = {"1": "sea", "2": "harbour"}
    results = index.search_all([*queries.values()])
    run = Run.of(["1", "1", "2"], ["a", "b", "a"], [1.0, 2.0, 1.0])
    mapping = {"2": ["a"], "1": ["b", "a"]}
    for given_candidates in (results, run, mapping):
        found = FeatureSet().documents(index, queries, given_candidates)
        assert found.qid.tolist() == ["1", "1", "2"]
        assert found.document_ids.tolist() == ["b", "a", "a"]


def test_results_of_an_index_that_has_changed_are_taken_by_id(index):
    results = [index.search("sea")]
    index.remove(["b"])
    with pytest.raises(rw.InputError, match="has no document 'b', which is a candidate"):
        FeatureSet().documents(index, {"q": "sea"}, results)
    index.merge()
    found = FeatureSet().documents(index, {"q": "sea"}, [index.search("sea")])
    assert found.document_ids.tolist() == ["a"]


def judgements():
    rows = [("1", "a", 2), ("1", "c", 1), ("1", "gone", 1), ("2", "b", 0), ("3", "a", 1), ("nobody", "a", 1)]
    return Judgements.of(*zip(*rows, strict=True))


QUERIES_JUDGED = {"1": "sea", "2": "harbour", "3": "xyz", "4": "ship"}


def test_judged_documents_and_what_is_known_of_them(index):
    found = FeatureSet().judged(index, QUERIES_JUDGED, judgements(), candidates=10, judged_too=True)
    data = found.data
    rows = [*zip(data.qid.tolist(), data.document_ids.tolist(), data.y.tolist(), strict=True)]
    assert rows == [("1", "b", 0), ("1", "a", 2), ("1", "c", 1), ("2", "a", 0), ("2", "b", 0), ("3", "a", 1)]
    assert (found.n_candidates, found.n_unjudged, found.n_added) == (3, 2, 3)
    assert (found.n_relevant, found.n_relevant_found) == (3, 1)
    assert found.recall == pytest.approx((1 / 2 + 0) / 2)
    assert found.queries_without_words == ("3",)
    assert found.coverage.unknown_documents == ("gone",)
    assert found.coverage.unknown_queries == ("nobody",)
    assert found.coverage.queries_without_judgements == ("4",)
    assert "2 candidates without a judgement counted as not relevant" in str(found)
    assert "1 query without any known word" in str(found)


def test_unjudged_candidates_can_be_dropped(index):
    found = FeatureSet().judged(index, QUERIES_JUDGED, judgements(), unjudged="drop", judged_too=True)
    assert found.data.document_ids.tolist() == ["a", "c", "b", "a"]
    assert found.n_unjudged == 2
    assert "left out" in str(found)
    alone = FeatureSet().judged(index, QUERIES_JUDGED, judgements(), unjudged="drop")
    assert alone.data.document_ids.tolist() == ["a"]
    given_candidates = {"1": ["c"], "4": ["a"]}
    named = FeatureSet().judged(index, QUERIES_JUDGED, judgements(), candidates=given_candidates)
    assert named.data.document_ids.tolist() == ["c"]
    assert named.n_candidates == 1


def test_subsets_keep_their_text(index):
    data = FeatureSet().judged(index, QUERIES_JUDGED, judgements(), judged_too=True).data
    scores = data.groups.scores(BM25(), index.weights, 1)
    for part, expected in (
        (data.take([4, 0]), scores[[4, 0]]),
        (data.take_queries([1]), scores[3:5]),
        (pickle.loads(pickle.dumps(data)), scores),
        (rw.concat(data.take_queries([2, 0]), data.take_queries([1])), scores[[0, 1, 2, 5, 3, 4]]),
    ):
        assert isinstance(part, rw.text.TextRankingData)
        assert part.groups.scores(BM25(), index.weights, 1).tolist() == expected.tolist()
    assert isinstance(data.take_queries([0]).with_labels([1, 2, 3]), rw.text.TextRankingData)
    plain = rw.RankingData(data.X, data.y, data.qid, feature_names=data.feature_names)
    assert type(rw.concat(data, plain, shared_queries="separate")) is rw.RankingData


def test_a_query_has_one_text(index):
    made = [
        FeatureSet().documents(index, {"q": text}, {"q": ids}) for text, ids in (("sea", ["a"]), ("ship", ["b"]))
    ]
    same = FeatureSet().documents(index, {"q": "sea"}, {"q": ["b"]})
    assert len(rw.concat(made[0], same, shared_queries="merge").groups.scores(BM25(), index.weights, 1)) == 2
    with pytest.raises(rw.InputError, match="Query q has documents of different texts"):
        rw.concat(*made, shared_queries="merge").groups.scores(BM25(), index.weights, 1)


def test_state_is_json(index):
    columns = {"price": {"a": 3}, "clicks": {("q", "b"): 7}}
    functions = {"one": lambda *_: 1}
    made = FeatureSet(["tf", "body: cosine"], fields=["body"], columns=columns, functions=functions, **MODELS)
    state = json.loads(json.dumps(made.state()))
    again = FeatureSet.from_state(state, functions=functions)
    assert again.state() == made.state()
    queries, lists = {"q": "sea ship"}, {"q": ["a", "b", "c"]}
    assert again.documents(index, queries, lists).X.tobytes() == made.documents(index, queries, lists).X.tobytes()
    with pytest.raises(rw.InputError, match=r"Functions are not stored .* \(one\)"):
        FeatureSet.from_state(state)
    for name in state:
        with pytest.raises(rw.InputError):
            FeatureSet.from_state(state | {name: 3}, functions=functions)
    with pytest.raises(rw.InputError, match="k1"):
        FeatureSet.from_state(state | {"models": state["models"] | {"bm25": {"k1": -1}}}, functions=functions)


def test_what_cannot_be_understood_is_refused(index, tmp_path):
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text('{"qid": "q", "id": "a", "x": 1}\n{"id": "b", "x": 2}\n')
    queries, lists = {"q": "sea"}, {"q": ["a"]}
    cases = [
        (lambda: FeatureSet(3), "features must be names"),
        (lambda: FeatureSet(["BM26"]).names(index), "did you mean 'BM25'"),
        (lambda: FeatureSet(["adarank-2007", "tf"]), "stands alone"),
        (lambda: FeatureSet(fields=["abstract"]).names(index), "no field 'abstract'"),
        (lambda: FeatureSet(fields=[]).names(index), "at least one field"),
        (lambda: FeatureSet(bm25=Dirichlet()), "bm25 must be BM25"),
        (lambda: FeatureSet(columns=3), "columns must be"),
        (lambda: FeatureSet(columns={"x": {"a": "many"}}), "must hold numbers, not 'many'"),
        (lambda: FeatureSet(columns={"x": {"a": 1, ("q", "b"): 2}}), "must be document ids, or all pairs"),
        (lambda: FeatureSet(columns={"body: tf": {"a": 1}}).names(index), "Two features are called 'body: tf'"),
        (lambda: FeatureSet(columns=pd.DataFrame({"x": [1]})), "no id"),
        (lambda: FeatureSet(columns=pd.DataFrame({"id": ["a", "a"], "x": [1, 2]})), "two numbers for 'a'"),
        (
            lambda: FeatureSet(columns=pd.DataFrame({"qid": ["1", None], "id": ["a", "b"], "x": [1, 2]})),
            "the id in 'qid' must be text",
        ),
        (lambda: FeatureSet(columns=mixed), "line 2: either every row has a query id, or none"),
        (lambda: FeatureSet().judged(index, queries, {"q": {"a": 1}}), "judgements must be Judgements"),
        (lambda: FeatureSet(functions={"x": 3}), "functions must be"),
        (
            lambda: FeatureSet(functions={"x": lambda *_: "many"}).documents(index, queries, lists),
            "'x' must return a number",
        ),
        (lambda: FeatureSet().documents(index, ["sea"], lists), "queries must be Queries"),
        (lambda: FeatureSet().documents(index, queries, 3), "candidates must be"),
        (lambda: FeatureSet().documents(index, queries, {"p": ["a"]}), "query 'p', which is not among"),
        (lambda: FeatureSet().documents(index, queries, {"q": ["z"]}), "no document 'z'"),
        (lambda: FeatureSet().documents(index, queries, {"q": [1]}), "must be strings"),
        (lambda: FeatureSet().documents(index, queries, {"q": ["a", "a"]}), "twice among the candidates"),
        (lambda: FeatureSet().documents(index, queries, []), "1 queries but 0 results"),
        (lambda: FeatureSet().judged(index, queries, judgements()), "No query has a judgement"),
        (lambda: FeatureSet().judged(index, queries, judgements(), unjudged="guess"), "unjudged must be"),
        (lambda: index.search("sea", AbsoluteDiscounting()), "does not search"),
        (lambda: AbsoluteDiscounting(0), "delta must be a number above 0"),
    ]
    for call, message in cases:
        with pytest.raises(rw.InputError, match=message):
            call()


def test_nothing_to_compute(index):
    assert FeatureSet().documents(index, {}, {}).X.shape == (0, 73)
    found = FeatureSet().documents(index, {"q": ""}, {"q": ["a", "c"]})
    assert found.X.shape == (2, 73)
    values = dict(zip(found.feature_names, found.X[0].tolist(), strict=True))
    assert values["body: tf"] == values["query length"] == values["body: phrase"] == 0
    assert math.isnan(values["body: minimal span"])
