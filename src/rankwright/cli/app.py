"""The command `rankwright`."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer

from rankwright.cli.combine import combine
from rankwright.cli.crossval import crossval
from rankwright.cli.demo import demo
from rankwright.cli.evaluate import evaluate
from rankwright.cli.generate import generate
from rankwright.cli.info import info
from rankwright.cli.output import problem
from rankwright.cli.predict import predict, rank
from rankwright.cli.rankers import rankers
from rankwright.cli.train import train
from rankwright.errors import InputError, MissingPackageError
from rankwright.version import __version__

app = typer.Typer(
    help="Learning to rank by boosting: train, evaluate, cross-validate and apply rankers.",
    epilog="New here? Run `rankwright demo`; it takes a few seconds. `rankwright VERB --help` shows an example.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for verb in (demo, train, evaluate, combine, predict, rank, crossval, rankers, info, generate):
    app.command()(verb)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rankwright {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        # Eager, so that no verb is needed after it.
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop."),
    ] = False,
) -> None:
    """Take the options given before a verb."""


def main() -> None:
    """Run the command line; a user's mistake gives one sentence and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]  # it needs only the message
            app()
    except (InputError, MissingPackageError) as error:
        _fail(str(error))
    except MemoryError:
        _fail("There is not enough memory for this command.")
    except OSError as error:  # such as a full disk
        _fail(f"{error.filename or 'Writing'} failed: {error.strerror or error}.")


def _fail(sentence: str) -> None:
    problem(sentence)
    sys.exit(2)


def _show_warning(message: Warning | str, *_where: Any) -> None:
    """Show a warning as one line, without its place in the source code."""
    problem(" ".join(str(message).split()))
