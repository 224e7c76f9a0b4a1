"""
Train for your own metric
=========================

A metric is a function of the labels in ranked order. AdaRank and LambdaMART can train for any of them.
"""

from pathlib import Path

import rankwright as rw


def sold_above_the_fold(labels):
    """Return 1 if the first product is a good one, 2/3 for the second, 1/3 for the third, otherwise 0."""
    return max((1.0 - rank / 3.0 for rank, label in enumerate(labels[:3]) if label >= 2), default=0.0)


judged = rw.read_csv(
    Path(__file__).with_name("shop.csv"), label="grade", qid="query", docid="product", categorical=["brand"]
)
train, test = rw.split_queries(judged, 0.7, 0.3)
ranker = rw.AdaRank(sold_above_the_fold).fit(train)
print(rw.evaluate(ranker, test, metrics=[sold_above_the_fold, "ndcg@5"]))

# %%
# The metric after each round of boosting:

chart = ranker.history_.chart()
chart.save("rounds.svg")
