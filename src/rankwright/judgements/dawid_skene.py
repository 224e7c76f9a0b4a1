"""The model of Dawid & Skene (1979): true grades, and what each judge gives to documents of each true grade.

A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
Applied Statistics 28. Estimates are posterior modes: pseudo-counts, half of them for the true grade, keep those of
judges with few grades sensible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Integers

MAX_ITERATIONS = 200
TOLERANCE = 1e-6  # change of any probability
PSEUDO_COUNTS = 2.0  # per judge and true grade


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """An estimated model.

    Parameters
    ----------
    posterior
        The probability of each true grade, one row per document.
    confusion
        By judge, true grade and given grade: the probability of the given grade.
    prior
        How frequent each true grade is.
    """

    posterior: Doubles
    confusion: Doubles
    prior: Doubles

    @property
    def accuracy(self) -> Doubles:
        """For each judge, the probability that a grade is the true one."""
        return np.asarray(np.einsum("t,jtt->j", self.prior, self.confusion))


def fit_dawid_skene(codes: Integers, n_grades: int) -> DawidSkene:
    """Estimate the model by EM, starting from the fractions of votes.

    Parameters
    ----------
    codes
        The number of each grade, one row per document with at least one and one column per judge; -1 for none.
    """
    given = (codes[:, :, None] == np.arange(n_grades)).astype(np.float64)
    votes = given.sum(axis=1)
    posterior = votes / votes.sum(axis=1, keepdims=True)
    for _ in range(MAX_ITERATIONS):
        confusion, prior = _parameters(given, posterior)
        before, posterior = posterior, _posterior(given, confusion, prior)
        if np.abs(posterior - before).max() < TOLERANCE:
            break
    return DawidSkene(posterior, *_parameters(given, posterior))


def _parameters(given: Doubles, posterior: Doubles) -> tuple[Doubles, Doubles]:
    """Return the confusion of each judge and the prior, given the probabilities of true grades."""
    n_grades = posterior.shape[1]
    pseudo = PSEUDO_COUNTS / 2.0 * (np.eye(n_grades) + 1.0 / n_grades)
    counts = np.einsum("it,ijg->jtg", posterior, given, optimize=True) + pseudo
    sizes = posterior.sum(axis=0) + 1.0 / n_grades
    return counts / counts.sum(axis=2, keepdims=True), sizes / sizes.sum()


def _posterior(given: Doubles, confusion: Doubles, prior: Doubles) -> Doubles:
    """Return the probability of each true grade of each document."""
    logs = np.log(prior) + np.einsum("ijg,jtg->it", given, np.log(confusion), optimize=True)
    shifted = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))
