"""`rankwright search`: results, snippets, runs, searchers, and bad input."""

from __future__ import annotations

import pytest

import rankwright as rw
from rankwright.data.readers.trec import read_run
from rankwright.text import BM25, Dirichlet, FeatureSet, Index, TextDocument
from text_documents import stored_arrays, write_arrays

DOCUMENTS = [
    TextDocument("d1", {"title": "Lift of wings", "body": "Wings lift ships\x1b[31m at sea."}),
    TextDocument("d2", {"title": "Heat", "body": "Slabs conduct heat. " * 30 + "A wing."}),
    TextDocument("d3", {"title": "", "body": ""}),
]


@pytest.fixture
def index(tmp_path):
    return Index.build(DOCUMENTS, tmp_path / "index")


def test_results_as_json(run, index):
    found = run("search", "--index", index.path, "--json", "wing", "at", "sea").json
    assert found["query"] == "wing at sea"
    expected = index.search("wing at sea", BM25(), 10)
    assert [(one["document"], one["score"]) for one in found["results"]] == [*expected]
    assert [one["rank"] for one in found["results"]] == [1, 2]
    assert found["results"][0]["field"] == "body"
    assert found["results"][1]["snippet"].endswith("conduct heat. A wing.")


def test_what_is_printed(run, index):
    code, out, err = run("search", "--index", index.path, "wing")
    assert (code, err) == (0, "")
    scores = [f"{score:.4f}" for _, score in index.search("wing")]
    first, snippet, second, _ = out.splitlines()
    assert first == f"  1  d1  {scores[0]}  Lift of wings"
    assert snippet == "     Wings lift ships?[31m at sea."  # not the title again
    assert second == f"  2  d2  {scores[1]}  Heat"
    out = run("search", "--index", index.path, "ships sea").out
    assert "Wings lift ships?[31m at sea." in out  # a terminal must not obey the document
    assert run("search", "--index", index.path, "wing", "--no-snippets", "--n", "1").out == f"{first}\n"


