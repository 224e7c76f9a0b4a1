"""Every export target holds what AutoRanker learns for it, and the file scores as the model does."""

import json

import numpy as np
import pytest

import rankwright as rw
from auto.examples import judged
from auto.small_run import small_data
from interop.test_exporters import needs_gcc, onnx_scores, plugin_score, solr_row, solr_score, vespa_score, written
from rankwright.auto import ranker as module
from rankwright.auto.export_target import ExportTarget
from rankwright.auto.portfolio import PORTFOLIO, Entry
from rankwright.interop.exporters.export import TARGETS
from rankwright.training.training_set import TrainingSet

NAMES = ["a", "b", "c", "d"]
DATA = small_data(14, feature_names=NAMES)
BUILT_IN = (
    Entry("MART, columns", rw.MART(rounds=6, query_features=["zscore"], min_documents=3), 8.0),
    Entry("LambdaMART", rw.LambdaMART(rounds=6, min_documents=3), 5.0),
    Entry("LambdaMART, columns", rw.LambdaMART(rounds=6, query_features=["rank"], random_state=1), 9.0),
    Entry("RankSVM", rw.RankSVM(), 0.1),
    Entry("AdaRank", rw.AdaRank(rounds=3), 0.1),
    Entry("McRank, columns", rw.McRank(rounds=3, query_features=["rank"]), 3.0),
)
VERSIONS = {"opensearch-ltr": "3.8"}


@pytest.fixture
def small_portfolio(monkeypatch):
    monkeypatch.setattr(module, "portfolio_for", lambda *_: BUILT_IN)


def spelled(target):
    return f"{target}:{VERSIONS[target]}" if target in VERSIONS else target


def fitted(target, data=DATA, **options):
    return rw.AutoRanker(target=spelled(target), n_jobs=1, **options).fit(data)


def exported(ranker, target, path):
    rw.export(ranker, path, format=target, version=VERSIONS.get(target), missing=False)


@pytest.mark.usefixtures("small_portfolio")
@pytest.mark.parametrize("target", list(TARGETS))
def test_every_target_takes_the_model_that_was_made_for_it(target, tmp_path):
    ranker = fitted(target)
    exported(ranker, target, tmp_path / "model")
    names = {member.name for member in ranker.standings_}
    everything = {entry.name for entry in BUILT_IN}
    expected = {"onnx": everything, "c": everything, "vespa": {"MART", "LambdaMART", "RankSVM"}}
    assert names == expected.get(target, {"MART", "LambdaMART"})
    skipped = {name.removesuffix(", columns") for name in ranker.run_.skipped}
    assert {name.removesuffix(", columns") for name in names} | skipped >= {
        "MART",
        "LambdaMART",
        "AdaRank",
        "McRank",
    }


def file_scores(ranker, target, folder, rows):
    """Return the scores of an exported file, by the loops of the engines."""
    if target in ("lightgbm", "xgboost", "ranklib"):
        exported(ranker, target, folder / "model")
        return rw.load(folder / "model", n_features=4).predict(rows)
    text = written(ranker.model_, format=target, version=VERSIONS.get(target), missing=False)
    named = [dict(zip(NAMES, row, strict=True)) for row in rows]
    if target == "vespa":
        return [vespa_score(text, row) for row in named]
    model = json.loads(text)
    if target == "solr":
        trees = [tree["root"] for tree in model["params"]["trees"]]
        return [sum(solr_score(tree, solr_row(model, row)) for tree in trees) for row in rows]
    trees = json.loads(model["model"]["model"]["definition"])
    return [sum(plugin_score(tree, row) for tree in trees) for row in named]


@pytest.mark.usefixtures("small_portfolio")
@pytest.mark.parametrize(
    "target", ["lightgbm", "xgboost", "ranklib", "elasticsearch-ltr", "opensearch-ltr", "solr", "vespa"]
)
def test_the_file_scores_as_the_mixture_does(target, tmp_path):
    ranker = fitted(target)
    assert len([member for member in ranker.standings_ if member.weight]) > 1
    scores = file_scores(ranker, target, tmp_path, DATA.X)
    np.testing.assert_allclose(scores, ranker.model_.predict(DATA), rtol=1e-5, atol=1e-5)


