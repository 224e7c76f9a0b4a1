"""Learning a ranker from clicks: one that corrects them for position bias, beside its naive twin, and the choice.

1. Click models with features are fitted to a part of the sessions; the one that predicts the clicks of the others
   best says how users examine results.
2. Two rankers learn: the naive twin from click rates, the other from the attraction that the model estimates.
3. Both rank queries that they did not learn from, and are measured by the clicks there, weighted by inverse
   propensities, or by human labels where there are some. Weights and not the model's attraction: of documents that
   nobody examined, a model knows its prior only, which flatters whoever ranks them first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import counted, difference, nearest
from rankwright.clicks.counts import ClickCounts
from rankwright.clicks.judgements import click_judgements
from rankwright.clicks.log import ClickLog
from rankwright.clicks.models.chains import DependentClickModel
from rankwright.clicks.models.features import (
    BrowsingFeatures,
    FeatureModel,
    PositionFeatures,
    TrustFeatures,
)
from rankwright.clicks.models.fitting import PredictedClicks, click_logarithms
from rankwright.clicks.models.rates import DocumentRates
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.groups import Ranking
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.reports.blocks import Column, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.clicks.models.click_model import ClickModel
    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.blocks import Block

NAIVE = "naive"
CORRECTIONS: dict[str, Any] = {  # from few to many assumptions about what users remember
    "position": PositionFeatures,
    "trust": TrustFeatures,
    "browsing": BrowsingFeatures,
    "dependent": DependentClickModel,
}
FOLDS = 3  # of queries, to compare rankers
MIN_HUMAN = 10  # queries with human labels that tell rankers apart
CUT = 10  # ranks of the discounted clicks that compare rankers
LEAST_EXAMINED = 0.05  # expected examinations of a document: inverse propensity weights are at most 20
SURE = 2.0  # standard errors


class Method(NamedTuple):
    """A way to learn from clicks, and what held-out data say of it; None where that was not measured."""

    name: str
    log_likelihood: float
    perplexity: float
    on_clicks: float | None
    on_labels: float | None


@dataclass(frozen=True, repr=False, eq=False)
class LearnedRanker(Result):
    """A ranker that was learned from clicks, beside its naive twin.

    Parameters
    ----------
    chosen
        The method of `ranker`: `naive`, or the click model that corrected the clicks.
    reason
        Why it was chosen, in one sentence.
    rankers
        The fitted rankers by method: the naive twin, and the best correction if there is one.
    methods
        Every method with its mean log-likelihood per held-out list and its perplexity; and for held-out queries,
        DCG@10 of its ranker by weighted clicks, and the metric by human labels.
    metric
        Name of the metric of human labels.
    n_unseen
        Documents that were never shown, and are not learned from.
    notes
        What the log cannot say, in sentences.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(100, n_documents=10, n_features=8, n_active=5, seed=1)
    >>> log = rw.clicks.simulate(data, data.X[:, 0], sessions=20)
    >>> learned = rw.clicks.learn(log, data, rw.LambdaMART(rounds=30), models=["position"])
    >>> isinstance(learned, rw.clicks.LearnedRanker), sorted(learned.rankers)
    (True, ['naive', 'position'])
    """

    chosen: str
    reason: str
    rankers: Mapping[str, Any]
    methods: Sequence[Method]
    metric: str
    n_unseen: int
    notes: tuple[str, ...]

    @property
    def ranker(self) -> Any:
        """The chosen ranker, fitted."""
        return self.rankers[self.chosen]

    @property
    def summary(self) -> str:
        return f"Chosen: {self.chosen}. {self.reason}"

    def blocks(self) -> Iterator[Block]:
        columns = [
            Column("method", Kind.TEXT),
            Column("click log-likelihood", Kind.MEASURED),
            Column("perplexity"),
            Column(f"dcg@{CUT} by weighted clicks"),
            Column(f"{self.metric} by human labels"),
            Column("", Kind.TEXT),
        ]
        rows = [(*method, "chosen" if method.name == self.chosen else "") for method in self.methods]
        has_labels = any(method.on_labels is not None for method in self.methods)
        kept = [column for column in range(len(columns)) if has_labels or column != 4]
        yield Table([columns[k] for k in kept], [tuple(row[k] for k in kept) for row in rows], "Held-out data")
        for note in self.notes:
            yield Note(note)
        if self.n_unseen:
            yield Note(f"{counted(self.n_unseen, 'document')} never shown: not learned from.")

    def to_dict(self) -> dict[str, Any]:
        methods = [method._asdict() for method in self.methods]
        facts = {"chosen": self.chosen, "reason": self.reason, "metric": self.metric, "methods": methods}
        return facts | {"unseen": self.n_unseen, "notes": list(self.notes)}


def learn(
    log: ClickLog,
    data: Documents,
    ranker: Ranker | None = None,
    *,
    judged: RankingData | None = None,
    models: Sequence[str] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> LearnedRanker:
    """Learn a ranker from clicks: corrected for position bias where the log supports it, naive where it does not.

    The result has the fitted ranker, its naive twin, what held-out clicks say of both, and why one was chosen.

    Parameters
    ----------
    log
        The log; queries and documents are found in the data by their ids.
    data
        Documents with features, judged or not; labels are not used.
    ranker
        What learns; by default `LambdaMART()`.
    judged
        Documents with human labels, of the same or of other queries. With at least ten queries whose labels tell
        the two rankers apart, these decide.
    models
        Click models to try: position, trust, browsing, dependent. By default all.
    random_state
        Seed of the divisions into parts.
    n_jobs
        Number of threads.

    Examples
    --------
    >>> queries = rw.synthetic.polynomial_queries(300, n_documents=10, n_features=8, n_active=5, seed=1)
    >>> data, new = rw.split_queries(queries, 0.5, 0.5)
    >>> log = rw.clicks.simulate(data, data.X[:, 0], sessions=20)
    >>> learned = rw.clicks.learn(log, data, rw.LambdaMART(rounds=30), models=["position"])
    >>> learned.chosen
    'position'
    >>> {name: round(ranker.score(new), 2) for name, ranker in learned.rankers.items()}
    {'naive': 0.76, 'position': 0.95}
    """
    require_type(log, ClickLog, "learn takes a ClickLog")
    require_type(data, Documents, "learn takes Documents or RankingData")
    ranker = LambdaMART(n_jobs=n_jobs) if ranker is None else ranker
    if judged is not None:
        require_type(judged, RankingData, "judged must be RankingData, documents with human labels")
    if log.n_clicks == 0:
        raise InputError("The log has no clicks, from which nothing can be learned.")
    if log.max_position == 1:
        raise InputError(
            "All impressions are at position 1: a log without positions has no position bias to correct."
        )
    examined = _Models.fit(log, data, models or list(CORRECTIONS), random_state, n_jobs)
    naive = click_judgements(log, data, DocumentRates.fit(ClickCounts.of(log)))
    labels, truth, gains = {NAIVE: naive.data}, naive.data, None
    if not examined.doubt:
        taught = examined.model.by_features() if isinstance(examined.model, FeatureModel) else examined.model
        labels[examined.best] = click_judgements(log, data, taught).data
        truth = click_judgements(log, data, examined.model).data  # what users did, whatever features predict
        gains = weighted_clicks(examined.model, log, data)[naive.rows]
    measured = _Measured.of(ranker, labels, truth, gains, judged, random_state)
    chosen, reason = measured.choice(examined)
    fitted = {name: copied(ranker, measured.rounds[name]).fit(each) for name, each in labels.items()}
    methods = [
        Method(name, *predicted, measured.on_clicks.get(name), measured.on_labels.get(name))
        for name, predicted in examined.predicted.items()
    ]
    notes = tuple(dict.fromkeys((*naive.model.notes, *examined.model.notes)))
    return LearnedRanker(chosen, reason, fitted, methods, str(ranker.metric), naive.n_unseen, notes)


class _Models(NamedTuple):
    """Log-likelihood per held-out list and perplexity by method, the best model of the whole log, and doubt."""

    predicted: dict[str, tuple[float, float]]
    best: str
    model: ClickModel
    doubt: str

    @classmethod
    def fit(cls, log: ClickLog, data: Documents, names: Sequence[str], seed: int, n_jobs: int | None) -> _Models:
        """Fit the models to three quarters of the sessions, and the best one to all."""
        for name in names:
            if name not in CORRECTIONS:
                raise InputError(f"There is no correction {name!r}{nearest(name, CORRECTIONS)}")
        train, test = log.split(random_state=seed)
        if train.n_clicks == 0 or test.n_clicks == 0:
            raise InputError("The log has too few sessions with clicks to hold some of them out.")
        counts = ClickCounts.of(train)
        models: dict[str, ClickModel] = {NAIVE: DocumentRates.fit(counts)}
        first: FeatureModel | None = None
        for name in names:
            models[name] = fitted = _fitted(name, counts, data, first, seed, n_jobs)
            first = fitted if first is None and isinstance(fitted, FeatureModel) else first
        by_list = {name: _by_list(model, test) for name, model in models.items()}
        best = _simplest_of_best({name: by_list[name] for name in names})
        started = models[best]
        after = started if isinstance(started, FeatureModel) else None
        model = _fitted(best, ClickCounts.of(log), data, after, seed, n_jobs)
        perplexities = {name: PredictedClicks.of(each, test).perplexity for name, each in models.items()}
        predicted = {name: (float(by_list[name].mean()), perplexities[name]) for name in models}
        return cls(predicted, best, model, _doubt(model, by_list[best] - by_list[NAIVE]))


def _fitted(
    name: str, counts: ClickCounts, data: Documents, after: FeatureModel | None, seed: int, n_jobs: int | None
) -> ClickModel:
    kind = CORRECTIONS[name]
    fitted: ClickModel = (
        kind.fit_features(counts, data, after=after, with_errors=False, random_state=seed, n_jobs=n_jobs)
        if issubclass(kind, FeatureModel)
        else kind.fit(counts)
    )
    return fitted


def _by_list(model: ClickModel, log: ClickLog) -> Doubles:
    """Return the log-likelihood of the clicks of each list."""
    return np.asarray(np.add.reduceat(click_logarithms(model.conditional(log), log), log.offsets[:-1]))


def _simplest_of_best(by_list: Mapping[str, Doubles]) -> str:
    """Return the first model that is within a standard error of the best."""
    best = max(by_list, key=lambda name: float(by_list[name].mean()))
    for name, values in by_list.items():
        behind = by_list[best] - values
        if behind.mean() <= behind.std() / np.sqrt(len(behind)):
            return name
    return best


def _doubt(model: ClickModel, ahead: Doubles) -> str:
    """Return why clicks should not be corrected by a model, in a sentence; nothing if they should."""
    if isinstance(model, FeatureModel) and not model.is_biased:
        return "Clicks show no position bias beyond what features explain, so there is nothing to correct."
    if isinstance(model, FeatureModel) and not model.is_identified:
        return (
            "This log cannot tell position bias from relevance, so that correcting might do harm: log two "
            "rankers, or a few lists in random order."
        )
    if ahead.mean() <= 0:
        return "No click model predicts held-out clicks better than click rates do, so none is trusted."
    return ""


def weighted_clicks(model: ClickModel, log: ClickLog, data: Documents) -> Doubles:
    """Return the clicks on each document, without those by trust, per expected examination.

    These are inverse propensity weights with clipping, unbiased if the model of examination is right: a document
    that is hardly ever examined counts 0, or much in the few logs in which it is clicked.
    """
    rows, (slope, intercept) = log.rows_in(data), model.affine(log)
    known = rows >= 0
    clicks, examined = (
        np.bincount(rows[known], each[known], minlength=len(data)) for each in (log.clicked - intercept, slope)
    )
    return np.asarray(clicks / np.maximum(examined, LEAST_EXAMINED))


class _Measured(NamedTuple):
    """Values per held-out query of each method, by weighted clicks and human labels, and rounds to fit."""

    clicks: dict[str, Doubles]
    labels: dict[str, Doubles]
    rounds: dict[str, int | None]

    @classmethod
    def of(
        cls,
        ranker: Ranker,
        labels: Mapping[str, RankingData],
        truth: RankingData,
        gains: Doubles | None,
        judged: RankingData | None,
        seed: int,
    ) -> _Measured:
        """Fit rankers to two thirds of the queries in turn; gains of documents, if known, measure the others."""
        n_folds = min(FOLDS, len(truth.groups))
        if n_folds < 2:
            raise InputError("The log has a single query; a choice needs others to compare rankers on.")
        fold = np.random.default_rng(seed).permutation(len(truth.groups)) % n_folds
        clicks, human, rounds = ({name: list[Any]() for name in labels} for _ in range(3))
        for number in range(n_folds):
            outside, rows = (
                np.flatnonzero(fold != number),
                np.flatnonzero(fold[truth.groups.query_of_row] == number),
            )
            test = truth.take(rows)
            unseen = None if judged is None else not_among(judged, truth.take_queries(outside))
            for name, each in labels.items():
                # Labels that know what features predict for other queries would ask for too many rounds.
                validation = each.take(rows) if name == NAIVE else test
                fitted = copied(ranker).fit(each.take_queries(outside), validation=validation)
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

    def choice(self, examined: _Models) -> tuple[str, str]:
        """Return the method to use, and why."""
        if examined.doubt:
            return NAIVE, examined.doubt
        has_labels = len(self.labels) > 1 and np.count_nonzero(np.ptp(list(self.labels.values()), axis=0))
        source, values = ("weighted clicks", self.clicks)
        if has_labels >= MIN_HUMAN:
            source, values = ("human labels", self.labels)
        ahead = values[examined.best] - values[NAIVE]
        mean, error = float(ahead.mean()), float(ahead.std()) / np.sqrt(len(ahead))
        compared = f"{difference(mean)} by {source} of {counted(len(ahead), 'held-out query')}"
        if mean > SURE * error:
            return examined.best, f"The {examined.model.name} is ahead of its naive twin by {compared}."
        return NAIVE, f"The {examined.model.name} is not ahead by more than chance: {compared}."


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
