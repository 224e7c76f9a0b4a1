"""What the experiments of Wu et al. (2010) share: rankers as printed, their numbers, and accuracy by trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import difference, enumerated, metric_value
from rankwright.evaluation.evaluate import evaluate
from rankwright.models.scorer import scorer_of
from rankwright.papers.framework.claims import better, faster, finding, not_worse, not_worse_finding
from rankwright.papers.framework.experiment import Claim, Finding, Published
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.measures import TEST, named, part_of
from rankwright.papers.framework.rows import NOT_SHOWN, OPPOSITE, REACHED
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.lambdarank import LambdaRank
from rankwright.rankers.mcrank import McRank
from rankwright.statistics.paired_tests import compare_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.papers.framework.experiment import DataTrial
    from rankwright.statistics.paired_tests import Comparison

BY = "ndcg@10"
METRICS = (BY, "ndcg@3", "ndcg@1")
TREES = "trees"
RESAMPLES = 200


def lambdamart(leaves: int, rate: float, rounds: int) -> LambdaMART:
    """Return LambdaMART as printed."""
    return LambdaMART.as_printed(metric=BY, max_leaves=leaves, learning_rate=rate, rounds=rounds)


def mcrank(leaves: int, rate: float, rounds: int) -> McRank:
    """Return McRank as in Li et al. (2007): a tree per class and round, all documents and features."""
    whole: dict[str, Any] = {"subsample": 1.0, "feature_fraction": 1.0, "l2": 0.0, "min_documents": 1}
    trees: dict[str, Any] = {"max_leaves": leaves, "learning_rate": rate, "rounds": rounds}
    return McRank(metric=BY, trees="per_class", patience=None, **trees, **whole)


def lambdarank(rounds: int, hidden: int = 10, rate: float = 1e-3) -> LambdaRank:
    """Return LambdaRank of two layers as printed, with its learning rate."""
    return LambdaRank.as_printed(metric=BY, rounds=rounds, learning_rate=rate, hidden=(hidden,))


def numbers(where: str, table: Mapping[str, tuple[float, ...]]) -> tuple[Published, ...]:
    """Return the numbers of a table, which are those of data that are not public."""
    return tuple(
        Published(where, system, metric, value, comparable=False)
        for system, values in table.items()
        for metric, value in zip(METRICS, values, strict=True)
    )


def all_better(
    where: str, system: str, others: Sequence[str], metrics: Sequence[str] = METRICS, whys: Sequence[str] = ()
) -> tuple[Claim, ...]:
    """Return claims that a system is better than each of the others, one per metric; `whys` are by metric, too."""
    text = f"{system} outperforms {enumerated(others)}"
    return tuple(
        Claim(where, f"{text} in {metric}", better(system, others, metric), why, part_of=text)
        for metric, why in zip_longest(metrics, whys, fillvalue="")
    )


@dataclass(frozen=True)
class ByTrees:
    """A metric of the model cut to numbers of trees: `ndcg@10 by trees`, one row per number, and `trees`.

    A round of McRank has as many trees as there are labels: such a model is cut to whole rounds. A model of fewer
    trees stays as it is.
    """

    metric: str
    trees: tuple[int, ...]
    part: str = TEST

    def __call__(self, model: Any, trial: DataTrial, threads: int) -> dict[str, Doubles]:
        """Measure a model; nothing if it has no trees."""
        data, scorer = part_of(trial, self.part), scorer_of(model)
        if scorer is None or not scorer.n_rounds:
            return {}
        per_round = scorer.n_trees // scorer.n_rounds
        cuts = [min(max(1, number // per_round), scorer.n_rounds) for number in self.trees]
        scores = {str(number): scorer.first(number).predict(data, n_jobs=threads) for number in sorted(set(cuts))}
        report = evaluate(scores, data, metrics=[self.metric], drop_one_label=True, n_jobs=threads)
        values = np.array([report.per_query(str(number), report.metrics[0]) for number in cuts])
        trees = np.array([max(number, per_round) for number in self.trees], dtype=np.float64)
        return {by_trees(self.metric, self.part): values, TREES: trees}


def by_trees(metric: str, part: str = TEST) -> str:
    """Return the name of a metric by number of trees."""
    return f"{named(metric, part)} by trees"


@curried
def fewer_trees(
    results: Measurements, fast: str, slow: str, metric: str, most: float, *, below: float = 0.0
) -> Finding:
    """Test that a model needs at most a fraction of another one's trees for the same accuracy.

    The accuracy is the other one's best on the test queries, less `below`. Trees are counted up to the first value
    that reaches it, with straight lines between the numbers of trees that were measured. The interval is that of
    the ratio over resampled queries. Reached if the ratio is at most `most`, and below 1 in the whole interval;
    opposite if the whole interval is above 1.
    """
    trees = results.by_trial(fast, TREES)[0]
    curves = np.stack([results.values(model, by_trees(metric)) for model in (fast, slow)])
    needed = _needed(trees, curves.mean(axis=2), below)
    ratio = needed[0] / needed[1]
    rng, n_queries = np.random.default_rng(0), curves.shape[2]
    again = []
    for _ in range(RESAMPLES):
        drawn = np.bincount(rng.integers(n_queries, size=n_queries), minlength=n_queries) / n_queries
        few, other = _needed(trees, curves @ drawn, below)
        again.append(few / other)
    low, high = np.quantile(again, (0.025, 0.975), method="nearest").tolist()
    level = float(curves[1].mean(axis=1).max()) - below
    shown = f"{fast} {_trees(needed[0])}, {slow} {_trees(needed[1])} to reach {metric} {metric_value(level)}"
    state = OPPOSITE if low > 1.0 else REACHED if ratio <= most and high < 1.0 else NOT_SHOWN
    extreme = min(np.mean(np.array(again) <= 1.0), np.mean(np.array(again) >= 1.0))
    p_value = min(1.0, 2 * max(float(extreme), 1 / RESAMPLES))
    if not np.isfinite(ratio):
        return Finding(state, shown, None, None, p_value)
    interval = (low, high) if np.isfinite(high) else None  # in some samples the accuracy is never reached
    return Finding(state, shown, float(ratio), interval, p_value, "of the trees")


Cut = tuple[str, int]
"""A model, and the number of trees that it is cut to."""


@curried
def more_accurate(results: Measurements, model: Cut, other: Cut, measured: str) -> Finding:
    """Test that a model with some trees is better than another one with some trees."""
    return finding(*_compared(results, model, other, measured))


@curried
def as_accurate(results: Measurements, model: Cut, other: Cut, measured: str) -> Finding:
    """Test that a model with some trees is as good as another one with some trees, within a point."""
    comparison, text = _compared(results, model, other, measured)
    return not_worse_finding({other[0]: comparison}, text)


@curried
def faster_and_as_accurate(results: Measurements, model: str, other: str, measured: str) -> Finding:
    """Test that a model is fitted in less time than another one, and is as good within a point."""
    time, accuracy = faster(model, (other,))(results), not_worse(model, (other,), measured)(results)
    state = time.state if accuracy.state == REACHED else NOT_SHOWN
    text = f"{time.measured}; {difference(accuracy.value)} in {measured}"
    return replace(time, state=state, measured=text)


def _compared(results: Measurements, first: Cut, other: Cut, measured: str) -> tuple[Comparison, str]:
    """Compare two models, each with the largest measured number of trees that is not above the given one."""
    values, shown = [], []
    for model, most in (first, other):
        trees = results.by_trial(model, TREES)[0]
        index = int(np.flatnonzero(trees <= most)[-1])
        values.append(np.asarray(results.values(model, measured)[index]))
        shown.append(f"{model} {metric_value(float(values[-1].mean()))} with {trees[index]:.0f} trees")
    return compare_values(*values), ", ".join(shown)


def _trees(needed: float) -> str:
    return f"{needed:.0f} trees" if np.isfinite(needed) else "never"


def _needed(trees: Doubles, means: Doubles, below: float) -> tuple[float, float]:
    """Return the trees that each of two curves needs to reach the second one's best, less `below`."""
    level = means[1].max() - below
    first, second = (_first_reached(trees, curve, level) for curve in means)
    return first, second


def _first_reached(trees: Doubles, curve: Doubles, level: float) -> float:
    reached = np.flatnonzero(curve >= level)
    if not len(reached):
        return np.inf
    index = int(reached[0])
    if index == 0:
        return float(trees[0])
    (before, after), (low, high) = trees[index - 1 : index + 1], curve[index - 1 : index + 1]
    return float(before + (after - before) * (level - low) / (high - low))
