"""Columns of ids are no features, numbers that mean something are, and nothing happens in silence."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankwright.data.id_columns import looks_like_id
from rankwright.data.readers.csv import read_csv
from rankwright.data.readers.frames import from_arrow, from_pandas, from_polars
from rankwright.data.readers.parquet import read_parquet
from rankwright.data.tables import ColumnsWarning


def as_csv(frame, folder, **options):
    frame.to_csv(folder / "table.csv", index=False)
    return read_csv(folder / "table.csv", **options)


def as_parquet(frame, folder, **options):
    pq.write_table(pa.Table.from_pandas(frame), folder / "table.parquet")
    return read_parquet(folder / "table.parquet", **options)


@pytest.fixture(
    params=[
        as_csv,
        as_parquet,
        lambda frame, _, **options: from_pandas(frame, **options),
        lambda frame, _, **options: from_polars(pl.from_pandas(frame), **options),
        lambda frame, _, **options: from_arrow(pa.Table.from_pandas(frame), **options),
    ],
    ids=["csv", "parquet", "pandas", "polars", "arrow"],
)
def read(request, tmp_path):
    return lambda frame, **options: request.param(frame, tmp_path, **options)


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "ID",
        "doc_id",
        "doc-id",
        "doc.id",
        "docid",
        "docId",
        "DocID",
        "user_ids",
        "",
        "Unnamed: 0",
        "sku",
        "SKU",
        "parent_asin",
        "productSku",
        "ean",
        "EAN13",
        "gtin",
        "gtin14",
        "item_uuid",
        "upc",
        "isbn",
    ],
)
def test_names_of_ids(name):
    assert looks_like_id(name)


@pytest.mark.parametrize(
    "name",
    [
        "bid",
        "paid",
        "valid",
        "grid",
        "humidity",
        "idf",
        "id_score",
        "centroid",
        "age",
        "ocean",
        "sku_count",
        "basin",
        "asin_rank",
        "mean",
        "clean",
    ],
)
def test_names_of_features(name):
    assert not looks_like_id(name)


def numbered(n_rows, **columns):
    rng = np.random.default_rng(0)
    base = {"qid": np.arange(n_rows) // 5, "label": rng.integers(0, 3, n_rows), "x": rng.normal(size=n_rows)}
    return pd.DataFrame(base | columns)


def test_columns_that_number_the_rows_are_ids():
    rng = np.random.default_rng(1)
    frame = numbered(40, index=np.arange(40), serial=rng.permutation(40) + 1000, count=rng.integers(0, 40, 40))
    with pytest.warns(ColumnsWarning, match=r"index \(looks like an id\), serial \(looks like an id\)"):
        data = from_pandas(frame)
    assert data.feature_names == ("x", "count")
    np.testing.assert_array_equal(data.X, frame[["x", "count"]].to_numpy(np.float32))
    assert data.columns.features == ("x", "count")
    assert from_pandas(frame, features=["serial"]).feature_names == ("serial",)


def test_few_rows_and_other_integers_are_features():
    assert from_pandas(numbered(19, rank=np.arange(19))).feature_names == ("x", "rank")
    gap = np.arange(40).astype(float)
    gap[3] = np.nan
    frame = numbered(40, halves=np.arange(40) / 2, gap=gap, even=np.arange(0, 80, 2))
    assert from_pandas(frame).feature_names == ("x", "halves", "gap", "even")


def shop(n_rows=6000, **columns):
    """Return a table of 20 documents per query."""
    return numbered(n_rows, **columns).assign(qid=np.arange(n_rows) // 20)


@pytest.mark.parametrize("largest", [10**8, 10**13, 2**53, 2**63 - 1])
def test_integers_that_floats_cannot_tell_apart_are_left_out(read, largest):
    frame = shop(number=largest - np.arange(6000) % 3000)
    with pytest.warns(ColumnsWarning, match=r"number \([0-9,]+ integers become [0-9,]+ as 32-bit floats\)\. Name"):
        data = read(frame)
    assert data.feature_names == ("x",)
    assert data.X.shape == (6000, 1)


def test_integers_that_lose_digits_although_they_were_asked_for_are_named(read):
    frame = shop(stock=100_000_000 + np.arange(6000) % 3000)
    with pytest.warns(
        ColumnsWarning, match=r"^Features that lose digits: stock \(3,000 integers become 376 as 32"
    ):
        data = read(frame, features=["x", "stock"])
    assert data.feature_names == ("x", "stock")
    np.testing.assert_array_equal(data.X, frame[["x", "stock"]].to_numpy(np.float32))
    assert str(data.columns).endswith("; rounded: stock (3,000 integers become 376 as 32-bit floats)")


def test_integers_that_hardly_ever_repeat_are_ids(read):
    numbers = np.random.default_rng(3).choice(10_000_000, 6000, replace=False)
    numbers[::1000] = numbers[1]  # a document of several queries
    with pytest.warns(ColumnsWarning, match=r"not used: number \(integers that hardly ever repeat, as ids\)\."):
        assert read(shop(number=numbers)).feature_names == ("x",)


def test_integers_that_differ_for_every_document_are_ids_though_documents_come_again(read):
    rng = np.random.default_rng(4)
    product = np.concatenate([rng.permutation(3000), rng.permutation(3000)])
    frame = shop(docid=[f"p{number}" for number in product], number=rng.permutation(10_000_000)[product])
    with pytest.warns(ColumnsWarning, match=r"not used: number \(integers that hardly ever repeat"):
        assert read(frame).feature_names == ("x",)


def test_numbers_that_mean_something_are_features(read):
    rng = np.random.default_rng(5)
    views = rng.lognormal(8, 3, 6000).astype(int)
    assert views.max() > 2**24
    frame = shop(
        cents=rng.integers(1, 1_000_000, 6000),
        prices=rng.lognormal(8, 1, 6000).astype(int),
        views=views,
        seconds=rng.integers(1_500_000_000, 1_760_000_000, 6000),
        milliseconds=rng.integers(1_500_000_000_000, 1_760_000_000_000, 6000),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = read(frame)
    assert data.feature_names == ("x", "cents", "prices", "views", "seconds", "milliseconds")
    np.testing.assert_array_equal(data.X[:, 1:], frame[list(data.feature_names[1:])].to_numpy(np.float32))


def test_few_documents_prove_nothing(read):
    frame = shop(200, number=np.random.default_rng(6).choice(10_000_000, 200, replace=False))
    assert read(frame).feature_names == ("x", "number")
