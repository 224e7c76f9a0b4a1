"""`rankwright compare`: systems of any kind, slices, pages, and what is refused."""

import json

import pytest

import rankwright as rw
from html_page import read_page
from rankwright.data.writers import write_documents
from rankwright.models import FeatureScorer, save


@pytest.fixture
def systems(run, fold, model, tmp_path):
    """Two models and the run of a third."""
    for feature in (0, 1):
        save(FeatureScorer(feature, 1, n_features=6, missing=0.0), tmp_path / f"feature{feature}.rw")
    ranked = tmp_path / "second.run"
    assert run("rank", tmp_path / "feature1.rw", "--data", fold / "test.txt", "--out", ranked).code == 0
    return [model, tmp_path / "feature0.rw", ranked]


def test_all_pairs(run, fold, systems):
    code, out, _ = run("compare", *systems, "--data", fold / "test.txt", "--metrics", "ndcg@10")
    assert code == 0
    assert "ndcg@10" in out.splitlines()[0]
    for title in ("p (Holm)", "detectable", "effect size", "Wilcoxon"):
        assert title in out
    found = run("compare", *systems, "--data", fold / "test.txt", "--json").json
    assert [len(found["pairs"][metric]) for metric in ("ndcg@10", "map")] == [3, 3]
    assert found["correction"] == "holm"
    assert {"t", "wilcoxon", "sign", "randomisation"} <= set(found["pairs"]["map"][0]["corrected"])


def test_a_baseline(run, refuse, fold, systems):
    words = ("compare", *systems, "--data", fold / "test.txt", "--json", "--baseline")
    found = run(*words, systems[1]).json
    assert {pair["other"] for pair in found["pairs"]["map"]} == {str(systems[1])}
    assert "There is no system 'none.rw' to be the baseline" in refuse(*words, "none.rw")


def test_slices_by_a_column_of_a_table(run, refuse, fold, systems, tmp_path):
    kinds = tmp_path / "kinds.csv"
    queries = {line.split()[1][4:] for line in (fold / "test.txt").read_text().splitlines()}
    rows = [f"{query},{'long' if place % 2 else 'short'}" for place, query in enumerate(sorted(queries))]
    kinds.write_text("qid,kind\n" + "\n".join(rows))
    words = ("compare", *systems[:2], "--data", fold / "test.txt", "--json", "--slices")
    found = run(*words, "kind,difficulty", "--slice-file", kinds).json
    by_kind, by_difficulty = found["slices"]["map"]
    assert [(one["name"], one["queries"]) for one in by_kind["slices"]] == [("long", 6), ("short", 6)]
    assert by_difficulty["by"] == "difficulty"
    assert "--slice-file needs --slices" in refuse(*words[:-1], "--slice-file", kinds)
    assert "no column 'color'" in refuse(*words, "color", "--slice-file", kinds)
    assert "--slice-file needs --slices" in refuse(*words, "documents", "--slice-file", kinds)
    kinds.write_text("qid,kind\nnobody,long\n")
    assert "has none of the judged queries in its column 'qid'" in refuse(*words, "kind", "--slice-file", kinds)
    kinds.write_text("qid,kind\n1,long\n1,short\n")
    assert "more than one value in query 1" in refuse(*words, "kind", "--slice-file", kinds)


def test_judgements_without_features(run, refuse, fold, systems, tmp_path):
    judged = [line.split() for line in (fold / "test.txt").read_text().splitlines()]
    qrels = tmp_path / "qrels.txt"
    retrieved = [line.split() for line in systems[2].read_text().splitlines()]
    documents = sorted({(one[0], one[2]) for one in retrieved})
    assert len(documents) == len(judged)
    qrels.write_text("".join(f"{query} 0 {document} {len(document) % 2}\n" for query, document in documents))
    other = tmp_path / "first.run"
    run("rank", systems[1], "--data", fold / "test.txt", "--out", other)
    found = run("compare", systems[2], other, "--data", qrels, "--json").json
    assert found["queries"] == 12
    assert "is a model, which needs features" in refuse("compare", systems[0], other, "--data", qrels)


