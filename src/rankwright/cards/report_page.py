"""The page of an evaluation or a comparison: results, queries, the best model and the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.cards.data_sheet import DataSheet
from rankwright.cards.feature_card import FeatureCard
from rankwright.cards.model_card import ModelCard
from rankwright.cards.query_card import QueryCard, browsable
from rankwright.data.readers.trec import Judgements
from rankwright.evaluation.compare import compare_report
from rankwright.evaluation.report import Report
from rankwright.models.scorer import scorer_of
from rankwright.reports import page
from rankwright.reports.blocks import Section

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.compare import SystemComparison
    from rankwright.reports.result import Result
    from rankwright.training.history import History

MAX_FITS = 6  # whose learning curves are drawn


def write_page(
    report: Report | SystemComparison,
    path: str | os.PathLike[str],
    *,
    histories: Mapping[str, History] | None = None,
    systems: Mapping[str, Any] | None = None,
    data: RankingData | Judgements | None = None,
    title: str = "rankwright report",
    reproduce: str = "",
    n_jobs: int | None = None,
) -> None:
    """Write a report as an HTML page that needs no network.

    Parameters
    ----------
    report
        The evaluation, or a comparison of several systems; of a report, all pairs are compared.
    path
        The file to write, completely or not at all.
    histories
        Histories of fits by name, for learning curves and bounds.
    systems, data
        The systems of the report and the judged documents: for the query browser, the features and the model card
        of the best model, and the data sheet.
    title
        The title of the page.
    reproduce
        The command or code that makes the report again.
    """
    page.require_packages()
    result = compared(report) if isinstance(report, Report) else report
    results: list[Result | Section] = [result, learning_curves(histories or {})]
    if systems is not None and data is not None:
        results += _details(result, systems, data, n_jobs=n_jobs)
    page.write_page(results, path, title=title, reproduce=reproduce)


def learning_curves(histories: Mapping[str, History]) -> Section:
    """Return the metric by round of each fit, and the bound of its paper; of many fits, of the first ones."""
    fits = list(histories.items())[:MAX_FITS]
    return Section("Learning curves", [figure for name, history in fits for figure in history.curves(name)])


def compared(report: Report) -> SystemComparison | Report:
    """Return the comparison of the systems, or the report itself if they cannot be compared."""
    try:
        return compare_report(report)
    except InputError:  # one system, or no query with a finite value of all of them
        return report


def _details(
    result: Report | SystemComparison,
    systems: Mapping[str, Any],
    data: RankingData | Judgements,
    *,
    n_jobs: int | None,
) -> Iterator[Result]:
    """Yield the query browser, features and model card of the best model, and the data sheet."""
    if isinstance(result, Report):
        report, ranked, shown_first = result, [*result.systems], []
    else:
        pair = result.by().leading_pair()
        report, ranked, shown_first = result.report, [*result.by().ranked()], [pair.system, pair.other]
    metric = report.metrics[0]
    shown = browsable({name: systems[name] for name in dict.fromkeys([*shown_first, *ranked])}, report, data)
    yield QueryCard.of(shown.systems, report, shown.data, judged=shown.judged, n_jobs=n_jobs)
    if isinstance(data, Judgements):
        return
    for name in ranked:
        model = scorer_of(systems[name])
        if model is not None:
            yield FeatureCard.of(name, model, data, metric=metric, n_jobs=n_jobs)
            yield ModelCard(name, (model,))
            break
    yield DataSheet.of(data, metric=metric, heading="The test data")
