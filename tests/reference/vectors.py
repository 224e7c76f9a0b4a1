"""Slow twin of nearest neighbours: every product of integers, then a sort."""

import numpy as np


def nearest(vectors, scales, removed, queries, n):
    """Return documents and scores of each query, best first, equal scores by number."""
    results = []
    for query in queries.tolist():
        scored = []
        for number, (row, scale) in enumerate(zip(vectors.tolist(), scales, strict=True)):
            product = np.float32(sum(a * b for a, b in zip(row, query, strict=True)))
            if number not in removed:
                scored.append((-float(product * scale), number))
        results.append([(number, -score) for score, number in sorted(scored)[:n]])
    return results
