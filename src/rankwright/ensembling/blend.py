"""The exact best combination of rankers (Wu, Burges, Svore & Gao, Information Retrieval 2010, section 4)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.resources import resolve_threads
from rankwright.base.version import __version__
from rankwright.base.wording import metric_value
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.groups import checked_scores
from rankwright.ensembling.line_search import LineSearch, refined_in_turn
from rankwright.ensembling.metric_curve import SAME, MetricCurve, odds_weights
from rankwright.ensembling.mixtures import weighted_sum
from rankwright.metrics.catalogue import MetricLike, as_metric
from rankwright.metrics.gain import NDCG
from rankwright.models.combination import Combination
from rankwright.models.other_libraries import scores_by
from rankwright.models.scorer import Scorer, scorer_of
from rankwright.reports.blocks import Column, Figure, Kind, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles
    from rankwright.metrics.base import Metric
    from rankwright.models.serialisation import JSON
    from rankwright.reports.charts.chart import Chart

FORMS = {"convex": (0.0, 1.0), "sum": (0.0, np.inf)}
"""The forms of a combination, with the default range of alpha."""

HIGHEST_SCORE = 1e300  # beyond it, differences of scores may not be finite


@dataclass(frozen=True, eq=False, repr=False)
class Blend(Result):
    """The best combination of rankers, its metric, and the metric of all other combinations of two.

    Parameters
    ----------
    weights
        The weight of each ranker.
    value
        The metric of the combination on the data that chose it.
    alone
        The metric of each ranker alone.
    alpha, curve
        The best alpha of two rankers, and the metric for every alpha; None for more than two.
    constant
        Whether the metric is the same for every alpha and so cannot choose one.
    metric
        The metric that was maximised.
    model_
        The combination as a scorer; None if one of the rankers is a column of scores or another library's model.
    rankers
        The rankers that were combined.

    Examples
    --------
    >>> judged = rw.RankingData([[3, 0], [2, 2], [0, 3]], [0, 1, 0], ["hats"] * 3)
    >>> mix = rw.blend(judged.X[:, 0], judged.X[:, 1], on=judged, metric="mrr")
    >>> mix.weights, mix.value, mix.alone
    ((0.5, 0.5), 1.0, (0.5, 0.5))
    >>> mix.curve(0.9)  # the metric if the second ranker had weight 0.9
    0.5
    """

    takes_documents: ClassVar[bool] = True  # predict looks at names of features and at query ids itself

    weights: tuple[float, ...]
    value: float
    alone: tuple[float, ...]
    alpha: float | None
    curve: MetricCurve | None
    constant: bool
    metric: Metric
    model_: Scorer | None
    rankers: tuple[Any, ...]

    @property
    def summary(self) -> str:
        if self.constant:
            value = metric_value(self.value)
            return f"{self.metric} is {value} for every alpha, so these data cannot choose the weights."
        weights = ", ".join(f"{weight:.4g}" for weight in self.weights)
        alone = ", ".join(map(metric_value, self.alone))
        return f"Weights {weights} give {self.metric} {metric_value(self.value)}; alone {alone}."

    def blocks(self) -> Iterator[Figure | Table]:
        if self.curve is not None:
            yield Figure(self.chart, f"{self.metric} by alpha; the alpha of the blend is marked.")
        columns = [Column("ranker", Kind.TEXT), Column("weight", Kind.NUMBER), Column(f"{self.metric} alone")]
        names = [f"{number} {type(ranker).__name__}" for number, ranker in enumerate(self.rankers, start=1)]
        yield Table(columns, list(zip(names, self.weights, self.alone, strict=True)))

    def to_dict(self) -> dict[str, Any]:
        """Return weights and values as JSON values, without the rankers."""
        return {
            "metric": str(self.metric),
            "value": self.value,
            "alpha": self.alpha,
            "constant": self.constant,
            "weights": list(self.weights),
            "alone": list(self.alone),
            "steps": None if self.curve is None else len(self.curve),
        }

    def predict(self, X: Any, qid: ArrayLike | None = None, *, n_jobs: int | None = None) -> Doubles:
        """Return one score per document, like `Scorer.predict`; other libraries' models need query ids too."""
        if self.model_ is not None:
            return self.model_.predict(X, qid, n_jobs=n_jobs)
        used = [(ranker, weight) for ranker, weight in zip(self.rankers, self.weights, strict=True) if weight]
        if not all(hasattr(ranker, "predict") for ranker, _ in used):
            raise InputError(
                "This blend has no model, because columns of scores were combined: apply blend.weights to the "
                "scores of new documents."
            )
        documents, threads = _documents(X, qid), resolve_threads(n_jobs)
        columns = [_scores_of(ranker, n, documents, threads) for n, (ranker, _) in enumerate(used, start=1)]
        return weighted_sum(columns, [weight for _, weight in used])

    def chart(self) -> Chart:
        """Return the metric by alpha, with the alpha of the blend marked."""
        if self.curve is None or self.alpha is None:
            raise InputError("Only a blend of two rankers has a curve to draw.")
        return self.curve.chart(self.alpha, str(self.metric))


