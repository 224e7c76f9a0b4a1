"""LambdaMART on a Dask cluster of this machine, beside the Dask rankers of LightGBM and XGBoost on the same one.

`python -m benchmarks.dask_rankers` needs distributed, lightgbm and xgboost. Each library gets the documents in the
form that it takes: ours a binned file, which is made first and timed, the others arrays whose partitions end where
queries end. It prints seconds, and NDCG@10 of other queries.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTS_PER_QUERY = 100
LEAVES = 31


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=3_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    import distributed

    train, test = (_documents(options.queries, options.features, seed) for seed in (1, 2))
    cluster = distributed.LocalCluster(options.workers, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster, direct_to_workers=True) as client:
        taken = {}
        for name, fit in {"rankwright": _ours, "LightGBM": _lightgbm, "XGBoost": _xgboost}.items():
            started = time.perf_counter()
            predict = fit(client, train, options.rounds, options.workers)
            taken[name] = time.perf_counter() - started
            value = rw.metrics.parse("ndcg@10")(test.y, predict(test.X), test.qid)
            ratio = taken[name] / taken["rankwright"]
            print(f"{name:<12} {taken[name]:.1f} s, {ratio:.1f} times ours, NDCG@10 {value:.4f}", flush=True)


def _documents(n_queries: int, n_features: int, seed: int) -> rw.RankingData:
    weights = np.random.default_rng(0).normal(size=n_features) / np.sqrt(n_features)
    random = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), DOCUMENTS_PER_QUERY)
    X = random.normal(size=(len(qid), n_features)).astype(np.float32)
    truth = X @ weights + X[:, 0] * X[:, 1] + random.normal(size=len(qid))
    return rw.RankingData(X, np.digitize(truth, np.quantile(truth, [0.5, 0.75, 0.9, 0.97])), qid)


def _ours(client: Any, train: rw.RankingData, rounds: int, workers: int) -> Callable[[Any], Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        columns = {f"f{number}": column for number, column in enumerate(train.X.T)}
        table = pa.table({"qid": train.qid, "label": train.y, **columns})
        pq.write_table(table, Path(folder) / "train.parquet", use_dictionary=False)  # of distinct values
        binned = rw.BinnedData.create(folder, Path(folder) / "train.binned")
        engine = rw.distributed.Dask(client, workers=workers)
        setting: dict[str, Any] = {"learning_rate": 0.1, "subsample": 1.0, "feature_fraction": 1.0, "n_jobs": 1}
        ranker = rw.LambdaMART(rounds=rounds, max_leaves=LEAVES, **setting)
        model = ranker.fit(binned, cluster=engine).model_.described(feature_names=None)
    return model.predict


def _partitions(train: rw.RankingData, workers: int) -> tuple[Any, Any, Any, Any]:
    """Return features, labels, sizes of queries and query ids, in one partition per worker."""
    from dask import array

    n_queries = len(train.groups)
    rows = [len(part) * DOCUMENTS_PER_QUERY for part in np.array_split(np.arange(n_queries), workers)]
    queries = [n // DOCUMENTS_PER_QUERY for n in rows]
    sizes = np.full(n_queries, DOCUMENTS_PER_QUERY)
    return (
        array.from_array(train.X, chunks=(tuple(rows), -1)),
        array.from_array(train.y, chunks=(tuple(rows),)),
        array.from_array(sizes, chunks=(tuple(queries),)),
        array.from_array(train.qid, chunks=(tuple(rows),)),
    )


def _lightgbm(client: Any, train: rw.RankingData, rounds: int, workers: int) -> Callable[[Any], Any]:
    import lightgbm

    X, y, sizes, _ = _partitions(train, workers)
    options: dict[str, Any] = {"n_estimators": rounds, "num_leaves": LEAVES, "verbosity": -1, "client": client}
    return lightgbm.DaskLGBMRanker(**options).fit(X, y, group=sizes).to_local().predict


def _xgboost(client: Any, train: rw.RankingData, rounds: int, workers: int) -> Callable[[Any], Any]:
    import xgboost
    from xgboost import dask as xgboost_dask

    X, y, _, qid = _partitions(train, workers)
    options = {
        "objective": "rank:ndcg",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": LEAVES,
        "max_depth": 0,
        "learning_rate": 0.1,
    }
    data = xgboost_dask.DaskQuantileDMatrix(client, X, y, qid=qid)
    booster = xgboost_dask.train(client, options, data, num_boost_round=rounds)["booster"]
    return lambda documents: booster.predict(xgboost.DMatrix(documents))


if __name__ == "__main__":
    main()
