"""What `crossval` prints, and the page it writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.cli.options.judged_collection import read_test_parts
from rankwright.cli.options.page_option import this_command
from rankwright.cli.options.tuning_options import setting_text
from rankwright.cli.output.console import note, say, show_table

if TYPE_CHECKING:
    from rankwright.crossval.cross_comparison import CrossComparison
    from rankwright.crossval.cross_validation import CrossValidation
    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.report import Report

TUNED = {
    "validation": "parameters tuned on validation; ",
    "out-of-fold": "parameters tuned out of fold; ",
}


def show(found: CrossComparison, baseline: str | None) -> None:
    """Print the results of one ranker, or of several."""
    if len(found) == 1:
        _show_validation(found[found.rankers[0]])
    else:
        _show_rankers(found, baseline)


def facts_of(found: CrossComparison, baseline: str | None) -> dict[str, Any]:
    """Return the results of one ranker, or of several, as JSON values."""
    return found[found.rankers[0]].to_dict() if len(found) == 1 else found.against(baseline).to_dict()


def _show_validation(result: CrossValidation) -> None:
    """Print every fold of one ranker, and the means."""
    rows = [
        (result.fold_name(fold), *_means(result, fold.report), str(fold.best_round), setting_text(fold.chosen))
        for fold in result.folds
    ]
    rows.append(("mean", *(f"{result.mean(metric):.4f}" for metric in result.metrics), "", ""))
    averaged = [f"{result.mean(metric, averaged_ties=True):.4f}" for metric in result.metrics]
    if averaged != list(rows[-1][1:-2]):  # the convention averages ties already
        rows.append(("mean, ties averaged", *averaged, "", ""))
    errors = [result.standard_error(metric) for metric in result.metrics]
    rows.append(("standard error", *(f"{error:.4f}" for error in errors), "", ""))
    show_table(
        ("fold", *result.metrics, "rounds", "chosen" if any(fold.chosen for fold in result.folds) else ""), rows
    )
    note(_queries(result, result.seconds))


def _show_rankers(found: CrossComparison, baseline: str | None) -> None:
    """Print the main result, means, folds and tests of several rankers."""
    say(str(found.against(baseline)))
    more = f" by {found.metrics[0]}; tests of the other metrics are in the JSON" if len(found.metrics) > 1 else ""
    note(f"Tests are paired by test query over all folds{more}.")
    first = next(iter(found.results.values()))
    note(_queries(first, sum(one.seconds for one in found.results.values())))


def write_page(found: CrossComparison, baseline: str | None, collection: RankingData | Path, report: Path) -> None:
    """Write the page of one ranker, or of several."""
    from rankwright.cards.crossval_page import write_crossval_page, write_rankers_page

    data, reason = None, ""
    try:
        data = read_test_parts(collection) if isinstance(collection, Path) else collection
    except InputError as error:
        reason = f"The test parts of all folds cannot be shown together: {error}"
    if len(found) == 1:
        result = found[found.rankers[0]]
        write_crossval_page(result, report, data=data, without_data=reason, reproduce=this_command())
    else:
        write_rankers_page(found.against(baseline), report, data=data, reproduce=this_command())
    note(f"wrote {report}")


def _queries(result: CrossValidation, seconds: float) -> str:
    """Return the number of test queries, how they were measured, and the time."""
    from rankwright.data.query_filters import told

    tested = [fold.report for fold in result.folds if fold.repeat == 1]  # every repeat tests the same queries
    queries = sum(len(report.queries) for report in tested)
    empty = sum(max(report.empty.values()) for report in tested)
    dropped = f"dropped: {told(result.dropped)}; " if result.dropped else ""
    how = f"convention {result.convention}; {TUNED.get(result.protocol, '')}{seconds:.2f} s"
    return f"{counted(queries, 'test query')}, {empty:,} of them empty; {dropped}{how}"


def _means(result: CrossValidation, report: Report) -> list[str]:
    return [f"{report.mean(result.ranker, metric):.4f}" for metric in result.metrics]
