"""The page of a tuning: every setting that was tried, and the value of the best one without luck."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import counted, said_p_value
from rankwright.cards.data_sheet import DataSheet, data_section
from rankwright.cards.held_out_sections import model_sections, query_sections, with_document_names
from rankwright.cards.model_card import reproduction_section
from rankwright.crossval.best_feature import BEST_FEATURE, held_out_best_features
from rankwright.crossval.out_of_fold import held_out_fits
from rankwright.evaluation.comparison_text import in_percent
from rankwright.models.fitted import scorer_of
from rankwright.rankers.parameters.spelling import spelled
from rankwright.reports.charts.bars import bar_chart
from rankwright.reports.charts.points import Point, scatter_chart
from rankwright.reports.charts.rows import interval_chart
from rankwright.reports.pages.blocks import Column, Facts, Figure, Figures, Note, Section, Table, Text
from rankwright.reports.pages.cells import number, shown, words
from rankwright.reports.pages.page import Page, require_packages
from rankwright.statistics.intervals import LEVEL
from rankwright.tuning.judging_queries import OUT_OF_FOLD, VALIDATION, find_protocol
from rankwright.tuning.optuna_storage import parameter_importances
from rankwright.tuning.selection_bias import SIGNIFICANT
from rankwright.tuning.trials import COMPLETE, PRUNED, chosen_parameters, configured

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.pages.blocks import Block, Row
    from rankwright.tuning.trials import Trial
    from rankwright.tuning.tune import Tuning

MOST_TRIALS = 200
OPEN_TRIALS = 10  # a longer table is folded
SMALL = 240, 170  # width and height of one of several charts side by side
WIDE_RANGE = 20.0  # from so large a ratio on, the axis is logarithmic
MOST_CATEGORIES = 12  # of a parameter's values
FEWEST_TRIALS = 10  # complete ones, from which on the importance of parameters is more than noise
BEST, OWN = "best setting", "own setting"
CHOSEN_BY_THESE = "The setting itself was chosen by all of these queries, so expect a little less on new ones."


def write_tuning_page(
    tuning: Tuning,
    path: str | os.PathLike[str],
    *,
    reproduce: str = "",
    on_fit: Callable[[], None] = lambda: None,
) -> None:
    """Write the page of a tuning: the choice, all trials, the influence of parameters, queries, model and data.

    For the queries, the best setting and the ranker's own are fitted again out of fold, `count_page_fits` times;
    `on_fit` is called after each fit. The model card is that of `tuning.ranker` if it has been fitted, otherwise
    of the folds' models.
    """
    require_packages()
    metric = str(tuning.ranker.metric)
    sections = [
        _choice(tuning, metric),
        _trials(tuning, metric),
        *_parameters(tuning, metric),
        *_details(tuning, on_fit),
    ]
    if reproduce:
        sections.append(reproduction_section(reproduce))
    Page(f"Tuning of {_ranker(tuning)}", summary_of(tuning), sections).write(path)


def count_page_fits(tuning: Tuning) -> int:
    """Return the number of fits that the page needs."""
    return len(_rankers(tuning)) * find_protocol(OUT_OF_FOLD).n_parts


def summary_of(tuning: Tuning) -> str:
    """Return what to expect of the best setting, beside the ranker's own, in one sentence."""
    found, name = tuning.correction, _ranker(tuning)
    if found.default is not None and found.chosen == found.default.value:
        trials = counted(len(tuning.trials), "trial")
        return f"None of {trials} is better than the own setting of {name}, {shown(found.chosen)} {found.metric}."
    expected = f"The best setting of {name} is expected to have {shown(found.value)} {found.metric} on new queries"
    if found.default is None or np.isnan(found.default.ahead):
        return f"{expected}."
    ahead, p = found.default.ahead, found.default.p_value
    beside = f"{abs(ahead):.4f} {'more' if ahead > 0 else 'less'} than its own setting"
    chance = "" if p < SIGNIFICANT else ", which may be chance"
    return f"{expected}, {beside}{chance} ({said_p_value(p)})."


def _ranker(tuning: Tuning) -> str:
    return type(tuning.ranker).__name__


