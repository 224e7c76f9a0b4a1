"""The features of a model: how much it uses each, and how its score depends on the most important ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.analyses.dependence import partial_dependence
from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import counted
from rankwright.cards.data_sheet import feature_names_of
from rankwright.cards.query_card import models_of
from rankwright.crossval.out_of_fold import HeldOutModels
from rankwright.metrics.catalogue import as_metric
from rankwright.rankers.shared.importances import by_name, feature_importances
from rankwright.reports.blocks import Figure, Figures, Text
from rankwright.reports.charts.bars import bar_chart
from rankwright.reports.charts.lines import line_chart
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.analyses.dependence import Dependence
    from rankwright.data.dataset import RankingData
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.models.scorer import Scorer
    from rankwright.reports.blocks import Block

MAX_SHOWN_FEATURES = 20  # features of the chart
MAX_CURVES = 6
SIZE: dict[str, Any] = {"width": 240, "height": 170}  # of charts side by side

PARTIAL_DEPENDENCE = (
    "Partial dependence: the mean score of some documents if this feature had another value and all their other "
    "features stayed as they are. The curve goes from the 2 % to the 98 % quantile of the feature."
)


@dataclass(frozen=True, eq=False, repr=False)
class FeatureCard(Result):
    """How much a model uses each feature, and how its score depends on the most important ones.

    Parameters
    ----------
    name
        The name of the model.
    importances
        The importance of each feature that the model uses, the highest first; their sum is 1.
    dependence
        Partial dependence on the most important features, by name; empty for a model that cannot score alone.
    held_out
        Whether importances are means over the models of all folds.
    """

    name: str
    importances: Mapping[str, float]
    dependence: Mapping[str, Dependence]
    held_out: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        model: Scorer | HeldOutModels,
        data: RankingData,
        *,
        metric: MetricLike = "ndcg@10",
        n_jobs: int | None = None,
    ) -> FeatureCard:
        """Measure a model on judged documents; held-out models, each on the documents that it has not seen."""
        asked, threads, importances = as_metric(metric), resolve_threads(n_jobs), []
        for member, rows in models_of(model, data):
            own = data if len(rows) == len(data) else data.take(rows)
            sample = _sample(own) if member.total_gain is None else None
            importances.append(feature_importances(member, sample, asked, threads))
        values = np.mean(importances, axis=0)
        names = list(model.feature_names or feature_names_of(data))
        important = {feature: value for feature, value in by_name(values, names).items() if value > 0}
        order = np.argsort(-values, kind="stable")[: min(MAX_CURVES, len(important))]
        try:
            curves = partial_dependence(model, data, order.tolist(), n_jobs=n_jobs) if important else []
        except InputError:  # a residual model needs the scores that it starts from
            curves = []
        by_feature = {names[curve.feature]: curve for curve in curves}
        return cls(name, important, by_feature, held_out=isinstance(model, HeldOutModels))

    @property
    def title(self) -> str:
        """The heading on a page."""
        return f"Features of {self.name}"

    @property
    def summary(self) -> str:
        """The most important feature."""
        if not self.importances:
            return "The model uses no feature."
        used = counted(len(self.importances), "feature")
        return f"{self.name} uses {used}; the most important is {next(iter(self.importances))}."

    def blocks(self) -> Iterator[Block]:
        """Yield the importances, and the curves of partial dependence."""
        if not self.importances:
            yield Text(self.summary)
            return
        leading = dict(list(self.importances.items())[:MAX_SHOWN_FEATURES])
        more = len(self.importances) - len(leading)
        over = ", mean over the models of all folds" if self.held_out else ""
        verb = "is" if more == 1 else "are"
        rest = f" {counted(more, 'feature')} of lower importance {verb} not drawn." if more else ""
        caption = f"Importance of features{over}; their sum is 1.{rest}"
        description = f"{caption} The highest is {next(iter(leading))}."
        yield Figure(partial(bar_chart, leading, "importance", description=description), caption)
        if self.dependence:
            yield Figures([_curve(name, curve) for name, curve in self.dependence.items()], PARTIAL_DEPENDENCE)


def _curve(name: str, curve: Dependence) -> Figure:
    points = list(zip(curve.values.tolist(), curve.scores.tolist(), strict=True))
    first, last = curve.scores[0], curve.scores[-1]
    trend = "rises" if last > first else "falls"
    description = f"Mean score by feature {name}: it {trend} from {first:.3g} to {last:.3g}."
    return Figure(partial(line_chart, {"": points}, name, "mean score", description=description, **SIZE))


def _sample(data: RankingData) -> RankingData:
    from rankwright.rankers.ranker import sample_for_importances  # a page about trees alone needs no ranker

    return sample_for_importances(data)
