"""A model card: what a model is, what it has learned from, how it was chosen, and what it cannot do."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.charts import bar_chart, line_chart
from rankwright.data.counted import counted
from rankwright.errors import InputError
from rankwright.evaluation.data_sheet import feature_names_of
from rankwright.evaluation.dependence import partial_dependence
from rankwright.metrics import as_metric
from rankwright.pages import Code, Facts, Figure, Figures, Note, Section, Text
from rankwright.rankers.importances import by_name, feature_importances, sample_for_importances
from rankwright.threads import resolve_threads
from rankwright.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.data import RankingData
    from rankwright.evaluation.dependence import Dependence
    from rankwright.metrics import MetricLike
    from rankwright.models import Scorer
    from rankwright.pages import Block

MOST_IMPORTANT = 20  # features of the chart
MOST_CURVES = 6
SMALL = 170  # height of one of several charts side by side
LIMITS = (
    "It ranks documents by the features above and knows nothing else of them.",
    "Its scores order the documents of one query; scores of different queries cannot be compared.",
    "It has learned from these judgements: queries, documents or judges of another kind may need another model.",
)


def model_section(
    name: str, model: Scorer, data: RankingData, *, chosen: str = "", limits: Sequence[str] = ()
) -> Section:
    """Return what a model is, what it has learned from, how it was chosen, and its limits."""
    about = model.about
    facts = {
        "what": f"{about.get('ranker', model.kind)}, a scorer of kind {model.kind}",
        "learned from": _learned_from(about, data),
        "features": f"{model.n_features:,}, of which it uses {len(model.used_features):,}",
        **({"rounds": f"{model.n_rounds:,}"} if model.n_rounds else {}),
        **({"how chosen": chosen} if chosen else {}),
        **_estimate(about),
    }
    blocks: list[Block] = [Facts(facts)]
    parameters = about.get("parameters")
    if isinstance(parameters, dict) and parameters:
        spelled = ", ".join(f"{name} = {value}" for name, value in parameters.items())
        blocks.append(Note(f"Parameters: {spelled}."))
    blocks.append(Text(f"Limits: {' '.join((*LIMITS, *limits))}"))
    return Section(f"The model {name}", blocks)


def _learned_from(about: Mapping[str, Any], data: RankingData) -> str:
    documents, queries = about.get("documents"), about.get("queries")
    if not isinstance(documents, int) or not isinstance(queries, int):
        return f"data with {counted(data.n_features, 'feature')}"
    return f"{counted(documents, 'document')} of {counted(queries, 'query')}"


def _estimate(about: Mapping[str, Any]) -> dict[str, str]:
    found = about.get("estimate")
    if not isinstance(found, dict) or found.get("value") is None:
        return {}
    return {"expected on new queries": f"{found['value']:.4f} {found.get('metric', '')}".strip()}


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
    name: str, model: Scorer, data: RankingData, *, metric: MetricLike = "ndcg@10", n_jobs: int | None = None
) -> Section:
    """Return how much a model uses each feature, and how its score depends on the most important ones."""
    sample, threads = sample_for_importances(model, data), resolve_threads(n_jobs)
    values = feature_importances(model, sample, as_metric(metric), threads)
    names = list(model.feature_names or feature_names_of(data))
    important = {one: value for one, value in by_name(values, names).items() if value > 0}
    title = f"Features of {name}"
    if not important:
        return Section(title, [Text("The model uses no feature.")])
    leading = dict(list(important.items())[:MOST_IMPORTANT])
    caption = "Importance of features; all together have 1. " + _more(len(important) - len(leading))
    chart = bar_chart(leading, "importance", description=f"{caption} The highest is {next(iter(leading))}.")
    order = np.argsort(-values, kind="stable")[: min(MOST_CURVES, len(important))]
    return Section(title, [Figure(chart, caption.strip()), *_curves(model, data, order.tolist(), names, n_jobs)])


def _more(number: int) -> str:
    return (
        f"{counted(number, 'feature')} of lower importance {'is' if number == 1 else 'are'} not drawn."
        if number
        else ""
    )


def _curves(
    model: Scorer, data: RankingData, features: Sequence[int], names: Sequence[str], n_jobs: int | None
) -> list[Block]:
    try:
        found = partial_dependence(model, data, features, n_jobs=n_jobs)
    except InputError:  # a residual model needs the scores that it starts from
        return []
    figures = [_curve(one, names[one.feature]) for one in found]
    meaning = (
        "Mean score as one feature of one document of each query moves from its 2 % to its 98 % quantile, all "
        "else as it is."
    )
    return [Figures(figures), Note(meaning)] if figures else []


def _curve(one: Dependence, name: str) -> Figure:
    points = list(zip(one.values.tolist(), one.scores.tolist(), strict=True))
    trend = "rises" if one.scores[-1] > one.scores[0] else "falls"
    description = f"Mean score by feature {name}: it {trend} from {one.scores[0]:.3g} to {one.scores[-1]:.3g}."
    chart = line_chart({"": points}, name, "mean score", description=description, width=240, height=SMALL)
    return Figure(chart, name)
