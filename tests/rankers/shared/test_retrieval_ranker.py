"""BM25 and language models as rankers: tuned parameters, scores of searches, blends, saving, refusals."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.data.groups import Ranking
from rankwright.data.readers.trec import Judgements
from rankwright.models import Combination, RetrievalScorer
from rankwright.rankers.shared.retrieval_ranker import Axis, search_settings
from rankwright.text import BM25, AbsoluteDiscounting, Analyser, Dirichlet, FeatureSet, Index, JelinekMercer
from text_documents import VOCABULARY, Text, bodies, texts

PLAIN = Analyser(stop_words=None, stemmer=None)
MODELS = [BM25(k1=0.7, b=0.3, method="atire"), BM25(k1=0, b=1), Dirichlet(mu=7), JelinekMercer(0.4)]
QUERIES = st.lists(st.sampled_from([*VOCABULARY, "unknown"]), max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Many documents of different lengths, in two fields."""
    rng = np.random.default_rng(7)
    words = np.array([f"w{n}" for n in range(150)])
    chances = 1 / np.arange(1, 151)

    def text(most):
        return " ".join(rng.choice(words, rng.integers(1, most), p=chances / chances.sum()))

    documents = [Text(f"d{n}", {"title": text(8), "body": text(120)}) for n in range(400)]
    path = tmp_path_factory.mktemp("many") / "i"
    return Index.build(documents, path, analyser=PLAIN, fields={"title": 2, "body": 1})


def planted(index, model, weights=None, n_queries=30):
    """Return data whose labels are the ranks that a model gives."""
    rng = np.random.default_rng(11)
    queries = {f"q{n}": " ".join(f"w{k}" for k in rng.choice(40, 4, replace=False)) for n in range(n_queries)}
    ids = [index.snapshot.id_of(number) for number in range(len(index))]
    lists = {query: rng.permutation(ids)[:60].tolist() for query in queries}
    found = FeatureSet(["length", "tf"]).documents(index, queries, lists)
    scores = found.groups.scores(model, index.weights if weights is None else weights, 1)
    ranks = Ranking.of(scores, found.groups).ranks()
    return found.with_labels(np.select([ranks <= 3, ranks <= 10], [2.0, 1.0], 0.0))


@pytest.mark.parametrize("model", MODELS, ids=repr)
@given(bodies(most=12), bodies(most=6), QUERIES)
@examples(30)
def test_scores_of_documents_are_those_of_a_search(tmp_path_factory, model, first, second, query):
    index = Index.build(texts(first), tmp_path_factory.mktemp("i") / "i", analyser=PLAIN, fields=["body"])
    index.add(texts(second, prefix="e"))
    found = index.search(query, model, n=1000)
    ids = [one.id for one in [*texts(first), *texts(second, prefix="e")]]
    documents = FeatureSet(["length"]).documents(index, {"q": query}, {"q": ids[::-1]})
    scores = documents.groups.scores(model, index.weights, 1)
    by_id = dict(zip(documents.document_ids.tolist(), scores.tolist(), strict=True))
    assert [by_id[one] for one in found.ids] == found.scores.tolist()


@pytest.mark.parametrize("fields", [{"title": 2.0, "body": 1.0}, {"title": 0.0, "body": 0.3}, {"body": 1.0}])
def test_weights_of_fields_count_as_in_a_search(index, fields):
    found = index.search("w1 w3 w3 w9", BM25(), n=1000, fields=fields)
    documents = FeatureSet(["length"]).documents(index, {"q": "w1 w3 w3 w9"}, {"q": found.ids})
    assert documents.groups.scores(BM25(), fields, 2).tolist() == found.scores.tolist()


def test_tuning_recovers_planted_parameters(index):
    for model in (BM25(k1=0.3, b=0.0), BM25(k1=4.8, b=1.0)):
        data = planted(index, model)
        train, test = rw.split_queries(data, 0.6, 0.4)
        tuned, usual = rw.BM25Ranker().fit(train), rw.BM25Ranker(k1=1.2, b=0.75).fit(train)
        true = rw.BM25Ranker(k1=model.k1, b=model.b).fit(train)  # below 1 only because of ties
        assert 1.0 >= tuned.score(train) >= true.score(train) > 0.99
        assert tuned.score(test) > max(usual.score(test), 0.99)
        assert tuned.model_.parameters["b"] == pytest.approx(model.b, abs=0.13)


