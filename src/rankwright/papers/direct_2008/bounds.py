"""Figures 3 and 4 of Xu et al. (2008): the bounds of both types over all directions of a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import plain_number
from rankwright.metrics.bounds import SurrogateBounds, simulate
from rankwright.papers.direct_2008.surrogates import THEOREMS
from rankwright.papers.framework.claims import finding
from rankwright.papers.framework.experiment import Claim, DataTrial, Experiment, Finding, Picture
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.rows import NOT_SHOWN, OPPOSITE, REACHED
from rankwright.reports.charts.lines import line_chart
from rankwright.statistics.paired_tests import compare_values, t_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.papers.framework.experiment import Setup
    from rankwright.reports.charts.chart import Chart

BOUNDS = {"basic": "basic loss", "type_one": "type one", "type_two": "type two"}
MIXED, ALL = "pairs of different labels", "all pairs (equation 2)"
LONG = f"{MIXED}, w of length 1,000"
QUARTER = np.pi / 4
N_DRAWS, N_ANGLES = 10, 32  # pi / 4 is one of the angles


@dataclass(frozen=True)
class Simulated:
    """Draws of section 4.3: 7 relevant documents around (1, 1), 14 others around (-1, -1)."""

    title: str
    mixed: bool
    n_draws: int

    def trials(self) -> Sequence[str]:
        """Return the names of the draws."""
        return [f"draw {number + 1}" for number in range(self.n_draws)]

    def trial(self, name: str) -> DataTrial:
        """Draw the documents."""
        data = simulate(int(name.removeprefix("draw ")), mixed=self.mixed)
        return DataTrial(name, data, None, data)


@dataclass(frozen=True)
class LinearModels:
    """The models w = length x (cos theta, sin theta), with F over these pairs of documents."""

    pairs: str
    length: float
    n_angles: int

    def __call__(self, _trial: DataTrial, _threads: int) -> LinearModels:
        """Return itself: nothing is learned."""
        return self


@dataclass(frozen=True)
class OverAngles:
    """The losses of linear models by their angle, the angles, and where condition 9 holds."""

    def __call__(self, model: Any, trial: DataTrial, _threads: int) -> dict[str, Doubles]:
        """Compute all losses."""
        losses = SurrogateBounds(trial.test, pairs=model.pairs)
        angles = np.arange(model.n_angles) * 2 * np.pi / model.n_angles
        weights = model.length * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        by_angle = {name: np.array([getattr(losses, name)(w) for w in weights]) for name in BOUNDS}
        close = np.array([losses.close_to_optimal(w) for w in weights], dtype=float)
        return by_angle | {"angle": angles, "close": close}


def simulations(setup: Setup) -> list[Experiment]:
    """Return the two simulations."""
    return [_simulation(setup, figure, mixed=figure == 4) for figure in (3, 4)]


def _simulation(setup: Setup, figure: int, *, mixed: bool) -> Experiment:
    n_draws, n_angles = (2, 16) if setup.quick else (N_DRAWS, N_ANGLES)
    where = f"Figure {figure}"
    variances = "(.2, 1.3), so that some of the documents are mixed" if mixed else "(.2, .2)"
    optimum = (
        "By their distributions, the documents are best separated in the direction atan(.2 / 1.3), near .05 pi: "
        "the second axis has more noise."
        if mixed
        else "The draws have few documents."
    )
    return Experiment(
        name=f"Simulation of figure {figure}",
        about=f"{n_draws} draws of 7 relevant documents around (1, 1) and 14 irrelevant ones around (-1, -1), "
        f"with variances {variances}. Exponential bounds of the loss of average precision for "
        "w = (cos theta, sin theta), computed exactly over all permutations.",
        source=Simulated(f"generated, figure {figure}", mixed, n_draws),
        systems={
            MIXED: LinearModels("mixed", 1.0, n_angles),
            ALL: LinearModels("all", 1.0, n_angles),
            LONG: LinearModels("mixed", 1000.0, n_angles),
        },
        measures=(OverAngles(),),
        claims=(
            *(
                Claim(
                    where,
                    f"the {bound.replace('_', ' ')} bound is lowest at theta = pi / 4",
                    _lowest_at_quarter(bound),
                    optimum,
                )
                for bound in ("type_one", "type_two")
            ),
            *(
                Claim(
                    where,
                    f"near its optimum, type two is tighter than type one ({name})",
                    _tighter(name),
                    why,
                    part_of="near its optimum, the type two bound is tighter than type one",
                )
                for name, why in ((MIXED, ""), (ALL, "With F over all pairs, perfect rankings differ in F, too."))
            ),
            *(
                Claim(theorem, text, test, proved=True, part_of=THEOREMS)
                for theorem, text, test in (
                    (
                        "Theorem 2",
                        "the type two bound is never below the basic loss",
                        _above_basic((MIXED, ALL, LONG)),
                    ),
                    (
                        "Theorem 3",
                        "type two is tighter wherever condition 9 holds",
                        _under_condition_9((MIXED, LONG)),
                    ),
                )
            ),
        ),
        figures=(Picture(where, "Type two is tighter where the model is close to its optimum.", _curves(MIXED)),),
    )


@curried
def _lowest_at_quarter(results: Measurements, bound: str) -> Finding:
    """Test that the angle of the lowest value is pi / 4, within the interval of its mean over draws (t-test).

    Of several angles with the lowest value, the one that is nearest to pi / 4 counts.
    """
    from scipy.stats import ttest_1samp  # slow to import

    angles = np.array([_lowest(*pair) for pair in _with_angles(results, MIXED, bound)])
    reach = t_limit(len(angles), 0.95) * angles.std(ddof=1) / np.sqrt(len(angles))
    low, high = angles.mean() - reach, angles.mean() + reach
    p_value = float(ttest_1samp(angles, QUARTER).pvalue) if angles.std() > 0 else None
    state = REACHED if low <= QUARTER <= high else NOT_SHOWN if p_value is None else OPPOSITE
    in_pi = plain_number(round(float(angles.mean() / np.pi), 3))
    text = f"mean of the best angle over {len(angles)} draws, which is {in_pi} pi"
    return Finding(state, text, float(angles.mean()), (float(low), float(high)), p_value, "radians")


def _with_angles(results: Measurements, model: str, bound: str) -> list[tuple[Doubles, Doubles]]:
    return list(zip(results.by_trial(model, "angle"), results.by_trial(model, bound), strict=True))


def _lowest(angles: Doubles, values: Doubles) -> float:
    """Return the angle of the lowest value, in (-3/4 pi, 5/4 pi]."""
    around = np.where(angles > QUARTER + np.pi, angles - 2 * np.pi, angles)
    lowest = around[values <= values.min() + 1e-9]
    return float(lowest[np.argmin(np.abs(lowest - QUARTER))])


@curried
def _tighter(results: Measurements, model: str) -> Finding:
    """Test that type two is below type one where type two is lowest, over the draws."""
    pairs = zip(results.by_trial(model, "type_one"), results.by_trial(model, "type_two"), strict=True)
    lowest = np.array([(first[np.argmin(two)], two.min()) for first, two in pairs])
    tighter = int((lowest[:, 0] > lowest[:, 1]).sum())
    text = f"in {tighter} of {len(lowest)} draws; mean of type one less type two"
    return finding(compare_values(*lowest.T), text)


@curried
def _above_basic(results: Measurements, models: Sequence[str]) -> Finding:
    gaps = np.concatenate([results.values(model, "type_two") - results.values(model, "basic") for model in models])
    return Finding(REACHED if gaps.min() >= -1e-9 else OPPOSITE, f"least of {len(gaps):,} differences", gaps.min())


@curried
def _under_condition_9(results: Measurements, models: Sequence[str]) -> Finding:
    gaps = [results.values(model, "type_one") - results.values(model, "type_two") for model in models]
    close = [results.values(model, "close") > 0 for model in models]
    held = np.concatenate([gap[where] for gap, where in zip(gaps, close, strict=True)])
    if not len(held):
        return Finding(NOT_SHOWN, "the condition holds nowhere")
    numbers = ", ".join(
        f"{where.sum()} of {len(where)} ({name})" for name, where in zip(models, close, strict=True)
    )
    text = f"the condition holds in {numbers}; least of type one less type two there"
    return Finding(REACHED if held.min() >= -1e-9 else OPPOSITE, text, float(held.min()))


@curried
def _curves(results: Measurements, model: str) -> Chart:
    first = results.trials[0]
    angles = results.on_trial(model, "angle", first) / np.pi
    curves = {
        name: list(
            zip(angles.tolist(), np.minimum(results.on_trial(model, key, first), 2.0).tolist(), strict=True)
        )
        for key, name in BOUNDS.items()
    }
    description = "Losses by theta of the first draw, cut off at 2."
    return line_chart(curves, "theta / pi", "loss", dashed=("basic loss",), description=description)
