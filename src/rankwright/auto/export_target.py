"""Limits a portfolio to rankers whose models, and whose mixture, an export target holds exactly.

What a target holds is known to its exporter alone. Every ranker is fitted for a round on a few queries, which
takes milliseconds, and the exporter is asked whether it would write such models, alone and added up.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.ensembling.mixtures import uniform_weights, within_query
from rankwright.ensembling.pool import fitted_scorer
from rankwright.interop.exporters.export import TARGETS, missing_rule, refusal
from rankwright.interop.exporters.target_rules import Missing
from rankwright.models.combination import Combination
from rankwright.models.linear import LinearScorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.auto.portfolio import Entry
    from rankwright.models.scorer import Scorer
    from rankwright.training.training_set import TrainingSet

PROBE_QUERIES = 4
PER_DOCUMENT = {"query_features": ((),), "scaling": ("global", "none")}
"""Values of parameters with which a score does not depend on the query's other documents, the preferred first."""


class LimitedPortfolio(NamedTuple):
    """The entries that a target holds, why it does not hold the others, and whether it standardises scores."""

    entries: list[Entry]
    left_out: dict[str, str]
    standardises: bool


@dataclass(frozen=True)
class ExportTarget:
    """A format of `export`, and the version of the engine where its treatment of missing values depends on it."""

    format: str
    version: str | None = None

    @classmethod
    def of(cls, text: str) -> ExportTarget:
        """Return the target that a text such as `solr` or `opensearch-ltr:3.8` names."""
        name, _, version = text.partition(":")
        if name not in TARGETS:
            raise InputError(f"{parameter('target')} must be one of {', '.join(TARGETS)}, not {text!r}.")
        try:
            missing_rule(name, version or None)
        except InputError as error:
            example = "3.8" if name == "opensearch-ltr" else "9.2"
            raise InputError(f"{str(error).removesuffix('.')}; for example {name}:{example}.") from None
        return cls(name, version or None)

    @property
    def title(self) -> str:
        """The name of the target in messages."""
        return TARGETS[self.format].title

    def require_values(self, train: TrainingSet) -> None:
        """Refuse missing values if the target does not send each to the side that a split says."""
        rule = missing_rule(self.format, self.version)
        if rule is not Missing.SIDES and _has_missing(train):
            raise InputError(
                f"{self.title} {rule.value}, while rankers learn what missing values mean: replace the missing "
                f"values of these data to train for {self.title}."
            )

    def adapted(self, entries: Sequence[Entry], train: TrainingSet) -> list[Entry]:
        """Return the entries; those that the target refuses compute nothing within the query, if that helps."""
        missing, sample = _has_missing(train), _sample(train)
        adapted, known = [], [_settings(entry) for entry in entries]
        for entry in entries:
            simpler = _per_document(entry)
            probe, failure = _probe(entry, sample)
            refused = failure is None and self.refusal(probe, missing=missing) is not None
            adapted.append(simpler if refused and _settings(simpler) not in known else entry)
        return adapted

    def limit(self, entries: Sequence[Entry], train: TrainingSet, *, mixed: bool = True) -> LimitedPortfolio:
        """Return the entries that the target holds together or, if they are not `mixed`, each alone.

        `mixed` entries are added up, after standardising scores within the query where the target does that.
        """
        missing, sample = _has_missing(train), _sample(train)
        probes, alone = [], []
        for entry in entries:
            probe, failure = _probe(entry, sample)
            probes.append(probe)
            alone.append(failure or self.refusal(probe, missing=missing))
        able = [number for number, reason in enumerate(alone) if reason is None]
        if not able:
            raise InputError(f"{self.title} holds no model of the portfolio: {alone[0]}")
        standardises = self.refusal(_sum([within_query(probes[able[0]])] * 2), missing=missing) is None
        kept = able
        if mixed:
            scaled = list(map(within_query, probes)) if standardises else probes
            groups = [self._together(seed, able, scaled, missing=missing) for seed in able]
            # Costs say where the strength of a portfolio is: a few trees weigh more than as many linear models.
            kept = max(groups, key=lambda numbers: sum(entries[number].cost for number in numbers))
        together = [probes[number] for number in kept]
        reasons = {
            entry.name: alone[number] or str(self.refusal(_sum([*together, probes[number]]), missing=missing))
            for number, entry in enumerate(entries)
            if number not in kept
        }
        return LimitedPortfolio([entries[number] for number in kept], reasons, standardises)

    def refusal(self, scorer: Scorer, *, missing: bool) -> str | None:
        """Return why the target cannot hold a model exactly; None if it can."""
        return refusal(scorer, self.format, self.version, missing=missing)

    def require(self, scorer: Scorer, train: TrainingSet) -> None:
        """Refuse a model that the target cannot hold exactly."""
        if (reason := self.refusal(scorer, missing=_has_missing(train))) is not None:
            raise InputError(reason)

    def _together(self, seed: int, able: Sequence[int], probes: Sequence[Scorer], *, missing: bool) -> list[int]:
        """Return the numbers of an entry and of all that can be added to it, in their order."""
        kept = [seed]
        for number in able:
            wider = [*kept, number]
            if number != seed and self.refusal(_sum([probes[each] for each in wider]), missing=missing) is None:
                kept = wider
        return sorted(kept)


def _has_missing(train: TrainingSet) -> bool:
    return bool(np.isnan(train.data.X).any())


def _sample(train: TrainingSet) -> TrainingSet:
    """Return a few queries to learn from, those with missing values first."""
    data = train.data
    missing = data.groups.reduce(np.add, np.isnan(data.X).sum(axis=1))
    informative = np.flatnonzero(train.labels.varied)
    return train.take_queries(informative[np.argsort(-missing[informative], kind="stable")][:PROBE_QUERIES])


def _per_document(entry: Entry) -> Entry:
    """Return the entry with features as they are, where the target cannot relate them to those of the query."""
    own = entry.ranker.get_params(deep=False)
    changes = {name: value for name, value in PER_DOCUMENT.items() if name in own and own[name] not in value}
    if not changes:
        return entry
    ranker = entry.ranker.unfitted().set_params(**{name: values[0] for name, values in changes.items()})
    return replace(entry, name=entry.name.removesuffix(", columns"), ranker=ranker)


def _settings(entry: Entry) -> tuple[type, dict[str, Any]]:
    """Return what an entry fits, apart from its seed."""
    return type(entry.ranker), entry.ranker.get_params(deep=False) | {"random_state": None}


def _probe(entry: Entry, sample: TrainingSet) -> tuple[Scorer, str | None]:
    """Return a model of an entry's kind, after as few rounds as there can be, or why there is none."""
    ranker = entry.ranker.unfitted()
    if "rounds" in ranker.get_params(deep=False):
        ranker = ranker.set_params(rounds=1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the real fits say it
            return fitted_scorer(ranker, sample, 1, lambda _: None), None
    except InputError as error:
        return LinearScorer(np.zeros(sample.n_features), np.zeros(sample.n_features)), str(error)


def _sum(scorers: Sequence[Scorer]) -> Scorer:
    return Combination(tuple(scorers), uniform_weights(len(scorers)))
