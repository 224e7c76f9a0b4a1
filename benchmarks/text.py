"""Indexing and searching text, beside bm25s and tantivy: one run, two threads, a fresh process for each tool.

Documents are words drawn by Zipf's law; queries are words of documents, frequent ones too. All tools index the
same words (no stop words, no stems). rankwright and tantivy keep positions, and rankwright keeps the text; bm25s
keeps neither. Seconds of the processor count the work of all threads, so that they say more than seconds on a busy
machine.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N_DOCUMENTS = 200_000
N_WORDS = 200  # per document
N_DISTINCT = 200_000
N_QUERIES = 1_000
N_FOUND = 100
N_THREADS = 2
LETTERS = "etaoinshrdlucmfwypvbgkjqxz"


@dataclass(frozen=True)
class Line:
    """A document of the benchmark."""

    id: str
    fields: dict[str, str]


def word(number: int) -> str:
    """Return a word of at least two letters, the shorter the lower its number."""
    letters = LETTERS[number % 26]
    while number := number // 26:
        letters += LETTERS[number % 26]
    return letters + "a"


def generate(folder: Path, n_documents: int) -> None:
    """Write documents and queries, one per line."""
    rng = np.random.default_rng(0)
    words = np.array([word(number) for number in range(N_DISTINCT)])
    edges = np.cumsum(1 / np.arange(1, N_DISTINCT + 1))
    with (folder / "documents.txt").open("w") as file:
        for _ in range(0, n_documents, 1000):
            numbers = np.searchsorted(edges, rng.random((1000, N_WORDS)) * edges[-1])
            file.writelines(" ".join(line) + "\n" for line in words[numbers].tolist())
    numbers = np.searchsorted(edges, rng.random((N_QUERIES, 5)) * edges[-1])
    sizes = rng.integers(2, 6, N_QUERIES)
    queries = [" ".join(words[row[:size]]) for row, size in zip(numbers, sizes, strict=True)]
    (folder / "queries.txt").write_text("\n".join(queries))


def lines(folder: Path) -> Iterator[str]:
    """Yield documents."""
    with (folder / "documents.txt").open() as file:
        yield from (line.rstrip("\n") for line in file)


def rankwright(folder: Path) -> dict[str, float]:
    """Index and search with rankwright."""
    from rankwright.text import Analyser, Index

    analyser = Analyser(stop_words=None, stemmer=None)
    documents = (Line(str(number), {"body": line}) for number, line in enumerate(lines(folder)))
    indexing = measured(lambda: Index.build(documents, folder / "index", analyser=analyser, n_jobs=N_THREADS))
    peak = peak_bytes()
    opened = repeated(lambda: Index.open(folder / "index"))
    index = Index.open(folder / "index")
    queries = (folder / "queries.txt").read_text().split("\n")
    searching = repeated(lambda: index.search_all(queries, n=N_FOUND, n_jobs=N_THREADS))
    return figures(indexing, peak, searching, opened) | features(index, queries) | searcher(index, queries)


def searcher(index: Any, queries: list[str]) -> dict[str, float]:
    """Return seconds to load a saved searcher, and of searches with its model on one thread."""
    from rankwright import LambdaMART
    from rankwright.text import FeatureSet, Queries, Searcher

    some = Queries.of({str(number): text for number, text in enumerate(queries[:20])})
    made = FeatureSet().documents(index, some, index.search_all(some.texts, n=N_FOUND), n_jobs=N_THREADS)
    labels = np.random.default_rng(0).integers(3, size=len(made))
    model = LambdaMART(rounds=100).fit(made.with_labels(labels))
    path = Searcher(index, FeatureSet(), model, candidates=N_FOUND).save()
    loading = repeated(lambda: Searcher.load(path))
    loaded = Searcher.load(path)
    loaded.search(queries[0])  # maps the file
    seconds = [measured(lambda: loaded.search(query)).wall for query in queries]  # noqa: B023
    return {
        "load_seconds": loading.wall,
        "ranked_mean": float(np.mean(seconds)),
        "ranked_p99": float(np.quantile(seconds, 0.99)),
    }


def features(index: Any, queries: list[str]) -> dict[str, float]:
    """Return seconds for all features of one query's candidates, on one thread: the first, the mean, the 99th."""
    from rankwright.text import FeatureSet

    found = index.search_all(queries, n=N_FOUND, n_jobs=N_THREADS)
    made = FeatureSet()
    first, *others = [
        measured(lambda: made.documents(index, {"q": query}, [mine], n_jobs=1))  # noqa: B023
        for query, mine in zip(queries, found, strict=True)
    ]
    return {
        "features_first": first.wall,  # which checks the vocabularies of all documents
        "features_mean": float(np.mean([one.wall for one in others])),
        "features_p99": float(np.quantile([one.wall for one in others], 0.99)),
        "features_processor": float(np.mean([one.processor for one in others])),
    }