def blend(
    *rankers: Any,
    on: RankingData,
    metric: MetricLike = NDCG(k=10),  # noqa: B008  # a frozen value
    form: str = "convex",
    low: float | None = None,
    high: float | None = None,
    n_jobs: int | None = None,
    on_step: Callable[[float], None] | None = None,
) -> Blend:
    """Return the combination of rankers with the highest metric.

    For two rankers this is the exact optimum: all rankings that any alpha gives are compared. For more than two,
    each weight in turn is set to its best value until nothing improves, which need not reach the optimum.

    Parameters
    ----------
    rankers
        Two or more fitted rankers, scorers, other libraries' models with `predict`, or columns of scores of the
        documents.
    on
        Judged documents that choose the weights; preferably not those that the rankers were trained on.
    metric
        The metric to maximise, its name, or a function of labels in ranked order.
    form
        `"convex"`: (1 - alpha) a + alpha b. `"sum"`: a + alpha b, where alpha may be negative if `low` is. With
        more than two rankers: non-negative weights with sum 1, or weight 1 for the first and `low` to `high` for
        the others.
    low, high
        The range of alpha: by default 0 to 1 for `"convex"`, 0 to infinity for `"sum"`.
    n_jobs
        Number of threads, None for all that are available; the result does not depend on it.
    on_step
        Called with the metric after each step of a search over more than two rankers.

    Examples
    --------
    >>> train, valid = rw.split_queries(rw.synthetic.gaussian_queries(20, spread=(1, 1)), 0.5, 0.5)
    >>> trees, linear = rw.MART(rounds=5).fit(train), rw.AdaRank("map").fit(train)
    >>> mix = rw.blend(trees, linear, on=valid, metric="map")
    >>> mix.value > max(mix.alone)
    True
    >>> rw.save(mix, "mix.rw")
    """
    if not isinstance(on, RankingData):
        raise InputError(f"on must be RankingData, not {type(on).__name__}.")
    if len(rankers) < 2:
        raise InputError(f"blend takes at least two rankers, not {len(rankers)}.")
    measured = as_metric(metric)
    limits = _checked_range(form, low, high, len(rankers))
    threads = resolve_threads(n_jobs)
    columns = [_scores_of(ranker, number, on, threads) for number, ranker in enumerate(rankers, start=1)]
    search = LineSearch(measured, on.y, on.groups, n_threads=threads)
    choose = _best_of_two if len(rankers) == 2 else _best_of_many
    weights, curve, alpha = choose(search, columns, form, limits, on_step)
    alone = tuple(search.value(column) for column in columns)
    value = search.value(weighted_sum(columns, weights))
    constant = curve is not None and _is_constant(curve, alone, limits, form)
    if constant:
        warnings.warn(f"{measured} is the same for every alpha; alpha is {alpha:g}.", stacklevel=2)
    model = _model(rankers, weights, measured, value)
    return Blend(weights, value, alone, alpha, curve, constant, measured, model, rankers)


Chosen = tuple[tuple[float, ...], MetricCurve | None, float | None]


def _best_of_two(
    search: LineSearch,
    columns: Sequence[Doubles],
    form: str,
    limits: tuple[float, float],
    _on_step: Callable[[float], None] | None,
) -> Chosen:
    s, t = columns
    if form == "sum":
        curve = search.curve(s, t, low=limits[0], high=limits[1])
        alpha, value = search.settle(curve, lambda alpha: weighted_sum(columns, (1.0, alpha)))
        inner = ((1.0, alpha), value)
    else:  # by odds = alpha / (1 - alpha): alphas may be too close to 1 to tell apart, odds are not
        by_odds = search.curve(s, t, low=_odds(limits[0]), high=_odds(limits[1]))
        odds, value = search.settle(by_odds, lambda odds: weighted_sum(columns, odds_weights(odds)), odds=True)
        curve, inner = by_odds.convex(), (odds_weights(odds), value)
    # A ranker alone, with its own ties, belongs to no interval; if it is as good, it is simpler.
    alone = [((1.0 - end, end), search.value(columns[int(end)])) for end in _ends_alone(limits, form)]
    candidates = [*alone, inner]
    best = max(value for _, value in candidates)
    weights = next(weights for weights, value in candidates if value >= best - SAME)
    return weights, curve, weights[1]


