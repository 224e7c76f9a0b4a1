"""Postings and positions against a dictionary, however documents are divided into threads and segments."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright import _native
from rankwright.text import Analyser, Index
from reference import text as reference
from text_documents import bodies, stored_arrays, texts

ANALYSER = Analyser(stop_words=["the"], stemmer="english")


def terms_of(body):
    """Return the terms of a body, None in place of removed words."""
    words = [word or "" for word in reference.words(body)]
    return ANALYSER.terms(words)


def stored(index):
    """Return {term: {document: positions}} of an index with one field."""
    found = {}
    start = 0
    for segment in index.snapshot.segments:
        field = segment.fields[0]
        terms = field.terms.take(np.arange(len(field.terms)))
        for number in range(len(field.terms)):
            documents, frequencies, positions = field.postings.term(number)
            ends = np.cumsum(frequencies)
            for document, begin, end in zip(documents.tolist(), ends - frequencies, ends, strict=True):
                mine = found.setdefault(terms[number], {})
                mine[document + start] = positions[begin:end].tolist()
        start += len(segment)
    return found


def lengths(index):
    return [int(n) for segment in index.snapshot.segments for n in segment.fields[0].lengths]


def content(index):
    (file,) = [path for path in index.path.iterdir() if path.suffix == ".segment"]
    return file.read_bytes()


@given(bodies())
def test_postings_are_those_of_the_twin(tmp_path_factory, given_bodies):
    index = Index.build(
        texts(given_bodies), tmp_path_factory.mktemp("i") / "x", analyser=ANALYSER, fields=["body"]
    )
    documents = [terms_of(body) for body in given_bodies]
    assert stored(index) == reference.invert(documents)
    assert lengths(index) == reference.lengths(documents)
    assert [index.snapshot.id_of(number) for number in range(len(index))] == [
        f"d{i}" for i in range(len(documents))
    ]


@given(bodies(most=60), st.integers(1, 5))
@examples(50)
def test_a_small_memory_gives_the_same_index(tmp_path_factory, given_bodies, batch):
    folder = tmp_path_factory.mktemp("i")
    documents = [*texts(given_bodies, "a"), *texts(given_bodies, "b")]
    whole = Index.build(documents, folder / "whole", analyser=ANALYSER, fields=["body"], n_jobs=1)
    with_parts = build_in_parts(documents, folder / "parts", batch)
    assert len(with_parts.snapshot.segments) <= 1
    if documents:
        assert with_parts.text("a0" if given_bodies else documents[0].id) == whole.text(documents[0].id)
    assert stored(with_parts) == stored(whole)
    assert lengths(with_parts) == lengths(whole)
    if documents:
        assert arrays_of(with_parts) == arrays_of(whole)


def build_in_parts(documents, path, batch):
    from rankwright.text.index import building

    usual = building.BATCH_DOCUMENTS
    building.BATCH_DOCUMENTS = batch
    try:
        return Index.build(documents, path, analyser=ANALYSER, fields=["body"], memory=1, n_jobs=2)
    finally:
        building.BATCH_DOCUMENTS = usual


def arrays_of(index):
    """Return the bytes of all arrays of an index with one segment."""
    assert len(index.snapshot.segments) == 1
    arrays = stored_arrays(index.path)
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


def test_threads_change_nothing(tmp_path):
    rng = np.random.default_rng(0)
    documents = texts([" ".join(f"w{n}" for n in rng.zipf(1.3, 300) % 5000) for _ in range(3000)])
    one = Index.build(documents, tmp_path / "one", analyser=ANALYSER, n_jobs=1)
    two = Index.build(documents, tmp_path / "two", analyser=ANALYSER, n_jobs=2)
    assert content(one) == content(two)


@given(bodies(), bodies(), st.sets(st.integers(0, 59)))
def test_adding_removing_and_merging(tmp_path_factory, first, second, gone):
    folder = tmp_path_factory.mktemp("i")
    documents = [*texts(first, "a"), *texts(second, "b")]
    gone = [document.id for number, document in enumerate(documents) if number in gone]
    kept = [document for document in documents if document.id not in gone]
    index = Index.build(texts(first, "a"), folder / "index", analyser=ANALYSER, fields=["body"])
    index.add(texts(second, "b"))
    index.remove(gone)
    assert len(index) == len(kept)
    assert all((document.id in index) == (document in kept) for document in documents)
    fresh = Index.build(kept, folder / "fresh", analyser=ANALYSER, fields=["body"])
    statistics = [one.snapshot.statistics(["body"], ["ship", "sea", "none"]) for one in (index, fresh)]
    np.testing.assert_equal(*[[*one] for one in statistics])
    index.merge()
    assert stored(index) == stored(fresh)
    if kept:
        assert arrays_of(index) == arrays_of(fresh)


def test_a_function_as_analyser(tmp_path):
    index = Index.build(
        texts(["A b,A", ""]), tmp_path / "i", analyser=lambda text: text.replace(",", " , ").split()
    )
    assert stored(index) == {"A": {0: [0, 3]}, "b": {0: [1]}, ",": {0: [2]}}


def test_impacts_bound_every_posting(tmp_path):
    rng = np.random.default_rng(1)
    documents = texts([" ".join(rng.choice(["ship", "sea", "bay"], rng.integers(1, 40))) for _ in range(1000)])
    index = Index.build(documents, tmp_path / "i", analyser=ANALYSER)
    (segment,) = index.snapshot.segments
    arrays = {
        name: segment._file.array(f"0.{name}", dtype)
        for name, dtype in (("posting_places", "uint64"), ("documents", "uint32"), ("position_ends", "uint32"))
    }
    sizes = segment.fields[0].lengths
    blocks, block_ends, places, impacts = _native.block_impacts(**arrays, lengths=sizes, n_threads=1)
    for term in range(3):
        numbers, frequencies, _ = segment.fields[0].postings.term(term)
        for block in range(blocks[term + 1] - blocks[term]):
            front = impacts[places[blocks[term] + block] : places[blocks[term] + block + 1]]
            within = slice(block * 128, (block + 1) * 128)
            assert block_ends[blocks[term] + block] == numbers[within][-1]
            pairs = {*zip(frequencies[within].tolist(), sizes[numbers[within]].tolist(), strict=True)}
            best = {(f, n) for f, n in pairs if not any(g >= f and m <= n and (g, m) != (f, n) for g, m in pairs)}
            assert {*map(tuple, front.tolist())} == best