def _rankers(tuning: Tuning) -> dict[str, Ranker]:
    """Return the rankers that the page shows: the best setting, and the ranker's own if it is another."""
    own = tuning.baseline
    if own is None or own.number == tuning.best.number:
        return {BEST: tuning.ranker}
    return {BEST: tuning.ranker, OWN: configured(tuning.ranker, chosen_parameters(tuning.ranker, own))}


def _details(tuning: Tuning, on_fit: Callable[[], None]) -> list[Section]:
    """Return queries ranked out of fold, the features, the model card and the data sheet."""
    ranker, whole = tuning.ranker, with_document_names(tuning.data.data)
    how: dict[str, Any] = {"metric": ranker.metric, "n_jobs": ranker.n_jobs}
    fitted = held_out_fits(
        _rankers(tuning), find_protocol(OUT_OF_FOLD).plan(tuning.data, None).parts, on_fit=on_fit
    )
    systems = fitted | {BEST_FEATURE: held_out_best_features(fitted[BEST], whole, **how)}
    found = tuning.correction
    low, high = found.interval
    interval = "" if np.isnan(low) else f", {in_percent(LEVEL)} interval {low:.4f} to {high:.4f}"
    compared = {OUT_OF_FOLD: "out of fold", VALIDATION: "on the validation part"}[tuning.protocol]
    facts: dict[str, Any] = {
        "chosen": f"the best of {counted(found.settings, 'complete trial')}, compared {compared}",
        "expected": f"{shown(found.value)} {found.metric}{interval}",
    }
    return [
        *query_sections(systems, whole, warning=CHOSEN_BY_THESE, **how),
        *model_sections(_ranker(tuning), fitted[BEST], scorer_of(ranker), whole, **how, **facts),
        data_section(DataSheet.of(whole, metric=ranker.metric)),
    ]


def _choice(tuning: Tuning, metric: str) -> Section:
    found = tuning.correction
    chosen = {**tuning.best.parameters, "rounds": tuning.best.rounds}
    rows = [(BEST, found.value, *found.interval)]
    if found.default is not None:
        rows.append((OWN, found.default.value, np.nan, np.nan))
    drawn = [row for row in rows if np.isfinite(row[1])]
    caption = f"{metric} to expect on new queries, with its {in_percent(LEVEL)} interval."
    figures: list[Block] = [Figure(interval_chart(drawn, metric, description=caption), caption)] if drawn else []
    facts = {name: spelled(value) for name, value in chosen.items()}
    luck = (
        f"The best setting has {shown(found.chosen)} {metric} on the {counted(found.queries, 'query')} that chose "
        f"it. {shown(found.luck)} of that is the luck of being the best of "
        f"{counted(found.settings, 'complete trial')}; new queries will not repeat it."
    )
    return Section("What was chosen", [Facts(facts), *figures, Text(luck)])


def _trials(tuning: Tuning, metric: str) -> Section:
    states = [one.state for one in tuning.trials]
    counts = ", ".join(f"{states.count(one):,} {one}" for one in dict.fromkeys(states))
    names = list(dict.fromkeys(name for one in tuning.trials for name in one.parameters))
    columns = [Column("trial"), Column(metric), Column("rounds"), Column("seconds"), Column("state", is_text=True)]
    best_first = sorted(tuning.trials, key=_rank)
    rows = [_row(one, names) for one in best_first[:MOST_TRIALS]]
    pruned = " A pruned trial was judged by the first folds alone." if PRUNED in states else ""
    caption = f"{counted(len(states), 'trial')}: {counts}.{pruned}"
    folded = f"All {counted(len(rows), 'trial')}" if len(rows) > OPEN_TRIALS else ""
    table = Table([*columns, *(Column(name, is_text=True) for name in names)], rows, caption, folded=folded)
    blocks: list[Block] = [*_progress(tuning, metric), table]
    if len(states) > MOST_TRIALS:
        blocks.append(Note(f"The best {MOST_TRIALS} of {len(states):,} trials are listed."))
    return Section("Trials", blocks)


def _rank(one: Trial) -> tuple[bool, float]:
    return one.state != COMPLETE, -one.value if np.isfinite(one.value) else np.inf


