"""Retrieval against exhaustive scoring and literal formulas, ties included, and against bm25s."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.text import BM25, Analyser, Dirichlet, Index, JelinekMercer
from reference import text as reference
from text_documents import VOCABULARY, Text, bodies, texts

PLAIN = Analyser(stop_words=None, stemmer=None)
MODELS = [
    BM25(),
    BM25(k1=0.9, b=0.4, method="atire"),
    BM25(method="robertson"),
    BM25(k1=0, b=0),
    BM25(b=1),
    Dirichlet(),
    Dirichlet(mu=3),
    JelinekMercer(),
    JelinekMercer(smoothing=1.0),
]
QUERIES = st.lists(st.sampled_from([*VOCABULARY, "unknown"]), max_size=5).map(" ".join)


def literal(model, documents, query):
    if isinstance(model, BM25):
        return reference.bm25(documents, query, model.k1, model.b, model.method)
    if isinstance(model, Dirichlet):
        return reference.dirichlet(documents, query, model.mu)
    return reference.jelinek_mercer(documents, query, model.smoothing)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """An index of many documents with few words, so that scores tie and windows are skipped."""
    rng = np.random.default_rng(3)
    words = [f"w{n}" for n in range(300)]
    chances = 1 / np.arange(1, 301)
    made = [" ".join(rng.choice(words, rng.integers(0, 12), p=chances / chances.sum())) for _ in range(9000)]
    return Index.build(texts(made), tmp_path_factory.mktemp("crowd") / "i", analyser=PLAIN)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@given(bodies(), QUERIES)
@examples(40)
def test_scores_are_those_of_the_formula(tmp_path_factory, model, given_bodies, query):
    index = Index.build(texts(given_bodies), tmp_path_factory.mktemp("i") / "i", analyser=PLAIN, fields=["body"])
    documents = [PLAIN(body) for body in given_bodies]
    expected = literal(model, documents, PLAIN(query))
    found = index.search(query, model, n=1000)
    assert {*found.numbers.tolist()} == expected.keys()
    np.testing.assert_allclose(
        found.scores, [expected[number] for number in found.numbers], rtol=1e-12, atol=1e-12
    )
    rounded = {number: round(score, 10) for number, score in expected.items()}
    assert found.numbers.tolist() == reference.ranked(rounded, 1000)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("n", [1, 10, 100, 20000])
def test_skipping_changes_nothing(crowd, model, n):
    rng = np.random.default_rng(n)
    queries = [[f"w{word}" for word in rng.zipf(1.2, rng.integers(1, 7)) % 330] for _ in range(30)]
    skipped = crowd.snapshot.search(queries, model, n, {"body": 1.0})
    exhaustive = crowd.snapshot.search(queries, model, n, {"body": 1.0}, skip=False)
    for one, other in zip(skipped, exhaustive, strict=True):
        assert one.numbers.tobytes() == other.numbers.tobytes()
        assert one.scores.tobytes() == other.scores.tobytes()
        order = np.lexsort((one.numbers, -one.scores))
        assert order.tolist() == list(range(len(one)))


def test_exact_ties_come_in_the_order_of_documents(crowd):
    found = crowd.search("w7", BM25(b=0), n=20000)
    assert len({*found.scores.tolist()}) < 6
    assert len(found) > 500
    best = found.numbers[found.scores == found.scores[0]]
    assert np.all(np.diff(best) > 0)


def test_threads_change_nothing(crowd):
    queries = [f"w{n} w{n * 7 % 300} w1" for n in range(100)]
    one, two = (crowd.search_all(queries, n=10, n_jobs=jobs) for jobs in (1, 2))
    single = [crowd.search(query, n=10) for query in queries]
    for results in zip(one, two, single, strict=True):
        assert len({result.numbers.tobytes() + result.scores.tobytes() for result in results}) == 1


@pytest.mark.parametrize("model", [BM25(), Dirichlet(), JelinekMercer()], ids=repr)
@given(bodies(), bodies(), st.sets(st.integers(0, 59)), QUERIES, st.integers(1, 8))
@examples(30)
def test_segments_and_removed_documents_do_not_show(tmp_path_factory, model, first, second, gone, query, n):
    folder = tmp_path_factory.mktemp("i")
    documents = [*texts(first, "a"), *texts(second, "b")]
    gone = [document.id for number, document in enumerate(documents) if number in gone]
    index = Index.build(texts(first, "a"), folder / "index", analyser=PLAIN, fields=["body"])
    index.add(texts(second, "b"))
    index.remove(gone)
    kept = [document for document in documents if document.id not in gone]
    fresh = Index.build(kept, folder / "fresh", analyser=PLAIN, fields=["body"])
    assert [*index.search(query, model, n)] == [*fresh.search(query, model, n)]
    assert [*Index.open(folder / "index").search(query, model, n)] == [*fresh.search(query, model, n)]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@given(bodies(), bodies(), QUERIES, st.sampled_from([(2, 1), (1, 1), (1, 3), (0, 1)]))
@examples(20)
def test_a_field_of_weight_two_counts_twice(tmp_path_factory, model, titles, contents, query, weights):
    documents = [
        Text(str(n), {"title": a, "body": b}) for n, (a, b) in enumerate(zip(titles, contents, strict=False))
    ]
    folder = tmp_path_factory.mktemp("i") / "i"
    index = Index.build(
        documents, folder, analyser=PLAIN, fields=dict(zip(("title", "body"), weights, strict=True))
    )
    joined = [
        PLAIN(title) * weights[0] + PLAIN(body) * weights[1] for title, body in zip(titles, contents, strict=False)
    ]
    expected = literal(model, joined, PLAIN(query))
    found = index.search(query, model, n=1000)
    assert dict(zip(found.numbers.tolist(), found.scores, strict=True)) == pytest.approx(
        expected, rel=1e-9, abs=1e-9
    )
    groups = [np.arange(len(documents))]
    scores = index.snapshot.score([PLAIN(query)], groups, model, index.weights)
    assert [*found.scores] == [scores[number] for number in found.numbers]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("weights", [{"title": 2.0, "body": 1.0}, {"title": 0.3, "body": 1.7, "notes": 1.0}])
def test_skipping_changes_nothing_with_several_fields(fielded_crowd, model, weights):
    rng = np.random.default_rng(len(weights))
    queries = [[f"w{word}" for word in rng.zipf(1.2, rng.integers(1, 7)) % 330] for _ in range(30)]
    for n in (1, 10, 20000):
        skipped = fielded_crowd.snapshot.search(queries, model, n, weights)
        exhaustive = fielded_crowd.snapshot.search(queries, model, n, weights, skip=False)
        for one, other in zip(skipped, exhaustive, strict=True):
            assert one.numbers.tobytes() == other.numbers.tobytes()
            assert one.scores.tobytes() == other.scores.tobytes()


@pytest.fixture(scope="module")
def fielded_crowd(tmp_path_factory):
    """Many documents of three fields, some of them empty, in two segments."""
    rng = np.random.default_rng(4)
    words = [f"w{n}" for n in range(300)]
    chances = 1 / np.arange(1, 301)

    def made(most):
        return " ".join(rng.choice(words, rng.integers(0, most), p=chances / chances.sum()))

    documents = [Text(str(n), {"title": made(4), "body": made(30), "notes": made(3)}) for n in range(9000)]
    index = Index.build(documents[:6000], tmp_path_factory.mktemp("crowd") / "i", analyser=PLAIN)
    index.add(documents[6000:])
    return index


def test_titles_count_twice_by_default(tmp_path):
    documents = [Text("a", {"Title": "ship", "body": "sea"}), Text("b", {"body": "ship", "note": "x"})]
    assert Index.build(documents, tmp_path / "i").weights == {"Title": 2.0, "body": 1.0, "note": 1.0}


@pytest.mark.parametrize("method", ["lucene", "robertson", "atire"])
def test_bm25_equals_bm25s(crowd, method):
    bm25s = pytest.importorskip("bm25s")
    documents = [PLAIN(crowd.text(f"d{n}")["body"]) for n in range(len(crowd))]
    other = bm25s.BM25(k1=1.3, b=0.6, method=method)
    other.index(documents, show_progress=False)
    for query in ("w0 w1", "w3 w30 w3", "w200 w10 w100 w1"):
        expected = other.get_scores(PLAIN(query))
        found = crowd.search(query, BM25(1.3, 0.6, method), n=20000)
        np.testing.assert_allclose(found.scores, expected[found.numbers], rtol=2e-6, atol=1e-6)
        assert np.count_nonzero(expected) <= len(found)


def test_queries_without_known_words_find_nothing(crowd):
    for query in ("", "unknown", "... !"):
        assert len(crowd.search(query)) == 0
        assert crowd.search(query).ids == []
    assert [len(one) for one in crowd.search_all(["", "w0", "unknown"], n=3)] == [0, 3, 0]
    assert crowd.search_all([]) == []


def test_a_word_of_many_repetitions(tmp_path):
    index = Index.build(texts(["a " * 70000, "a", "b " * 300 + "a"]), tmp_path / "i", analyser=PLAIN)
    scores = dict(index.search("a " * 5000, BM25(b=0)))
    assert scores["d0"] / scores["d1"] == pytest.approx(70000 / 70001.2 * 2.2)
    assert all(map(math.isfinite, scores.values()))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: BM25(k1=-1), "k1 must be a number at least 0, not -1"),
        (lambda: BM25(b=2), "b must be a number at least 0 and at most 1, not 2"),
        (lambda: BM25(method="other"), "method must be one of lucene, robertson, atire"),
        (lambda: Dirichlet(mu=0), "mu must be a number above 0, not 0"),
        (lambda: JelinekMercer(smoothing=math.nan), "smoothing must be a number above 0 and at most 1"),
    ],
)
def test_wrong_parameters_are_one_sentence(wrong, message):
    with pytest.raises(rw.InputError, match=message):
        wrong()


def test_wrong_searches_are_one_sentence(crowd):
    with pytest.raises(rw.InputError, match="n must be a positive integer"):
        crowd.search("w0", n=0)
    with pytest.raises(rw.InputError, match="no field 'title'; it has body"):
        crowd.search("w0", fields=["title"])
    with pytest.raises(rw.InputError, match="weight of field body must be a number between 0 and 1e"):
        crowd.search("w0", fields={"body": -1})
    with pytest.raises(rw.InputError, match=r"model must be BM25\(\)"):
        crowd.search("w0", "bm25")