def test_the_page(run, refuse, fold, systems, tmp_path):
    page = tmp_path / "page.html"
    words = ("compare", *systems, "--data", fold / "test.txt", "--slices", "relevant", "--report")
    assert run(*words, page).code == 0
    text = read_page(page).text
    for title in (
        "Which differences are real?",
        "By number of relevant documents",
        "Query browser",
        "The test data",
    ):
        assert title in text
    assert "is an input of this command" in refuse(*words, systems[0])


def test_one_system_is_refused(refuse, fold, model):
    assert refuse("compare", model, "--data", fold / "test.txt") == (
        "compare needs at least two systems; `evaluate` measures a single one."
    )


def test_runs_of_other_queries(run, refuse, fold, systems, tmp_path):
    some = tmp_path / "some.run"
    lines = systems[2].read_text().splitlines(keepends=True)
    first = lines[0].split()[0]
    some.write_text("".join(line for line in lines if line.split()[0] != first))
    words = ("compare", systems[2], some, "--data", fold / "test.txt")
    assert "has no document for 1 of 12 judged queries, and 11 are shared by all systems" in refuse(*words)
    assert json.loads(run(*words, "--queries", "shared", "--json").out)["queries"] == 11


@pytest.fixture
def shop(tmp_path):
    """A shop's table, and a model of its only feature, which ranks perfectly; the second best is first today."""
    rows = [
        f"q{query},shoes {query},{label},{label}.5,Shoe {query}.{label},https://shop.example/{label},{position}"
        for query in range(4)
        for label, position in ((0, 3), (1, 1), (2, 2))
    ]
    table = tmp_path / "shop.csv"
    table.write_text("qid,query_text,label,bm25,title,url,position\n" + "\n".join(rows))
    save(FeatureScorer(0, 1, n_features=1, missing=0.0, feature_names=("bm25",)), tmp_path / "new.rw")
    return table


@pytest.mark.filterwarnings("default:The order by")
def test_the_order_of_today_is_the_baseline(run, refuse, shop, tmp_path):
    words = ("compare", f"new={tmp_path / 'new.rw'}", "--data", shop, "--metrics", "ndcg@1", "--show")
    shown = (*words, "query_text,title,url", "--baseline-column")
    compared = run(*shown, "position", "--report", tmp_path / "page.html", "--json").json
    assert compared["baseline"] == "position"
    means = {name: values["ndcg@1"]["mean"] for name, values in compared["systems"].items()}
    assert means == {"position": pytest.approx(1 / 3), "new": 1.0}
    query = read_page(tmp_path / "page.html").data["browser"]["queries"][0]
    assert query["text"] == f"shoes {query['id'][1:]}"
    assert query["details"][0][1:] == ["https://shop.example/0", "position 3"]
    falling = run(*shown, "-position")
    assert (
        "The order by '-position' ranks most pairs of documents wrongly; its reverse is 'position'." in falling.err
    )
    assert "bm25" in run(*shown, "-bm25").out, "a feature of the model"
    assert refuse(*shown, "position", "--baseline", "new") == "Give --baseline or --baseline-column, not both."
    assert "There is no column 'positio'; did you mean 'position'?" in refuse(*shown, "positio")
    letor = tmp_path / "judged.txt"
    letor.write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    assert refuse("compare", tmp_path / "new.rw", "--data", letor, "--baseline-column", "position") == (
        "--show, --baseline-column and --time-column are for tables only, not for LETOR files."
    )


def test_models_of_different_features_are_compared_without_a_warning(run, shop, tmp_path):
    model = FeatureScorer(0, 1, n_features=1, missing=0.0, feature_names=("position",))
    save(model, tmp_path / "old.rw")
    compared = run("compare", tmp_path / "new.rw", tmp_path / "old.rw", "--data", shop)
    assert compared.code == 0
    assert "features: 2 columns (bm25, position)" in compared.err
    assert "does not use" not in compared.err


