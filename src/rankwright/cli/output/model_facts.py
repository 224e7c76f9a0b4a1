"""Facts about models, searchers, indexes and documents, for `rankwright info`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.data.categories import encodings
from rankwright.data.dataset import RankingData
from rankwright.interop.loading import START_BYTES, is_foreign_model
from rankwright.models.linear import LinearScorer
from rankwright.models.model_file import MAGIC
from rankwright.models.nested_scorers import QueryFeatureScorer
from rankwright.models.trees import TreeEnsemble
from rankwright.text.index.index import Index
from rankwright.text.index.index_summary import analyser_facts, summary_of
from rankwright.text.searcher import MAGIC as SEARCHER
from rankwright.text.searcher import Searcher

if TYPE_CHECKING:
    from pathlib import Path

    from rankwright.data.column_roles import Columns
    from rankwright.data.dataset import Documents
    from rankwright.models.scorer import Scorer
    from rankwright.training.binned_data import BinnedData

# Facts that are read from the model itself; a file may claim anything under these names.
OWN_FACTS = ("kind", "features", "categories", "weights", "trees", "importances")


def is_model(file: Path) -> bool:
    """Return whether a file is a model file of rankwright or of another tool."""
    start = _start(file)
    return start.startswith(MAGIC) or is_foreign_model(start)


def is_searcher(file: Path) -> bool:
    """Return whether a file is a searcher of rankwright."""
    return _start(file).startswith(SEARCHER)


def _start(file: Path) -> bytes:
    try:
        with file.open("rb") as content:
            return content.read(START_BYTES)
    except OSError:
        return b""  # reading it as data gives the error message


def index_facts(folder: Path) -> dict[str, Any]:
    """Return the facts of a text index."""
    index = Index.open(folder)
    return {"kind": "text index", **summary_of(index).to_dict(), "analyser": analyser_facts(index)}


def searcher_facts(file: Path) -> dict[str, Any]:
    """Return what is known of a searcher, and of its model."""
    searcher = Searcher.load(file)
    facts = {
        "kind": "searcher",
        "index": str(searcher.index.path),
        "retrieval": str(searcher.retrieval),
        "candidates": searcher.candidates,
    }
    if searcher.model is None:
        return facts
    of_model = model_facts(searcher.model)
    return {**facts, "model": of_model.pop("kind"), **of_model}


def model_facts(scorer: Scorer) -> dict[str, Any]:
    """Return what is known of a model."""
    about = {name: fact for name, fact in scorer.about.items() if name not in OWN_FACTS}
    facts: dict[str, Any] = {"kind": scorer.kind, "features": scorer.n_features}
    if scorer.categories:
        facts["categories"] = encodings(scorer.categories, {name: name for name in scorer.feature_names or ()})
    facts |= about
    inner = scorer.inner if isinstance(scorer, QueryFeatureScorer) else scorer
    if isinstance(inner, LinearScorer):
        facts["weights"] = _weights(scorer, inner)
    if isinstance(inner, TreeEnsemble):
        facts["trees"] = inner.n_trees
        facts["importances"] = _importances(scorer, inner)
    return facts


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
    used, position = np.unique(trees.feature, return_inverse=True)
    gain, splits = np.bincount(position, trees.gain), np.bincount(position)
    return {
        _column_name(scorer, int(used[rank])): {"gain": float(gain[rank]), "splits": int(splits[rank])}
        for rank in np.argsort(-gain, kind="stable")
    }


def _weights(scorer: Scorer, linear: LinearScorer) -> dict[str, float]:
    """Return the weights other than 0, the largest first."""
    used = linear.used_features
    order = used[np.argsort(-np.abs(linear.weights[used]), kind="stable")]
    return {_column_name(scorer, int(column)): float(linear.weights[column]) for column in order}


def binned_facts(binned: BinnedData) -> dict[str, Any]:
    """Return the size of binned data, how they were binned, and from which columns."""
    data = binned.data
    facts = {"binned": True} | _sizes(data) | binned.settings
    if data.categories:
        facts["categories"] = encodings(data.categories, {name: name for name in data.feature_names or ()})
    if data.columns is not None:
        facts["columns"] = _column_facts(data.columns)
    return facts


def _sizes(documents: Documents) -> dict[str, Any]:
    sizes = documents.groups.sizes
    return {
        "documents": len(documents),
        "queries": len(documents.groups),
        "features": documents.n_features,
        "documents_per_query": {
            "minimum": int(sizes.min()),
            "median": float(np.median(sizes)),
            "maximum": int(sizes.max()),
        },
    }


def data_facts(documents: Documents) -> dict[str, Any]:
    """Return the size of the documents, and what stands out."""
    facts = _sizes(documents) | {
        "missing_values": int(np.isnan(documents.X).sum()),
        "constant_features": _constant_features(documents),
    }
    if documents.document_ids is not None:
        facts["repeated_documents"] = len(documents.repeated_rows())
    if documents.columns is not None:
        facts["columns"] = _column_facts(documents.columns)
    if not isinstance(documents, RankingData):
        return facts | {"labels": None}
    return facts | {
        "queries_with_one_label": int(_queries_with_one_label(documents)),
        "labels": _labels(documents),
    }


def _column_facts(columns: Columns) -> dict[str, str]:
    """Return what each column of a table was used for."""
    roles = {name: getattr(columns, name) for name in ("label", "qid", "docid")}
    used = {column: name for name, column in roles.items() if column is not None}
    used |= dict.fromkeys(columns.features, "feature")
    used |= dict.fromkeys(columns.categorical, "categorical") | dict.fromkeys(columns.dates, "date")
    return used | {name: f"not used: {why}" for name, why in columns.not_used.items()}


def _labels(judged: RankingData) -> dict[str, float]:
    labels, counts = np.unique(judged.y, return_counts=True)
    if len(labels) > 20:
        return {"minimum": float(labels[0]), "maximum": float(labels[-1]), "distinct": len(labels)}
    return {f"{label:g}": int(count) for label, count in zip(labels, counts, strict=True)}


def _constant_features(documents: Documents) -> int:
    """Return the number of features with at most one distinct value, missing values aside."""
    lowest, highest = np.fmin.reduce(documents.X), np.fmax.reduce(documents.X)
    return int(((lowest == highest) | np.isnan(lowest)).sum())


def _queries_with_one_label(judged: RankingData) -> int:
    return sum(np.ptp(judged.y[rows]) == 0 for rows in judged.groups)
