"""Custom metrics of every kind that closed forms are looked for: sums, cascades, first ranks alone, odd ones."""

from dataclasses import dataclass

import numpy as np

from rankwright.metrics import Metric


@dataclass(frozen=True)
class Persistence(Metric):
    """A sum with gains of its own; label 3 harms."""

    persistence: float = 0.8

    def of_ranking(self, labels):
        gains = np.array([0.0, 1.0, 0.5, -2.0])[labels.astype(int)]
        return float(gains @ self.persistence ** np.arange(len(labels)))


class MeanRank(Metric):
    """A sum whose discounts depend on the number of documents, and rise; empty where all labels are 0."""

    def of_ranking(self, labels):
        if not labels.any():
            return np.nan
        return 1.0 - float(labels @ np.arange(len(labels))) / (len(labels) * labels.sum())


class Share(Metric):
    """A sum with a normaliser: the fraction of all labels' sum in the first two ranks."""

    def of_ranking(self, labels):
        return float(labels[:2].sum() / labels.sum()) if labels.any() else np.nan


class Cascade(Metric):
    """No sum: the expected root of 1 / rank at which a reader stops."""

    def of_ranking(self, labels):
        stops, value, reading = labels / 4, 0.0, 1.0
        for rank, stop in enumerate(stops, start=1):
            value += reading * stop / rank**0.5
            reading *= 1 - stop
        return float(value)


class BatchCascade(Cascade):
    """The same with a batch form."""

    def of_rankings(self, rankings):
        stops = rankings / 4
        reading = np.cumprod(np.column_stack([np.ones(len(stops)), 1 - stops[:, :-1]]), axis=1)
        return (reading * stops) @ (1 / np.sqrt(np.arange(1, rankings.shape[1] + 1)))


class GoodBeforeBad(Metric):
    """No sum: the fraction of the documents with label 2 or more that stand above the first with label 0."""

    def of_ranking(self, labels):
        good = labels >= 2
        if not good.any():
            return np.nan
        bad = np.flatnonzero(labels == 0)
        return float(good[: bad[0] if len(bad) else len(labels)].sum() / good.sum())


class SafeTwo(Metric):
    """The first ranks alone, but no sum."""

    def of_ranking(self, labels):
        return float(labels[:2].mean() * (labels[:2] > 0).all())


class LastIsWorst(Metric):
    """Only the last rank counts: a sum with one discount."""

    def of_ranking(self, labels):
        return float(labels[-1] == 0)


class Constant(Metric):
    def of_ranking(self, _labels):
        return 0.5


class Never(Metric):
    """Empty for all labels."""

    def of_ranking(self, _labels):
        return np.nan


SUMS = [Persistence(), MeanRank(), Share(), LastIsWorst(), Constant(), Never()]
OTHERS = [Cascade(), BatchCascade(), GoodBeforeBad(), SafeTwo()]
