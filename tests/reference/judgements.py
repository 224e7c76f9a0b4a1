"""Agreement measures and merged grades, one document at a time."""

from itertools import permutations
from math import isnan, prod

import numpy as np


def units(grades):
    """Return the grades of each document that has two or more."""
    rows = [[grade for grade in row if not isnan(grade)] for row in grades]
    return [row for row in rows if len(row) > 1]


def alpha(grades, distance):
    """Return Krippendorff's alpha: pairs within documents beside all pairs."""
    graded = units(grades)
    every = [grade for row in graded for grade in row]
    observed = sum(distance(a, b, every) / (len(row) - 1) for row in graded for a, b in permutations(row, 2))
    expected = sum(distance(a, b, every) for a, b in permutations(every, 2)) / (len(every) - 1)
    return 1 - observed / expected if expected else np.nan


def nominal(a, b, _every):
    return float(a != b)


def ordinal(a, b, every):
    low, high = sorted((a, b))
    between = sum(low <= grade <= high for grade in every)
    return (between - (every.count(a) + every.count(b)) / 2) ** 2


def interval(a, b, _every):
    return (a - b) ** 2


DISTANCES = {"nominal": nominal, "ordinal": ordinal, "interval": interval}


def dawid_skene_step(codes, posterior, n_grades):
    """Return the probabilities of true grades after one step of EM, with the pseudo-counts of the model."""
    n, m = codes.shape
    confusion = np.zeros((m, n_grades, n_grades))
    for judge in range(m):
        for true in range(n_grades):
            for given in range(n_grades):
                count = sum(posterior[row, true] for row in range(n) if codes[row, judge] == given)
                confusion[judge, true, given] = count + 1 / n_grades + (true == given)
            confusion[judge, true] /= confusion[judge, true].sum()
    prior = np.array([posterior[:, true].sum() + 1 / n_grades for true in range(n_grades)])
    prior /= prior.sum()
    after = np.zeros((n, n_grades))
    for row in range(n):
        for true in range(n_grades):
            likelihood = [confusion[j, true, codes[row, j]] for j in range(m) if codes[row, j] >= 0]
            after[row, true] = prior[true] * prod(likelihood)
        after[row] /= after[row].sum()
    return after


def kendall_tau(first, second):
    """Return Kendall's tau-b of two lists of values."""
    pairs = [(i, j) for i in range(len(first)) for j in range(i)]
    signs = [(np.sign(first[i] - first[j]), np.sign(second[i] - second[j])) for i, j in pairs]
    ties = [sum(abs(sign[side]) for sign in signs) for side in (0, 1)]
    return sum(a * b for a, b in signs) / np.sqrt(ties[0] * ties[1]) if all(ties) else np.nan
