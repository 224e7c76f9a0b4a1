"""The folder of an index: changes happen completely or not at all, and wrong files and input are one sentence."""

import errno
import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.text import Analyser, Index, building
from rankwright.text.array_files import ArrayFile
from rankwright.text.manifest import changing
from text_documents import Text, texts

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


def test_every_cut_is_noticed(index):
    path = segment_file(index)
    content = path.read_bytes()
    for size in (*range(0, len(content), 97), len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(rw.InputError, match=r"cut short|not a file of an index|damaged"):
            Index.open(index.path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content | {"version": 99}, "has format 99, this version of rankwright reads format 1"),
        (lambda content: content | {"format": "x"}, "is not the manifest of an index"),
        (lambda content: content | {"segments": [{}]}, "is damaged"),
        (lambda content: content | {"analyser": {"words": 1}}, "is damaged: an analyser must be"),
    ],
)
def test_a_wrong_manifest_is_one_sentence(index, change, message):
    path = index.path / "index.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(rw.InputError, match=message):
        Index.open(index.path)


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
    with pytest.raises(rw.InputError, match="has format 7, this version of rankwright reads format 1"):
        Index.open(index.path)


PLACES = ("posting_places", "position_places", "block_places", "impact_places")


@pytest.mark.parametrize("name", [*PLACES, "documents", "position_ends", "block_ends"])
def test_damaged_postings_never_read_out_of_bounds(index, name):
    path = segment_file(index)
    entry = ArrayFile(path)._entries[f"0.{name}"]
    content = bytearray(path.read_bytes())
    size = int(np.prod(entry.shape)) * np.dtype(entry.dtype).itemsize
    content[entry.place : entry.place + size] = b"\xfe" * size
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        Index.open(index.path).search("ship sea bay")


def test_fields_come_from_the_first_documents(tmp_path):
    mixed = [*(Text(f"a{i}", {"body": "x"}) for i in range(99)), Text("b", {"title": "y"})]
    assert Index.build(mixed, tmp_path / "i").fields == ("body", "title")
    with pytest.raises(
        rw.InputError, match="Document 'b' has a field 'title' that the first 100 documents do not have"
    ):
        Index.build([Text("a", {"body": "x"}), *mixed], tmp_path / "i")
    assert Index.build(mixed, tmp_path / "i", fields=["title", "body"]).search("y").ids == ["b"]
    with pytest.raises(rw.InputError, match="There are no documents to index"):
        Index.build([], tmp_path / "i")


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


def test_a_function_must_be_given_again(tmp_path):
    Index.build(texts(["A b"]), tmp_path / "i", analyser=str.split)
    with pytest.raises(rw.InputError, match="give it to Index"):
        Index.open(tmp_path / "i").search("A")
    assert Index.open(tmp_path / "i", analyser=str.split).search("A").ids == ["d0"]


def test_wrong_input_is_one_sentence(index):
    with pytest.raises(rw.InputError, match="The index has no document 'unknown'"):
        index.remove(["d0", "unknown"])
    with pytest.raises(rw.InputError, match="The id of a document must be text, not 3"):
        index.add([Text(3, {"body": "a"})])
    with pytest.raises(rw.InputError, match="Field body of document 'x' must be text, not None"):
        index.add([Text("x", {"body": None})])
    assert len(index) == 3
