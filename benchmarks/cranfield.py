"""Learned rankers and tuned BM25 on Cranfield, over five folds of its 225 queries, and the time of a search.

`python -m benchmarks.cranfield --data FOLDER` takes the folder with cran.all.1400, cran.qry and cranqrel. With
`--page docs/search.md` the tables are written into that page; `--work FOLDER` caches the scores, so that an
interrupted run resumes.

The test documents of a query are the first 200 that BM25 finds, and all judged ones. Rankers learn from the first
200 alone: of the judged documents that are not retrieved, nearly all are relevant, so that a ranker that saw them
would learn that a low score of BM25 is a sign of relevance. `LEAKING` shows how misleading that would be.

`--divisions N` adds a table of N other divisions of the queries into folds: what a single division decides by
chance.

Nothing is chosen on a test fold: BM25 and the language models are tuned on the training folds, for NDCG@10, and
the features of the same name have the parameters found there. All other rankers have settings that were fixed
before.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rankwright as rw
from rankwright.text.retrieval import model_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankwright.data.dataset import RankingData
    from rankwright.data.readers.trec import Judgements
    from rankwright.rankers.ranker import Ranker
    from rankwright.text import FeatureSet, Index, Queries

N_CANDIDATES, N_FOLDS, SEED = 200, 5, 0
METRICS = ("ndcg@10", "map")
BASELINE = "BM25, tuned"
PAPER = "adarank-2007"
REPEATED = (BASELINE, "LambdaMART", "MART")  # in other divisions into folds
COLUMNS = {"query_features": ["zscore", "rank"]}
LEAKING = "LambdaMART that learned from judged documents that were not found, too"


class Collection(NamedTuple):
    """An index with queries and judgements."""

    index: Index
    queries: Queries
    judgements: Judgements


def systems(*, auto: Ranker) -> dict[str, Ranker]:
    """Return the rankers that are compared, with the settings that they have in AutoRanker's portfolios."""
    return {
        BASELINE: rw.BM25Ranker(),
        "language model, tuned": rw.LanguageModelRanker(),
        "LambdaMART": rw.LambdaMART(rounds=300, **COLUMNS),
        "MART": rw.MART(rounds=300, **COLUMNS),
        "McRank": rw.McRank(rounds=150, **COLUMNS),
        "RankSVM": rw.RankSVM(),
        "RankBoost": rw.RankBoost(),
        "LambdaRank": rw.LambdaRank(),
        "AdaRank": rw.AdaRank(),
        "ListNet": rw.ListNet(),
        "AutoRanker": auto,
    }


def paper_systems() -> dict[str, Ranker]:
    """Return the methods of Xu and Li (2007), and LambdaMART."""
    return {
        BASELINE: rw.BM25Ranker(),
        "AdaRank for NDCG@10": rw.AdaRank("ndcg@10"),
        "AdaRank for MAP": rw.AdaRank("map"),
        "RankBoost": rw.RankBoost(),
        "RankSVM": rw.RankSVM(),
        "LambdaMART": rw.LambdaMART(rounds=300, **COLUMNS),
    }


