"""Judgements as lists of relevant documents, as LISA, TIME and NPL have them.

- `npl`: a query, its documents on some lines, and a line with `/`;
- `time`: a query and its documents on one line;
- `lisa`: a query, the number of its documents, and these, on any number of lines; or `Query 1`, a line of words,
  and documents up to -1.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

Line = tuple[int, list[str]]
SLASH, MINUS_ONE = "/", "-1"
TREC_WIDTH = 4  # columns of the widest other format


def list_format(lines: Sequence[Line]) -> str | None:
    """Return the format of lists that the first lines of a file have, None if they are no lists."""
    words = [words for _, words in lines]
    if [SLASH] in words or any(line[-1] == SLASH for line in words):
        return "npl"
    if words and words[0][0].lower() == "query" and any(line[-1] == MINUS_ONE for line in words):
        return "lisa"
    if not all(word.isdecimal() for line in words for word in line):
        return None
    queries, widths = {line[0] for line in words}, {len(line) for line in words}
    if (
        len(words) > 1
        and _is_counted([*chain.from_iterable(words)])
        and (len(widths) > 1 or _is_counted(words[0]))
    ):
        return "lisa"  # where all lines have as many columns, as in a table, each must be a list
    return "time" if len(queries) == len(words) and max(widths, default=0) > TREC_WIDTH else None


def listed_pairs(name: str, lines: Iterator[Line], path: str | PathLike[str]) -> Iterator[Line]:
    """Yield query and document of each relation, with the line of the document."""
    words = ((line, word) for line, words in lines for word in words)
    if name == "time":
        return ((line, [words[0], document]) for line, words in lines for document in words[1:])
    return _pairs_of_npl(words) if name == "npl" else _pairs_of_lisa(words, path)


def _is_counted(words: list[str]) -> bool:
    """Return whether numbers are queries, each with the number of its documents and these, in increasing order."""
    start, last = 0, -1
    while start + 1 < len(words) and int(words[start]) > last and int(words[start + 1]) > 0:
        last = int(words[start])
        start += 2 + int(words[start + 1])
    return start == len(words)


def _pairs_of_npl(words: Iterator[tuple[int, str]]) -> Iterator[Line]:
    for _, query in words:
        for line, document in words:
            if document == SLASH:
                break
            yield line, [query, document]


def _pairs_of_lisa(words: Iterator[tuple[int, str]], path: str | PathLike[str]) -> Iterator[Line]:
    for line, word in words:
        if word.lower() == "query":
            yield from _until_minus_one(words)
            continue
        count = next(words, (line, ""))[1]
        if not (word.isdecimal() and count.isdecimal()):
            raise InputError(
                f"{path}, line {line}: expected a query and the number of its documents, found {word!r}."
            )
        for _ in range(int(count)):
            at, document = next(words, (line, ""))
            if not document:
                raise InputError(
                    f"{path}, line {line}: query {word} has fewer documents than the {count} it says."
                )
            yield at, [word, document]


def _until_minus_one(words: Iterator[tuple[int, str]]) -> Iterator[Line]:
    """Yield the documents of `1 2 Relevant Refs: 3392 3396 -1`."""
    query = next(words)[1]
    numbers = (pair for pair in words if pair[1].lstrip("-").isdecimal())
    next(numbers, None)  # how many documents there are
    for line, document in numbers:
        if document == MINUS_ONE:
            return
        yield line, [query, document]
