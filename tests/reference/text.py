"""Slow twins of tokenising, inverting and retrieval, in plain Python."""

import math
import unicodedata
from collections import Counter

LONGEST_WORD = 255  # bytes


def words(text):
    """Return the lower-cased words of a text, None for those that are too long."""
    found, word = [], ""
    for character in text + " ":
        if is_single(character) or not is_part(character):
            if word:
                found.append(word if len(word.encode()) <= LONGEST_WORD else None)
            word = ""
        if is_single(character):
            found.append(character)
        elif is_part(character):
            word += character.lower()[0]
    return found


def is_part(character):
    category = unicodedata.category(character)
    return ord(character) < 0x20000 and (category[0] in "LMN" or category == "Pc")


def is_single(character):
    code = ord(character)
    ranges = ((0x3041, 0x3097), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x40000))
    return any(first <= code < end for first, end in ranges)


def invert(documents):
    """Return {term: {document: positions}} of documents given as terms, where None keeps a place."""
    postings = {}
    for number, terms in enumerate(documents):
        for position, term in enumerate(terms):
            if term is not None:
                postings.setdefault(term, {}).setdefault(number, []).append(position)
    return postings


def lengths(documents):
    return [sum(term is not None for term in terms) for terms in documents]


def bm25(documents, query, k1, b, method="lucene"):
    """Return {document: score} by a literal reading of the formula."""
    postings, sizes = invert(documents), lengths(documents)
    mean = sum(sizes) / max(len(sizes), 1) or 1.0
    scores = {}
    for term, count in Counter(query).items():
        found = postings.get(term, {})
        for document, positions in found.items():
            f = len(positions)
            part = f / (f + k1 * (1 - b + b * sizes[document] / mean))
            scores.setdefault(document, 0.0)
            scores[document] += count * idf(method, len(documents), len(found), k1) * part
    return scores


def idf(method, n_documents, n, k1):
    odds = (n_documents - n + 0.5) / (n + 0.5)
    if method == "lucene":
        return math.log(1 + odds)
    if method == "robertson":
        return math.log(max(odds, 1))
    return (k1 + 1) * math.log(n_documents / n)


def dirichlet(documents, query, mu):
    def score(f, length, p):
        return math.log((f + mu * p) / (length + mu))

    return language_model(documents, query, score)


def jelinek_mercer(documents, query, smoothing):
    def score(f, length, p):
        return math.log((1 - smoothing) * (f / length if f else 0.0) + smoothing * p)

    return language_model(documents, query, score)


def language_model(documents, query, score):
    """Return {document: log-likelihood} for documents with at least one term of the query."""
    postings, sizes = invert(documents), lengths(documents)
    known = [term for term in query if term in postings]
    found = {document for term in known for document in postings[term]}
    p = {term: sum(map(len, postings[term].values())) / sum(sizes) for term in known}
    return {
        document: sum(score(len(postings[term].get(document, [])), sizes[document], p[term]) for term in known)
        for document in found
    }


def ranked(scores, n):
    """Return the n best documents, equal scores by number."""
    return sorted(scores, key=lambda document: (-scores[document], document))[:n]
