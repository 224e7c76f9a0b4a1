"""Hostile collections: an index that has every document as it was read, or one sentence."""

import csv
import io
import json
import tempfile
from functools import partial
from html import escape
from pathlib import Path

from fuzz.campaign import ACCEPTED, REFUSED
from fuzz.damage import damaged
from fuzz.data import one_word_changed
from rankwright.base.errors import InputError
from rankwright.text import Analyser, Index, read_documents

WORDS = (
    "ship", "Ships", "sea", "état", "e\u0301tat", "漢字", "ﬁn", "İ", "ß", "ك", "\u202eabc", "a\u200bb", "😀",
    "x" * 300, "1e400", "-0", "NaN", "</DOC>", "<DOCNO>", ".I 7", "&amp;", "&#0;", "=cmd", "'\"", "\\u0000",
    "\x00", "\x1b[31m", "\ufeff", "\u2028", "\r", "\n", "\t", "__proto__", "../x", "%s", "{0}",
)  # fmt: skip
ANALYSERS = (Analyser(), Analyser(stop_words=None, stemmer=None), str.split)


def prepared():
    folder = Path(tempfile.mkdtemp(prefix="fuzz-collections-"))
    Index.build(read_documents(_written(folder, "jsonl", [{"id": "d", "body": "ship"}])), folder / "index")
    return partial(_case, folder)


def _case(folder, rng):
    names = ["title", "body", "n"][: rng.integers(1, 4)]
    documents = [
        {"id": _word(rng) if rng.random() < 0.1 else f"d{number}", **{name: _text(rng) for name in names}}
        for number in range(rng.integers(0, 12))
    ]
    path = _written(folder, ("jsonl", "csv", "tsv", "trec", "smart")[rng.integers(5)], documents)
    if rng.random() < 0.6:
        path.write_bytes((damaged if rng.random() < 0.5 else one_word_changed)(path.read_bytes(), rng))
    analyser = ANALYSERS[rng.integers(len(ANALYSERS))]
    try:
        index = Index.build(
            read_documents(path), folder / "index", analyser=analyser, memory=int(rng.choice([1, 1 << 20]))
        )
        index = Index.open(folder / "index", analyser=analyser)
        index.verify()
    except InputError as error:
        sentence = str(error)
        return (
            f"a long or broken sentence: {sentence[:300]!r}"
            if len(sentence) > 800 or "\n" in sentence
            else REFUSED
        )
    return _compared(index, [*read_documents(path)])


def _compared(index, documents):
    """Return what is wrong with an index of some documents."""
    if len(index) != len(documents):
        return f"{len(index)} documents of {len(documents)}"
    for document in documents:
        expected = {
            name: document.fields.get(name, "").encode("utf-8", "replace").decode() for name in index.fields
        }
        if index.text(document.id) != expected:
            return f"document {document.id!r} has the text {index.text(document.id)!r}, not {expected!r}"
        results = index.search(" ".join(expected.values()), n=len(documents))
        has_terms = any(index.search(text, n=1).ids for text in expected.values())
        if has_terms and document.id not in results.ids:
            return f"document {document.id!r} is not found by its own text"
    return ACCEPTED


def _word(rng):
    return WORDS[rng.integers(len(WORDS))]


def _text(rng):
    return " ".join(_word(rng) for _ in range(rng.integers(0, 15)))


def _written(folder, kind, documents):
    path = folder / f"docs.{kind}"
    path.write_bytes(FORMATS[kind](documents).encode("utf-8", "replace"))
    return path


def _jsonl(documents):
    return "".join(json.dumps(document, ensure_ascii=len(document) % 2 == 0) + "\n" for document in documents)


def _table(documents, delimiter=","):
    text = io.StringIO()
    writer = csv.DictWriter(text, [*documents[0]] if documents else ["id"], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(documents)
    return text.getvalue()


def _trec(documents):
    fields = [{"DOCNO": document["id"], **document} for document in documents]
    blocks = ["".join(f"<{name}>{escape(text)}</{name}>\n" for name, text in each.items()) for each in fields]
    return "".join(f"<DOC>\n{block}</DOC>\n" for block in blocks)


def _smart(documents):
    blocks = ["".join(f".{name[0].upper()}\n{text}\n" for name, text in [*each.items()][1:]) for each in documents]
    return "".join(f".I {number}\n{block}" for number, block in enumerate(blocks, 1))


FORMATS = {"jsonl": _jsonl, "csv": _table, "tsv": partial(_table, delimiter="\t"), "trec": _trec, "smart": _smart}
