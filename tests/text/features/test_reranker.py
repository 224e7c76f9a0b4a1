"""Scores of a slow model: computed once, kept in a file, with their cost."""

import pytest

import rankwright as rw
from rankwright.text import CachedReranker, FeatureSet, Index, TextDocument

DOCUMENTS = [TextDocument(f"d{n}", {"body": f"sea {'ship ' * n}"}) for n in range(5)]


def test_scores_are_computed_once(tmp_path):
    calls = []

    def counting(query, texts):
        calls.extend(texts)
        return [text.count(query) for text in texts]

    index = Index.build(DOCUMENTS, tmp_path / "index")
    candidates = {"q": [document.id for document in DOCUMENTS]}
    for run in range(2):
        slow = CachedReranker(counting, "counts", cache=tmp_path / "scores.db")
        features = FeatureSet(["query"], functions={"counts": slow})
        data = features.documents(index, {"q": "ship"}, candidates)
        assert data.X[:, 1].tolist() == [0, 1, 2, 3, 4]
        assert len(calls) == 5
        assert (slow.cost.n_computed, slow.cost.n_cached) == ((5, 0) if run == 0 else (0, 5))
    other = CachedReranker(counting, "other", cache=tmp_path / "scores.db")
    other.scores("ship", DOCUMENTS[:1])
    assert len(calls) == 6
    changed = TextDocument("d0", {"body": "another text"})
    other.scores("ship", [changed])
    assert len(calls) == 7
    cost = other.cost
    assert cost.n_kept == 7
    assert cost.milliseconds >= 0
    assert "counts" not in str(cost)
    assert "2 scores computed, 0 from the cache" in str(cost)


def test_what_was_scored_before_a_failure_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwright.text.features.reranker.BATCH", 2)
    calls = []

    def fails(_, texts):
        calls.extend(texts)
        if len(calls) > 4:
            raise RuntimeError("no answer")
        return [1.0] * len(texts)

    slow = CachedReranker(fails, "service", cache=tmp_path / "scores.db")
    with pytest.raises(rw.InputError, match="The reranker service failed: RuntimeError: no answer"):
        slow.scores("ship", DOCUMENTS)
    again = CachedReranker(lambda _, texts: [2.0] * len(texts), "service", cache=tmp_path / "scores.db")
    assert again.scores("ship", DOCUMENTS).tolist() == [1, 1, 1, 1, 2]


@pytest.mark.parametrize("scores", [[1.0], [float("nan")] * 5, "abc", None, [[1.0]] * 5])
def test_wrong_scores_are_refused(scores):
    with pytest.raises(rw.InputError, match="must return one finite number per document"):
        CachedReranker(lambda *_: scores, "x").scores("ship", DOCUMENTS)


def test_wrong_rerankers_are_refused(tmp_path):
    with pytest.raises(rw.InputError, match="must be a function"):
        CachedReranker(3, "x")
    with pytest.raises(rw.InputError, match="name of a reranker must be text"):
        CachedReranker(len, "")
    (tmp_path / "no.db").write_text("this is no database, but a text that is long enough to be read as one" * 20)
    with pytest.raises(rw.InputError, match="cannot be used as a cache of scores"):
        CachedReranker(len, "x", cache=tmp_path / "no.db").scores("ship", DOCUMENTS)
