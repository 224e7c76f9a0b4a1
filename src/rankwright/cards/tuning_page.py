"""The page of a tuning: the choice, and the queries, model and data of the best setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.wording import counted, interval, metric_value, percent
from rankwright.cards.held_out_queries import held_out_cards
from rankwright.crossval.best_feature import BEST_FEATURE, held_out_best_features
from rankwright.crossval.out_of_fold import held_out_fits
from rankwright.data.splitting import concat
from rankwright.models.scorer import scorer_of
from rankwright.reports.page import require_packages, write_page
from rankwright.statistics.intervals import LEVEL
from rankwright.tuning.judging_queries import OUT_OF_FOLD, VALIDATION, find_protocol
from rankwright.tuning.trials import chosen_parameters, configured
from rankwright.tuning.tuning_result import BEST, OWN

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.blocks import Section
    from rankwright.reports.result import Result
    from rankwright.tuning.tuning_result import Tuning

COMPARED = {OUT_OF_FOLD: "out of fold", VALIDATION: "on the validation part"}
CHOSEN_BY_THESE = (
    "The setting itself was chosen by all of these queries, so expect a little less on new ones. Values of trials "
    "are means over neighbouring numbers of rounds, so they differ slightly from those of one number."
)


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
    write_page([tuning, *_details(tuning, on_fit)], path, title=tuning.title, reproduce=reproduce)


def count_page_fits(tuning: Tuning) -> int:
    """Return the number of fits that the page needs."""
    return len(_rankers(tuning)) * find_protocol(OUT_OF_FOLD).n_parts


def _rankers(tuning: Tuning) -> dict[str, Ranker]:
    """Return the rankers that the page shows: the best setting, and the ranker's own if it is another."""
    own = tuning.baseline
    if own is None or own.number == tuning.best.number:
        return {BEST: tuning.ranker}
    return {BEST: tuning.ranker, OWN: configured(tuning.ranker, chosen_parameters(tuning.ranker, own))}


def _details(tuning: Tuning, on_fit: Callable[[], None]) -> list[Result | Section]:
    """Return the cards of queries ranked out of fold, of the features, the model and the data."""
    ranker, time_column = tuning.ranker, tuning.time_column
    parts = find_protocol(OUT_OF_FOLD).plan(tuning.data, None, time_column).parts
    judges = [part.judges.data for part in parts]
    data = tuning.data.data if time_column is None else concat(*judges)  # the earliest queries judge nothing
    fitted = held_out_fits(_rankers(tuning), parts, on_fit=on_fit)
    simple = held_out_best_features(fitted[BEST], data, ranker.metric, n_jobs=ranker.n_jobs)
    result = tuning.correction
    known = not np.isnan(result.interval[0])
    limits = f", {percent(LEVEL)} interval {interval(*result.interval)}" if known else ""
    trials = counted(result.settings, "complete trial")
    return held_out_cards(
        type(ranker).__name__,
        {**fitted, BEST_FEATURE: simple},
        scorer_of(ranker),
        data,
        metric=ranker.metric,
        chosen=f"the best of {trials}, compared {COMPARED[tuning.protocol]}",
        expected=f"{metric_value(result.value)} {result.metric}{limits}",
        warning=CHOSEN_BY_THESE,
        n_jobs=ranker.n_jobs,
    )
