"""Vectors in an index: products against a slow twin, encoding that is killed, changes of documents, damage."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright import _native
from rankwright.text import Dense, Encoder, Hybrid, Index, TextDocument
from rankwright.text.index.manifest import checksum_of
from rankwright.text.index.vectors import document_integers, query_integers
from reference import vectors as reference

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DOCUMENTS = [
    TextDocument(f"d{n}", {"title": f"ship {LETTERS[n % 26]}", "body": f"{LETTERS[n % 26] * 3} sea {n}"})
    for n in range(60)
]


def letters(texts):
    return [[text.count(letter) for letter in LETTERS] for text in texts]


def others(texts):
    return [[text.count(letter) for letter in LETTERS[::-1]] for text in texts]


@pytest.fixture
def index(tmp_path):
    made = Index.build(DOCUMENTS, tmp_path / "index")
    made.encode(Encoder(letters, "letters"))
    return made


@given(
    st.integers(1, 70).flatmap(
        lambda size: st.tuples(
            st.lists(st.lists(st.integers(-127, 127), min_size=size, max_size=size), min_size=1, max_size=80),
            st.lists(st.lists(st.integers(-300, 300), min_size=size, max_size=size), min_size=1, max_size=9),
        )
    ),
    st.sets(st.integers(0, 79)),
    st.integers(1, 100),
    st.integers(1, 3),
)
@examples(60)
def test_nearest_equals_the_slow_twin_on_all_paths(made, gone, n, n_segments):
    rows, queries = np.array(made[0], np.int8), np.array(made[1], np.int16)
    scales = np.abs(rows).max(axis=1).astype(np.float32) / 64
    removed = {number for number in gone if number < len(rows)}
    expected = reference.nearest(rows, scales, removed, queries, n)
    parts = np.array_split(np.arange(len(rows)), n_segments)
    bits = [
        np.packbits(np.pad([i in removed for i in part], (0, -len(part) % 64)), bitorder="little").view(np.uint64)
        if len(part)
        else np.zeros(0, np.uint64)
        for part in parts
    ]
    segments = ([rows[part] for part in parts], [scales[part] for part in parts])
    for path, threads in ((0, 1), (1, 2), (2, 2), (None, 1)):
        offsets, documents, scores = _native.nearest_vectors(*segments, bits, queries, n, threads, path)
        for q, wanted in enumerate(expected):
            mine = slice(offsets[q], offsets[q + 1])
            assert [*zip(documents[mine].tolist(), scores[mine].tolist(), strict=True)] == wanted
        given_scores = _native.vector_scores(*segments, queries, offsets, documents, threads, path)
        assert given_scores.tobytes() == scores.tobytes()


def test_integers_are_close_to_the_vectors():
    vectors = np.random.default_rng(0).standard_normal((50, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for integers, error in ((document_integers(vectors), 2e-3), (query_integers(vectors), 1e-5)):
        np.testing.assert_allclose(integers.rows * integers.scales[:, None], vectors, atol=error)
    many = np.ones((1, 1 << 17), np.float32)
    assert np.abs(query_integers(many).rows.astype(np.int64)).sum() * 128 < 1 << 31
    assert not document_integers(np.zeros((1, 3), np.float32)).rows.any()


def test_dense_search_ranks_by_cosine(index):
    results = index.search("bbb", Dense(), n=5)
    assert [int(name[1:]) % 26 for name in results.ids[:3]] == [1, 1, 1]
    vectors = Encoder(letters, "letters").documents([" ".join(one.fields.values()) for one in DOCUMENTS])
    query = Encoder(letters, "letters").queries(["bbb"])[0]
    np.testing.assert_allclose(results.scores, np.sort(vectors @ query)[::-1][:5], atol=0.01)
    assert index.search_all(["bbb", "ccc"], Dense("letters"), 3, n_jobs=1)[0].ids == results.ids[:3]


def test_documents_are_added_removed_and_merged_with_their_vectors(index, tmp_path):
    more = [TextDocument("new", {"title": "zzz", "body": "zz"}), TextDocument("empty", {"title": "", "body": ""})]
    index.add(more)
    assert index.search("zzz", Dense(), n=1).ids == ["new"]
    index.remove(["new", "d0"])
    changed = [*index.search("aaa", Dense(), n=100)]
    assert {"new", "d0"}.isdisjoint(name for name, _ in changed)
    index.merge()
    assert [*index.search("aaa", Dense(), n=100)] == changed
    index.verify()
    kept = [one for one in [*DOCUMENTS, *more] if one.id not in ("new", "d0")]
    fresh = Index.build(kept, tmp_path / "fresh")
    fresh.encode(Encoder(letters, "letters"))
    assert [*fresh.search("aaa", Dense(), n=100)] == changed
    assert len([*index.path.glob("*.vectors")]) == 1


def test_an_index_of_another_encoder_is_refused(index):
    with pytest.raises(rw.InputError, match="not stored: give it again"):
        Index.open(index.path).search("a", Dense())
    assert Index.open(index.path, encoders=[Encoder(letters, "letters")]).search("aaa", Dense(), n=1).ids == ["d0"]
    for wrong in (Encoder(others, "letters"), Encoder(letters, "letters", query_prefix="query: ")):
        with pytest.raises(rw.InputError, match="vectors of another encoder letters"):
            Index.open(index.path, encoders=[wrong])
        with pytest.raises(rw.InputError, match="vectors of another encoder letters"):
            index.encode(wrong)
    with pytest.raises(rw.InputError, match="no vectors of an encoder 'minilm', only of: letters"):
        index.search("a", Dense("minilm"))
    with pytest.raises(rw.InputError, match="cannot have the name of a field"):
        index.encode(Encoder(letters, "title"))
    index.drop_vectors("letters")
    with pytest.raises(rw.InputError, match="no vectors: encode its documents first"):
        index.search("a", Dense())
    assert not [*index.path.glob("*.vectors")]


def test_a_searcher_refuses_an_index_that_was_encoded_again(index, tmp_path):
    searcher = rw.text.Searcher(index, retrieval=Hybrid([rw.text.BM25(), Dense("letters")]))
    path, expected = searcher.save(), searcher.search("ship bbb", 5)
    again = rw.text.Searcher.load(path, encoders=[Encoder(letters, "letters")])
    assert [*again.search("ship bbb", 5)] == [*expected]
    index.drop_vectors("letters")
    index.encode(Encoder(others, "letters"))
    with pytest.raises(rw.InputError, match="vectors of other encoders than when it was saved"):
        rw.text.Searcher.load(path, encoders=[Encoder(others, "letters")])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda texts: [[1.0, float("nan")]] * len(texts), "vector that is not finite, of text 1"),
        (lambda texts: [[1.0]] * (len(texts) + 1), "must make one vector per text"),
        (lambda texts: [1.0] * len(texts), "must make one vector per text"),
        (lambda texts: [[1.0] * (1 + n) for n, _ in enumerate([*texts, ""])], "vectors of different lengths"),
        (lambda texts: [[1.0] * (2 if len(texts) == 1 else 3)] * len(texts), "of length 3 and of length 2"),
        (lambda texts: ["x"] * len(texts), "no numbers"),
        (lambda _: 1 / 0, "The encoder bad failed: ZeroDivisionError: division by zero"),
    ],
)
def test_bad_vectors_are_refused_and_change_nothing(tmp_path, function, message):
    index = Index.build(DOCUMENTS, tmp_path / "index")
    before = {path.name for path in index.path.iterdir()}
    with pytest.raises(rw.InputError, match=message):
        index.encode(Encoder(function, "bad"))
    kept = {path.name for path in index.path.iterdir() if not path.name.startswith(".")}
    assert kept == {name for name in before if not name.startswith(".")}
    assert not index.encoders


def test_an_encoder_that_fails_in_the_middle_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwright.text.index.encoding.BATCH", 16)
    index = Index.build(DOCUMENTS, tmp_path / "index")
    encoded = []

    def fails(texts):
        if len(encoded) > 30:
            raise RuntimeError("out of luck")
        encoded.extend(texts)
        return letters(texts)

    with pytest.raises(rw.InputError, match="The encoder letters failed: RuntimeError: out of luck"):
        index.encode(Encoder(fails, "letters"))
    done, seen = [], []
    index.encode(Encoder(lambda texts: seen.extend(texts) or letters(texts), "letters"), on_progress=done.append)
    assert sum(done) == len(DOCUMENTS)
    assert len(seen) == len(DOCUMENTS) - 32 + 1  # the sentence by which encoders are known
    assert not [*index.path.glob(".encoding*")]
    fresh = Index.build(DOCUMENTS, tmp_path / "fresh")
    fresh.encode(Encoder(letters, "letters"))
    assert [*index.search("sea c", Dense(), 60)] == [*fresh.search("sea c", Dense(), 60)]


SCRIPT = """
import sys, time
import rankwright as rw
from rankwright.text.index import encoding
encoding.BATCH = 8
def slow(texts):
    time.sleep(0.05)
    return [[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
index, encoder = rw.text.Index.open(sys.argv[1]), rw.text.Encoder(slow, "letters")
index.encode(encoder, on_progress=lambda n: print(n, flush=True))
"""


@pytest.mark.slow
def test_encoding_is_killed_and_started_again(tmp_path):
    index = Index.build(DOCUMENTS, tmp_path / "index")
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(index.path)], stdout=subprocess.PIPE, text=True
    )
    assert [int(process.stdout.readline()) for _ in range(3)] == [0, 8, 8]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    (work,) = index.path.glob(".encoding*")
    work.write_bytes(work.read_bytes()[:-3])  # a record that was cut short
    done = []
    again = Index.open(index.path)
    again.encode(Encoder(letters, "letters"), on_progress=done.append)
    assert done[0] >= 8
    assert sum(done) == len(DOCUMENTS)
    fresh = Index.build(DOCUMENTS, tmp_path / "fresh")
    fresh.encode(Encoder(letters, "letters"))
    assert [*again.search("sea c", Dense(), 60)] == [*fresh.search("sea c", Dense(), 60)]


def test_damaged_vectors_are_refused(index):
    (path,) = index.path.glob("*.vectors")
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    opened = Index.open(index.path, encoders=[Encoder(letters, "letters")])
    with pytest.raises(rw.InputError, match="does not match its checksum; encode the documents again"):
        opened.search("a", Dense())
    with pytest.raises(rw.InputError, match="does not match its checksum"):
        opened.verify()
    path.write_bytes(bytes(content[:-5]))
    with pytest.raises(rw.InputError, match="cut short"):
        Index.open(index.path)


def test_an_index_without_text_cannot_be_encoded(tmp_path):
    index = Index.build(DOCUMENTS, tmp_path / "index", store=False)
    with pytest.raises(rw.InputError, match="built without text, which an encoder needs"):
        index.encode(Encoder(letters, "letters"))


def test_a_manifest_without_vectors_is_read(tmp_path):
    index = Index.build(DOCUMENTS, tmp_path / "index")
    path = index.path / "index.json"
    content = json.loads(path.read_bytes())
    del content["encoders"]
    for segment in content["segments"]:
        del segment["vectors"]
    head = {"format": content.pop("format"), "version": 3, "checksum": 0}
    content.pop("version"), content.pop("checksum")
    head["checksum"] = checksum_of(content)
    path.write_text(json.dumps(head | content))
    older = Index.open(index.path)
    assert [*older.search("ship c")] == [*index.search("ship c")]
    older.encode(Encoder(letters, "letters"))
    assert Index.open(index.path, encoders=[Encoder(letters, "letters")]).search("ccc", Dense(), n=1).ids == ["d2"]
