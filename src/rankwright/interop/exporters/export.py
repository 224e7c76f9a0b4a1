"""Models written as files of other libraries and search engines."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.arrays import checked_feature_names
from rankwright.base.errors import InputError, parameter
from rankwright.base.files import write_whole
from rankwright.data.alignment import aligned
from rankwright.data.categories import encodings
from rankwright.data.column_roles import DOCUMENT, QUERY, SCORE
from rankwright.data.writers import write_table
from rankwright.interop.exporters.c_header import c_header
from rankwright.interop.exporters.engines import elasticsearch_json, ltr_plugin_json, solr_json
from rankwright.interop.exporters.lightgbm import lightgbm_text
from rankwright.interop.exporters.onnx import onnx_model
from rankwright.interop.exporters.ranklib import ranklib_text
from rankwright.interop.exporters.scorer_sum import ScorerSum, sum_of_scorers
from rankwright.interop.exporters.target_rules import (
    Missing,
    Version,
    never_negative,
    opensearch_rule,
    parsed_version,
    require_float32,
    require_same_missing,
    solr_rule,
    with_finite_thresholds,
)
from rankwright.interop.exporters.vespa import vespa_expression
from rankwright.interop.exporters.xgboost import xgboost_json
from rankwright.models.scorer import scorer_of
from rankwright.models.serialisation import shown
from rankwright.models.trees import TreeEnsemble
from rankwright.reports.blocks import Text
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rankwright.data.dataset import Documents
    from rankwright.models.linear import LinearScorer
    from rankwright.models.scorer import Fitted, Scorer
    from rankwright.reports.blocks import Block, Section


@dataclass(frozen=True)
class Request:
    """What is to be written: the model as one sum, names of its features, and what the caller asked for."""

    title: str  # of the target
    model: ScorerSum
    names: tuple[str, ...]
    named: bool
    name: str
    missing: bool
    rule: Missing
    columns: dict[str, dict[str, Any]]  # encodings of categories by the numbers of features

    def trees(self) -> TreeEnsemble:
        """Return the trees of a model that has nothing else."""
        return self.model.trees_only(self.title)

    def single(self) -> TreeEnsemble | LinearScorer:
        """Return trees or weights whose missing values the target treats as we do, in its 32-bit numbers."""
        model = self.model.trees_or_weights(self.title)
        if self.missing:
            require_same_missing(model, self.rule, self.title)
        return require_float32(model, self.title) if isinstance(model, TreeEnsemble) else model

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names that the model has, if any."""
        return self.names if self.named else ()


@dataclass(frozen=True)
class Target:
    """A format: its name in messages, the writer, and its rule for missing values by version.

    `compared` says which scores of the tool to compare with ours.
    """

    title: str
    write: Callable[[Request], str | bytes]
    compared: str
    rule: Callable[[Version | None], Missing] | None = None  # None: no version matters
    names_matter: bool = False
    takes_queries: bool = False  # all documents of a query in one call
    infinite: bool = False  # takes infinite numbers
    sets: bool = False  # splits categories by sets of levels


@dataclass(frozen=True, repr=False)
class Export(Result):
    """A model that was written for another tool.

    Parameters
    ----------
    format, file
        The format and the file.
    categories
        The JSON file with the features of each level of categories; None if the model has no categories.
    check
        The table of features and scores to compare with those of the tool; None if none was written.
    remarks
        What differs in the tool, in sentences.
    """

    format: str
    file: str
    categories: str | None
    check: str | None
    remarks: tuple[str, ...]

    @property
    def summary(self) -> str:
        """The files that were written."""
        files = [file for file in (self.file, self.categories, self.check) if file is not None]
        compared = "" if self.check is None else f": compare its scores with {TARGETS[self.format].compared}"
        return f"Wrote {' and '.join(files)}{compared}."

    def blocks(self) -> list[Block | Section]:
        """Return the remarks."""
        return [Text(remark) for remark in self.remarks]


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
    check: Documents | None = None,
    n_jobs: int | None = None,
) -> Export:
    """Write a model as a file of another library or search engine; return the file and remarks on it.

    Combinations of trees become one ensemble. What the target cannot hold exactly is refused; targets that sum in
    32 bits give our scores to about 1e-6.

    Parameters
    ----------
    model
        A scorer or a fitted ranker: trees, weights of features, or sums of them; for `onnx` and `c` also
        networks, expected relevance over classes (McRank), and mixtures such as AutoRanker's.
    path
        The file to write, completely or not at all. For a model with categories, `PATH.categories.json` is written
        with it: the features of each level.
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
    check
        Documents to compare scores on: their features and our scores are written to a table beside the file, named
        `PATH.check.csv`.

    Examples
    --------
    >>> judged = rw.RankingData([[2, 9], [1, 5]], [1, 0], [7, 7], feature_names=["bm25", "age"])
    >>> ranker = rw.LambdaMART(rounds=5).fit(judged)
    >>> print(rw.export(ranker, "model.json", format="solr"))
    Wrote model.json.
    Features that may be missing need "defaultValue": "NaN" in the feature store.
    """
    scorer = scorer_of(model)
    if scorer is None:
        raise InputError(f"export takes a scorer or a fitted ranker, not this {type(model).__name__}.")
    label = re.sub(r"\W+", "_", Path(path).name.split(".")[0]) if name is None else name
    request, added = _request(scorer, format, version, label, feature_names, missing=missing, raised=non_negative)
    levels = _write_files(Path(path), TARGETS[format].write(request), request, scorer)
    table = None if check is None else _write_check(scorer, check, Path(path), request.names, n_jobs)
    return Export(format, os.fspath(path), levels, table, tuple(_remarks(scorer, format, request, added, levels)))


