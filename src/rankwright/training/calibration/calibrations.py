"""Calibrations: they turn a classifier's scores of the classes into one ranking score.

Busa-Fekete, Kégl, Éltető & Szarvas (2011), section 4. Each is a small value with a `fit`, which takes documents
that the classifier was not trained on and returns a scorer whose features are the scores of the classes, or None
if these documents are uninformative, for example all of one class.

Class probability calibration (section 4.2): a sigmoid turns each class's score into a probability; a target
function of these probabilities chooses its slope and middle. Regression-based calibration (section 4.1): a
regression of the gain on the scores of the classes; its range on the calibration documents becomes 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement, product
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from rankwright import _native
from rankwright.base.errors import requiring
from rankwright.models.probability_calibrations import LogisticCalibration, SigmoidCalibration, StandardCalibration
from rankwright.models.regression_calibrations import HiddenLayer, Polynomial, RadialBasis, Rescaled, monomial
from rankwright.training.calibration.task import LOG_SLOPES, MIDDLES, SIGMOID_GRID, Calibration, CalibrationTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer

GRID_STEPS = np.array([LOG_SLOPES[1] - LOG_SLOPES[0], MIDDLES[1] - MIDDLES[0]])
MAX_STARTS = 4
UNLIKELY = -30.0  # the log-odds of a class that no calibration document has


@dataclass(frozen=True)
class Standard:
    """Probabilities straight from the votes, equation 3; nothing is fitted."""

    def fit(self, task: CalibrationTask) -> Scorer:
        """Return the calibration by the classifier's total weight."""
        return StandardCalibration(task.classes.gains, task.total)


class CalibrationTarget(Protocol):
    """What a sigmoid calibration minimises."""

    def __call__(self, task: CalibrationTask, sigmoids: Doubles) -> Doubles:
        """Return its value for each sigmoid, given one row of slope and middle per sigmoid."""


def log_sigmoid_losses(task: CalibrationTask, sigmoids: Doubles) -> Doubles:
    """LS: the negative log-likelihood."""
    return _native.log_sigmoid_losses(task.by_class, task.own, sigmoids)


@dataclass(frozen=True)
class OfProbabilities:
    """A target that is computed from the logarithms of the class probabilities, one row per document."""

    loss: Callable[[Doubles, CalibrationTask], float]

    def __call__(self, task: CalibrationTask, sigmoids: Doubles) -> Doubles:
        return np.array([self.loss(task.log_probabilities(*sigmoid), task) for sigmoid in sigmoids])


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

    target: CalibrationTarget

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the sigmoid with the smallest target, or None if the documents are uninformative."""
        if not task.is_informative:
            return None
        losses = self._losses(task, SIGMOID_GRID)
        tolerance = 1e-6 * (abs(losses.min()) or 1.0)
        minima = [self._minimise(task, start, tolerance) for start in SIGMOID_GRID[_local_minima(losses)]]
        best = min(minima, key=lambda minimum: minimum.fun)
        return SigmoidCalibration(task.classes.gains, *task.sigmoid_at(best.x))

    def _losses(self, task: CalibrationTask, points: Iterable[Doubles]) -> Doubles:
        return self.target(task, np.array([task.sigmoid_at(point) for point in points]))

    def _minimise(self, task: CalibrationTask, start: Doubles, tolerance: float) -> Any:
        with requiring("scipy"):
            from scipy.optimize import minimize  # slow to import

        def loss(point: Doubles) -> float:
            return float(self._losses(task, [point])[0])

        step = np.where(start < SIGMOID_GRID.mean(axis=0), GRID_STEPS, -GRID_STEPS)  # towards the grid's centre
        simplex = start + np.array([[0.0, 0.0], [step[0], 0.0], [0.0, step[1]]])
        options: Any = {"initial_simplex": simplex, "maxfev": 80, "xatol": 1e-3, "fatol": tolerance}
        bounds = list(zip(SIGMOID_GRID[0], SIGMOID_GRID[-1], strict=True))
        return minimize(loss, start, method="Nelder-Mead", bounds=bounds, options=options)


def _local_minima(losses: Doubles) -> NDArray[np.int64]:
    """Return the grid points that have no lower neighbour, lowest first, at most `MAX_STARTS`."""
    table = np.pad(losses.reshape(len(LOG_SLOPES), len(MIDDLES)), 1, constant_values=np.inf)
    neighbours = [np.roll(table, shift, axis=(0, 1)) for shift in product((-1, 0, 1), repeat=2)]
    lowest = np.flatnonzero((table <= np.min(neighbours, axis=0))[1:-1, 1:-1])
    return lowest[np.argsort(losses[lowest], kind="stable")[:MAX_STARTS]]


def class_probabilities(*, power: float = 2.0, sigma: float = 0.01) -> dict[str, Sigmoid]:
    """Return the target functions by name, with C of EWLS (`power`) and sigma of SN."""
    return {
        "ls": Sigmoid(log_sigmoid_losses),
        "ewls": Sigmoid(OfProbabilities(partial(entropy_weighted_loss, power=power))),
        "el": Sigmoid(OfProbabilities(expected_loss)),
        "ell": Sigmoid(OfProbabilities(expected_label_loss)),
        "sn": Sigmoid(OfProbabilities(partial(smooth_dcg_loss, sigma=sigma))),
    }


def _rescaled(inner: Scorer, task: CalibrationTask, *, clip: bool) -> Scorer | None:
    """Return the regression with its lowest and highest calibration scores mapped to 0 and 1."""
    values = inner._score(task.standardised, task.groups, 1)  # type: ignore[arg-type]  # in full precision
    low, high = float(values.min()), float(values.max())
    if not np.isfinite([low, high]).all() or not high - low > 1e-9:
        return None
    return Rescaled(inner, task.centre, task.scale, low, high, clip)


@dataclass(frozen=True)
class PolynomialRegression:
    """Least squares on all monomials up to a degree; degree 1 is linear regression."""

    degree: int
    clip: bool = True

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the polynomial of the standardised scores, or None if there are more monomials than documents."""
        powers = self._powers(len(task.classes))
        if len(task.scores) < len(powers):
            return None
        design = np.stack([monomial(task.standardised, power) for power in powers], axis=1)
        coefficients = np.linalg.lstsq(design, task.gains, rcond=1e-10)[0]
        return _rescaled(Polynomial(powers, coefficients.astype(np.float64)), task, clip=self.clip)

    def _powers(self, n_classes: int) -> NDArray[np.int64]:
        """Return one row per monomial: the power of each class's score."""
        factors = [
            chosen
            for degree in range(self.degree + 1)
            for chosen in combinations_with_replacement(range(n_classes), degree)
        ]
        return np.array([np.bincount(chosen, minlength=n_classes) for chosen in factors], dtype=np.int64)


