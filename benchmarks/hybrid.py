"""Fusion of BM25 and an encoder on Cranfield, over five folds: on all documents and on new ones, with few queries.

`python -m benchmarks.hybrid --data FOLDER --encoder FOLDER` takes the folder with cran.all.1400, cran.qry and
cranqrel, and a folder with an ONNX model and its tokenizer, such as all-MiniLM-L6-v2. With `--page docs/hybrid.md`
the tables are written into that page. `--index FOLDER` keeps the index with its vectors for the next run, `--work
FOLDER` the scores.

Candidates are the first 100 of BM25 and the first 100 nearest documents, joined. Nothing is chosen on a test fold:
all rankers have settings that were fixed before, weights are learned on training folds; a quarter of their queries
chooses the number of rounds of LambdaMART. NDCG is relative to the relevant documents among the candidates.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw
from benchmarks.cranfield import decimals, p_of, write_into
from rankwright.models import FeatureScorer, StandardisedScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rankwright.crossval.folds import FoldParts
    from rankwright.data.dataset import RankingData

N_CANDIDATES, METRIC, BASELINE, FIXED = 100, "ndcg@10", "BM25", "z-scores"
COLUMNS: Any = {"query_features": ["zscore", "rank"]}
SIZES, DRAWS = (25, 50, 100), 5
RANDOM = "random"


def main() -> None:
    """Print the tables, and write them into a page if one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--auto-seconds", type=float, default=60.0, help="time limit of AutoRanker on each fold")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        index = index_of(options.data, options.encoder, options.index or Path(temporary) / "index")
        data = {name: judged(index, options.data, name) for name in index.encoders}
        real, useless = (data[name] for name in index.encoders)
        tables = [
            table("Cranfield", real, systems(options.auto_seconds), work, new_documents=False),
            table("Cranfield, new documents", real, systems(options.auto_seconds), work, new_documents=True),
            curve_table(real, "judged queries"),
            curve_table(useless, "judged queries, random vectors"),
        ]
    print("\n\n".join(tables))
    if options.page is not None:
        write_into(options.page, "\n\n".join(tables))


def index_of(data: Path, encoder: Path, folder: Path) -> Any:
    """Return Cranfield with the vectors of the encoder, and with random ones."""
    if not (folder / "index.json").exists():
        rw.text.Index.build(
            rw.text.read_documents(data / "cran.all.1400", fields={"title": "T", "body": "W"}), folder
        )
    useless = rw.text.Encoder(random_vectors, RANDOM)
    index = rw.text.Index.open(folder, encoders=[useless])
    index.encode(rw.text.Encoder.load(encoder, "minilm"))
    index.encode(useless)
    return index


def random_vectors(texts: list[str]) -> NDArray[np.float64]:
    """Return vectors that have nothing to do with what texts say."""
    seeds = [np.frombuffer(text.encode()[-64:].ljust(64, b" "), np.uint32) for text in texts]
    return np.array([np.random.default_rng(seed).standard_normal(64) for seed in seeds])


def judged(index: Any, folder: Path, encoder: str) -> RankingData:
    """Return the joined candidates of BM25 and an encoder, with features and labels."""
    queries = rw.text.read_queries(folder / "cran.qry", ids="place")
    judgements = rw.read_judgements(folder / "cranqrel", grades=rw.CRANFIELD_GRADES)
    retrieval = rw.text.Hybrid([rw.text.BM25(), rw.text.Dense(encoder)])
    families = [*rw.text.features.definitions.FAMILIES, f"{encoder}: cosine"]
    names = [name for name in families if name != "length"]
    features = rw.text.FeatureSet(names, retrieval=retrieval)
    data: RankingData = features.judged(index, queries, judgements, candidates=N_CANDIDATES).data
    return data


def systems(auto_seconds: float) -> dict[str, Any]:
    """Return functions from training and test documents to scores of the test documents."""
    trees: Any = {"rounds": 300, **COLUMNS}

    def ranked(make: Callable[[], Any]) -> Any:
        return lambda train, test: make().fit(train).predict(test)

    def boosted(train: RankingData, test: RankingData, *, from_fusion: bool = False) -> NDArray[np.float64]:
        part, validation = rw.split_queries(train, 0.75, 0.25)
        start = rw.Fusion().fit(part) if from_fusion else None
        return rw.LambdaMART(**trees).fit(part, validation=validation, start=start, refit=True).predict(test)

    return {
        BASELINE: column("BM25: retrieval score"),
        "BM25, tuned": ranked(rw.BM25Ranker),
        "dense": column(": retrieval score", last=True),
        "RRF": ranked(lambda: rw.Fusion(method="rrf", learned=False)),
        FIXED: ranked(lambda: rw.Fusion(method="zscore", learned=False)),
        "min-max": ranked(lambda: rw.Fusion(method="minmax", learned=False)),
        "exact blend": blended,
        "learned weights": ranked(rw.Fusion),
        "RankSVM": ranked(rw.RankSVM),
        "LambdaMART": boosted,
        "LambdaMART from the fusion": partial(boosted, from_fusion=True),
        "AutoRanker": ranked(lambda: rw.AutoRanker(time_limit=auto_seconds)),
    }


