"""Output of the command line: tables, JSON, notes, and progress on a terminal."""

from __future__ import annotations

import json
import math
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rankwright.data.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rankwright.data import RankingData

# Results go to standard output; progress, notes and mistakes to standard error, so that pipes stay clean.
results = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
notes = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


def show_text(text: str) -> None:
    """Print text as it is; stop quietly if the reader has gone, as in `| head -1`."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        results.on_broken_pipe()


def show_json(value: Any) -> None:
    """Print one JSON object; NaN becomes null, and a value that JSON cannot hold becomes text."""
    show_text(json.dumps(_without_nan(value), indent=2, allow_nan=False, default=str) + "\n")


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; all columns but the first hold numbers."""
    first, *lines = _aligned([head, *rows])
    results.print(_printable(first), style="bold")
    for line in lines:
        results.print(_printable(line))


def show_facts(facts: Mapping[str, Any]) -> None:
    """Print facts by name, the facts of a nested mapping indented."""
    width = max(map(len, facts))
    for name, value in facts.items():
        for place, line in enumerate(_lines_of(value)):
            results.print(_printable(f"{'' if place else name.replace('_', ' '):<{width}}  {line}"))


def say(sentence: str) -> None:
    """Print a line of the result."""
    results.print(sentence)


def note(sentence: str) -> None:
    """Print a remark that is not part of the result."""
    notes.print(sentence, style="dim")


def problem(sentence: str) -> None:
    """Print an error or a warning."""
    notes.print(f"rankwright: {_printable(sentence)}")


def describe(data: RankingData) -> str:
    """Return the size of the data in words."""
    documents, queries = counted(len(data), "document"), counted(len(data.groups), "query")
    return f"{documents} of {queries}, {counted(data.n_features, 'feature')}"


def spelled(value: Any) -> str:
    """Return a parameter's value as `--set` takes it."""
    if isinstance(value, list | tuple):
        return ",".join(map(spelled, value)) or "none"
    return str(value).lower() if isinstance(value, bool | None) else str(value)


@contextmanager
def progress(task: str, total: int | None) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on a terminal; yields the function to call with a remark after each step."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    remarks = TextColumn("{task.fields[remark]}", markup=False)
    with Progress(
        *columns, remarks, console=notes, transient=True, disable=not notes.is_terminal, redirect_stdout=False
    ) as bar:
        running = bar.add_task(task, total=total, remark="")
        yield lambda remark: bar.update(running, advance=1, remark=remark)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines, the first column aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _lines_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        width = max(map(len, value), default=0)
        return [f"{name:<{width}}  {_spell(one)}" for name, one in value.items()] or ["none"]
    return [_spell(value)]


def _spell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


def _printable(text: str) -> str:
    """Return text with its control characters escaped, so that a terminal does not obey them."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
