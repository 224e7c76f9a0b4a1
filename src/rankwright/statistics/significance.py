"""Paired tests of many pairs of systems at once, and Holm's correction for their number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.statistics.bootstrap import sign_flip_p_values

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles

RANDOMISATION, T, WILCOXON, SIGN = "randomisation", "t", "wilcoxon", "sign"
TESTS = (RANDOMISATION, T, WILCOXON, SIGN)

MOST_EXACT = 13  # queries for which the signed-rank test tries all signs; as scipy's, which is exact up to
MOST_EXACT_UNTIED = 50  # if no differences are zero or equal


def t_p_values(differences: Doubles) -> Doubles:
    """Return the two-sided p-value of the paired t-test for each row of differences."""
    from scipy.stats import ttest_1samp

    means, spreads = differences.mean(axis=1), np.ptp(differences, axis=1)
    p_values = np.where(means == 0, 1.0, np.nan)  # differences that are all equal tell nothing of their error
    varied = spreads > 0
    if varied.any():
        p_values[varied] = ttest_1samp(differences[varied], 0.0, axis=1).pvalue
    return p_values


def wilcoxon_p_values(differences: Doubles) -> Doubles:
    """Return the two-sided p-value of Wilcoxon's signed-rank test for each row; differences of 0 are left out.

    Like scipy's `wilcoxon` of each row alone: exact for few queries, normal approximation for many.
    """
    from scipy.stats import rankdata, wilcoxon

    n_queries = differences.shape[1]
    zeros = (differences == 0).sum(axis=1, keepdims=True)
    ranks = rankdata(np.abs(differences), axis=1) - zeros  # zeros have the lowest ranks
    if n_queries <= MOST_EXACT:
        signed = np.vstack([np.sign(differences) * ranks, np.zeros(n_queries)])
        pairs = np.arange(len(differences))
        return sign_flip_p_values(signed, pairs, np.full(len(pairs), len(pairs)), samples=2**n_queries)
    p_values = np.ones(len(differences))
    untied = (zeros[:, 0] == 0) & (np.sort(ranks, axis=1) == np.arange(1, n_queries + 1)).all(axis=1)
    exact = untied & (n_queries <= MOST_EXACT_UNTIED)
    asymptotic = ~exact & (zeros[:, 0] < n_queries)
    if exact.any():
        p_values[exact] = wilcoxon(differences[exact], axis=1, method="exact").pvalue
    if asymptotic.any():
        p_values[asymptotic] = wilcoxon(differences[asymptotic], axis=1, method="approx").pvalue
    return p_values


def sign_p_values(differences: Doubles) -> Doubles:
    """Return the two-sided p-value of the sign test, a binomial test of better and worse queries, for each row."""
    from scipy.stats import binom

    better, worse = (differences > 0).sum(axis=1), (differences < 0).sum(axis=1)
    return np.asarray(np.minimum(1.0, 2.0 * binom.cdf(np.minimum(better, worse), better + worse, 0.5)))


def holm(p_values: Doubles) -> Doubles:
    """Return p-values corrected for their number by Holm's step-down method; NaN stays, and is not counted."""
    corrected = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    steps = np.arange(len(order), 0, -1) * p_values[order]
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


TESTS_OF_DIFFERENCES = {T: t_p_values, WILCOXON: wilcoxon_p_values, SIGN: sign_p_values}
