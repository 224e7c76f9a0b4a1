"""
From a data frame to a ranking
==============================

Train on a pandas frame of judged products, evaluate on other queries, and rank new products.
"""

from pathlib import Path

import pandas as pd

import rankwright as rw

shop = pd.read_csv(Path(__file__).with_name("shop.csv"))
roles = {"qid": "query", "docid": "product", "categorical": ["brand"]}
judged = rw.from_pandas(shop, label="grade", **roles)
train, valid, test = rw.split_queries(judged, 0.6, 0.2, 0.2)
ranker = rw.LambdaMART("ndcg@5").fit(train, validation=valid)
print(rw.evaluate(ranker, test, metrics="ndcg@5,mrr"))

# %%
# New products have no grade:

new = shop[shop["query"] == "hats"].drop(columns="grade")
ranked = rw.scores_frame(ranker, rw.from_pandas(new, label=None, **roles))
print(ranked.sort_values("rank").to_string(index=False))

# %%
# Which features matter:

chart = ranker.importances().chart()
chart.save("importances.svg")
