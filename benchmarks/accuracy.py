"""Accuracy on small judged collections over five folds, compared with LightGBM, XGBoost and CatBoost.

`python -m benchmarks.accuracy --data OHSUMED MQ2008` takes folders with Fold1, Fold2, ... as LETOR has them.

Nothing is chosen on a test part. Systems without early stopping are trained on the training and the validation
part together. The other libraries run with their defaults and with settings for small data: 7 leaves or depth 4,
learning rate 0.05, sampling of columns (LightGBM and XGBoost also of rows), early stopping on the validation part.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankwright.data.dataset import RankingData
    from rankwright.rankers.ranker import Ranker

    Predict = Callable[[RankingData], NDArray[np.float64]]
    Fit = Callable[[RankingData, RankingData], Predict]

METRIC = "ndcg@10"
MEASURES = (("standard", METRIC), ("letor3", METRIC), ("letor4", "mean_ndcg"))
SMALL_ROUNDS, PATIENCE = 1000, 100


def main() -> None:
    """Print each system's means over folds, and its comparison with AutoRanker over all queries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--work", type=Path, help="folder that keeps the fits of AutoRanker, for benchmarks.auto")
    options = parser.parse_args()
    pooled: dict[str, list[NDArray[np.float64]]] = defaultdict(list)
    for folder in options.data:
        for name, values in _show(folder, options.work).items():
            pooled[name].append(values)
    if len(pooled[AUTO]) > 1:
        print("all collections, queries pooled")
        for name in SYSTEMS:
            _compare(name, np.concatenate(pooled[AUTO]), np.concatenate(pooled[name]))


def _show(folder: Path, work: Path | None) -> dict[str, NDArray[np.float64]]:
    """Fit and test all systems on one collection; return each system's values of all test queries."""
    means, values = defaultdict(list), defaultdict(list)
    seconds: dict[str, float] = defaultdict(float)
    for path in sorted(folder.glob("Fold*")):
        train, valid, test = rw.read_fold(path)
        scores = {}
        kept = None if work is None else work / folder.name / path.name
        for name, fit in (SYSTEMS | {AUTO: _ours(rw.AutoRanker(work=kept))}).items():
            started = time.perf_counter()
            scores[name] = fit(train, valid)(test)
            seconds[name] += time.perf_counter() - started
        for convention, metric in MEASURES:
            report = rw.evaluate(scores, test, metrics=[metric], convention=convention)
            for name in SYSTEMS:
                means[name, convention].append(report.mean(name, metric))
                if convention == "standard":
                    values[name].append(report.per_query(name, metric))
    print(
        f"{folder.name}: means over folds of {', '.join(f'{one} ({other})' for other, one in MEASURES)}; seconds"
    )
    joined = {name: np.concatenate(own) for name, own in values.items()}
    for name in sorted(SYSTEMS, key=lambda one: -np.mean(means[one, "standard"])):
        shown = "".join(f"{np.mean(means[name, convention]):8.4f}" for convention, _ in MEASURES)
        print(f"  {name:<34}{shown}{seconds[name]:8.0f}")
    for name in SYSTEMS:
        _compare(name, joined[AUTO], joined[name])
    return joined


def _compare(name: str, auto: NDArray[np.float64], other: NDArray[np.float64]) -> None:
    if name != AUTO:
        found = rw.compare_values(auto, other)
        print(f"  {AUTO} against {name:<34}{found.difference:+.4f}, p = {found.p_value:.4f}", flush=True)


def _ours(ranker: Ranker) -> Fit:
    """Fit a ranker on both parts for all its rounds."""

    def fit(train: RankingData, valid: RankingData) -> Predict:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ranker.unfitted().fit(both_parts(train, valid))
        return lambda test: model.predict(test)

    return fit


def both_parts(train: RankingData, valid: RankingData) -> RankingData:
    """Return the documents of both parts; the parts of a LETOR fold share no query."""
    return rw.RankingData(*(np.concatenate(pair) for pair in zip(train, valid, strict=True)))


