"""Accuracy on small judged collections over five folds, compared with LightGBM, XGBoost and CatBoost.

`python -m benchmarks.accuracy --data OHSUMED MQ2008` takes folders with Fold1, Fold2, ... as LETOR has them.

Nothing is chosen on a test part. Systems without early stopping are trained on the training and the validation
part together. The other libraries run with their defaults and with settings for small data: 7 leaves or depth 4,
learning rate 0.05, sampling of columns (LightGBM and XGBoost also of rows), early stopping on the validation part.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankwright.data import RankingData

    Predict = Callable[[RankingData], NDArray[np.float64]]
    Fit = Callable[[RankingData, RankingData], Predict]

METRIC = "ndcg@10"
SMALL_ROUNDS, PATIENCE = 1000, 100


def main() -> None:
    """Print each system's mean NDCG@10 over folds, and its comparison with the mixture over all queries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    for folder in parser.parse_args().data:
        _show(folder.name, *run(folder))


def run(folder: Path) -> tuple[dict[str, list[float]], dict[str, NDArray[np.float64]]]:
    """Return each system's mean per fold, and its values for all test queries."""
    means, values = defaultdict(list), defaultdict(list)
    for path in sorted(folder.glob("Fold*")):
        train, valid, test = rw.read_fold(path)
        scores = {name: fit(train, valid)(test) for name, fit in SYSTEMS.items()}
        report = rw.evaluate(scores, test, metrics=[METRIC])
        for name in SYSTEMS:
            means[name].append(report.mean(name, METRIC))
            values[name].append(report.per_query(name, METRIC))
    return dict(means), {name: np.concatenate(own) for name, own in values.items()}


def _show(collection: str, means: dict[str, list[float]], values: dict[str, NDArray[np.float64]]) -> None:
    print(f"{collection}: mean {METRIC} over {len(means[MIXTURE])} folds, {len(values[MIXTURE])} test queries")
    for name in sorted(means, key=lambda one: -np.mean(means[one])):
        found = rw.compare(values[MIXTURE], values[name])
        against = "" if name == MIXTURE else f"   {MIXTURE} {found.difference:+.4f}, p = {found.p_value:.4f}"
        print(f"  {name:<34}{np.mean(means[name]):.4f}{against}")


def _ours(*rankers: Any) -> Fit:
    """Fit rankers on both parts for all their rounds; mix them if there are several."""

    def fit(train: RankingData, valid: RankingData) -> Predict:
        both = _both(train, valid)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = [one.fit(both) for one in rankers]
        model = fitted[0] if len(fitted) == 1 else rw.mix_standardised(fitted)
        return lambda test: model.predict(test)

    return fit


def _both(train: RankingData, valid: RankingData) -> RankingData:
    """Return the documents of both parts; the parts of a LETOR fold share no query."""
    return rw.RankingData(*(np.concatenate(pair) for pair in zip(train, valid, strict=True)))


def _sizes(data: RankingData) -> NDArray[np.int64]:
    """Return the number of documents of each query; in LETOR files the documents of a query are adjacent."""
    return data.groups.sizes


def _lightgbm(**options: Any) -> Fit:
    def fit(train: RankingData, valid: RankingData) -> Predict:
        import lightgbm

        learn, early = (train, valid) if options else (_both(train, valid), None)
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

        learn = train if options else _both(train, valid)
        stop = {"n_estimators": SMALL_ROUNDS, "early_stopping_rounds": PATIENCE, "eval_metric": METRIC}
        model = xgboost.XGBRanker(objective="rank:ndcg", **(stop | options if options else {}))
        watched = {"eval_set": [(valid.X, valid.y)], "eval_qid": [valid.groups.query_of_row], "verbose": False}
        model.fit(learn.X, learn.y, qid=learn.groups.query_of_row, **(watched if options else {}))
        return lambda test: np.asarray(model.predict(test.X), dtype=np.float64)

    return fit


def _catboost(**options: Any) -> Fit:
    def fit(train: RankingData, valid: RankingData) -> Predict:
        import catboost

        learn = train if options else _both(train, valid)
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


MIXTURE = "mixture of the four"
FAMILIES = (
    rw.RankSVM(),
    rw.ListNet(),
    rw.LambdaMART(rounds=200, query_features=["zscore", "rank"]),
    rw.CalibratedAdaBoost(),
)
SYSTEMS: dict[str, Fit] = {
    **{type(one).__name__: _ours(one) for one in FAMILIES},
    MIXTURE: _ours(*FAMILIES),
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