@dataclass(frozen=True)
class LogisticRegression:
    """Multinomial logistic regression: class probabilities, from which the expected gain follows."""

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the regression; a class without calibration documents gets a negligible probability."""
        with requiring("scikit-learn"):
            from sklearn.linear_model import LogisticRegression as Model

        if not task.is_informative:
            return None
        model = Model(max_iter=1000).fit(task.standardised, task.own)
        coefficients, intercepts = model.coef_, model.intercept_
        if len(model.classes_) == 2:  # scikit-learn keeps the second class only
            coefficients, intercepts = np.vstack([0.0 * coefficients, coefficients]), np.append(0.0, intercepts)
        n_classes = len(task.classes)
        weights, biases = np.zeros((n_classes, n_classes)), np.full(n_classes, UNLIKELY)
        weights[:, model.classes_] = (coefficients / task.scale).T
        biases[model.classes_] = intercepts - (coefficients / task.scale) @ task.centre
        return LogisticCalibration(task.classes.gains, weights, biases)


@dataclass(frozen=True)
class NetworkRegression:
    """A network with one hidden layer of tanh units: least squares with an L2 penalty on its weights.

    The loss is that of scikit-learn's MLPRegressor with lbfgs, which warns when it stops early; to silence it
    would take a global filter, which threads cannot share.
    """

    n_hidden: int = 5
    penalty: float = 1.0
    seed: int = 0
    clip: bool = True

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the network, trained for at most 200 steps."""
        with requiring("scipy"):
            from scipy.optimize import minimize  # slow to import

        X, n_hidden = task.standardised, self.n_hidden
        shapes = ((X.shape[1], n_hidden), (n_hidden,), (n_hidden,), (1,))

        def loss(flat: Doubles) -> tuple[float, Doubles]:
            return self._loss(_unflatten(flat, shapes), X, task.gains)

        options: Any = {"maxiter": 200}
        best = minimize(loss, self._start(shapes), method="L-BFGS-B", jac=True, options=options)
        weights, intercepts, outputs, intercept = _unflatten(best.x, shapes)
        return _rescaled(HiddenLayer(weights, intercepts, outputs, float(intercept[0])), task, clip=self.clip)

    def _loss(self, parameters: Sequence[Doubles], X: Doubles, gains: Doubles) -> tuple[float, Doubles]:
        """Return the penalised mean squared error and its gradient."""
        weights, intercepts, outputs, intercept = parameters
        hidden = np.tanh(X @ weights + intercepts)
        residual = hidden @ outputs + intercept - gains
        backward = np.outer(residual, outputs) * (1.0 - hidden**2)
        gradients = (
            X.T @ backward + self.penalty * weights,
            backward.sum(axis=0),
            hidden.T @ residual + self.penalty * outputs,
            residual.sum(keepdims=True),
        )
        value = 0.5 * ((residual**2).sum() + self.penalty * ((weights**2).sum() + (outputs**2).sum()))
        return float(value) / len(X), np.concatenate([gradient.ravel() for gradient in gradients]) / len(X)

    def _start(self, shapes: Sequence[tuple[int, ...]]) -> Doubles:
        """Return the initial parameters, drawn as by Glorot & Bengio (2010)."""
        n_inputs, n_hidden = shapes[0]
        limits = [np.sqrt(6.0 / (n_inputs + n_hidden))] * 2 + [np.sqrt(6.0 / (n_hidden + 1))] * 2
        random = np.random.default_rng(self.seed)
        return np.concatenate(
            [
                random.uniform(-limit, limit, int(np.prod(shape)))
                for limit, shape in zip(limits, shapes, strict=True)
            ]
        )


