"""The folder of an index: changes happen completely or not at all, and wrong files and input are one sentence."""

import errno
import json
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.base import array_files
from rankwright.base.array_files import BLOCK, ArrayFile, ArrayWriter
from rankwright.base.files import write_whole
from rankwright.text import BM25, Analyser, Dirichlet, Index, JelinekMercer
from rankwright.text.features import scopes
from rankwright.text.index import building, merging, segments
from rankwright.text.index.manifest import changing, checksum_of
from text_documents import Text, bodies, stored_arrays, texts, write_arrays

PLAIN = Analyser(stop_words=None, stemmer=None)


@pytest.fixture
def index(tmp_path):
    return Index.build(texts(["ship sea", "", "sea bay bay"]), tmp_path / "index", analyser=PLAIN)


def files(index):
    return {path.name: path.read_bytes() for path in index.path.iterdir()}


def segment_file(index):
    return next(index.path.glob("*.segment"))


def test_opening_reads_nothing_of_the_documents(index):
    again = Index.open(index.path)
    assert len(again) == 3
    assert again.fields == ("body",)
    assert again.analyser == PLAIN
    assert again.text("d2") == {"body": "sea bay bay"}
    assert [*again.search("sea")] == [*index.search("sea")]
    assert "d1" in again
    assert "d3" not in again


def test_ids_must_differ(index):
    with pytest.raises(rw.InputError, match="Two documents have the id 'same'"):
        Index.build([Text("same", {"body": "a"}), Text("same", {"body": "b"})], index.path)
    with pytest.raises(rw.InputError, match="already has a document 'd1'"):
        index.add([Text("d1", {"body": "a"})])
    assert len(Index.open(index.path)) == 3


def test_ids_must_differ_between_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "BATCH_DOCUMENTS", 1)
    same = [Text("same", {"body": "a"}), Text("other", {"body": "a"}), Text("same", {"body": "b"})]
    with pytest.raises(rw.InputError, match="already has a document 'same'"):
        Index.build(same, tmp_path / "i", memory=1)
    assert [path.name for path in (tmp_path / "i").iterdir()] == [".lock"]


class FullDisk:
    """A file that takes so many bytes and no more."""

    def __init__(self, file, left):
        self._file, self._left = file, left

    def write(self, data):
        self._left -= memoryview(data).nbytes
        if self._left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.parametrize("left", [0, 100, 500])
def test_a_full_disk_leaves_the_old_index(index, monkeypatch, left):
    before = files(index)
    usual = building.ArrayWriter
    monkeypatch.setattr(building, "ArrayWriter", lambda file: usual(FullDisk(file, left)))
    for change in (lambda: Index.build(texts(["new"]), index.path), lambda: index.add(texts(["new"], "n"))):
        with pytest.raises(rw.InputError, match="cannot be written: No space left on device"):
            change()
    assert files(index) == before


def test_a_reader_that_fails_leaves_the_old_index(index):
    def documents():
        yield Text("new", {"body": "a"})
        raise KeyboardInterrupt

    before = files(index)
    with pytest.raises(KeyboardInterrupt):
        Index.build(documents(), index.path)
    assert files(index) == before


def test_one_process_changes_an_index_at_a_time(index):
    with changing(index.path), pytest.raises(rw.InputError, match="Another process is changing the index"):
        index.merge()


KILLED = """
import os, signal, sys
from rankwright.text import Index, TextDocument
def documents():
    for number in range(5000):
        yield TextDocument(f"n{number}", {"body": "sea " * 20})
    os.kill(os.getpid(), signal.SIGKILL)
Index.open(sys.argv[1]).add(documents())
"""


def test_files_of_a_killed_process_are_removed_by_the_next_change(index):
    before = files(index)
    process = subprocess.run([sys.executable, "-c", KILLED, str(index.path)], check=False)
    assert process.returncode == -signal.SIGKILL
    assert [path.suffix for path in index.path.iterdir() if path.name not in before] == [".part"]
    with write_whole(index.path / "another.txt") as file:  # of a living process
        file.write(b"kept")
        index.remove(["d0"])  # writes no segment
    assert {path.suffix for path in index.path.iterdir()} == {"", ".json", ".segment", ".removed", ".txt"}


