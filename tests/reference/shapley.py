"""Shapley values of trees by their definition: every subset of the features."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np

from reference.trees import goes_left


def contributions(model, X):
    """Return what each feature adds to each document's score, and last the expected score."""
    rows = [sum(_of_tree(model, tree, x) for tree in range(model.n_trees)) for x in X]
    return np.array(rows).reshape(len(X), model.n_features + 1)


def _of_tree(model, tree, x):
    n = model.n_features
    worth = {
        known: _expected(model, tree, x, frozenset(known))
        for size in range(n + 1)
        for known in combinations(range(n), size)
    }
    values = np.zeros(n + 1)
    values[n] = worth[()]
    for feature in range(n):
        for known in worth:
            if feature not in known:
                weight = factorial(len(known)) * factorial(n - 1 - len(known)) / factorial(n)
                values[feature] += weight * (worth[tuple(sorted((*known, feature)))] - worth[known])
    return values


def _expected(model, tree, x, known):
    """Return the tree's mean where only some features are known: unknown ones go both ways, by cover."""
    first, leaves = model.splits[tree], model.splits[tree] + tree

    def cover(node):
        if node < 0:
            return model.cover[leaves - 1 - node]
        return cover(model.left[first + node]) + cover(model.right[first + node])

    def value(node):
        if node < 0:
            return model.leaf_value[leaves - 1 - node]
        split = first + node
        left, right, feature = model.left[split], model.right[split], model.feature[split]
        if feature in known:
            return value(left) if goes_left(model, split, float(x[feature])) else value(right)
        share = cover(left) / cover(node) if cover(node) > 0 else 0.5
        return share * value(left) + (1 - share) * value(right)

    return value(0 if model.splits[tree + 1] > first else -1)
