"""The cost model of docs/costs.md: times fits of many sizes, fits the constants of its formulas, writes tables.

`python -m benchmarks.costs` prints the tables; `--write` puts them into docs/costs.md and the constants into
benchmarks/costs.json, which `benchmarks.growth` compares with other measurements. It takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rankwright as rw
from benchmarks import roofline, training
from benchmarks.collection import DOCUMENTS_PER_QUERY, web_search
from rankwright.rankers.shared.tree_ranker import COARSE_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TABLE = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).parents[1] / "docs" / "costs.md"
TERMS = ("values", "values x levels", "documents x levels", "leaves x features")
RANKERS = ("LambdaMART", "MART", "McRank")
BASE = {"queries": 2_000, "features": 136, "leaves": 31, "classes": 5}
VARIED = {"queries": (1_000, 4_000), "features": (34, 68), "leaves": (8, 127), "classes": (2, 3)}
MEMORY = ((2_000, 136), (4_000, 136), (4_000, 68), (6_000, 100))  # queries and features
ROUNDS = {"LambdaMART": 10, "MART": 10, "McRank": 4}
SMALL_QUERIES = 400
OTHERS = ("AdaRank", "RankBoost", "MPBoost", "AdaBoostMH", "RankSVM", "RankNet", "LambdaRank", "ListNet")
OTHER_QUERIES, OTHER_FEATURES = (50, 200), 46
TOLERANCE = 0.35  # of a predicted time
QUESTIONS = ((100_000, 50), (1_000_000, 136), (10_000_000, 136))  # documents and features


class Size(NamedTuple):
    """The size of a fit; `classes` is the number of labels, for rankers that tell them apart."""

    documents: int
    features: int
    leaves: int
    classes: int = 1

    @property
    def is_large(self) -> bool:
        """Whether splits are searched in two stages."""
        return self.documents >= COARSE_DOCUMENTS

    def terms(self) -> list[float]:
        """Return what the time of one tree is a weighted sum of."""
        columns = self.features * (1 if self.classes == 1 else 4 * -(-self.classes // 4))  # classes are padded
        values, levels = self.documents * columns, log2(self.leaves)
        return [values, values * levels, self.documents * levels, self.leaves * columns]


class Timed(NamedTuple):
    """A fit's size, and its seconds: of the data set, and of each tree."""

    size: Size
    dataset: float
    tree: float


def stored() -> dict[str, Any]:
    """Return the constants that were written last."""
    costs: dict[str, Any] = json.loads(TABLE.read_text())
    return costs


def predicted_seconds(costs: dict[str, Any], size: Size, rounds: int, ranker: str = "LambdaMART") -> float:
    """Return the seconds that the constants predict for a fit on one thread."""
    tree = np.dot(costs["seconds"][ranker]["large" if size.is_large else "small"], size.terms())
    return float(costs["dataset"] * size.documents * size.features + rounds * tree)


def predicted_megabytes(costs: dict[str, Any], size: Size) -> float:
    """Return the megabytes beyond the feature matrix that the constants predict."""
    per_value, per_document = costs["megabytes"]
    return float(size.documents * (per_value * size.features + per_document))


def _sizes(ranker: str, base: dict[str, int]) -> list[dict[str, int]]:
    """Return the usual sizes, and those with one of them varied."""
    varied = {name: values for name, values in VARIED.items() if name != "classes" or ranker == "McRank"}
    steps = {"queries": tuple(round(base["queries"] * value / BASE["queries"]) for value in VARIED["queries"])}
    return [base, *(base | {name: value} for name, values in (varied | steps).items() for value in values)]


def _timed(ranker: str, sizes: dict[str, int], collection: rw.RankingData) -> Timed:
    n = sizes["queries"] * DOCUMENTS_PER_QUERY
    labels = np.minimum(collection.y[:n], sizes["classes"] - 1)
    data = rw.RankingData(collection.X[:n, : sizes["features"]], labels, collection.qid[:n])
    train = rw.TrainingSet(data)
    coarse = n >= COARSE_DOCUMENTS and ranker != "McRank"
    dataset = _seconds(lambda: rw.TrainingSet(data).binned(255, 1, coarse=coarse))
    options = {"max_leaves": sizes["leaves"], "subsample": 1.0, "feature_fraction": 1.0, "n_jobs": 1}
    fit = [
        _seconds(lambda: getattr(rw, ranker)(rounds=rounds, **options).fit(train))  # noqa: B023
        for rounds in (1, 1 + ROUNDS[ranker])
    ]
    size = Size(n, sizes["features"], sizes["leaves"], sizes["classes"] if ranker == "McRank" else 1)
    return Timed(size, dataset, max(fit[1] - fit[0], 0.0) / ROUNDS[ranker])


def _seconds(action: Callable[[], Any], repeats: int = 2) -> float:
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def _constants(terms: Sequence[Sequence[float]], measured: Sequence[float]) -> list[float]:
    """Return the non-negative constants with the least squares of relative errors."""
    from scipy.optimize import nnls

    rows = np.array(terms) / np.array(measured)[:, None]
    scale = rows.max(axis=0)
    return (nnls(rows / scale, np.ones(len(measured)))[0] / scale).tolist()


def _fitted(timed: Sequence[Timed]) -> tuple[list[float], float]:
    """Return the constants of a tree's time, and the largest relative error."""
    terms, trees = [fit.size.terms() for fit in timed], [fit.tree for fit in timed]
    constants = _constants(terms, trees)
    return constants, float(np.abs(np.dot(terms, constants) / trees - 1).max())


