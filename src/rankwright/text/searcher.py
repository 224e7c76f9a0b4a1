"""Search with a learned ranker: candidates by a retrieval model, then ranked by a model of their features."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import SENTENCE, shortened
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.data.readers.trec import Run
from rankwright.models.model_file import decode, encode
from rankwright.models.scorer import name_of, scorer_of
from rankwright.text.analyser import positioned_terms, terms_of_texts
from rankwright.text.collections.queries import Queries
from rankwright.text.features.candidates import as_queries
from rankwright.text.features.feature_names import chosen_fields, settings_of
from rankwright.text.features.feature_set import FeatureSet
from rankwright.text.index.checks import checked_n, searching_model
from rankwright.text.index.index import Index
from rankwright.text.retrieval import BM25
from rankwright.text.retrievers.retriever import BaseRetriever
from rankwright.text.retrievers.spelling import retrieval_of, split_sources, state_of_retrieval
from rankwright.text.snippets import WIDTH, best_snippet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Fitted, Scorer
    from rankwright.text.analyser import Analysis
    from rankwright.text.encoders.encoder import Encoder
    from rankwright.text.index.snapshot import SearchResults
    from rankwright.text.retrieval import RetrievalModel
    from rankwright.text.snippets import Snippet
    from rankwright.text.text_documents import TextDocuments

SETTINGS = ("index", "analyser", "candidates", "retrieval", "encoders", "features")
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
        Scores the candidates; without a model, they keep the order of the retrieval model.
    candidates : int
        The number of documents that the retrieval model finds for each query, and so the most that a search with
        a model can return.
    retrieval : BM25, Dirichlet, JelinekMercer, Dense or Hybrid, optional
        How candidates are found; by default as the features say, otherwise by `BM25()`. Several retrievers find as
        many documents each as `candidates` says.

    Examples
    --------
    >>> documents, queries, judgements = rw.text.generated_collection(100, 10)
    >>> index = rw.text.Index.build(documents, "index")
    >>> features = rw.text.FeatureSet(["BM25", "phrase"])
    >>> ranker = rw.AdaRank().fit(features.judged(index, queries, judgements).data)
    >>> rw.text.Searcher(index, features, ranker).search("old bridge repair", n=3).ids
    ['d7', 'd37', 'd8']
    """

    def __init__(
        self,
        index: Index,
        features: FeatureSet | None = None,
        model: Scorer | Fitted | None = None,
        *,
        candidates: int = 100,
        retrieval: RetrievalModel | BaseRetriever | None = None,
    ) -> None:
        self.index = index
        self.model = None if model is None else _checked_scorer(model)
        if features is None and self.model is not None:
            features = _named_features(self.model, index)
        self.features = features
        if self.model is not None and self.features is not None:
            _require_features(self.model, self.features.names(index))
        self.candidates = checked_n(candidates, "candidates")
        self.retrieval = self._checked_retrieval(retrieval)

    def _checked_retrieval(self, given: RetrievalModel | BaseRetriever | None) -> RetrievalModel | BaseRetriever:
        """Return how candidates are found; the features of several retrievers need these."""
        own = None if self.features is None else self.features.retrieval
        if own is not None and given not in (None, own):
            raise InputError(f"The features are those of {own}: candidates must be found by it, not by {given}.")
        if own is not None:
            return own
        if isinstance(given, BaseRetriever):
            return given
        return BM25() if given is None else searching_model(given)

    def search(self, query: str, n: int = 10) -> SearchResults:
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
        lists = self._search(named, checked_n(n), n_jobs)
        qid = [query for query, results in zip(named.ids, lists, strict=True) for _ in range(len(results))]
        ids = [name for results in lists for name in results.ids]
        return Run.of(
            np.array(qid, str), ids, np.concatenate([np.zeros(0), *(results.scores for results in lists)]), tag=tag
        )

    def snippets(
        self, query: str, results: SearchResults, width: int = WIDTH, *, fields: Sequence[str] | None = None
    ) -> list[Snippet]:
        """Return the part of each document that matches the query best, with the words of the query marked.

        The index must have stored text. Rare words of the query are shown before frequent ones. Snippets are from
        all fields, or from some, as where a title is shown anyway.
        """
        most = checked_n(width, "width")
        chosen = chosen_fields(fields, self.index.fields)
        (terms,) = terms_of_texts(self.index.analyser, [query])
        weights = self._importance(list(dict.fromkeys(terms)))
        texts = ({field: text[field] for field in chosen} for text in map(self.index.text, results.ids))
        return [best_snippet(text, weights, self.index.analyser, most) for text in texts]

    def save(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the searcher to a file, completely or not at all, and return its path.

        The file holds the model, the features and the settings, and where the index is, seen from the file. By
        default the file is in the folder of the index, so that `load` takes the folder, wherever it is moved.
        """
        file = self.index.path / NAME if path is None else Path(path)
        index = os.path.relpath(self.index.path.resolve(), file.resolve().parent)
        write_searcher(file, self._state(index), self.model)
        return file

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        analyser: Analysis | None = None,
        functions: Mapping[str, Any] | None = None,
        encoders: Sequence[Encoder] = (),
    ) -> Searcher:
        """Load a searcher from its file, or from the folder of its index; nothing in the file is executed.

        A function that was given as analyser, encoder or feature is not stored, so that it must be given again.
        """
        file = Path(path) / NAME if Path(path).is_dir() else Path(path)
        settings, model = read_searcher(file)
        try:
            return cls._of(settings, model, file.resolve().parent, analyser, functions, encoders)
        except InputError as error:
            raise InputError(f"{file} cannot be used: {shortened(str(error), SENTENCE)}") from None

    @classmethod
    def _of(
        cls,
        settings: dict[str, Any],
        model: Scorer | None,
        folder: Path,
        analyser: Analysis | None,
        given: Any,
        encoders: Sequence[Encoder],
    ) -> Searcher:
        if settings.keys() != set(SETTINGS) or not isinstance(settings["index"], str):
            raise InputError(f"its settings must be {', '.join(SETTINGS)}.")
        index = Index.open(folder / settings["index"], analyser=analyser, encoders=encoders)
        if settings["analyser"] != index.analyser_state:
            raise InputError(f"the index {index.path} was built again, with another analyser.")
        if settings["encoders"] != index.encoders.checksums():
            raise InputError(f"the index {index.path} has vectors of other encoders than when it was saved.")
        features, retrieval = settings["features"], settings["retrieval"]
        searcher = cls(
            index,
            None if features is None else FeatureSet.from_state(features, functions=given),
            model,
            candidates=settings["candidates"],
            retrieval=retrieval_of(retrieval),
        )
        if searcher._state(settings["index"]) != settings:
            raise InputError("its settings are not complete: save the searcher again.")
        return searcher

    def _state(self, index: str) -> dict[str, Any]:
        """Return the settings, with the path of the index."""
        return {
            "index": index,
            "analyser": self.index.analyser_state,
            "candidates": self.candidates,
            "retrieval": state_of_retrieval(self.retrieval),
            "encoders": self.index.encoders.checksums(),
            "features": None if self.features is None else self.features.state(),
        }

    def __repr__(self) -> str:
        ranked = "" if self.model is None else f", {self.candidates} candidates ranked by {name_of(self.model)}"
        return f"Searcher({self.index!r}, {self.retrieval!r}{ranked})"

    def _search(self, queries: Queries, n: int, n_jobs: int | None) -> list[SearchResults]:
        if self.model is None or self.features is None:
            if isinstance(self.retrieval, BaseRetriever):
                return self.retrieval.best(self.index, queries, n, n_jobs=n_jobs)
            return self._found(queries, None, n, n_jobs)
        index = self.index
        terms = positioned_terms(index.analyser, queries.texts)
        lists = self._found(queries, [query.terms for query in terms], self.candidates, n_jobs)
        if not any(map(len, lists)):
            return lists
        depth = self.candidates
        documents = self.features.documents_of_terms(index, queries, terms, lists, depth=depth, n_jobs=n_jobs)
        scores = self.model.predict(_only_known(documents, self.model), n_jobs=n_jobs)
        return _ranked(lists, scores, n)

    def _found(self, queries: Queries, terms: Any, n: int, n_jobs: int | None) -> list[SearchResults]:
        """Return the n documents that the retriever finds for each query, or that each of several finds."""
        if isinstance(self.retrieval, BaseRetriever):
            return self.retrieval.find(self.index, queries, n, n_jobs=n_jobs)
        if terms is None:
            terms = terms_of_texts(self.index.analyser, queries.texts)
        threads = resolve_threads(n_jobs)
        return self.index.snapshot.search(terms, self.retrieval, n, self.index.weights, n_threads=threads)

    def _importance(self, terms: Sequence[str]) -> dict[str, float]:
        """Return the idf of each term, in the field where most documents have it."""
        most = self.index.snapshot.statistics(self.index.fields, terms).document_frequency.max(axis=0)
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
    names, retrieval = split_sources([name for name in model.feature_names if name not in own])
    return FeatureSet(**settings_of(names), columns=columns, retrieval=retrieval)


def _named_features(model: Scorer, index: Index) -> FeatureSet:
    """Return the features that a model names, which the index must have."""
    features = features_of(model)
    try:
        features.names(index)
    except InputError as error:
        raise InputError(
            f"{error} If it is a column of your own, give features (--columns); an encoder makes such a column "
            "for any query (Index.encode)."
        ) from None
    return features


def _ranked(lists: Sequence[SearchResults], scores: Doubles, n: int) -> list[SearchResults]:
    """Return the n best of each query by the scores of all candidates, one after another."""
    sizes = [len(results) for results in lists]
    groups = QueryGroups.of_sizes([size for size in sizes if size])
    order = iter(np.split(Ranking.of(scores, groups).order, groups.offsets[1:]))
    start = 0
    ranked = []
    for results, size in zip(lists, sizes, strict=True):
        rows = next(order)[:n] if size else np.zeros(0, np.int64)
        ranked.append(results.reordered(rows - start, scores[rows]))
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
    column_of = {name: column for column, name in enumerate(names)}
    X = documents.X[:, [column_of[name] for name in wanted]]
    return documents.with_features(sealed(X), tuple(wanted), ())


def _checked_scorer(model: Any) -> Scorer:
    scorer = scorer_of(model)
    if scorer is None:
        raise InputError(f"model must be a scorer or a fitted ranker, not {type(model).__name__}.")
    return scorer


FORMAT_VERSION = 1
MAGIC = b"\x89rwsearcher\r\n\x1a\n"
NUMBERS = struct.Struct("<IQQ")
START = len(MAGIC) + NUMBERS.size
CHECKSUM_SIZE = hashlib.sha256().digest_size


def write_searcher(path: Path, settings: dict[str, Any], model: Scorer | None) -> None:
    """Write settings and model to a file, completely or not at all."""
    header = json.dumps(settings, allow_nan=False).encode()
    with write_whole(path) as file:
        file.write(file_content(header, b"" if model is None else encode(model)))


def file_content(header: bytes, payload: bytes) -> bytes:
    """Return the bytes of a file with this header and model, with their checksum."""
    size = START + len(header) + len(payload) + CHECKSUM_SIZE
    signed = MAGIC + NUMBERS.pack(FORMAT_VERSION, size, len(header)) + header + payload
    return signed + hashlib.sha256(signed).digest()


def read_searcher(path: Path) -> tuple[dict[str, Any], Scorer | None]:
    """Return settings and model of a file; nothing in the file is executed."""
    content = _content(path)
    if not content.startswith(MAGIC):
        raise InputError(f"{path} is not a searcher of rankwright.")
    if len(content) < START + CHECKSUM_SIZE:
        raise InputError(f"{path} is cut short: it has only {len(content)} bytes.")
    version, size, header_size = NUMBERS.unpack_from(content, len(MAGIC))
    if version != FORMAT_VERSION:
        raise InputError(
            f"{path} has format {version}, this version of rankwright reads format {FORMAT_VERSION}: "
            "save the searcher again."
        )
    if len(content) < size:
        raise InputError(f"{path} is cut short: it has {len(content)} of {size} bytes.")
    signed = content[:-CHECKSUM_SIZE]
    if len(content) != size or hashlib.sha256(signed).digest() != content[-CHECKSUM_SIZE:]:
        raise InputError(f"{path} has been altered or damaged: its checksum does not match.")
    settings = _settings(signed[START : START + header_size], path)
    payload = signed[START + header_size :]
    return settings, decode(payload, str(path)) if payload else None


def _content(path: Path) -> bytes:
    try:
        if not path.is_file():  # reading a pipe or a device might never end
            raise InputError(f"There is no file {path}.")
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
            return start + file.read() if start == MAGIC else start  # some other file may be huge
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None


def _settings(header: bytes, path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(header)
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        raise InputError(f"{path} is damaged: its settings are not a JSON object.")
    return settings
