"""Thresholds on single features as weak rankers: RankBoost's votes and MPBoost's stumps.

The candidate thresholds of a feature are the edges of its bins (between all its values if there are at most 255 or
every threshold was asked for, otherwise quantiles) and minus infinity, which separates known values from missing
ones.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.models.trees import TreeEnsemble
from rankwright.training.learners.pair_signal import NativePairs, loss_diagnostics
from rankwright.training.learners.signal import Weak, half_log_odds
from rankwright.training.monitor import RoundBlock, RoundsEnd, WeightedModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.metrics.base import Metric
    from rankwright.training.binned_features import BinnedFeatures
    from rankwright.training.learners.pair_signal import PairSignal
    from rankwright.training.learners.signal import RunRounds
    from rankwright.training.training_set import QueryLabels

MISSING = 255  # the code of a missing value
NOTHING = 1e-12  # smaller sums of pair weights, which sum to 1, are rounding errors
HIGHEST_VALUE = float(np.finfo(np.float32).max)
LOWEST_VALUE = float(np.nextafter(np.finfo(np.float32).min, np.float32(0.0)))  # stands for minus infinity


class Threshold(NamedTuple):
    """Separates the values of one feature with this code or a higher one from the others."""

    feature: int
    code: int


class StumpLearner:
    """MPBoost's weak ranker (equation 17): a above a threshold, 0 below it or if the value is missing.

    For each feature and threshold, with sums over the pairs that cross it (weights w_ij, distances d),

        a = (sum of w_ij d with the better document above - sum of w_ij d with it below) / sum of w_ij (times d^2)

    minimises the weighted squared error. The learner returns the stump with the least error.

    Parameters
    ----------
    binned
        The features; rows in the order of the pairs' documents.
    newton
        Whether to divide by the sum of w_ij d^2, the second derivative of the loss, instead of the sum of w_ij,
        the paper's approximation for d^2 = 1.
    """

    def __init__(self, binned: BinnedFeatures, *, newton: bool, n_threads: int) -> None:
        self.binned, self.newton, self.n_threads = binned, newton, n_threads
        self._thresholds = [[LOWEST_VALUE, *edges] for edges in binned.matrix.edges]

    def in_core(self, rule: Any) -> RunRounds | None:
        """Return the rounds of MPBoost."""
        known = isinstance(rule, NativePairs) and rule.learning_rate is not None
        return partial(self.boost, rule, rule.learning_rate) if known else None

    def boost(
        self, rule: NativePairs, learning_rate: float, scores: Doubles, n_rounds: int, following: Floats
    ) -> RoundBlock:
        """Fit stumps in native code: `fit` to the pairs at the scores so far, one round after the other."""
        results = _native.boost_pair_stumps(
            rule.pairs.sorted_codes(self.binned),
            rule.pairs.in_core,
            scores,
            n_rounds,
            self.newton,
            learning_rate,
            rule.diagnosed,
            following,
            self.binned.sources,
            rule.measure,
            self.n_threads,
        )
        return _block(rule, results, self._model)

    def fit(self, signal: PairSignal) -> Weak:
        pull = _above(_native.sum_by_code(self.binned.matrix, signal.gradient, self.n_threads))
        weight = _above(signal.pairs.crossing_weights(self.binned, signal, squared=self.newton))
        crosses = weight > NOTHING
        gains = np.divide(pull**2, weight, out=np.zeros_like(pull), where=crosses)
        best = _at_highest(gains)
        value = pull[best] / weight[best] if crosses[best] else 0.0
        return self._stump(best, value, gains[best])

    def _stump(self, threshold: Threshold, value: float, gain: float) -> Weak:
        if value == 0.0:
            return _nothing(self.binned)
        high = _is_high(self.binned, threshold)
        return Weak(self._model(threshold, value, gain, int(high.sum()), 0), np.where(high, value, 0.0))

    def _model(
        self, threshold: Threshold, value: float, gain: float, n_high: int, _n_missing: int
    ) -> TreeEnsemble:
        tree: dict[str, Any] = {
            "feature": [self.binned.source(threshold.feature)],
            "threshold": [self._thresholds[threshold.feature][threshold.code]],
            "missing_left": [1],
            "left": [-1],
            "right": [-2],
            "leaf_value": [0.0, value],
            "gain": [gain],
            "cover": [self.binned.n_rows - n_high, n_high],
        }
        return TreeEnsemble.grown(tree, self.binned.n_sources)


class VoteLearner:
    """RankBoost's weak ranker: 1/2 above a threshold, -1/2 below it, 0 if the value is missing.

    These are the paper's outputs 1 and 0 minus 1/2; 0 is the neutral output for an abstention. The learner returns
    the vote with the largest r = sum over documents of gradient x vote, as the third method for alpha requires.

    Parameters
    ----------
    binned
        The features; rows in the order of the pairs' documents.
    directions
        Allowed directions: 1, higher values are better; -1, lower values are better.
    """

    def __init__(self, binned: BinnedFeatures, *, directions: tuple[int, ...], n_threads: int) -> None:
        self.binned, self.directions, self.n_threads = binned, directions, n_threads
        self._thresholds = [[LOWEST_VALUE, *edges] for edges in binned.matrix.edges]

    def in_core(self, rule: Any) -> RunRounds | None:
        """Return the rounds of RankBoost."""
        known = isinstance(rule, NativePairs) and rule.learning_rate is None and type(self) is VoteLearner
        return partial(self.boost, rule) if known else None

    def boost(self, rule: NativePairs, scores: Doubles, n_rounds: int, following: Floats) -> RoundBlock:
        """Fit votes in native code: `fit` to the pairs at the scores so far, one round after the other."""
        results = _native.boost_pair_votes(
            self.binned.matrix,
            rule.pairs.in_core,
            scores,
            n_rounds,
            -1 in self.directions,
            rule.diagnosed,
            following,
            self.binned.sources,
            rule.measure,
            self.n_threads,
        )
        return _block(rule, results, self._model)

    def fit(self, signal: PairSignal) -> Weak:
        r = self._agreement(signal)
        best = _at_highest(self._directed(r))
        return self._vote(best, r[best])

    def _agreement(self, signal: PairSignal) -> Doubles:
        """Return r of every feature and threshold: half the sum of gradients above, minus half the sum below."""
        pull = _native.sum_by_code(self.binned.matrix, signal.gradient, self.n_threads)
        above = _above(pull)
        there_is = np.arange(MISSING) < np.array([[len(thresholds)] for thresholds in self._thresholds])
        return np.where(there_is, above - above[:, :1] / 2.0, 0.0)

    def _directed(self, r: Doubles) -> Doubles:
        """Return the largest r over the allowed directions of a vote."""
        return np.asarray(np.max([direction * r for direction in self.directions], axis=0))

    def _vote(self, threshold: Threshold, r: float) -> Weak:
        if self._directed(np.array([r]))[0] <= NOTHING:
            return _nothing(self.binned)
        vote = 0.5 if r > 0.0 else -0.5
        codes = _native.column_codes(self.binned.matrix, threshold.feature)
        missing, high = codes == MISSING, _is_high(self.binned, threshold)
        model = self._model(threshold, vote, abs(r), int(high.sum()), int(missing.sum()))
        return Weak(model, np.where(missing, 0.0, np.where(high, vote, -vote)))

    def _model(self, threshold: Threshold, vote: float, gain: float, n_high: int, n_missing: int) -> TreeEnsemble:
        # The second split only separates missing values.
        tree: dict[str, Any] = {
            "feature": [self.binned.source(threshold.feature)] * 2,
            "threshold": [self._thresholds[threshold.feature][threshold.code], HIGHEST_VALUE],
            "missing_left": [1, 0],
            "left": [1, -2],
            "right": [-1, -3],
            "leaf_value": [vote, -vote, 0.0],
            "gain": [gain, 0.0],
            "cover": [n_high, self.binned.n_rows - n_high - n_missing, n_missing],
        }
        return TreeEnsemble.grown(tree, self.binned.n_sources)


class MetricVoteLearner(VoteLearner):
    """The vote with which the ensemble has the best metric, among the votes with the largest r of each feature.

    Parameters
    ----------
    judged, metric
        Labels, in the order of the pairs' documents, and the metric to maximise.
    """

    def __init__(
        self,
        binned: BinnedFeatures,
        judged: QueryLabels,
        metric: Metric,
        *,
        directions: tuple[int, ...],
        n_threads: int,
    ) -> None:
        super().__init__(binned, directions=directions, n_threads=n_threads)
        self.judged, self.metric = judged, metric

    def fit(self, signal: PairSignal) -> Weak:
        r = self._agreement(signal)
        directed = self._directed(r)
        thresholds = [Threshold(feature, int(np.argmax(row))) for feature, row in enumerate(directed)]
        votes = [(self._vote(best, r[best]), abs(r[best])) for best in thresholds if directed[best] > NOTHING]
        if not votes:
            return _nothing(self.binned)
        scores = [signal.scores + half_log_odds(agreement) * vote.outputs for vote, agreement in votes]
        return votes[int(np.argmax(list(map(self._measure, scores))))][0]

    def _measure(self, scores: Doubles) -> float:
        return self.metric.mean(self.judged.y, scores, self.judged.groups, n_jobs=self.n_threads)


def _block(
    rule: NativePairs,
    results: tuple[list[_native.PairRound], float, Doubles, Doubles, Doubles, int],
    model: Callable[[Threshold, float, float, int, int], TreeEnsemble],
) -> RoundBlock:
    """Return rounds of native code as the loop takes them."""
    rounds, loss, scores, outputs, values, end = results
    first, members, diagnostics = rule.pairs.log_loss_at_first, [], []
    for feature, code, value, gain, step, n_high, n_missing, agreement, log_loss, misordered in rounds:
        members.append(WeightedModel(step, model(Threshold(feature, code), value, gain, n_high, n_missing)))
        own = {} if rule.learning_rate is not None else {"r": agreement}
        diagnostics.append(own | loss_diagnostics(loss, log_loss, first, misordered))
        loss = log_loss
    return RoundBlock(
        members,
        scores,
        outputs,
        RoundsEnd(end),
        diagnostics if rule.diagnosed else (),
        None if rule.measure is None else values,
    )


def _above(sums: Doubles) -> Doubles:
    """Return for every feature and code the sum over this and all higher codes, without missing values."""
    return np.cumsum(sums[:, MISSING - 1 :: -1], axis=1)[:, ::-1]


def _at_highest(values: Doubles) -> Threshold:
    """Return the threshold with the highest value, the first one if several are equal."""
    return Threshold(*map(int, divmod(int(np.argmax(values)), values.shape[1])))


def _is_high(binned: BinnedFeatures, threshold: Threshold) -> NDArray[np.bool_]:
    codes = _native.column_codes(binned.matrix, threshold.feature)
    return np.asarray((codes >= threshold.code) & (codes != MISSING))


def _nothing(binned: BinnedFeatures) -> Weak:
    """Return a weak model whose output is 0 for every document."""
    integers = dict.fromkeys(("feature", "missing_left", "left", "right"), np.zeros(0, dtype=np.int32))
    model = TreeEnsemble(
        splits=np.array([0, 0]),
        threshold=np.zeros(0, dtype=np.float32),
        leaf_value=np.zeros(1),
        gain=np.zeros(0),
        cover=np.zeros(1) + binned.n_rows,
        n_features=binned.n_sources,
        **integers,  # type: ignore[arg-type]
    )
    return Weak(model, np.zeros(binned.n_rows))
