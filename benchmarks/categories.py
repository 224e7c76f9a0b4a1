"""Categories of a generated shop: accuracy and time of splits by sets beside those of other libraries.

`python -m benchmarks.categories [--queries N] [--seeds N]`, with at least two seeds. A document has eight numbers,
one of 1,000 brands with frequencies by Zipf's law, and one of 30 kinds of products. The brand changes the
relevance, the kind changes it and the effect of one number. `--brand-effect 0` makes the brand useless: what it
costs to have it.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import rankwright as rw
from rankwright.data.categories import Category
from rankwright.metrics import NDCG

if TYPE_CHECKING:
    from collections.abc import Callable

N_NUMBERS, N_BRANDS, N_KINDS, DOCUMENTS_PER_QUERY = 8, 1000, 30, 30
NAMES = (*(f"number{place}" for place in range(N_NUMBERS)), "brand", "kind")
COLUMNS = [N_NUMBERS, N_NUMBERS + 1]  # of the categories
ROUNDS, LEAVES, LEARNING_RATE, THREADS, TEST_QUERIES = 100, 31, 0.1, 1, 1000
LABEL_SHARES = (0.5, 0.25, 0.15, 0.07, 0.03)


class Shop(NamedTuple):
    """Documents to learn from and to rank, with levels of categories as numbers."""

    train: rw.RankingData
    test: rw.RankingData


def shop(n_queries: int, seed: int, brand_effect: float) -> Shop:
    """Return two samples of one shop; another seed is another shop."""
    truth = np.random.default_rng([seed, 0])
    frequency = truth.permutation(1.0 / np.arange(1, N_BRANDS + 1))
    effects = brand_effect * truth.normal(size=N_BRANDS), *truth.normal(size=(2, N_KINDS)) / 2
    parts = [
        _documents(n, np.random.default_rng([seed, place]), frequency / frequency.sum(), effects)
        for place, n in enumerate((n_queries, TEST_QUERIES), 1)
    ]
    return Shop(*parts)


def _documents(
    n_queries: int, random: np.random.Generator, frequency: np.ndarray, effects: tuple[np.ndarray, ...]
) -> rw.RankingData:
    n_documents = n_queries * DOCUMENTS_PER_QUERY
    numbers = random.normal(size=(n_documents, N_NUMBERS))
    brand = random.choice(N_BRANDS, n_documents, p=frequency)
    kind = random.integers(0, N_KINDS, n_documents)
    of_brand, of_kind, slope = effects
    merit = numbers[:, 0] + 0.7 * np.sin(2 * numbers[:, 1]) + 0.5 * numbers[:, 2] * numbers[:, 3]
    merit += of_brand[brand] + of_kind[kind] + slope[kind] * numbers[:, 4] + random.normal(size=n_documents)
    labels = np.searchsorted(np.quantile(merit, np.cumsum(LABEL_SHARES)[:-1]), merit)
    categories = [
        Category(name, tuple(map(str, range(n))), one_hot=False)
        for name, n in (("brand", N_BRANDS), ("kind", N_KINDS))
    ]
    return rw.RankingData(
        np.column_stack([numbers, brand, kind]).astype(np.float32),
        labels,
        np.repeat(np.arange(n_queries), DOCUMENTS_PER_QUERY),
        feature_names=NAMES,
        categories=categories,
    )


def _ours(data: Shop, **options: object) -> Callable[[], np.ndarray]:
    ranker = rw.LambdaMART(
        rounds=ROUNDS,
        max_leaves=LEAVES,
        learning_rate=LEARNING_RATE,
        min_documents=20,
        pairs="all",
        subsample=1.0,
        feature_fraction=1.0,
        n_jobs=THREADS,
        **options,
    )
    ranker.fit(data.train)
    return lambda: ranker.predict(data.test)


def _one_hot(data: Shop) -> Callable[[], np.ndarray]:
    def encoded(part: rw.RankingData) -> rw.RankingData:
        levels = [
            part.X[:, [column]] == np.arange(n) for column, n in zip(COLUMNS, (N_BRANDS, N_KINDS), strict=True)
        ]
        return rw.RankingData(np.hstack([part.X[:, :N_NUMBERS], *levels]), part.y, part.qid)

    return _ours(Shop(encoded(data.train), encoded(data.test)))


def _lightgbm(data: Shop) -> Callable[[], np.ndarray]:
    import lightgbm

    options = {
        "objective": "lambdarank",
        "num_leaves": LEAVES,
        "learning_rate": LEARNING_RATE,
        "num_threads": THREADS,
        "verbosity": -1,
    }
    sizes = np.full(len(data.train) // DOCUMENTS_PER_QUERY, DOCUMENTS_PER_QUERY)
    columns = lightgbm.Dataset(
        data.train.X, data.train.y, group=sizes, categorical_feature=COLUMNS, params=options
    )
    model = lightgbm.train(options, columns, ROUNDS)
    return lambda: model.predict(data.test.X)


def _xgboost(data: Shop) -> Callable[[], np.ndarray]:
    import xgboost

    types = ["q"] * N_NUMBERS + ["c"] * len(COLUMNS)
    options = {
        "objective": "rank:ndcg",
        "max_leaves": LEAVES,
        "grow_policy": "lossguide",
        "max_depth": 0,
        "eta": LEARNING_RATE,
        "nthread": THREADS,
    }

    def matrix(part: rw.RankingData) -> xgboost.DMatrix:
        return xgboost.DMatrix(part.X, part.y, qid=part.qid, feature_types=types, enable_categorical=True)

    model = xgboost.train(options, matrix(data.train), ROUNDS)
    return lambda: model.predict(matrix(data.test))


def _catboost(data: Shop) -> Callable[[], np.ndarray]:
    import catboost
    import pandas as pd

    def pool(part: rw.RankingData) -> catboost.Pool:
        frame = pd.DataFrame(part.X, columns=NAMES).astype({"brand": int, "kind": int})
        return catboost.Pool(frame, part.y, group_id=part.qid, cat_features=COLUMNS)

    model = catboost.CatBoostRanker(
        iterations=ROUNDS,
        learning_rate=LEARNING_RATE,
        thread_count=THREADS,
        loss_function="YetiRank",
        verbose=False,
        allow_writing_files=False,
    )
    model.fit(pool(data.train))
    return lambda: model.predict(pool(data.test))


SYSTEMS = {
    "rankwright, sets": _ours,
    "rankwright, thresholds": lambda data: _ours(data, category_splits="thresholds"),
    "rankwright, one-hot": _one_hot,
    "LightGBM": _lightgbm,
    "XGBoost": _xgboost,
    "CatBoost": _catboost,
}


def main() -> None:
    """Print NDCG@10 and processor time of each system: means of all shops, and how NDCG@10 differs from ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--brand-effect", type=float, default=1.0)
    options = parser.parse_args()
    for fit in SYSTEMS.values():
        fit(shop(30, 0, 1.0))  # imports, and threads that start
    quality: dict[str, list[float]] = {name: [] for name in SYSTEMS}
    seconds: dict[str, list[float]] = {name: [] for name in SYSTEMS}
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        data = shop(options.queries, seed, options.brand_effect)
        for name, fit in SYSTEMS.items():
            started = time.process_time()
            scores = fit(data)
            seconds[name].append(time.process_time() - started)
            quality[name].append(NDCG(k=10)(data.test.y, scores(), data.test.qid))
    print(
        f"Categories: {options.queries} queries of {DOCUMENTS_PER_QUERY}, {options.seeds} shops, {ROUNDS} trees "
        f"of {LEAVES} leaves, one thread: NDCG@10, its difference from ours with standard error, seconds"
    )
    ours = np.array(quality["rankwright, sets"])
    for name in SYSTEMS:
        apart = quality[name] - ours
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        means = f"{np.mean(quality[name]):.4f}   {apart.mean():+.4f} +- {error:.4f}   {np.mean(seconds[name]):.2f}"
        print(f"{name:24} {means}")


if __name__ == "__main__":
    main()
