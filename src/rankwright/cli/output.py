"""What the command line shows: tables for people, JSON for machines, progress on a terminal."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

# Results go to standard output; progress, notes and mistakes to standard error, so that pipes stay clean.
results = Console(highlight=False, soft_wrap=True)
notes = Console(stderr=True, highlight=False, soft_wrap=True)


def show_json(value: Any) -> None:
    """Print one JSON object."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None) -> None:
    """Print a table; all columns but the first hold numbers."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    results.print(table)


def show_facts(facts: Mapping[str, Any]) -> None:
    """Print names and what is known under them."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column()
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _spell(value))
    results.print(table)


def say(sentence: str) -> None:
    """Print a line of the result."""
    results.print(sentence, markup=False)


def note(sentence: str) -> None:
    """Print a remark that is not part of the result."""
    notes.print(sentence, markup=False, style="dim")


def problem(sentence: str) -> None:
    """Print what went wrong."""
    notes.print(f"rankwright: {sentence}", markup=False)


def _spell(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{name}  {_spell(one)}" for name, one in value.items())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,.6g}"
    return escape(str(value))


@contextmanager
def progress(task: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a bar on a terminal, nothing elsewhere; yields what to call, with a remark, after each step."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, TextColumn("{task.fields[remark]}"), console=notes, transient=True, disable=not notes.is_terminal
    ) as bar:
        running = bar.add_task(task, total=total, remark="")
        yield lambda remark: bar.update(running, advance=1, remark=remark)
