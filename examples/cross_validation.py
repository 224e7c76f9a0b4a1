"""
Cross-validate several rankers
==============================

Each query is tested once, by a model that was trained without it. All rankers get the same folds.
"""

from pathlib import Path

import rankwright as rw

judged = rw.read_csv(
    Path(__file__).with_name("shop.csv"), label="grade", qid="query", docid="product", categorical=["brand"]
)
rankers = {
    "RankSVM": rw.RankSVM("ndcg@5"),
    "AdaRank": rw.AdaRank("ndcg@5"),
    "LambdaMART": rw.LambdaMART("ndcg@5", rounds=50),
}
result = rw.cross_validate(rankers, judged, folds=5, metrics="ndcg@5")
print(result)

# %%
# Every result has its charts.

chart = result.charts[0]
chart.save("rankers.svg")