@needs_gcc
@pytest.mark.usefixtures("small_portfolio")
def test_onnx_standardises_within_the_query_as_the_mixture_does():
    ranker, query = fitted("onnx"), DATA.take_queries([5])
    scores = onnx_scores(ranker.model_, query.X)
    np.testing.assert_allclose(scores, ranker.model_.predict(query), rtol=1e-4, atol=1e-4)


def test_the_out_of_fold_mixture_is_the_one_that_is_delivered():
    """Without standardising, scores are divided by one number per member, out of fold and in the model."""
    data = judged()
    ranker = rw.AutoRanker(portfolio=[rw.MART(rounds=4), rw.LambdaMART(rounds=4)], target="xgboost", n_jobs=1)
    mix = ranker.fit(data).run_.kept.mix
    scorers = [entry.cut(index) for entry, index in zip(mix.entries, mix.round_indices, strict=True)]
    spreads = [entry.spreads[index] for entry, index in zip(mix.entries, mix.round_indices, strict=True)]
    parts = zip(scorers, mix.weights, spreads, strict=True)
    expected = sum(weight / spread * scorer.predict(data) for scorer, weight, spread in parts if weight)
    np.testing.assert_allclose(ranker.predict(data), expected, rtol=1e-12)


def test_an_unknown_target_is_refused_with_the_list():
    with pytest.raises(rw.InputError, match=rf"^target must be one of {', '.join(TARGETS)}, not 'elastic'\.$"):
        fitted("elastic")


def test_a_version_that_matters_is_asked_for():
    with pytest.raises(
        rw.InputError, match=r"differently by version: .* or later\); for example opensearch-ltr:3\.8\.$"
    ):
        rw.AutoRanker(target="opensearch-ltr").fit(DATA)
    with pytest.raises(rw.InputError, match=r"^version matters for opensearch-ltr and solr, not for vespa"):
        rw.AutoRanker(target="vespa:8.0").fit(DATA)


def test_a_ranker_that_was_asked_for_is_not_left_out_in_silence():
    with pytest.raises(
        rw.InputError, match=r"^McRank cannot be part of a model for Solr: The model is an expected"
    ):
        fitted("solr", portfolio=[rw.LambdaMART(rounds=2), rw.McRank(rounds=2)])


def test_a_portfolio_that_no_target_holds():
    with pytest.raises(
        rw.InputError, match=r"^Elasticsearch holds no model of the portfolio: The model uses columns"
    ):
        fitted("elasticsearch", portfolio=[rw.RankSVM()])


def test_missing_values_that_a_target_counts_as_0_are_refused_before_any_fit():
    X = DATA.X.copy()
    X[3, 1] = np.nan
    data = rw.RankingData(X, DATA.y, DATA.qid)
    with pytest.raises(rw.InputError, match=r"^RankLib counts a missing value as 0, while rankers learn"):
        fitted("ranklib", data)
    assert fitted("solr", data, portfolio=[rw.LambdaMART(rounds=2)]).model_


@pytest.mark.parametrize("target", ["solr", "elasticsearch", "vespa", "onnx"])
def test_the_built_in_portfolio_is_limited(target):
    train = TrainingSet(DATA)
    chosen = ExportTarget.of(target)
    limited = chosen.limit(chosen.adapted(PORTFOLIO, train), train)
    names = [entry.name for entry in limited.entries]
    assert len(names) >= 3
    assert any(name.startswith("LambdaMART") for name in names)
    assert limited.standardises == (target == "onnx")
    assert all(limited.left_out.values())


def test_an_interpretable_model_is_not_added_to_others():
    ranker = rw.AutoRanker(interpretable=True, target="solr", n_jobs=1).fit(DATA)
    assert {"AdaRank", "RankBoost"} <= {member.name for member in ranker.standings_}
