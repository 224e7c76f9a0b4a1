"""The command `rankwright`.

The modules of the verbs import numpy, and all that needs it, when a verb runs: help and typos answer at once.
"""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer
from typer.main import get_command

from rankwright.cli.analyse import analyse
from rankwright.cli.auto import auto
from rankwright.cli.combine import combine
from rankwright.cli.compare import compare
from rankwright.cli.crossval import crossval
from rankwright.cli.demo import demo
from rankwright.cli.evaluate import evaluate
from rankwright.cli.exporting import export
from rankwright.cli.features import features
from rankwright.cli.generate import generate
from rankwright.cli.groups import Group
from rankwright.cli.importing import import_model
from rankwright.cli.index import index
from rankwright.cli.info import info
from rankwright.cli.mistakes import CommandMistake, sentence_of
from rankwright.cli.output import problem
from rankwright.cli.predict import predict, rank
from rankwright.cli.rankers import rankers
from rankwright.cli.reproduce import reproduce
from rankwright.cli.search import search
from rankwright.cli.serve import serve
from rankwright.cli.text_demo import text_demo
from rankwright.cli.train import train
from rankwright.cli.tune import tune
from rankwright.errors import InputError, MissingPackageError
from rankwright.version import __version__

EPILOG = """\
**First steps**

    rankwright demo
    rankwright auto --data judged.txt --model model.rw
    rankwright train lambdamart --train train.txt --valid vali.txt --model model.rw
    rankwright evaluate model.rw --data test.txt
    rankwright rank model.rw --data new.txt --out run.txt
    rankwright serve model.rw
    rankwright index docs.jsonl --out index
    rankwright search --index index "words to find"

`rankwright VERB --help` explains a verb and shows an example."""


# What other tools call a verb, and what it is called here.
OTHER_NAMES = {
    "analyze": "analyse",
    "automl": "auto",
    "blend": "combine",
    "convert": "import",
    "cross-validate": "crossval",
    "cv": "crossval",
    "fit": "train",
    "optimise": "tune",
    "optimize": "tune",
    "query": "search",
    "retrieve": "search",
    "score": "predict",
    "test": "evaluate",
}


class Verbs(Group):
    """The verbs, and the options before a verb."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb; one with another tool's name is refused with ours."""
        if args[0] in OTHER_NAMES:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {OTHER_NAMES[args[0]]!r}?")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Verbs,
    help="Learning to rank by boosting: train, evaluate, cross-validate and apply rankers.",
    epilog=EPILOG,
    subcommand_metavar="VERB ...",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
PANELS = {
    "Get started": (demo, text_demo, rankers, generate),
    "Train and evaluate": (auto, train, tune, evaluate, compare, crossval, combine, reproduce),
    "Apply a model": (predict, rank, serve, info, import_model, export),
    "Search text": (index, search, features),
}
NAMES: dict[Any, str] = {import_model: "import"}  # where Python does not allow the verb as a name
for panel, verbs in PANELS.items():
    for verb in verbs:
        app.command(NAMES.get(verb), rich_help_panel=panel)(verb)
app.add_typer(analyse, name="analyse", rich_help_panel="Train and evaluate")


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
            code = get_command(app)(prog_name="rankwright", standalone_mode=False)
    except CommandMistake as mistake:
        if type(mistake).__name__ == "NoArgsIsHelpError":  # which has printed the help
            sys.exit(2)
        _fail(sentence_of(mistake))
    except typer.Abort:  # standard input ended where something was asked for
        sys.exit(1)
    except (InputError, MissingPackageError) as error:
        _fail(str(error))
    except MemoryError:
        _fail("There is not enough memory for this command.")
    except OSError as error:  # such as a full disk
        _fail(f"{error.filename or 'Writing'} failed: {error.strerror or error}.")
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _fail(sentence: str) -> None:
    problem(sentence)
    sys.exit(2)


def _show_warning(message: Warning | str, *_where: Any) -> None:
    """Show a warning as one line, without its place in the source code."""
    problem(" ".join(str(message).split()))
