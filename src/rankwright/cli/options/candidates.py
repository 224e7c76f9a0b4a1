"""Options of the verbs that find documents to compute features of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.option_groups import takes_options
from rankwright.cli.options.text_options import RetrievalOption, read_retrieval

if TYPE_CHECKING:
    from rankwright.data.readers.trec import Judgements
    from rankwright.text.collections.queries import Queries
    from rankwright.text.features.feature_set import FeatureSet
    from rankwright.text.features.judged_features import JudgedFeatures
    from rankwright.text.index.index import Index
    from rankwright.text.searcher import Searcher
    from rankwright.text.text_documents import TextDocuments


@dataclass(frozen=True)
class CandidateOptions:
    """Which documents of each query get features, and what those without a judgement are."""

    candidates: Annotated[
        int, typer.Option("--candidates", min=1, metavar="N", help="Number of documents to find for each query.")
    ] = 100
    retrieval: RetrievalOption = "bm25"
    run: Annotated[
        Path | None, typer.Option("--run", metavar="FILE", help="TREC run to take the documents from.")
    ] = None
    unjudged: Annotated[
        str,
        typer.Option(
            "--unjudged",
            metavar="HOW",
            help="What documents without a judgement are: irrelevant (label 0), or drop to leave them out.",
        ),
    ] = "irrelevant"
    judged_too: Annotated[
        bool,
        typer.Option(
            "--judged-too",
            help="Add judged documents that were not found, to evaluate on; a model that learns from them learns "
            "that being hard to find is a sign of relevance.",
        ),
    ] = False
    columns: Annotated[
        Path | None,
        typer.Option(
            "--columns", metavar="FILE", help="Table of your own numbers to add as features, by document id."
        ),
    ] = None

    def documents(self, features: FeatureSet, index: Index, queries: Queries, n_jobs: int | None) -> TextDocuments:
        """Return the candidates with features, without labels."""
        found: Any = self._run()
        if found is None:
            found = index.search_all(queries.texts, read_retrieval(self.retrieval), self.candidates, n_jobs=n_jobs)
        return features.documents(index, queries, found, n_jobs=n_jobs)

    def judged(
        self, features: FeatureSet, index: Index, queries: Queries, judgements: Judgements, n_jobs: int | None
    ) -> JudgedFeatures:
        """Return the candidates with features and labels."""
        run = self._run()
        return features.judged(
            index,
            queries,
            judgements,
            candidates=self.candidates if run is None else run,
            model=read_retrieval(self.retrieval) if run is None else None,
            judged_too=self.judged_too,
            unjudged=self.unjudged,
            n_jobs=n_jobs,
        )

    def searcher(self, index: Index, features: FeatureSet, model: Any) -> Searcher:
        """Return a searcher that finds its candidates in the same way."""
        retrieval = read_retrieval(self.retrieval)
        return rw.text.Searcher(index, features, model, candidates=self.candidates, retrieval=retrieval)

    def check_labels(self, *, judged: bool) -> None:
        """Refuse options for labels where there are no judgements."""
        if not judged and (self.judged_too or self.unjudged != CandidateOptions.unjudged):
            raise InputError("--judged-too and --unjudged need --qrels.")

    def _run(self) -> Any:
        if self.run is None:
            return None
        if (self.candidates, self.retrieval) != (CandidateOptions.candidates, CandidateOptions.retrieval):
            raise InputError("--run gives the documents: --candidates and --retrieval cannot be used with it.")
        return rw.read_run(self.run)


finds_candidates = takes_options(CandidateOptions, "finding")
