import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.data.readers.trec import Run
from rankwright.judgements.judging.pool import pool_of

TEXTS = {
    "d1": "Red hats.\n\nHats are warm 😀 hats!",
    "d2": "blue hats",
    "d3": "green shoes",
    "d4": "x" * 10 + " hats " * 30_000,
}


@pytest.fixture
def searcher(tmp_path):
    documents = [rw.text.TextDocument(name, {"body": text}) for name, text in TEXTS.items()]
    return rw.text.Searcher(rw.text.Index.build(documents, tmp_path / "index"))


def queries(**texts):
    return rw.text.Queries.of(texts)


def test_words_of_the_query_are_marked(searcher):
    pool = pool_of(searcher, queries(q="hat"), None, 10)
    (field,) = pool.text("q", "d1")
    assert field.name == "body"
    assert field.paragraphs == [["Red ", "hats", "."], ["", "Hats", " are warm 😀 ", "hats", "!"]]
    assert pool.text("q", "d4")[0].paragraphs[-1] == ["[48,938 more characters]"]


def test_the_order_is_blind_stable_and_differs_between_judges(searcher):
    runs = {"a": Run.of(["q"] * 4, list(TEXTS), [4, 3, 2, 1]), "b": Run.of(["p"] * 4, list(TEXTS), [4, 3, 2, 1])}
    pool = pool_of(searcher, queries(q="hats", p="shoes"), runs, 10)
    orders = [tuple(pool.order_for(f"judge {number}")) for number in range(20)]
    assert len(set(orders)) > 10
    assert all(order == tuple(pool.order_for(f"judge {number}")) for number, order in enumerate(orders))
    assert all([query for query, _ in order] == ["q"] * 4 + ["p"] * 4 for order in orders)
    assert all(sorted(order) == sorted(pool.pairs) for order in orders)


def test_a_pool_of_runs_has_the_first_of_each(searcher):
    runs = {
        "a": Run.of(["q", "q", "q"], ["d3", "d2", "d1"], [3, 2, 1]),
        "b": Run.of(["q", "q", "other"], ["d4", "gone", "d1"], [3, 4, 1]),
    }
    pool = pool_of(searcher, queries(q="hats", p="shoes"), runs, 2)
    assert pool.documents == {"q": ["d3", "d2", "d4"]}
    assert pool.notes == (
        "1 query of the runs without a text, left out.",
        "1 document of the runs not in the index, left out.",
        "1 query without documents to judge.",
    )


def test_an_empty_pool_is_refused(searcher, tmp_path):
    with pytest.raises(InputError, match="The pool is empty: no document was found for any query"):
        pool_of(searcher, queries(q="unknown"), None, 10)
    gone = {"a": Run.of(["q"], ["gone"], [1])}
    with pytest.raises(InputError, match="The pool is empty: none of their documents is in the index"):
        pool_of(searcher, queries(q="hats"), gone, 10)
    with pytest.raises(InputError, match="No query of the runs, such as 'z', is among the queries"):
        pool_of(searcher, queries(q="hats"), {"a": Run.of(["z"], ["d1"], [1])}, 10)
    with pytest.raises(InputError, match="There are no queries to judge"):
        pool_of(searcher, queries(), None, 10)
    document = rw.text.TextDocument("d1", {"body": "hats"})
    silent = rw.text.Searcher(rw.text.Index.build([document], tmp_path / "silent", store=False))
    with pytest.raises(InputError, match="built without text, which judges need"):
        pool_of(silent, queries(q="hats"), None, 10)
