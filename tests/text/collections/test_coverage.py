"""Which judgements are about known queries and documents."""

import numpy as np

from rankwright import CRANFIELD_GRADES, read_judgements
from rankwright.data.readers.trec import Judgements
from rankwright.text import Queries, known_judgements, read_queries
from shared_data import CRANFIELD, needs_cranfield


def rows(judgements):
    return list(zip(judgements.qid.tolist(), judgements.document_ids, judgements.labels.tolist(), strict=True))


def test_unknown_queries_and_documents_are_counted():
    judgements = Judgements.of(["1", "1", "2", "9", "9"], ["a", "b", "z", "a", "z"], [1, 0, 1, 1, 1])
    queries = Queries.of({"1": "x", "2": "y", "3": "z"})
    kept, coverage = known_judgements(judgements, queries=queries, documents={"a", "b"})
    assert rows(kept) == [("1", "a", 1), ("1", "b", 0)]
    assert coverage.n_judgements == 5
    assert coverage.n_unknown == 3
    assert coverage.unknown_queries == ("9",)
    assert coverage.unknown_documents == ("z",)
    assert coverage.queries_without_judgements == ("2", "3")
    assert not coverage.complete
    assert str(coverage) == (
        "5 judgements, 3 of them left out, for 1 unknown query (9) and 1 unknown document (z); "
        "2 queries (2, 3) without judgements."
    )


def test_known_judgements_are_all_kept():
    judgements = Judgements.of(["1"], ["a"], [1])
    kept, coverage = known_judgements(judgements, queries=["1"], documents=["a"])
    assert rows(kept) == rows(judgements)
    assert coverage.complete


def test_no_judgements_at_all():
    kept, coverage = known_judgements(Judgements.of(np.zeros(0, str), [], []), queries=["1"], documents=[])
    assert len(kept) == 0
    assert coverage.queries_without_judgements == ("1",)


@needs_cranfield
def test_cranfield():
    graded = read_judgements(CRANFIELD / "cranqrel", grades=CRANFIELD_GRADES)
    assert len(graded) == 1837
    labels, counts = np.unique(graded.labels, return_counts=True)
    assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == {0: 225, 1: 363, 2: 734, 3: 387, 4: 128}
    binary = read_judgements(CRANFIELD / "cranqrel.trec.txt")
    assert {row[:2] for row in rows(binary)} == {row[:2] for row in rows(graded)}
    documents = {str(number) for number in range(1, 1401)}
    placed = read_queries(CRANFIELD / "cran.qry", ids="place")
    assert known_judgements(graded, queries=placed, documents=documents).coverage.complete
    named = read_queries(CRANFIELD / "cran.qry")
    assert known_judgements(graded, queries=named, documents=documents).coverage.n_unknown == 611
