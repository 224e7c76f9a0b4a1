"""`rankwright text-demo`: the whole way from text, on generated text and on a collection of one's own."""

from __future__ import annotations

import json

import pytest

import rankwright as rw
from rankwright.cli.verbs import text_demo
from rankwright.text import Dirichlet, Searcher, generated_collection


@pytest.fixture
def few(monkeypatch):
    """Compare two rankers on a small collection."""
    rankers = {"BM25": rw.BM25Ranker(), "LambdaMART": rw.LambdaMART(rounds=10)}
    monkeypatch.setattr(text_demo, "_rankers", lambda **_: {name: one.unfitted() for name, one in rankers.items()})
    monkeypatch.setattr(rw.text, "generated_collection", lambda seed: generated_collection(100, 10, seed=seed))


def test_generated_text(run, few, tmp_path):
    report, model = tmp_path / "r.html", tmp_path / "m.rw"
    options = ("--report", report, "--index", tmp_path / "i", "--model", model, "--candidates", "30")
    options += ("--retrieval", "dirichlet:mu=500")
    code, out, err = run("text-demo", *options)
    assert code == 0, err
    assert "Indexed 100 documents with the fields title, body." in err
    assert "recall" in err
    assert "he baseline (BM25)" in out
    assert "rankwright search --searcher" in out
    assert "rankwright text demo" in report.read_text()
    best = out.partition("\nsystem ")[2].splitlines()[1].split()[0]
    searcher = Searcher.load(tmp_path / "i")
    assert searcher.candidates == 30
    assert searcher.retrieval == Dirichlet(500.0)
    assert searcher.model.about["ranker"] == {"BM25": "BM25Ranker"}.get(best, best)
    assert rw.load(model).kind == searcher.model.kind
    assert len(searcher.search("old bridge repair")) == 10


@pytest.fixture
def own(tmp_path):
    documents, queries, judgements = generated_collection(100, 10, seed=2)
    (tmp_path / "d.jsonl").write_text("".join(json.dumps({"id": d.id, **d.fields}) + "\n" for d in documents))
    (tmp_path / "q.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in queries))
    rows = zip(judgements.qid, judgements.document_ids, judgements.labels, strict=True)
    (tmp_path / "qrels").write_text("".join(f"{query} 0 {name} {label:g}\n" for query, name, label in rows))
    return ("--documents", tmp_path / "d.jsonl", "--queries", tmp_path / "q.tsv", "--qrels", tmp_path / "qrels")


def test_a_collection_of_ones_own(run, few, own, tmp_path):
    found = run("text-demo", *own, "--report", tmp_path / "r.html", "--json").json
    assert found["best"] in ("BM25", "LambdaMART")
    assert found["judged"]["judgements"] > 0
    assert found["report"] == str(tmp_path / "r.html")
    assert "searcher" not in found


def test_without_the_packages_of_the_page(run, few, tmp_path, monkeypatch):
    def missing(*_, **__):
        raise rw.MissingPackageError("A page needs jinja2.")

    monkeypatch.setattr("rankwright.cards.report_page.write_page", missing)
    code, _, err = run("text-demo", "--report", tmp_path / "r.html", "--candidates", "20")
    assert code == 0
    assert "A page needs jinja2." in err
    assert "wrote" not in err
    assert not (tmp_path / "r.html").exists()


def test_mistakes_are_one_sentence(refuse, own, tmp_path):
    assert "needs --documents, --queries and --qrels" in refuse("text-demo", *own[:2])
    assert "there is no folder" in refuse("text-demo", *own, "--report", tmp_path / "none" / "r.html")
    assert "There is no file missing" in refuse("text-demo", "--documents", "missing", *own[2:])
    ignored = {"--format": "jsonl", "--rename": "a=b", "--grades": "1=2", "--query-ids": "place"}
    for option, value in ignored.items():
        assert refuse("text-demo", option, value).startswith(f"{option} is for a collection of your own")


def test_the_rankers_are_what_the_help_says():
    learned = ["RankSVM", "LambdaMART", "MART", "AutoRanker"]
    assert [*text_demo._rankers(fused=False)] == ["BM25", "language model", *learned]
    fused = ["RRF", "z-scores", "min-max", "learned fusion"]
    assert [*text_demo._rankers(fused=True)] == ["BM25", "language model", *fused, *learned]


def test_an_encoder_is_a_second_retriever(run, refuse, few, tmp_path, monkeypatch):
    def load(_source, name):
        return rw.text.Encoder(lambda texts: [[text.count(c) for c in "abcdefgh"] for text in texts], name)

    monkeypatch.setattr(rw.text.Encoder, "load", load)
    words = ("text-demo", "--report", tmp_path / "r.html", "--retrieval", "bm25+dense", "--candidates", "20")
    assert "The index has no vectors" in run(*words).err
    code, _, err = run(*words, "--encoder", "folder", "--encoder-name", "letters")
    assert code == 0, err
    assert "Recall of each retriever alone: BM25" in err
    assert ", letters 0." in err
    assert refuse(*words, "--encoder-name", "letters") == "--encoder-name is for --encoder."
