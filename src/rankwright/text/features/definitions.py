"""The features of a document for a query: name, family and formula of each, declared once.

In the formulas, sums run over the words of the query that the document has; a word that comes k times in the
query counts k times. A word has the frequency c in the document (or field), which has l words. Of all N documents,
n have the word; all documents together have L words, cf of them this one. Words are those that the analyser keeps;
logarithms are natural.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankwright._native import TextFeature as Kernel

ALL_FIELDS = "all fields"
ADARANK_2007 = "adarank-2007"


@dataclass(frozen=True)
class TextFeature:
    """A feature of a document in one field, or in all fields together.

    `paper` is its number in Table 2 of Xu and Li (SIGIR 2007), if it has one. A feature that `needs_vocabulary`
    needs numbers of all words of a document, which the index has. A feature of the query
    alone is the same in all fields. A feature of the document alone must be asked for: by it, rankers learn to
    recognise documents. `model` is the retrieval model whose parameters it depends on.
    """

    name: str
    family: str
    formula: str
    kernel: Kernel
    paper: int | None = None
    needs_vocabulary: bool = False
    of_query: bool = False
    of_document: bool = False
    model: str | None = None

    def named(self, scope: str) -> str:
        """Return the name of the feature in a field."""
        return self.name if self.of_query else f"{scope}: {self.name}"


FEATURES = (
    TextFeature("tf", "tf", "sum of c", Kernel.frequency),
    TextFeature("log tf", "tf", "sum of log(c + 1)", Kernel.log_frequency, 1),
    TextFeature("normalised tf", "tf", "sum of c / l", Kernel.normalised_frequency),
    TextFeature("log normalised tf", "tf", "sum of log(c / l + 1)", Kernel.log_normalised_frequency, 4),
    TextFeature("idf", "idf", "sum of log(N / n)", Kernel.idf, 3),
    TextFeature("icf", "idf", "sum of log(L / cf + 1)", Kernel.icf, 2),
    TextFeature("tf-idf", "tf-idf", "sum of c * log(N / n)", Kernel.tf_idf),
    TextFeature("normalised tf-idf", "tf-idf", "sum of c / l * log(N / n)", Kernel.normalised_tf_idf),
    TextFeature("log tf-idf", "tf-idf", "sum of log(c / l * N / n + 1)", Kernel.log_tf_idf, 5),
    TextFeature("log tf-icf", "tf-idf", "sum of log(c / l * L / cf + 1)", Kernel.log_tf_icf, 6),
    TextFeature("length", "length", "l; only if asked for", Kernel.length, of_document=True),
    TextFeature("BM25", "BM25", "the score of `BM25`", Kernel.bm25, model="bm25"),
    TextFeature(
        "log BM25", "BM25", "log of the score of `BM25`; missing if that is 0", Kernel.log_bm25, 7, model="bm25"
    ),
    TextFeature("LM Dirichlet", "language model", "the score of `Dirichlet`", Kernel.dirichlet, model="dirichlet"),
    TextFeature(
        "LM Jelinek-Mercer",
        "language model",
        "the score of `JelinekMercer`",
        Kernel.jelinek_mercer,
        model="jelinek_mercer",
    ),
    TextFeature(
        "LM absolute discounting",
        "language model",
        "the score of `AbsoluteDiscounting`",
        Kernel.absolute_discounting,
        needs_vocabulary=True,
        model="absolute_discounting",
    ),
    TextFeature(
        "cosine",
        "cosine",
        "cosine of the query's (1 + log k) * log(N / n) and the document's (1 + log c), over all its words",
        Kernel.cosine,
        needs_vocabulary=True,
    ),
    TextFeature("matched words", "coverage", "distinct words of the query that occur", Kernel.matched_words),
    TextFeature(
        "matched fraction",
        "coverage",
        "matched words / distinct words of the query",
        Kernel.matched_fraction,
    ),
    TextFeature(
        "minimal span",
        "proximity",
        "length of the shortest part that has all matched words, in words; missing without any",
        Kernel.minimal_span,
    ),
    TextFeature("span density", "proximity", "matched words / minimal span; 0 without any", Kernel.span_density),
    TextFeature(
        "closest pair",
        "proximity",
        "smallest distance, in words, of two different words of the query; missing if fewer than two occur",
        Kernel.closest_pair,
    ),
    TextFeature(
        "pair closeness",
        "proximity",
        "sum over neighbours in the query (two different words) of 1 / d^2, where d is their smallest distance",
        Kernel.pair_closeness,
    ),
    TextFeature(
        "ordered pairs",
        "phrase",
        "occurrences of neighbours in the query, in the same order and at the same distance",
        Kernel.ordered_pairs,
    ),
    TextFeature(
        "phrase",
        "phrase",
        "occurrences of the whole query, in the same order and at the same distances",
        Kernel.phrases,
    ),
    TextFeature("query length", "query", "words of the query", Kernel.query_length, of_query=True),
)
"""All features, in the order of columns within a field."""

FAMILIES = tuple(dict.fromkeys(feature.family for feature in FEATURES))
TABLE_2 = tuple(
    sorted((feature for feature in FEATURES if feature.paper is not None), key=lambda feature: feature.paper or 0)
)
"""The features of Table 2 of Xu and Li (SIGIR 2007), in its order. There idf is N / n."""