def test_evaluate_measures_the_order_of_today_first(run, refuse, shop, tmp_path):
    words = ("evaluate", f"new={tmp_path / 'new.rw'}", "--data", shop, "--baseline-column", "position")
    measured = run(*words, "--metrics", "ndcg@1", "--json").json
    assert list(measured["systems"]) == ["position", "new"]
    assert measured["comparisons"][0]["difference"] == pytest.approx(2 / 3)
    assert "an order has no rounds" in refuse(*words, "--rounds", "1")


def test_a_run_is_no_table_and_shows_no_columns(refuse, shop, tmp_path):
    words = ("rank", tmp_path / "new.rw", "--data", shop)
    table = tmp_path / "ranks.csv"
    sentence = f"rank writes no tables, as {table} would be; `predict` does, with the ranks."
    assert refuse(*words, "--out", table) == sentence
    sentence = "A TREC run has no columns for --show; add --json, or write a table with `predict`."
    assert refuse(*words, "--show", "title") == sentence


def test_columns_to_show_are_in_written_tables(run, shop, tmp_path):
    words = (tmp_path / "new.rw", "--data", shop, "--show", "title")
    assert run("predict", *words, "--out", tmp_path / "scores.csv").code == 0
    assert (tmp_path / "scores.csv").read_text().splitlines()[:2] == [
        "qid,docid,score,rank,label,title",
        "q0,doc1,0.5,3,0.0,Shoe 0.0",
    ]
    first = run("rank", *words, "--json").json["queries"]["q0"][0]
    assert first == {"document": "doc3", "score": 2.5, "title": "Shoe 0.2"}


def test_fixed_fusions_of_retrievers_are_systems_too(run, refuse, fold, systems, tmp_path):
    documents, queries, judgements = rw.text.generated_collection(80, 8)
    retrieval = rw.text.Hybrid([rw.text.BM25(), rw.text.Dirichlet(mu=50)])
    index = rw.text.Index.build(documents, tmp_path / "index")
    data = rw.text.FeatureSet(["BM25"], retrieval=retrieval).judged(index, queries, judgements).data
    write_documents(data, tmp_path / "data.csv")
    rw.save(rw.Fusion().fit(data), tmp_path / "learned.rw")
    words = (f"learned={tmp_path / 'learned.rw'}", "--data", tmp_path / "data.csv")
    found = run("compare", *words, "--fusions", "--baseline", "z-scores", "--json").json
    assert {*found["systems"]} == {"learned", "RRF", "z-scores", "min-max"}
    assert next(iter(run("evaluate", *words, "--fusions", "--json").json["systems"])) == "learned"
    rw.save(rw.Fusion(learned=False).fit(data), tmp_path / "fixed.rw")
    noted = run("compare", *words, tmp_path / "fixed.rw").err
    assert "--fusions adds their fixed fusions" in noted
    refused = run("compare", f"RRF={tmp_path / 'learned.rw'}", *words[1:], "--fusions")
    assert "A system is called 'RRF'" in refused.err
    assert "Fusion needs the scores of several retrievers" in refuse(
        "compare", *systems, "--data", fold / "test.txt", "--fusions"
    )
    assert "a fusion has no rounds" in refuse("evaluate", *words, "--fusions", "--rounds", "3")


def test_a_gate_has_an_exit_code(run, refuse, fold, systems):
    words = ("compare", *systems[:2], "--data", fold / "test.txt", "--metrics", "ndcg@10")
    code, _, err = run(*words, "--baseline", systems[0], "--gate", "ahead")
    assert (code, err.splitlines()[-1]) == (3, "the gate ahead is not passed")
    code, out, err = run(*words, "--baseline", systems[1], "--gate", "not-behind", "--json")
    assert (code, err.splitlines()[-1]) == (0, "the gate not-behind is passed")
    assert json.loads(out)["passed"] is True
    assert "--gate needs --baseline or --baseline-column" in refuse(*words, "--gate", "ahead")
    assert "--gate must be 'ahead' or 'not-behind', not 'best'" in refuse(*words, "--gate", "best")