def _memory() -> tuple[list[float], float]:
    """Return the megabytes per value and per document, and the largest relative error."""
    terms, peaks = [], []
    for queries, features in MEMORY:
        (result,) = training.run(queries, 3, BASE["leaves"], (1,), ("rankwright",), features)
        documents = queries * DOCUMENTS_PER_QUERY
        terms.append([documents * features, documents])
        peaks.append(result["peak_mb"])
    constants = _constants(terms, peaks)
    return constants, float(np.abs(np.dot(terms, constants) / peaks - 1).max())


def _second_thread(collection: rw.RankingData) -> float:
    """Return how many times as fast LambdaMART is on two threads."""
    train = rw.TrainingSet(collection)
    times = []
    for threads in (1, 2):
        ranker = rw.LambdaMART(rounds=ROUNDS["LambdaMART"], max_leaves=BASE["leaves"], n_jobs=threads)
        ranker.fit(train)
        times.append(_seconds(partial(ranker.fit, train)))
    return times[0] / times[1]


def _default_fits(ranker: str, collection: rw.RankingData) -> list[float]:
    """Return the seconds of a fit with the default options, on one thread, for each number of queries."""
    ends = [queries * DOCUMENTS_PER_QUERY for queries in OTHER_QUERIES]
    parts = [
        rw.RankingData(collection.X[:end, :OTHER_FEATURES], collection.y[:end], collection.qid[:end])
        for end in ends
    ]
    return [_seconds(partial(getattr(rw, ranker)(n_jobs=1).fit, part), repeats=1) for part in parts]


def measure() -> dict[str, Any]:
    """Return the constants of all formulas, with their largest errors."""
    costs: dict[str, Any] = {"seconds": {}, "errors": {}}
    costs["megabytes"], costs["errors"]["memory"] = _memory()  # first: processes inherit the peak of this one
    collection = web_search(BASE["queries"] * 2, seed=1)
    datasets: list[Timed] = []
    for ranker in RANKERS:
        costs["seconds"][ranker], costs["errors"][ranker] = {}, {}
        for kind, queries in (("large", BASE["queries"]), ("small", SMALL_QUERIES)):
            timed = [_timed(ranker, sizes, collection) for sizes in _sizes(ranker, BASE | {"queries": queries})]
            constants, error = _fitted(timed)
            costs["seconds"][ranker][kind], costs["errors"][ranker][kind] = constants, error
            datasets += timed
            print(f"{ranker}, {kind}: {error:.0%} at most", flush=True)
    costs["dataset"] = _constants(
        [[fit.size.documents * fit.size.features] for fit in datasets], [fit.dataset for fit in datasets]
    )[0]
    costs["others"] = {ranker: _default_fits(ranker, collection) for ranker in OTHERS}
    costs["second_thread"] = _second_thread(collection)
    costs["roofline"] = roofline.measure()
    return costs


def tables(costs: dict[str, Any]) -> str:
    """Return the measured part of the page."""
    lines = ["| nanoseconds per tree | " + " | ".join(TERMS) + " | largest error |", "|---" * 6 + "|"]
    for ranker in RANKERS:
        for kind, limit in (("large", "from"), ("small", "below")):
            numbers = [f"{constant * 1e9:.3g}" for constant in costs["seconds"][ranker][kind]]
            error = f"{costs['errors'][ranker][kind]:.0%}"
            lines.append(f"| {ranker}, {limit} {COARSE_DOCUMENTS:,} documents | {' | '.join(numbers)} | {error} |")
    per_value, per_document = costs["megabytes"]
    lines += [
        "",
        f"The data set takes {costs['dataset'] * 1e9:.2g} ns per value, once. Memory beyond the feature matrix:",
        f"{per_value * 1e6:.2g} bytes per value and {per_document * 1e6:.0f} per document (largest error "
        f"{costs['errors']['memory']:.0%}), measured from {COARSE_DOCUMENTS:,} documents on.",
        f"A second thread makes LambdaMART {costs['second_thread']:.2f} times as fast.",
        "",
        "So these fits would take, all predicted:",
        "",
        "| documents | features | feature matrix | memory beyond it | 100 trees of 31 leaves, one thread |",
        "|---" * 5 + "|",
    ]
    for documents, features in QUESTIONS:
        size = Size(documents, features, BASE["leaves"])
        matrix = documents * features * 4 / 1e6
        own, seconds = predicted_megabytes(costs, size), predicted_seconds(costs, size, 100)
        lines.append(f"| {documents:,} | {features} | {matrix:,.0f} MB | {own:,.0f} MB | {seconds:,.1f} s |")
    return "\n".join([*lines, "", *_others(costs["others"]), "", *roofline.table(costs["roofline"])])


def _others(seconds: dict[str, list[float]]) -> list[str]:
    """Return the table of the other rankers."""
    sizes = [f"{queries * DOCUMENTS_PER_QUERY:,} documents" for queries in OTHER_QUERIES]
    return [
        f"| seconds with the defaults, {OTHER_FEATURES} features, one thread | {' | '.join(sizes)} |",
        "|---" * (1 + len(sizes)) + "|",
        *(f"| {ranker} | {' | '.join(f'{time:.2f}' for time in times)} |" for ranker, times in seconds.items()),
    ]


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    costs = measure()
    if options.write:
        TABLE.write_text(json.dumps(costs, indent=1) + "\n")
        write_page(costs)
    print(tables(costs))


def write_page(costs: dict[str, Any]) -> None:
    """Replace the measured part of the page."""
    before, rest = PAGE.read_text().split("<!-- measured -->\n", 1)
    after = rest.split("<!-- end -->\n", 1)[1]
    PAGE.write_text(f"{before}<!-- measured -->\n\n{tables(costs)}\n\n<!-- end -->\n{after}")


if __name__ == "__main__":
    main()
