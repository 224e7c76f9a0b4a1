"""`rankwright index`: new indexes, changes, counts, and bad input."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from rankwright.text import Analyser, Encoder, Index

DOCUMENTS = [
    {"id": "d1", "title": "Lift of wings", "body": "Wings lift ships."},
    {"id": "d2", "title": "Heat", "body": "Slabs conduct heat."},
    {"id": "d3", "title": "", "body": " "},
]


def write(path, documents):
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    return path


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "docs.jsonl", DOCUMENTS)


@pytest.fixture
def made(tmp_path, files, run):
    assert run("index", files, "--out", tmp_path / "index").code == 0
    return tmp_path / "index"


def test_a_new_index_with_weights(run, tmp_path, files):
    found = run("index", files, "--fields", "title=2.5,body", "--out", tmp_path / "i", "--json").json
    assert found["documents"] == found["documents_read"] == 3
    assert found["empty_documents"] == 1
    assert found["segments"] == 1
    assert found["fields"] == [
        {"name": "title", "weight": 2.5, "terms": 3, "distinct": 3},
        {"name": "body", "weight": 1.0, "terms": 6, "distinct": 6},
    ]
    assert found["bytes"] == sum(path.stat().st_size for path in (tmp_path / "i").iterdir())
    index = Index.open(tmp_path / "i")
    assert index.weights == {"title": 2.5, "body": 1.0}
    assert index.search("wing").ids == ["d1"]


def test_what_is_printed(run, tmp_path, files):
    code, out, err = run("index", files, "--out", tmp_path / "i")
    assert code == 0
    assert "documents        3\n" in out
    assert "empty documents  1\n" in out
    assert err == f'next: rankwright search "words" --index {tmp_path / "i"}\n'


def test_fields_under_other_names(run, tmp_path):
    (tmp_path / "old.all").write_text(".I 1\n.T\nLift\n.A\nting\n.W\nWings\n")
    options = ("--rename", "T=title,W=body", "--out", tmp_path / "i")
    assert run("index", tmp_path / "old.all", *options).code == 0
    assert Index.open(tmp_path / "i").text("1") == {"title": "Lift", "body": "Wings"}
    assert run("index", tmp_path / "old.all", "--fields", "body,A", "--rename", "W=body", *options[2:]).code == 0
    assert Index.open(tmp_path / "i").fields == ("body", "A")


@pytest.mark.parametrize(
    ("options", "analyser"),
    [
        ([], Analyser()),
        (["--language", "none"], Analyser(stop_words=None, stemmer=None)),
        (["--language", "german"], Analyser(stop_words=None, stemmer="german")),
        (["--stemmer", "none"], Analyser(stemmer=None)),
        (["--stop-words", "none", "--stemmer", "porter"], Analyser(stop_words=None, stemmer="porter")),
    ],
)
def test_words(run, tmp_path, files, options, analyser):
    assert run("index", files, *options, "--out", tmp_path / "i").code == 0
    assert Index.open(tmp_path / "i").analyser == analyser


def test_stop_words_of_a_file(run, tmp_path, files):
    (tmp_path / "stop.txt").write_text("wings\n\nheat \n")
    assert run("index", files, "--stop-words", tmp_path / "stop.txt", "--out", tmp_path / "i").code == 0
    index = Index.open(tmp_path / "i")
    assert index.analyser == Analyser(stop_words=["wings", "heat"])
    assert not len(index.search("heat wings"))


def test_documents_are_added_removed_and_merged(run, tmp_path, made):
    more = write(tmp_path / "more.jsonl", [{"id": "d4", "title": "Ships", "body": "at sea", "year": 3}])
    found = run("index", more, "--add", "--remove", "d1", "--out", made, "--json").json
    assert (found["documents"], found["removed"], found["segments"]) == (3, 1, 2)
    assert {one["name"]: one["distinct"] for one in found["fields"]} == {"title": 4, "body": 7}
    assert Index.open(made).search("ship").ids == ["d4"]
    listed = tmp_path / "gone.txt"
    listed.write_text("d2\n\nd3\n")
    found = run("index", "--merge", "--remove-listed", listed, "--out", made, "--json").json
    assert (found["documents"], found["removed"], found["segments"]) == (1, 2, 1)
    assert {one["name"]: one["distinct"] for one in found["fields"]} == {"title": 1, "body": 1}


def test_a_changed_index_is_replaced_by_force_only(run, refuse, tmp_path, made, files):
    assert run("index", files, "--out", made).code == 0
    more = write(tmp_path / "more.jsonl", [{"id": "d4", "body": "at sea"}])
    assert run("index", more, "--add", "--merge", "--out", made).code == 0
    assert refuse("index", files, "--out", made) == (
        f"{made} was changed since it was built: --add adds documents to it, --force replaces it."
    )
    assert len(Index.open(made)) == 4
    assert run("index", files, "--force", "--out", made).code == 0
    assert len(Index.open(made)) == 3
    assert run("index", "--remove", "d1", "--out", made).code == 0
    assert "--force" in refuse("index", files, "--out", made)


def test_verifying(run, refuse, made):
    code, out, err = run("index", "--verify", "--out", made)
    assert (code, err.splitlines()[0]) == (0, "verified all files of the index")
    assert "documents    3\n" in out
    segment = next(made.glob("*.segment"))
    segment.write_bytes(segment.read_bytes().replace(b"Slabs", b"Slobs"))
    assert f"{segment} is damaged: its array text.bytes" in refuse("index", "--verify", "--out", made)
    assert "is damaged" in refuse("index", "--verify", "--remove", "d2", "--out", made)
    assert Index.open(made).search("heat").ids == ["d2"]


def test_added_documents_may_have_other_fields(run, tmp_path, made):
    more = write(tmp_path / "more.jsonl", [{"id": "d4", "body": "at sea"}, {"id": "d5", "note": "a"}])
    found = run("index", more, "--add", "--out", made, "--json").json
    assert (found["documents"], found["empty_documents"]) == (5, 1)
    assert Index.open(made).text("d4") == {"title": "", "body": "at sea"}


def test_duplicates_are_refused_or_counted(run, refuse, tmp_path, made, files):
    twice = write(tmp_path / "twice.jsonl", [*DOCUMENTS, DOCUMENTS[0]])
    assert refuse("index", twice, "--out", made) == "Two documents have the id 'd1': ids must differ."
    assert refuse("index", files, "--add", "--out", made).startswith("The index already has a document 'd1'")
    found = run("index", twice, "--skip-duplicates", "--out", tmp_path / "i", "--json").json
    assert (found["documents"], found["documents_read"], found["duplicates_skipped"]) == (3, 4, 1)
    found = run("index", files, "--add", "--skip-duplicates", "--out", made, "--json").json
    assert (found["documents"], found["duplicates_skipped"]) == (3, 3)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--add"], "--add needs documents"),
        ([], "Name the files of the documents, or a change"),
        (["DOCS", "--merge"], "Documents are added to an index with --add"),
        (["DOCS", "--add", "--stemmer", "none"], "--stemmer is for a new index"),
        (["DOCS", "--add", "--fields", "title"], "--fields is for a new index"),
        (["--remove", "d9"], "The index has no document 'd9'"),
        (["DOCS", "--fields", "title=two"], "--fields takes names with weights"),
        (["DOCS", "--rename", "title"], "--rename takes OLD=NEW"),
        (["DOCS", "--fields", "body", "--rename", "title=T"], "--rename gives 'T'"),
        (["DOCS", "--fields", "abstract"], "no field 'abstract'"),
        (["DOCS", "--language", "klingon"], "There is no stemmer 'klingon'"),
        (["DOCS", "--format", "xml"], "format must be"),
        (["missing.jsonl"], "There is no file missing.jsonl."),
    ],
)
def test_mistakes_are_one_sentence(refuse, made, files, words, sentence):
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    assert sentence in refuse("index", *(files if word == "DOCS" else word for word in words), "--out", made)
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before


def test_an_index_is_not_inside_its_documents(refuse, tmp_path):
    (tmp_path / "a.txt").write_text("text")
    assert "would be inside the folder of documents" in refuse("index", tmp_path, "--out", tmp_path / "i")


def test_broken_lines_and_bytes_are_refused_with_their_place(refuse, tmp_path, made):
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": "d1", "body": "fine"}\n{"id": "d2", "body": \n')
    assert f"{broken}, line 2: broken JSON at column 22" in refuse("index", broken, "--out", made)
    broken.write_bytes(b'{"id": "d1", "body": "fine"}\n{"id": "d2", "body": "\xff"}\n')
    assert f"{broken}, line 2: byte 0xFF" in refuse("index", broken, "--out", made)
    assert len(Index.open(made)) == 3


def test_a_word_of_a_megabyte(run, tmp_path):
    long = write(tmp_path / "long.jsonl", [{"id": "d1", "body": "x" * (1 << 20) + " short"}])
    assert run("index", long, "--out", tmp_path / "i", "--json").json["fields"][0]["terms"] == 1
    assert Index.open(tmp_path / "i").search("short").ids == ["d1"]


def test_a_full_disk_leaves_the_old_index(refuse, tmp_path, made, files, monkeypatch):
    before = {path.name: path.read_bytes() for path in made.iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    more = write(tmp_path / "more.jsonl", [{"id": "d9", "body": "x"}])
    for words in ((files,), (more, "--add"), ("--remove", "d1")):
        assert "cannot be written: No space left on device." in refuse("index", *words, "--out", made)
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before
    assert len(Index.open(made)) == 3


def test_other_folders_and_versions(refuse, run, tmp_path, made, files):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    assert "holds other files" in refuse("index", files, "--out", tmp_path / "other")
    manifest = made / "index.json"
    manifest.write_text(manifest.read_text().replace('"version": 4', '"version": 9'))
    assert "has format 9" in refuse("index", files, "--add", "--out", made)
    assert run("index", files, "--out", made).code == 0  # a new one in its place


def test_a_graph_is_built_measured_and_dropped(run, refuse, made):
    if find_spec("usearch") is None:
        pytest.skip("graphs of neighbours need usearch: pip install 'rankwright[graph]'")
    assert "The index has no vectors: encode its documents first" in refuse("index", "--out", made, "--graph")
    index = Index.open(made)
    index.encode(Encoder(lambda texts: [[len(text), text.count("i")] for text in texts], "lengths"))
    result = run("index", "--out", made, "--graph", "--json")
    assert result.json["graphs"][0] | {"milliseconds": 0, "exact_milliseconds": 0} == {
        "encoder": "lengths",
        "n": 100,
        "n_queries": 2,
        "recall": 1.0,
        "milliseconds": 0,
        "exact_milliseconds": 0,
    }
    assert "The graph of lengths finds 100 % of the 100 nearest documents of 2 queries" in result.err
    assert Index.open(made).snapshot.segments[0].vectors["lengths"].has_graph
    assert run("index", "--out", made, "--no-graph").code == 0
    assert not Index.open(made).snapshot.segments[0].vectors["lengths"].has_graph
