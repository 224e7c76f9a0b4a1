"""Search with a learned ranker: candidates by a retrieval model, then ranked by a model of their features."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.data.readers.trec import Run
from rankwright.models.fitted import name_of, scorer_of
from rankwright.text.analyser import placed_terms, terms_of_texts
from rankwright.text.collections.queries import Queries
from rankwright.text.features.candidates import as_queries
from rankwright.text.features.feature_names import settings_of
from rankwright.text.features.feature_set import FeatureSet
from rankwright.text.index.checks import checked_n, searching_model
from rankwright.text.index.index import Index
from rankwright.text.retrieval import BM25, model_of, state_of_model
from rankwright.text.searcher_files import read_searcher, write_searcher
from rankwright.text.snippets import WIDTH, best_snippet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.models.fitted import Fitted
    from rankwright.models.scorer import Scorer
    from rankwright.text.analyser import Analysis
    from rankwright.text.index.search_results import Results
    from rankwright.text.retrieval import RetrievalModel
    from rankwright.text.snippets import Snippet
    from rankwright.text.text_documents import TextDocuments

SETTINGS = ("index", "analyser", "candidates", "retrieval", "features")
NAME = "searcher.rws"  # of a searcher that is saved in the folder of its index


class Searcher:
    """Documents for queries, best first.

    The retrieval model finds candidates; if there is a learned model, it scores their features and decides their
    order. Equal scores are in the order of the candidates.

    Parameters
    ----------
    index : Index
        The documents.
    features : FeatureSet, optional
        The features of the model, computed for every candidate; by default those that the model names.
    model : scorer or fitted ranker, optional
        Scores the candidates. Without one they stay as they were found.
    candidates : int
        The number of documents that the retrieval model finds for each query, and so the most that a search with
        a model can return.
    retrieval : BM25, Dirichlet or JelinekMercer, optional
        The retrieval model; `BM25()` by default.
    """

    def __init__(
        self,
        index: Index,
        features: FeatureSet | None = None,
        model: Scorer | Fitted | None = None,
        *,
        candidates: int = 100,
        retrieval: RetrievalModel | None = None,
    ) -> None:
        self.index = index
        self.model = None if model is None else _checked_scorer(model)
        self.features = features if features is not None or self.model is None else features_of(self.model)
        if self.model is not None and self.features is not None:
            _require_features(self.model, self.features.names(index))
        self.candidates = checked_n(candidates, "candidates")
        self.retrieval = BM25() if retrieval is None else searching_model(retrieval)

    def search(self, query: str, n: int = 10) -> Results:
        """Return the n best documents for a query; nothing is found for a query without any known word."""
        if self.features is not None and self.features.columns_by_query:
            column = self.features.columns_by_query[0]
            raise InputError(f"The numbers of column {column!r} depend on the query's id: use search_all.")
        return self._search(Queries(("query",), (query,)), checked_n(n), n_jobs=1)[0]

    def search_all(
        self,
        queries: Queries | Mapping[str, str],
        n: int = 100,
        *,
        tag: str = "rankwright",
        n_jobs: int | None = None,
    ) -> Run:
        """Return the n best documents of each query as a run."""
        named = as_queries(queries)
        found = self._search(named, checked_n(n), n_jobs)
        qid = [query for query, one in zip(named.ids, found, strict=True) for _ in range(len(one))]
        ids = [name for one in found for name in one.ids]
        return Run.of(
            np.array(qid, str), ids, np.concatenate([np.zeros(0), *(one.scores for one in found)]), tag=tag
        )

    def snippets(self, query: str, results: Results, width: int = WIDTH) -> list[Snippet]:
        """Return the part of each document that shows best why it was found, with the words of the query marked.

        The index must have stored text. Rare words of the query are shown before frequent ones.
        """
        most = checked_n(width, "width")
        (terms,) = terms_of_texts(self.index.analyser, [query])
        weights = self._importance(list(dict.fromkeys(terms)))
        return [best_snippet(self.index.text(name), weights, self.index.analyser, most) for name in results.ids]

    def save(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the searcher to a file, completely or not at all, and return its path.

        The file holds the model, the features and the settings, and where the index is, seen from the file. By
        default the file is in the folder of the index, so that `load` takes the folder, wherever it is moved.
        """
        file = self.index.path / NAME if path is None else Path(path)
        settings = {
            "index": os.path.relpath(self.index.path.resolve(), file.resolve().parent),
            "analyser": self.index.analyser_state,
            "candidates": self.candidates,
            "retrieval": [*state_of_model(self.retrieval)],
            "features": None if self.features is None else self.features.state(),
        }
        write_searcher(file, settings, self.model)
        return file

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        analyser: Analysis | None = None,
        functions: Mapping[str, Any] | None = None,
    ) -> Searcher:
        """Load a searcher from its file, or from the folder of its index; nothing in the file is executed.

        A function that was given as analyser or as a feature is not stored, so that it must be given again.
        """
        file = Path(path) / NAME if Path(path).is_dir() else Path(path)
        settings, model = read_searcher(file)
        try:
            return cls._of(settings, model, file.resolve().parent, analyser, functions)
        except InputError as error:
            raise InputError(f"{file} cannot be used: {error}") from None

    @classmethod
    def _of(
        cls, settings: dict[str, Any], model: Scorer | None, folder: Path, analyser: Analysis | None, given: Any
    ) -> Searcher:
        if settings.keys() != set(SETTINGS) or not isinstance(settings["index"], str):
            raise InputError(f"its settings must be {', '.join(SETTINGS)}.")
        index = Index.open(folder / settings["index"], analyser=analyser)
        if settings["analyser"] != index.analyser_state:
            raise InputError(f"the index {index.path} was built again, with another analyser.")
        features, retrieval = settings["features"], settings["retrieval"]
        if not isinstance(retrieval, list) or len(retrieval) != 2:
            raise InputError("its retrieval must be a name and parameters.")
        return cls(
            index,
            None if features is None else FeatureSet.from_state(features, functions=given),
            model,
            candidates=settings["candidates"],
            retrieval=model_of(*retrieval),
        )

    def __repr__(self) -> str:
        ranked = "" if self.model is None else f", {self.candidates} candidates ranked by {name_of(self.model)}"
        return f"Searcher({self.index!r}, {self.retrieval!r}{ranked})"

    def _search(self, queries: Queries, n: int, n_jobs: int | None) -> list[Results]:
        if self.model is None or self.features is None:
            return self.index.search_all(queries.texts, self.retrieval, n, n_jobs=n_jobs)
        index, threads = self.index, resolve_threads(n_jobs)
        terms = placed_terms(index.analyser, queries.texts)
        found = index.collection.search(
            [one.terms for one in terms], self.retrieval, self.candidates, index.weights, n_threads=threads
        )
        if not any(map(len, found)):
            return found
        documents = self.features.documents_of_terms(index, queries, terms, found, n_jobs=n_jobs)
        scores = self.model.predict(_only_known(documents, self.model), n_jobs=n_jobs)
        return _ranked(found, scores, n)

    def _importance(self, terms: Sequence[str]) -> dict[str, float]:
        """Return the idf of each term, in the field where most documents have it."""
        most = self.index.collection.statistics(self.index.fields, terms).document_frequency.max(axis=0)
        idf = np.log1p(len(self.index) / np.maximum(most, 1))
        return dict(zip(terms, idf.tolist(), strict=True))


