"""A small collection of generated English text with queries and judgements, for demonstrations and tests.

Every document is about one thing, such as an old bridge, and one side of it, such as its repair; in passing it
mentions other things. A query asks for all three, as in "old bridge repair". Documents about all three have label
2, those about the thing and one of the two others label 1. Other documents may have all words of the query, but
apart from each other, and that is what counts of words cannot tell. Some judgements are wrong, as real ones are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.readers.trec import Judgements
from rankwright.text.collections.documents import TextDocument
from rankwright.text.collections.queries import Queries

KINDS = ("old", "wooden", "northern", "public", "small", "abandoned")
THINGS = (
    "bridge", "harbour", "orchard", "railway", "lighthouse", "library",
    "windmill", "canal", "observatory", "market", "quarry", "theatre",
)  # fmt: skip
SIDES = ("repair", "history", "cost", "safety", "design", "ownership")

WRONG = 0.3  # the fraction of wrong labels among documents about the right thing

TITLES = (
    "The {side} of the {kind} {thing}",
    "{kind} {thing}: {side}",
    "On the {kind} {thing}",
    "{thing} and {side}",
    "A report from the valley",
    "Notes of the committee",
)
FIRST = ("The {thing} has been the subject of several studies.", "Little has been written about this {thing}.")
ABOUT = (
    "Most questions about its {side} are still open.",
    "Anyone who knows the {kind} {thing} will agree that its {side} matters.",
    "In the spring the council discussed the {side} of the {kind} {thing}.",
    "Every {kind} {thing} needs attention once a year.",
    "The {thing} is {kind}, and its {side} was planned long ago.",
)
PASSING = (
    "Visitors also mention the {other_kind} {other_thing} nearby.",
    "The {other_thing} on the other side is {other_kind}.",
    "This {thing} is no {other_kind} {other_thing}, as the engineer said.",
    "Nobody asked about {other_side} that day.",
    "Letters about {other_side} and about the {other_thing} are kept in the archive.",
)
FILLER = (
    "It rained for most of the week, and little could be done.",
    "The work was finished before winter.",
    "There is a photograph of it in the town hall.",
    "Opinions differ, as they often do in a place of this size.",
    "The figures in the table are those of last year.",
    "A second meeting was held in the school.",
)


class GeneratedCollection(NamedTuple):
    """Documents with title and body, queries, and the label of every document that has one above 0.

    Examples
    --------
    >>> documents, queries, judgements = rw.text.generated_collection(50, 5)
    >>> len(documents), len(queries), len(judgements)
    (50, 5, 4)
    """

    documents: list[TextDocument]
    queries: Queries
    judgements: Judgements


def generated_collection(n_documents: int = 600, n_queries: int = 80, *, seed: int = 0) -> GeneratedCollection:
    """Return a collection; the same seed gives the same one.

    Parameters
    ----------
    n_documents : int
        The number of documents.
    n_queries : int
        The number of queries, all different: at most 432.
    seed : int
        Seed of all choices.

    Examples
    --------
    >>> collection = rw.text.generated_collection(50, 5)
    >>> collection.documents[0].fields["title"]
    'The cost of the abandoned market'
    >>> dict(collection.queries)["q1"]
    'small bridge design'
    """
    if n_queries > _N_SUBJECTS:
        raise InputError(f"n_queries must be at most {_N_SUBJECTS}, not {n_queries}.")
    random = np.random.default_rng(seed)
    subjects = np.stack(
        [random.integers(len(words), size=n_documents) for words in (KINDS, THINGS, SIDES)], axis=1
    )
    documents = [
        TextDocument(f"d{number + 1}", _fields(subject, random)) for number, subject in enumerate(subjects)
    ]
    every = np.stack(np.unravel_index(random.permutation(_N_SUBJECTS)[:n_queries], _SHAPE), axis=1)
    queries = Queries.of({f"q{number + 1}": _query(subject) for number, subject in enumerate(every)})
    return GeneratedCollection(documents, queries, _judgements(every, subjects, random))


_SHAPE = (len(KINDS), len(THINGS), len(SIDES))
_N_SUBJECTS = len(KINDS) * len(THINGS) * len(SIDES)


def _query(subject: np.ndarray) -> str:
    kind, thing, side = subject
    return f"{KINDS[kind]} {THINGS[thing]} {SIDES[side]}"


def _fields(subject: np.ndarray, random: np.random.Generator) -> dict[str, str]:
    title = _filled(TITLES, subject, random)
    sentences = [_filled(FIRST, subject, random)]
    sentences += [_filled(ABOUT, subject, random) for _ in range(random.integers(1, 5))]
    sentences += [_filled(PASSING, subject, random) for _ in range(random.integers(1, 8))]
    sentences += [_filled(FILLER, subject, random) for _ in range(random.integers(0, 8))]
    body = " ".join(sentences[index] for index in random.permutation(len(sentences)))
    return {"title": title[0].upper() + title[1:], "body": body}


def _filled(patterns: tuple[str, ...], subject: np.ndarray, random: np.random.Generator) -> str:
    kind, thing, side = subject
    return patterns[random.integers(len(patterns))].format(
        kind=KINDS[kind],
        thing=THINGS[thing],
        side=SIDES[side],
        other_kind=KINDS[random.integers(len(KINDS))],
        other_thing=THINGS[random.integers(len(THINGS))],
        other_side=SIDES[random.integers(len(SIDES))],
    )


def _judgements(asked: np.ndarray, subjects: np.ndarray, random: np.random.Generator) -> Judgements:
    equal = asked[:, None, :] == subjects[None, :, :]
    labels = np.where(equal[:, :, 1], equal.sum(axis=2) - 1, 0)
    is_wrong = (random.random(labels.shape) < WRONG) & equal[:, :, 1]
    labels = np.where(is_wrong, random.integers(3, size=labels.shape), labels)
    queries, documents = np.nonzero(labels)
    return Judgements.of(
        [f"q{number + 1}" for number in queries],
        [f"d{number + 1}" for number in documents],
        labels[queries, documents].astype(float),
    )
