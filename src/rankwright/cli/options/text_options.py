"""Options of the verbs that read text: how documents, queries and judgements are read, and what words are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.option_groups import takes_options
from rankwright.cli.output.console import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.data.readers.trec import Judgements
    from rankwright.text.analyser import Analyser
    from rankwright.text.collections.coverage import JudgementCoverage
    from rankwright.text.collections.queries import Queries
    from rankwright.text.retrieval import RetrievalModel

NONE = "none"
DOCUMENTS, WORDS, QUERIES = "Reading documents", "Words", "Reading queries and judgements"


def _option(panel: str, name: str, metavar: str, words: str) -> Any:
    return typer.Option(name, metavar=metavar, help=words, rich_help_panel=panel)


RetrievalOption = Annotated[
    str,
    typer.Option(
        "--retrieval",
        metavar="MODEL",
        help="How documents are found: bm25, dirichlet or jelinek_mercer; with parameters, as in bm25:k1=1,b=0.4.",
    ),
]


@dataclass(frozen=True)
class DocumentOptions:
    """How files of documents are read, and which fields are indexed."""

    format: Annotated[
        str | None,
        _option(
            DOCUMENTS,
            "--format",
            "NAME",
            "jsonl, csv, tsv, parquet, trec, smart or text; by default recognised.",
        ),
    ] = None
    id: Annotated[
        str | None, _option(DOCUMENTS, "--id", "FIELD", "Field with the ids; by default recognised.")
    ] = None
    fields: Annotated[
        str | None,
        _option(
            DOCUMENTS,
            "--fields",
            "A=WEIGHT,B,...",
            "Fields to index, with their weights in searches, 1 if not given; by default all with text.",
        ),
    ] = None
    rename: Annotated[
        str | None,
        _option(DOCUMENTS, "--rename", "OLD=NEW,...", "Fields to read under other names, such as T=title,W=body."),
    ] = None
    encoding: Annotated[
        str, _option(DOCUMENTS, "--encoding", "NAME", "Encoding of text files; it must extend ASCII.")
    ] = "utf-8"

    @property
    def weights(self) -> dict[str, float] | None:
        """The fields to index with their weights, None for all."""
        if self.fields is None:
            return None
        return {name: 1.0 if weight is None else weight for name, weight in _weighted(self.fields).items()}

    def reading(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the options of `read_documents`; `names` are the fields of an index, if they are known."""
        old_of = {new: old for old, new in _renamed(self.rename).items()}
        wanted = names or (None if self.weights is None else [*self.weights]) or [*old_of]
        choice = {name: old_of.get(name, name) for name in wanted}
        unused = [new for new in old_of if new not in choice]
        if unused:
            raise InputError(f"--rename gives {unused[0]!r}, which is not among the fields {', '.join(choice)}.")
        return {"format": self.format, "id": self.id, "fields": choice or None, "encoding": self.encoding}


@dataclass(frozen=True)
class AnalysisOptions:
    """What the words of documents and queries are."""

    language: Annotated[
        str | None,
        _option(
            WORDS,
            "--language",
            "NAME",
            "Language of stop words and stems, or none; by default english. Only english has stop words.",
        ),
    ] = None
    stop_words: Annotated[
        str | None,
        _option(
            WORDS,
            "--stop-words",
            "NAME",
            "Words to leave out: english, none, or a file with one word per line; by default those of --language.",
        ),
    ] = None
    stemmer: Annotated[
        str | None,
        _option(WORDS, "--stemmer", "NAME", "Algorithm of PyStemmer, or none; by default that of --language."),
    ] = None

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


@dataclass(frozen=True)
class QueryOptions:
    """How queries and judgements are read."""

    query_format: Annotated[
        str | None,
        _option(
            QUERIES, "--query-format", "NAME", "jsonl, csv, tsv, parquet, trec or smart; by default recognised."
        ),
    ] = None
    query_part: Annotated[
        str | None,
        _option(
            QUERIES,
            "--query-part",
            "A,B,...",
            "Fields that make up the text of a query, such as title,desc; by default the format's own.",
        ),
    ] = None
    query_ids: Annotated[
        str,
        _option(
            QUERIES,
            "--query-ids",
            "KIND",
            "file, or place to number the queries from 1, as Cranfield's judgements do.",
        ),
    ] = "file"
    qrels_format: Annotated[
        str | None,
        _option(QUERIES, "--qrels-format", "NAME", "trec, smart or beir; by default recognised."),
    ] = None
    grades: Annotated[
        str | None,
        _option(
            QUERIES,
            "--grades",
            "GRADE=LABEL,...",
            "Label of each grade in the judgements, such as 1=4,2=3,3=2,4=1, or cranfield.",
        ),
    ] = None

    def read_queries(self, path: str) -> Queries:
        """Read a file of queries."""
        part = None if self.query_part is None else [one.strip() for one in self.query_part.split(",")]
        ids: Any = self.query_ids
        return rw.text.read_queries(path, format=self.query_format, part=part, ids=ids)

    def read_judgements(self, path: str) -> Judgements:
        """Read a file of judgements."""
        return rw.read_judgements(path, format=self.qrels_format, grades=self._labels())

    def hint(self, queries: Queries, coverage: JudgementCoverage) -> None:
        """Say so if judgements seem to number the queries by their place in the file."""
        unknown, n = coverage.unknown_queries, len(queries)
        if unknown and self.query_ids == "file" and all(one.isdecimal() and 0 < int(one) <= n for one in unknown):
            note("If the judgements number the queries by their place in the file, give --query-ids place.")

    def _labels(self) -> Any:
        if self.grades is None:
            return None
        if self.grades == "cranfield":
            return rw.CRANFIELD_GRADES
        pairs = [part.partition("=") for part in self.grades.split(",")]
        try:
            return {float(grade): float(label) for grade, _, label in pairs}
        except ValueError:
            raise InputError(f"--grades takes GRADE=LABEL,... such as 1=2,2=1, not {self.grades!r}.") from None


reads_documents = takes_options(DocumentOptions, "reading")
finds_words = takes_options(AnalysisOptions, "words")
reads_queries = takes_options(QueryOptions, "asking")


def listed_names(path: Path) -> list[str]:
    """Return the lines of a file, stripped, without empty ones."""
    from rankwright.text.collections.formats.lines import read_lines

    return [name for _, line in read_lines(path, "utf-8") if (name := line.strip())]


def read_retrieval(text: str) -> RetrievalModel:
    """Return the retrieval model that a text spells, such as bm25 or bm25:k1=0.9,b=0.4."""
    from rankwright.text.retrieval import model_of

    name, _, spelled = text.partition(":")
    pairs = [[one.strip() for one in part.partition("=")] for part in spelled.split(",") if part.strip()]
    try:
        return model_of(name.strip(), {key: _number(value) for key, _, value in pairs})
    except InputError as error:
        raise InputError(f"--retrieval {text}: {error}") from None


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _weighted(text: str) -> dict[str, float | None]:
    weights: dict[str, float | None] = {}
    for part in text.split(","):
        name, equals, weight = (one.strip() for one in part.partition("="))
        try:
            weights[name] = float(weight) if equals else None
        except ValueError:
            raise InputError(f"--fields takes names with weights, such as title=2,body, not {part!r}.") from None
    return weights


def _renamed(text: str | None) -> dict[str, str]:
    if text is None:
        return {}
    pairs = [[one.strip() for one in part.partition("=")] for part in text.split(",")]
    if not all(old and equals and new for old, equals, new in pairs):
        raise InputError(f"--rename takes OLD=NEW,... such as T=title,W=body, not {text!r}.")
    return {old: new for old, _, new in pairs}