def bm25s(folder: Path) -> dict[str, float]:
    """Index and search with bm25s, by its fastest backend."""
    import bm25s as other

    model = other.BM25(k1=1.2, b=0.75, backend="numba")
    quiet = {"show_progress": False}

    def index() -> None:
        tokens = other.tokenize([*lines(folder)], stopwords=None, **quiet)
        model.index(tokens, **quiet)

    def search() -> None:
        tokens = other.tokenize(queries, stopwords=None, return_ids=False, **quiet)
        model.retrieve(tokens, k=N_FOUND, n_threads=N_THREADS, **quiet)

    indexing, peak = measured(index), peak_bytes()
    queries = (folder / "queries.txt").read_text().split("\n")
    return figures(indexing, peak, repeated(search))


def tantivy(folder: Path) -> dict[str, float]:
    """Index and search with tantivy, on one thread or two, whichever is faster."""
    import tantivy as other

    builder = other.SchemaBuilder()
    builder.add_text_field("body", stored=False, tokenizer_name="default", index_option="position")
    (folder / "tantivy").mkdir()
    made = other.Index(builder.build(), path=str(folder / "tantivy"))

    def index() -> None:
        writer = made.writer(num_threads=N_THREADS)
        for line in lines(folder):
            writer.add_document(other.Document(body=line))
        writer.commit()
        writer.wait_merging_threads()

    def find(query: str) -> Any:
        return searcher.search(made.parse_query(query, ["body"]), N_FOUND, count=False).hits

    indexing, peak = measured(index), peak_bytes()
    made.reload()
    searcher = made.searcher()
    queries = (folder / "queries.txt").read_text().split("\n")
    with ThreadPoolExecutor(N_THREADS) as pool:
        both = repeated(lambda: [*pool.map(find, queries)])
    alone = repeated(lambda: [find(query) for query in queries])
    return figures(indexing, peak, min(both, alone))


TOOLS = {"rankwright": rankwright, "bm25s": bm25s, "tantivy": tantivy}


class Cost(NamedTuple):
    """What some work took: seconds, and seconds of the processor on all threads."""

    wall: float
    processor: float


def measured(work: Callable[[], object]) -> Cost:
    """Return what some work takes."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - processor)


def repeated(work: Callable[[], object], repeats: int = 5) -> Cost:
    """Return the least that some work takes, after a first time that does not count."""
    work()
    costs = [measured(work) for _ in range(repeats)]
    return Cost(min(one.wall for one in costs), min(one.processor for one in costs))


def peak_bytes() -> int:
    """Return the highest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def figures(index: Cost, peak: int, search: Cost, opened: Cost | None = None) -> dict[str, float]:
    """Return the figures of a tool."""
    return {
        "index_seconds": index.wall,
        "index_processor": index.processor,
        "peak_bytes": peak,
        "search_seconds": search.wall,
        "search_processor": search.processor,
        "open_seconds": opened.wall if opened else float("nan"),
    }


def run(n_documents: int = N_DOCUMENTS, repeats: int = 1) -> dict[str, dict[str, float]]:
    """Return the best figures of every tool, each measured in fresh processes, in turn."""
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in TOOLS}
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        start("generate", here, str(n_documents))
        for repeat in range(repeats):
            for name in TOOLS:
                folder = here / f"{name}{repeat}"
                folder.mkdir()
                for file in ("documents.txt", "queries.txt"):
                    (folder / file).symlink_to(here / file)
                runs[name].append(json.loads(start(name, folder)))
    return {name: {key: min(one[key] for one in mine) for key in mine[0]} for name, mine in runs.items()}


def start(name: str, folder: Path, *more: str) -> str:
    """Run a part in a process of its own; return its last line."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.text", "--part", name, str(folder), *more]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()[-1] if done.stdout else ""


def main() -> None:
    """Print the table."""
    report = run()
    print(
        f"{N_DOCUMENTS:,} documents of {N_WORDS} words; {N_QUERIES:,} queries, top {N_FOUND}; {N_THREADS} threads"
    )
    print(
        f"{'tool':12}{'indexing':>10}{'processor':>11}{'memory':>10}{'searching':>11}{'processor':>11}{'opening':>11}"
    )
    for name, one in report.items():
        print(
            f"{name:12}{one['index_seconds']:8.1f} s{one['index_processor']:9.1f} s"
            f"{one['peak_bytes'] / 1e6:7.0f} MB"
            f"{one['search_seconds'] * 1e3:8.0f} ms{one['search_processor'] * 1e3:8.0f} ms"
            f"{one['open_seconds'] * 1e3:8.1f} ms"
        )
    own = report["rankwright"]
    print(
        f"features of {N_FOUND} candidates of one query, one thread: mean {own['features_mean'] * 1e3:.2f} ms, "
        f"99% below {own['features_p99'] * 1e3:.2f} ms, processor {own['features_processor'] * 1e3:.2f} ms; "
        f"the first query {own['features_first'] * 1e3:.0f} ms"
    )
    print(
        f"a saved searcher loads in {own['load_seconds'] * 1e3:.1f} ms; a search with 100 trees, one thread: "
        f"mean {own['ranked_mean'] * 1e3:.1f} ms, 99% below {own['ranked_p99'] * 1e3:.1f} ms"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", nargs="+")
    part = parser.parse_args().part
    if part is None:
        main()
    elif part[0] == "generate":
        generate(Path(part[1]), int(part[2]))
    else:
        print(json.dumps(TOOLS[part[0]](Path(part[1]))))
