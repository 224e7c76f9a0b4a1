"""Documents in files that may be larger than memory, to be scored block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError
from rankwright.data.alignment import HasFeatures, aligned
from rankwright.data.categories import source_columns
from rankwright.data.column_roles import LABEL, QUERY, Roles
from rankwright.data.groups import Ranking
from rankwright.data.readers.blocks import judged_files, whole_queries
from rankwright.data.splitting import concat

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.dataset import Documents

    AnyPath = str | os.PathLike[str]


class Scores(HasFeatures, Protocol):
    """What scores documents."""

    @property
    def needs_queries(self) -> bool: ...

    def predict(self, X: Any, *, n_jobs: int | None = None) -> Doubles: ...


class FileDocuments:
    """Documents in files that may be larger than memory: models score them block by block.

    Scores, ranks and the values of `evaluate` are those of the documents in memory. Ids, labels and scores are in
    memory, features are not. A model that scores documents relative to their query needs
    the documents of a query one after the other; other models do not.

    Parameters
    ----------
    files
        LETOR text, CSV or Parquet: a file, a folder of Parquet files, a pattern such as `part-*.csv`, or several
        of them.
    label
        The column of labels, which `evaluate` needs; None if there is none.
    qid, docid, delimiter
        Those of `read_csv`. Features, categories and their order are the model's.
    dates
        Columns of dates, if the model has any.

    Examples
    --------
    >>> judged = rw.synthetic.polynomial_queries(20, n_documents=10, n_features=6, n_active=4)
    >>> rw.write_letor(judged, "test.txt")
    >>> model = rw.LambdaMART(rounds=5).fit(judged).model_
    >>> files = rw.FileDocuments("test.txt")
    >>> files.predict(model).tobytes() == model.predict(rw.read_letor("test.txt")).tobytes()
    True
    >>> print(rw.evaluate(model, files, metrics="ndcg@10").summary)
    The mean ndcg@10 of LambdaMART over 20 queries is 0.9183.
    """

    def __init__(
        self,
        files: AnyPath | Sequence[AnyPath],
        *,
        label: str | None = LABEL,
        qid: str = QUERY,
        docid: str | None = None,
        dates: Sequence[str] = (),
        delimiter: str | None = None,
    ) -> None:
        self._files, self._delimiter = files, delimiter
        self._roles = Roles(label, qid, docid, dates=dates)

    def predict(self, model: Scores, *, n_jobs: int | None = None) -> Doubles:
        """Return one score per document, in the order of the files."""
        return self.scored(model, n_jobs=n_jobs)[1]

    def rank(self, model: Scores, *, n_jobs: int | None = None) -> Integers:
        """Return each document's rank within its query, 1 for the best."""
        documents, scores = self.scored(model, n_jobs=n_jobs)
        return Ranking.of(scores, documents.groups, n_jobs=n_jobs).ranks()

    def scored(self, model: Scores, *, n_jobs: int | None = None) -> tuple[Documents, Doubles]:
        """Return all documents without their features, and the score of each."""
        parts, scores = [], []
        for block in self._blocks(model):
            scores.append(model.predict(block, n_jobs=n_jobs))
            parts.append(block.with_features(sealed(np.empty((len(block), 0), np.float32)), None, ()))
        return _joined(parts), np.concatenate(scores)

    def _blocks(self, model: Scores) -> Iterator[Documents]:
        """Yield blocks with the model's features; if it needs whole queries, of whole queries."""
        roles = self._roles
        if model.feature_names is not None:
            columns = source_columns(model.feature_names, model.categories)
            categorical = [category.name for category in model.categories]
            roles = Roles(roles.label, roles.qid, roles.docid, columns, (), categorical, roles.dates)
        files = judged_files(self._files, roles, delimiter=self._delimiter, n_features=model.n_features)
        blocks = (aligned(block, model) for block in files.blocks())
        return _each_query_once(whole_queries(blocks)) if model.needs_queries else blocks


def _each_query_once(blocks: Iterable[Documents]) -> Iterator[Documents]:
    seen: set[str] = set()
    for block in blocks:
        names = set(map(str, block.groups.ids.tolist()))
        if again := seen & names:
            raise InputError(
                f"The documents of query {min(again)} are not one after the other, and the model scores documents "
                "relative to their query: sort the files by query."
            )
        seen |= names
        yield block


def _joined(parts: list[Documents]) -> Documents:
    if len({part.qid.dtype.kind for part in parts}) > 1:  # ids are integers only if all of them look so
        parts = [part._replaced(qid=sealed(part.qid.astype(np.str_))) for part in parts]
    return concat(*parts, shared_queries="merge")
