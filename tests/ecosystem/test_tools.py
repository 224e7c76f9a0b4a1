"""ir_measures, ranx, PyTerrier and Optuna's dashboard at their current versions."""

import json
import threading
import urllib.request
from wsgiref.simple_server import WSGIRequestHandler, make_server

import ir_measures
import optuna_dashboard
import pandas as pd
import pyterrier as pt
import pytest
import ranx
from ir_measures import AP, RR, P, nDCG

import rankwright as rw
from rankwright.text import FeatureSet, Index, Searcher, generated_collection
from rankwright.text.pyterrier import Features, Reranker, Retriever


@pytest.fixture(scope="module")
def scored(judged, ranker):
    return rw.scores_frame(ranker, judged, library="pandas")


@pytest.fixture(scope="module")
def means(judged, ranker):
    metrics = ["ndcg@10", "map", "mrr", "p@5"]
    report = rw.evaluate({"model": ranker}, judged, metrics=metrics, convention="trec")
    return {metric: report.mean("model", metric) for metric in report.metrics}


def test_ir_measures_agrees(scored, means):
    qrels = scored.rename(columns={"qid": "query_id", "docid": "doc_id", "label": "relevance"})
    qrels["relevance"] = qrels["relevance"].astype(int)
    run = scored.rename(columns={"qid": "query_id", "docid": "doc_id"})
    theirs = ir_measures.calc_aggregate([nDCG @ 10, AP, RR, P @ 5], qrels, run)
    assert theirs[nDCG @ 10] == pytest.approx(means["ndcg@10"])
    assert theirs[AP] == pytest.approx(means["map"])
    assert theirs[RR] == pytest.approx(means["mrr"])
    assert theirs[P @ 5] == pytest.approx(means["p@5"])


def test_ranx_agrees(scored, means):
    scored = scored.astype({"qid": object, "docid": object, "label": int})  # ranx refuses the strings of pandas 3
    judged = scored[scored["label"] > 0]
    qrels = ranx.Qrels.from_df(judged, q_id_col="qid", doc_id_col="docid", score_col="label")
    run = ranx.Run.from_df(scored, q_id_col="qid", doc_id_col="docid", score_col="score")
    theirs = ranx.evaluate(qrels, run, ["map", "mrr", "precision@5", "ndcg@10"], make_comparable=True)
    assert theirs["map"] == pytest.approx(means["map"])
    assert theirs["mrr"] == pytest.approx(means["mrr"])
    assert theirs["precision@5"] == pytest.approx(means["p@5"])
    assert theirs["ndcg@10"] == pytest.approx(means["ndcg@10"])


def test_pyterrier_compares_our_pipelines(tmp_path):
    collection = generated_collection(120, 20)
    index = Index.build(collection.documents, tmp_path / "index")
    topics = pd.DataFrame({"qid": collection.queries.ids, "query": collection.queries.texts})
    judged = collection.judgements
    labels = judged.labels.astype(int)
    qrels = pd.DataFrame({"qid": judged.qid, "docno": judged.document_ids, "label": labels})
    retriever = Retriever(Searcher(index), 20)
    pipeline = retriever >> Features(FeatureSet(["BM25", "length"]), index) >> Reranker(rw.RankSVM())
    pipeline.fit(topics, qrels)
    table = pt.Experiment([retriever, pipeline], topics, qrels, ["map"], names=["BM25", "learned"])
    assert table["name"].tolist() == ["BM25", "learned"]
    assert (table["map"] > 0).all()


class Quiet(WSGIRequestHandler):
    def log_message(self, *_words):
        pass


def test_optuna_dashboard_shows_a_search(judged, tmp_path):
    tuning = rw.tune(rw.LambdaMART("ndcg@10", rounds=3), judged, trials=3, storage=tmp_path / "search.journal")
    server = make_server("127.0.0.1", 0, optuna_dashboard.wsgi(tuning.study._storage), handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/api/studies"
        with urllib.request.urlopen(address) as answer:
            (study,) = json.load(answer)["study_summaries"]
        with urllib.request.urlopen(f"{address}/{study['study_id']}") as answer:
            trials = json.load(answer)["trials"]
    finally:
        server.shutdown()
    assert len(trials) == len(tuning.trials) == 3
    assert max(trial["values"][0] for trial in trials) == pytest.approx(tuning.best.value)