def refusal(scorer: Scorer, format: str, version: str | None = None, *, missing: bool = True) -> str | None:  # noqa: A002
    """Return why a target cannot hold a model exactly; None if it can, and `export` would write it."""
    try:
        request, _ = _request(scorer, format, version, "model", missing=missing)
        TARGETS[format].write(request)
    except InputError as error:
        return str(error)
    return None


def missing_rule(format: str, version: str | None = None) -> Missing:  # noqa: A002
    """Return what a target does with a missing value; refuse an unknown target, or a version that it needs."""
    return _rule(find_target(format), format, version)


def _request(
    scorer: Scorer,
    format: str,  # noqa: A002
    version: str | None,
    label: str,
    feature_names: Sequence[str] | None = None,
    *,
    missing: bool,
    raised: bool = False,
) -> tuple[Request, float]:
    """Return what is to be written, and the constant that was added so that no score is negative."""
    target = find_target(format)
    names, named = _names(scorer, feature_names)
    summed = _held(sum_of_scorers(scorer, target.title, takes_queries=target.takes_queries), target)
    summed, added = _raised(summed) if raised else (summed, 0.0)
    _require_text([label, *names, *(text for own in scorer.categories for text in (own.name, *own.values))])
    columns = encodings(scorer.categories, {own: number for number, own in enumerate(scorer.feature_names or ())})
    rule = _rule(target, format, version)
    return Request(target.title, summed, names, named, label, missing, rule, columns), added


def _held(model: ScorerSum, target: Target) -> ScorerSum:
    """Return the model with splits that the target holds."""
    if not target.sets:
        model = model.without_sets(target.title)
    if model.trees is None or target.infinite:
        return model
    return replace(model, trees=with_finite_thresholds(model.trees))


def find_target(name: str) -> Target:
    """Return the target of that name."""
    if name not in TARGETS:
        raise InputError(f"format must be one of {', '.join(TARGETS)}, not {shown(name)}.")
    return TARGETS[name]


def _write_files(path: Path, content: str | bytes, request: Request, scorer: Scorer) -> str | None:
    """Write the model and, if it has categories, the features of each level; return the file of these."""
    encoded = content.encode() if isinstance(content, str) else content
    if not scorer.categories:
        with write_whole(path) as file:
            file.write(encoded)
        return None
    by_name = encodings(scorer.categories, dict(zip(scorer.feature_names or (), request.names, strict=True)))
    levels = path.with_name(f"{path.name}.categories.json")
    with write_whole(levels) as table, write_whole(path) as file:  # both or none
        table.write(json.dumps({"features": request.names, "columns": by_name}, indent=1).encode())
        file.write(encoded)
    return str(levels)


def _write_check(
    scorer: Scorer, documents: Documents, path: Path, names: Sequence[str], n_jobs: int | None
) -> str:
    """Write one row per document: query, document, features by name, and our score; return the file."""
    rows, table = aligned(documents, scorer), path.with_name(f"{path.name}.check.csv")
    columns = {QUERY: rows.qid, DOCUMENT: rows.document_names, **dict(zip(names, rows.X.T, strict=True))}
    write_table(columns | {SCORE: scorer.predict(rows, n_jobs=n_jobs)}, table)
    return str(table)


def _names(scorer: Scorer, given: Sequence[str] | None) -> tuple[tuple[str, ...], bool]:
    """Return a name for each feature, and whether they are real."""
    if given is not None:
        return checked_feature_names(given, scorer.n_features), True
    if scorer.feature_names is not None:
        return scorer.feature_names, True
    return tuple(f"feature{number}" for number in range(1, scorer.n_features + 1)), False


