"""The command `rankwright`.

A verb is imported when it is run, and with it numpy and all that it needs: help and typos answer at once.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.main import get_command

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.version import __version__
from rankwright.cli.options.usage_errors import CommandMistake, sentence_of
from rankwright.cli.output.console import problem
from rankwright.cli.output.help_page import paragraphs
from rankwright.cli.verb_groups import VerbGroup

FIRST_STEPS = """\
See it at work, in half a minute:

    rankwright demo

From judged documents (CSV, Parquet or LETOR files) to a model, a ranking and a service:

    rankwright auto --data judged.csv --qid query --label grade --model model.rw --report page.html
    rankwright rank model.rw --data new.csv --qid query --out run.txt
    rankwright serve model.rw

From text to a search:

    rankwright index docs.jsonl --out index
    rankwright search --index index "words to find"

`rankwright VERB --help` explains a verb and shows an example. If something does not work, `rankwright doctor` says
what is installed."""


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


# Verbs that are not called as their modules and functions are.
FUNCTIONS = {
    "analyse": "tasks.analyse.analyse",
    "clicks": "tasks.clicks.clicks",
    "judge": "tasks.judgements.judge",
    "judgements": "tasks.judgements.judgements",
    "rank": "predict.rank",
    "bin": "bin_files.bin_files",
    "doctor": "info.doctor",
    "drift": "predict.drift",
    "import": "import_model.import_model",
    "text-demo": "text_demo.text_demo",
}


class Verbs(VerbGroup):
    """The verbs, and the options before a verb."""

    panels: ClassVar[Mapping[str, Sequence[str]]] = {
        "Get started": ("demo", "text-demo", "rankers", "generate", "doctor"),
        "Train and evaluate": (
            *(
                "auto",
                "train",
                "bin",
                "tune",
                "evaluate",
                "compare",
                "crossval",
                "combine",
                "reproduce",
                "analyse",
            ),
        ),
        "Apply a model": ("predict", "rank", "serve", "drift", "info", "import", "export"),
        "Search text": ("index", "search", "features"),
        "Judge": ("judge", "judgements"),
        "Learn from users": ("clicks",),
    }

    def load(self, name: str) -> Any:
        """Import the verb of that name."""
        module, _, function = FUNCTIONS.get(name, f"{name}.{name}").rpartition(".")
        return getattr(import_module(f"rankwright.cli.verbs.{module}"), function)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb; one with another tool's name is refused with ours."""
        if args[0] in OTHER_NAMES:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {OTHER_NAMES[args[0]]!r}?")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Verbs,
    help="Learning to rank by boosting: train, evaluate, cross-validate and apply rankers.",
    epilog=FIRST_STEPS,
    subcommand_metavar="VERB ...",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rankwright {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: bool = typer.Option(  # eager, so that no verb is needed after it
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and stop."
    ),
) -> None:
    """Take the options given before a verb."""


def main() -> None:
    """Run the command line; a user's mistake gives one sentence and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]  # it needs only the message
            code = get_command(app)(prog_name="rankwright", standalone_mode=False)
    except CommandMistake as mistake:
        if type(mistake).__name__ == "NoArgsIsHelpError":
            _show_first_steps()
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


def _show_first_steps() -> None:
    """Show what to do next, without the list of verbs."""
    typer.echo("\n\n".join(paragraphs(f"{app.info.help}\n\n{FIRST_STEPS}")))
    typer.echo("\nAll verbs: rankwright --help")


def _fail(sentence: str) -> None:
    problem(sentence)
    sys.exit(2)


def _show_warning(message: Warning | str, *_where: Any) -> None:
    """Show a warning as one line, without its place in the source code."""
    problem(" ".join(str(message).split()))
