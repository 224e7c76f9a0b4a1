"""Regression-based calibration (Busa-Fekete, Kégl, Éltető & Szarvas 2011, section 4.1).

A regression of the gain on the scores of the classes; its range on the calibration documents becomes 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.models.probability_calibrations import LogisticCalibration
from rankwright.models.regression_calibrations import HiddenLayer, Polynomial, RadialBasis, Rescaled, monomial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer
    from rankwright.training.calibration.task import Calibration, CalibrationTask

UNLIKELY = -30.0  # the log-odds of a class that no calibration document has


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
        design = np.stack([monomial(task.standardised, one) for one in powers], axis=1)
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
        from scipy.optimize import minimize  # slow to import

        X, n_hidden = task.standardised, self.n_hidden
        shapes = ((X.shape[1], n_hidden), (n_hidden,), (n_hidden,), (1,))

        def loss(flat: Doubles) -> tuple[float, Doubles]:
            return self._loss(_unflatten(flat, shapes), X, task.gains)

        options: Any = {"maxiter": 200}
        found = minimize(loss, self._start(shapes), method="L-BFGS-B", jac=True, options=options)
        weights, intercepts, outputs, intercept = _unflatten(found.x, shapes)
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
        return float(value) / len(X), np.concatenate([one.ravel() for one in gradients]) / len(X)

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
        from scipy.optimize import minimize
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

        found = minimize(negative_likelihood, kernel.theta, method="L-BFGS-B", jac=True, bounds=kernel.bounds)
        return process(kernel.clone_with_theta(found.x))


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


REGRESSIONS: Mapping[str, Calibration] = regressions()
