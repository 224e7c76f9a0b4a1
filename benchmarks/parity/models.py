"""Models of varied shape, of other libraries and of ours, and the documents that they score."""

from __future__ import annotations

from importlib import import_module
from itertools import product

import numpy as np

import rankwright as rw
from rankwright.models import Combination, LinearScorer, TreeEnsemble

N_MODELS, N_LINEAR = 40, 8
RANDOM_ROWS, MAX_ROWS = 500, 6000


def judged(seed, missing, categories=False):
    """Return documents with zeros, ties, a constant and missing values; column 1 may be codes of categories."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(600, 6)).astype(np.float32)
    X[random.random(X.shape) < 0.2] = 0.0
    X[:, 1], X[:, 2], X[:, 5] = np.round(X[:, 1]), np.abs(X[:, 2]), 1.0
    if categories:
        X[:, 1] = random.integers(0, 9, len(X))
    y = (X[:, 0] > 0.0).astype(int) + (X[:, 2] > 1.0)
    X[random.random(X.shape) < missing] = np.nan
    X[random.random(len(X)) < missing * y, 3] = np.nan  # so that a split may tell missing values apart
    return rw.RankingData(X, y, np.repeat(np.arange(30), 20))


def rows_for(scorer, seed, tiny=0.0, *, infinite=False):
    """Return the documents to compare; values nearer to 0 than `tiny` are made 0, and some are made infinite."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(RANDOM_ROWS, scorer.n_features)).astype(np.float32)
    if isinstance(scorer, TreeEnsemble):
        at, feature = np.repeat(scorer.threshold, 3), np.repeat(scorer.feature, 3)
        with np.errstate(over="ignore"):
            at[1::3], at[2::3] = (
                np.nextafter(at[side::3], np.float32(end)) for side, end in ((1, -np.inf), (2, np.inf))
            )
        chosen = random.permutation(len(at))[:MAX_ROWS] if len(at) > MAX_ROWS else np.arange(len(at))
        beside = X[random.integers(0, len(X), len(chosen))]
        beside[np.arange(len(chosen)), feature[chosen]] = at[chosen]
        X = np.concatenate([X, beside])
    odd = random.random(X.shape)
    X[odd < 0.05], X[(odd > 0.05) & (odd < 0.08)], X[(odd > 0.08) & (odd < 0.11)] = np.nan, 0.0, -0.0
    X[~np.isfinite(X) | (np.abs(X) < tiny)] = np.where(
        np.isnan(X[~np.isfinite(X) | (np.abs(X) < tiny)]), np.nan, 0.0
    )
    if infinite:
        X[odd > 0.99], X[(odd > 0.98) & (odd < 0.99)] = np.inf, -np.inf
    return X


def settings(**choices):
    """Yield as many combinations of settings as there are models, spread over all."""
    every = [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    yield from (dict(every[number * len(every) // N_MODELS]) for number in range(N_MODELS))


def lightgbm_models(folder):
    """Yield what the library predicts, after it has written the model; of a random forest the mean."""
    lightgbm = import_module("lightgbm")
    quiet = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, "bagging_fraction": 0.7, "bagging_freq": 1}
    several = settings(
        boosting=["gbdt", "dart", "rf"], num_leaves=[2, 7, 63], zero_as_missing=[False, True],
        use_missing=[True, False], objective=["lambdarank", "regression", "binary"], missing=[0.0, 0.2],
        categories=[False, True],
    )  # fmt: skip
    for seed, one in enumerate(several):
        categories = one.pop("categories")
        data = judged(seed, one.pop("missing"), categories)
        y = data.y > 0 if one["objective"] == "binary" else data.y
        group = data.groups.sizes if one["objective"] == "lambdarank" else None
        codes = {"categorical_feature": [1] if categories else []}
        X = data.X.copy()
        X[seed % 4 :: 97, 4] = np.inf if seed % 2 else -np.inf  # LightGBM learns from infinite values too
        model = lightgbm.train({**quiet, **one}, lightgbm.Dataset(X, y, group=group, **codes), 20)
        model.save_model(folder / "model")
        n = model.num_trees() if one["boosting"] == "rf" else 1
        yield seed, (lambda X, model=model, n=n: model.predict(X, raw_score=True) / n)


def xgboost_models(folder):
    """Yield the margins, after the library has written the model as JSON or UBJSON."""
    xgboost = import_module("xgboost")
    several = settings(
        booster=["gbtree", "dart"], max_depth=[1, 4, 9], base_score=[0.5, 0.25], num_parallel_tree=[1, 3],
        objective=["rank:ndcg", "reg:squarederror", "binary:logistic"], missing=[0.0, 0.2], kind=["json", "ubj"],
        categories=[False, True],
    )  # fmt: skip
    for seed, one in enumerate(several):
        categories, kind = one.pop("categories"), one.pop("kind")
        data = judged(seed, one.pop("missing"), categories)
        y = data.y > 0 if one["objective"] == "binary:logistic" else data.y
        options = {"nthread": 1, "subsample": 0.8, "rate_drop": 0.2, "seed": seed, "verbosity": 0}
        codes = {
            "feature_types": ["q", "c", "q", "q", "q", "q"] if categories else None,
            "enable_categorical": True,
        }
        matrix = xgboost.DMatrix(data.X, y, qid=np.sort(data.qid), nthread=1, **codes)
        model = xgboost.train({**options, **one}, matrix, 20)
        (folder / "model").write_bytes(bytes(model.save_raw(kind)))
        yield seed, (lambda X, model=model: model.predict(xgboost.DMatrix(X, nthread=1), output_margin=True))


def catboost_models(folder):
    """Yield the raw values, after the library has written the model as JSON."""
    catboost = import_module("catboost")
    several = settings(
        depth=[1, 4, 7], grow_policy=["SymmetricTree", "Lossguide", "Depthwise"], nan_mode=["Min", "Max"],
        loss_function=["YetiRank", "RMSE", "QueryRMSE"], missing=[0.0, 0.2],
    )  # fmt: skip
    for seed, one in enumerate(several):
        data = judged(seed, one.pop("missing"))
        quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1, "iterations": 20}
        model = catboost.CatBoost({**quiet, **one}).fit(catboost.Pool(data.X, data.y, group_id=data.qid))
        model.save_model(str(folder / "model"), format="json")
        yield seed, (lambda X, model=model: model.predict(X, prediction_type="RawFormulaVal", thread_count=1))


def ours():
    """Yield models of ours, and mixtures of them; some have thresholds near 0."""
    several = settings(
        rounds=[1, 10, 30], max_leaves=[2, 8, 31], missing=[0.0, 0.2], mixed=[False, True], small=[False, True]
    )
    for seed, one in enumerate(several):
        data, mixed = judged(seed, one.pop("missing")), one.pop("mixed")
        if one.pop("small"):
            data = rw.RankingData(data.X * np.float32([1, 1, 1e-30, 1, 1, 1]), data.y, data.qid)
        model = rw.LambdaMART(**one, random_state=seed, n_jobs=1).fit(data).model_
        if mixed:
            model = Combination((model, rw.MART(rounds=5, n_jobs=1).fit(data).model_), [0.7, -1.3])
        yield seed, model


def linear():
    """Yield weights of features, which replace a missing value by 0 and have no intercept, as Solr has none."""
    for seed in range(N_LINEAR):
        weights = np.random.default_rng(seed).normal(size=6) * (np.arange(6) <= seed)
        yield seed, LinearScorer(weights, np.zeros(6))


def with_thresholds(model):
    """Return the part of a model whose thresholds can be asked."""
    return model.members[0] if isinstance(model, Combination) else model
