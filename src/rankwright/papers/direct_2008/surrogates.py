"""Theorem 1 and figures 1 and 2 of Xu et al. (2010): models of permutations, and bounds of both types."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data.dataset import RankingData
from rankwright.data.groups import Ranking
from rankwright.metrics.bounds import SURROGATES, SurrogateBounds
from rankwright.papers.framework.experiment import Claim, DataTrial, Experiment, Finding, Picture
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.rows import NOT_SHOWN, OPPOSITE, REACHED
from rankwright.reports.charts.lines import line_chart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.papers.framework.experiment import Setup
    from rankwright.reports.charts.chart import Chart

N_DOCUMENTS, N_RELEVANT, N_FEATURES = 6, 2, 4
N_DRAWS, N_MODELS = 20, 50
SURROGATE_NAMES = ("logistic", "exponential", "hinge")
SVM = "margin hinge"  # the second hinge loss of section 4.2, which SVMmap minimises
TYPE_TWO = (*SURROGATE_NAMES, SVM)
MODELS = "linear models"
ROUNDING = 1e-9


@dataclass(frozen=True)
class SmallLists:
    """Queries of few documents, so that all their permutations can be tried."""

    n_draws: int
    title: str = "generated lists"

    def trials(self) -> Sequence[str]:
        """Return the names of the draws."""
        return [f"draw {number + 1}" for number in range(self.n_draws)]

    def trial(self, name: str) -> DataTrial:
        """Draw the documents of a query."""
        rng = np.random.default_rng(int(name.removeprefix("draw ")))
        labels = (np.arange(N_DOCUMENTS) < N_RELEVANT).astype(np.float64)
        data = RankingData(rng.standard_normal((N_DOCUMENTS, N_FEATURES)), labels, np.zeros(N_DOCUMENTS))
        return DataTrial(name, data, None, data)


@dataclass(frozen=True)
class RandomWeights:
    """Linear models of many lengths and directions; nothing is learned."""

    n_models: int

    def __call__(self, _trial: DataTrial, _threads: int) -> Doubles:
        """Return a row of weights per model, with lengths from .1 to 100."""
        rng = np.random.default_rng(0)
        directions = rng.standard_normal((self.n_models, N_FEATURES))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return np.asarray(np.geomspace(0.1, 100.0, self.n_models)[:, None] * directions)


@dataclass(frozen=True)
class ModelsAndBounds:
    """Per linear model: whether f and F rank alike, and the losses of one query."""

    def __call__(self, weights: Any, trial: DataTrial, _threads: int) -> dict[str, Doubles]:
        """Compute everything by trying all permutations."""
        losses = SurrogateBounds(trial.test, pairs="mixed")
        bounds = {
            **{f"one {name}": [losses.type_one(w, name) for w in weights] for name in SURROGATE_NAMES[:2]},
            **{f"two {name}": [losses.type_two(w, name) for w in weights] for name in SURROGATE_NAMES},
            f"two {SVM}": [losses.margin_hinge(w) for w in weights],
            "two zero-one": [losses.type_two(w, "zero-one") for w in weights],
            "basic": [losses.basic(w) for w in weights],
            "alike": [float(_rank_alike(trial.test, w)) for w in weights],
        }
        return {name: np.array(values) for name, values in bounds.items()}


def _rank_alike(data: RankingData, w: Doubles) -> bool:
    """Return whether the permutation with the highest F is that of the sorted scores f."""
    scores = data.X.astype(np.float64) @ w

    def value(permutation: tuple[int, ...]) -> float:
        return sum(float(scores[before] - scores[after]) for before, after in combinations(permutation, 2))

    best = max(permutations(range(len(scores))), key=value)
    return bool(np.array_equal(best, Ranking.of(scores, data.groups, n_jobs=1).order))


THEOREMS = "Theorems 1 to 4, and the bounds of Figures 1 and 2"


def surrogates(setup: Setup) -> Experiment:
    """Return the rows of theorem 1 and of figures 1 and 2."""
    n_draws = 2 if setup.quick else N_DRAWS
    return Experiment(
        name="Models and bounds",
        about=f"{n_draws} queries of {N_RELEVANT} relevant and {N_DOCUMENTS - N_RELEVANT} other documents with "
        f"{N_FEATURES} normal features, {N_MODELS} linear models of random direction and lengths from .1 to 100, "
        "average precision. All permutations are tried.",
        source=SmallLists(n_draws),
        systems={MODELS: RandomWeights(N_MODELS)},
        measures=(ModelsAndBounds(),),
        claims=tuple(
            Claim(where, text, test, proved=where == "Theorem 1", part_of=THEOREMS)
            for where, text, test in (
                ("Theorem 1", "the models f and F rank alike", _always_alike),
                ("Figure 1", "type one bounds are never below the basic loss", _above("one", "basic")),
                ("Figure 1", "the exponential bound of type one is tighter than the logistic one", _tighter),
                (
                    "Figure 2",
                    "type two bounds are never below the loss of equation 6",
                    _above("two", "two zero-one"),
                ),
                ("Figure 2", "no bound of type two is always the tightest", _none_tightest),
            )
        ),
        figures=(
            Picture("Figure 1", "The exponential bound is tighter than the logistic one.", _figure_1),
            Picture("Figure 2", "Which bound of type two is the tightest depends on the margin.", _figure_2),
        ),
    )


def _always_alike(results: Measurements) -> Finding:
    alike = results.values(MODELS, "alike")
    return Finding(REACHED if alike.all() else OPPOSITE, f"in {alike.sum():.0f} of {len(alike):,} cases")


@curried
def _above(results: Measurements, kind: str, lower: str) -> Finding:
    names = SURROGATE_NAMES[:2] if kind == "one" else TYPE_TWO
    gaps = np.concatenate(
        [results.values(MODELS, f"{kind} {name}") - results.values(MODELS, lower) for name in names]
    )
    least = float(gaps.min())
    return Finding(REACHED if least >= -ROUNDING else OPPOSITE, f"least of {len(gaps):,} differences", least)


def _tighter(results: Measurements) -> Finding:
    logistic, exponential = (results.values(MODELS, f"one {name}") for name in SURROGATE_NAMES[:2])
    least = float((logistic - exponential).min())
    text = f"least of {len(logistic):,} differences, logistic less exponential"
    return Finding(REACHED if least >= -ROUNDING else OPPOSITE, text, least)


def _none_tightest(results: Measurements) -> Finding:
    values = np.stack([results.values(MODELS, f"two {name}") for name in TYPE_TWO])
    tightest = (values <= values.min(axis=0) + ROUNDING).mean(axis=1)
    shown = ", ".join(f"{name} in {share:.0%}" for name, share in zip(TYPE_TWO, tightest, strict=True))
    return Finding(REACHED if tightest.max() < 1.0 else NOT_SHOWN, f"tightest of all: {shown} of the cases")


def _figure_1(_results: Measurements) -> Chart:
    quality = np.linspace(0.0, 1.0, 51)
    curves = {"basic loss": 1.0 - quality, **{name: SURROGATES[name](-quality) for name in SURROGATE_NAMES[:2]}}
    return _chart(curves, quality, "E", "basic loss", "Bounds of type one by the measure E of the ranking.")


def _figure_2(_results: Measurements) -> Chart:
    margin, lost = np.linspace(-2.0, 2.0, 81), 0.5
    curves = {
        "zero-one": lost * SURROGATES["zero-one"](-margin),
        **{name: lost * SURROGATES[name](-margin) for name in SURROGATE_NAMES},
        SVM: np.maximum(0.0, lost - margin),
    }
    description = "Bounds of type two by the margin of F, for permutations that differ in E by .5."
    return _chart(curves, margin, "F(perfect) - F(imperfect)", "zero-one", description)


def _chart(curves: dict[str, Doubles], x: Doubles, x_label: str, dashed: str, description: str) -> Chart:
    points = {name: list(zip(x.tolist(), values.tolist(), strict=True)) for name, values in curves.items()}
    return line_chart(points, x_label, "loss", dashed=(dashed,), description=description)