def _best_of_many(
    search: LineSearch,
    columns: Sequence[Doubles],
    form: str,
    limits: tuple[float, float],
    on_step: Callable[[float], None] | None,
) -> Chosen:
    if form == "sum":
        start, turns, (low, high) = 0, range(1, len(columns)), limits
    else:
        start = int(np.argmax([search.value(column) for column in columns]))
        turns, low, high = range(len(columns)), 0.0, np.inf
    weights = np.eye(len(columns))[start]
    if form == "sum":
        weights[1:] = np.clip(0.0, low, high)
    refined = refined_in_turn(search, columns, weights, turns=turns, low=low, high=high, on_step=on_step)
    total = 1.0 if form == "sum" else float(refined.weights.sum())
    return tuple((refined.weights / total).tolist()), None, None


def _odds(alpha: float) -> float:
    return alpha / (1.0 - alpha) if alpha < 1.0 else np.inf


def _ends_alone(limits: tuple[float, float], form: str) -> list[float]:
    """Return the alphas in the range at which a single ranker remains: 0 the first, 1 the second."""
    ends = [0.0] if limits[0] <= 0.0 <= limits[1] else []
    return [*ends, 1.0] if form == "convex" and limits[1] == 1.0 else ends


def _is_constant(curve: MetricCurve, alone: Sequence[float], limits: tuple[float, float], form: str) -> bool:
    """Return whether the metric is the same for every alpha in the range, including its ends."""
    ends = [alone[int(end)] for end in _ends_alone(limits, form)]
    return bool(np.ptp([curve.values.min(), curve.values.max(), *ends]) <= SAME)


def _checked_range(form: str, low: float | None, high: float | None, n_rankers: int) -> tuple[float, float]:
    if form not in FORMS:
        raise InputError(f"{parameter('form')} must be 'convex' or 'sum', not {form!r}.")
    lowest, highest = FORMS[form]
    ends = (lowest if low is None else low, highest if high is None else high)
    numbers = all(isinstance(end, int | float | np.number) and not isinstance(end, bool) for end in ends)
    if not numbers or not ends[0] < ends[1]:
        names = f"{parameter('low')} must be a number below {parameter('high')}"
        raise InputError(f"{names}, not {ends[0]!r} and {ends[1]!r}.")
    if form == "convex" and (ends[0] < 0.0 or ends[1] > 1.0):
        raise InputError(
            f"A convex combination has alpha between 0 and 1, not {ends[0]:g} to {ends[1]:g}; use "
            f"{parameter('form')}='sum'."
        )
    if form == "convex" and n_rankers > 2 and ends != (0.0, 1.0):
        raise InputError(
            f"{parameter('low')} and {parameter('high')} limit the weights of more than two rankers only with "
            f"{parameter('form')}='sum'."
        )
    return float(ends[0]), float(ends[1])


def _documents(X: Any, qid: ArrayLike | None) -> Documents:
    if isinstance(X, Documents):
        return X
    if qid is None:
        raise InputError("This blend needs query ids, since it has models of other libraries: give qid.")
    return Documents(X, qid)


def _scores_of(ranker: Any, number: int, on: Documents, n_threads: int) -> Doubles:
    """Return a ranker's scores of the documents, or the given column of scores."""
    try:
        given = scores_by(ranker, on, n_threads=n_threads) if hasattr(ranker, "predict") else ranker
        scores = checked_scores(given, len(on))
    except InputError as error:
        raise InputError(f"Ranker {number}: {error}") from None
    large = ~(np.abs(scores) <= HIGHEST_SCORE)
    if large.any():
        raise InputError(f"Ranker {number}: the score of row {int(large.argmax())} is too large to combine.")
    return scores


def _model(rankers: Sequence[Any], weights: Sequence[float], metric: Metric, value: float) -> Scorer | None:
    used = [(scorer_of(ranker), weight) for ranker, weight in zip(rankers, weights, strict=True) if weight]
    members = tuple(scorer for scorer, _ in used if isinstance(scorer, Scorer))
    if len(members) < len(used):
        return None
    facts: dict[str, JSON] = {
        "ranker": "blend",
        "metric": str(metric),
        "value": value,
        "rankwright": __version__,
        "members": {
            f"{number} {member.about.get('ranker', member.kind)}": weight
            for number, (member, (_, weight)) in enumerate(zip(members, used, strict=True), start=1)
        },
    }
    return Combination(members, np.array([weight for _, weight in used]), about=facts)
