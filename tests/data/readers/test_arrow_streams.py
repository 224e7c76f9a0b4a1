"""Streams of Arrow batches: the same documents as from a table, and the features in memory only once."""

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright.data.readers.arrow_streams import is_stream


class Stream:
    """What a relation of DuckDB offers, and nothing else."""

    def __init__(self, table, rows=7):
        self.reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=rows))

    def __arrow_c_stream__(self, requested_schema=None):
        return self.reader.__arrow_c_stream__(requested_schema)


def table_of(n_rows, seed=0):
    """Return a table with a column of every kind that features, labels and ids can have."""
    random = np.random.default_rng(seed)
    single = random.normal(size=n_rows).astype(np.float32)
    return pa.table(
        {
            "query": pa.array([f"q{row // 5}" for row in range(n_rows)]),
            "single": pa.array(single, mask=random.random(n_rows) < 0.2),
            "double": random.normal(size=n_rows),
            "small": pa.array(random.integers(0, 9, n_rows), pa.int8()),
            "flag": pa.array(random.random(n_rows) < 0.5),
            "grade": pa.array(random.integers(0, 3, n_rows).astype(np.float32)),
            "brand": pa.array(random.choice(["a", "b"], n_rows)).dictionary_encode(),
            "day": pa.array(random.integers(0, 20_000, n_rows), pa.int32()).cast(pa.date32()),
            "title": pa.array([f"title {row}" for row in range(n_rows)]),
        }
    )


def assert_same(documents, others):
    np.testing.assert_array_equal(documents.X, others.X)
    np.testing.assert_array_equal(documents.qid, others.qid)
    np.testing.assert_array_equal(documents.y, others.y)
    assert documents.feature_names == others.feature_names
    assert documents.columns.features == others.columns.features
    assert documents.columns.not_used == others.columns.not_used
    assert {name: [*texts] for name, texts in documents.shown.items()} == {
        name: [*texts] for name, texts in others.shown.items()
    }


@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 5))
def test_a_stream_gives_the_documents_of_the_table(n_rows, rows, seed):
    table = table_of(n_rows, seed)
    for roles in (
        {"categorical": ["brand"], "dates": ["day"], "show": ["title"]},
        {"features": ["double", "single"]},
        {"drop": ["brand", "day", "title"]},
    ):
        roles |= {"label": "grade", "qid": "query"}
        assert_same(rw.from_arrow(Stream(table, rows), **roles), rw.from_arrow(table, **roles))


def test_numbers_of_a_stream_are_not_copied_again():
    table = table_of(50).select(["query", "single", "double", "small", "grade"])
    documents = rw.from_arrow(Stream(table), label="grade", qid="query")
    assert documents.X.base is None or documents.X.base.shape == documents.X.shape
    assert documents.X.flags.c_contiguous
    assert not documents.X.flags.writeable


def test_ids_among_the_numbers_of_a_stream_are_left_out():
    rows = np.arange(4000)
    columns = {"query": rows // 10, "label": rows % 2, "bm25": rows % 7 / 8}
    table = pa.table(columns | {"number": rows.astype(np.float32), "large": rows + 10**12})
    with pytest.warns(UserWarning, match=r"number .* large") as warnings:
        documents = rw.from_arrow(Stream(table, 1000), qid="query")
    assert documents.feature_names == ("bm25",)
    with pytest.warns(UserWarning, match=r"number .* large") as others:
        assert_same(documents, rw.from_arrow(table, qid="query"))
    assert [str(each.message) for each in warnings] == [str(each.message) for each in others]


@pytest.mark.parametrize(
    ("change", "roles", "sentence"),
    [
        ({}, {"qid": "quer"}, "There is no column 'quer'; did you mean 'query'?"),
        (
            {"single": pa.array([np.inf], pa.float32())},
            {},
            "Column 'single' of row 0 is infinite or too large for a",
        ),
        ({"double": [1e300]}, {}, "Column 'double' of row 0 is infinite or too large for a 32-bit float."),
        ({"grade": pa.array([None], pa.float32())}, {}, "Row 0 has no value in column 'grade'."),
    ],
)
def test_mistakes_are_named(change, roles, sentence):
    table = pa.table({"query": ["a"], "single": [0.5], "double": [0.5], "grade": [1.0]} | change)
    with pytest.raises(rw.InputError) as error:
        rw.from_arrow(Stream(table), **{"label": "grade", "qid": "query"} | roles)
    assert sentence in str(error.value)


def test_an_empty_stream_is_refused():
    with pytest.raises(rw.InputError, match="no rows"):
        rw.from_arrow(Stream(table_of(5).slice(0, 0)), label="grade", qid="query", drop=["brand", "day", "title"])


def test_tables_in_memory_are_no_streams():
    table = pa.table({"a": [1]})
    assert not is_stream(table)
    assert not is_stream(table.to_pandas())
    assert is_stream(Stream(table))
    assert is_stream(table.to_reader())


MEASURED = r"""
import re
from pathlib import Path
import numpy as np, pyarrow as pa
import rankwright as rw

N_ROWS, N_COLUMNS, N_BATCHES = 800_000, 100, 200
features = [pa.field(f"f{number}", pa.float32()) for number in range(N_COLUMNS)]
schema = pa.schema([pa.field("qid", pa.int32()), pa.field("label", pa.int8()), *features])

def batches():
    random = np.random.default_rng(0)
    for number in range(N_BATCHES):
        rows = N_ROWS // N_BATCHES
        columns = [random.random(rows, dtype=np.float32) for _ in range(N_COLUMNS)]
        query = np.arange(number * rows, (number + 1) * rows, dtype=np.int32) // 20
        label = (random.random(rows) * 3).astype(np.int8)
        yield pa.record_batch([pa.array(column) for column in (query, label, *columns)], schema)

def kilobytes(name):
    return int(re.search(name + r":\s+(\d+) kB", Path("/proc/self/status").read_text())[1])

rw.from_arrow(pa.Table.from_batches([next(batches())]))  # all modules are imported
Path("/proc/self/clear_refs").write_text("5")  # the peak is forgotten
before = kilobytes("VmRSS")
documents = rw.from_arrow(pa.RecordBatchReader.from_batches(schema, batches()))
assert documents.X.shape == (N_ROWS, N_COLUMNS)
print(1024 * (kilobytes("VmHWM") - before) / (4 * N_ROWS * N_COLUMNS + 5 * N_ROWS))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the unit of the peak memory is that of Linux")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps what is freed")
def test_the_features_of_a_stream_are_in_memory_once():
    """The peak of the process, over what it was before, per byte of the table: at most 1.1."""
    process = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert 0.9 < float(process.stdout) <= 1.1
