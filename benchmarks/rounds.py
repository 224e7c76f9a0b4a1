"""Which round of a fit to keep: ways to choose it, compared on the same fits.

`python -m benchmarks.rounds --cache FOLDER` compares them on generated collections of 30 to 3,000 judged queries;
`--data OHSUMED MQ2008 --inner` on five folds of the training and validation queries of Fold1 alone, whose test
queries stay unseen; `--data OHSUMED MQ2008` on the test parts of all folds. The rule was chosen on the first two;
the third is the report. Fits are kept in the folder (see `curves.py`), so that another rule needs no new fit.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw
from benchmarks.curves import SIZES, Curves, curves, folds, generated, inner_folds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from benchmarks.curves import Parts
    from rankwright.rankers.ranker import Ranker

    Values = NDArray[np.float32]
    Rule = Callable[[Values], int]  # from values by round and query to the index of the round to keep

RANKERS: dict[str, Ranker] = {
    "lambdamart": rw.LambdaMART(),
    "mart": rw.MART(),
    "mcrank": rw.McRank(),
    "mpboost": rw.MPBoost(),
    "rankboost": rw.RankBoost(),
    "adarank": rw.AdaRank(),
    "adaboost-mh": rw.AdaBoostMH(),
    "permurank": rw.PermuRank(),
    "ranknet": rw.RankNet(),
    "lambdarank": rw.LambdaRank(),
    "listnet": rw.ListNet(),
}
# Other defaults of LambdaMART; `--rankers` takes these names too.
VARIANTS: dict[str, Ranker] = {
    "lambdamart, columns": rw.LambdaMART(query_features=("zscore", "rank")),
    "lambdamart, l2=10": rw.LambdaMART(l2=10.0),
    "lambdamart, all pairs": rw.LambdaMART(truncation=None),
    "lambdamart, truncation 10": rw.LambdaMART(truncation=10),
}
ALL = RANKERS | VARIANTS


def best(values: Values) -> int:
    """Keep the first round with the highest value."""
    return int(np.argmax(_means(values)))


def best_smoothed(values: Values) -> int:
    """Keep the round with the highest mean over a tenth of the rounds to either side."""
    return int(np.argmax(rw.training.history.smoothed(_means(values))))


def plausible(values: Values) -> NDArray[np.intp]:
    """Return the rounds within one standard error of the best; the error is that of the mean difference."""
    top = best(values)
    differences = values[top].astype(np.float64) - values
    errors = differences.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    return np.flatnonzero(differences.mean(axis=1) <= errors)


def latest(values: Values) -> int:
    """Keep the last of the rounds within one standard error of the best."""
    return int(plausible(values)[-1])


def earliest(values: Values) -> int:
    """Keep the first of the rounds within one standard error of the best."""
    return int(plausible(values)[0])


def middle(values: Values) -> int:
    """Keep the median of the rounds within one standard error of the best; of two middle rounds, the better."""
    within, means = plausible(values), _means(values)
    one, other = within[(len(within) - 1) // 2], within[len(within) // 2]
    return int(one if means[one] >= means[other] else other)


def bootstrap(values: Values) -> int:
    """Keep the median of the best rounds for queries drawn again, with replacement."""
    random, n_queries = np.random.default_rng(0), values.shape[1]
    counts = random.multinomial(n_queries, np.full(n_queries, 1 / n_queries), 200)
    return int(np.median(np.argmax(values.astype(np.float64) @ counts.T, axis=0)))


def last(values: Values) -> int:
    """Keep all rounds."""
    return len(values) - 1


def patient(rule: Rule, patience: int | None, *, significant: bool) -> Rule:
    """Return the rule on the rounds that are run; they end after so many rounds without (nearly) the best."""

    def stopped(values: Values) -> int:
        if patience is None:
            return rule(values)
        means, top, good = _means(values), 0, 0
        for this in range(len(values)):
            if means[this] > means[top]:
                top = this
            difference = values[top].astype(np.float64) - values[this]
            error = difference.std(ddof=1) / np.sqrt(len(difference)) if significant else 0.0
            if this == top or (significant and difference.mean() <= error):
                good = this
            if this - good >= patience:
                return rule(values[: this + 1])
        return rule(values)

    return stopped


RULES: dict[str, Callable[[int | None], Rule]] = {
    "best": lambda patience: patient(best, patience, significant=False),
    "best, no patience": lambda _: best,
    "smoothed": lambda _: best_smoothed,
    "earliest": lambda patience: patient(earliest, patience, significant=True),
    "middle": lambda patience: patient(middle, patience, significant=True),
    "middle, plain patience": lambda patience: patient(middle, patience, significant=False),
    "middle, no patience": lambda _: middle,
    "latest": lambda patience: patient(latest, patience, significant=True),
    "bootstrap": lambda _: bootstrap,
    "last": lambda _: last,
}
HINDSIGHT = "best in hindsight"
REPORTED = ("best", "middle", "middle, refit", "last, refit")  # the columns of the summary


def _means(values: Values) -> NDArray[np.float64]:
    return np.round(np.nanmean(values.astype(np.float64), axis=1), 9)


def judged(one: Curves, patience: int | None) -> Iterator[tuple[str, float, int]]:
    """Yield each rule's test value, and the number of rounds it keeps."""
    for name, rule in RULES.items():
        kept = rule(patience)(one.valid)
        yield name, float(one.test[kept]), kept + 1
        yield f"{name}, refit", float(one.refit[min(kept, len(one.refit) - 1)]), kept + 1
    yield HINDSIGHT, float(one.test.max()), int(one.test.argmax()) + 1


