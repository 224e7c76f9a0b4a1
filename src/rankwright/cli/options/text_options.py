"""Options of the verbs that read text: documents, words, queries, judgements, and candidates for features."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.cli.options.option_groups import REQUIRED, option, option_group
from rankwright.cli.output.console import note, progress

if TYPE_CHECKING:
    from rankwright.data.readers.trec import Judgements
    from rankwright.text.analyser import Analyser
    from rankwright.text.collections.coverage import JudgementCoverage
    from rankwright.text.collections.queries import Queries
    from rankwright.text.encoders.encoder import Encoder
    from rankwright.text.features.feature_set import FeatureSet
    from rankwright.text.features.judged_features import JudgedFeatures
    from rankwright.text.index.index import Index
    from rankwright.text.retrieval import RetrievalModel
    from rankwright.text.retrievers.hybrid import Hybrid
    from rankwright.text.retrievers.retriever import BaseRetriever
    from rankwright.text.searcher import Searcher
    from rankwright.text.text_documents import TextDocuments

NONE = "none"
_of_documents = partial(option, panel="Reading documents")
_of_words = partial(option, panel="Words")
_of_queries = partial(option, panel="Reading queries and judgements")

INDEX = option("Folder of the index.", "DIR", default=REQUIRED)
RETRIEVAL = option(
    "How documents are found: bm25, dirichlet or jelinek_mercer; with parameters, as in bm25:k1=1,b=0.4; dense or "
    "dense:ENCODER; or several, as in bm25+dense.",
    "MODEL",
    default="bm25",
)


@option_group
class DocumentOptions:
    """How files of documents are read, and which fields are indexed."""

    format: str | None = _of_documents(
        "jsonl, csv, tsv, parquet, trec, smart or text; by default recognised.", "NAME"
    )
    id: str | None = _of_documents("Field with the ids; by default recognised.", "FIELD")
    fields: str | None = _of_documents(
        "Fields to index, with their weights in searches, 1 if not given; by default all with text.",
        "A=WEIGHT,B,...",
    )
    rename: str | None = _of_documents("Fields to read under other names, such as T=title,W=body.", "OLD=NEW,...")
    encoding: str = _of_documents("Encoding of text files; it must extend ASCII.", "NAME", default="utf-8")

    @property
    def weights(self) -> dict[str, float] | None:
        """The fields to index with their weights, None for all."""
        if self.fields is None:
            return None
        weights: dict[str, float] = {}
        for name, equals, weight in _pairs(self.fields):
            try:
                weights[name] = float(weight) if equals else 1.0
            except ValueError:
                given = f"{name}={weight}"
                raise InputError(
                    f"--fields takes names with weights, such as title=2,body, not {given!r}."
                ) from None
        return weights

    def reading(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the options of `read_documents`; `names` are the fields of an index, if they are known."""
        pairs = _pairs(self.rename or "")
        if not all(old and equals and new for old, equals, new in pairs):
            raise InputError(f"--rename takes OLD=NEW,... such as T=title,W=body, not {self.rename!r}.")
        old_of = {new: old for old, _, new in pairs}
        wanted = names or (None if self.weights is None else [*self.weights]) or [*old_of]
        choice = {name: old_of.get(name, name) for name in wanted}
        unused = [new for new in old_of if new not in choice]
        if unused:
            raise InputError(f"--rename gives {unused[0]!r}, which is not among the fields {', '.join(choice)}.")
        return {"format": self.format, "id": self.id, "fields": choice or None, "encoding": self.encoding}


@option_group
class WordOptions:
    """How text becomes words."""

    language: str | None = _of_words(
        "Language of stop words and stems, or none; by default english. Only english has stop words.", "NAME"
    )
    stop_words: str | None = _of_words(
        "Words to leave out: english, none, or a file with one word per line; by default those of --language.",
        "NAME",
    )
    stemmer: str | None = _of_words("Algorithm of PyStemmer, or none; by default that of --language.", "NAME")

    def analyser(self) -> Analyser:
        """Return the analyser that the options ask for."""
        language = self.language or "english"
        known = {NONE: None, "english": "english"}
        stop_words = known.get(language) if self.stop_words is None else self._words(self.stop_words)
        stemmer = language if self.stemmer is None else self.stemmer
        return rw.text.Analyser(stop_words=stop_words, stemmer=None if stemmer == NONE else stemmer)

    def _words(self, name: str) -> Any:
        if name == NONE:
            return None
        return listed_names(Path(name)) if Path(name).is_file() else name


@option_group
class EncoderOptions:
    """How documents become vectors."""

    encoder: str | None = option(
        "Encode the documents too: a folder with model.onnx and tokenizer.json, sentence-transformers:NAME or "
        "model2vec:NAME. Killed and started again, it resumes.",
        "SOURCE",
    )
    encoder_name: str | None = option("Name of the encoder; by default the last part of its source.", "NAME")

    def load(self) -> Encoder | None:
        """Return the encoder, if there is one."""
        if self.encoder is not None:
            return rw.text.Encoder.load(self.encoder, self.encoder_name)
        if self.encoder_name is not None:
            raise InputError("--encoder-name is for --encoder.")
        return None