def test_every_cut_is_noticed(index):
    path = segment_file(index)
    content = path.read_bytes()
    for size in (*range(0, len(content), 97), len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(rw.InputError, match=r"cut short|not a file of arrays|damaged"):
            Index.open(index.path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content | {"version": 99}, "has format 99, this version of rankwright reads format 4"),
        (lambda content: content | {"version": 2}, "format 2, this .* reads format 4: build the index again"),
        (lambda content: content | {"version": [content] * 50}, "its version must be an integer"),
        (lambda content: content | {"format": "x"}, "is not the manifest of an index"),
        (lambda content: content | {"weights": {"body": 2.0}}, "altered or damaged: its checksum does not match"),
        (lambda content: content | {"analyser": {}}, "altered or damaged: its checksum does not match"),
    ],
)
def test_a_wrong_manifest_is_one_sentence(index, change, message):
    path = index.path / "index.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(rw.InputError, match=message) as refused:
        Index.open(index.path)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content | {"segments": [{}]}, "is damaged: there must be an object of checksum, file"),
        (lambda content: content | {"analyser": {"words": 1}}, "is damaged: an analyser must be"),
        (lambda content: content["segments"][0].update(lengths=[2**64]), "counts must be integers of 32 bits"),
        (lambda content: content["segments"][0].update(n_documents=2**64), "counts must be integers of 32 bits"),
        (
            lambda content: content["segments"][0].update(file="x" * 5000),
            "files must be names, such as",
        ),
        (
            lambda content: content["segments"][0].update(file="a\0b"),
            "files must be names, such as",
        ),
        (lambda content: content | {"next_file": 10**400}, "next_file must be an integer of 32 bits"),
        (lambda content: content | {"weights": {"body": 2**64}}, "weight of field body must be a number between"),
    ],
)
def test_a_wrong_manifest_with_a_right_checksum_is_one_sentence(index, change, message):
    path = index.path / "index.json"
    content = json.loads(path.read_text())
    head = {key: content.pop(key) for key in ("format", "version", "checksum")}
    content = change(content) or content
    path.write_text(json.dumps(head | {"checksum": checksum_of(content)} | content))
    with pytest.raises(rw.InputError, match=message):
        Index.open(index.path).search("ship")


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.unlink()
    path.write_bytes(content)


def test_a_flipped_bit_never_changes_an_answer(index):
    """One bit of each 7th byte of all files, in turn."""
    index.add(texts(["bay ship"], "n"))
    index.remove(["d0"])

    def answers():
        opened = Index.open(index.path)
        features = rw.text.FeatureSet().documents(opened, {"q": "ship sea bay"}, {"q": ["d1", "d2", "n0"]})
        listed = [[*opened.search("ship sea bay", model)] for model in (BM25(), Dirichlet())]
        return features.X.tobytes(), listed, [opened.text(name) for name in ("d1", "d2", "n0")]

    expected, refused = answers(), 0
    for path in [*index.path.glob("*.*")]:
        for place in range(0, path.stat().st_size, 7):
            flip(path, place)
            try:
                assert answers() == expected  # it was between two arrays
            except rw.InputError:
                refused += 1
            flip(path, place)
    assert refused > 400
    assert answers() == expected


def test_a_file_of_another_index_is_refused(index, tmp_path):
    other = Index.build(texts(["bay sea", "", "ship"]), tmp_path / "other", analyser=PLAIN)
    segment_file(index).unlink()
    shutil.copyfile(segment_file(other), index.path / segment_file(other).name)
    with pytest.raises(rw.InputError, match="is damaged: its checksum is another one; build"):
        Index.open(index.path)


def test_verifying_and_merging_find_what_no_search_reads(index):
    path = segment_file(index)
    index.add(texts(["bay"], "n"))
    flip(path, path.read_bytes().index(b"sea bay bay"))
    opened = Index.open(index.path)
    assert opened.search("ship").ids == ["d0"]
    for use in (opened.verify, opened.merge, lambda: opened.text("d2")):
        with pytest.raises(rw.InputError, match=r"its array text\.bytes does not match"):
            use()