def main() -> None:
    """Print the tables, and write them into a page if one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--auto-seconds", type=float, help="time limit of AutoRanker on each fold")
    parser.add_argument("--divisions", type=int, default=0, help="number of other divisions into folds")
    parser.add_argument("--only-divisions", action="store_true", help="measure nothing but the other divisions")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        collection = read(options.data, Path(temporary) / "index")
        auto = rw.AutoRanker(time_limit=options.auto_seconds)
        rankers = {} if options.only_divisions else {None: systems(auto=auto), PAPER: paper_systems()}
        tables = [table(experiment(collection, names, some, work), names) for names, some in rankers.items()]
        if options.divisions:
            tables.append(divisions_table(collection, options.divisions, work))
        if not options.only_divisions:
            tables.append(times(collection))
    print("\n\n".join(tables))
    if options.page is not None:
        write_into(options.page, "\n\n".join(tables))


def read(folder: Path, index: Path) -> Collection:
    """Return Cranfield, indexed with the defaults: English stop words and stems, title and body alike."""
    documents = rw.text.read_documents(folder / "cran.all.1400", fields={"title": "T", "body": "W"})
    return Collection(
        rw.text.Index.build(documents, index),
        rw.text.read_queries(folder / "cran.qry", ids="place"),
        rw.read_judgements(folder / "cranqrel", grades=rw.CRANFIELD_GRADES),
    )


class Outcome(NamedTuple):
    """The scores of all systems for the test documents, and which of these a search finds."""

    test: RankingData
    is_found: NDArray[np.bool_]
    scores: dict[str, NDArray[np.float64]]
    judgements: Judgements


class Fold(NamedTuple):
    """Documents to learn from, without and with judged ones that are not retrieved, and those to test on."""

    number: int
    train: RankingData
    train_leaking: RankingData
    test: RankingData
    is_test: NDArray[np.bool_]


def experiment(
    collection: Collection, names: Any, rankers: dict[str, Ranker], work: Path, seed: int = SEED
) -> Outcome:
    """Fit and test every ranker on every fold; another seed is another division into folds."""
    test = judged(collection, rw.text.FeatureSet(names), judged_too=True)
    leaking = [LEAKING] if names is None and seed == SEED else []
    scores = {name: np.empty(len(test)) for name in [*rankers, *leaking]}
    division = "" if seed == SEED else f"{seed}-"
    for fold in folds_of(collection, names, seed):
        for name in scores:
            leaks = name == LEAKING
            file = work / f"{division}{names or 'all'}-{name}-{fold.number}.npy"
            if not file.exists():
                started = time.perf_counter()
                ranker = rankers["LambdaMART" if leaks else name].unfitted()
                ranker.fit(fold.train_leaking if leaks else fold.train)
                np.save(file, ranker.predict(fold.test))
                print(f"fold {fold.number + 1}, {name}: {time.perf_counter() - started:.0f} s", flush=True)
            scores[name][fold.is_test] = np.load(file)
    queries = collection.queries
    found = {
        query: {*one.ids}
        for query, one in zip(queries.ids, collection.index.search_all(queries.texts, n=N_CANDIDATES), strict=True)
    }
    pairs = zip(test.qid.tolist(), test.document_names.tolist(), strict=True)
    is_found = np.array([document in found[query] for query, document in pairs])
    return Outcome(test, is_found, scores, collection.judgements)


def folds_of(collection: Collection, names: Any, seed: int) -> Iterator[Fold]:
    """Yield the folds, with features that were tuned on the training queries."""
    order = np.random.default_rng(seed).permutation(len(collection.queries))
    fold_of = dict(zip(collection.queries.ids, (order % N_FOLDS).tolist(), strict=True))
    for number in range(N_FOLDS):
        queries = {query for query, fold in fold_of.items() if fold != number}
        features = tuned(some_of(judged(collection, rw.text.FeatureSet("BM25"), judged_too=False), queries), names)
        found, added = (judged(collection, features, judged_too=too) for too in (False, True))
        is_test = ~np.isin(added.qid, [*queries])
        yield Fold(number, some_of(found, queries), some_of(added, queries), added.take(is_test), is_test)


def judged(collection: Collection, features: FeatureSet, *, judged_too: bool) -> RankingData:
    """Return the candidates of all queries with features and labels."""
    found = features.judged(*collection, candidates=N_CANDIDATES, judged_too=judged_too)
    return found.data


def some_of(data: RankingData, queries: set[str]) -> RankingData:
    """Return the documents of some queries."""
    return data.take(np.isin(data.qid, [*queries]))


def tuned(train: RankingData, names: Any) -> FeatureSet:
    """Return features whose models of retrieval have the best parameters on the training queries."""
    rankers = {
        "bm25": rw.BM25Ranker(),
        "dirichlet": rw.LanguageModelRanker(smoothing="dirichlet"),
        "jelinek_mercer": rw.LanguageModelRanker(smoothing="jelinek-mercer"),
        "absolute_discounting": rw.LanguageModelRanker(smoothing="absolute-discounting"),
    }
    fitted: dict[str, Any] = {name: ranker.fit(train).model_ for name, ranker in rankers.items()}
    models: dict[str, Any] = {name: model_of(one.model, one.parameters) for name, one in fitted.items()}
    return rw.text.FeatureSet(names, **models)


def table(outcome: Outcome, names: Any) -> str:
    """Return the means of all systems and their differences from BM25, as Markdown."""
    compared = rw.compare(outcome.scores, outcome.test, metrics=METRICS, baseline=BASELINE)
    runs = {
        name: rw.data.Run.of(
            outcome.test.qid[outcome.is_found],
            outcome.test.document_names[outcome.is_found],
            scores[outcome.is_found],
        )
        for name, scores in outcome.scores.items()
    }
    searched = rw.evaluate(runs, outcome.judgements, metrics=METRICS)
    what = "the seven features of the paper" if names == PAPER else f"{outcome.test.n_features} features"
    lines = [
        f"| {what} | NDCG@10 | p | MAP | p | NDCG@10 in search | MAP in search |",
        "|---|---|---|---|---|---|---|",
    ]
    for system in compared.by("ndcg@10").ranked():
        cells = []
        for metric in METRICS:
            pair = None if system == BASELINE else compared.pair(system, BASELINE, metric)
            cells += [decimals(compared.mean(system, metric)), "" if pair is None else p_of(pair)]
        cells += [decimals(searched.mean(system, metric)) for metric in METRICS]
        lines.append(f"| {system} | {' | '.join(cells)} |")
    return "\n".join(lines)


def divisions_table(collection: Collection, n: int, work: Path) -> str:
    """Return how far the quickest rankers are ahead of BM25 in other divisions of the queries, as Markdown."""
    rankers = {name: one for name, one in systems(auto=rw.AutoRanker()).items() if name in REPEATED}
    found: dict[tuple[str, str], list[Any]] = {}
    for seed in range(SEED + 1, SEED + 1 + n):
        outcome = experiment(collection, None, rankers, work, seed)
        compared = rw.compare(outcome.scores, outcome.test, metrics=METRICS, baseline=BASELINE)
        for name in REPEATED[1:]:
            for metric in METRICS:
                found.setdefault((name, metric), []).append(compared.pair(name, BASELINE, metric))
    lines = [f"| {n} other divisions | metric | ahead of BM25 | p |", "|---|---|---|---|"]
    for (name, metric), pairs in found.items():
        ahead = ", ".join(f"{pair.difference:+.4f}".replace("0.", ".") for pair in pairs)
        p = ", ".join(small(pair.p_values["randomisation"]) for pair in pairs)
        lines.append(f"| {name} | {metric.upper()} | {ahead} | {p} |")
    return "\n".join(lines)


def p_of(pair: Any) -> str:
    """Return the p-value of the randomisation test, alone and corrected."""
    return f"{small(pair.p_values['randomisation'])} ({small(pair.corrected['randomisation'])})"


def small(p: float) -> str:
    """Return a p-value."""
    return f"{p:.4f}".removeprefix("0")


def decimals(value: float) -> str:
    """Return a mean."""
    return f"{value:.4f}".removeprefix("0")


def times(collection: Collection) -> str:
    """Return the time of a search with LambdaMART, single queries on one thread, as a sentence."""
    train = judged(collection, rw.text.FeatureSet(), judged_too=False)
    ranker = rw.LambdaMART(rounds=300, **COLUMNS).fit(train)
    searcher = rw.text.Searcher(collection.index, rw.text.FeatureSet(), ranker, candidates=N_CANDIDATES)
    seconds = []
    for text in collection.queries.texts * 3:
        clock, processor = time.perf_counter(), time.process_time()
        searcher.search(text, 10)
        seconds.append((time.perf_counter() - clock, time.process_time() - processor))
    taken = np.array(seconds[len(collection.queries) :]) * 1000  # the first ones prepare what is then kept
    (middle, middle_processor), (late, late_processor) = np.percentile(taken, [50, 99], axis=0)
    return (
        f"A search on one thread, with {N_CANDIDATES} candidates, {train.n_features} features and LambdaMART of "
        "300 trees with columns within the query, takes "
        f"{middle:.1f} ms ({middle_processor:.1f} ms of the processor); 99 % of the searches take less than "
        f"{late:.1f} ms ({late_processor:.1f} ms)."
    )


def write_into(page: Path, text: str) -> None:
    """Replace what stands between the marks in a page."""
    before, after = "<!-- measured: cranfield -->\n", "<!-- end of measured -->"
    content = page.read_text(encoding="utf-8")
    start, end = content.index(before) + len(before), content.index(after)
    page.write_text(f"{content[:start]}{text}\n{content[end:]}", encoding="utf-8")


if __name__ == "__main__":
    main()
