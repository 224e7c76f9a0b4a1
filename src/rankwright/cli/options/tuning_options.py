"""What `train`, `tune` and `crossval` share: the options of tuning, and progress over several fits."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.cli.output.console import problem, progress
from rankwright.rankers.parameters.spelling import spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankwright.rankers.ranker import Ranker

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as in shells."""

ChooseOption = Annotated[
    str | None,
    typer.Option(
        "--choose",
        metavar="HOW",
        help="How --tune compares settings. validation: on the validation part, the default if there is one. "
        "out-of-fold: by cross-validation over the training and validation queries; the final fit uses both.",
    ),
]
GridOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="NAME=VALUES",
        help="Values that --tune tries for a parameter, in place of the built-in grid: separated by commas, or by "
        "semicolons if values contain commas. May be repeated for several parameters.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, metavar="N", help="Number of parallel fits for --tune; by default one per thread."
    ),
]


def require_tune(tune: bool, options: Mapping[str, Any]) -> None:
    """Refuse options that have an effect only with --tune."""
    for name, value in options.items():
        if value and not tune:
            raise InputError(f"{name} has no effect without --tune; add --tune or leave it out.")


def read_grid(ranker: Ranker, texts: Sequence[str] | None) -> dict[str, list[Any]] | None:
    """Return the values to try, by parameter, each spelled `name=value,value`; None without any."""
    from rankwright.rankers.parameters.declaration import require_known

    grid: dict[str, list[Any]] = {}
    for name, values in by_name("--grid", "name=value,value", texts or ()).items():
        require_known(type(ranker), [name])
        check = ranker.declared[name].check
        grid[name] = [check.parse(name, one.strip()) for one in values.split(";" if ";" in values else ",")]
    return grid or None


def by_name(option: str, form: str, texts: Sequence[str]) -> dict[str, str]:
    """Return what an option gives for each parameter, spelled `name=...`, as text."""
    given: dict[str, str] = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not values:
            raise InputError(f"{option} takes {form}, not {text!r}.")
        if name in given:
            raise InputError(f"{option} gives values for {name} twice.")
        given[name] = values
    return given


def setting_text(chosen: Mapping[str, Any]) -> str:
    """Return a setting as `--set` takes it."""
    return " ".join(f"{name}={spelled(value)}" for name, value in chosen.items())


@contextmanager
def several_fits(task: str, total: int, *, lost: str = "nothing was written") -> Iterator[Callable[[], None]]:
    """Show progress over several fits; yields the function to call after each.

    Ctrl-C ends the command, which says what was lost: unlike the rounds of one fit, some of several fits are no
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
        problem(f"Interrupted after {done:,} of {counted(total, 'fit')}; {lost}.")
        raise typer.Exit(INTERRUPTED) from None