def _require_text(texts: Iterable[str]) -> None:
    """Refuse half of a surrogate pair, which no file in UTF-8 can hold."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"The name {shown(text)} cannot be written as UTF-8; rename it.") from None


def _raised(model: ScorerSum) -> tuple[ScorerSum, float]:
    others = (model.linear is not None, model.networks, model.expected, model.standardised)
    if model.trees is None or any(others):
        raise InputError(
            "Only scores of trees alone can be made non-negative; weighted features and networks have no lowest."
        )
    trees, added = never_negative(model.trees)
    return replace(model, trees=trees), added


def _rule(target: Target, name: str, version: str | None) -> Missing:
    if target.rule is None:
        if version is not None:
            raise InputError(f"{parameter('version')} matters for opensearch-ltr and solr, not for {name}.")
        return Missing.ZERO if name == "ranklib" else Missing.SIDES
    return target.rule(None if version is None else parsed_version(version))


def _remarks(scorer: Scorer, target: str, request: Request, added: float, levels: str | None) -> Iterator[str]:
    if TARGETS[target].names_matter and not request.named:
        yield f"The model has no names of features; they are called feature1 to feature{scorer.n_features}."
    if levels is not None:
        function = f", and {request.name}_set_level sets them" if target == "c" else ""
        yield (
            f"These columns hold categories: {', '.join(request.columns)}. The features of each level are in "
            f"{Path(levels).name}{function}."
        )
    if added:
        yield f"Scores are higher by {added!r}, so that none is negative."
    if request.model.needs_query:
        yield "The model compares the documents of a query: give it one whole query per call."
    linear = request.model.linear
    if linear is not None and linear.intercept and target in ("elasticsearch-ltr", "opensearch-ltr", "solr"):
        yield f"Scores are lower by the intercept, {linear.intercept!r}; the order is the same."
    if target == "elasticsearch":
        yield (
            "Features that are no fields of the documents need a query_extractor in "
            "inference_config.learning_to_rank.feature_extractors."
        )
    if target == "solr" and request.missing and request.model.trees is not None and request.rule is Missing.SIDES:
        yield 'Features that may be missing need "defaultValue": "NaN" in the feature store.'


def _write_xgboost(request: Request) -> str:
    return xgboost_json(require_float32(request.trees(), request.title), request.own_names)


def _write_plugin(request: Request) -> str:
    return ltr_plugin_json(request.single(), request.names, request.name)


def _write_solr(request: Request) -> str:
    with_missing = request.missing and request.rule is Missing.SIDES
    return solr_json(request.single(), request.names, request.name, with_missing=with_missing)


SLTR_SCORE = "_score of an sltr query with this model"
TARGETS = {
    "lightgbm": Target(
        "LightGBM",
        lambda request: lightgbm_text(request.trees(), request.own_names),
        "Booster(model_file=...).predict(X, raw_score=True)",
        infinite=True,
        sets=True,
    ),
    "xgboost": Target(
        "XGBoost",
        _write_xgboost,
        "Booster(model_file=...).predict(DMatrix(X), output_margin=True)",
        sets=True,
    ),
    "ranklib": Target(
        "RankLib",
        lambda request: ranklib_text(request.single()),
        "what -load MODEL -rank DATA -score FILE writes",
        infinite=True,
    ),
    "elasticsearch": Target(
        "Elasticsearch",
        lambda request: elasticsearch_json(request.trees(), request.names),
        "_score of a learning_to_rank rescorer, to which Elasticsearch adds a constant",
        names_matter=True,
    ),
    "elasticsearch-ltr": Target("Elasticsearch LTR", _write_plugin, SLTR_SCORE, names_matter=True),
    "opensearch-ltr": Target("OpenSearch LTR", _write_plugin, SLTR_SCORE, opensearch_rule, names_matter=True),
    "solr": Target(
        "Solr",
        _write_solr,
        "the scores of a query with rq={!ltr model=NAME reRankDocs=N}",
        solr_rule,
        names_matter=True,
    ),
    "vespa": Target(
        "Vespa",
        lambda request: vespa_expression(request.model, request.names),
        "the relevance by a rank profile with this expression",
        names_matter=True,
    ),
    "onnx": Target(
        "ONNX",
        lambda request: onnx_model(request.model),
        "the output score of a session whose input is the features of one query",
        takes_queries=True,
        infinite=True,
    ),
    "c": Target(
        "C",
        lambda request: c_header(request.model, request.own_names, request.name, request.columns),
        "NAME_score of every row, or NAME_score_query of every query",
        takes_queries=True,
        infinite=True,
    ),
}
