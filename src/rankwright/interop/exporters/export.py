"""Models written as files of other libraries and search engines."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.data.input_arrays import checked_feature_names
from rankwright.interop.exporters.c_header import c_header
from rankwright.interop.exporters.engines import elasticsearch_json, ltr_plugin_json, solr_json
from rankwright.interop.exporters.flat_models import Flat, flattened
from rankwright.interop.exporters.lightgbm import lightgbm_text
from rankwright.interop.exporters.onnx import onnx_model
from rankwright.interop.exporters.ranklib import ranklib_text
from rankwright.interop.exporters.target_rules import (
    Missing,
    never_negative,
    require_float32,
    require_same_missing,
    with_finite_thresholds,
)
from rankwright.interop.exporters.vespa import vespa_expression
from rankwright.interop.exporters.xgboost import xgboost_json
from rankwright.models.fitted import scorer_of
from rankwright.models.state import shown
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from rankwright.models.fitted import Fitted
    from rankwright.models.linear import LinearScorer
    from rankwright.models.scorer import Scorer

Version = tuple[int, int]


@dataclass(frozen=True)
class Request:
    """What is to be written: the model as one sum, names of its features, and what the caller asked for."""

    flat: Flat
    names: tuple[str, ...]
    named: bool
    name: str
    missing: bool
    rule: Missing

    def checked(self, model: TreeEnsemble | LinearScorer, target: str) -> TreeEnsemble | LinearScorer:
        """Return a model whose missing values the target treats as we do, in the target's 32-bit numbers."""
        if self.missing:
            require_same_missing(model, self.rule, target)
        return require_float32(model, target) if isinstance(model, TreeEnsemble) else model

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names that the model has, if any."""
        return self.names if self.named else ()


@dataclass(frozen=True)
class Target:
    """A format: its name in messages, the writer, and its rule for missing values by version."""

    title: str
    write: Callable[[Request], str | bytes]
    rule: Callable[[Version | None], Missing] | None = None  # None: no version matters
    names_matter: bool = False
    within_query: bool = False  # takes one query per call
    infinite: bool = False  # takes infinite numbers


def export(
    model: Scorer | Fitted,
    path: str | os.PathLike[str],
    *,
    format: str,  # noqa: A002 (the word of other libraries)
    version: str | None = None,
    name: str | None = None,
    feature_names: Sequence[str] | None = None,
    missing: bool = True,
    non_negative: bool = False,
) -> tuple[str, ...]:
    """Write a model as a file of another library or search engine, and return remarks on it.

    Combinations of trees become one ensemble. What the target cannot hold exactly is refused; targets that sum in
    32 bits give our scores to about 1e-6.

    Parameters
    ----------
    model
        A scorer or a fitted ranker: trees, weights of features, or sums of them; for `onnx` and `c` also
        networks, expected relevance over classes (McRank), and mixtures such as AutoRanker's.
    path
        The file to write, completely or not at all.
    format
        `lightgbm`, `xgboost`, `ranklib`, `elasticsearch` (its own learning to rank), `elasticsearch-ltr` and
        `opensearch-ltr` (the plugins), `solr`, `vespa`, `onnx` or `c`.
    version
        The engine's version, such as `"3.8"`, on which its treatment of missing values depends: needed for
        `opensearch-ltr`; for `solr`, by default 9.2 or later.
    name
        The model's name in the engine, or the prefix of the C functions; by default the file's name.
    feature_names
        The features' names in the engine; by default the model's.
    missing
        Whether values may be missing. If not, a target that treats them differently is no reason to refuse.
    non_negative
        Whether to add a constant to all scores so that none is below 0, which Lucene does not allow.
    """
    scorer = scorer_of(model)
    if scorer is None:
        raise InputError(f"export takes a scorer or a fitted ranker, not this {type(model).__name__}.")
    target = _target(format)
    names, named = _names(scorer, feature_names)
    flat, added = flattened(scorer, target.title, within_query=target.within_query), 0.0
    if flat.trees is not None and not target.infinite:
        flat = replace(flat, trees=with_finite_thresholds(flat.trees))
    if non_negative:
        flat, added = _raised(flat)
    label = re.sub(r"\W+", "_", Path(path).name.split(".")[0]) if name is None else name
    request = Request(flat, names, named, label, missing, _rule(target, format, version))
    content = target.write(request)
    with write_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return tuple(_remarks(scorer, target, request, added))


def _target(name: str) -> Target:
    if name not in TARGETS:
        raise InputError(f"format must be one of {', '.join(TARGETS)}, not {shown(name)}.")
    return TARGETS[name]


def _names(scorer: Scorer, given: Sequence[str] | None) -> tuple[tuple[str, ...], bool]:
    """Return a name for each feature, and whether they are real."""
    if given is not None:
        return checked_feature_names(given, scorer.n_features), True
    if scorer.feature_names is not None:
        return scorer.feature_names, True
    return tuple(f"feature{number}" for number in range(1, scorer.n_features + 1)), False


def _raised(flat: Flat) -> tuple[Flat, float]:
    others = (flat.linear is not None, flat.networks, flat.expected, flat.standardised)
    if flat.trees is None or any(others):
        raise InputError(
            "Only scores of trees alone can be made non-negative; weighted features and networks have no lowest."
        )
    trees, added = never_negative(flat.trees)
    return replace(flat, trees=trees), added


def _rule(target: Target, name: str, version: str | None) -> Missing:
    if target.rule is None:
        if version is not None:
            raise InputError(f"version matters for opensearch-ltr and solr, not for {name}.")
        return Missing.ZERO if name == "ranklib" else Missing.SIDES
    return target.rule(None if version is None else _parsed(version))


def _parsed(version: str) -> Version:
    found = re.fullmatch(r"(\d{1,3})\.(\d{1,3})(\.\d+)*", str(version))
    if found is None:
        raise InputError(f"version must be numbers with dots between them, such as 3.8, not {shown(version)}.")
    return int(found[1]), int(found[2])


def _opensearch(version: Version | None) -> Missing:
    known = "2.19 and 3.2 or later"
    if version is None:
        raise InputError(f"OpenSearch treats missing values differently by version: give version ({known}).")
    if version == (2, 19):
        return Missing.ZERO
    if (3, 2) <= version < (3, 8):
        return Missing.RIGHT
    if (3, 8) <= version < (4, 0):
        return Missing.SIDES
    raise InputError(f"How OpenSearch {version[0]}.{version[1]} treats missing values is not known, only {known}.")


def _solr(version: Version | None) -> Missing:
    if version is not None and not (6, 4) <= version < (11, 0):
        raise InputError(f"Solr {version[0]}.{version[1]} is not known, only 6.4 to 10.")
    return Missing.SIDES if version is None or version >= (9, 2) else Missing.ZERO


def _remarks(scorer: Scorer, target: Target, request: Request, added: float) -> list[str]:
    remarks = []
    if target.names_matter and not request.named:
        remarks.append(
            f"The model has no names of features; they are called feature1 to feature{scorer.n_features}."
        )
    if scorer.categories:
        listed = ", ".join(one.name for one in scorer.categories)
        remarks.append(
            f"These columns hold categories, which the target must encode as rankwright does: {listed}."
        )
    if added:
        remarks.append(f"Scores are higher by {added!r}, so that none is negative.")
    if request.flat.needs_query:
        remarks.append("The model compares the documents of a query: give it one whole query per call.")
    linear = request.flat.linear
    if linear is not None and linear.intercept and target.title in (ES.title, OPENSEARCH.title, SOLR.title):
        remarks.append(f"Scores are lower by the intercept, {linear.intercept!r}; the order is the same.")
    if target is ELASTICSEARCH:
        remarks.append(
            "Features that are no fields of the documents need a query_extractor in "
            "inference_config.learning_to_rank.feature_extractors."
        )
    if target is SOLR and request.missing and request.flat.trees is not None and request.rule is Missing.SIDES:
        remarks.append('Features that may be missing need "defaultValue": "NaN" in the feature store.')
    return remarks


def _write_ranklib(request: Request) -> str:
    return ranklib_text(request.checked(request.flat.single(RANKLIB.title), RANKLIB.title))


def _write_xgboost(request: Request) -> str:
    trees = require_float32(request.flat.trees_only(XGBOOST.title), XGBOOST.title)
    return xgboost_json(trees, request.own_names)


def _write_lightgbm(request: Request) -> str:
    return lightgbm_text(request.flat.trees_only(LIGHTGBM.title), request.own_names)


def _write_elasticsearch(request: Request) -> str:
    return elasticsearch_json(request.flat.trees_only(ELASTICSEARCH.title), request.names)


def _write_plugin(title: str) -> Callable[[Request], str]:
    def write(request: Request) -> str:
        return ltr_plugin_json(request.checked(request.flat.single(title), title), request.names, request.name)

    return write


def _write_solr(request: Request) -> str:
    model = request.checked(request.flat.single(SOLR.title), SOLR.title)
    with_missing = request.missing and request.rule is Missing.SIDES
    return solr_json(model, request.names, request.name, with_missing=with_missing)


def _write_onnx(request: Request) -> bytes:
    return onnx_model(request.flat)


def _write_vespa(request: Request) -> str:
    return vespa_expression(request.flat, request.names)


def _write_c(request: Request) -> str:
    return c_header(request.flat, request.own_names, request.name)


LIGHTGBM = Target("LightGBM", _write_lightgbm, infinite=True)
XGBOOST = Target("XGBoost", _write_xgboost)
RANKLIB = Target("RankLib", _write_ranklib)
ELASTICSEARCH = Target("Elasticsearch", _write_elasticsearch, names_matter=True)
ES = Target("Elasticsearch LTR", _write_plugin("Elasticsearch LTR"), names_matter=True)
OPENSEARCH = Target("OpenSearch LTR", _write_plugin("OpenSearch LTR"), _opensearch, names_matter=True)
SOLR = Target("Solr", _write_solr, _solr, names_matter=True)
ONNX = Target("ONNX", _write_onnx, within_query=True, infinite=True)
VESPA = Target("Vespa", _write_vespa, names_matter=True)
C = Target("C", _write_c, within_query=True, infinite=True)
TARGETS = {
    "lightgbm": LIGHTGBM,
    "xgboost": XGBOOST,
    "ranklib": RANKLIB,
    "elasticsearch": ELASTICSEARCH,
    "elasticsearch-ltr": ES,
    "opensearch-ltr": OPENSEARCH,
    "solr": SOLR,
    "vespa": VESPA,
    "onnx": ONNX,
    "c": C,
}
