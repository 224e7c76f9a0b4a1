"""Data sets of ir_datasets by name: with the package where it is installed, otherwise with its interface."""

import sys
from types import SimpleNamespace
from typing import NamedTuple

import pytest

import rankwright as rw
from rankwright import read_judgements
from rankwright.text import read_documents, read_queries


class Doc(NamedTuple):
    doc_id: str
    title: str
    text: str
    pages: int


class Query(NamedTuple):
    query_id: str
    text: str


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class Dataset:
    """What ir_datasets documents of its data sets, as far as we use it."""

    def docs_iter(self):
        return iter([Doc("d1", "One", "first", 3), Doc("d2", "Two", "second", 4)])

    def queries_iter(self):
        return iter([Query("q1", "what is\n first")])

    def qrels_iter(self):
        return iter([Qrel("q1", "d1", 2, "0"), Qrel("q1", "d2", -1, "0")])

    def has_docs(self):
        return True

    has_queries = has_qrels = has_docs


class OnlyDocuments(Dataset):
    def has_queries(self):
        return False

    has_qrels = has_queries


@pytest.fixture
def _registered(monkeypatch):
    registry = {"tiny": Dataset(), "tiny/docs": OnlyDocuments()}
    module = SimpleNamespace(load=registry.__getitem__, registry=registry)
    monkeypatch.setitem(sys.modules, "ir_datasets", module)


@pytest.mark.usefixtures("_registered")
def test_a_data_set_by_name():
    documents = read_documents("irds:tiny")
    assert [(one.id, dict(one.fields)) for one in documents] == [
        ("d1", {"title": "One", "text": "first"}),
        ("d2", {"title": "Two", "text": "second"}),
    ]
    assert [dict(one.fields) for one in read_documents("irds:tiny", fields={"body": "text"})] == [
        {"body": "first"},
        {"body": "second"},
    ]
    assert dict(read_queries("irds:tiny")) == {"q1": "what is first"}
    assert read_judgements("irds:tiny").labels.tolist() == [2, -1]
    assert read_judgements("irds:tiny", grades={2: 1, -1: 0}).labels.tolist() == [1, 0]


@pytest.mark.usefixtures("_registered")
def test_what_a_data_set_does_not_have():
    with pytest.raises(rw.InputError, match=r"no data set 'tyny'. Did you mean irds:tiny\?"):
        read_documents("irds:tyny")
    with pytest.raises(rw.InputError, match="irds:tiny/docs has no queries"):
        read_queries("irds:tiny/docs")
    with pytest.raises(rw.InputError, match="irds:tiny/docs has no qrels"):
        read_judgements("irds:tiny/docs")
    with pytest.raises(rw.InputError, match="no field 'abstract'"):
        list(read_documents("irds:tiny", fields=["abstract"]))


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(rw.MissingPackageError, match="irds:cranfield needs ir_datasets: pip install ir_datasets"):
        read_documents("irds:cranfield")


def test_with_the_package(tmp_path):
    ir_datasets = pytest.importorskip("ir_datasets")
    (tmp_path / "docs.tsv").write_text("d1\tfirst\nd2\tsecond\n")
    (tmp_path / "queries.tsv").write_text("q1\twhat is first\n")
    (tmp_path / "qrels").write_text("q1 0 d1 2\n")
    made = ir_datasets.create_dataset(
        docs_tsv=str(tmp_path / "docs.tsv"),
        queries_tsv=str(tmp_path / "queries.tsv"),
        qrels_trec=str(tmp_path / "qrels"),
    )
    ir_datasets.registry.register("rankwright-test", made)
    assert [one.fields["text"] for one in read_documents("irds:rankwright-test")] == ["first", "second"]
    assert dict(read_queries("irds:rankwright-test")) == {"q1": "what is first"}
    assert read_judgements("irds:rankwright-test").labels.tolist() == [2]
