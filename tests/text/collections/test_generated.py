"""The generated collection: the same for the same seed, judged by its own rule."""

from __future__ import annotations

from rankwright.text import generated_collection


def test_the_seed_decides():
    first, again, other = (generated_collection(50, 10, seed=seed) for seed in (0, 0, 1))
    assert first.documents == again.documents
    assert dict(first.queries) == dict(again.queries)
    assert first.documents != other.documents


def test_labels_follow_from_what_documents_are_about():
    documents, queries, judgements = generated_collection(200, 40)
    text_of = {document.id: " ".join(document.fields.values()).lower() for document in documents}
    assert len(set(queries.texts)) == 40
    assert set(judgements.labels.tolist()) == {1.0, 2.0}
    for query, document, label in zip(
        judgements.qid.tolist(), judgements.document_ids.tolist(), judgements.labels.tolist(), strict=True
    ):
        thing = queries[query].split()[1]
        assert thing in text_of[document]
        assert label in (1.0, 2.0)
