"""Sums of the rows of each leaf in fixed point, slowly: with integers of any size."""

from __future__ import annotations

from fractions import Fraction
from math import frexp, trunc

BITS = 92
LEAST_EXPONENT = -970


def common_exponent(values):
    return max([LEAST_EXPONENT, *(frexp(value)[1] for value in values if value)])


def leaf_sums(values, leaf_of_row, n_leaves):
    unit = Fraction(2) ** (common_exponent(values) - BITS)
    sums = [0] * n_leaves
    for value, leaf in zip(values, leaf_of_row, strict=True):
        sums[leaf] += trunc(Fraction(value) / unit)
    return [float(total * unit) for total in sums]
