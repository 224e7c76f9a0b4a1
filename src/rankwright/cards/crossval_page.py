"""The page of a cross-validation: every fold, what was chosen, queries, model card, and the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.cards.data_sheet import DataSheet, data_section
from rankwright.cards.held_out_sections import model_sections, query_sections, with_document_names
from rankwright.cards.model_card import reproduction_section
from rankwright.crossval.best_feature import BEST_FEATURE, held_out_best_features
from rankwright.crossval.out_of_fold import HeldOutModels
from rankwright.evaluation.cutoffs import bare_name, by_cutoff
from rankwright.models.fitted import scorer_of
from rankwright.reports.charts.rows import interval_chart
from rankwright.reports.pages.blocks import Column, Facts, Figure, Note, Section, Table, Text
from rankwright.reports.pages.cells import number, shown, words
from rankwright.reports.pages.page import Page, require_packages

if TYPE_CHECKING:
    import os

    from rankwright.crossval.cross_comparison import CrossComparison
    from rankwright.crossval.cross_validation import CrossValidation
    from rankwright.data.dataset import RankingData
    from rankwright.reports.pages.blocks import Block, Row

MOST_TRIALS = 200


def write_crossval_page(
    result: CrossValidation,
    path: str | os.PathLike[str],
    *,
    data: RankingData | None = None,
    without_data: str = "",
    reproduce: str = "",
) -> None:
    """Write the page of a cross-validation.

    Parameters
    ----------
    data
        The test queries of all folds together. The page then shows them in a query browser, each ranked by the
        model that has not seen it, beside the best single feature of the other queries; and it has features, a
        model card and a data sheet. The card is that of `result.best` if it has been fitted, otherwise of the
        folds' models.
    without_data
        Why there are no such data, in a sentence.
    reproduce
        The command or code that makes the same again.
    """
    require_packages()
    sections = [_folds(result), *_chosen(result)]
    if data is not None:
        sections += _details(result, with_document_names(data))
    elif without_data:
        sections.append(Section("Queries and model", [Text(without_data)]))
    if reproduce:
        sections.append(reproduction_section(reproduce))
    Page(f"Cross-validation of {_ranker(result)}", summary_of(result), sections).write(path)


def _details(result: CrossValidation, data: RankingData) -> list[Section]:
    """Return the queries, the features, the model card and the data sheet."""
    metric, n_jobs = result.metrics[0], result.best.n_jobs
    name, models = _ranker(result), _held_out(result)
    is_tested = np.array([str(query) in models.fold_of_query for query in data.groups.ids])  # others were dropped
    data = data.take_queries(is_tested)
    systems = {name: models, BEST_FEATURE: held_out_best_features(models, data, metric, n_jobs=n_jobs)}
    first = "The folds are those of the first repeat." if result.repeats > 1 else ""
    how: dict[str, Any] = {"metric": metric, "n_jobs": n_jobs}
    facts: dict[str, Any] = {"chosen": _how_chosen(result), "expected": _expected(result, metric)}
    final = scorer_of(result.best)
    return [
        *query_sections(systems, data, convention=result.convention, warning=first, **how),
        *model_sections(name, models, final, data, **how, **facts),
        data_section(DataSheet.of(data, metric=metric)),
    ]


def _held_out(result: CrossValidation) -> HeldOutModels:
    """Return the models of the first repeat, each for the test queries of its fold."""
    folds = [fold for fold in result.folds if fold.repeat == 1]
    fold_of_query = {str(query): number for number, fold in enumerate(folds) for query in fold.report.queries}
    if len(fold_of_query) < sum(len(fold.report.queries) for fold in folds):
        raise InputError("Some query is in the test parts of several folds, so no single model has not seen it.")
    return HeldOutModels(tuple(fold.model for fold in folds), fold_of_query)


def _ranker(result: CrossValidation) -> str:
    return type(result.best).__name__


def write_rankers_page(
    found: CrossComparison,
    path: str | os.PathLike[str],
    *,
    baseline: str | None = None,
    data: RankingData | None = None,
    reproduce: str = "",
) -> None:
    """Write the page of several rankers that were cross-validated over the same folds."""
    require_packages()
    compared = found.compare(baseline=baseline)
    sections = [*compared.sections, *_curves(found), _folds_of_rankers(found)]
    if data is not None:
        sections.append(data_section(DataSheet.of(data, metric=found.metrics[0])))
    if reproduce:
        sections.append(reproduction_section(reproduce))
    Page(f"Cross-validation of {len(found)} rankers", compared.summary, sections).write(path)


def _curves(found: CrossComparison) -> list[Section]:
    """Return the curves by cut-off of metrics that were measured at several."""
    names = dict.fromkeys(bare_name(one) for one in found.metrics)
    curves = [found.curves(one) for one in names if len(by_cutoff(found.metrics, one)) > 1]
    figures: list[Block] = [Figure(one.chart(), f"Mean {one.metric} by cut-off.") for one in curves]
    return [Section("By cut-off", figures)] if figures else []


def _folds_of_rankers(found: CrossComparison) -> Section:
    tables: list[Block] = []
    for table in (found.means_table(), found.folds_table()):
        head, *columns = table.head
        rows: list[Row] = [(words(one), *(number(float(cell)) for cell in cells)) for one, *cells in table.rows]
        tables.append(Table([Column(head, is_text=True), *map(Column, columns)], rows, "Means over test queries."))
    return Section("Folds", tables)


def summary_of(result: CrossValidation) -> str:
    """Return the mean over folds, with its standard error, in one sentence."""
    metric = result.metrics[0]
    queries = counted(len(result.per_query(metric)), "test query")
    return f"{_ranker(result)} has {_expected(result, metric)} on {queries} of {_number_of_folds(result)}."


def _expected(result: CrossValidation, metric: str) -> str:
    error = result.standard_error(metric)
    doubt = "" if np.isnan(error) else f" (standard error {error:.4f})"
    return f"{shown(result.mean(metric))} {metric}{doubt}"


def _number_of_folds(result: CrossValidation) -> str:
    folds = counted(len(result.folds) // result.repeats, "fold")
    return folds if result.repeats == 1 else f"{folds}, {result.repeats} times"


def _folds(result: CrossValidation) -> Section:
    metric = result.metrics[0]
    intervals = [
        (
            result.fold_name(fold),
            fold.report.mean(result.ranker, metric),
            *fold.report.interval(result.ranker, metric),
        )
        for fold in result.folds
    ]
    drawn = [row for row in intervals if np.isfinite(row[1])]
    caption = f"{metric} of each fold's test queries, with its 95 % bootstrap interval."
    figures: list[Block] = [Figure(interval_chart(drawn, metric, description=caption), caption)] if drawn else []
    columns = [Column("fold", is_text=True), *map(Column, result.metrics), Column("rounds")]
    rows: list[Row] = [
        (
            words(result.fold_name(fold)),
            *(number(fold.report.mean(result.ranker, one)) for one in result.metrics),
            number(fold.best_round, ","),
        )
        for fold in result.folds
    ]
    table = Table(columns, rows, "Means over the test queries of each fold, and the number of rounds.")
    return Section("Folds", [*figures, table, Facts(_means(result)), Note(_how(result))])


def _means(result: CrossValidation) -> dict[str, str]:
    return {
        f"{metric}, mean over folds": f"{shown(result.mean(metric))} ± {shown(result.standard_error(metric))}, "
        f"{shown(result.mean(metric, averaged_ties=True))} with ties averaged"
        for metric in result.metrics
    }


def _how(result: CrossValidation) -> str:
    return (
        f"Convention {result.convention}; {_how_chosen(result)}. ±: standard error over test queries. "
        f"It took {result.seconds:.1f} s."
    )


def _how_chosen(result: CrossValidation) -> str:
    tuned = {"validation": "tuned on the validation part of each fold", "out-of-fold": "tuned out of fold"}
    if result.protocol in tuned:
        return f"parameters and rounds are {tuned[result.protocol]}"
    by_validation = "; the validation part of each fold chooses the number of rounds" if result.chosen else ""
    return f"parameters are not tuned{by_validation}"


def _chosen(result: CrossValidation) -> list[Section]:
    """Return what folds chose, and all trials that they chose from."""
    blocks: list[Block] = []
    if result.chosen:
        spelled = ", ".join(f"{name} = {value}" for name, value in result.chosen.items())
        blocks.append(Text(f"For a model of all queries: {spelled}."))
    trials = [(fold, trial) for fold in result.folds for trial in fold.trials]
    if trials:
        names = list(dict.fromkeys(name for _, trial in trials for name in trial.parameters))
        columns = [Column("fold", is_text=True), *(Column(name, is_text=True) for name in names)]
        rows: list[Row] = [
            (
                words(result.fold_name(fold)),
                *(words(trial.parameters.get(name, "")) for name in names),
                number(trial.rounds, ","),
                number(trial.value),
            )
            for fold, trial in trials[:MOST_TRIALS]
        ]
        caption = "All settings that were tried; each fold chose the one of the highest value."
        blocks.append(Table([*columns, Column("rounds"), Column("value")], rows, caption))
    if len(trials) > MOST_TRIALS:
        blocks.append(Note(f"The first {MOST_TRIALS} of {len(trials):,} trials are listed."))
    return [Section("What was chosen", blocks)] if blocks else []
