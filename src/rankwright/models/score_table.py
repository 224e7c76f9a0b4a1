"""Scores as a table: one row per document with query, document, score, rank and, if there is one, label."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.resources import resolve_threads
from rankwright.data.column_roles import DOCUMENT, LABEL, QUERY, SCORE
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.groups import Ranking, checked_scores
from rankwright.models.other_libraries import scores_by
from rankwright.models.scorer import scorer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

# How each library makes a data frame of columns.
LIBRARIES: Mapping[str, Callable[[Any, dict[str, NDArray[Any]]], Any]] = {
    "pandas": lambda pandas, columns: pandas.DataFrame(columns),
    "polars": lambda polars, columns: polars.DataFrame(columns),
    "pyarrow": lambda pyarrow, columns: pyarrow.table(columns),
    "duckdb": lambda duckdb, columns: duckdb.from_arrow(import_module("pyarrow").table(columns)),
    "daft": lambda daft, columns: daft.from_arrow(import_module("pyarrow").table(columns)),
    "ibis": lambda ibis, columns: ibis.memtable(import_module("pyarrow").table(columns)),
}
NOT_EXTRAS = {"duckdb": "duckdb", "daft": "daft", "ibis": "ibis-framework"}
CONTRIBUTION = "contribution_"


def scores_frame(
    model: Any,
    documents: Documents,
    *,
    contributions: bool = False,
    init_score: ArrayLike | None = None,
    library: str | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the scores of documents as a data frame, one row per document in the order of the input.

    Its columns are `qid`, `docid` (without ids the position within the query: doc1, doc2 ...), `score`, `rank`
    within the query (1 for the best), if the documents have labels, `label`, and the columns to show, if any.

    Parameters
    ----------
    model
        A scorer, a fitted ranker, or another library's model with `predict`.
    documents
        The documents to score.
    contributions
        Whether to add, for each feature, a column `contribution_NAME` (without names `contribution_1` and so on),
        and a column `base_score`; together they sum to the score: see `Scorer.contributions`.
    init_score
        The scores that training started from, for a residual model.
    library
        `pandas`, `polars`, `pyarrow` (an Arrow table), `duckdb`, `daft` or `ibis`; by default the one of the frame
        that the documents were made from, and pandas if there was none.

    Examples
    --------
    >>> ranker = rw.AdaRank().fit(rw.synthetic.gaussian_queries(5))
    >>> new = rw.Documents([[-1, -1], [1, 1]], ["hats", "hats"], document_ids=["A", "B"])
    >>> rw.scores_frame(ranker, new)[["qid", "docid", "rank"]]
        qid docid  rank
    0  hats     A     2
    1  hats     B     1
    """
    if not isinstance(documents, Documents):
        raise InputError(f"scores_frame takes Documents, not {type(documents).__name__}: see from_pandas.")
    if library is None:
        own = "" if documents.columns is None else documents.columns.library
        library = own if own in LIBRARIES else "pandas"
    if library not in LIBRARIES:
        raise InputError(f"library must be {', '.join(LIBRARIES)}, not {library!r}.")
    try:
        frames = import_module(library)
    except ModuleNotFoundError:
        distribution = NOT_EXTRAS.get(library, f"'rankwright[{library}]'")
        raise MissingPackageError(f"A {library} frame needs {library}: pip install {distribution}.") from None
    columns = score_columns(model, documents, contributions=contributions, init_score=init_score, n_jobs=n_jobs)
    return LIBRARIES[library](frames, columns)


def score_columns(
    model: Any,
    documents: Documents,
    *,
    contributions: bool = False,
    init_score: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> dict[str, NDArray[Any]]:
    """Return the columns of `scores_frame` by name."""
    scores = _scores(model, documents, init_score, n_jobs)
    columns = {
        QUERY: documents.qid,
        DOCUMENT: documents.document_names,
        SCORE: scores,
        "rank": Ranking.of(scores, documents.groups, n_jobs=n_jobs).ranks(),
    }
    if isinstance(documents, RankingData):
        columns[LABEL] = documents.y
    columns |= {name: texts for name, texts in documents.shown.items() if name not in columns}
    return columns | (_contributions(model, documents, n_jobs) if contributions else {})


def _scores(model: Any, documents: Documents, init_score: ArrayLike | None, n_jobs: int | None) -> NDArray[Any]:
    scorer = scorer_of(model)
    given: dict[str, Any] = {} if init_score is None else {"init_score": init_score}
    if given and (scorer is None or not scorer.needs_init_score):
        raise InputError("This model needs no init_score: only a residual model takes it.")
    if scorer is not None:
        return scorer.predict(documents, n_jobs=n_jobs, **given)
    return checked_scores(scores_by(model, documents, n_threads=resolve_threads(n_jobs)), len(documents))


def _contributions(model: Any, documents: Documents, n_jobs: int | None) -> dict[str, NDArray[Any]]:
    scorer = scorer_of(model)
    if scorer is None:
        raise InputError(f"The contributions of a {type(model).__name__} are not known.")
    values = scorer.contributions(documents, n_jobs=n_jobs)
    known = scorer.feature_names or documents.feature_names
    names = known or [str(number) for number in range(1, scorer.n_features + 1)]
    columns = {f"{CONTRIBUTION}{name}": values[:, column] for column, name in enumerate(names)}
    return columns | {"base_score": values[:, -1]}
