"""
Compare a new model with today's order
======================================

Is the model better than sorting by text match, and by how much? Compare them on judged queries and write a page.
"""

from pathlib import Path

import rankwright as rw

judged = rw.read_csv(
    Path(__file__).with_name("shop.csv"), label="grade", qid="query", docid="product", categorical=["brand"]
)
train, test = rw.split_queries(judged, 0.5, 0.5)
systems = {
    "LambdaMART": rw.LambdaMART("ndcg@5").fit(train),
    "AdaRank": rw.AdaRank("ndcg@5").fit(train),
    "text match": "-text_match",
}
comparison = rw.compare(systems, test, metrics="ndcg@5", baseline="text match", slices="documents")
print(comparison)

# %%
# Differences from the baseline with their intervals, as a picture; the page has all tables and charts.

chart = comparison.differences_chart()
chart.save("differences.svg")
comparison.write_page("comparison.html")