def column(name: str, *, last: bool = False) -> Any:
    """Return a system that is one feature; the last whose name ends so."""

    def scores(_train: RankingData, test: RankingData) -> NDArray[np.float64]:
        names = [each for each in test.feature_names or () if each.endswith(name)]
        return test.X[:, (test.feature_names or ()).index(names[-1 if last else 0])].astype(np.float64)

    return scores


def blended(train: RankingData, test: RankingData) -> NDArray[np.float64]:
    """Return scores by the exact best weights of BM25 and the encoder, both standardised within the query."""
    names = [name for name in train.feature_names or () if name.endswith(": retrieval score")]
    columns = [(train.feature_names or ()).index(name) for name in names]
    lowest = np.nanmin(train.X[:, columns], axis=0)
    members = [
        StandardisedScorer(FeatureScorer(number, n_features=train.n_features, missing=float(low)))
        for number, low in zip(columns, lowest, strict=True)
    ]
    return rw.blend(*members, on=train, metric=METRIC).predict(test)


def table(title: str, data: RankingData, methods: dict[str, Any], work: Path, *, new_documents: bool) -> str:
    """Return the means of all systems over five folds, and their differences from BM25 and the fixed fusion."""
    parts: dict[str, list[Any]] = {name: [] for name in methods}
    tests = []
    for fold in rw.make_folds(data, 5, new_documents=new_documents):
        tests.append(fold.test)
        for name, scores in methods.items():
            file = work / f"{name}-{fold.name}-{'new' if new_documents else 'all'}.npy"
            if not file.exists():
                np.save(file, scores(fold.train, fold.test))
                print(f"{title}, {fold.name}: {name}", flush=True)
            parts[name].append(np.load(file))
    scores = {name: np.concatenate(each) for name, each in parts.items()}
    test = rw.concat(*tests)
    compared = {first: rw.compare(scores, test, metrics=METRIC, baseline=first) for first in (BASELINE, FIXED)}
    lines = [
        f"| {title} | NDCG@10 | over BM25 | p | over z-scores | p |",
        "|---|---|---|---|---|---|",
    ]
    for system in compared[BASELINE].by(METRIC).ranked():
        cells = [decimals(compared[BASELINE].mean(system, METRIC))]
        for first, comparison in compared.items():
            pair = None if system == first else comparison.pair(system, first, METRIC)
            cells += ["", ""] if pair is None else [signed(pair.difference), p_of(pair)]
        lines.append(f"| {system} | {' | '.join(cells)} |")
    return "\n".join(lines)


def curve_table(data: RankingData, title: str) -> str:
    """Return the values of fusions that learn from few queries: the mean over folds and draws of queries."""
    lines = [f"| {title} | BM25 | dense | z-scores | learned weights |", "|---|---|---|---|---|"]
    folds = [*rw.make_folds(data, 5)]
    fixed = [column("BM25: retrieval score"), column(": retrieval score", last=True)]
    fixed.append(lambda train, test: rw.Fusion(learned=False).fit(train).predict(test))
    known = [mean_over(folds, lambda fold, scores=scores: [scores(fold.train, fold.test)]) for scores in fixed]
    for size in (*SIZES, None):
        learned = mean_over(folds, lambda fold, size=size: [*predictions(fold, size)])
        n = size or len(folds[0].train.groups)
        lines.append(f"| {n} | {' | '.join(map(decimals, [*known, learned]))} |")
    return "\n".join(lines)


def predictions(fold: FoldParts, size: int | None) -> Iterator[NDArray[np.float64]]:
    """Yield the scores of the test documents by weights that were learned from some of the training queries."""
    for draw in range(1 if size is None else DRAWS):
        train = fold.train if size is None else rw.sample_queries(fold.train, size, random_state=draw)
        yield rw.Fusion().fit(train).predict(fold.test)


def mean_over(folds: list[FoldParts], scored: Callable[[FoldParts], list[Any]]) -> float:
    """Return the mean of the metric over the test queries of all folds, and over draws."""
    values = []
    for fold in folds:
        reports = [rw.evaluate({"one": scores}, fold.test, metrics=METRIC) for scores in scored(fold)]
        values.append(np.mean([report.per_query("one", METRIC) for report in reports], axis=0))
    return float(np.nanmean(np.concatenate(values)))


def signed(difference: float) -> str:
    """Return a difference with its sign and four decimals."""
    return f"{difference:+.4f}".replace("0.", ".", 1)


if __name__ == "__main__":
    main()
