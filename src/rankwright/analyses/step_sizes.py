"""The step of every round of a boosted ranker (Wu et al. 2010, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import enumerated, spelled
from rankwright.evaluation.evaluate import named_systems
from rankwright.models.calibrated import Calibrated
from rankwright.models.class_trees import ExpectedRelevance
from rankwright.models.nested_scorers import WrappingScorer
from rankwright.models.scorer import best_of, scorer_of
from rankwright.models.trees import TreeEnsemble
from rankwright.reports.blocks import Column, Figure, Kind, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

PARTS = 5  # of the rounds, one row each in the table
LABELS = {"weight": "step (weight of the round)", "spread": "standard deviation of what the round adds"}


@dataclass(frozen=True, eq=False, repr=False)
class Steps(Result):
    """The size of every round, by system.

    Parameters
    ----------
    measure
        `"weight"`: the factor of the round's weak model, alpha. `"spread"`: the standard deviation, over training
        documents, of what the round adds to the scores.
    by_system
        One number per round for each system.
    """

    measure: str
    by_system: Mapping[str, Doubles]

    @property
    def title(self) -> str:
        """The heading on a page."""
        return "Step sizes"

    @property
    def summary(self) -> str:
        """The mean step of the first and of the last rounds."""
        parts = {name: np.array_split(steps, min(PARTS, len(steps))) for name, steps in self.by_system.items()}
        ends = (
            f"{spelled(part[0].mean(), '.2g')} to {spelled(part[-1].mean(), '.2g')} for {name}"
            for name, part in parts.items()
        )
        return f"From the first to the last rounds, the {LABELS[self.measure]} goes from {enumerated(ends)}."

    def blocks(self) -> list[Block]:
        """Return the mean, the least and the greatest step of each fifth of the rounds, and the curves."""
        rows = []
        for system, steps in self.by_system.items():
            borders = np.unique(np.linspace(0, len(steps), min(PARTS, len(steps)) + 1).round().astype(int))
            for begin, end in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
                part = steps[begin:end]
                rounds = f"{begin + 1:,}" if end == begin + 1 else f"{begin + 1:,} to {end:,}"
                rows.append((system, rounds, part.mean(), part.min(), part.max()))
        columns = [Column("system", Kind.TEXT), Column("rounds", Kind.TEXT)]
        numbers = [Column(title, Kind.NUMBER) for title in ("mean", "least", "greatest")]
        return [Table([*columns, *numbers], rows), Figure(self.chart)]

    def to_dict(self) -> dict[str, Any]:
        """Return the steps as JSON values."""
        return {
            "measure": self.measure,
            "systems": {system: steps.tolist() for system, steps in self.by_system.items()},
        }

    def chart(self) -> Chart:
        """Return one line per system, by round."""
        from rankwright.reports.charts.lines import line_chart

        return line_chart(
            {name: list(enumerate(steps.tolist(), start=1)) for name, steps in self.by_system.items()},
            "round",
            LABELS[self.measure],
            description=f"The {LABELS[self.measure]}, by round, of {', '.join(self.by_system)}.",
        )


def steps(systems: Any, *, measure: str | None = None) -> Steps:
    """Return how far every round of boosted rankers goes.

    Rounds with a small step found little to improve. `"weight"` is alpha of the papers, which only a fitted ranker
    knows: in a model it is multiplied into the leaves. `"spread"` is taken from the leaves of a model of trees,
    each by the number of training documents in it.

    Parameters
    ----------
    systems
        Fitted rankers, or for `"spread"` models of trees: several by name, or a single one.
    measure
        `"weight"` or `"spread"`; by default the weight if all systems are fitted rankers.

    Examples
    --------
    >>> truth = rw.synthetic.RandomPolynomial.draw(1, n_features=4, n_active=2)
    >>> ranker = rw.LambdaMART(rounds=4, step=rw.ExactStep()).fit(truth.sample(20, seed=1))
    >>> result = rw.analyses.steps({"exact step": ranker})
    >>> result.measure, result.by_system["exact step"].round(2).tolist()
    ('weight', [1.0, 0.9, 0.88, 1.32])
    """
    named = named_systems(systems)
    if measure is None:
        fitted = all(hasattr(best_of(system), "history_") for system in named.values())
        measure = "weight" if fitted else "spread"
    if measure not in LABELS:
        raise InputError(f"measure must be 'weight' or 'spread', not {measure!r}.")
    read = _weights if measure == "weight" else _spreads
    return Steps(measure, {name: read(name, system) for name, system in named.items()})


def _weights(name: str, system: Any) -> Doubles:
    history = getattr(best_of(system), "history_", None)
    if history is None or not len(history):
        raise InputError(
            f"{name} is no ranker fitted in rounds; only a fitted ranker knows the weights of its rounds."
        )
    return np.array([record.weight for record in history])


def _spreads(name: str, system: Any) -> Doubles:
    scorer = scorer_of(system)
    parts = None if scorer is None else _leaves(scorer)
    if parts is None:
        raise InputError(f"{name} is no boosted model of trees, so its rounds cannot be told apart.")
    trees, values, trees_per_round = parts
    leaves = np.diff(trees.splits) + 1
    firsts = np.concatenate([[0], np.cumsum(leaves)[:-1]])
    cover = trees.cover if trees.cover.sum() > 0 else np.ones(len(trees.cover))
    documents = np.add.reduceat(cover, firsts)
    means = np.add.reduceat(cover[:, None] * values, firsts) / documents[:, None]
    apart = (values - np.repeat(means, leaves, axis=0)) ** 2
    variances = (np.add.reduceat(cover[:, None] * apart, firsts) / documents[:, None]).sum(axis=1)
    return np.asarray(np.sqrt(variances.reshape(-1, trees_per_round).sum(axis=1)))


def _leaves(scorer: Scorer) -> tuple[TreeEnsemble, Doubles, int] | None:
    """Return the trees of a scorer, the values of their leaves, one column per output, and the trees per round."""
    if isinstance(scorer, WrappingScorer):
        return _leaves(scorer.inner)
    if isinstance(scorer, TreeEnsemble) and scorer.n_trees:
        return scorer, scorer.leaf_value[:, None], 1
    if isinstance(scorer, ExpectedRelevance | Calibrated) and scorer.n_rounds:
        return scorer.classes.trees, scorer.classes.values, scorer.classes.trees_per_round
    return None
