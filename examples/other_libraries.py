"""
Score and mix a LightGBM model
==============================

Load a LightGBM model, mix it with a LambdaMART of rankwright, and write the LambdaMART as a C header.
"""

from pathlib import Path

import lightgbm as lgb

import rankwright as rw

path = Path(__file__).with_name("shop.csv")
judged = rw.read_csv(path, label="grade", qid="query", docid="product", drop=["brand"])
train, test = rw.split_queries(judged, 0.7, 0.3)
theirs = lgb.LGBMRanker(n_estimators=30, min_child_samples=10, verbose=-1)
theirs.fit(train.X, train.y, group=train.groups.sizes)
theirs.booster_.save_model("lightgbm.txt")

imported = rw.load("lightgbm.txt")
ours = rw.LambdaMART("ndcg@5", rounds=30).fit(train)
mixture = rw.blend(imported, ours, on=train, metric="ndcg@5")
print(rw.evaluate({"LightGBM": imported, "LambdaMART": ours, "mixture": mixture}, test, metrics="ndcg@5"))
rw.export(ours, "model.h", format="c")

# %%
# The metric for every weight of the mixture, on the training queries:

chart = mixture.chart()
chart.save("weights.svg")
