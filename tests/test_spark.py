"""Spark's local mode: scores are those of `predict`."""

import os
import sys

import numpy as np
import pandas as pd
import pytest

import rankwright as rw

pytestmark = pytest.mark.clusters


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ["PYSPARK_PYTHON"] = sys.executable  # which has rankwright
        session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        yield session
        session.stop()


@pytest.fixture
def table():
    random = np.random.default_rng(3)
    data = rw.synthetic.polynomial_queries(50, n_documents=20, n_features=6, n_active=4, seed=2)
    frame = pd.DataFrame(data.X.astype(np.float64), columns=list("abcdef")).assign(label=data.y, qid=data.qid)
    frame["brand"] = random.choice(["north", "south", "east", None], len(frame))
    frame["row"] = np.arange(len(frame))
    frame.loc[::7, "b"] = np.nan
    return frame


@pytest.mark.parametrize("within", [[], ["zscore"]])
@pytest.mark.filterwarnings("ignore")
def test_scores_are_those_of_predict(spark, table, within):
    train = rw.from_pandas(table.drop(columns="row"), categorical=["brand"])
    ranker = rw.LambdaMART(rounds=8, query_features=within).fit(train)
    frame = spark.createDataFrame(table).repartition(5)
    scored = rw.spark.score(frame, ranker, qid="qid" if within else None).toPandas().sort_values("row")
    assert scored["score"].to_numpy().tobytes() == ranker.predict(train).tobytes()
    assert list(scored.columns) == [*table.columns, "score"]


@pytest.mark.filterwarnings("ignore")
def test_training_from_what_spark_wrote(spark, table, tmp_path):
    frame = spark.createDataFrame(table.drop(columns=["row", "brand"]))
    frame.repartition(4).write.parquet(str(tmp_path / "train"))
    binned = rw.BinnedData.create(tmp_path / "train", tmp_path / "train.binned")
    judged = rw.from_pandas(table.drop(columns=["row", "brand"]))
    ours = rw.LambdaMART(rounds=5).fit(binned).predict(judged)
    assert ours.tobytes() == rw.LambdaMART(rounds=5).fit(judged).predict(judged).tobytes()


@pytest.mark.filterwarnings("ignore")
def test_bad_input_is_one_sentence(spark, table):
    model = rw.LambdaMART(rounds=2).fit(rw.from_pandas(table[["a", "b", "label", "qid"]])).model_
    frame = spark.createDataFrame(table)
    with pytest.raises(rw.InputError, match="has no column 'b'"):
        rw.spark.score(frame.drop("b"), model)
    with pytest.raises(rw.InputError, match="has a column 'row' already"):
        rw.spark.score(frame, model, column="row")
    within = rw.LambdaMART(rounds=2, query_features=["rank"]).fit(
        rw.from_pandas(table[["a", "b", "label", "qid"]])
    )
    with pytest.raises(rw.InputError, match="name the column of query ids"):
        rw.spark.score(frame, within)
