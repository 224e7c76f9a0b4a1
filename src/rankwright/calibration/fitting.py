"""Calibrations of a classifier's scores (Busa-Fekete, Kégl, Éltető & Szarvas 2011, section 4).

Each is a small value with a `fit`, which looks at documents the classifier has not learned from and gives a scorer
whose features are the scores of the classes: from them, the gain to be expected, from 0 to 1. A fit gives None
where its documents cannot tell anything, all of one class say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from rankwright import _native
from rankwright.models import (
    HiddenLayer,
    LogisticCalibration,
    Polynomial,
    RadialBasis,
    Rescaled,
    SigmoidCalibration,
    StandardCalibration,
)
from rankwright.models.calibrations import log_sigmoid, monomial

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.data.classes import LabelClasses
    from rankwright.data.groups import QueryGroups
    from rankwright.models import Scorer

# The logarithm of a sigmoid's slope, and its middle from the mean, both in units of the spread of the scores.
# Flatter says nothing; steeper is one-hot and ties most documents.
LOG_SLOPES = np.linspace(np.log(0.1), np.log(30.0), 12)
MIDDLES = np.linspace(-4.0, 4.0, 13)
SIGMOID_GRID = np.array([(log_slope, middle) for log_slope in LOG_SLOPES for middle in MIDDLES])
GRID_STEPS = np.array([LOG_SLOPES[1] - LOG_SLOPES[0], MIDDLES[1] - MIDDLES[0]])
MOST_VALLEYS = 4
UNLIKELY = -30.0  # the log-odds of a class that no calibration document has


@dataclass(frozen=True, eq=False)
class CalibrationTask:
    """Documents that the classifier has not learned from, query by query.

    Parameters
    ----------
    scores
        A row a document: its score for each class.
    total
        The sum of the classifier's weights, beyond which no score lies.
    labels, groups
        What the documents were judged, and their queries, which hold adjacent rows.
    classes
        The labels there are.
    """

    scores: Doubles
    total: float
    labels: Doubles
    groups: QueryGroups
    classes: LabelClasses

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """The number of each document's class."""
        return self.classes.numbers(self.labels)

    @cached_property
    def centre(self) -> Doubles:
        """The mean score of each class."""
        return np.asarray(self.scores.mean(axis=0))

    @cached_property
    def scale(self) -> Doubles:
        """The spread of each class's scores, 1 where there is none."""
        spread = self.scores.std(axis=0)
        return np.where(spread > 1e-9 * max(1.0, self.total), spread, 1.0)

    @cached_property
    def standardised(self) -> Doubles:
        """Scores of mean 0 and spread 1, class by class."""
        return (self.scores - self.centre) / self.scale

    @property
    def tells_classes_apart(self) -> bool:
        """Whether there are documents of different classes and scores."""
        return len(np.unique(self.own)) > 1 and bool(np.ptp(self.scores, axis=0).any())

    def sigmoid_at(self, point: Doubles) -> tuple[float, float]:
        """Return slope and middle of the sigmoid at a point of the grid, or between."""
        mean, spread = float(self.scores.mean()), float(self.scores.std())
        return float(np.exp(point[0])) / spread, mean + float(point[1]) * spread

    @cached_property
    def log_probability_grid(self) -> list[Doubles]:
        """The logarithms of probabilities at each point of the grid: the same for all target functions."""
        return [self.log_probabilities(*self.sigmoid_at(point)) for point in SIGMOID_GRID]

    def log_probabilities(self, slope: float, middle: float) -> Doubles:
        """Return the logarithms of equation 4's probabilities."""
        logs = log_sigmoid(slope * (self.scores - middle))
        highest = logs.max(axis=1, keepdims=True)
        return np.asarray(logs - highest - np.log(np.exp(logs - highest).sum(axis=1, keepdims=True)))


class Calibration(Protocol):
    """A way to make one ranking score of the classes' scores."""

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the scorer of classes' scores, None where the documents cannot tell anything."""


@dataclass(frozen=True)
class Standard:
    """The votes as they are, equation 3; nothing is fitted."""

    def fit(self, task: CalibrationTask) -> Scorer:
        """Return the calibration by the classifier's weights."""
        return StandardCalibration(task.classes.gains, task.total)


# Class probability calibration: target functions of the logarithms of probabilities


def log_sigmoid_loss(logs: Doubles, task: CalibrationTask) -> float:
    """LS: the negative log-likelihood."""
    return float(-logs[np.arange(len(logs)), task.own].sum())


def entropy_weighted_loss(logs: Doubles, task: CalibrationTask, *, power: float = 2.0) -> float:
    """EWLS: each document's negative log-likelihood times a power of its entropy."""
    entropy = -(np.exp(logs) * logs).sum(axis=1)
    return float((-logs[np.arange(len(logs)), task.own] * entropy**power).sum())


def expected_loss(logs: Doubles, task: CalibrationTask) -> float:
    """EL: the expected squared distance of the label from a label drawn by the probabilities."""
    distance = task.classes.labels - task.labels[:, None]
    return float((np.exp(logs) * distance**2).sum())


