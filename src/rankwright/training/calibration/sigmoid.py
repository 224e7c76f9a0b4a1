"""Class probability calibration (Busa-Fekete, Kégl, Éltető & Szarvas 2011, section 4.2).

A sigmoid turns each class's score into a probability; a target function of these probabilities chooses its slope
and middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.models.probability_calibrations import SigmoidCalibration, StandardCalibration
from rankwright.training.calibration.task import LOG_SLOPES, MIDDLES, SIGMOID_GRID

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer
    from rankwright.training.calibration.task import CalibrationTask

GRID_STEPS = np.array([LOG_SLOPES[1] - LOG_SLOPES[0], MIDDLES[1] - MIDDLES[0]])
MOST_STARTS = 4


@dataclass(frozen=True)
class Standard:
    """Probabilities straight from the votes, equation 3; nothing is fitted."""

    def fit(self, task: CalibrationTask) -> Scorer:
        """Return the calibration by the classifier's total weight."""
        return StandardCalibration(task.classes.gains, task.total)


def log_sigmoid_loss(logs: Doubles, task: CalibrationTask) -> float:
    """LS: the negative log-likelihood."""
    return float(-logs[np.arange(len(logs)), task.own].sum())


def entropy_weighted_loss(logs: Doubles, task: CalibrationTask, *, power: float) -> float:
    """EWLS: each document's negative log-likelihood times a power of its entropy, C in the paper."""
    entropy = -(np.exp(logs) * logs).sum(axis=1)
    return float((-logs[np.arange(len(logs)), task.own] * entropy**power).sum())


def expected_loss(logs: Doubles, task: CalibrationTask) -> float:
    """EL: the expected squared difference between the label and a label drawn from the probabilities."""
    distance = task.classes.labels - task.labels[:, None]
    return float((np.exp(logs) * distance**2).sum())


def expected_label_loss(logs: Doubles, task: CalibrationTask) -> float:
    """ELL: the squared difference between the label and the expected label."""
    residual = (np.exp(logs) * task.classes.labels).sum(axis=1) - task.labels
    return float((residual**2).sum())


def smooth_dcg_loss(logs: Doubles, task: CalibrationTask, *, sigma: float) -> float:
    """SN: the negative DCG with soft ranks and gains 2^label."""
    gains = task.classes.gains * task.classes.gain_range
    expected = (np.exp(logs) * gains).sum(axis=1)
    return -fsum(_native.smooth_dcg(task.groups.offsets, expected, gains[task.own], sigma, 1))


@dataclass(frozen=True)
class Sigmoid:
    """Slope and middle of a sigmoid that minimise a target function.

    Nelder-Mead starts from the local minima of a grid and stays within the grid's bounds: some targets keep
    falling as the slope grows, until all probabilities are 0 or 1.
    """

    target: Callable[[Doubles, CalibrationTask], float]

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the sigmoid with the smallest target, or None if the documents are uninformative."""
        if not task.is_informative:
            return None
        losses = np.array([self.target(logs, task) for logs in task.log_probability_grid])
        tolerance = 1e-6 * (abs(losses.min()) or 1.0)
        found = [self._minimise(task, start, tolerance) for start in SIGMOID_GRID[_local_minima(losses)]]
        best = min(found, key=lambda one: one.fun)
        return SigmoidCalibration(task.classes.gains, *task.sigmoid_at(best.x))

    def _minimise(self, task: CalibrationTask, start: Doubles, tolerance: float) -> Any:
        from scipy.optimize import minimize  # slow to import

        def loss(point: Doubles) -> float:
            return self.target(task.log_probabilities(*task.sigmoid_at(point)), task)

        step = np.where(start < SIGMOID_GRID.mean(axis=0), GRID_STEPS, -GRID_STEPS)  # towards the grid's centre
        simplex = start + np.array([[0.0, 0.0], [step[0], 0.0], [0.0, step[1]]])
        options: Any = {"initial_simplex": simplex, "maxfev": 80, "xatol": 1e-3, "fatol": tolerance}
        bounds = list(zip(SIGMOID_GRID[0], SIGMOID_GRID[-1], strict=True))
        return minimize(loss, start, method="Nelder-Mead", bounds=bounds, options=options)


def _local_minima(losses: Doubles) -> NDArray[np.int64]:
    """Return the grid points that have no lower neighbour, lowest first, at most `MOST_STARTS`."""
    table = np.pad(losses.reshape(len(LOG_SLOPES), len(MIDDLES)), 1, constant_values=np.inf)
    neighbours = [np.roll(table, shift, axis=(0, 1)) for shift in product((-1, 0, 1), repeat=2)]
    lowest = np.flatnonzero((table <= np.min(neighbours, axis=0))[1:-1, 1:-1])
    return lowest[np.argsort(losses[lowest], kind="stable")[:MOST_STARTS]]


def class_probabilities(*, power: float = 2.0, sigma: float = 0.01) -> dict[str, Sigmoid]:
    """Return the target functions by name, with C of EWLS (`power`) and sigma of SN."""
    return {
        "ls": Sigmoid(log_sigmoid_loss),
        "ewls": Sigmoid(partial(entropy_weighted_loss, power=power)),
        "el": Sigmoid(expected_loss),
        "ell": Sigmoid(expected_label_loss),
        "sn": Sigmoid(partial(smooth_dcg_loss, sigma=sigma)),
    }


CLASS_PROBABILITY: Mapping[str, Sigmoid] = class_probabilities()