def features_of(model: Scorer, columns: Any = None) -> FeatureSet:
    """Return the features that a model names, with the parameters that its names say; all if it has no names.

    Parameters
    ----------
    model : scorer
        A model that was fitted on features of text.
    columns : mapping, data frame or path, optional
        Numbers of your own, as for `FeatureSet`; the model may name them.
    """
    if model.feature_names is None:
        return FeatureSet(columns=columns)
    own = FeatureSet(columns=columns).column_names
    return FeatureSet(**settings_of([name for name in model.feature_names if name not in own]), columns=columns)


def _ranked(found: Sequence[Results], scores: Doubles, n: int) -> list[Results]:
    """Return the n best of each query by the scores of all candidates, one after another."""
    sizes = [len(one) for one in found]
    groups = QueryGroups.of_sizes([size for size in sizes if size])
    order = iter(np.split(Ranking.of(scores, groups).order, groups.offsets[1:]))
    start = 0
    ranked = []
    for one, size in zip(found, sizes, strict=True):
        rows = next(order)[:n] if size else np.zeros(0, np.int64)
        ranked.append(one.reordered(rows - start, scores[rows]))
        start += size
    return ranked


def _require_features(model: Scorer, names: Sequence[str]) -> None:
    if model.feature_names is None and model.n_features != len(names):
        raise InputError(
            f"The model has {model.n_features} features without names, the feature set has {len(names)}."
        )
    for name in model.feature_names or ():
        if name not in names:
            raise InputError(f"The model was fitted with a feature {name!r}, which the feature set does not have.")


def _only_known(documents: TextDocuments, model: Scorer) -> TextDocuments:
    """Return the documents with the features of the model, which may be some of all."""
    names = documents.feature_names or ()
    wanted = model.feature_names
    if wanted is None or wanted == names:
        return documents
    place_of = {name: place for place, name in enumerate(names)}
    X = documents.X[:, [place_of[name] for name in wanted]]
    return documents.with_features(sealed(X), tuple(wanted), ())


def _checked_scorer(model: Any) -> Scorer:
    scorer = scorer_of(model)
    if scorer is None:
        raise InputError(f"model must be a scorer or a fitted ranker, not {type(model).__name__}.")
    return scorer