def collections(options: argparse.Namespace) -> Iterator[Parts]:
    """Yield the collections that were asked for."""
    if options.data:
        for folder in options.data:
            yield from inner_folds(folder) if options.inner else folds(folder)
    else:
        yield from generated(options.kinds, options.sizes)


def main() -> None:
    """Print the mean test value of every rule, by ranker and collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="+")
    parser.add_argument("--inner", action="store_true")
    parser.add_argument("--kinds", nargs="+", default=["linear", "quadratic", "cubic"])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rankers", nargs="+", default=list(RANKERS), choices=list(ALL))
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    tables: dict[str, dict[str, dict[str, list[tuple[float, int]]]]] = defaultdict(lambda: defaultdict(dict))
    for parts in collections(options):
        for name in options.rankers:
            ranker = ALL[name]
            seeds = options.seeds if "random_state" in ranker.get_params() else 1
            for seed in range(seeds):
                one = curves(ranker, parts, seed, options.cache, name)
                for rule, value, kept in judged(one, ranker.patience):
                    group = tables[name][parts.place.split("/")[0]]
                    group.setdefault(rule, []).append((value, kept))
    for name, by_collection in tables.items():
        _show(name, by_collection)
    for collection in next(iter(tables.values())):
        _summarise(collection, {name: found[collection] for name, found in tables.items()})


def _show(ranker: str, by_collection: dict[str, dict[str, list[tuple[float, int]]]]) -> None:
    print(f"\n{ranker}: mean test ndcg@10 (mean number of rounds)")
    print(f"{'':<26}" + "".join(f"{name:>18}" for name in by_collection))
    rules: list[str] = list(next(iter(by_collection.values())))
    for rule in rules:
        cells: list[Any] = [np.mean(found[rule], axis=0) for found in by_collection.values()]
        print(f"{rule:<26}" + "".join(f"{f'{value:.4f} ({rounds:.0f})':>18}" for value, rounds in cells))


def _summarise(collection: str, by_ranker: dict[str, dict[str, list[tuple[float, int]]]]) -> None:
    """Print a table for the documentation: one row per ranker, and their mean."""
    means = {name: [np.mean(found[rule], axis=0)[0] for rule in REPORTED] for name, found in by_ranker.items()}
    means["mean"] = list(np.mean(list(means.values()), axis=0))
    print(f"\n| {collection} | " + " | ".join(REPORTED) + " |\n|---|" + "---|" * len(REPORTED))
    for name, values in means.items():
        print(f"| {name} | " + " | ".join(f"{value:.4f}" for value in values) + " |")


if __name__ == "__main__":
    main()
