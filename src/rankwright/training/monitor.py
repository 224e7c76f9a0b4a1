"""What watches a fit: the metric on training and validation data, the best round, the history."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from rankwright.data import Ranking
from rankwright.metrics import mean_over_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

    from rankwright.arrays import Doubles
    from rankwright.boosting.loop import Member
    from rankwright.data import RankingData
    from rankwright.data.dataset import Judged
    from rankwright.metrics import Metric
    from rankwright.models import Scorer


SMOOTHING = 10  # the part of a curve, to either side, that smoothing averages over: one in so many


@dataclass(frozen=True)
class Round:
    """One round of boosting: the weight given to its weak model, and the ensemble's metric after it.

    The training value is None where it was not measured. `diagnostics` holds the ranker's own numbers, such as the
    bound that its paper proves; its page in the documentation lists them.
    """

    number: int
    weight: float
    train: float | None
    validation: float | None = None
    diagnostics: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class History:
    """The rounds of a fit, how many of them the model kept, and whether Ctrl-C ended it.

    `converging` rounds close in on the solution of one problem: none but the last is worth choosing.
    """

    rounds: tuple[Round, ...]
    best_round: int
    interrupted: bool = False
    converging: bool = False

    def __len__(self) -> int:
        return len(self.rounds)

    def __iter__(self) -> Iterator[Round]:
        return iter(self.rounds)

    def __getitem__(self, place: int) -> Round:
        return self.rounds[place]

    @property
    def validation(self) -> Doubles:
        """The metric on the validation part after every round; NaN where there was none."""
        return np.array([this.validation for this in self.rounds], dtype=np.float64)

    def curve(self, name: str) -> Doubles:
        """Return a name of every round by its name; NaN where a round does not have it."""
        return np.array([this.diagnostics.get(name, np.nan) for this in self.rounds], dtype=np.float64)


def smoothed(curve: Doubles) -> Doubles:
    """Return each round's mean with its neighbours: a tenth of the curve's length to either side.

    The single best value of a few dozen queries is mostly luck; a stretch of good rounds is not. Near an end the
    mean is over the neighbours there are.
    """
    reach = len(curve) // SMOOTHING
    means = [curve[max(0, place - reach) : place + reach + 1].mean() for place in range(len(curve))]
    return np.round(means, 12)  # so that equal stretches do not differ by rounding


class Monitor:
    """Watches rounds; a round that beats all before it on the validation part is the best so far.

    Without validation data, and where rounds are `converging`, the last round is the best. `read` makes ranking
    scores of what boosting adds up, where they are not the same. `validation_start` are the validation documents'
    scores before the first round: they are then to be beaten too, and where no round does, the best is 0.
    """

    def __init__(
        self,
        metric: Metric,
        train: RankingData | Judged | None,
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

    def observe(self, member: Member, scores: Doubles, diagnostics: Mapping[str, float] | None = None) -> bool:
        """Take note of a round that adds a member to the ensemble; return whether the fit should stop."""
        if self._validation is not None:
            outputs = member.weight * member.model.outputs(self._validation, n_threads=self._n_threads)
            so_far = self._validation_scores
            self._validation_scores = outputs if so_far is None else so_far + outputs
        self.total_weight += member.weight
        return self._note(float(member.weight), scores, diagnostics or {})

    def observe_model(self, model: Scorer, scores: Doubles) -> bool:
        """Take note of a round that gives a whole model, of weight 1; return whether the fit should stop."""
        if self._validation is not None:
            self._validation_scores = model.predict(self._validation, n_threads=self._n_threads)
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

    def _mean(self, data: RankingData | Judged, scores: Doubles) -> float:
        ranking = Ranking.of(scores, data.groups, n_threads=self._n_threads)
        return mean_over_queries(self._metric.per_query(data.y, ranking, n_threads=self._n_threads))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        """Let Ctrl-C end the fit with the best so far, if there is any: rounds, or the start they must beat."""
        if kind is not KeyboardInterrupt or (self.best_round == 0 and self._to_beat == -np.inf):
            return False
        self._interrupted, done = True, len(self._rounds)
        best = f"that of round {self.best_round}" if self.best_round else "the start, which none has beaten"
        warnings.warn(f"Interrupted after round {done}; the model is {best}.", stacklevel=3)
        return True
