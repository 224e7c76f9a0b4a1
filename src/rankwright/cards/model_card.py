"""The model card: what a model is, what it has learned from, how it was chosen, and what it cannot do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.base.wording import counted, metric_value
from rankwright.models.combination import Combination
from rankwright.models.nested_scorers import WrappingScorer
from rankwright.rankers.parameters.spelling import spelled
from rankwright.reports.blocks import Facts, Note, Text
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.models.scorer import Scorer
    from rankwright.reports.blocks import Block

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


@dataclass(frozen=True, eq=False, repr=False)
class ModelCard(Result):
    """What a model is, what it has learned from, how it was chosen, and its limits.

    Parameters
    ----------
    name
        The name of the ranker or system.
    models
        The model; or those of a ranker that was fitted once per fold.
    chosen, expected
        How setting and rounds were chosen, and what to expect on new queries, in words.
    limits
        Sentences that are added to those that hold for every model.
    """

    name: str
    models: tuple[Scorer, ...]
    chosen: str = ""
    expected: str = ""
    limits: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The heading on a page."""
        return f"The model {self.name}"

    @property
    def summary(self) -> str:
        """What the model is."""
        return f"{self.name} is {self.facts()['what']}."

    def facts(self) -> dict[str, str]:
        """Return what is known of the model, by name."""
        first, folds = self.models[0], len(self.models)
        used = [len(model.used_features) for model in self.models]
        rounds = [0 if isinstance(_inner(model), Combination) else model.n_rounds for model in self.models]
        facts = {
            "what": _what(first) + (f"; {counted(folds, 'model')}, one per fold" if folds > 1 else ""),
            "learned from": self._learned_from(),
            "features": _features(first.n_features, used),
            "rounds": _span(rounds) if any(rounds) else "",
            "how chosen": self.chosen,
            "expected on new queries": self.expected or _estimate(first.about),
        }
        return {name: fact for name, fact in facts.items() if fact}

    def blocks(self) -> Iterator[Block]:
        """Yield the facts, the parameters and the limits."""
        yield Facts(self.facts(), below=True)
        if parameters := _parameters_of(self.models):
            yield Note(parameters)
        yield Text(f"Limits: {' '.join((*LIMITS, *self.limits))}")

    def to_dict(self) -> dict[str, Any]:
        """Return name and facts as JSON values."""
        return {"name": self.name, **self.facts()}

    def _learned_from(self) -> str:
        documents = self.models[0].about.get("documents")
        queries = [count for model in self.models if isinstance(count := model.about.get("queries"), int)]
        if len(self.models) > 1 and queries:
            return f"{_span(queries)} queries each"
        if queries and isinstance(documents, int):
            return f"{counted(documents, 'document')} of {counted(queries[0], 'query')}"
        return ""


def _what(model: Scorer) -> str:
    """Return the ranker that made a model, and what it is."""
    inner = _inner(model)
    kind = KINDS.get(inner.kind, inner.kind.replace("_", " "))
    if isinstance(inner, Combination):
        kind = f"a weighted sum of {counted(_n_members(model, inner), 'model')}"
    return f"{model.about['ranker']}: {kind}" if "ranker" in model.about else kind


def _inner(model: Scorer) -> Scorer:
    while isinstance(model, WrappingScorer):
        model = model.inner
    return model


def _n_members(model: Scorer, combination: Combination) -> int:
    """Return the number of members with a weight; those of AutoRanker that share columns are one scorer."""
    members = model.about.get("members")
    rows = [row for row in members if isinstance(row, dict)] if isinstance(members, list) else []
    return sum(bool(row.get("weight")) for row in rows) or len(combination.members)


def _features(given: int, used: Sequence[int]) -> str:
    if min(used) == given:
        return f"{given:,}, all of them used"
    return f"{given:,}, of which {'models use' if len(used) > 1 else 'it uses'} {_span(used)}"


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _parameters_of(models: Sequence[Scorer]) -> str:
    """Return the parameters that all models share, and which of them differ, in a sentence; empty without any."""
    known = [model.about.get("parameters") for model in models]
    settings = [setting for setting in known if isinstance(setting, dict)]
    if len(settings) < len(models) or not settings[0]:
        return ""
    shared = {
        name: value for name, value in settings[0].items() if all(other.get(name) == value for other in settings)
    }
    listed = ", ".join(f"{name} = {spelled(value)}" for name, value in shared.items())
    others = [name for name in settings[0] if name not in shared]
    differing = f" Different from fold to fold: {', '.join(others)}." if others else ""
    return f"Parameters: {listed}.{differing}"


def _estimate(about: Mapping[str, Any]) -> str:
    estimate = about.get("estimate")
    if not isinstance(estimate, dict) or estimate.get("value") is None:
        return ""
    return f"{metric_value(estimate['value'])} {estimate.get('metric', '')}".strip()
