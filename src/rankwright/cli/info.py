"""`rankwright info`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from rankwright.cli.inputs import JsonFlag, read_data
from rankwright.cli.output import note, show_facts, show_json, show_table
from rankwright.models import LinearScorer, QueryFeatureScorer, TreeEnsemble, load
from rankwright.models.format import MAGIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.data import RankingData
    from rankwright.models import Scorer

# What is told from the model itself; a file may say anything of itself under these names.
SEEN = ("kind", "features", "weights", "trees", "importances")
SHOWN_FEATURES = 20


def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A model file, or a file of judged documents.")],
    json: JsonFlag = False,
) -> None:
    """Tell what a model is made of, or what judged data hold.

    Example:

        rankwright info model.rw
    """
    facts = _model_facts(load(file)) if _is_model(file) else _data_facts(read_data(file))
    if json:
        show_json(facts)
        return
    importances = facts.pop("importances", None)
    show_facts(facts)
    if importances:
        _show_importances(importances)


def _is_model(file: Path) -> bool:
    try:
        with file.open("rb") as content:
            return content.read(len(MAGIC)) == MAGIC
    except OSError:
        return False  # reading it as data says what is wrong


def _model_facts(scorer: Scorer) -> dict[str, Any]:
    about = {name: fact for name, fact in scorer.about.items() if name not in SEEN}
    facts: dict[str, Any] = {"kind": scorer.kind, "features": scorer.n_features, **about}
    inner = scorer.inner if isinstance(scorer, QueryFeatureScorer) else scorer
    if isinstance(inner, LinearScorer):
        facts["weights"] = _weights(inner, _column_names(scorer))
    if isinstance(inner, TreeEnsemble):
        facts["trees"] = inner.n_trees
        facts["importances"] = _importances(inner, _column_names(scorer))
    return facts


def _names(scorer: Scorer) -> Sequence[str]:
    """Return the features' names, or their numbers from 1 as in LETOR files."""
    return scorer.feature_names or [str(number) for number in range(1, scorer.n_features + 1)]


def _column_names(scorer: Scorer) -> list[str]:
    """Return the names of the columns that are scored: those made within the query say their kind."""
    names = _names(scorer)
    if not isinstance(scorer, QueryFeatureScorer):
        return [*names]
    made = (f"{name} {kind.value}" for kind in scorer.columns for name in names)
    return [*names, *made] if scorer.raw else [*made]


def _importances(trees: TreeEnsemble, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return gain and splits of the columns that are split on, the highest gain first."""
    gain, splits = trees.importances("gain"), trees.importances("splits")
    used = trees.used_features
    order = used[np.argsort(-gain[used], kind="stable")]
    return {names[column]: {"gain": float(gain[column]), "splits": int(splits[column])} for column in order}


def _show_importances(importances: dict[str, dict[str, float]]) -> None:
    rows = [(name, f"{one['gain']:,.6g}", f"{one['splits']:,}") for name, one in importances.items()]
    show_table(("feature", "gain", "splits"), rows[:SHOWN_FEATURES])
    if len(rows) > SHOWN_FEATURES:
        note(f"and {len(rows) - SHOWN_FEATURES} more; --json gives all")


def _weights(scorer: LinearScorer, names: Sequence[str]) -> dict[str, float]:
    """Return the columns that count, the weightiest first."""
    used = np.flatnonzero(scorer.weights)
    order = used[np.argsort(-np.abs(scorer.weights[used]), kind="stable")]
    return {names[feature]: float(scorer.weights[feature]) for feature in order}


def _data_facts(judged: RankingData) -> dict[str, Any]:
    sizes = judged.groups.sizes
    labels, counts = np.unique(judged.y, return_counts=True)
    facts = {
        "documents": len(judged),
        "queries": len(judged.groups),
        "features": judged.n_features,
        "documents_a_query": {
            "least": int(sizes.min()),
            "median": float(np.median(sizes)),
            "most": int(sizes.max()),
        },
        "missing_values": int(np.isnan(judged.X).sum()),
        "constant_features": _constant_features(judged),
        "queries_with_one_label": int(_queries_with_one_label(judged)),
    }
    if len(labels) <= 20:
        facts["labels"] = {f"{label:g}": int(count) for label, count in zip(labels, counts, strict=True)}
    else:
        facts["labels"] = {"least": float(labels[0]), "most": float(labels[-1]), "different": len(labels)}
    return facts


def _constant_features(judged: RankingData) -> int:
    """Return how many features have one value at most; missing values are none."""
    lowest, highest = np.fmin.reduce(judged.X), np.fmax.reduce(judged.X)
    return int(((lowest == highest) | np.isnan(lowest)).sum())


def _queries_with_one_label(judged: RankingData) -> int:
    return sum(np.ptp(judged.y[rows]) == 0 for rows in judged.groups)
