"""How much the scores of calibrations differ (Busa-Fekete, Kégl, Éltető & Szarvas 2011, section 7.2)."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError, requiring

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

LEAST_P = 1e-300  # so that its logarithm is finite


def calibration_diversity(scores: Mapping[str, Sequence[ArrayLike]]) -> dict[tuple[str, str], float]:
    """Return one p-value per pair of calibrations; near 0, the scores of the two differ.

    A paired t-test per fold, combined by Fisher's method: -2 x the sum of the logarithms of the p-values follows a
    chi-squared distribution with twice as many degrees of freedom as folds.

    Parameters
    ----------
    scores
        The scores of each calibration, by name: one array per fold, for the same documents.

    Examples
    --------
    >>> linear, sigmoid = [0.1, 0.4, 0.5, 0.9], [0.2, 0.5, 0.7, 1.0]  # scores of four documents
    >>> p_values = rw.calibration_diversity({"linear": [linear], "ls": [sigmoid]})
    >>> {pair: round(p_value, 3) for pair, p_value in p_values.items()}
    {('linear', 'ls'): 0.015}
    """
    with requiring("scipy"):
        from scipy.stats import chi2  # slow to import

    sizes = {tuple(np.shape(fold) for fold in folds) for folds in scores.values()}
    if len(sizes) != 1 or sizes == {()}:
        raise InputError("All calibrations must have scores of the same documents, for at least one fold.")
    combined = {}
    for calibration, other in combinations(scores, 2):
        p_values = [_paired_t(*pair) for pair in zip(scores[calibration], scores[other], strict=True)]
        statistic = -2.0 * sum(np.log(max(p, LEAST_P)) for p in p_values)
        combined[calibration, other] = float(chi2.sf(statistic, 2 * len(p_values)))
    return combined


def _paired_t(a: ArrayLike, b: ArrayLike) -> float:
    with requiring("scipy"):
        from scipy.stats import t

    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    n = len(difference)
    error = difference.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0
    if error == 0.0:
        return 0.0 if n > 1 and difference.any() else 1.0
    return float(2.0 * t.sf(abs(difference.mean() / error), n - 1))
