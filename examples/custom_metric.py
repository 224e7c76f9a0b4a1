"""Train for a custom metric: a function of the labels in ranked order."""

from pathlib import Path

import rankwright as rw


def sold_above_the_fold(labels):
    """Return whether one of the first three products is a good one, with more for the first."""
    return max((1.0 - rank / 3.0 for rank, label in enumerate(labels[:3]) if label >= 2), default=0.0)


judged = rw.read_csv(
    Path(__file__).with_name("shop.csv"), label="grade", qid="query", docid="product", categorical=["brand"]
)
train, test = rw.split_queries(judged, 0.7, 0.3)
ranker = rw.AdaRank(sold_above_the_fold).fit(train)
print(rw.evaluate(ranker, test, metrics=[sold_above_the_fold, "ndcg@5"]))
