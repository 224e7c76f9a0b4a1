"""`rankwright features`: files, counts, and bad input."""

from __future__ import annotations

import pytest

from rankwright.data.readers.csv import read_csv
from rankwright.data.readers.letor import read_letor
from rankwright.data.readers.parquet import read_parquet
from rankwright.data.readers.trec import Run, format_run
from rankwright.text import FeatureSet, Index, generated_collection


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An index, queries and judgements of a generated collection; one judged query and document are unknown."""
    folder = tmp_path_factory.mktemp("features")
    documents, queries, judgements = generated_collection(100, 5)
    Index.build(documents, folder / "index")
    (folder / "q.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in queries) + "q8\tzeppelin\n")
    rows = zip(judgements.qid, judgements.document_ids, judgements.labels, strict=True)
    lines = [f"{query} 0 {document} {label:g}\n" for query, document, label in rows]
    (folder / "qrels").write_text("".join([*lines, "q1 0 d999 2\n", "q9 0 d1 1\n", "q8 0 d1 1\n"]))
    return folder


@pytest.fixture
def options(folder):
    return ("--index", folder / "index", "--queries", folder / "q.tsv", "--qrels", folder / "qrels")


def expected(folder, **options):
    _, queries, judgements = generated_collection(100, 5)
    chosen = FeatureSet(options.pop("features", None))
    index = Index.open(folder / "index")
    return chosen.judged(index, queries, judgements, candidates=20, judged_too=False, **options)


@pytest.mark.parametrize("name", ["f.parquet", "f.csv", "f.txt"])
def test_files_hold_what_python_computes(run, options, folder, tmp_path, name):
    out = tmp_path / name
    code, _, err = run("features", *options, "--candidates", "20", "--out", out)
    assert code == 0, err
    read = {"f.parquet": read_parquet, "f.csv": read_csv, "f.txt": read_letor}[name]
    wanted = expected(folder).data
    found = read(out) if name == "f.txt" else read(out, docid="docid")
    assert [str(query) for query in found.qid] == wanted.qid.tolist()
    assert found.document_ids.tolist() == wanted.document_ids.tolist()
    assert found.y.tolist() == wanted.y.tolist()
    assert found.X.tobytes() == wanted.X.tobytes()
    if name != "f.txt":
        assert found.feature_names == wanted.feature_names


def test_every_count_is_printed(run, options, tmp_path, folder):
    code, out, err = run("features", *options, "--candidates", "20", "--out", tmp_path / "f.csv")
    wanted = expected(folder)
    assert code == 0
    assert f"recall {wanted.recall * 5 / 6:.4f}" in out  # nothing is found for q8
    assert f"{wanted.n_unjudged:,} candidates without a judgement counted as not relevant" in out
    assert "2 of them left out, for 1 unknown query (q9) and 1 unknown document (d999)" in out
    assert "1 query without any known word." in out
    assert f"wrote {tmp_path / 'f.csv'}" in err


def test_counts_as_json(run, options, tmp_path, folder):
    found = run("features", *options, "--candidates", "20", "--out", tmp_path / "f.csv", "--json").json
    wanted = expected(folder)
    assert found["unjudged_candidates"] == wanted.n_unjudged
    assert found["relevant_found"] == wanted.n_relevant_found
    assert (found["unknown_queries"], found["unknown_documents"]) == (["q9"], ["d999"])
    assert found["queries_without_words"] == ["q8"]
    assert found["judged_added"] == 0
    assert found["feature_names"] == [*wanted.data.feature_names]


def test_unjudged_documents_can_be_left_out(run, options, tmp_path, folder):
    out = tmp_path / "f.parquet"
    options = (*options, "--candidates", "20", "--out", out)
    printed = run("features", *options, "--unjudged", "drop").out
    wanted = expected(folder, unjudged="drop")
    left = wanted.n_candidates - wanted.n_unjudged
    assert f"{wanted.n_candidates} candidates of 6 queries" in printed
    assert f"without a judgement left out, {left} candidates with one kept; 0 judged documents added." in printed
    assert "\\n" not in printed
    assert len(read_parquet(out)) == len(wanted.data) == left
    added = run("features", *options, "--judged-too", "--json").json
    assert added["judged_added"] > 0


def test_some_features_and_own_columns(run, options, tmp_path):
    (tmp_path / "own.csv").write_text("id,clicks\nd1,3\nd2,4.5\n")
    out = tmp_path / "f.parquet"
    words = ("--features", "BM25,title: length", "--columns", tmp_path / "own.csv", "--out", out)
    assert run("features", *options, *words).code == 0
    names = ("title: BM25", "title: log BM25", "body: BM25", "body: log BM25")
    assert set(names) | {"title: length", "clicks"} <= set(read_parquet(out).feature_names)
    assert run("features", *options, "--features", "adarank-2007", "--out", out).code == 0
    assert read_parquet(out).n_features == 7


def test_without_judgements_there_are_no_labels(run, options, tmp_path):
    code, out, err = run("features", *options[:4], "--candidates", "3", "--out", tmp_path / "f.txt")
    assert (code, out) == (0, "")
    assert "15 documents of 5 queries" in err
    assert (tmp_path / "f.txt").read_text().startswith("qid:q1 1:")


def test_options_for_labels_need_judgements(refuse, options, tmp_path):
    words = ("features", *options[:4], "--out", tmp_path / "f.txt")
    assert refuse(*words, "--judged-too") == "--judged-too and --unjudged need --qrels."
    assert refuse(*words, "--unjudged", "drop") == "--judged-too and --unjudged need --qrels."


def test_queries_that_judgements_number_by_their_place(run, options, tmp_path, folder):
    lines = (folder / "qrels").read_text().splitlines()[:3]
    numbered = tmp_path / "numbered"
    numbered.write_text("".join(f"{line}\n2 0 d1 1\n" for line in lines[:1]))
    words = ("features", *options[:4], "--qrels", numbered, "--out", tmp_path / "f.csv")
    assert "give --query-ids place" in run(*words).err
    assert "give --query-ids place" not in run("features", *options, "--out", tmp_path / "f.csv").err


def test_candidates_of_a_run(run, options, tmp_path):
    (tmp_path / "run.txt").write_text(format_run(Run.of(["q1", "q1"], ["d5", "d3"], [2.0, 1.0])))
    found = run("features", *options, "--run", tmp_path / "run.txt", "--out", tmp_path / "f.csv", "--json").json
    assert found["candidates"] == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--run", "run.txt", "--candidates", "7"], "--run gives the documents"),
        (["--features", "BM52"], "There is no feature 'BM52'"),
        (["--unjudged", "maybe"], "unjudged must be 'irrelevant' or 'drop'"),
        (["--columns", "missing.csv"], "There is no file missing.csv."),
        (["--grades", "one=two"], "--grades takes GRADE=LABEL"),
        (["--query-ids", "name"], "ids must be 'file' or 'place'"),
        (["--retrieval", "bm25:k1=-1"], "k1 must be a number at least 0"),
    ],
)
def test_mistakes_are_one_sentence(refuse, options, tmp_path, words, sentence):
    assert sentence in refuse("features", *options, *words, "--out", tmp_path / "f.csv")
    assert not (tmp_path / "f.csv").exists()
