"""Measures every round of a fit on training and validation data, and decides when to stop."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Self

import numpy as np

from rankwright.training.history import History, Round

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from rankwright.arrays import Doubles
    from rankwright.boosting.loop import WeightedModel
    from rankwright.data import RankingData
    from rankwright.metrics import Metric
    from rankwright.models import Scorer
    from rankwright.training.training_set import QueryLabels


class Monitor:
    """Measures rounds; the best round is the first with the highest value on the validation data.

    Without validation data, and if rounds are `converging`, the last round is the best.

    Parameters
    ----------
    metric
        Its mean over queries is the value of a round.
    train
        The labels of the training scores, in their order; None if they are not to be measured.
    validation
        Other judged documents, if any.
    patience
        Stop after this many rounds without a better validation value; None never stops.
    on_round
        Called with each round as it ends.
    read
        Turns the sum of the members' outputs into ranking scores, if they are not the same.
    validation_start
        The scores of the validation documents before the first round. Rounds must then beat their value; if none
        does, the best round is 0.
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
        read: Callable[[Doubles], Doubles] = lambda scores: scores,
        validation_start: Doubles | None = None,
        converging: bool = False,
    ) -> None:
        self._converging = converging
        self._rounds: list[Round] = []
        self.best_round = 0
        self.total_weight = 0.0  # of the rounds so far
        self._interrupted = False
        self._metric, self._train, self._validation = metric, train, validation
        self._patience, self._on_round, self._n_threads = patience, on_round, n_threads
        self._read, self._validation_scores, self._to_beat = read, validation_start, -np.inf
        if validation is not None and validation_start is not None:
            self._to_beat = self._mean(validation, validation_start)

    @property
    def history(self) -> History:
        """The rounds so far."""
        return History(tuple(self._rounds), self.best_round, self._interrupted, self._converging)

    def observe(
        self, member: WeightedModel, scores: Doubles, diagnostics: Mapping[str, float] | None = None
    ) -> bool:
        """Record a round that adds a member to the ensemble; return whether the fit should stop."""
        if self._validation is not None:
            outputs = member.weight * member.model.outputs(self._validation, n_jobs=self._n_threads)
            so_far = self._validation_scores
            self._validation_scores = outputs if so_far is None else so_far + outputs
        self.total_weight += member.weight
        return self._note(float(member.weight), scores, diagnostics or {})

    def observe_model(self, model: Scorer, scores: Doubles) -> bool:
        """Record a round that gives a complete model, of weight 1; return whether the fit should stop."""
        if self._validation is not None:
            self._validation_scores = model.predict(self._validation, n_jobs=self._n_threads)
        return self._note(1.0, scores, {})

    def _note(self, weight: float, scores: Doubles, diagnostics: Mapping[str, float]) -> bool:
        this = Round(
            len(self._rounds) + 1,
            weight,
            None if self._train is None else self._mean(self._train, self._read(scores)),
            self._validated(),
            diagnostics,
        )
        self._rounds.append(this)
        if self._converging or this.validation is None or not this.validation <= self._to_beat:
            self.best_round = this.number
            self._to_beat = -np.inf if this.validation is None else this.validation
        if self._on_round is not None:
            self._on_round(this)
        return self._patience is not None and this.number - self.best_round >= self._patience

    def _validated(self) -> float | None:
        if self._validation is None or self._validation_scores is None:
            return None
        return self._mean(self._validation, self._read(self._validation_scores))

    def _mean(self, data: RankingData | QueryLabels, scores: Doubles) -> float:
        return self._metric.mean(data.y, scores, data.groups, n_jobs=self._n_threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        """Let Ctrl-C end the fit with the best round so far, or with the start if no round has improved on it."""
        if kind is not KeyboardInterrupt or (self.best_round == 0 and self._to_beat == -np.inf):
            return False
        self._interrupted, done = True, len(self._rounds)
        best = f"that of round {self.best_round}" if self.best_round else "the start, which no round has improved"
        warnings.warn(f"Interrupted after round {done}; the model is {best}.", stacklevel=3)
        return True
