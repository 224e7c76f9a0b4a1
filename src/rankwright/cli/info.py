"""`rankwright info`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from rankwright.cli.inputs import JsonFlag
from rankwright.cli.output import note, show_facts, show_json, show_table, spelled
from rankwright.cli.reading import FORMATS, ReadOptions, read_data, reads_data
from rankwright.models import LinearScorer, QueryFeatureScorer, TreeEnsemble, load
from rankwright.models.format import MAGIC

if TYPE_CHECKING:
    from rankwright.data import RankingData
    from rankwright.models import Scorer

# Facts that are read from the model itself; a file may claim anything under these names.
OWN_FACTS = ("kind", "features", "weights", "trees", "importances")
SHOWN_FEATURES = 20


@reads_data
def info(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help=f"Model file, or file of judged documents ({FORMATS})."),
    ],
    reading: ReadOptions,
    json: JsonFlag = False,
) -> None:
    """Describe a model file or a file of judged documents.

    Example:

        rankwright info model.rw
    """
    facts = _model_facts(load(file)) if _is_model(file) else _data_facts(read_data(file, reading))
    if json:
        show_json(facts)
        return
    importances = facts.pop("importances", None)
    if isinstance(facts.get("parameters"), dict):
        facts["parameters"] = {name: _spelled(value) for name, value in facts["parameters"].items()}
    show_facts(facts)
    if importances:
        _show_importances(importances)


def _is_model(file: Path) -> bool:
    try:
        with file.open("rb") as content:
            return content.read(len(MAGIC)) == MAGIC
    except OSError:
        return False  # reading it as data gives the error message


def _model_facts(scorer: Scorer) -> dict[str, Any]:
    about = {name: fact for name, fact in scorer.about.items() if name not in OWN_FACTS}
    facts: dict[str, Any] = {"kind": scorer.kind, "features": scorer.n_features, **about}
    inner = scorer.inner if isinstance(scorer, QueryFeatureScorer) else scorer
    if isinstance(inner, LinearScorer):
        facts["weights"] = _weights(scorer, inner)
    if isinstance(inner, TreeEnsemble):
        facts["trees"] = inner.n_trees
        facts["importances"] = _importances(scorer, inner)
    return facts


def _spelled(value: Any) -> str:
    """Return a saved parameter as `--set` takes it; a model file holds a tuple as Python writes it."""
    text = spelled(value)
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        return spelled([part.strip("' ") for part in text[1:-1].split(",") if part])
    return text


def _column_name(scorer: Scorer, column: int) -> str:
    """Return the name of a column that is scored; one computed within the query also names its kind.

    A feature without a name has its number, counted from 1 as in LETOR files.
    """
    kind, feature = divmod(column, scorer.n_features)
    name = str(feature + 1) if scorer.feature_names is None else scorer.feature_names[feature]
    if not isinstance(scorer, QueryFeatureScorer) or (scorer.raw and kind == 0):
        return name
    return f"{name} {scorer.columns[kind - scorer.raw].value}"


def _importances(scorer: Scorer, trees: TreeEnsemble) -> dict[str, dict[str, float]]:
    """Return total gain and number of splits of the columns that are split on, the highest gain first."""
    # Only of these columns: a small file may claim millions of features.
    used, place = np.unique(trees.feature, return_inverse=True)
    gain, splits = np.bincount(place, trees.gain), np.bincount(place)
    return {
        _column_name(scorer, int(used[one])): {"gain": float(gain[one]), "splits": int(splits[one])}
        for one in np.argsort(-gain, kind="stable")
    }


def _show_importances(importances: dict[str, dict[str, float]]) -> None:
    rows = [(name, f"{one['gain']:,.6g}", f"{one['splits']:,}") for name, one in importances.items()]
    show_table(("feature", "gain", "splits"), rows[:SHOWN_FEATURES])
    if len(rows) > SHOWN_FEATURES:
        note(f"and {len(rows) - SHOWN_FEATURES} more; --json lists all")


def _weights(scorer: Scorer, linear: LinearScorer) -> dict[str, float]:
    """Return the weights other than 0, the largest first."""
    used = linear.used_features
    order = used[np.argsort(-np.abs(linear.weights[used]), kind="stable")]
    return {_column_name(scorer, int(column)): float(linear.weights[column]) for column in order}


def _data_facts(judged: RankingData) -> dict[str, Any]:
    sizes = judged.groups.sizes
    labels, counts = np.unique(judged.y, return_counts=True)
    facts = {
        "documents": len(judged),
        "queries": len(judged.groups),
        "features": judged.n_features,
        "documents_per_query": {
            "minimum": int(sizes.min()),
            "median": float(np.median(sizes)),
            "maximum": int(sizes.max()),
        },
        "missing_values": int(np.isnan(judged.X).sum()),
        "constant_features": _constant_features(judged),
        "queries_with_one_label": int(_queries_with_one_label(judged)),
    }
    if len(labels) <= 20:
        facts["labels"] = {f"{label:g}": int(count) for label, count in zip(labels, counts, strict=True)}
    else:
        facts["labels"] = {"minimum": float(labels[0]), "maximum": float(labels[-1]), "distinct": len(labels)}
    return facts


def _constant_features(judged: RankingData) -> int:
    """Return the number of features with at most one distinct value, missing values aside."""
    lowest, highest = np.fmin.reduce(judged.X), np.fmax.reduce(judged.X)
    return int(((lowest == highest) | np.isnan(lowest)).sum())


def _queries_with_one_label(judged: RankingData) -> int:
    return sum(np.ptp(judged.y[rows]) == 0 for rows in judged.groups)
