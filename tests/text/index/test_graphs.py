"""Graphs of neighbours: recall against the exact search, changes of documents, damage, without the library."""

import subprocess
import sys
import threading
import zlib
from importlib.util import find_spec

import numpy as np
import pytest

import rankwright as rw
from rankwright.text import Dense, Encoder, Index, TextDocument
from rankwright.text.index.neighbour_graph import NeighbourGraph, built_graph

if find_spec("usearch") is None:  # not imported here: onnxruntime crashes when it is imported after usearch
    pytest.skip("graphs of neighbours need usearch: pip install 'rankwright[graph]'", allow_module_level=True)

N_DOCUMENTS = 1500


def meanings(texts):
    """Return points around 40 centres, by the numbers that texts have."""
    centres = np.random.default_rng(0).standard_normal((40, 24))
    seeds = [zlib.crc32(text.encode()) for text in texts]
    return [centres[seed % 40] + 0.5 * np.random.default_rng(seed).standard_normal(24) for seed in seeds]


ENCODER = Encoder(meanings, "meanings")
QUERIES = [f"{'q' * (number % 7)} {number}" for number in range(50)]


def documents(first, end):
    return [TextDocument(f"d{n}", {"body": f"{'x' * (n % 90)} {n}"}) for n in range(first, end)]


@pytest.fixture
def index(tmp_path):
    made = Index.build(documents(0, N_DOCUMENTS), tmp_path / "index")
    made.encode(ENCODER)
    return made


def lists(index, n=10):
    return [[*results] for results in index.search_all(QUERIES, Dense(), n, n_jobs=1)]


def recall(mine, exact):
    pairs = zip(mine, exact, strict=True)
    return np.mean([len({name for name, _ in a} & {name for name, _ in b}) / len(b) for a, b in pairs])


def test_a_graph_finds_nearly_what_the_exact_search_finds_with_the_same_scores(index):
    exact = lists(index)
    measured = index.build_graph("meanings", queries=QUERIES, n=10)
    assert len(index.snapshot.segments) == 1
    found = lists(index)
    assert measured.recall == pytest.approx(recall(found, exact))
    assert measured.recall > 0.95
    assert (measured.n, measured.n_queries) == (10, 50)
    score_of = [dict(wanted) for wanted in lists(index, N_DOCUMENTS)]
    assert all(score_of[q][name] == score for q, mine in enumerate(found) for name, score in mine)
    assert index.search_all(QUERIES, Dense(), 10, n_jobs=2)[3].ids == [name for name, _ in found[3]]
    assert lists(Index.open(index.path, encoders=[ENCODER])) == found
    assert "finds" in index.build_graph().summary  # documents as queries, and nothing to build
    index.verify()
    index.drop_graph()
    assert lists(index) == exact
    assert len([*index.path.glob("*.vectors")]) == 1


def test_documents_are_added_removed_and_merged_with_the_graph(index, tmp_path):
    index.build_graph()
    index.add(documents(N_DOCUMENTS, N_DOCUMENTS + 60))
    newest = f"d{N_DOCUMENTS + 59}"
    assert index.search(index.text(newest)["body"], Dense(), n=1).ids == [newest]
    gone = [f"d{n}" for n in range(0, N_DOCUMENTS, 2)]
    index.remove(gone)
    assert not {name for mine in lists(index, 50) for name, _ in mine} & {*gone}
    assert all(len(mine) == 50 for mine in lists(index, 50))
    index.merge()
    assert len(index.snapshot.segments) == 1
    assert index.snapshot.segments[0].vectors["meanings"].has_graph
    kept = [one for one in documents(0, N_DOCUMENTS + 60) if one.id not in {*gone}]
    fresh = Index.build(kept, tmp_path / "fresh")
    fresh.encode(ENCODER)
    exact = lists(fresh)
    assert recall(lists(index), exact) > 0.95
    fresh.build_graph()
    assert lists(fresh) == lists(index)  # one thread: the graph depends on the documents only
    assert len([*index.path.glob("*.vectors")]) == 1


def test_all_documents_are_found_even_where_the_graph_does_not_reach_them(index):
    index.build_graph()
    assert all(len(mine) == N_DOCUMENTS for mine in lists(index, N_DOCUMENTS))
    index.remove([f"d{n}" for n in range(3, N_DOCUMENTS)])
    assert all(len(mine) == 3 for mine in lists(index, 10))
    index.remove(["d0", "d1", "d2"])
    assert lists(index) == [[]] * len(QUERIES)


def test_threads_may_search_at_once(index):
    index.build_graph()
    expected, results = lists(index), [None] * 8

    def search(number):
        results[number] = lists(index)

    threads = [threading.Thread(target=search, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_documents_without_text_have_no_neighbours(tmp_path):
    index = Index.build([TextDocument("a", {"body": ""}), *documents(0, 3)], tmp_path / "index")
    index.encode(ENCODER)
    index.build_graph()
    assert len(index.search("x 1", Dense(), n=4).ids) == 4
    assert built_graph(np.zeros((3, 2), np.int8), 1, print) is None


def test_recall_is_measured_with_something(index, tmp_path):
    empty = Index.build([TextDocument("a", {"body": ""})], tmp_path / "empty")
    empty.encode(ENCODER)
    for build in (empty.build_graph, lambda: index.build_graph(queries=[])):
        with pytest.raises(rw.InputError, match="nothing to measure recall with"):
            build()
    with pytest.raises(rw.InputError, match="n must be a positive integer"):
        index.build_graph(n=0)
    assert not any(segment.vectors["meanings"].has_graph for segment in index.snapshot.segments)


def test_an_onnx_encoder_can_be_loaded_after_a_graph_was_built():
    if find_spec("onnxruntime") is None:
        pytest.skip("ONNX encoders need onnxruntime: pip install 'rankwright[dense]'")
    build = "import numpy; from rankwright.text.index.neighbour_graph import built_graph; "
    build += "built_graph(numpy.eye(3, dtype=numpy.int8), 1, print); import onnxruntime"
    subprocess.run([sys.executable, "-c", build], check=True)  # in a new process: nothing is imported yet


def test_a_damaged_graph_is_refused(index):
    index.build_graph()
    (path,) = index.path.glob("*.vectors")
    content = bytearray(path.read_bytes())
    content[60_000] ^= 1  # behind the vectors
    path.write_bytes(content)
    opened = Index.open(index.path, encoders=[ENCODER])
    with pytest.raises(rw.InputError, match="array graph does not match its checksum"):
        opened.search("a", Dense())
    with pytest.raises(rw.InputError, match="cannot read the graph of neighbours: drop it"):
        NeighbourGraph(np.zeros(500, np.uint8), 24, 10)


def test_without_usearch_the_message_says_what_to_install(index, monkeypatch):
    index.build_graph()
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    opened = Index.open(index.path, encoders=[ENCODER])
    with pytest.raises(ImportError, match=r"pip install 'rankwright\[graph\]', or drop the graph"):
        opened.search("a", Dense())
    opened.drop_graph()
    assert len(opened.search("a", Dense(), 3)) == 3
    with pytest.raises(rw.InputError, match="no vectors of an encoder 'other', only of: meanings"):
        opened.build_graph("other")
