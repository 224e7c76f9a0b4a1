"""Output of the command line: tables, JSON, notes, and progress on a terminal."""

from __future__ import annotations

import json
import math
import sys
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from rankwright.reports.text import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console, RenderableType

    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.report import Report

Item = TypeVar("Item")


@cache
def _console(*, stderr: bool) -> Console:
    from rich.console import Console  # only when something is printed

    return Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)


def results() -> Console:
    """Return the console of results: standard output."""
    return _console(stderr=False)


def notes() -> Console:
    """Return the console of progress, notes and mistakes: standard error, so that pipes stay clean."""
    return _console(stderr=True)


def show_text(text: str) -> None:
    """Print text as it is; stop quietly if the reader has gone, as in `| head -1`."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        results().on_broken_pipe()


def write_text(path: Path, text: str) -> None:
    """Write a file, completely or not at all."""
    from rankwright.base.files import write_whole

    with write_whole(path) as file:
        file.write(text.encode())


def show_json(value: Any) -> None:
    """Print one JSON object; NaN becomes null, and a value that JSON cannot hold becomes text."""
    show_text(json.dumps(_without_nan(value), indent=2, allow_nan=False, default=str) + "\n")


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; all columns but the first hold numbers."""
    first, *lines = aligned([head, *rows])
    results().print(_printable(first), style="bold")
    for line in lines:
        results().print(_printable(line))


def show_facts(facts: Mapping[str, Any]) -> None:
    """Print facts by name, the facts of a nested mapping indented."""
    width = max(map(len, facts))
    for name, value in facts.items():
        for place, line in enumerate(_lines_of(value)):
            results().print(_printable(f"{'' if place else name.replace('_', ' '):<{width}}  {line}"))


def show_found(
    rank: int, name: str, score: float, heading: str, snippet: str, marks: Iterable[tuple[int, int]]
) -> None:
    """Print a document that was found, and a part of its text in which words are marked on a terminal."""
    from rich.text import Text

    line = Text(f"{rank:>3}  {_printable(name)}  {score:.4f}", style="bold")
    if heading:
        line.append(f"  {_printable(heading)}")
    results().print(line)
    if snippet:
        # Every character that is not printable becomes one, so that the marks keep their places.
        part = Text("".join(one if one.isprintable() else "?" for one in snippet))
        for begin, end in marks:
            part.stylize("bold yellow", begin, end)
        results().print(Text("     ") + part)


def say(text: str) -> None:
    """Print one or more lines of the result."""
    for line in text.split("\n"):
        results().print(_printable(line))


def note(sentence: str) -> None:
    """Print a remark that is not part of the result."""
    notes().print(sentence, style="dim")


def note_coverage(report: Report) -> None:
    """Print what only a run or only the judgements hold."""
    for remark in report.remarks():
        note(remark)


def problem(sentence: str) -> None:
    """Print an error or a warning."""
    notes().print(f"rankwright: {_printable(sentence)}")


def describe(data: RankingData) -> str:
    """Return the size of the data in words."""
    from rankwright.base.wording import counted

    documents, queries = counted(len(data), "document"), counted(len(data.groups), "query")
    return f"{documents} of {queries}, {counted(data.n_features, 'feature')}"


@contextmanager
def progress(task: str, total: int | None) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on a terminal; yields the function to call with a remark after each step."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    remarks = TextColumn("{task.fields[remark]}", markup=False)
    with Progress(
        *columns, remarks, console=notes(), transient=True, disable=not notes().is_terminal, redirect_stdout=False
    ) as bar:
        running = bar.add_task(task, total=total, remark="")
        yield lambda remark: bar.update(running, advance=1, remark=remark)


@contextmanager
def counting(task: str, noun: str, items: Iterable[Item]) -> Iterator[Iterator[Item]]:
    """Yield the items again while a terminal shows how many have passed."""
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(f"{task} {{task.completed:,.0f}} {noun}s"), TimeElapsedColumn())
    with Progress(
        *columns, console=notes(), transient=True, disable=not notes().is_terminal, redirect_stdout=False
    ) as bar:
        running = bar.add_task(task, total=None)

        def passing() -> Iterator[Item]:
            for number, item in enumerate(items, start=1):
                if number % 1000 == 0:  # more often would cost more than it shows
                    bar.update(running, completed=number)
                yield item

        yield passing()


@contextmanager
def live(shown: Callable[[], RenderableType]) -> Iterator[Callable[[], None]]:
    """Show on a terminal what `shown` returns, anew every second; yields the function to show it at once."""
    from rich.live import Live

    with Live(
        get_renderable=shown, console=notes(), refresh_per_second=1, transient=True, redirect_stdout=False
    ) as display:
        yield display.refresh


def _lines_of(value: Any) -> list[str]:
    """Return a fact as lines: one for each fact of a mapping, a table of records with the same names."""
    if isinstance(value, dict):
        width = max(map(len, value), default=0)
        return [f"{name:<{width}}  {_spell(one)}" for name, one in value.items()] or ["none"]
    if _are_records(value):
        names = list(value[0])
        return aligned([names, *([_spell(record[name]) for name in names] for record in value)])
    return [_spell(value)]


def _are_records(value: Any) -> bool:
    records = isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
    return records and all(one.keys() == value[0].keys() for one in value)


def _spell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return "; ".join(f"{name} {_spell(one)}" for name, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_spell, value)) or "none"
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
