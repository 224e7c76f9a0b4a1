"""Learning a ranker from clicks: one that corrects them for position bias, beside its naive twin, and the choice.

1. Click models with features are fitted to a part of the sessions; the one that predicts the clicks of the others
   best says how users examine results.
2. Two rankers learn: the naive twin from click rates, the other from the attraction that the model estimates; or
   both from impressions, the other with weights by propensity or position.
3. Both rank queries that they did not learn from, and are measured by the clicks there, weighted by inverse
   propensities, or by human labels where there are some. Weights and not the model's attraction: of documents that
   nobody examined, a model knows its prior only, which flatters whoever ranks them first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import counted
from rankwright.clicks.counts import ClickCounts
from rankwright.clicks.judgements import click_judgements
from rankwright.clicks.learning.comparison import CUT, HeldOutQueries, copied
from rankwright.clicks.learning.examined import CORRECTIONS, NAIVE, ExaminedLog, weighted_clicks
from rankwright.clicks.learning.lessons import JUDGEMENTS, WEIGHTS, checked_by, lessons
from rankwright.clicks.log import ClickLog
from rankwright.clicks.models.rates import DocumentRates
from rankwright.data.dataset import Documents, RankingData
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.reports.blocks import Column, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.clicks.judgements import ClickJudgements
    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.blocks import Block


class Method(NamedTuple):
    """A way to learn from clicks, and what held-out data say of it; None where that was not measured."""

    name: str
    log_likelihood: float | None
    perplexity: float | None
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
    by: str = "judgements",
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
    by
        How clicks are corrected: `judgements`, labels by the attraction that a click model estimates, for any
        ranker; `weights`, impressions with inverse propensity weights of the click model, for LambdaMART and
        RankSVM; `unbiased`, impressions whose position bias LambdaMART estimates itself (Hu et al. 2019). The
        naive twin learns from the same without correction.
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
    {'naive': 0.78, 'position': 0.94}
    """
    _check(log, data, judged)
    ranker = LambdaMART(n_jobs=n_jobs) if ranker is None else ranker
    checked_by(by, ranker)
    examined = ExaminedLog.fit(log, data, models or list(CORRECTIONS), random_state, n_jobs)
    naive = click_judgements(log, data, DocumentRates.fit(ClickCounts.of(log)))
    taught = lessons(by, log, data, naive.data, examined)
    truth, gains = _held_out_clicks(examined, naive, log, data)
    measured = HeldOutQueries.of(ranker, taught, naive.data, truth, gains, judged, random_state)
    chosen, reason = NAIVE, examined.doubt
    if not examined.doubt:
        chosen, reason = measured.choice(list(taught)[-1], _described(by, examined))
    fitted = {name: lesson.fitted(copied(ranker, measured.rounds[name])) for name, lesson in taught.items()}
    methods = [_method(name, examined, measured) for name in dict.fromkeys((*examined.predicted, *taught))]
    notes = tuple(dict.fromkeys((*naive.model.notes, *examined.model.notes)))
    return LearnedRanker(chosen, reason, fitted, methods, str(ranker.metric), naive.n_unseen, notes)


def _held_out_clicks(
    examined: ExaminedLog, naive: ClickJudgements, log: ClickLog, data: Documents
) -> tuple[RankingData, Doubles | None]:
    """Return what users did, whatever features predict: judgements, and gains by weighted clicks."""
    if examined.doubt:
        return naive.data, None
    gains = weighted_clicks(examined.model, log, data)[naive.rows]
    return click_judgements(log, data, examined.model).data, gains


def _method(name: str, examined: ExaminedLog, measured: HeldOutQueries) -> Method:
    likelihood, perplexity = examined.predicted.get(name, (None, None))
    return Method(name, likelihood, perplexity, measured.on_clicks.get(name), measured.on_labels.get(name))


def _check(log: ClickLog, data: Documents, judged: RankingData | None) -> None:
    require_type(log, ClickLog, "learn takes a ClickLog")
    require_type(data, Documents, "learn takes Documents or RankingData")
    if judged is not None:
        require_type(judged, RankingData, "judged must be RankingData, documents with human labels")
    if log.n_clicks == 0:
        raise InputError("The log has no clicks, from which nothing can be learned.")
    if log.max_position == 1:
        raise InputError(
            "All impressions are at position 1: a log without positions has no position bias to correct."
        )


def _described(by: str, examined: ExaminedLog) -> str:
    """Return what corrects the clicks."""
    if by == JUDGEMENTS:
        return f"The {examined.model.name}"
    return f"The {examined.model.name} as weights" if by == WEIGHTS else "Unbiased LambdaMART"
