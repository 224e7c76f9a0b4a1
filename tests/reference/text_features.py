"""Features of documents for a query, by a literal reading of their formulas; positions by brute force.

A text is a list of terms in which None keeps the place of a word that was removed. A document has one text per
field.
"""

import itertools
import math
from collections import Counter


def features(documents, query, *, k1=1.2, b=0.75, mu=2000.0, smoothing=0.1, delta=0.7):
    """Return one dict per document: the value of each feature, by "field: name", in all fields too."""
    names = list(documents[0])
    whole = [[term for name in names for term in document[name]] for document in documents]
    scopes = {name: [document[name] for document in documents] for name in names} | {"all fields": whole}
    models = {"k1": k1, "b": b, "mu": mu, "smoothing": smoothing, "delta": delta}
    found = [{} for _ in documents]
    for scope, texts in scopes.items():
        counted = Scope(texts, [term for term in query if term is not None], models)
        for number, document in enumerate(documents):
            values = counted.features(number)
            own = [document[name] for name in names] if scope == "all fields" else [document[scope]]
            values |= positions(own, query)
            found[number] |= {f"{scope}: {name}": value for name, value in values.items()}
    for values in found:
        values["query length"] = sum(term is not None for term in query)
    return found


class Scope:
    """Texts of all documents in one scope."""

    def __init__(self, texts, query, models):
        self.texts = [Counter(term for term in text if term is not None) for text in texts]
        self.query = query
        self.models = models
        self.N = len(texts)
        self.L = sum(text.total() for text in self.texts)

    def n(self, term):
        return sum(term in text for text in self.texts)

    def cf(self, term):
        return sum(text[term] for text in self.texts)

    def features(self, number):
        d = self.texts[number]
        length = d.total()
        matched = [term for term in self.query if term in d]
        idf = {term: math.log(self.N / self.n(term)) for term in matched}
        rarity = {term: self.L / self.cf(term) for term in matched}
        bm25 = self.bm25(d, matched)
        return {
            "tf": sum(d[w] for w in matched),
            "log tf": sum(math.log(d[w] + 1) for w in matched),
            "normalised tf": sum(d[w] / length for w in matched),
            "log normalised tf": sum(math.log(d[w] / length + 1) for w in matched),
            "idf": sum(idf[w] for w in matched),
            "icf": sum(math.log(rarity[w] + 1) for w in matched),
            "tf-idf": sum(d[w] * idf[w] for w in matched),
            "normalised tf-idf": sum(d[w] / length * idf[w] for w in matched),
            "log tf-idf": sum(math.log(d[w] / length * self.N / self.n(w) + 1) for w in matched),
            "log tf-icf": sum(math.log(d[w] / length * rarity[w] + 1) for w in matched),
            "length": length,
            "BM25": bm25,
            "log BM25": math.log(bm25) if bm25 > 0 else math.nan,
            "LM Dirichlet": self.likelihood(d, self.dirichlet),
            "LM Jelinek-Mercer": self.likelihood(d, self.jelinek_mercer),
            "LM absolute discounting": self.likelihood(d, self.absolute_discounting),
            "cosine": self.cosine(d),
            "matched words": len({*matched}),
            "matched fraction": len({*matched}) / len({*self.query}) if self.query else 0.0,
        }

    def bm25(self, d, matched):
        k1, b, mean = self.models["k1"], self.models["b"], self.L / self.N
        return sum(
            math.log(1 + (self.N - self.n(w) + 0.5) / (self.n(w) + 0.5))
            * d[w]
            / (d[w] + k1 * (1 - b + b * d.total() / mean))
            for w in matched
        )

    def likelihood(self, d, probability):
        known = [w for w in self.query if self.cf(w)]
        return sum(math.log(probability(d, w, self.cf(w) / self.L)) for w in known)

    def dirichlet(self, d, w, p):
        return (d[w] + self.models["mu"] * p) / (d.total() + self.models["mu"])

    def jelinek_mercer(self, d, w, p):
        own = d[w] / d.total() if d.total() else 0.0
        return (1 - self.models["smoothing"]) * own + self.models["smoothing"] * p

    def absolute_discounting(self, d, w, p):
        if not d.total():
            return p
        delta = self.models["delta"]
        return max(d[w] - delta, 0) / d.total() + delta * len(d) / d.total() * p

    def cosine(self, d):
        counts = {w: k for w, k in Counter(self.query).items() if self.n(w)}
        q = {w: (1 + math.log(k)) * math.log(self.N / self.n(w)) for w, k in counts.items()}
        v = {w: 1 + math.log(c) for w, c in d.items()}
        norms = math.hypot(*q.values()) * math.hypot(*v.values())
        return sum(weight * v.get(w, 0.0) for w, weight in q.items()) / norms if norms else 0.0


def positions(texts, query):
    """Return the features of positions in fields: each by itself, then the best or the sum of them."""
    terms = [term for term in query if term is not None]
    spans = [(matched, span(text, terms)) for text in texts if (matched := len({*terms} & {*text}))]
    most = max((matched for matched, _ in spans), default=0)
    least = min((size for matched, size in spans if matched == most), default=math.nan)
    pairs = [(a, b) for a, b in itertools.pairwise(terms) if a != b]
    nearest = [min((distance(text, a, b) for text in texts), default=math.inf) for a, b in pairs]
    every = [distance(text, a, b) for text in texts for a, b in itertools.combinations({*terms}, 2)]
    closest = min(every, default=math.inf)
    return {
        "minimal span": least,
        "span density": most / least if most else 0.0,
        "closest pair": closest if closest < math.inf else math.nan,
        "pair closeness": sum(1 / d**2 for d in nearest if d < math.inf),
        "ordered pairs": sum(occurrences(text, pair) for text in texts for pair in pairs_in_place(query)),
        "phrase": sum(occurrences(text, query) for text in texts),
    }


def span(text, terms):
    """Return the length of the shortest part of a text that has every term that the text has."""
    wanted = {*terms} & {*text}
    parts = (text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1))
    return min(len(part) for part in parts if wanted <= {*part})


def distance(text, a, b):
    places = {term: [i for i, one in enumerate(text) if one == term] for term in (a, b)}
    return min((abs(i - j) for i in places[a] for j in places[b]), default=math.inf)


def pairs_in_place(query):
    """Return the neighbours of a query, with the places between them."""
    places = [place for place, term in enumerate(query) if term is not None]
    return [query[first : last + 1] for first, last in itertools.pairwise(places)]


def occurrences(text, phrase):
    """Return how often the terms of a phrase stand in a text; None stands for any word."""
    while phrase and phrase[0] is None:
        phrase = phrase[1:]
    while phrase and phrase[-1] is None:
        phrase = phrase[:-1]
    if not phrase:
        return 0
    return sum(
        all(term is None or term == text[start + i] for i, term in enumerate(phrase))
        for start in range(len(text) - len(phrase) + 1)
    )
