"""Search in an index, by BM25, by a model of the service, and by a saved searcher."""

import asyncio

import pytest

import rankwright as rw
from serve.asking import client

pytest.importorskip("uvicorn", reason="rankwright[serve] is not installed")
from rankwright.base.errors import InputError
from rankwright.serve.models.file_watcher import Watcher

QUERY = "old bridge repair"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    documents, queries, judgements = rw.text.generated_collection(seed=1)
    index = rw.text.Index.build(documents, folder / "index", fields={"title": 2, "body": 1})
    features = rw.text.FeatureSet()
    judged = features.judged(index, queries, judgements, candidates=30)
    rw.save(rw.LambdaMART(rounds=5).fit(judged.data), folder / "text.rw")
    rw.text.Searcher(index, features, rw.load(folder / "text.rw"), candidates=50).save(folder / "saved.rws")
    return folder


def ids(answer):
    assert answer.status == 200, answer.body
    return [one["id"] for one in answer.json["results"]]


def test_an_index_alone_is_searched_by_bm25(place):
    asked = client(index=place / "index")
    expected = rw.text.Index.open(place / "index").search(QUERY, n=5)
    assert ids(asked.post("/search", {"query": QUERY, "n": 5})) == expected.ids
    assert ids(asked.get("/search?q=old+bridge%20repair&n=5")) == expected.ids
    assert asked.post("/rank", {"features": [[1]]}).status == 404
    assert asked.get("/").status == 200


def test_snippets_show_the_words(place):
    asked = client(index=place / "index")
    found = asked.get("/search?q=bridge&n=1&snippets=true").json["results"][0]
    begin, end = found["marks"][0]
    assert found["snippet"][begin:end].lower() == "bridge"


@pytest.mark.parametrize("saved", ["saved.rws", "model"])
def test_a_model_ranks_what_was_found(place, saved):
    searcher = rw.text.Searcher.load(place / "saved.rws")
    if saved == "model":
        asked = client(place / "text.rw", index=place / "index", candidates=50)
    else:
        asked = client(searcher=place / saved)
    expected = searcher.search(QUERY, n=5)
    answer = asked.post("/search", {"query": QUERY, "n": 5})
    assert ids(answer) == expected.ids
    assert [one["score"] for one in answer.json["results"]] == expected.scores.tolist()
    assert ids(asked.post("/search", {"query": "xyzzy"})) == []


@pytest.mark.parametrize(
    ("path", "status"),
    [("/search", 400), ("/search?q=", 400), ("/search?q=a&n=0", 400), ("/search?q=a&n=1001", 400),
     ("/search?q=a&n=x", 400), ("/search?q=a&model=nobody", 404), ("/search?query=a", 400)],
)  # fmt: skip
def test_bad_searches_are_refused(place, path, status):
    assert client(index=place / "index").get(path).status == status


def test_a_searcher_has_a_model_of_its_own(place):
    assert "leave out model" in client(searcher=place / "saved.rws").get("/search?q=a&model=b").error


def test_a_model_of_other_features_is_refused_at_the_start(place, folder):
    with pytest.raises(InputError, match="ranker@1 cannot rank documents of the index"):
        client(folder / "ranker.rw", index=place / "index")


def test_a_service_without_an_index_has_no_search(asked):
    assert asked.get("/search?q=a").status == 404


def test_new_documents_are_found(place, tmp_path):
    documents = [rw.text.TextDocument(str(n), {"body": f"word{n} bridge"}) for n in range(5)]
    index = rw.text.Index.build(documents, tmp_path / "index")
    asked = client(index=tmp_path / "index", reload=0.01)

    async def change():
        watching = asyncio.create_task(Watcher(asked.service).run())
        index.add([rw.text.TextDocument("new", {"body": "viaduct"})])
        await asyncio.sleep(0.2)
        watching.cancel()

    assert ids(asked.get("/search?q=viaduct")) == []
    asyncio.run(change())
    assert ids(asked.get("/search?q=viaduct")) == ["new"]
