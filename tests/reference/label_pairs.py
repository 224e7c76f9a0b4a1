"""Pairs of documents counted one by one."""

from collections import Counter
from itertools import combinations


def count_label_pairs(y, scores, qid):
    """Return the number of pairs and of misordered ones, by query, higher and lower label; ties are one half."""
    pairs, wrong = Counter(), Counter()
    for one, other in combinations(range(len(y)), 2):
        if qid[one] != qid[other] or y[one] == y[other]:
            continue
        high, low = (one, other) if y[one] > y[other] else (other, one)
        key = qid[one], float(y[high]), float(y[low])
        pairs[key] += 1
        wrong[key] += 1.0 if scores[high] < scores[low] else 0.5 if scores[high] == scores[low] else 0.0
    return pairs, wrong
