"""Small collections of the shape of LETOR's and of Cranfield, written to files, and runs without a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import rankwright as rw
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.sources import COLLECTIONS

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [f"{first}{second}{last}" for first in "bdfgk" for second in "aeou" for last in ("lm", "rt")]


def write_collection(folder: Path, name: str, *, n_documents: int = 6) -> None:
    """Write five folds with the features and the number of queries of a collection."""
    known = COLLECTIONS[name]
    rng = np.random.default_rng(known.n_features)
    tests = [len(part) for part in np.array_split(np.arange(known.n_queries), 5)]
    parts = [made(rng, n_queries, n_documents, known.n_features, 1000 * n) for n, n_queries in enumerate(tests)]
    for fold in range(5):
        path = folder / name / f"Fold{fold + 1}"
        path.mkdir(parents=True)
        for place, part in enumerate(("train", "vali", "test")):
            rw.write_letor(parts[(fold + place) % 5], path / f"{part}.txt")


def made(rng, n_queries: int, n_documents: int, n_features: int, first: int) -> rw.RankingData:
    """Return documents whose first feature tells most about their labels 0 to 2."""
    X = rng.random((n_queries * n_documents, n_features))
    noise = rng.normal(scale=0.3, size=len(X))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + noise, [0.8, 1.2])
    y[::n_documents], y[1::n_documents] = 2, 0  # every query has documents of different labels
    return rw.RankingData(X, y, np.repeat(np.arange(n_queries) + first, n_documents))


def write_cranfield(folder: Path, *, n_documents: int = 80, n_queries: int = 24) -> None:
    """Write documents, queries and judgements: relevant are documents with most of a query's three words."""
    rng = np.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    texts = [rng.choice(WORDS, size=rng.integers(8, 25)).tolist() for _ in range(n_documents)]
    queries = [rng.choice(WORDS, size=3, replace=False).tolist() for _ in range(n_queries)]
    documents = "".join(
        f".I {n}\n.T\n{text[0]} {text[1]}\n.A\n.B\n.W\n{' '.join(text)}\n" for n, text in enumerate(texts, start=1)
    )
    (folder / "cran.all.1400").write_text(documents)
    (folder / "cran.qry").write_text(
        "".join(f".I {2 * n + 1:03}\n.W\n{' '.join(q)} .\n" for n, q in enumerate(queries))
    )
    judged = [
        f"{query} {document} {2 if {*words} <= {*text} else 3}\n"
        for query, words in enumerate(queries, start=1)
        for document, text in enumerate(texts, start=1)
        if len({*words} & {*text}) >= 2
    ]
    (folder / "cranqrel").write_text("".join(judged))


def measured(experiment):
    """Return the measurements of an experiment, without a cache."""
    arrays = {}
    for name in experiment.source.trials():
        trial = experiment.source.trial(name)
        for system, fit in experiment.systems.items():
            fitted = fit(trial, 1)
            models = fitted if isinstance(fitted, dict) else {system: fitted}
            for model, scorer in models.items():
                for measure in experiment.measures:
                    arrays |= {(model, key, name): values for key, values in measure(scorer, trial, 1).items()}
    return Measurements(tuple(experiment.source.trials()), arrays)