@pytest.mark.parametrize("query", ["the", "zeppelin", ""])
def test_lengths_are_verified_without_any_known_word(index, query):
    path = segment_file(index)
    flip(path, path.read_bytes().index(np.array([2, 0, 3], np.uint32).tobytes()))
    opened = Index.open(index.path)
    with pytest.raises(rw.InputError, match=r"its array 0\.lengths does not match its checksum"):
        rw.text.FeatureSet(["length"]).documents(opened, {"q": query}, {"q": ["d0", "d2"]})


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 9 * BLOCK + 5])
def test_every_block_of_an_array_has_a_checksum(tmp_path, size, is_read, monkeypatch):
    if is_read:  # as large files are
        monkeypatch.setattr(array_files, "LARGE", -1)
        monkeypatch.setattr(array_files, "PART", 2 * BLOCK)
    values = np.arange(size, dtype=np.uint8)
    with (tmp_path / "arrays").open("wb") as file:
        writer = ArrayWriter(file)
        writer.reserve("a", "uint8", [0])
        for first in range(0, size, 1000):  # parts that end within blocks
            writer.fill("a", values[first : first + 1000])
        writer.end_stream("a")
        checksum = writer.finish()
    offset = ArrayFile(tmp_path / "arrays", checksum)._entries["a"].offset
    ArrayFile(tmp_path / "arrays", checksum).verify_all()
    for damaged in range(0, size, 5000):
        flip(tmp_path / "arrays", offset + damaged)
        file = ArrayFile(tmp_path / "arrays", checksum)
        file.verify("a", 0, damaged // BLOCK * BLOCK)
        file.verify("a", (damaged // BLOCK + 1) * BLOCK)
        with pytest.raises(rw.InputError, match="array a does not match its checksum"):
            file.verify("a", damaged, damaged + 1)
        flip(tmp_path / "arrays", offset + damaged)


def test_a_manifest_that_is_cut_short(index, tmp_path):
    path = index.path / "index.json"
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(rw.InputError, match="cut short or damaged"):
        Index.open(index.path)
    with pytest.raises(rw.InputError, match="is not an index"):
        Index.open(tmp_path / "nowhere")


def test_another_version_of_a_segment(index):
    path = segment_file(index)
    content = bytearray(path.read_bytes())
    content[13] = 7
    path.write_bytes(content)
    with pytest.raises(rw.InputError, match="has format 7, this version of rankwright reads format 3"):
        Index.open(index.path)


PLACES = ("posting_places", "position_places", "block_places", "impact_places")


@pytest.mark.parametrize("name", [*PLACES, "documents", "position_ends", "block_ends"])
def test_damaged_postings_never_read_out_of_bounds(index, name):
    """Not even where the checksums are right."""
    arrays = stored_arrays(index.path)
    arrays[f"0.{name}"].view(np.uint8)[:] = 0xFE
    write_arrays(index.path, arrays)
    opened = Index.open(index.path)
    lists = {"q": ["d0", "d1", "d2"]}
    for use in (
        lambda: opened.search("ship sea bay"),
        lambda: rw.text.FeatureSet().documents(opened, {"q": "ship sea bay"}, lists),
        lambda: [opened.add(texts(["sea"], "n")), opened.merge()],
    ):
        with pytest.raises(rw.InputError, match="damaged"):
            use()


FIELDS = st.fixed_dictionaries({name: bodies(1).map(" ".join) for name in ("title", "body")})


@given(st.lists(FIELDS, min_size=1, max_size=6), st.lists(FIELDS, max_size=4), st.sets(st.integers(0, 9)))
@examples(40)
def test_vocabularies_are_stored(tmp_path_factory, first, second, removed):
    made = [Text(f"d{number}", fields) for number, fields in enumerate([*first, *second])]
    index = Index.build(made[: len(first)], tmp_path_factory.mktemp("i") / "i", analyser=PLAIN)
    if second:
        index.add(made[len(first) :])
    index.remove([made[number].id for number in removed if number < len(made)])
    for merged in (False, True):
        if merged:
            index.merge()
        for segment in Index.open(index.path).snapshot.segments:
            for fields in ((0,), (1,), (0, 1), (1, 0)):
                stored = segment.vocabulary(fields)
                chosen = [segment.fields[number] for number in fields]
                computed = segments.joint_vocabulary([(field.terms, field.postings) for field in chosen])
                for found, expected in zip(stored, computed, strict=True):
                    assert found.tobytes() == expected.tobytes()


def test_some_fields_together_have_vocabularies_too(tmp_path):
    made = [Text("a", {"x": "ship", "y": "sea ship", "z": "bay"})]
    (segment,) = Index.build(made, tmp_path / "i", analyser=PLAIN).snapshot.segments
    assert segment.vocabulary((0, 1)).distinct.tolist() == [2]
    assert segment.vocabulary((0, 1, 2)).distinct.tolist() == [3]


@pytest.mark.parametrize("name", ["distinct", "norms"])
@pytest.mark.parametrize("byte", [0, 0xFF])
def test_damaged_vocabularies_are_noticed(index, name, byte):
    arrays = stored_arrays(index.path)
    arrays[f"0.{name}"].view(np.uint8)[:] = byte
    write_arrays(index.path, arrays)
    opened = Index.open(index.path)
    assert len(opened.search("ship sea bay")) == 2
    with pytest.raises(rw.InputError, match="is damaged: its vocabularies are out of range"):
        rw.text.FeatureSet(["cosine"]).documents(opened, {"q": "ship"}, {"q": ["d0"]})


def test_a_field_may_come_late(tmp_path):
    mixed = [Text(f"a{n}", {"body": f"x{n % 7} y"}) for n in range(9000)]
    mixed[8500] = Text("b", {"title": "late", "body": "x"})
    index = Index.build(mixed, tmp_path / "i")
    assert index.weights == {"body": 1.0, "title": 2.0}
    assert index.search("late").ids == ["b"]
    assert index.text("b") == {"body": "x", "title": "late"}
    assert index.text("a8999") == {"body": "x4 y", "title": ""}
    assert index.text("a0") == {"body": "x0 y", "title": ""}
    fresh = Index.build(mixed, tmp_path / "fresh", fields={"body": 1, "title": 2})
    assert [*index.search("x1 late", n=5)] == [*fresh.search("x1 late", n=5)]
    with pytest.raises(rw.InputError, match="Document 'b' has a field 'title' that none of the documents before"):
        Index.build(mixed, tmp_path / "small", memory=1)


def test_an_index_without_documents(tmp_path):
    index = Index.build([], tmp_path / "i", fields=["body"])
    assert len(index) == 0
    assert len(index.search("ship")) == 0
    index.add(texts(["ship"]))
    assert index.search("ship").ids == ["d0"]


def test_other_folders_are_not_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(rw.InputError, match="holds other files"):
        Index.build(texts(["a"]), tmp_path)
    with pytest.raises(rw.InputError, match="is a file, not a folder"):
        Index.build(texts(["a"]), tmp_path / "mine.txt")
    (tmp_path / "index.json").write_text('{"name": "of another program"}')
    with pytest.raises(rw.InputError, match="holds other files"):
        Index.build(texts(["a"]), tmp_path)
    assert "another program" in (tmp_path / "index.json").read_text()


def test_a_damaged_index_can_be_built_again(index):
    manifest = index.path / "index.json"
    manifest.write_bytes(manifest.read_bytes()[:50])
    assert len(Index.build(texts(["a"]), index.path)) == 1


def test_a_function_must_be_given_again(tmp_path):
    Index.build(texts(["A b"]), tmp_path / "i", analyser=str.split)
    with pytest.raises(rw.InputError, match="give it to Index"):
        Index.open(tmp_path / "i").search("A")
    assert Index.open(tmp_path / "i", analyser=str.split).search("A").ids == ["d0"]


def test_wrong_input_is_one_sentence(index):
    made = Text("x", {"body": "a"})
    cases = [
        (lambda: index.remove(["d0", "unknown"]), "The index has no document 'unknown'"),
        (lambda: index.remove("d0"), "Give a list of document ids"),
        (lambda: index.remove([3]), "Give a list of document ids"),
        (lambda: index.add([Text(3, {"body": "a"})]), "The id of a document must be text, not 3"),
        (lambda: index.add([Text("\ud800", {"body": "a"})]), "half of a surrogate pair"),
        (lambda: index.add([Text("x", {"body": None})]), "Field body of document 'x' must be text, not None"),
        (lambda: index.add([{"id": "x", "body": "a"}]), "must have an id and a mapping of fields"),
        (lambda: index.add([made], memory=0), "memory must be a positive number of bytes"),
        (lambda: Index.build("docs.jsonl", index.path), r"read_documents\('docs.jsonl'\)"),
        (lambda: Index.build([made], index.path, analyser=lambda _: None), "must return a list of words"),
        (lambda: Index.build([made], index.path, fields={"body": 1e200}), "between 0 and 1e\\+100"),
        (lambda: index.search_all("ship"), "Queries must be a list of texts, not 'ship'"),
        (lambda: index.search(3), "Queries must be a list of texts"),
        (lambda: index.search("ship", n=2**64), r"n must be a positive integer below 2\^63"),
        (lambda: BM25(k1=1e200), "k1 must be a number at least 0 and at most 1e\\+100"),
        (lambda: Dirichlet(mu=1e-200), "mu must be a number at least 1e-100, not 1e-200"),
        (lambda: Dirichlet(mu=0), "mu must be a number above 0, not 0"),
    ]
    for call, message in cases:
        with pytest.raises(rw.InputError, match=message):
            call()
    assert len(index) == 3


def test_documents_without_any_field_of_the_index_are_refused(index, tmp_path):
    strangers = [Text("x", {"abstract": "ship"}), Text("y", {})]
    for change in (lambda: index.add(strangers), lambda: Index.build(strangers, tmp_path / "i", fields=["body"])):
        with pytest.raises(rw.InputError, match=r"that is indexed \(body\); document 'x' has abstract"):
            change()
    index.add([*strangers, Text("z", {"body": "ship"})])
    index.add([Text("empty", {})])
    assert len(Index.open(index.path)) == 7


def test_largest_weights_give_finite_scores(index):
    found = index.search("ship sea ship", BM25(k1=1e100, method="atire"), fields={"body": 1e100})
    assert np.isfinite(found.scores).all()
    for model in (Dirichlet(1e-100), JelinekMercer(1e-100)):
        assert np.isfinite(index.search("ship sea", model, fields={"body": 1e100}).scores).all()


def test_an_interrupt_after_the_manifest_leaves_the_new_index(index, monkeypatch):
    """Files that the manifest names must not be removed as those of a change that failed."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Index, "_use", interrupted)
    with pytest.raises(KeyboardInterrupt):
        index.add(texts(["new"], "n"))
    monkeypatch.undo()
    assert Index.open(index.path).search("new").ids == ["n0"]


def test_an_index_that_was_built_again_must_be_opened_again(index):
    Index.build(texts(["Ship"], "n"), index.path, analyser=str.split)
    with pytest.raises(rw.InputError, match="was built again with other settings: open it again"):
        index.add(texts(["ship"], "m"))
    assert len(Index.open(index.path)) == 1


def test_readers_never_see_half_a_change(index):
    """While one thread adds, removes and merges, another opens and searches: it sees the index before or after."""
    stop, seen = threading.Event(), []

    def read():
        while not stop.is_set():
            found = Index.open(index.path)
            assert len(found.search("sea")) == len(found) - 1  # one document is empty
            seen.append(len(found))

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        try:
            for turn in range(15):
                index.add(texts(["sea"], f"n{turn}-"))
                if turn % 3 == 2:
                    index.remove([f"n{turn}-0"])
                    index.merge()
        finally:
            stop.set()
        reader.result()
    assert len(set(seen)) > 1


def test_statistics_of_words_may_be_started_anew_by_any_thread(tmp_path, monkeypatch):
    words = [f"w{number}" for number in range(40)]
    index = Index.build(texts(words), tmp_path / "i", analyser=PLAIN)
    monkeypatch.setattr(scopes, "MAX_WORDS", 10)
    known = index.snapshot.scopes(["body"])
    with ThreadPoolExecutor(4) as pool:
        lists = [words[start : start + 8] for start in range(32)] * 20
        counts = [*pool.map(lambda some: [int(word.documents[0]) for word in known.words(some)], lists)]
    assert counts == [[1] * 8] * len(lists)


def test_many_segments_are_merged_in_stages(tmp_path, monkeypatch):
    documents = texts([f"sea w{number} ship" for number in range(7)])
    whole = Index.build(documents, tmp_path / "whole", analyser=PLAIN)
    monkeypatch.setattr(building, "BATCH_DOCUMENTS", 1)
    monkeypatch.setattr(merging, "MAX_AT_ONCE", 2)
    most: list[int] = []
    usual = merging.merge_segments
    monkeypatch.setattr(
        merging, "merge_segments", lambda some, *rest: most.append(len(some)) or usual(some, *rest)
    )
    staged = Index.build(documents, tmp_path / "staged", analyser=PLAIN, memory=1)
    assert most == [2, 2, 2, 2, 2, 2]
    assert [path.suffix for path in sorted(staged.path.iterdir())] == ["", ".segment", ".json"]
    np.testing.assert_equal(stored_arrays(staged.path), stored_arrays(whole.path))
    staged.add(texts(["bay"], "n"))
    before = {path.name for path in staged.path.glob("*.segment")}
    monkeypatch.setattr(merging, "merge_segments", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        staged.merge()
    assert {path.name for path in staged.path.glob("*.segment")} == before


def test_without_file_locks_an_index_is_searched_but_not_changed(tmp_path, monkeypatch):
    index = Index.build([Text("a", {"body": "ship"})], tmp_path / "i", analyser=PLAIN)
    monkeypatch.setattr("rankwright.base.files.fcntl", None)
    assert Index.open(index.path, analyser=PLAIN).search("ship").ids == ["a"]
    with pytest.raises(rw.InputError, match="no file locks"):
        index.remove(["a"])