def test_words_are_marked_on_a_terminal(run, index, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    from rankwright.cli.output import console as output

    output._console.cache_clear()
    out = run("search", "--index", index.path, "ship").out
    output._console.cache_clear()
    assert "lift \x1b[1;33mships\x1b[0m" in out


@pytest.mark.parametrize("query", ["zeppelin", "the of", ""])
def test_nothing_found_is_said(run, index, query):
    code, out, err = run("search", "--index", index.path, query)
    assert (code, out) == (0, "")
    assert err == "Nothing was found: no document has a word of the query.\n"
    assert run("search", "--index", index.path, query, "--json").json["results"] == []


def test_an_index_without_text_has_no_snippets(run, tmp_path):
    Index.build(DOCUMENTS, tmp_path / "i", store=False)
    assert run("search", "--index", tmp_path / "i", "wing").out.count("\n") == 2


def test_other_retrieval_models(run, index):
    found = run("search", "--index", index.path, "wing", "--retrieval", "dirichlet:mu=10", "--json").json
    assert [one["score"] for one in found["results"]] == index.search("wing", Dirichlet(10.0)).scores.tolist()


def test_a_run_of_many_queries(run, index, tmp_path):
    (tmp_path / "q.tsv").write_text("q1\twing\nq2\tzeppelin\nq3\theat\n")
    options = ("--index", index.path, "--queries", tmp_path / "q.tsv")
    code, out, err = run("search", *options, "--out", tmp_path / "run.txt", "--tag", "mine")
    assert (code, out) == (0, "")
    assert f"wrote 3 documents for 2 queries to {tmp_path / 'run.txt'}" in err
    assert "1 query without any known word: q2" in err
    written = read_run(tmp_path / "run.txt")
    assert written.tag == "mine"
    assert written.scores.tolist() == [*index.search("wing").scores, *index.search("heat").scores]
    assert run("search", *options).out == (tmp_path / "run.txt").read_text().replace("mine", "rankwright")
    assert [*run("search", *options, "--json").json["queries"]] == ["q1", "q3"]
    assert run("search", *options, "--n", "1").out.count("\n") == 2


def test_a_saved_searcher(run, index, tmp_path):
    options = ("--index", index.path, "--retrieval", "bm25:k1=0.5,b=0", "--save", tmp_path / "s.rws")
    first = run("search", *options, "wing").out
    assert run("search", "--searcher", tmp_path / "s.rws", "wing").out == first
    assert run("search", *options[:-1], index.path / "searcher.rws").code == 0
    assert run("search", "--searcher", index.path, "wing").out == first


def test_a_model_of_own_columns(run, refuse, index, tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("id,clicks\nd1,3\nd2,4.5\n")
    features = FeatureSet(["title: BM25"], columns=own)
    documents = features.documents(index, {"q": "wing"}, {"q": ["d1", "d2"]})
    rw.save(rw.RankSVM().fit(documents.with_labels([0, 1])), tmp_path / "m.rw")
    words = ("search", "--index", index.path, "--model", tmp_path / "m.rw", "wing")
    assert "There is no feature 'clicks'" in refuse(*words)
    results = run(*words, "--columns", own, "--json").json["results"]
    assert [one["document"] for one in results] == ["d2", "d1"]
    message = "--n 9 is more than the 5 documents that the model ranks: see --candidates."
    assert message in refuse(*words, "--columns", own, "--candidates", "5", "--n", "9")


def test_info_of_an_index_and_a_searcher(run, index, tmp_path):
    found = run("info", index.path, "--json").json
    assert (found["kind"], found["documents"]) == ("text index", 3)
    assert found["analyser"]["stemmer"] == "english"
    run("search", "--index", index.path, "--save", tmp_path / "s.rws", "--retrieval", "dirichlet:mu=50")
    found = run("info", tmp_path / "s.rws", "--json").json
    assert found == {
        "kind": "searcher",
        "index": str(index.path),
        "retrieval": "Dirichlet(mu=50.0)",
        "candidates": 100,
    }


def test_a_damaged_index_is_one_sentence(refuse, index):
    segment = next(index.path.glob("*.segment"))
    whole = segment.read_bytes()
    segment.write_bytes(whole[: len(whole) // 2])
    assert "is cut short: build the index again." in refuse("search", "--index", index.path, "wing")
    segment.write_bytes(whole.replace(b"Slabs", b"Slobs", 1))
    message = f"{segment} is damaged: its array text.bytes does not match its checksum; build the index again."
    assert message in refuse("search", "--index", index.path, "heat")
    segment.write_bytes(whole)
    arrays = stored_arrays(index.path)
    arrays["1.documents"][0] = 0xFEFEFEFE
    write_arrays(index.path, arrays)
    message = "The index is damaged: the postings of a term are out of range."
    assert message in refuse("search", "--index", index.path, "31m")  # the first term
    segment.unlink()
    assert "build the index again" in refuse("search", "--index", index.path, "wing")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["wing"], "Give --index DIR, or --searcher PATH."),
        (["--index", "INDEX"], "Give a query"),
        (["--index", "INDEX", "wing", "--queries", "q.tsv"], "Give a query or --queries, not both."),
        (["--index", "INDEX", "wing", "--out", "run.txt"], "--out is for the run of --queries."),
        (
            ["--index", "INDEX", "wing", "--retrieval", "tfidf"],
            "--retrieval tfidf: There is no retrieval model 'tfidf'",
        ),
        (
            ["--index", "INDEX", "wing", "--retrieval", "bm25:k2=1"],
            "A model bm25 has the parameters k1, b, method",
        ),
        (["--index", "INDEX", "wing", "--retrieval", "bm25:b=2"], "b must be a number"),
        (["--index", "missing", "wing"], "missing is not an index"),
        (["--searcher", "INDEX", "wing"], "There is no file"),
        (["--searcher", "INDEX/index.json", "wing"], "is not a searcher"),
        (["--index", "INDEX", "wing", "--model", "missing.rw"], "There is no file missing.rw."),
        (["--index", "INDEX", "wing", "--tag", "mine"], "--tag is for --queries."),
        (["--index", "INDEX", "wing", "--query-ids", "place"], "--query-ids is for --queries."),
        (["--index", "INDEX", "wing", "--candidates", "7"], "--candidates and --columns are for --model."),
        (["--searcher", "INDEX", "wing", "--candidates", "7"], "--searcher has a model and settings of its own"),
    ],
)
def test_mistakes_are_one_sentence(refuse, index, words, sentence):
    assert sentence in refuse("search", *(word.replace("INDEX", str(index.path)) for word in words))
