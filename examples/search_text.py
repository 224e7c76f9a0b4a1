"""
Search text with a learned ranker
=================================

Index documents, learn to rank them from judgements, and search with the learned ranker.
"""

import tempfile
from pathlib import Path

import rankwright as rw

documents, queries, judgements = rw.text.generated_collection(n_documents=400, n_queries=40)
with tempfile.TemporaryDirectory() as folder:
    index = rw.text.Index.build(documents, Path(folder) / "index", fields={"title": 2, "body": 1})
    features = rw.text.FeatureSet()
    judged = features.judged(index, queries, judgements, candidates=50)
    ranker = rw.RankSVM("ndcg@10").fit(judged.data)
    searcher = rw.text.Searcher(index, features, ranker)
    results = searcher.search("old bridge repair", n=3)
    for rank, snippet in enumerate(searcher.snippets("old bridge repair", results), start=1):
        print(rank, results.ids[rank - 1], snippet.marked("[", "]"))

# %%
# Which features of the text the ranker uses:

chart = ranker.importances().chart()
chart.save("importances.svg")
