"""A model card: what a model is, what it has learned from, how it was chosen, and what it cannot do."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.analyses.dependence import partial_dependence
from rankwright.base.errors import InputError
from rankwright.base.threads import resolve_threads
from rankwright.base.version import __version__
from rankwright.base.wording import counted
from rankwright.cards.data_sheet import feature_names_of
from rankwright.cards.query_browser import models_of
from rankwright.crossval.out_of_fold import HeldOutModels
from rankwright.metrics.parse import as_metric
from rankwright.models.combination import Combination
from rankwright.models.wrapping import WrappingScorer
from rankwright.rankers.shared.importances import by_name, feature_importances, sample_for_importances
from rankwright.reports.charts.bars import bar_chart
from rankwright.reports.charts.lines import line_chart
from rankwright.reports.pages.blocks import Code, Facts, Figure, Figures, Note, Section, Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.analyses.dependence import Dependence
    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.metrics.parse import MetricLike
    from rankwright.models.scorer import Scorer
    from rankwright.reports.pages.blocks import Block

MOST_IMPORTANT = 20  # features of the chart
MOST_CURVES = 6
SMALL = 170  # height of one of several charts side by side
# What a scorer is, by its kind; one that wraps another is what the other is.
KINDS = {
    "trees": "regression trees, whose outputs are added",
    "expected_relevance": "trees that give each label a probability",
    "calibrated": "trees that score each label, calibrated",
    "linear": "a weighted sum of features",
    "network": "a neural network",
    "feature": "a single feature",
    "correction": "a model that is added to other scores",
    "retrieval": "a formula of text retrieval",
}
LIMITS = (
    "It ranks documents by the features above and knows nothing else of them.",
    "Its scores order the documents of one query; scores of different queries cannot be compared.",
    "It has learned from these judgements: queries, documents or judges of another kind may need another model.",
)


def model_section(
    name: str,
    model: Scorer,
    *,
    chosen: str = "",
    expected: str = "",
    limits: Sequence[str] = (),
) -> Section:
    """Return what a model is, what it has learned from, how it was chosen, and its limits.

    Parameters
    ----------
    chosen, expected
        How setting and rounds were chosen, and what to expect on new queries, in words.
    limits
        Sentences that are added to those that hold for every model.
    """
    about = model.about
    facts = {
        "what": _what(model),
        **_given({"learned from": _learned_from(about)}),
        "features": f"{model.n_features:,}, of which it uses {len(model.used_features):,}",
        **({"rounds": f"{model.n_rounds:,}"} if model.n_rounds else {}),
        **_given({"how chosen": chosen, "expected on new queries": expected or _estimate(about)}),
    }
    return _card(name, facts, _parameters_of([model]), limits)


def held_out_model_section(
    name: str, held_out: HeldOutModels, *, chosen: str = "", expected: str = "", limits: Sequence[str] = ()
) -> Section:
    """Return the model card of a ranker that was fitted once per fold."""
    models = held_out.models
    queries = [number for one in models if isinstance(number := one.about.get("queries"), int)]
    used = [len(one.used_features) for one in models]
    facts = {
        "what": f"{_what(models[0])}; {counted(len(models), 'model')}, one per fold",
        **_given({"learned from": f"{_span(queries)} queries each" if queries else ""}),
        "features": f"{models[0].n_features:,}, of which models use {_span(used)}",
        **({"rounds": _span([one.n_rounds for one in models])} if any(one.n_rounds for one in models) else {}),
        **_given({"how chosen": chosen, "expected on new queries": expected}),
    }
    return _card(name, facts, _parameters_of(models), limits)


def _card(name: str, facts: Mapping[str, str], parameters: str, limits: Sequence[str]) -> Section:
    blocks: list[Block] = [Facts(facts, below=True), *([Note(parameters)] if parameters else [])]
    blocks.append(Text(f"Limits: {' '.join((*LIMITS, *limits))}"))
    return Section(f"The model {name}", blocks)


def _given(facts: Mapping[str, str]) -> dict[str, str]:
    return {name: fact for name, fact in facts.items() if fact}


def _what(model: Scorer) -> str:
    """Return the ranker that made a model, and what it is."""
    inner = model
    while isinstance(inner, WrappingScorer):
        inner = inner.inner
    kind = KINDS.get(inner.kind, inner.kind.replace("_", " "))
    if isinstance(inner, Combination):
        kind = f"a weighted sum of {counted(len(inner.members), 'model')}"
    return f"{model.about['ranker']}: {kind}" if "ranker" in model.about else kind


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _parameters_of(models: Sequence[Scorer]) -> str:
    """Return the parameters that all models share, and which of them differ, in a sentence; empty without any."""
    known = [one.about.get("parameters") for one in models]
    settings = [one for one in known if isinstance(one, dict)]
    if len(settings) < len(models) or not settings[0]:
        return ""
    shared = {
        name: value for name, value in settings[0].items() if all(one.get(name) == value for one in settings)
    }
    listed = ", ".join(f"{name} = {value}" for name, value in shared.items())
    others = [name for name in settings[0] if name not in shared]
    differing = f" Different from fold to fold: {', '.join(others)}." if others else ""
    return f"Parameters: {listed}.{differing}"


def _learned_from(about: Mapping[str, Any]) -> str:
    documents, queries = about.get("documents"), about.get("queries")
    if not isinstance(documents, int) or not isinstance(queries, int):
        return ""
    return f"{counted(documents, 'document')} of {counted(queries, 'query')}"


def _estimate(about: Mapping[str, Any]) -> str:
    found = about.get("estimate")
    if not isinstance(found, dict) or found.get("value") is None:
        return ""
    return f"{found['value']:.4f} {found.get('metric', '')}".strip()


def reproduction_section(code: str) -> Section:
    """Return the command or code that makes the same again, and the versions that made it."""
    versions = {
        "rankwright": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "system": f"{platform.system()} {platform.machine()}",
    }
    return Section("How to reproduce", [Code(code), Facts(versions)])


def features_section(
    name: str,
    model: Scorer | HeldOutModels,
    data: RankingData,
    *,
    metric: MetricLike = "ndcg@10",
    n_jobs: int | None = None,
) -> Section:
    """Return how much a model uses each feature, and how its score depends on the most important ones.

    Of held-out models, importances are means over folds, and each document is scored by the model that has not
    seen its query.
    """
    threads = resolve_threads(n_jobs)
    values = np.mean([_importances(*one, data, metric, threads) for one in models_of(model, data)], axis=0)
    names = list(model.feature_names or feature_names_of(data))
    important = {one: value for one, value in by_name(values, names).items() if value > 0}
    title = f"Features of {name}"
    if not important:
        return Section(title, [Text("The model uses no feature.")])
    leading = dict(list(important.items())[:MOST_IMPORTANT])
    over = ", mean over the models of all folds" if isinstance(model, HeldOutModels) else ""
    caption = f"Importance of features{over}; their sum is 1. " + _more(len(important) - len(leading))
    chart = bar_chart(leading, "importance", description=f"{caption} The highest is {next(iter(leading))}.")
    order = np.argsort(-values, kind="stable")[: min(MOST_CURVES, len(important))]
    return Section(title, [Figure(chart, caption.strip()), *_curves(model, data, order.tolist(), names, n_jobs)])


def _importances(
    model: Scorer, rows: NDArray[np.int64], data: RankingData, metric: MetricLike, threads: int
) -> Doubles:
    own = data if len(rows) == len(data) else data.take(rows)
    return feature_importances(model, sample_for_importances(model, own), as_metric(metric), threads)


def _more(number: int) -> str:
    return (
        f"{counted(number, 'feature')} of lower importance {'is' if number == 1 else 'are'} not drawn."
        if number
        else ""
    )


def _curves(
    model: Scorer | HeldOutModels,
    data: RankingData,
    features: Sequence[int],
    names: Sequence[str],
    n_jobs: int | None,
) -> list[Block]:
    try:
        found = partial_dependence(model, data, features, n_jobs=n_jobs)
    except InputError:  # a residual model needs the scores that it starts from
        return []
    figures = [_curve(one, names[one.feature]) for one in found]
    meaning = (
        "Partial dependence: the mean score of some documents if this feature had another value and all their "
        "other features stayed as they are. The curve goes from the 2 % to the 98 % quantile of the feature."
    )
    return [Figures(figures), Note(meaning)] if figures else []


def _curve(one: Dependence, name: str) -> Figure:
    points = list(zip(one.values.tolist(), one.scores.tolist(), strict=True))
    trend = "rises" if one.scores[-1] > one.scores[0] else "falls"
    description = f"Mean score by feature {name}: it {trend} from {one.scores[0]:.3g} to {one.scores[-1]:.3g}."
    chart = line_chart({"": points}, name, "mean score", description=description, width=240, height=SMALL)
    return Figure(chart, name)
