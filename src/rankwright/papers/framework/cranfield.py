"""Cranfield in place of WSJ and AP: a text collection with queries and judgements, and the paper's features."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.readers.judgements import CRANFIELD_GRADES, read_judgements
from rankwright.papers.framework.experiment import Absent
from rankwright.papers.framework.sources import divided_trial, divisions
from rankwright.rankers.bm25 import BM25Ranker
from rankwright.text.collections.documents import read_documents
from rankwright.text.collections.queries import read_queries
from rankwright.text.features.feature_set import FeatureSet
from rankwright.text.index.index import Index
from rankwright.text.retrieval import model_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.papers.framework.experiment import DataTrial, Setup, Source

CRANFIELD = "Cranfield"
DOCUMENTS, QUERIES, JUDGEMENTS = FILES = "cran.all.1400", "cran.qry", "cranqrel"
FEATURES = "adarank-2007"  # Table 2 of the paper
BM25 = 7  # the feature ln(BM25), which ranks as BM25 does
CANDIDATES = 200
EVERY_WORD_ONCE = {"title": 1.0, "body": 1.0}


@dataclass(frozen=True)
class CranfieldFolds:
    """Cranfield's queries in folds; the documents of a query are the first 200 that BM25 finds.

    BM25 is tuned on the training queries of the first fold, and used with these parameters in all folds, as the
    paper does. Queries with fewer than `least` relevant documents among those found are left out. The paper asks
    for 10, which few of Cranfield's 225 queries have; 118 have 5, and the paper had 120.
    """

    folder: Path = field(repr=False)
    n_folds: int = 4
    least: int = 5
    repeats: int = 1
    validation: float = 0.0

    @property
    def title(self) -> str:
        """The collection's name."""
        return CRANFIELD

    def trials(self) -> Sequence[str]:
        """Return the names of the folds."""
        return divisions(self.n_folds, self.repeats)

    def trial(self, name: str) -> DataTrial:
        """Divide the queries and return a fold."""
        return divided_trial(name, self._whole, self.n_folds, 0, self.validation)

    @cached_property
    def _whole(self) -> RankingData:
        with tempfile.TemporaryDirectory() as temporary:
            documents = read_documents(self.folder / DOCUMENTS, fields={"title": "T", "body": "W"})
            collection = (
                Index.build(documents, Path(temporary) / "index", fields=EVERY_WORD_ONCE),
                read_queries(self.folder / QUERIES, ids="place"),
                read_judgements(self.folder / JUDGEMENTS, grades=CRANFIELD_GRADES),
            )
            first = self._judged(collection, FeatureSet(FEATURES))
            model: Any = BM25Ranker("map").fit(divided_trial("Fold1", first, self.n_folds, 0).train).model_
            bm25: Any = model_of(model.model, model.parameters)
            tuned = self._judged(collection, FeatureSet(FEATURES, bm25=bm25))
        return RankingData(tuned.X, tuned.y >= 1, tuned.qid)

    def _judged(self, collection: tuple[Any, ...], features: FeatureSet) -> RankingData:
        """Return the found documents of the queries that have enough relevant ones."""
        data: RankingData = features.judged(*collection, candidates=CANDIDATES, judged_too=False).data
        enough = data.groups.reduce(np.add, (data.y >= 1).astype(np.int64)) >= self.least
        return data.take(enough[data.groups.query_of_row])


def cranfield(setup: Setup, *, n_folds: int = 4, repeats: int = 1, validation: float = 0.0) -> Source:
    """Return Cranfield in folds; `Absent` where the run has no such folder."""
    folder = setup.folders.get(CRANFIELD, Path())
    folds = CranfieldFolds(folder, n_folds, repeats=repeats, validation=validation)
    return folds if CRANFIELD in setup.folders else Absent(CRANFIELD, "--cranfield names no folder", repr(folds))


def require_cranfield(folder: Path) -> None:
    """Refuse a folder without Cranfield's files."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder} is not Cranfield: it has no {' and no '.join(missing)}.")
