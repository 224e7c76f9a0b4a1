"""Measures every round of a fit on training and validation data; chooses when to stop and which round to keep."""

from __future__ import annotations

import warnings
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.data.groups import Ranking
from rankwright.metrics.base import Metric, mean_over_queries
from rankwright.training.history import History, Round

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from numpy.typing import NDArray

    from rankwright import _native
    from rankwright.base.arrays import Doubles, Floats
    from rankwright.data.dataset import Documents, RankingData
    from rankwright.models.scorer import Scorer
    from rankwright.training.training_set import QueryLabels


class WeakModel(Protocol):
    """A scorer or another model whose outputs boosting sums, such as trees with one output per class."""

    def outputs(self, data: Documents, *, n_jobs: int | None = None) -> Doubles:
        """Return the outputs for documents."""


class WeightedModel(NamedTuple):
    """A weak model and its weight in the ensemble."""

    weight: float
    model: WeakModel


class RoundsEnd(Enum):
    """Why rounds in native code ended; the numbers are those of native/trees/following.hpp."""

    ALL_DONE = 0
    NOTHING_LEFT = 1
    NOT_FINITE = 2


class RoundBlock(NamedTuple):
    """Several rounds.

    Parameters
    ----------
    members
        The weak model of each round, with its weight.
    scores
        The scores after each round.
    outputs
        The outputs of each weak model, without its weight, for the documents that follow.
    diagnostics
        The named numbers of each round, if the rule reports any.
    measured
        The values of the training queries after each round, if native code has measured them.
    """

    members: Sequence[WeightedModel]
    scores: Doubles
    outputs: Doubles
    end: RoundsEnd
    diagnostics: Sequence[Mapping[str, float]] = ()
    measured: Doubles | None = None


class RoundChoice(NamedTuple):
    """The number of rounds to keep, and why."""

    best_round: int
    reason: str


def last_round(n_rounds: int, why: str) -> RoundChoice:
    """Keep all rounds."""
    return RoundChoice(n_rounds, f"the last round, because {why}" if n_rounds else "there is no round")


