"""Searchers, features and rankers as steps of PyTerrier's pipelines; needs the package pyterrier, without Java.

PyTerrier passes data frames: queries (`qid`, `query`), results (also `docno`, `score`, `rank`), and results with
an array of `features` in each row. In its notation:

- `Retriever` finds documents (Q to R);
- `Features` adds the column `features` (R to R_f);
- `Reranker` learns from that column, or scores it with a model (R_f to R).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.data.dataset import Documents
from rankwright.models.scorer import scorer_of
from rankwright.text.collections.queries import Queries

try:
    import pyterrier as pt
except ImportError:
    raise MissingPackageError("rankwright.text.pyterrier needs PyTerrier: pip install pyterrier.") from None

if TYPE_CHECKING:
    import pandas as pd

    from rankwright.data.dataset import RankingData
    from rankwright.text.features.feature_set import FeatureSet
    from rankwright.text.index.index import Index
    from rankwright.text.searcher import Searcher


class Retriever(pt.Transformer):  # type: ignore[misc]
    """Finds the n best documents of each query with a searcher.

    Parameters
    ----------
    searcher : Searcher
        With or without a learned model.
    n : int
        The number of documents of a query; a searcher with a model finds at most its number of candidates.
    """

    def __init__(self, searcher: Searcher, n: int = 1000) -> None:
        super().__init__()
        self.searcher = searcher
        self.n = n

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return a row per document that was found, with the columns of its query."""
        pt.validate.query_frame(inp, extra_columns=["query"], context=self)
        run = self.searcher.search_all(_queries_of(inp), self.n)
        frame = _frame({"qid": run.qid.tolist(), "docno": run.document_ids.tolist(), "score": run.scores})
        queries = inp[[*pt.model.query_columns(inp)]].astype({"qid": str})
        return _ranked(queries.merge(frame, on="qid", sort=False))


class Features(pt.Transformer):  # type: ignore[misc]
    """Adds the column `features` to results; a document that the index does not have is refused.

    Parameters
    ----------
    features : FeatureSet
        The features; `features.names(index)` has the name of each column of the arrays.
    index : Index
        The documents.
    """

    def __init__(self, features: FeatureSet, index: Index) -> None:
        super().__init__()
        self.features = features
        self.index = index

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the same rows with their features."""
        pt.validate.result_frame(inp, extra_columns=["query"], context=self)
        rows = inp.astype({"qid": str, "docno": str})
        wanted = {str(qid): [*names] for qid, names in rows.groupby("qid", sort=False)["docno"]}
        out = inp.copy()
        if len(inp) == 0:
            return out.assign(features=[])
        made = self.features.documents(self.index, _queries_of(rows), wanted)
        pairs = zip(made.qid.tolist(), made.document_names.tolist(), strict=True)
        row_of = {pair: row for row, pair in enumerate(pairs)}
        order = [row_of.get(pair, -1) for pair in zip(rows["qid"], rows["docno"], strict=True)]
        if min(order) < 0:
            missing = rows["docno"].iloc[order.index(-1)]
            raise InputError(f"The index has no document {missing!r}.")
        return out.assign(features=[*made.X[order].astype(np.float64)])


class Reranker(pt.Estimator):  # type: ignore[misc]
    """Scores results by their column `features`, with a ranker that is fitted in the pipeline or a finished model.

    Parameters
    ----------
    ranker : ranker or scorer
        A ranker to fit, such as `rankwright.LambdaMART()`, or a model that is used as it is.
    feature_names : sequence of str, optional
        Names of the features, such as `features.names(index)`, so that a model finds its features by name.
    """

    def __init__(self, ranker: Any, feature_names: Any = None) -> None:
        super().__init__()
        self.ranker = ranker
        self.feature_names = feature_names

    def fit(self, inp: pd.DataFrame, qrels: pd.DataFrame, valid: Any = None, valid_qrels: Any = None) -> Reranker:
        """Fit the ranker to results with judgements; results without one have the label 0."""
        pt.validate.result_frame(inp, extra_columns=["features"], context=self)
        if not hasattr(self.ranker, "fit"):
            raise InputError(f"{type(self.ranker).__name__} is a finished model: it cannot be fitted again.")
        options = {} if valid is None else {"validation": self._judged(valid, valid_qrels)}
        self.ranker.fit(self._judged(inp, qrels), **options)
        return self

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the same rows with new scores and ranks."""
        pt.validate.result_frame(inp, extra_columns=["features"], context=self)
        scorer = scorer_of(self.ranker)
        if scorer is None:
            raise InputError(f"{type(self.ranker).__name__} has not been fitted: fit the pipeline first.")
        scores = scorer.predict(self._documents(inp)) if len(inp) else np.zeros(0)
        return _ranked(inp.assign(score=scores))

    def _documents(self, frame: pd.DataFrame) -> Documents:
        X = np.stack([*frame["features"]]).astype(np.float32)
        qid, names = np.array(frame["qid"], str), [str(name) for name in frame["docno"]]
        return Documents(X, qid, document_ids=names, feature_names=self.feature_names)

    def _judged(self, frame: pd.DataFrame, qrels: pd.DataFrame) -> RankingData:
        known = {
            (str(query), str(name)): float(label)
            for query, name, label in zip(qrels["qid"], qrels["docno"], qrels["label"], strict=True)
        }
        pairs = zip(frame["qid"], frame["docno"], strict=True)
        return self._documents(frame).with_labels([known.get((str(a), str(b)), 0.0) for a, b in pairs])


def _ranked(frame: pd.DataFrame) -> pd.DataFrame:
    ranked: pd.DataFrame = pt.model.add_ranks(frame)
    return ranked


def _queries_of(frame: pd.DataFrame) -> Queries:
    distinct = frame[["qid", "query"]].astype(str).drop_duplicates("qid")
    return Queries(tuple(distinct["qid"]), tuple(distinct["query"]))


def _frame(columns: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns).astype({"qid": str, "docno": str})
