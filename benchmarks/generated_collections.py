"""AutoRanker and LambdaMART beside six settings of other libraries on 60 generated collections.

The collections go from noise-free to very noisy: linear functions, polynomials, web search, a shop; ten kinds,
each with 30 to 3,000 judged queries. Fresh queries have labels without noise (those of web search have noise that
no ranker can know), so differences between rankers stand out.

`python -m benchmarks.generated_collections --out FILE` appends one line of JSON per collection and seed, goes on
where an earlier run ended, and prints a summary. `--sizes` and `--seeds` choose a part, `--systems` some systems.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rankwright as rw
from benchmarks.accuracy import SYSTEMS
from benchmarks.collection import web_search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.data.dataset import RankingData

SIZES = (30, 60, 150, 400, 1000, 3000)
FRESH_QUERIES = 1000
POLYNOMIALS = {
    "linear": {"n_features": 40, "n_active": 8, "n_terms": 8, "degree": 1},
    "quadratic": {"n_features": 30, "n_active": 10, "n_terms": 20, "degree": 2},
    "cubic": {},
}
NOISE = {"linear": 0.5, "quadratic": 0.3, "cubic": 0.2}  # fraction of random labels
WEB = {"web": 4, "web, binary": 2}  # grades
SHOP_SHARES = (0.6, 0.2, 0.12, 0.08)


class Collection(NamedTuple):
    """Judged queries, and fresh ones of the same kind."""

    name: str
    judged: RankingData
    fresh: RankingData


def collections(seed: int, sizes: Sequence[int] = SIZES) -> Iterator[Collection]:
    """Yield one collection of every kind and size; another seed gives other functions and samples."""
    for size in sizes:
        for kind, function in POLYNOMIALS.items():
            for noise in (0.0, NOISE[kind]):
                truth = rw.synthetic.RandomPolynomial.draw(seed + size, **function)
                samples = [
                    truth.sample(size, seed=seed + size + 1, n_documents=20, noise=noise),
                    truth.sample(FRESH_QUERIES, seed=seed + size + 2, n_documents=20),
                ]
                yield Collection(f"{kind}{', noisy' if noise else ''}-{size}", *samples)
        for kind in WEB:
            samples = [_web(n, kind, seed + size + part) for part, n in ((1, size), (2, FRESH_QUERIES // 5))]
            yield Collection(f"{kind}-{size}", *samples)
        for noise in (0.0, 1.0):
            samples = [shop(size, [seed + size, 1], noise), shop(FRESH_QUERIES, [seed + size, 2], 0.0)]
            yield Collection(f"shop{', noisy' if noise else ''}-{size}", *samples)


def _web(n_queries: int, kind: str, seed: int) -> RankingData:
    data = web_search(n_queries, seed=seed, n_features=46)
    return data if kind == "web" else rw.RankingData(data.X, (data.y >= 2).astype(np.float64), data.qid)


def shop(n_queries: int, seed: Sequence[int], noise: float) -> RankingData:
    """Return products of a shop; the first number of the seed gives the customers' taste, both the sample."""
    taste, random = np.random.default_rng(seed[0]), np.random.default_rng(seed)
    sizes = random.integers(10, 40, n_queries)
    qid, n = np.repeat(np.arange(n_queries), sizes), int(sizes.sum())
    title, description = random.gamma(2.0, 3.0, n), random.gamma(2.0, 2.0, n)
    usual_price = random.normal(3.0, 1.0, n_queries)[qid]
    price = usual_price + random.normal(0.0, 0.6, n)
    sales = random.pareto(1.2, n)
    reviews = random.poisson(sales)
    rating = np.where(reviews > 0, np.clip(random.normal(3.8, 0.8, n), 1, 5), np.nan)
    in_stock, age = random.random(n) < 0.85, random.exponential(300.0, n)
    same_category = random.integers(0, 4, n)
    a, b, c, d, e, f = taste.uniform(0.5, 1.5, 6)
    merit = a * np.log1p(title) + 0.4 * b * np.log1p(description) + 0.5 * c * np.log1p(sales)
    merit += d * (same_category - 1.5) * np.log1p(title) / 2 - e * np.abs(price - usual_price + 0.3)
    merit += 0.6 * f * np.where(reviews > 3, np.nan_to_num(rating) - 3.5, 0.0)
    merit -= np.where(in_stock, 0.0, 2.0) + np.where(age < 30, -0.5, 0.0)
    thresholds = np.quantile(merit, np.cumsum(SHOP_SHARES)[:-1])
    y = np.searchsorted(thresholds, merit + noise * merit.std() * random.normal(size=n))
    columns = [title, description, np.exp(price), sales, reviews, rating, in_stock, age, same_category]
    others = random.normal(size=(n, 6)).T  # that tell nothing
    return rw.RankingData(np.column_stack([*columns, *others]).astype(np.float32), y, qid)