def encode(index: Index, encoder: Encoder | None) -> None:
    """Encode all documents of an index, if there is an encoder."""
    if encoder is None:
        return
    with progress("Encoding", len(index)) as advance:
        index.encode(encoder, on_progress=lambda n_documents: advance("documents", n_documents))
    note(f"encoded {counted(len(index), 'document')} with {encoder.name}")


@option_group
class QueryFileOptions:
    """How queries are read."""

    query_format: str | None = _of_queries(
        "jsonl, csv, tsv, parquet, trec or smart; by default recognised.", "NAME"
    )
    query_part: str | None = _of_queries(
        "Fields that make up the text of a query, such as title,desc; by default the format's own.", "A,B,..."
    )
    query_ids: str = _of_queries(
        "file, or place to number the queries from 1, as Cranfield's judgements do.", "KIND", default="file"
    )

    def read_queries(self, path: str) -> Queries:
        """Read a file of queries."""
        part = None if self.query_part is None else [name.strip() for name in self.query_part.split(",")]
        ids: Any = self.query_ids
        return rw.text.read_queries(path, format=self.query_format, part=part, ids=ids)


@option_group
class QueryOptions(QueryFileOptions):
    """How queries and judgements are read."""

    qrels_format: str | None = _of_queries("trec, smart or beir; by default recognised.", "NAME")
    grades: str | None = _of_queries(
        "Label of each grade in the judgements, such as 1=4,2=3,3=2,4=1, or cranfield.", "GRADE=LABEL,..."
    )

    def read_judgements(self, path: str) -> Judgements:
        """Read a file of judgements."""
        return rw.read_judgements(path, format=self.qrels_format, grades=self._labels())

    def hint(self, queries: Queries, coverage: JudgementCoverage) -> None:
        """Say so if judgements seem to number the queries by their place in the file."""
        unknown, n = coverage.unknown_queries, len(queries)
        numbered = all(query.isdecimal() and 0 < int(query) <= n for query in unknown)
        if unknown and self.query_ids == "file" and numbered:
            note("If the judgements number the queries by their place in the file, give --query-ids place.")

    def _labels(self) -> Any:
        if self.grades is None:
            return None
        if self.grades == "cranfield":
            return rw.CRANFIELD_GRADES
        try:
            return {float(grade): float(label) for grade, _, label in _pairs(self.grades)}
        except ValueError:
            raise InputError(f"--grades takes GRADE=LABEL,... such as 1=2,2=1, not {self.grades!r}.") from None


@option_group
class CandidateOptions:
    """Which documents of each query get features, and what those without a judgement are."""

    candidates: int = option("Number of documents to find for each query.", "N", min=1, default=100)
    retrieval: str = RETRIEVAL
    run: Path | None = option("TREC run to take the documents from.", "FILE")
    unjudged: str = option(
        "What documents without a judgement are: irrelevant (label 0), or drop to leave them out.",
        "HOW",
        default="irrelevant",
    )
    judged_too: bool = option(
        "Add judged documents that were not found, to evaluate on; a model that learns from them learns that "
        "being hard to find is a sign of relevance.",
        default=False,
    )
    columns: Path | None = option("Table of your own numbers to add as features, by document id.", "FILE")

    def documents(self, features: FeatureSet, index: Index, queries: Queries, n_jobs: int | None) -> TextDocuments:
        """Return the candidates with features, without labels."""
        candidates: Any = self._run()
        if candidates is None:
            searcher = rw.text.Searcher(index, retrieval=read_retrieval(self.retrieval))
            candidates = searcher.search_all(queries, self.candidates, n_jobs=n_jobs)
        return features.documents(index, queries, candidates, depth=self.candidates, n_jobs=n_jobs)

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


def listed_names(path: Path) -> list[str]:
    """Return the lines of a file, stripped, without empty ones."""
    from rankwright.text.collections.formats.records import read_lines

    return [name for _, line in read_lines(path, "utf-8") if (name := line.strip())]


def read_retrieval(text: str) -> RetrievalModel | BaseRetriever:
    """Return the retrievers that a text spells, such as bm25, bm25:k1=0.9,b=0.4 or bm25+dense."""
    parts: list[Any] = [_read_retriever(part.strip(), text) for part in text.split("+")]
    return parts[0] if len(parts) == 1 else rw.text.Hybrid(parts)


def hybrid_retrieval(text: str) -> Hybrid | None:
    """Return several retrievers, whose scores are features; None if a text spells one."""
    retrieval = read_retrieval(text)
    return retrieval if isinstance(retrieval, rw.text.Hybrid) else None


def _read_retriever(part: str, text: str) -> RetrievalModel | BaseRetriever:
    from rankwright.cli.options.faces import number_or_word
    from rankwright.text.retrieval import model_of

    name, _, spelled = part.partition(":")
    if name == "dense":
        return rw.text.Dense(spelled or None)
    given = {key: number_or_word("", value) for key, _, value in _pairs(spelled)}
    try:
        return model_of(name, given)
    except InputError as error:
        raise InputError(f"--retrieval {text}: {error}") from None


def _pairs(text: str) -> list[tuple[str, str, str]]:
    """Return the parts of `a=1,b=2`, each as name, equals sign and value; both are empty for a name alone."""
    parts = [part.partition("=") for part in text.split(",")] if text else []
    return [(name.strip(), equals, value.strip()) for name, equals, value in parts]