def _row(one: Trial, names: list[str]) -> Row:
    setting = [words(spelled(one.parameters[name]) if name in one.parameters else "") for name in names]
    measured = number(one.value), number(one.rounds, ","), number(one.seconds, ".1f"), words(one.state)
    return number(one.number + 1, ",d"), *measured, *setting


def _progress(tuning: Tuning, metric: str) -> list[Block]:
    """Return the values of complete trials in their order, and the best so far; others have fewer judges."""
    complete = [one for one in tuning.trials if one.state == COMPLETE and np.isfinite(one.value)]
    if len(complete) < 2:
        return []
    so_far = np.maximum.accumulate([one.value for one in complete]).tolist()
    steps = [(one.number + 1, value) for one, value in zip(complete, so_far, strict=True)]
    line = [steps[0]]
    for (_, before), (place, value) in pairwise(steps):
        line += [(place, before), (place, value)]
    caption = f"{metric} of every complete trial, and the best so far: {so_far[-1]:.4f} at last."
    points = [Point(_setting(one), one.number + 1, one.value, "trial", "") for one in complete]
    chart = scatter_chart(points, "trial", metric, description=caption, lines={"best so far": line})
    return [Figure(chart, caption)]


def _parameters(tuning: Tuning, metric: str) -> Iterator[Section]:
    complete = [one for one in tuning.trials if one.state == COMPLETE and np.isfinite(one.value)]
    names = dict.fromkeys(name for one in complete for name in one.parameters)
    figures = [figure for name in names for figure in _parameter(name, complete, metric)]
    if figures:
        meaning = (
            "Each point is a complete trial; the other parameters differ too, so a cloud without a slope is "
            "common. Of a parameter without numbers: the mean of the trials with each value, with a line from the "
            "lowest to the highest."
        )
        yield Section("Parameters", [*_importance(tuning, len(complete)), Figures(figures), Note(meaning)])


def _importance(tuning: Tuning, n_complete: int) -> Iterator[Figure]:
    """Yield how much of the differences between trials each parameter explains, if there are enough trials."""
    if tuning.study is None or n_complete < FEWEST_TRIALS:
        return
    found = parameter_importances(tuning.study)
    if sum(found.values()) > 0:
        caption = (
            "Importance of parameters: the fraction of the differences between trials that each explains, by "
            f"Optuna's fANOVA. From {counted(n_complete, 'complete trial')}, so only large differences count."
        )
        yield Figure(bar_chart(found, "importance", description=caption), caption)


def _parameter(name: str, trials: list[Trial], metric: str) -> Iterator[Figure]:
    """Yield the chart of a parameter that has several values."""
    tried = [(one.parameters[name], one) for one in trials if name in one.parameters]
    numbers = [(float(value), one) for value, one in tried if _is_number(value)]
    different = {spelled(value) for value, _ in tried}
    width, height = SMALL
    description = f"{metric} of {counted(len(tried), 'trial')} by {name}."
    if len({value for value, _ in numbers}) > 1 and 2 * len(numbers) > len(tried):
        values = [value for value, _ in numbers]
        log = min(values) > 0 and max(values) > WIDE_RANGE * min(values)
        points = [Point(_setting(one), value, one.value, "", "") for value, one in numbers]
        chart = scatter_chart(points, name, metric, description=description, x_log=log, width=width, height=height)
        without = len(tried) - len(numbers)
        yield Figure(chart, f"{name}; {counted(without, 'trial')} without a number left out" if without else name)
    elif 1 < len(different) <= MOST_CATEGORIES:
        yield Figure(interval_chart(_by_value(tried), metric, description=description, width=width), name)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _by_value(tried: list[tuple[Any, Trial]]) -> list[tuple[str, float, float, float]]:
    """Return mean, lowest and highest of the trials with each value, the best mean first."""
    by_text: dict[str, list[float]] = {}
    for value, one in tried:
        by_text.setdefault(spelled(value) or "none", []).append(one.value)
    rows = [(text, float(np.mean(some)), min(some), max(some)) for text, some in by_text.items()]
    return sorted(rows, key=lambda row: -row[1])


def _setting(one: Trial) -> str:
    return f"trial {one.number + 1}: " + ", ".join(f"{name} = {spelled(v)}" for name, v in one.parameters.items())
