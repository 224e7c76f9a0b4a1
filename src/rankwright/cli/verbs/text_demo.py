"""`rankwright text-demo`: from text to a judged comparison of rankers, with a page and a searcher."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright.base.errors import InputError, MissingPackageError
from rankwright.cli.options.option_groups import given_option, option
from rankwright.cli.options.shared_options import JOBS, JSON, checked_output, this_command
from rankwright.cli.options.text_options import (
    CandidateOptions,
    DocumentOptions,
    EncoderOptions,
    QueryOptions,
    WordOptions,
    encode,
    hybrid_retrieval,
)
from rankwright.cli.output.console import describe, note, say, show
from rankwright.cli.output.fit_progress import fit_with_progress, several_fits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankwright.data.dataset import RankingData
    from rankwright.data.readers.trec import Judgements
    from rankwright.evaluation.compare import SystemComparison
    from rankwright.rankers.ranker import Ranker
    from rankwright.text.collections.documents import TextDocument
    from rankwright.text.collections.queries import Queries
    from rankwright.text.features.judged_features import JudgedFeatures
    from rankwright.text.searcher import Searcher

METRICS = ("ndcg@10", "map")
BASELINE = "BM25"
LEAF = 50  # documents, at least


def text_demo(
    *,
    reading: DocumentOptions,
    words: WordOptions,
    encoding: EncoderOptions,
    finding: CandidateOptions,
    asking: QueryOptions,
    documents: str | None = option("Your documents; by default they are generated.", "PATH"),
    queries: str | None = option("Your queries.", "FILE"),
    qrels: str | None = option("Your judgements.", "FILE"),
    report: Path = option("HTML page to write.", "FILE", default=Path("report.html")),
    index: Path | None = option("Folder to keep the index in, with a searcher.", "DIR"),
    model: Path | None = option("Model file to write: the best ranker's.", "FILE"),
    seed: int = option("Seed of generated text and folds.", "N", min=0, default=0),
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    """Go from text to a comparison: index, features, tuned BM25 and learned rankers, five folds, a report.

    Example:

        rankwright text-demo --index index
    """
    for path in (report, model):
        if path is not None:
            checked_output(path)
    encoder = encoding.load()
    source, topics, judgements = _collection((documents, queries, qrels), reading, asking, seed)
    with _folder(index) as folder:
        options: dict[str, Any] = {"analyser": words.analyser(), "fields": reading.weights, "n_jobs": jobs}
        built = rw.text.Index.build(source, folder, **options)
        note(f"Indexed {len(built):,} documents with the fields {', '.join(built.fields)}.")
        encode(built, encoder)
        retrieval = hybrid_retrieval(finding.retrieval)
        chosen = rw.text.FeatureSet(columns=finding.columns, retrieval=retrieval)
        rankers = _rankers(fused=retrieval is not None)
        judged = finding.judged(chosen, built, topics, judgements, jobs)
        note(str(judged))
        asking.hint(topics, judged.coverage)
        scores = _scores(rankers, judged.data, seed)
        comparison = rw.compare(scores, judged.data, metrics=METRICS, baseline=BASELINE)
        best = comparison.by(METRICS[0]).ranked()[0]
        written: dict[str, Any] = {"report": _write_page(comparison, scores, judged.data, report)}
        if index is not None or model is not None:
            ranker = rankers[best]
            fit_with_progress(ranker, judged.data)
            searcher = finding.searcher(built, chosen, ranker)
            written |= _save(ranker, searcher, index, model)
    _show(comparison, judged, written, best, as_json=json)


def _collection(
    paths: tuple[str | None, str | None, str | None], reading: DocumentOptions, asking: QueryOptions, seed: int
) -> tuple[Iterable[TextDocument], Queries, Judgements]:
    """Return documents, queries and judgements: of files, or generated."""
    documents, queries, qrels = paths
    needs = "which needs --documents, --queries and --qrels"
    if documents is not None and queries is not None and qrels is not None:
        read = rw.text.read_documents(documents, **reading.reading())
        return read, asking.read_queries(queries), asking.read_judgements(qrels)
    if any(path is not None for path in paths):
        raise InputError("A collection of your own needs --documents, --queries and --qrels.")
    given = given_option(replace(reading, fields=None)) or given_option(asking)
    if given is not None:
        raise InputError(f"{given} is for a collection of your own, {needs}.")
    return rw.text.generated_collection(seed=seed)


@contextmanager
def _folder(index: Path | None) -> Iterator[Path]:
    """Yield the folder of the index: one that stays, or one that is removed."""
    if index is not None:
        yield index
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _rankers(*, fused: bool) -> dict[str, Ranker]:
    """Return the rankers to compare, the quickest first; of several retrievers, their fusions too.

    Large leaves keep trees from learning to recognise single documents.
    """
    from rankwright.rankers.fusion import FIXED

    trees: dict[str, Any] = {"rounds": 60, "learning_rate": 0.15, "min_documents": LEAF}
    trees["query_features"] = ["zscore", "rank"]
    fixed = {name: rw.Fusion(method=method.value, learned=False) for name, method in FIXED.items()}
    fusions: dict[str, Ranker] = {**fixed, "learned fusion": rw.Fusion()}
    linear = [rw.Fusion(), rw.RankSVM()] if fused else [rw.RankSVM()]
    portfolio = [*linear, rw.LambdaMART(**trees), rw.MART(**trees)]
    return {
        BASELINE: rw.BM25Ranker(),
        "language model": rw.LanguageModelRanker(),
        **(fusions if fused else {}),
        "RankSVM": portfolio[-3],
        "LambdaMART": portfolio[-2],
        "MART": portfolio[-1],
        "AutoRanker": rw.AutoRanker(portfolio=portfolio),
    }


def _scores(rankers: dict[str, Ranker], data: RankingData, seed: int) -> dict[str, Any]:
    """Return each ranker's scores, by models that have not seen the query."""
    from rankwright.crossval.out_of_fold import out_of_fold_scores
    from rankwright.crossval.splits import SplitOptions

    folds = SplitOptions().folds
    note(f"Cross-validating {', '.join(rankers)} on {folds} folds of {describe(data)}.")
    with several_fits("cross-validating", len(rankers) * folds) as on_fit:
        return out_of_fold_scores(rankers, data, folds=folds, random_state=seed, on_fit=on_fit)


def _write_page(
    comparison: SystemComparison, scores: dict[str, Any], data: RankingData, report: Path
) -> str | None:
    """Write the page and return its path; without the packages for it, say how to get them and return None."""
    from rankwright.cards.report_page import write_page

    title = "rankwright text demo"
    try:
        write_page(comparison, report, systems=scores, data=data, title=title, reproduce=this_command())
    except MissingPackageError as error:
        note(str(error))
        return None
    return str(report)


def _save(ranker: Ranker, searcher: Searcher, index: Path | None, model: Path | None) -> dict[str, str]:
    written = {}
    if model is not None:
        rw.save(ranker, model)
        written["model"] = str(model)
    if index is not None:
        written["searcher"] = str(searcher.save())
    return written


def _show(
    comparison: SystemComparison, judged: JudgedFeatures, written: dict[str, Any], best: str, *, as_json: bool
) -> None:
    if as_json:
        show(comparison, json=True, best=best, judged=judged.to_dict(), **written)
        return
    show(comparison, json=False)
    for what, path in written.items():
        if path is not None:
            note(f"wrote the {what} {path}")
    if "searcher" in written:
        say(f'next: rankwright search --searcher {Path(written["searcher"]).parent} "words"')
