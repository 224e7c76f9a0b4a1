"""Families of parameters that several rankers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.rankers.parameters.checks import Flag, Integer, OneOf, Real
from rankwright.rankers.parameters.declaration import Parameters, parameter
from rankwright.rankers.parameters.search_space import Choices, Range
from rankwright.training.binning import MOST_BINS, BinnedFeatures

if TYPE_CHECKING:
    from rankwright.training.fit_task import FitTask

EXACT_BYTES = 2**26  # one per document and column; a feature has a column for every 254 thresholds
DIRECTIONS = {"up": (1,), "both": (1, -1)}  # the signs with which a feature may rank documents


class StoppingParameters(Parameters):
    """When training stops."""

    rounds: int = parameter(
        Integer(1), "Maximum number of rounds. Validation data choose how many are kept.", default=100
    )
    patience: int | None = parameter(
        Integer(1, optional=True),
        "Stop after this many rounds in a row that are worse on the validation data than the best by more than "
        "one standard error. None: run all rounds.",
        default=None,
    )


class ShrinkageParameters(Parameters):
    """How far one round moves the model."""

    learning_rate: float = parameter(
        Real(above=0.0),
        "Shrinkage: the contribution of each round is multiplied by it.",
        default=0.1,
        search=Range(0.01, 1.0, log=True),
    )


class BinningParameters(Parameters):
    """How finely features are binned."""

    max_bins: int = parameter(
        Integer(2, MOST_BINS),
        f"Maximum number of bins per feature, at most {MOST_BINS}; thresholds lie between bins.",
        default=MOST_BINS,
    )


class ThresholdParameters(BinningParameters):
    """How finely features are binned, or that every threshold is tried."""

    all_thresholds: bool | None = parameter(
        Flag(optional=True),
        "Whether a feature may be split between any two of its values, as in the papers, rather than between "
        "`max_bins` bins; takes more time and memory. None: where the bins of all thresholds take at most "
        f"{EXACT_BYTES // 2**20} MB.",
        default=False,
    )

    def _check_together(self) -> None:
        super()._check_together()
        if self.all_thresholds and self.max_bins != self.declared["max_bins"].default:  # None may need them
            raise InputError("all_thresholds=True has as many bins as there are values: give no max_bins.")

    def _binned(self, task: FitTask, *, coarse: bool = False) -> BinnedFeatures:
        """Return the features as bin codes: with every threshold, or with `max_bins` bins."""
        every = task.train.exact_codes <= EXACT_BYTES if self.all_thresholds is None else self.all_thresholds
        if every:
            return task.train.exactly_binned(task.n_threads)
        return task.train.binned(self.max_bins, task.n_threads, coarse=coarse)


class RandomParameters(Parameters):
    """What is drawn at random."""

    random_state: int = parameter(
        Integer(0), "Seed of the random numbers. The same value on the same data gives the same model.", default=0
    )


class DirectionParameters(Parameters):
    """With which sign a feature may rank."""

    directions: str = parameter(
        OneOf(tuple(DIRECTIONS)),
        "Sign with which a feature may rank documents: 'up' if higher values are better, as in LETOR, or 'both'.",
        default="up",
        search=Choices("up", "both"),
    )


class MarginLossParameters(Parameters):
    """Which loss the violation of a margin has."""

    loss: str = parameter(
        OneOf(("squared_hinge", "hinge")),
        "Loss of a violated margin: 'squared_hinge', minimised by Newton's method, or 'hinge', minimised by "
        "cutting planes and slower.",
        default="squared_hinge",
        search=Choices("squared_hinge", "hinge"),
    )


class SolverParameters(Parameters):
    """When a solver stops."""

    tolerance: float = parameter(
        Real(above=0.0),
        "Stop once the objective is proved to be within this fraction of its optimum.",
        default=1e-3,
    )
    max_iterations: int = parameter(
        Integer(1), "Maximum number of iterations; a warning reports a gap above the tolerance.", default=1000
    )


class ClassBoostingParameters(ShrinkageParameters, BinningParameters):
    """How AdaBoost.MH boosts classifiers of labels."""

    learning_rate: float = parameter(
        meaning="Factor that the step of each round is multiplied by. The paper uses 1, which overfits small "
        "sets.",
        default=0.1,
    )
    votes: str | None = parameter(
        OneOf(("opposite", "free"), optional=True),
        "How the two sides of a split vote on a class: 'opposite', or 'free' to let both vote alike. "
        "None: 'opposite' for trees, 'free' for products.",
        default=None,
    )
