"""The command `rankwright`.

The modules of the verbs import numpy, and all that needs it, when a verb runs: help and typos answer at once.
"""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer
from typer.main import get_command

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.version import __version__
from rankwright.cli.options.mistakes import CommandMistake, sentence_of
from rankwright.cli.options.verb_groups import Group
from rankwright.cli.output.console import problem
from rankwright.cli.verbs.analyse import analyse
from rankwright.cli.verbs.auto import auto
from rankwright.cli.verbs.combine import combine
from rankwright.cli.verbs.compare import compare
from rankwright.cli.verbs.crossval import crossval
from rankwright.cli.verbs.demo import demo
from rankwright.cli.verbs.evaluate import evaluate
from rankwright.cli.verbs.export import export
from rankwright.cli.verbs.features import features
from rankwright.cli.verbs.generate import generate
from rankwright.cli.verbs.import_model import import_model
from rankwright.cli.verbs.index import index
from rankwright.cli.verbs.info import info
from rankwright.cli.verbs.predict import predict, rank
from rankwright.cli.verbs.rankers import rankers
from rankwright.cli.verbs.reproduce import reproduce
from rankwright.cli.verbs.search import search
from rankwright.cli.verbs.serve import serve
from rankwright.cli.verbs.text_demo import text_demo
from rankwright.cli.verbs.train import train
from rankwright.cli.verbs.tune import tune

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