def _unflatten(flat: Doubles, shapes: Sequence[tuple[int, ...]]) -> list[Doubles]:
    """Return the arrays of these shapes that are stored one after another."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]


@dataclass(frozen=True)
class GaussianProcess:
    """Gaussian process regression on evenly spaced documents: its cost is the cube of their number."""

    most_documents: int = 200
    clip: bool = True
    least_noise: ClassVar[float] = 1e-3

    def fit(self, task: CalibrationTask) -> Scorer | None:
        """Return the mean of the process, or None if its documents all have the same gain."""
        n_documents = len(task.gains)
        rows = np.unique(np.linspace(0, n_documents - 1, min(n_documents, self.most_documents)).astype(np.int64))
        X, gains = task.standardised[rows], task.gains[rows]
        if not np.ptp(gains) > 0:
            return None
        model = self._fitted(X, gains)
        signal, length = model.kernel_.k1.k1.constant_value, model.kernel_.k1.k2.length_scale
        weights = float(gains.std()) * signal * model.alpha_
        process = RadialBasis(X, weights, float(length), float(gains.mean()))
        return _rescaled(process, task, clip=self.clip)

    def _fitted(self, X: Doubles, gains: Doubles) -> Any:
        """Return scikit-learn's process with the kernel of the highest marginal likelihood.

        Left to choose the kernel itself, scikit-learn would warn when one ends at its bounds, which is harmless.
        """
        with requiring("scipy"):
            from scipy.optimize import minimize
        with requiring("scikit-learn"):
            from sklearn.gaussian_process import GaussianProcessRegressor
            from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        def process(kernel: Any) -> Any:
            return GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(X, gains)

        noise = WhiteKernel(1.0, (self.least_noise, 1e3))
        kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(1.0, (0.1, 1e3)) + noise
        first = process(kernel)

        def negative_likelihood(theta: Doubles) -> tuple[float, Doubles]:
            value, gradient = first.log_marginal_likelihood(theta, eval_gradient=True)
            return -value, -gradient

        best = minimize(negative_likelihood, kernel.theta, method="L-BFGS-B", jac=True, bounds=kernel.bounds)
        return process(kernel.clone_with_theta(best.x))


def regressions(*, clip: bool = True) -> dict[str, Calibration]:
    """Return all regressions by name; without `clip`, scores beyond those of the calibration keep their order."""
    polynomials = {f"polynomial-{degree}": PolynomialRegression(degree, clip) for degree in (2, 3, 4, 5)}
    return {
        "linear": PolynomialRegression(1, clip),
        "logistic": LogisticRegression(),
        **polynomials,
        "network": NetworkRegression(clip=clip),
        "gaussian-process": GaussianProcess(clip=clip),
    }


CLASS_PROBABILITY: Mapping[str, Sigmoid] = class_probabilities()
REGRESSIONS: Mapping[str, Calibration] = regressions()
CALIBRATIONS: Mapping[str, Calibration] = {"standard": Standard(), **CLASS_PROBABILITY, **REGRESSIONS}
"""All calibrations by name."""

USED_BY: Mapping[str, tuple[str, ...]] = {
    "entropy_power": ("ewls",),
    "smoothness": ("sn",),
    "clip": tuple(name for name in REGRESSIONS if name != "logistic"),
}
"""The calibrations that use an option of `named_calibrations`."""


def named_calibrations(
    names: Sequence[str], *, entropy_power: float, smoothness: float, clip: bool
) -> list[tuple[str, Calibration]]:
    """Return the calibrations of these names, given C of EWLS, sigma of SN and whether regressions clip."""
    known: dict[str, Calibration] = {
        "standard": Standard(),
        **class_probabilities(power=entropy_power, sigma=smoothness),
        **regressions(clip=clip),
    }
    return [(name, known[name]) for name in names]
