"""The command `rankwright`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rankwright.cli.crossval import crossval
from rankwright.cli.demo import demo
from rankwright.cli.evaluate import evaluate
from rankwright.cli.generate import generate
from rankwright.cli.info import info
from rankwright.cli.output import problem
from rankwright.cli.predict import predict, rank
from rankwright.cli.train import train
from rankwright.errors import InputError, MissingPackageError
from rankwright.version import __version__

app = typer.Typer(
    help="Learning to rank by boosting: train, compare, cross-validate and ship rankers from judged queries.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for verb in (demo, train, evaluate, predict, rank, crossval, info, generate):
    app.command()(verb)


@app.callback(invoke_without_command=True)  # --version stands alone
def options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
) -> None:
    """Take the options that stand before a verb."""
    if version:
        typer.echo(f"rankwright {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    try:
        app()
    except (InputError, MissingPackageError) as error:
        problem(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        problem("Interrupted.")
        sys.exit(130)