def test_tuning_recovers_planted_weights_of_fields(index):
    data = planted(index, BM25(), {"title": 0.5, "body": 1.0})
    tuned = rw.BM25Ranker(tune_weights=True).fit(data)
    assert tuned.score(data) > rw.BM25Ranker().fit(data).score(data)
    assert tuned.model_.weights["title"] / tuned.model_.weights["body"] < 1.0


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (Dirichlet(62.5), "dirichlet"),
        (JelinekMercer(0.9), "jelinek_mercer"),
        (AbsoluteDiscounting(0.3), "absolute_discounting"),
    ],
)
def test_the_best_smoothing_is_chosen(index, model, name):
    data = planted(index, model)
    tuned = rw.LanguageModelRanker().fit(data)
    assert tuned.model_.model == name
    assert tuned.score(data) == pytest.approx(1.0, abs=1e-6)
    only = rw.LanguageModelRanker(smoothing="dirichlet", mu=500).fit(data)
    assert (only.model_.model, only.model_.parameters, len(only.history_)) == ("dirichlet", {"mu": 500}, 1)


def test_the_validation_part_chooses(index):
    data = planted(index, BM25(k1=4.8, b=1.0))
    other = planted(index, BM25(k1=0.3, b=0.0))
    tuned = rw.BM25Ranker().fit(data, validation=other)
    values = tuned.history_.validation
    assert tuned.history_.best_round == np.argmax(values) + 1
    assert tuned.score(other) == pytest.approx(values.max())
    assert "validation" in tuned.history_.reason
    again = rw.BM25Ranker().fit(data, validation=other, refit=True)
    assert again.model_.n_features == data.n_features


def test_threads_and_runs_do_not_matter(index):
    data = planted(index, BM25(k1=2, b=0.2))
    one, two = (rw.BM25Ranker(n_jobs=n).fit(data) for n in (1, 2))
    assert one.model_.parameters == two.model_.parameters
    assert one.predict(data).tobytes() == two.predict(data).tobytes()


def test_weights_of_queries_count(index):
    first, second = planted(index, BM25(k1=4.8, b=1.0)), planted(index, BM25(k1=0.3, b=0.0))
    both = rw.concat(first, second, shared_queries="separate")
    n = len(first.groups)
    for weights, part in ((np.r_[np.ones(n), np.zeros(n)], first), (np.r_[np.zeros(n), np.ones(n)], second)):
        tuned = rw.BM25Ranker().fit(both, query_weight=weights)
        assert tuned.score(part) == pytest.approx(rw.BM25Ranker().fit(part).score(part), abs=1e-9)


def test_scorers_are_saved_combined_and_compared(index, tmp_path):
    data = planted(index, BM25(k1=2, b=0.2))
    train, test = rw.split_queries(data, 0.5, 0.5)
    bm25, trees = rw.BM25Ranker().fit(train), rw.LambdaMART(rounds=3).fit(train)
    mixed = rw.blend(bm25, trees, on=train)
    assert isinstance(mixed.model_, Combination | RetrievalScorer)
    for model in (bm25.model_, mixed.model_, rw.mix_standardised([bm25, trees])):
        rw.save(model, tmp_path / "model.rw")
        again = rw.load(tmp_path / "model.rw")
        assert again.predict(test).tolist() == model.predict(test).tolist()
        assert pickle.loads(pickle.dumps(model)).predict(test).tolist() == model.predict(test).tolist()
    report = rw.evaluate({"bm25": bm25, "trees": trees}, test)
    assert "bm25" in str(report)
    assert rw.compare({"bm25": bm25, "trees": trees}, test) is not None
    assert rw.cross_validate(rw.BM25Ranker(), data).mean("ndcg@10") > 0.9
    assert bm25.feature_importances_.tolist() == [0.0] * data.n_features
    contributions = bm25.model_.contributions(test)
    np.testing.assert_array_equal(contributions.sum(axis=1), bm25.predict(test))


def test_importances_of_a_blend_with_text(index):
    data = planted(index, BM25(k1=2, b=0.2))
    trees = rw.LambdaMART(rounds=3).fit(data)
    network = rw.LambdaRank(rounds=1).fit(data)
    blended = rw.blend(rw.BM25Ranker().fit(data), network, trees, on=data)
    found = rw.permutation_importance(blended.model_, data)
    assert found is not None


