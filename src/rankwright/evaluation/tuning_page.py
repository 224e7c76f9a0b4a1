"""The page of a tuning: every setting that was tried, and what the best one is worth without luck."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.charts import Point, interval_chart, scatter_chart
from rankwright.data.counted import counted
from rankwright.evaluation.data_sheet import DataSheet, data_section
from rankwright.evaluation.model_card import reproduction_section
from rankwright.evaluation.trials import COMPLETE
from rankwright.pages import Column, Facts, Figure, Figures, Note, Page, Section, Table, Text, require_packages
from rankwright.pages.cells import number, words
from rankwright.rankers.spelling import spelled

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from rankwright.evaluation.trials import Trial
    from rankwright.evaluation.tuning import Tuning
    from rankwright.pages import Block, Row

MOST_TRIALS = 200
OWN = "the ranker's own"
SMALL = 240, 170  # width and height of one of several charts side by side
WIDE_RANGE = 20.0  # from so large a ratio on, the axis is logarithmic


def write_tuning_page(tuning: Tuning, path: str | os.PathLike[str], *, reproduce: str = "") -> None:
    """Write the page of a tuning: the choice, all trials, the influence of each parameter, and the data."""
    require_packages()
    metric = str(tuning.ranker.metric)
    sections = [
        _choice(tuning, metric),
        _trials(tuning, metric),
        *_parameters(tuning, metric),
        data_section(DataSheet.of(tuning.data.data, metric=metric)),
    ]
    if reproduce:
        sections.append(reproduction_section(reproduce))
    Page(f"Tuning of {tuning.ranker.name}", " ".join(tuning.correction.sentences()), sections).write(path)


def _choice(tuning: Tuning, metric: str) -> Section:
    found = tuning.correction
    chosen = {**tuning.best.parameters, "rounds": tuning.best.rounds}
    rows = [("best setting, without the luck of choosing", found.value, *found.interval)]
    if found.default is not None:
        rows.append((OWN + " setting", found.default.value, np.nan, np.nan))
    drawn = [row for row in rows if np.isfinite(row[1])]
    caption = f"{metric} to expect on new queries, with its 95 % interval."
    figures: list[Block] = [Figure(interval_chart(drawn, metric, description=caption), caption)] if drawn else []
    facts = {name: spelled(value) for name, value in chosen.items()}
    return Section("What was chosen", [Facts(facts), *figures, *map(Text, found.sentences())])


def _trials(tuning: Tuning, metric: str) -> Section:
    states = [one.state for one in tuning.trials]
    counts = ", ".join(f"{states.count(one):,} {one}" for one in dict.fromkeys(states))
    names = list(dict.fromkeys(name for one in tuning.trials for name in one.parameters))
    columns = [Column("trial"), Column(metric), Column("rounds"), Column("seconds"), Column("state", is_text=True)]
    best_first = sorted(tuning.trials, key=_rank)
    rows = [_row(one, names) for one in best_first[:MOST_TRIALS]]
    caption = f"{counted(len(states), 'trial')}: {counts}. A pruned trial was judged by the first folds alone."
    table = Table([*columns, *(Column(name, is_text=True) for name in names)], rows, caption)
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
    """Return the values of all trials in their order, and the best so far."""
    known = [one for one in tuning.trials if np.isfinite(one.value)]
    complete = [one for one in known if one.state == COMPLETE]
    if len(known) < 2 or not complete:
        return []
    so_far = np.maximum.accumulate([one.value for one in complete])
    line = [(one.number + 1, float(value)) for one, value in zip(complete, so_far, strict=True)]
    caption = f"{metric} of every trial, and the best so far: {so_far[-1]:.4f} at last."
    points = [Point(_setting(one), one.number + 1, one.value, one.state, "") for one in known]
    chart = scatter_chart(points, "trial", metric, description=caption, lines={"best so far": line})
    return [Figure(chart, caption)]


def _parameters(tuning: Tuning, metric: str) -> Iterator[Section]:
    complete = [one for one in tuning.trials if one.state == COMPLETE and np.isfinite(one.value)]
    names = dict.fromkeys(name for one in complete for name in one.parameters)
    figures = [figure for name in names for figure in _parameter(name, complete, metric)]
    if figures:
        meaning = "Each point is a trial; the other parameters differ too, so a cloud without a slope is common."
        yield Section("Parameters", [Figures(figures), Note(meaning)])


def _parameter(name: str, trials: list[Trial], metric: str) -> Iterator[Figure]:
    """Yield the chart of a parameter that has several numbers."""
    tried = [(one.parameters.get(name), one) for one in trials]
    numbers = [(float(value), one) for value, one in tried if isinstance(value, int | float | np.number)]
    values = [value for value, _ in numbers]
    if len(set(values)) < 2:
        return
    log = min(values) > 0 and max(values) > WIDE_RANGE * min(values)
    points = [Point(_setting(one), value, one.value, "", "") for value, one in numbers]
    description = f"{metric} of {counted(len(points), 'trial')} by {name}."
    width, height = SMALL
    chart = scatter_chart(points, name, metric, description=description, x_log=log, width=width, height=height)
    yield Figure(chart, name)


def _setting(one: Trial) -> str:
    return f"trial {one.number + 1}: " + ", ".join(f"{name} = {spelled(v)}" for name, v in one.parameters.items())