def expected_label_loss(logs: Doubles, task: CalibrationTask) -> float:
    """ELL: the squared distance of the label from the expected label."""
    missed = (np.exp(logs) * task.classes.labels).sum(axis=1) - task.labels
    return float((missed**2).sum())


def smooth_dcg_loss(logs: Doubles, task: CalibrationTask, *, sigma: float = 0.01) -> float:
    """SN: the negative DCG with soft ranks, of gains 2^label."""
    gains = task.classes.gains * task.classes.gain_range
    expected = (np.exp(logs) * gains).sum(axis=1)
    return -fsum(_native.smooth_dcg(task.groups.offsets, expected, gains[task.own], sigma, 1))


@dataclass(frozen=True)
class Sigmoid:
    """Class probability calibration: slope and middle of a sigmoid, by a target function.

    The lowest points of a grid are followed downhill within the grid's bounds: some targets keep falling as the
    slope grows, until all probabilities are 0 or 1.
    """

    target: Callable[[Doubles, CalibrationTask], float]

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the sigmoid that makes the target least."""
        from scipy.optimize import minimize  # takes long to import

        if not task.tells_classes_apart:
            return None

        def loss(point: Doubles) -> float:
            return self.target(task.log_probabilities(*task.sigmoid_at(point)), task)

        losses = np.array([self.target(logs, task) for logs in task.log_probability_grid])
        bounds = list(zip(SIGMOID_GRID[0], SIGMOID_GRID[-1], strict=True))
        found = []
        for start in SIGMOID_GRID[_valleys(losses)]:
            step = np.where(start < SIGMOID_GRID.mean(axis=0), GRID_STEPS, -GRID_STEPS)  # within the bounds
            options: Any = {
                "initial_simplex": start + np.array([[0.0, 0.0], [step[0], 0.0], [0.0, step[1]]]),
                "maxfev": 80,
                "xatol": 1e-3,
                "fatol": 1e-6 * (abs(losses.min()) or 1.0),
            }
            found.append(minimize(loss, start, method="Nelder-Mead", bounds=bounds, options=options))
        best = min(found, key=lambda one: one.fun)
        return SigmoidCalibration(task.classes.gains, *task.sigmoid_at(best.x))


def _valleys(losses: Doubles) -> NDArray[np.int64]:
    """Return the grid's deepest points that no neighbour is below, at most `MOST_VALLEYS`."""
    table = np.pad(losses.reshape(len(LOG_SLOPES), len(MIDDLES)), 1, constant_values=np.inf)
    around = [np.roll(table, shift, axis=(0, 1)) for shift in product((-1, 0, 1), repeat=2)]
    lowest = np.flatnonzero((table <= np.min(around, axis=0))[1:-1, 1:-1])
    return lowest[np.argsort(losses[lowest], kind="stable")[:MOST_VALLEYS]]


# Regression-based calibration


def _rescaled(inner: Scorer, task: CalibrationTask) -> Scorer | None:
    """Return the regression with its lowest and highest calibration scores at 0 and 1."""
    values = inner._score(task.standardised, task.groups, 1)  # type: ignore[arg-type]  # in full precision
    low, high = float(values.min()), float(values.max())
    if not np.isfinite([low, high]).all() or not high - low > 1e-9:
        return None
    return Rescaled(inner, task.centre, task.scale, low, high)


@dataclass(frozen=True)
class PolynomialRegression:
    """Least squares on all monomials up to a degree; degree 1 is linear regression."""

    degree: int

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the polynomial of the standardised scores, None where documents are fewer than monomials."""
        n_classes = len(task.classes)
        picks = [
            pick
            for degree in range(self.degree + 1)
            for pick in combinations_with_replacement(range(n_classes), degree)
        ]
        powers = np.array([np.bincount(pick, minlength=n_classes) for pick in picks], dtype=np.int64)
        if len(task.scores) < len(powers):
            return None
        design = np.stack([monomial(task.standardised, one) for one in powers], axis=1)
        coefficients = np.linalg.lstsq(design, task.classes.gains[task.own], rcond=1e-10)[0]
        return _rescaled(Polynomial(powers, coefficients.astype(np.float64)), task)


@dataclass(frozen=True)
class LogisticRegression:
    """Multinomial logistic regression: probabilities of the classes, and so the expected gain."""

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the regression; a class that no calibration document has is unlikely."""
        from sklearn.linear_model import LogisticRegression as Model

        if not task.tells_classes_apart:
            return None
        model = Model(max_iter=1000).fit(task.standardised, task.own)
        coefficients, intercepts = model.coef_, model.intercept_
        if len(model.classes_) == 2:  # scikit-learn keeps the second class alone
            coefficients, intercepts = np.vstack([0.0 * coefficients, coefficients]), np.append(0.0, intercepts)
        n_classes = len(task.classes)
        weights, biases = np.zeros((n_classes, n_classes)), np.full(n_classes, UNLIKELY)
        weights[:, model.classes_] = (coefficients / task.scale).T
        biases[model.classes_] = intercepts - (coefficients / task.scale) @ task.centre
        return LogisticCalibration(task.classes.gains, weights, biases)


