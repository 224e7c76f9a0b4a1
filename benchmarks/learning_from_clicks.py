"""Learning from simulated clicks, measured by true labels: NDCG@10 of test queries, five folds.

`python -m benchmarks.learning_from_clicks` simulates users of the median feature (position-based, eta 1, noise
.1) on MQ2008 (20 sessions per query) and OHSUMED (60), and trains LightGBM, XGBoost and `rw.clicks.learn` on the
log, naively and with positions. `--grid` does so for all six behaviours and 5, 20 and 100 sessions per query: what
was learned beside its naive twin, over five seeds, each on its own fold. Needs `RANKWRIGHT_DATA`, lightgbm and
xgboost.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

import rankwright as rw
from rankwright.metrics.gain import NDCG

SESSIONS = {"MQ2008": 20, "OHSUMED": 60}
BEHAVIOURS = ("position", "trust", "browsing", "cascade", "dependent", "none")
METRIC = NDCG(k=10)
TREES = {"n_estimators": 100, "learning_rate": 0.1, "n_jobs": 1}


def main() -> None:
    """Print the table or the grid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", action="store_true", help="all behaviours and numbers of sessions")
    parser.add_argument("--data", nargs="+", default=list(SESSIONS))
    parser.add_argument("--behaviours", nargs="+", default=BEHAVIOURS)
    parser.add_argument("--sessions", nargs="+", type=int, default=[5, 20, 100], help="of the grid")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5], help="seed s is on fold s")
    parser.add_argument("--part", default="test", help="test, or vali while developing")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(sys.argv[1:] if __name__ == "__main__" else [])
    with ProcessPoolExecutor(options.processes) as pool:
        if options.grid:
            print_grid(options, pool)
        else:
            print_table(options, pool)


def print_table(options: argparse.Namespace, pool: ProcessPoolExecutor) -> None:
    """Print one column per collection."""
    columns = {}
    for name in options.data:
        tasks = [(name, "position", SESSIONS[name], seed, options.part, True) for seed in options.seeds]
        columns[name] = mean_of(list(pool.map(values_of, tasks)))
    print(f"{'':38}" + "".join(f"{name:>10}" for name in columns))
    for row in next(iter(columns.values())):
        print(f"{row:38}" + "".join(f"{values[row]:10.4f}" for values in columns.values()))
    for name, values in columns.items():
        gap = values["rankwright, true labels"] - values["rankwright, naive"]
        recovered = (values["rankwright, learned"] - values["rankwright, naive"]) / gap
        print(f"{name}: {recovered:.0%} of the gap between naive and true labels recovered")


def print_grid(options: argparse.Namespace, pool: ProcessPoolExecutor) -> None:
    """Print one line per collection, behaviour and number of sessions."""
    print("data      behaviour  sessions   naive  learned  difference  worst seed  chosen")
    for name, behaviour, sessions in product(options.data, options.behaviours, options.sessions):
        tasks = [(name, behaviour, sessions, seed, options.part, False) for seed in options.seeds]
        results = list(pool.map(values_of, tasks))
        chosen = " ".join(str(values.pop("chosen")) for values in results)
        naive, learned = mean_of(results).values()
        worst = min(learned - naive for naive, learned in (values.values() for values in results))
        line = f"{name:8}  {behaviour:9}  {sessions:8}  {naive:6.4f}   {learned:6.4f}     {learned - naive:+7.4f}"
        print(f"{line}     {worst:+7.4f}  {chosen}", flush=True)


def mean_of(results: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each value."""
    return {name: float(np.mean([values[name] for values in results])) for name in results[0]}


def values_of(task: tuple[str, str, int, int, str, bool]) -> dict[str, float]:
    """Return the quality of every method on one fold."""
    name, behaviour, sessions, seed, part, with_peers = task
    folder = Path(os.environ["RANKWRIGHT_DATA"]) / "letor" / name / f"Fold{seed}"
    train, test = (rw.read_letor(folder / f"{each}.txt") for each in ("train", part))
    ranked_by = train.X[:, (feature := median_feature(train))]
    log = rw.clicks.simulate(train, ranked_by, behaviour, sessions=sessions, random_state=seed, n_jobs=1)
    ranker = rw.LambdaMART(rounds=300, patience=50, n_jobs=1)
    learned = rw.clicks.learn(log, train, ranker, random_state=seed, n_jobs=1)
    twins = {"naive": learned.rankers["naive"], "learned": learned.ranker}
    values = {
        f"rankwright, {twin}": METRIC(test.y, fitted.predict(test), test.qid) for twin, fitted in twins.items()
    }
    if not with_peers:
        return {**values, "chosen": learned.chosen}
    validation = rw.read_letor(folder / "vali.txt")
    scores = {"logging ranker": test.X[:, feature], **peer_scores(log, train, test)}
    scores["rankwright, true labels"] = ranker.fit(train, validation=validation).predict(test)
    return {name: METRIC(test.y, each, test.qid) for name, each in scores.items()} | values


def median_feature(data: rw.RankingData) -> int:
    """Return the feature whose NDCG@10 is the median of all."""
    values = [METRIC(data.y, data.X[:, feature], data.qid) for feature in range(data.n_features)]
    return int(np.argsort(values, kind="stable")[len(values) // 2])


def peer_scores(log: rw.clicks.ClickLog, train: rw.RankingData, test: rw.RankingData) -> dict[str, np.ndarray]:
    """Return the scores of test documents by other tools, trained on one row per impression."""
    import lightgbm
    import xgboost

    rows, sizes = log.rows_in(train), np.diff(log.offsets)
    X, clicked, lists = train.X[rows], log.clicked.astype(int), log.list_of_impression
    light = {**TREES, "objective": "lambdarank", "num_leaves": 8, "verbose": -1}
    scores = {
        "LightGBM, true labels": lightgbm.LGBMRanker(**light)
        .fit(train.X, train.y, group=train.groups.sizes)
        .predict(test.X)
    }
    data = lightgbm.Dataset(X, clicked, group=sizes, params={"verbose": -1})
    boosted = lightgbm.train(light, data, 100)
    scores["LightGBM, naive"] = boosted.predict(test.X)
    data = lightgbm.Dataset(X, clicked, group=sizes, position=log.position - 1, params={"verbose": -1})
    scores["LightGBM, position"] = lightgbm.train(light, data, 100).predict(test.X)
    for title, unbiased in (("naive", False), ("lambdarank_unbiased", True)):
        other = xgboost.XGBRanker(**TREES, max_depth=3, objective="rank:ndcg", lambdarank_unbiased=unbiased)
        scores[f"XGBoost, {title}"] = other.fit(X, clicked, qid=lists).predict(test.X)
    shown, clicks = (np.bincount(rows, each, len(train)) for each in (np.ones(len(rows)), clicked))
    true_rates = np.bincount(rows, clicked * log.position, len(train)) / np.maximum(shown, 1)
    for title, rates in (("click rates", clicks / np.maximum(shown, 1)), ("true propensities", true_rates)):
        regression = lightgbm.LGBMRegressor(**TREES, num_leaves=8, verbose=-1).fit(train.X, rates)
        scores[f"regression, {title}"] = regression.predict(test.X)
    return scores


if __name__ == "__main__":
    main()
