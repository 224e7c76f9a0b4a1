"""AutoRanker beside its own members, within budgets of microseconds, on very many queries, and by time limit.

`python -m benchmarks.auto --data OHSUMED MQ2008` takes folders with Fold1, Fold2, ... as LETOR has them. Rankers
learn from the training and the validation part; the test part judges the mixture, each of its members, mixtures
with other weights, and the mixtures within budgets; all are timed on the test documents.
`--work FOLDER` keeps the fits, or uses those of `benchmarks.accuracy --work FOLDER`.

`python -m benchmarks.auto --generated 6000` compares AutoRanker with LambdaMART on so many generated queries.

`python -m benchmarks.auto --time 30 120 --data OHSUMED MQ2008` fits on Fold1 of each folder, and on 20,007
generated documents, with these time limits; it prints the value of the test part and the members fitted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

import rankwright as rw
from benchmarks.accuracy import both_parts
from benchmarks.collection import web_search
from benchmarks.portfolio import WEIGHTS
from rankwright.auto.mixing import mix
from rankwright.evaluation.timing import microseconds_per_document, timing_sample
from rankwright.models.other_libraries import scores_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.data.dataset import RankingData
    from rankwright.models import Scorer

METRIC = "ndcg@10"
BUDGETS = (1.0, 5.0)  # microseconds per document
TIMED = 1.0  # seconds, of which the fastest run counts
MIXTURE = "mixture"
TIMED_QUERIES = 171  # 20,007 documents


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", default=[])
    parser.add_argument("--work", type=Path)
    parser.add_argument("--generated", type=int, metavar="QUERIES")
    parser.add_argument("--time", type=float, nargs="+", metavar="SECONDS")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.time:
        for name, judged, test in _one_fold_each(options.data):
            _show_by_time(name, judged, test, options.time)
        return
    with TemporaryDirectory() as temporary:
        for folder in options.data:
            _show_members(folder, (options.work or Path(temporary)) / folder.name)
    if options.generated:
        _show_generated(options.generated)


def _show_members(folder: Path, work: Path) -> None:
    """Print test values, means over folds, of the mixture, its members and the mixtures within budgets."""
    values, cost, seconds = defaultdict(list), defaultdict(list), 0.0
    for path in sorted(folder.glob("Fold*")):
        train, valid, test = rw.read_fold(path)
        both = both_parts(train, valid)
        started = time.perf_counter()
        ranker = rw.AutoRanker(METRIC, work=work / path.name).fit(both)
        seconds += time.perf_counter() - started
        systems = _members(ranker) | {
            f"within {most:g} µs": rw.AutoRanker(METRIC, work=work / path.name, max_microseconds=most)
            .fit(both)
            .model_
            for most in BUDGETS
        }
        sample = timing_sample(test)
        report = rw.evaluate(systems, test, metrics=METRIC)
        for name, one in systems.items():
            values[name].append(report.mean(name, METRIC))
            score = partial(scores_by, one, n_threads=1)
            cost[name].append(microseconds_per_document(score, sample, seconds=TIMED))
    print(f"{folder.name}: {METRIC}, mean over folds; µs per document, largest of all folds; {seconds:.0f} s")
    for name in sorted(values, key=lambda one: -np.mean(values[one])):
        print(f"  {name:<30}{np.mean(values[name]):8.4f}{max(cost[name]):8.2f}", flush=True)


def _members(ranker: rw.AutoRanker) -> Mapping[str, Scorer]:
    """Return the mixture, each member alone with its chosen number of rounds, and mixtures with other weights."""
    chosen = ranker.run_.whole.mix
    alone = {one.name: one.cut(place) for one, place in zip(chosen.entries, chosen.round_indices, strict=True)}
    weighted = {f"weights: {name}": mix(ranker.run_.entries, weigh).scorer() for name, weigh in WEIGHTS.items()}
    return {MIXTURE: ranker.model_} | alone | weighted


def _show_generated(n_queries: int) -> None:
    train, test = web_search(n_queries, seed=1), web_search(2_000, seed=2)
    seconds = {}
    for name, ranker in (("LambdaMART", rw.LambdaMART()), ("AutoRanker", rw.AutoRanker(METRIC))):
        started = time.perf_counter()
        ranker.fit(train)
        seconds[name] = time.perf_counter() - started
        print(f"{name:<12}{METRIC} {_value(ranker.model_, test):.4f}, {seconds[name]:.0f} s", flush=True)
    print(f"AutoRanker takes {seconds['AutoRanker'] / seconds['LambdaMART']:.1f} times as long")


def _one_fold_each(folders: Sequence[Path]) -> Iterator[tuple[str, RankingData, RankingData]]:
    for folder in folders:
        train, valid, test = rw.read_fold(folder / "Fold1")
        yield folder.name, both_parts(train, valid), test
    yield "generated", web_search(TIMED_QUERIES, seed=1), web_search(TIMED_QUERIES, seed=2)


def _show_by_time(name: str, judged: RankingData, test: RankingData, limits: Sequence[float]) -> None:
    """Print the value, the time of all fits with the estimate, and the members, heaviest first, of each limit."""
    for limit in limits:
        started = time.perf_counter()
        ranker = rw.AutoRanker(METRIC, time_limit=limit).fit(judged)
        seconds = time.perf_counter() - started
        members = ", ".join(member.name for member in ranker.standings_)
        print(f"{name}, {limit:g} s: {METRIC} {_value(ranker.model_, test):.4f}, {seconds:.0f} s", flush=True)
        print(f"  {ranker.run_.plan}; {members}", flush=True)


def _value(model: Scorer, test: RankingData) -> float:
    return rw.evaluate({"model": model}, test, metrics=METRIC).mean("model", METRIC)


if __name__ == "__main__":
    main()
