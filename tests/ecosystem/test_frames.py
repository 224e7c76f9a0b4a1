"""Data frames of six libraries: the same model bytes and the same scores, and tables of the same kind back."""

import daft
import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankwright as rw
from rankwright.models.model_file import encode

ROLES = {"label": "grade", "qid": "query", "docid": "product"}


@pytest.fixture(scope="module")
def table():
    """Return a table with missing values, integers, doubles and singles."""
    random = np.random.default_rng(0)
    n_rows = 3000
    values = random.normal(size=(n_rows, 5)).astype(np.float32)
    grade = np.clip(np.rint(values[:, 0] + values[:, 1] ** 2), 0, 4).astype(np.int32)
    columns = {f"single {number}": pa.array(values[:, number]) for number in range(4)}
    columns["with gaps"] = pa.array(values[:, 4], mask=random.random(n_rows) < 0.1)
    columns["double"] = pa.array(random.normal(size=n_rows))
    columns["count"] = pa.array(random.integers(0, 9, n_rows))
    query = pa.array([f"query {row // 20}" for row in range(n_rows)])
    product = pa.array([f"P{row}" for row in range(n_rows)])
    return pa.table({"query": query, "product": product, "grade": pa.array(grade), **columns})


FRAMES = {
    "pyarrow": (lambda table: table, pa.Table, lambda frame: frame),
    "pandas": (lambda table: table.to_pandas(), pd.DataFrame, pa.Table.from_pandas),
    "polars": (pl.from_arrow, pl.DataFrame, lambda frame: frame.to_arrow()),
    "duckdb": (duckdb.from_arrow, duckdb.DuckDBPyRelation, lambda frame: pa.table(frame)),
    "daft": (daft.from_arrow, daft.DataFrame, lambda frame: frame.to_arrow()),
    "ibis": (ibis.memtable, ibis.Table, lambda frame: frame.to_pyarrow()),
}


@pytest.fixture(scope="module")
def first(table):
    documents = rw.from_arrow(table, **ROLES)
    ranker = rw.LambdaMART("ndcg@10", rounds=30).fit(documents)
    return encode(ranker.model_), ranker.predict(documents)


@pytest.mark.parametrize("library", FRAMES)
def test_every_library_gives_the_same_model_and_scores_and_gets_its_own_kind_back(table, first, library):
    to_frame, kind, to_arrow = FRAMES[library]
    documents = rw.from_arrow(to_frame(table), **ROLES)
    ranker = rw.LambdaMART("ndcg@10", rounds=30).fit(documents)
    assert encode(ranker.model_) == first[0]
    np.testing.assert_array_equal(ranker.predict(documents), first[1])
    scored = rw.scores_frame(ranker, documents)
    assert isinstance(scored, kind)
    columns = to_arrow(scored)
    assert columns["score"].to_pylist() == first[1].tolist()
    assert columns["docid"].to_pylist() == table["product"].to_pylist()
