"""Is the new model really better than the order we have today? Compare them and write a page."""

from pathlib import Path

import rankwright as rw

judged = rw.read_csv(
    Path(__file__).with_name("shop.csv"), label="grade", qid="query", docid="product", categorical=["brand"]
)
train, test = rw.split_queries(judged, 0.5, 0.5)
systems = {
    "LambdaMART": rw.LambdaMART("ndcg@5").fit(train),
    "AdaRank": rw.AdaRank("ndcg@5").fit(train),
    "text match": test.X[:, test.feature_names.index("text_match")],
}
comparison = rw.compare(systems, test, metrics="ndcg@5", baseline="text match", slices="documents")
print(comparison)
comparison.write_page("comparison.html")