def test_what_has_no_text_is_refused(index):
    data = planted(index, BM25(), n_queries=3)
    ranker = rw.BM25Ranker().fit(data)
    plain = rw.RankingData(data.X, data.y, data.qid)
    with pytest.raises(rw.InputError, match=r"This ranker scores text: fit it on TextRankingData"):
        rw.BM25Ranker().fit(plain)
    with pytest.raises(rw.InputError, match=r"scores text: give TextDocuments"):
        ranker.predict(plain)
    with pytest.raises(rw.InputError, match=r"scores text: give TextDocuments"):
        ranker.predict(data.X, data.qid)
    mixed = Combination([ranker.model_, ranker.model_], [1.0, 2.0])
    with pytest.raises(rw.InputError, match=r"scores text: give TextDocuments"):
        mixed.predict(plain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": 3}, "must be the name"),
        ({"parameters": 3}, "parameters must be a mapping"),
        ({"parameters": {1: 1.0}}, "parameters must be a mapping"),
        ({"parameters": {"k1": None}}, r"parameters\['k1'\] must be a finite number, not None"),
        ({"parameters": {"k1": float("nan")}}, r"parameters\['k1'\] must be a finite number, not nan"),
        ({"parameters": {"k1": 10**400}}, r"parameters\['k1'\] must be a finite number, not 1000"),
        ({"weights": {"body": "much"}}, r"weights\['body'\] must be a finite number, not 'much'"),
        ({"weights": {"body": -1.0}}, "must not be negative"),
    ],
)
def test_scorers_check_what_they_are_made_of(changes, message):
    given = {"model": "bm25", "parameters": {"k1": 1.0, "b": 0.5}, "weights": {"body": 1.0}}
    with pytest.raises(rw.InputError, match=message):
        RetrievalScorer(**given | changes, n_features=2)


def test_unknown_models_and_fields_are_refused_when_text_is_scored(index):
    data = planted(index, BM25(), n_queries=2)
    for parts, message in (
        (("bm26", {}, {"body": 1.0}), "no retrieval model 'bm26'"),
        (("bm25", {"mu": 1.0}, {"body": 1.0}), "has the parameters k1, b, method"),
        (("bm25", {"k1": -1.0}, {"body": 1.0}), "k1 must be"),
        (("bm25", {}, {"abstract": 1.0}), "no field 'abstract'"),
    ):
        with pytest.raises(rw.InputError, match=message):
            RetrievalScorer(*parts, n_features=2).predict(data)


def test_a_judged_collection_from_text_to_a_ranking(tmp_path):
    documents = texts(["ship sea", "sea sea harbour", "harbour ship ship", "x"])
    index = Index.build(documents, tmp_path / "i", analyser=PLAIN)
    judged = Judgements.of(["1", "1", "2"], ["d1", "d3", "d2"], [1, 0, 2])
    data = FeatureSet().judged(index, {"1": "sea", "2": "ship"}, judged, candidates=5).data
    assert rw.BM25Ranker().fit(data).score(data) == 1.0


def test_the_search_halves_its_steps_and_tries_nothing_twice():
    tried = []

    def value_of(setting):
        tried.append((setting["a"], setting["b"]))
        return -((setting["a"] - 3.1) ** 2) - (setting["b"] - 0.52) ** 2

    a = Axis((1.0, 2.0, 4.0, 8.0), 0.5, 16.0, step=2.0, log=True)
    search_settings({"a": a, "b": Axis((0.0, 0.5, 1.0), 0, 1, step=0.5)}, value_of)
    assert len(tried) == len({*tried})
    best = max(tried, key=lambda one: -((one[0] - 3.1) ** 2) - (one[1] - 0.52) ** 2)
    assert best == (pytest.approx(3.1, rel=0.1), pytest.approx(0.52, abs=0.07))
    assert tried[:2] == [(1.0, 0.0), (1.0, 0.5)]
    assert Axis.fixed(3.0).neighbours(3.0, 1) == []


def test_parameters_of_other_smoothings_are_refused():
    with pytest.raises(rw.InputError, match="delta is not used by smoothing='dirichlet', which has mu"):
        rw.LanguageModelRanker(smoothing="dirichlet", delta=0.5).fit(None)