def _sizes(data: RankingData) -> NDArray[np.int64]:
    """Return the number of documents of each query; in LETOR files the documents of a query are adjacent."""
    return data.groups.sizes


def _lightgbm(**options: Any) -> Fit:
    def fit(train: RankingData, valid: RankingData) -> Predict:
        import lightgbm

        learn, early = (train, valid) if options else (both_parts(train, valid), None)
        settings = {"objective": "lambdarank", "verbosity": -1, **options}
        data = lightgbm.Dataset(learn.X, learn.y, group=_sizes(learn))
        if early is None:
            model = lightgbm.train(settings, data)
        else:
            model = lightgbm.train(
                {**settings, "metric": "ndcg", "eval_at": [10]},
                data,
                SMALL_ROUNDS,
                valid_sets=[lightgbm.Dataset(early.X, early.y, group=_sizes(early), reference=data)],
                callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
            )
        return lambda test: np.asarray(model.predict(test.X), dtype=np.float64)

    return fit


def _xgboost(**options: Any) -> Fit:
    def fit(train: RankingData, valid: RankingData) -> Predict:
        import xgboost

        learn = train if options else both_parts(train, valid)
        stop = {"n_estimators": SMALL_ROUNDS, "early_stopping_rounds": PATIENCE, "eval_metric": METRIC}
        model = xgboost.XGBRanker(objective="rank:ndcg", **(stop | options if options else {}))
        watched = {"eval_set": [(valid.X, valid.y)], "eval_qid": [valid.groups.query_of_row], "verbose": False}
        model.fit(learn.X, learn.y, qid=learn.groups.query_of_row, **(watched if options else {}))
        return lambda test: np.asarray(model.predict(test.X), dtype=np.float64)

    return fit


def _catboost(**options: Any) -> Fit:
    def fit(train: RankingData, valid: RankingData) -> Predict:
        import catboost

        learn = train if options else both_parts(train, valid)
        stop = {
            "iterations": SMALL_ROUNDS,
            "early_stopping_rounds": PATIENCE,
            "eval_metric": "NDCG:top=10;type=Exp",
        }
        settings = {"loss_function": "YetiRank", "verbose": False, "allow_writing_files": False}
        model = catboost.CatBoostRanker(**settings, **(stop | options if options else {}))
        model.fit(_pool(learn), eval_set=_pool(valid) if options else None)
        return lambda test: np.asarray(model.predict(test.X), dtype=np.float64)

    def _pool(data: RankingData) -> Any:
        import catboost

        return catboost.Pool(data.X, data.y, group_id=data.groups.query_of_row)

    return fit


AUTO = "AutoRanker"
SYSTEMS: dict[str, Fit] = {
    AUTO: _ours(rw.AutoRanker()),
    "LambdaMART": _ours(rw.LambdaMART()),
    "LambdaMART, columns": _ours(rw.LambdaMART(rounds=200, query_features=["zscore", "rank"])),
    "MART, columns": _ours(rw.MART(rounds=200, query_features=["zscore", "rank"])),
    "RankSVM": _ours(rw.RankSVM()),
    "LambdaRank": _ours(rw.LambdaRank()),
    "LightGBM, defaults": _lightgbm(),
    "LightGBM, small": _lightgbm(
        num_leaves=7, learning_rate=0.05, bagging_fraction=0.7, bagging_freq=1, feature_fraction=0.5
    ),
    "XGBoost, defaults": _xgboost(),
    "XGBoost, small": _xgboost(max_depth=4, learning_rate=0.05, subsample=0.7, colsample_bytree=0.5),
    "CatBoost, defaults": _catboost(),
    "CatBoost, small": _catboost(depth=4, learning_rate=0.05, rsm=0.5),
}

if __name__ == "__main__":
    main()