@dataclass(frozen=True)
class NetworkRegression:
    """A network with one hidden layer of tanh units: least squares, with a penalty on its weights.

    The same as scikit-learn's MLPRegressor with lbfgs, which warns if it is stopped early. To hush it would take
    a global filter, which threads cannot share.
    """

    n_hidden: int = 5
    penalty: float = 1.0
    seed: int = 0

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the network, trained for at most 200 steps."""
        from scipy.optimize import minimize  # takes long to import

        X, gains = task.standardised, task.classes.gains[task.own]
        shapes = ((X.shape[1], self.n_hidden), (self.n_hidden,), (self.n_hidden,), (1,))

        def loss(flat: Doubles) -> tuple[float, Doubles]:
            weights, intercepts, outputs, intercept = _cut(flat, shapes)
            hidden = np.tanh(X @ weights + intercepts)
            missed = hidden @ outputs + intercept - gains
            below = np.outer(missed, outputs) * (1.0 - hidden**2)
            slopes = (
                X.T @ below + self.penalty * weights,
                below.sum(axis=0),
                hidden.T @ missed + self.penalty * outputs,
                missed.sum(keepdims=True),
            )
            value = 0.5 * ((missed**2).sum() + self.penalty * ((weights**2).sum() + (outputs**2).sum()))
            return float(value) / len(X), np.concatenate([one.ravel() for one in slopes]) / len(X)

        widest = [np.sqrt(6.0 / (X.shape[1] + self.n_hidden))] * 2 + [np.sqrt(6.0 / (self.n_hidden + 1))] * 2
        random = np.random.default_rng(self.seed)
        start = np.concatenate(
            [random.uniform(-one, one, int(np.prod(shape))) for one, shape in zip(widest, shapes, strict=True)]
        )
        options: Any = {"maxiter": 200}
        found = minimize(loss, start, method="L-BFGS-B", jac=True, options=options)
        weights, intercepts, outputs, intercept = _cut(found.x, shapes)
        return _rescaled(HiddenLayer(weights, intercepts, outputs, float(intercept[0])), task)


def _cut(flat: Doubles, shapes: Sequence[tuple[int, ...]]) -> list[Doubles]:
    """Return arrays of these shapes, which lie one after another."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]


@dataclass(frozen=True)
class GaussianProcess:
    """Gaussian process regression on some documents, evenly spaced: its cost is the cube of their number."""

    most_documents: int = 200
    floor: ClassVar[float] = 1e-3

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the mean of the process."""
        from scipy.optimize import minimize
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        gains = task.classes.gains[task.own]
        rows = np.unique(np.linspace(0, len(gains) - 1, min(len(gains), self.most_documents)).astype(np.int64))
        if not np.ptp(gains[rows]) > 0:
            return None

        def process(kernel: Any) -> Any:
            # Left to choose its own kernel, it would warn of one at the bounds, which will do.
            model = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True)
            return model.fit(task.standardised[rows], gains[rows])

        kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(1.0, (0.1, 1e3)) + WhiteKernel(1.0, (self.floor, 1e3))
        first = process(kernel)

        def unlikelihood(theta: Doubles) -> tuple[float, Doubles]:
            value, slopes = first.log_marginal_likelihood(theta, eval_gradient=True)
            return -value, -slopes

        found = minimize(unlikelihood, kernel.theta, method="L-BFGS-B", jac=True, bounds=kernel.bounds)
        model = process(kernel.clone_with_theta(found.x))
        signal, length = model.kernel_.k1.k1.constant_value, model.kernel_.k1.k2.length_scale
        mean, spread = float(gains[rows].mean()), float(gains[rows].std())
        weights = spread * signal * model.alpha_
        return _rescaled(RadialBasis(task.standardised[rows], weights, float(length), mean), task)


CALIBRATIONS: Mapping[str, Calibration] = {
    "standard": Standard(),
    "ls": Sigmoid(log_sigmoid_loss),
    "ewls": Sigmoid(entropy_weighted_loss),
    "el": Sigmoid(expected_loss),
    "ell": Sigmoid(expected_label_loss),
    "sn": Sigmoid(smooth_dcg_loss),
    "linear": PolynomialRegression(1),
    "logistic": LogisticRegression(),
    "polynomial-2": PolynomialRegression(2),
    "polynomial-3": PolynomialRegression(3),
    "polynomial-4": PolynomialRegression(4),
    "polynomial-5": PolynomialRegression(5),
    "network": NetworkRegression(),
    "gaussian-process": GaussianProcess(),
}
CLASS_PROBABILITY = ("ls", "ewls", "el", "ell", "sn")
REGRESSION = tuple(name for name in CALIBRATIONS if name not in ("standard", *CLASS_PROBABILITY))
