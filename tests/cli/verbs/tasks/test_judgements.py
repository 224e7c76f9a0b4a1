import json

import numpy as np
import pandas as pd
import pytest

import rankwright as rw
from judgements.simulated_judges import graded
from rankwright.data.readers.trec import Run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Grades by four judges, the third careless and the last lenient, and runs of two systems."""
    folder = tmp_path_factory.mktemp("grades")
    table, true = graded(1, careless=2, lenient=3, n_queries=30)
    columns = dict(zip(("ada", "bob", "cyd", "gpt-5"), table.grades.T.astype(int), strict=True))
    pd.DataFrame({"query": table.qid, "document": table.document_ids, **columns}).to_csv(
        folder / "grades.csv", index=False
    )
    random = np.random.default_rng(0)
    for name, noise in (("old", 2), ("new", 1)):
        run = Run.of(table.qid, table.document_ids, true + noise * random.normal(size=len(true)), tag=name)
        rw.write_run(run, folder / f"{name}.run")
    return folder


def test_agreement(run, folder, tmp_path):
    words = ("judgements", "agreement", folder / "grades.csv")
    out = run(*words, "--language-models", "gpt*", "--report", tmp_path / "page.html").out
    assert out.startswith("Krippendorff's alpha (ordinal) of 4 judges is 0.56")
    assert "bob, gpt-5 (language model)" in out
    assert (tmp_path / "page.html").exists()
    values = run(*words, "--judges", "ada,bob", "--json").json
    assert values["judges"] == ["ada", "bob"]
    assert len(values["pairs"]) == 1


def test_judges(run, folder):
    out = run("judgements", "judges", folder / "grades.csv").out
    assert "cyd disagrees with the others" in out
    assert "gpt-5 grades 0.44 higher than the median judge." in out


def test_merge_writes_judgements_that_evaluate_reads(run, folder, tmp_path):
    out = tmp_path / "merged.qrels"
    run("judgements", "merge", folder / "grades.csv", "--method", "majority", "--out", out)
    merged = rw.read_judgements(out)
    assert len(merged) == 300
    assert set(merged.labels) <= {0, 1, 2, 3}
    values = run("evaluate", folder / "old.run", folder / "new.run", "--data", out, "--json")
    assert values.code == 0, values.err


def test_merge_labels_documents(run, folder, tmp_path):
    table = rw.judgements.read_grades(folder / "grades.csv")
    values = np.random.default_rng(0).normal(size=300)
    frame = pd.DataFrame({"qid": table.qid, "docid": table.document_ids, "bm25": values})
    frame = pd.concat([frame, pd.DataFrame({"qid": ["0"], "docid": ["new"], "bm25": [1]})])
    frame.to_csv(tmp_path / "docs.csv", index=False)
    names = ("docs.csv", "judged.csv", "weights.txt")
    docs, out, weights = (tmp_path / name for name in names)
    done = run("judgements", "merge", folder / "grades.csv", "--data", docs, "--out", out, "--weights", weights)
    assert "300 of 301 documents were judged" in done.err
    judged = rw.read_csv(out)
    merged = rw.judgements.merge(table)
    np.testing.assert_allclose(judged.y, merged.labels)
    np.testing.assert_allclose(np.loadtxt(weights), merged.weights, rtol=1e-5)


def test_systems_and_next(run, folder, tmp_path):
    runs = ("--run", f"old={folder / 'old.run'}", "--run", f"new={folder / 'new.run'}")
    values = run("judgements", "systems", folder / "grades.csv", *runs, "--metric", "ndcg@5", "--json").json
    assert values["metric"] == "ndcg@5"
    assert list(values["means"]["ada"]) == ["old", "new"]
    out = tmp_path / "next.run"
    assert run("judgements", "next", folder / "grades.csv", *runs, "--n", 7, "--out", out).code == 0
    assert len(rw.read_run(out)) == 7
    fresh = run("judgements", "next", *runs, "--n", 5, "--json").json
    assert [each["judges"] for each in fresh["documents"]] == [0] * 5


def test_what_was_noticed_is_shown(run, tmp_path):
    records = [("q", "x", "ada", 1, 1), ("q", "x", "ada", 2, 2), ("q", "x", "bob", 2, 2), ("q", "y", "ada", 0, 3)]
    names = ("query", "document", "judge", "grade", "time")
    path = tmp_path / "grades.jsonl"
    path.write_text("".join(json.dumps(dict(zip(names, record, strict=True))) + "\n" for record in records))
    done = run("judgements", "merge", path)
    assert "1 document graded again by the same judge: the last grade by time counts." in done.out + done.err


def test_bad_input_is_one_sentence(run, refuse, folder, tmp_path):
    grades = folder / "grades.csv"
    sentence = refuse("judgements", "agreement", grades, "--scale", "0,1,2")
    assert sentence == f"{grades}, row 2: the grade 3 is outside the scale 0, 1, 2."
    assert refuse("judgements", "agreement", grades, "--judges", "zed") == "There are no grades by zed."
    assert refuse("judgements", "agreement", grades, "--judges", "ada,zed").startswith("There is no judge 'zed'")
    assert refuse("judgements", "merge", grades, "--weights", "w.txt") == "--weights needs --out."
    sentence = refuse("judgements", "merge", grades, "--out", tmp_path / "x", "--weights", tmp_path / "w")
    assert sentence == "--weights needs --data."
    sentence = refuse("judgements", "merge", grades, "--columns", "grade")
    assert sentence == "--columns takes ROLE=COLUMN,..., not 'grade'."
    (tmp_path / "nameless.csv").write_text("query,document,judge,grade\nq,x,,1\n")
    sentence = refuse("judgements", "judges", tmp_path / "nameless.csv")
    assert sentence == f"{tmp_path / 'nameless.csv'}, row 1: the judge has no name."
    (tmp_path / "1.qrels").write_text("q 0 x 1\n")
    (tmp_path / "2.qrels").write_text("q 0 y 0\n")
    files = [f"ada={tmp_path / name}" for name in ("1.qrels", "2.qrels")]
    assert run("judgements", "merge", *files, "--json").json["documents"] == ["x", "y"]  # two files of one judge
    assert refuse("judgements", "merge", files[0], files[0]) == f"{tmp_path / '1.qrels'} is given twice."
    assert refuse("judgements", "merge", grades, "--qid", "x") == "--qid is for --data."
    runs = ("--run", folder / "old.run")
    assert refuse("judgements", "next", *runs, "--judges", "ada") == "Options of grades need a FILE of grades."
    (tmp_path / "empty.run").write_text("")
    sentence = refuse("judgements", "next", "--run", tmp_path / "empty.run")
    assert sentence == "The pool is empty: no run has a document."


def test_judge_does_not_write_to_its_queries(refuse, tmp_path):
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"id": "1", "text": "hats"}')
    sentence = refuse("judge", "--index", tmp_path, "--queries", queries, "--out", queries)
    assert sentence == f"{queries} is an input of this command; write to another file."
