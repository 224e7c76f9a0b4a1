"""Feature sets: a choice of features with their retrieval models, and columns and functions of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError, require_type
from rankwright.base.resources import resolve_threads
from rankwright.data.dataset import Documents
from rankwright.text.analyser import positioned_terms
from rankwright.text.collections.documents import TextDocument
from rankwright.text.features.candidates import as_queries, candidates_of
from rankwright.text.features.definitions import ALL_FIELDS
from rankwright.text.features.feature_names import (
    checked_features,
    chosen_columns,
    chosen_encoders,
    chosen_fields,
    dense_name,
    full_name,
    whole_scope,
)
from rankwright.text.features.feature_values import FeatureColumns, RetrievalModels, feature_values
from rankwright.text.features.judged_features import judged_features
from rankwright.text.features.reranker import CachedReranker
from rankwright.text.features.user_columns import UserColumn, column_from, columns_from, require_coverage
from rankwright.text.retrieval import BM25, AbsoluteDiscounting, Dirichlet, JelinekMercer, model_of, state_of_model
from rankwright.text.retrievers.dense import Dense
from rankwright.text.retrievers.hybrid import Hybrid
from rankwright.text.retrievers.spelling import retrieval_of, state_of_retrieval
from rankwright.text.text_documents import TextDocuments, TextSource

if TYPE_CHECKING:
    from rankwright.base.arrays import Floats
    from rankwright.data.readers.trec import Judgements
    from rankwright.text.analyser import PositionedTerms
    from rankwright.text.collections.queries import Queries
    from rankwright.text.features.candidates import Candidates, CandidatesLike
    from rankwright.text.features.judged_features import JudgedFeatures
    from rankwright.text.index.index import Index
    from rankwright.text.retrieval import RetrievalModel
    from rankwright.text.retrievers.retriever import BaseRetriever

Function = Callable[[str, TextDocument], float]
N_CANDIDATES = 100


class FeaturePlan(NamedTuple):
    """The fields and columns of a feature set in an index, its encoders, and the names of the columns."""

    fields: tuple[str, ...]
    columns: FeatureColumns
    encoders: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """The features that documents get for a query.

    Parameters
    ----------
    features : str or sequence of str, optional
        Families of features (such as "tf", "BM25" or "proximity"), features in all fields ("minimal span"), or
        single ones ("title: BM25"); or "adarank-2007", the seven features of the whole document in Table 2 of Xu
        and Li (SIGIR 2007); or "dense", the cosine of each encoder of the index ("minilm: cosine"). By default all
        but the length, which is that of the document whatever the query is.
        `rankwright.text.features.definitions` declares them.
    fields : sequence of str, optional
        The fields of the index to use; by default all. All of them together, as one document, are "all fields" in
        the name of a feature; some of them together are "title + body".
    columns : mapping, data frame or path, optional
        Numbers of your own, joined by id: a mapping from names to mappings of document ids (or pairs of query id
        and document id) to numbers, or a table with a column of document ids, and one of query ids if numbers
        depend on the query. Documents without a number have a missing value.
    functions : mapping, optional
        Features of your own by name: functions of the query's text and a `TextDocument` that return a number, or a
        `CachedReranker`. They need the text of documents, which `Index.build` stores by default.
    bm25, dirichlet, jelinek_mercer, absolute_discounting
        The models whose scores are features.
    retrieval : Hybrid, optional
        Several retrievers: how `judged` and searchers find candidates. The score and the rank that a document has
        by each of them, and the fixed fusions of their scores, are features.

    Examples
    --------
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> features = rw.text.FeatureSet(["title: BM25", "body: length"], columns={"clicks": {"d7": 12}})
    >>> features.names(index)
    ['title: BM25', 'body: length', 'clicks']
    >>> print(features.documents(index, {"q1": "old bridge"}, {"q1": ["d7"]}).X.round(1))
    [[ 1.6 72.  12. ]]
    """

    features: str | Sequence[str] | None = None
    fields: Sequence[str] | None = field(default=None, kw_only=True)
    columns: Any = field(default=None, kw_only=True, repr=False)
    functions: Mapping[str, Function | CachedReranker] | None = field(default=None, kw_only=True)
    bm25: BM25 = field(default=BM25(), kw_only=True)
    dirichlet: Dirichlet = field(default=Dirichlet(), kw_only=True)
    jelinek_mercer: JelinekMercer = field(default=JelinekMercer(), kw_only=True)
    absolute_discounting: AbsoluteDiscounting = field(default=AbsoluteDiscounting(), kw_only=True)
    retrieval: Hybrid | None = field(default=None, kw_only=True)
    _columns: tuple[UserColumn, ...] = field(init=False, repr=False)
    _plans: dict[Any, FeaturePlan] = field(
        init=False, repr=False, default_factory=dict
    )  # by an index's fields and encoders

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", checked_features(self.features))
        object.__setattr__(self, "_columns", columns_from(self.columns))
        object.__setattr__(self, "functions", _checked_functions(self.functions))
        for name, kind in zip(
            RetrievalModels._fields, (BM25, Dirichlet, JelinekMercer, AbsoluteDiscounting), strict=True
        ):
            if not isinstance(getattr(self, name), kind):
                raise InputError(f"{name} must be {kind.__name__}(), not {getattr(self, name)!r}.")
        if self.retrieval is not None:
            require_type(self.retrieval, Hybrid, "retrieval of a feature set must be Hybrid")

    def names(self, index: Index) -> list[str]:
        """Return the names of the features of an index's documents, in the order of columns.

        Parameters of models that are not the default are part of a name, as in "title: BM25 (k1=0.9 b=0.4)".
        """
        sources = [] if self.retrieval is None else self.retrieval.column_names(index)
        names = [*self._plan(index).names, *sources, *self.column_names, *(self.functions or ())]
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"Two features are called {twice!r}.")
        return names

    def documents(
        self,
        index: Index,
        queries: Queries | Mapping[str, str],
        candidates: CandidatesLike,
        *,
        depth: int = N_CANDIDATES,
        n_jobs: int | None = None,
    ) -> TextDocuments:
        """Return the features of each query's candidates, one row per document, in the order of the candidates.

        Parameters
        ----------
        index : Index
            Where the documents are.
        queries : Queries or mapping of ids to texts
            The queries.
        candidates : list of SearchResults, Run, or mapping of query ids to lists of document ids
            The documents of each query; results stand in the order of the queries.
        depth : int
            With several retrievers: the number of documents of each of them that have a rank.
        n_jobs : int, optional
            The number of threads; all by default. The features do not depend on it.
        """
        named = as_queries(queries)
        chosen = candidates_of(candidates, named, index.snapshot)
        ids = [name for documents in chosen for name in documents.ids]
        terms = positioned_terms(index.analyser, named.texts)
        return self.documents_of_terms(index, named, terms, chosen, ids=ids, depth=depth, n_jobs=n_jobs)

    def documents_of_terms(
        self,
        index: Index,
        queries: Queries,
        terms: Sequence[PositionedTerms],
        candidates: Sequence[Candidates],
        *,
        ids: Sequence[str] | None = None,
        depth: int = N_CANDIDATES,
        n_jobs: int | None = None,
    ) -> TextDocuments:
        """Return the features of candidates for queries whose terms are known; `ids` name the documents, if given.

        A search does without the names of all candidates, and analyses its queries once.
        """
        sizes = [len(part.numbers) for part in candidates]
        documents = Documents(
            sealed(self._values(index, queries, terms, candidates, depth, n_jobs)),
            np.repeat(np.array(queries.ids, np.str_), sizes),
            document_ids=ids,
            feature_names=self.names(index),
            copy=False,
        )
        source = TextSource(index.snapshot, index.weights, tuple(part.terms for part in terms))
        numbers = np.concatenate([np.zeros(0, np.int64), *(part.numbers for part in candidates)])
        return TextDocuments.of(documents, source, np.repeat(np.arange(len(sizes)), sizes), numbers)

    def judged(
        self,
        index: Index,
        queries: Queries | Mapping[str, str],
        judgements: Judgements,
        *,
        candidates: int | CandidatesLike = N_CANDIDATES,
        model: RetrievalModel | BaseRetriever | None = None,
        judged_too: bool = False,
        unjudged: str = "irrelevant",
        n_jobs: int | None = None,
    ) -> JudgedFeatures:
        """Return judged documents with features, to learn from or to evaluate on, and count what is left out.

        Queries without a judgement for a document of the index are left out.

        Parameters
        ----------
        index, queries, n_jobs
            As in `documents`.
        judgements : Judgements
            Labels of documents by query. Judgements for unknown queries and documents are counted.
        candidates : int, list of SearchResults, Run or mapping
            How many documents a search finds for each query, or the documents themselves.
        model : BM25, Dirichlet, JelinekMercer, Dense or Hybrid, optional
            How documents are found; by default as `retrieval` of the feature set says, otherwise by `BM25()`. Of
            several retrievers, each finds as many documents as `candidates` says.
        judged_too : bool
            Whether judged documents that are not among the candidates are added. Most of them are relevant, which
            a ranker can learn from their low scores: its measured accuracy is then too optimistic.
        unjudged : "irrelevant" or "drop"
            Whether candidates without a judgement count as not relevant, with label 0, or are left out.
        """
        depth = candidates if isinstance(candidates, int) else N_CANDIDATES
        if isinstance(candidates, int) and model is None:
            model = self.retrieval
        judged = judged_features(
            partial(self.documents, depth=depth, n_jobs=n_jobs),
            index,
            as_queries(queries),
            judgements,
            candidates=candidates,
            model=model,
            judged_too=judged_too,
            unjudged=unjudged,
            n_jobs=n_jobs,
        )
        slow = [function for function in (self.functions or {}).values() if isinstance(function, CachedReranker)]
        return replace(judged, costs=tuple(reranker.cost for reranker in slow))

    def state(self) -> dict[str, Any]:
        """Return this feature set as JSON has it; of functions, only the names can be stored."""
        return {
            "features": self.features,
            "fields": None if self.fields is None else [*self.fields],
            "columns": {column.name: column.state() for column in self._columns},
            "functions": [*(self.functions or ())],
            "models": {name: state_of_model(model)[1] for name, model in self._models()._asdict().items()},
            "retrieval": None if self.retrieval is None else state_of_retrieval(self.retrieval),
        }

    @classmethod
    def from_state(cls, state: Any, *, functions: Mapping[str, Function] | None = None) -> FeatureSet:
        """Return the feature set of a state; functions, which are not stored, must be given again.

        InputError if the state is invalid, as in a damaged file.
        """
        match state:
            case {
                "features": features,
                "fields": None | [*_] as fields,
                "columns": dict(columns),
                "functions": [*names],
                "models": dict(models),
                "retrieval": retrieval,
            } if models.keys() == {*RetrievalModels._fields}:
                pass
            case _:
                raise InputError(
                    "a feature set must have features, fields, columns, functions, models and retrieval."
                )
        if {*map(str, names)} != {*(functions or {})}:
            wanted = ", ".join(map(str, names)) or "none"
            raise InputError(
                f"Functions are not stored with a feature set: give functions= again, by name ({wanted})."
            )
        made: dict[str, Any] = {name: model_of(name, models[name]) for name in RetrievalModels._fields}
        given = None if functions is None else {name: functions[name] for name in names}
        made["retrieval"] = None if retrieval is None else retrieval_of(retrieval)
        result = cls(features, fields=fields, functions=given, **made)
        object.__setattr__(result, "_columns", tuple(column_from(name, state) for name, state in columns.items()))
        return result

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the user's columns."""
        return tuple(column.name for column in self._columns)

    @property
    def columns_by_query(self) -> tuple[str, ...]:
        """The user's columns whose numbers depend on the query, by name."""
        return tuple(column.name for column in self._columns if column.by_query)

    @property
    def _n_own(self) -> int:
        return len(self._columns) + len(self.functions or ())

    def _plan(self, index: Index) -> FeaturePlan:
        """Return the plan for an index; cached, since every search needs it."""
        key = (index.fields, *index.encoders)
        if key not in self._plans:
            fields = chosen_fields(self.fields, index.fields)
            columns = chosen_columns(self.features, fields, index.encoders)
            encoders = chosen_encoders(self.features, index.encoders)
            whole, models = whole_scope(fields, index.fields), self._models()._asdict()
            self._plans[key] = FeaturePlan(
                fields,
                FeatureColumns.of([(_scope_number(scope, fields), feature) for scope, feature in columns]),
                encoders,
                tuple(
                    full_name(whole if scope == ALL_FIELDS else scope, feature, models)
                    for scope, feature in columns
                )
                + tuple(map(dense_name, encoders)),
            )
        return self._plans[key]

    def _models(self) -> RetrievalModels:
        return RetrievalModels(self.bm25, self.dirichlet, self.jelinek_mercer, self.absolute_discounting)

    def _values(
        self,
        index: Index,
        queries: Queries,
        terms: Sequence[PositionedTerms],
        candidates: Sequence[Candidates],
        depth: int,
        n_jobs: int | None,
    ) -> Floats:
        """Return the features of each query's candidates."""
        plan = self._plan(index)
        numbers = [documents.numbers for documents in candidates]
        scopes = index.snapshot.scopes(plan.fields)
        columns: list[Any] = [
            feature_values(scopes, self._models(), terms, numbers, plan.columns, resolve_threads(n_jobs))
        ]
        columns += [
            Dense(encoder).scores(index, queries, numbers, n_jobs=n_jobs)[:, None] for encoder in plan.encoders
        ]
        if self.retrieval is not None:
            columns.append(self.retrieval.columns(index, queries, numbers, depth, n_jobs=n_jobs))
        if self._n_own and candidates:
            columns.append(self._own_columns(index, queries, candidates))
        return columns[0] if len(columns) == 1 else np.hstack(columns).astype(np.float32)

    def _own_columns(self, index: Index, queries: Queries, candidates: Sequence[Candidates]) -> Floats:
        require_coverage(self._columns, queries.ids)
        own = [
            self._own(index, query, text, documents)
            for (query, text), documents in zip(queries, candidates, strict=True)
        ]
        return np.concatenate(own)

    def _own(self, index: Index, query: str, text: str, candidates: Candidates) -> Floats:
        """Return the user's columns and functions of a query's documents."""
        own = [column.of(query, candidates.ids) for column in self._columns]
        if self.functions and candidates.ids:
            documents = [TextDocument(name, index.text(name)) for name in candidates.ids]
            own += [_called(name, function, text, documents) for name, function in self.functions.items()]
        return np.array(own, np.float32).reshape(self._n_own, len(candidates.ids)).T


def _called(
    name: str, function: Function | CachedReranker, query: str, documents: Sequence[TextDocument]
) -> Floats:
    if isinstance(function, CachedReranker):
        return function.scores(query, documents).astype(np.float32)
    values = [function(query, document) for document in documents]
    try:
        numbers = np.array(values, np.float64)
    except (TypeError, ValueError):
        numbers = np.full(len(values), np.inf)
    if numbers.shape != (len(values),) or np.isinf(numbers).any():
        raise InputError(f"The function {name!r} must return a number for each document.")
    return numbers.astype(np.float32)


def _checked_functions(given: Any) -> Mapping[str, Function | CachedReranker] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(
        isinstance(name, str) and (callable(function) or isinstance(function, CachedReranker))
        for name, function in given.items()
    ):
        raise InputError("functions must be a mapping of names to functions of a query and a document.")
    return dict(given)


def _scope_number(scope: str, fields: Sequence[str]) -> int:
    """Return the number of a scope; that of all fields together comes last."""
    return fields.index(scope) if scope in fields else len(fields)
