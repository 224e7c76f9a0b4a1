"""The documents to judge, with their texts, in an order that says nothing about the systems that found them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.judgements.selection import pooled_discounts
from rankwright.text.analyser import terms_of_texts
from rankwright.text.snippets import LONGEST_TEXT, matches_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankwright.data.readers.trec import Run
    from rankwright.text.collections.queries import Queries
    from rankwright.text.searcher import Searcher

PARAGRAPH = re.compile(r"\n\s*\n")


class ShownField(NamedTuple):
    """A field of a document: its paragraphs, each as texts of which every second one is a word of the query."""

    name: str
    paragraphs: list[list[str]]


@dataclass(frozen=True)
class JudgingPool:
    """The documents to judge.

    Parameters
    ----------
    searcher
        Has the texts of documents, and knows which words of them are words of a query.
    queries
        The queries, in the order of judging.
    documents
        The documents of each query.
    notes
        What was left out, in sentences.
    """

    searcher: Searcher
    queries: Queries
    documents: Mapping[str, Sequence[str]]
    notes: tuple[str, ...]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Every query with each of its documents."""
        return [(query, document) for query in self.queries.ids for document in self.documents.get(query, ())]

    def order_for(self, judge: str) -> list[tuple[str, str]]:
        """Return the order in which a judge sees documents: query by query, and those of a query shuffled.

        It depends on nothing but the names, so that it is the same after a restart.
        """
        number_of = {query: number for number, query in enumerate(self.queries.ids)}
        return sorted(self.pairs, key=lambda pair: (number_of[pair[0]], _hash(judge, *pair)))

    def text(self, query: str, document: str) -> list[ShownField]:
        """Return the fields of a document that have text, with the words of the query marked."""
        analyser = self.searcher.index.analyser
        (terms,) = terms_of_texts(analyser, [self.queries[query]])
        shown = []
        for name, text in self.searcher.index.text(document).items():
            parts = [
                _marked(part, terms, analyser) for part in PARAGRAPH.split(text[:LONGEST_TEXT]) if part.strip()
            ]
            if len(text) > LONGEST_TEXT:
                parts.append([f"[{len(text) - LONGEST_TEXT:,} more characters]"])
            if parts:
                shown.append(ShownField(name, parts))
        return shown


def _hash(*names: str) -> bytes:
    return hashlib.sha256("\0".join(names).encode()).digest()


def _marked(text: str, terms: Iterable[str], analyser: object) -> list[str]:
    """Return a text in parts: other words, a word of the query, other words and so on."""
    parts, end = [], 0
    for match in matches_of(text, terms, analyser):  # type: ignore[arg-type]
        parts += [text[end : match.begin], text[match.begin : match.end]]
        end = match.end
    return [*parts, text[end:]]


def pool_of(searcher: Searcher, queries: Queries, runs: Mapping[str, Run] | None, depth: int) -> JudgingPool:
    """Return the first documents of the searcher for each query or, if there are runs, of any of them."""
    if not searcher.index.has_text:
        raise InputError("The index was built without text, which judges need: build it with store=True (--text).")
    if not len(queries):
        raise InputError("There are no queries to judge.")
    systems = {"search": searcher.search_all(queries, depth)} if runs is None else runs
    pairs, _ = pooled_discounts(systems, depth)
    if runs is not None and pairs and not any(query in queries for query, _ in pairs):
        raise InputError(
            f"No query of the runs, such as {pairs[0][0]!r}, is among the queries; do their ids agree?"
        )
    unknown = {query for query, _ in pairs if query not in queries}
    missing = {document for _, document in pairs if document not in searcher.index}
    documents: dict[str, list[str]] = {}
    for query, document in pairs:
        if query not in unknown and document not in missing:
            documents.setdefault(query, []).append(document)
    if not documents:
        why = "none of their documents is in the index" if missing else "no document was found for any query"
        raise InputError(f"The pool is empty: {why}.")
    return JudgingPool(searcher, queries, documents, tuple(_left_out(queries, documents, unknown, missing)))


def _left_out(
    queries: Queries, documents: Mapping[str, Sequence[str]], unknown: set[str], missing: set[str]
) -> Iterable[str]:
    if unknown:
        yield f"{counted(len(unknown), 'query')} of the runs without a text, left out."
    if missing:
        yield f"{counted(len(missing), 'document')} of the runs not in the index, left out."
    if empty := len(queries) - len(documents):
        yield f"{counted(empty, 'query')} without documents to judge."