METRIC = rw.metrics.parse("ndcg@10")
AUTO, MEMBER, LAMBDAMART = "AutoRanker", "best member", "LambdaMART"
PEERS = tuple(name for name in SYSTEMS if name.startswith(("LightGBM", "XGBoost", "CatBoost")))
BEHIND = 0.003  # the largest distance behind the best peer, and
BEHIND_MEMBER = 0.002  # behind the best member, that are asked for


def main() -> None:
    """Measure what is missing in the file, then print the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--systems", nargs="+", default=[AUTO, LAMBDAMART, *PEERS])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known = _read(options.out)
    for seed in options.seeds:
        for collection in collections(10_000 * seed, options.sizes):
            key = (collection.name, seed)
            missing = [name for name in options.systems if name not in known[key]]
            with options.out.open("a") as file:
                for name in missing:
                    started = time.perf_counter()
                    values = _values(name, collection)
                    seconds = round(time.perf_counter() - started, 1)
                    known[key] |= values
                    line = {"collection": key[0], "seed": seed, "values": values, "seconds": seconds}
                    print(json.dumps(line), file=file, flush=True)
    _summarise(known)


def _read(path: Path) -> dict[tuple[str, int], dict[str, float]]:
    known: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for line in path.read_text().splitlines() if path.exists() else ():
        row = json.loads(line)
        known[row["collection"], row["seed"]] |= row["values"]
    return known


def _values(name: str, collection: Collection) -> dict[str, float]:
    """Return the metric on fresh queries of a system; with AutoRanker, also of its best member out of fold."""
    fresh = collection.fresh

    def value(scores: Any) -> float:
        return round(float(METRIC(fresh.y, scores, fresh.qid)), 5)

    if name == AUTO:
        ranker = rw.AutoRanker(METRIC).fit(collection.judged)
        best = max(ranker.run_.entries, key=lambda entry: entry.curve[entry.best_index()])
        return {AUTO: value(ranker.predict(fresh)), MEMBER: value(best.cut(best.best_index()).predict(fresh))}
    if name == LAMBDAMART:  # as the other libraries' defaults: from all judged queries, for all rounds
        return {name: value(rw.LambdaMART(METRIC).fit(collection.judged).predict(fresh))}
    train, valid = rw.split_queries(collection.judged, 0.75, 0.25)
    return {name: value(SYSTEMS[name](train, valid)(fresh))}


def _summarise(known: dict[tuple[str, int], dict[str, float]]) -> None:
    """Print, for every collection, the means over seeds and how far AutoRanker and LambdaMART are ahead."""
    groups: dict[str, list[dict[str, float]]] = defaultdict(list)
    for (name, _), values in known.items():
        groups[name].append(values)
    names = [AUTO, MEMBER, LAMBDAMART, *PEERS]
    leads: dict[str, list[float]] = defaultdict(list)
    print(f"{'collection':<24}" + "".join(f"{name[:13]:>14}" for name in names))
    for collection, rows in groups.items():
        means = {
            name: float(np.mean([row[name] for row in rows])) for name in names if all(name in row for row in rows)
        }
        print(f"{collection:<24}" + "".join(f"{means.get(name, np.nan):14.4f}" for name in names))
        peers = [means[name] for name in PEERS if name in means]
        for name in (AUTO, LAMBDAMART):
            if name in means and peers:
                leads[f"{name} - best of {len(peers)} peers"].append(means[name] - max(peers))
        if AUTO in means:
            leads[f"{AUTO} - {MEMBER}"].append(means[AUTO] - means[MEMBER])
    for name, lead in leads.items():
        least = BEHIND_MEMBER if name.endswith(MEMBER) else BEHIND
        ahead, close = sum(one >= 0 for one in lead), sum(one >= -least for one in lead)
        print(
            f"{name}: mean {np.mean(lead):+.4f}, worst {min(lead):+.4f}; at least level in "
            f"{ahead} of {len(lead)}, not behind by more than {least} in {close}"
        )


if __name__ == "__main__":
    main()
