"""Fits on a terminal: progress over the rounds of one or over several fits, and what Ctrl-C means."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from rankwright.base.wording import counted, metric_value
from rankwright.cli.output.console import problem, progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankwright.data.dataset import RankingData
    from rankwright.models.scorer import Scorer
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.history import Round
    from rankwright.training.training_set import TrainingSet

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as in shells."""


def exit_interrupted(sentence: str = "") -> NoReturn:
    """Exit as a command does that Ctrl-C has stopped, so that a script does not take the result for complete."""
    if sentence:
        problem(sentence)
    raise typer.Exit(INTERRUPTED)


def exit_if_interrupted(ranker: Ranker) -> None:
    """Exit if Ctrl-C has ended the fit of a ranker."""
    if ranker.history_.interrupted:
        exit_interrupted()


def fit_with_progress(
    ranker: Ranker,
    judged: RankingData | TrainingSet,
    validation: RankingData | None = None,
    start: Scorer | None = None,
    **options: Any,
) -> None:
    """Fit a ranker with these options of `fit`; on a terminal, show the rounds and the metric after each."""
    rounds = ranker.get_params(deep=False).get("rounds")
    total = rounds if isinstance(rounds, int) else None  # fit refuses anything else
    with progress(f"training {ranker.name}", total) as step:
        parts: dict[str, Any] = {"validation": validation, "start": start, **options}
        ranker.fit(judged, **parts, on_round=lambda fitted: step(_remark(ranker, fitted)))


def _remark(ranker: Ranker, fitted: Round) -> str:
    if fitted.validation is not None:
        return f"{ranker.metric} {metric_value(fitted.validation)} (validation)"
    return "" if fitted.train is None else f"{ranker.metric} {metric_value(fitted.train)} (training)"


@contextmanager
def several_fits(task: str, total: int, *, lost: str = "nothing was written") -> Iterator[Callable[[], None]]:
    """Show progress over several fits; yields the function to call after each.

    Ctrl-C ends the command, which says what was lost: unlike the rounds of one fit, a part of several fits is no
    result.
    """
    done = 0

    def on_fit() -> None:
        nonlocal done
        done += 1
        step("")

    try:
        with progress(task, total) as step:
            yield on_fit
    except KeyboardInterrupt:
        exit_interrupted(f"Interrupted after {done:,} of {counted(total, 'fit')}; {lost}.")