def middle_round(means: Sequence[float], values: Sequence[Doubles], to_beat: float = -np.inf) -> RoundChoice:
    """Keep the median of the rounds within one standard error of the best; of two middle rounds, the better.

    The highest single value is selection bias for the most part: on a few dozen queries hundreds of rounds differ
    by less than the error. Their middle is as good as any of them, and far from both too few rounds and too many.

    Parameters
    ----------
    means
        The value of every round, the mean over queries; NaN if no query has a value.
    values
        The values of the queries after every round; NaN for a query that is left out.
    to_beat
        The value that rounds must exceed; if none does, no round is kept.
    """
    if np.isnan(means).any():
        return last_round(len(means), "no validation query has a value")
    best = int(np.argmax(means))
    if means[best] <= to_beat:
        return RoundChoice(0, "no round is better on validation than the start")
    rivals = [index for index, mean in enumerate(means) if mean > to_beat]
    are_good = is_as_good_as(values[best], np.stack([values[index] for index in rivals]))
    good = [index for index, is_good in zip(rivals, are_good, strict=True) if is_good]
    lower, upper = good[(len(good) - 1) // 2], good[len(good) // 2]
    kept = lower if means[lower] >= means[upper] else upper
    if len(good) == 1:
        return RoundChoice(
            kept + 1, "the best on validation; all others are more than one standard error below it"
        )
    rounds = counted(len(good), "round")
    reason = (
        f"in the middle of {rounds} whose value on validation is at most one standard error below the best, that "
        f"of round {best + 1}"
    )
    return RoundChoice(kept + 1, reason)


def is_as_good_as(best: Doubles, others: Doubles, tolerance: float = 1.0) -> NDArray[np.bool_]:
    """Return whether a round, or each row of several, is worse than the best by at most so many standard errors.

    The error is that of the differences query by query, which is much smaller than that of either mean. A single
    query has no standard error; then only an equal value is as good.
    """
    # Sorted, so that the order of the queries changes no bit.
    differences = np.sort(np.compress(~np.isnan(best), best - others, axis=-1))
    n = differences.shape[-1]
    if n == 1:
        return np.asarray(differences[..., 0] <= 0.0)
    # As numpy's mean and standard deviation, which take several times as long for so few numbers.
    mean = np.add.reduce(differences, axis=-1, keepdims=True) / n
    squares = np.square(differences - mean)
    error = np.sqrt(np.add.reduce(squares, axis=-1) / (n - 1)) / np.sqrt(n)
    return np.asarray(mean[..., 0] <= tolerance * error)


def unchanged(scores: Doubles, _total: float) -> Doubles:
    """Return sums of outputs that are ranking scores already."""
    return scores


class Monitor:
    """Measures rounds, and chooses the one to keep by the validation data; see `middle_round`.

    Without validation data, and if rounds are `converging`, the last round is kept.

    Parameters
    ----------
    metric
        Its mean over queries is the value of a round.
    train
        The labels of the training scores, in their order; None if they are not to be measured.
    patience
        Stop after this many rounds in a row that are worse on validation than the best by more than one standard
        error; None never stops.
    on_round
        Called with each round as it ends.
    read
        Turns the sum of the members' outputs and the sum of their weights into ranking scores, if the first is not
        the scores already.
    validation_start
        The scores of the validation documents before the first round. Rounds must then beat their value; if none
        does, the best round is 0.
    diagnosed
        Whether a rule should compute the diagnostics of its rounds.
    """

    def __init__(
        self,
        metric: Metric,
        train: RankingData | QueryLabels | None,
        validation: RankingData | None,
        *,
        patience: int | None,
        on_round: Callable[[Round], None] | None,
        n_threads: int,
        read: Callable[[Doubles, float], Doubles] = unchanged,
        validation_start: Doubles | None = None,
        converging: bool = False,
        stop_after: int | None = None,
        diagnosed: bool = True,
    ) -> None:
        self.diagnosed = diagnosed
        self._converging, self._stop_after = converging, stop_after
        self._rounds: list[Round] = []
        self._values: list[Doubles] = []  # of the validation queries, by round
        self._best: int | None = None  # index of the round with the highest value, above that of the start
        self._last_good = 0  # number of the last round as good as it
        self._total_weight = 0.0  # of the rounds so far
        self._interrupted = False
        self._metric, self._train, self._validation = metric, train, validation
        self._patience, self._on_round, self._n_threads = patience, on_round, n_threads
        self._read, self._validation_scores, self._to_beat = read, validation_start, -np.inf
        if validation is not None and validation_start is not None:
            self._to_beat = mean_over_queries(self._per_query(validation, validation_start))

    @property
    def best_round(self) -> int:
        """The round to keep, of those so far; 0 if none is better than the start."""
        return self._choice.best_round

    @property
    def _choice(self) -> RoundChoice:
        if self._validation is None:
            return last_round(len(self._rounds), "there are no validation data")
        if self._converging:
            return last_round(len(self._rounds), "rounds approach the optimum")
        if not self._values:
            return last_round(0, "")
        return middle_round([_value(measured) for measured in self._rounds], self._values, self._to_beat)

    @property
    def history(self) -> History:
        """The rounds so far."""
        kept, reason = self._choice
        return History(tuple(self._rounds), kept, self._interrupted, self._converging, reason, str(self._metric))

    def observe(
        self, member: WeightedModel, scores: Doubles, diagnostics: Mapping[str, float] | None = None
    ) -> bool:
        """Record a round that adds a member to the ensemble; return whether the fit should stop."""
        if self._validation is not None:
            outputs = member.weight * member.model.outputs(self._validation, n_jobs=self._n_threads)
            so_far = self._validation_scores
            self._validation_scores = outputs if so_far is None else so_far + outputs
        self._total_weight += member.weight
        return self._measure(float(member.weight), lambda: scores, diagnostics or {})

    @property
    def measures_training(self) -> bool:
        """Whether the training documents are measured after each round."""
        return self._train is not None

    @property
    def validation_features(self) -> Floats:
        """The features of the validation documents, one row each; no row without them."""
        return np.zeros((0, 0), np.float32) if self._validation is None else self._validation.X

    @property
    def native_measure(self) -> _native.RankMeasure | None:
        """The metric of the training documents in native code; None if they are not measured, or by Python."""
        return None if self._train is None or self._read is not unchanged else self._native(self._train)

    def _native(self, data: RankingData | QueryLabels) -> _native.RankMeasure | None:
        try:
            return self._metric.native_measure(data.y, data.groups)
        except InputError:  # of labels that the metric refuses: the first round that is measured raises it again
            return None

    def observe_rounds(self, rounds: RoundBlock) -> bool:
        """Record several rounds, whose documents that follow are those of the validation data.

        Return whether the fit should stop; rounds after the one that stops it are not recorded.
        """
        members, totals = rounds.members, []
        if not members:
            return False
        for weight, _ in members:
            self._total_weight += weight
            totals.append(self._total_weight)
        on_train = None if self._train is None else self._trained(self._train, rounds, totals)
        on_validation = None
        if self._validation is not None:
            so_far = np.empty_like(rounds.outputs)
            for number, (weight, _) in enumerate(members):
                added = weight * rounds.outputs[number]
                last = self._validation_scores
                self._validation_scores = so_far[number] = added if last is None else last + added
            on_validation = self._per_query_and_round(self._validation, so_far, totals)
        for number, (weight, _) in enumerate(members):
            trained, validated = (None if part is None else part[number] for part in (on_train, on_validation))
            diagnostics = rounds.diagnostics[number] if rounds.diagnostics else {}
            if self._note(weight, trained, validated, diagnostics):
                return True
        return False

    def observe_model(
        self,
        model: Callable[[], Scorer],
        scores: Callable[[], Doubles],
        diagnostics: Mapping[str, float] | None = None,
    ) -> bool:
        """Record a round that gives a complete model, of weight 1; return whether the fit should stop.

        `model` and `scores` are called only if the validation or the training documents are measured.
        """
        if self._validation is not None:
            self._validation_scores = model().predict(self._validation, n_jobs=self._n_threads)
        return self._measure(1.0, scores, diagnostics or {})

    def _measure(self, weight: float, scores: Callable[[], Doubles], diagnostics: Mapping[str, float]) -> bool:
        trained = None if self._train is None else self._per_query(self._train, self._scores(scores()))
        return self._note(weight, trained, self._validated(), diagnostics)

    def _note(
        self, weight: float, trained: Doubles | None, values: Doubles | None, diagnostics: Mapping[str, float]
    ) -> bool:
        measured = Round(
            len(self._rounds) + 1,
            weight,
            None if trained is None else mean_over_queries(trained),
            None if values is None else mean_over_queries(values),
            diagnostics,
        )
        self._rounds.append(measured)
        if values is not None:
            self._values.append(values)
        if values is None or self._converging or self._is_good(measured, values):
            self._last_good = measured.number
        if self._on_round is not None:
            self._on_round(measured if values is None else replace(measured, values=values))
        without = measured.number - self._last_good
        return measured.number == self._stop_after or (self._patience is not None and without >= self._patience)

    def _is_good(self, measured: Round, values: Doubles) -> bool:
        """Return whether a round is as good as the best so far; a round must also be better than the start."""
        highest = self._to_beat if self._best is None else _value(self._rounds[self._best])
        if not _value(measured) <= highest:
            self._best = measured.number - 1
            return True
        return self._best is not None and bool(is_as_good_as(self._values[self._best], values))

    def _validated(self) -> Doubles | None:
        """Return the value of every validation query."""
        if self._validation is None or self._validation_scores is None:
            return None
        return self._per_query(self._validation, self._scores(self._validation_scores))

    def _scores(self, sums: Doubles) -> Doubles:
        return self._read(sums, self._total_weight)

    def _per_query(self, data: RankingData | QueryLabels, scores: Doubles) -> Doubles:
        ranking = Ranking.of(scores, data.groups, n_jobs=self._n_threads)
        return self._metric.per_query(data.y, ranking, n_jobs=self._n_threads)

    def _trained(self, train: RankingData | QueryLabels, rounds: RoundBlock, totals: Sequence[float]) -> Doubles:
        if rounds.measured is None:
            return self._per_query_and_round(train, rounds.scores, totals)
        return self._metric.count_empty(rounds.measured)

    def _per_query_and_round(
        self, data: RankingData | QueryLabels, sums: Doubles, totals: Sequence[float]
    ) -> Doubles:
        """Return one row of values per round."""
        scores = np.stack([self._read(*of_round) for of_round in zip(sums, totals, strict=True)])
        measure = self._native(data)
        if measure is None or np.isnan(scores).any():  # which the ranking of a single round refuses in words
            return np.stack([self._per_query(data, of_round) for of_round in scores])
        return self._metric.count_empty(measure.of_rounds(scores, self._n_threads))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        """Let Ctrl-C end the fit with the round chosen so far, or with the start if none has improved on it."""
        kept = self.best_round if kind is KeyboardInterrupt else 0
        if kind is not KeyboardInterrupt or (kept == 0 and self._to_beat == -np.inf):
            return False
        self._interrupted, done = True, len(self._rounds)
        best = f"that of round {kept}" if kept else "the start, which no round has improved"
        warnings.warn(f"Interrupted after round {done}; the model is {best}.", stacklevel=3)
        return True


def _value(measured: Round) -> float:
    return np.nan if measured.validation is None else measured.validation
