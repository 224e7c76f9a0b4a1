"""Rankers beside each other on queries that they did not learn from: by weighted clicks, or by human labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, difference
from rankwright.clicks.learning.examined import NAIVE
from rankwright.data.groups import Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.clicks.learning.lessons import Lesson
    from rankwright.data.dataset import RankingData
    from rankwright.rankers.ranker import Ranker

FOLDS = 3  # of queries, to compare rankers
MIN_HUMAN = 10  # queries with human labels that tell rankers apart
CUT = 10  # ranks of the discounted clicks that compare rankers
SURE = 2.0  # standard errors


class HeldOutQueries(NamedTuple):
    """Values per held-out query of each method, by weighted clicks and human labels, and rounds to fit."""

    clicks: dict[str, Doubles]
    labels: dict[str, Doubles]
    rounds: dict[str, int | None]

    @classmethod
    def of(
        cls,
        ranker: Ranker,
        taught: Mapping[str, Lesson],
        naive: RankingData,
        truth: RankingData,
        gains: Doubles | None,
        judged: RankingData | None,
        seed: int,
    ) -> HeldOutQueries:
        """Fit rankers to two thirds of the queries in turn; gains of documents, if known, measure the others."""
        n_folds = min(FOLDS, len(truth.groups))
        if n_folds < 2:
            raise InputError("The log has a single query; a choice needs others to compare rankers on.")
        fold = np.random.default_rng(seed).permutation(len(truth.groups)) % n_folds
        clicks, human, rounds = ({name: list[Any]() for name in taught} for _ in range(3))
        for number in range(n_folds):
            outside = fold != number
            rows = np.flatnonzero(~outside[truth.groups.query_of_row])
            test = truth.take(rows)
            unseen = None if judged is None else not_among(judged, truth.take_queries(np.flatnonzero(outside)))
            for name, lesson in taught.items():
                # Labels that know what features predict for other queries would ask for too many rounds.
                validation = naive.take(rows) if name == NAIVE else test
                fitted = lesson.fitted(copied(ranker), outside, validation=validation)
                if gains is not None:
                    clicks[name].append(discounted(gains[rows], Ranking.of(fitted.predict(test), test.groups)))
                rounds[name].append(fitted.history_.best_round)
                if judged is not None and unseen is not None and len(unseen):
                    human[name].append(per_query(fitted, judged.take_queries(unseen)))
        has_rounds = "rounds" in ranker.declared
        typical = {
            name: max(1, round(float(np.mean(each)))) if has_rounds else None for name, each in rounds.items()
        }
        return cls(_joined(clicks), _joined(human), typical)

    @property
    def on_clicks(self) -> dict[str, float]:
        """The mean by weighted clicks."""
        return {name: float(values.mean()) for name, values in self.clicks.items()}

    @property
    def on_labels(self) -> dict[str, float]:
        """The mean by human labels."""
        return {name: float(values.mean()) for name, values in self.labels.items()}

    def choice(self, corrected: str, described: str) -> tuple[str, str]:
        """Return the method to use, and why; `described` says what the corrected one is."""
        has_labels = len(self.labels) > 1 and np.count_nonzero(np.ptp(list(self.labels.values()), axis=0))
        source, values = ("weighted clicks", self.clicks)
        if has_labels >= MIN_HUMAN:
            source, values = ("human labels", self.labels)
        ahead = values[corrected] - values[NAIVE]
        mean, error = float(ahead.mean()), float(ahead.std()) / np.sqrt(len(ahead))
        compared = f"{difference(mean)} by {source} of {counted(len(ahead), 'held-out query')}"
        if mean > SURE * error:
            return corrected, f"{described} is ahead of its naive twin by {compared}."
        return NAIVE, f"{described} is not ahead by more than chance: {compared}."


def _joined(parts: Mapping[str, Sequence[Doubles]]) -> dict[str, Doubles]:
    return {name: np.concatenate(each) for name, each in parts.items() if each}


def copied(ranker: Ranker, rounds: int | None = None) -> Any:
    """Return an unfitted copy; with rounds, it trains for so many."""
    copy = type(ranker)(**ranker.get_params(deep=False))
    return copy if rounds is None else copy.set_params(rounds=rounds)


def discounted(gains: Doubles, ranking: Ranking) -> Doubles:
    """Return the discounted sum of the gains of the first documents of each query."""
    ranks, groups = ranking.ranks(), ranking.groups
    parts = np.where(ranks <= CUT, gains / np.log2(1.0 + ranks), 0.0)
    return np.bincount(groups.query_of_row, parts, minlength=len(groups)).astype(np.float64)


def per_query(fitted: Any, data: RankingData) -> Doubles:
    """Return the metric of a fitted ranker for each query."""
    ranking = Ranking.of(fitted.predict(data), data.groups)
    return np.asarray(fitted.metric.per_query(data.y, ranking))


def not_among(data: RankingData, others: RankingData) -> NDArray[np.int64]:
    """Return the numbers of the queries that are not among others, by id."""
    known = {str(name) for name in others.groups.ids.tolist()}
    numbers = [number for number, name in enumerate(data.groups.ids.tolist()) if str(name) not in known]
    return np.array(numbers, dtype=np.int64)
