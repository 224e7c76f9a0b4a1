"""Output of the command line: tables, JSON, notes, and progress on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rankwright.base.wording import metric_value, plain
from rankwright.reports.blocks import (
    Facts,
    Note,
    Table,
    aligned,
    captions,
    fact_lines,
    printable,
    shown_blocks,
    table_lines,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console, RenderableType

    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.report import Report
    from rankwright.reports.blocks import ShownBlock
    from rankwright.reports.result import Result

Item = TypeVar("Item")
LONGEST_SENTENCE = 1000  # characters


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


def write_text(text: str, path: Path) -> None:
    """Write a file, completely or not at all."""
    from rankwright.base.files import write_whole

    with write_whole(path) as file:
        file.write(text.encode())


def show_json(value: Any) -> None:
    """Print one JSON object; NaN becomes null, and a value that JSON cannot hold becomes text."""
    show_text(json.dumps(plain(value), indent=2, allow_nan=False, default=str) + "\n")


def show(result: Result | Mapping[str, Any], *, json: bool, sections: int | None = None, **more: Any) -> None:
    """Print a result, or facts by their keys in JSON: as text, the heads of tables in bold, or as one JSON object.

    `sections` limits the text to the first ones; a page has all. `more` is added to the JSON object: the files
    that a verb has written.
    """
    if json:
        facts = result if isinstance(result, Mapping) else result.to_dict()
        show_json(
            {**facts, **{name: str(value) if isinstance(value, Path) else value for name, value in more.items()}}
        )
    elif isinstance(result, Mapping):
        show_facts({name.replace("_", " "): value for name, value in result.items()})
    else:
        say(result.summary)
        blocks = [block for section in result.sections[:sections] for block in shown_blocks(section)]
        for block in blocks:
            _show_block(block, blocks)


def _show_block(block: ShownBlock, blocks: Sequence[ShownBlock]) -> None:
    if isinstance(block, Note):
        note(block.text)
        return
    say("")
    if isinstance(block, Table):
        for caption in captions(block, blocks):
            say(caption)
        show_lines(table_lines(block))
    elif isinstance(block, Facts):
        show_facts(block.facts)
    else:
        say(block.text)


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; all columns but the first hold numbers."""
    show_lines(aligned([head, *rows]))


def show_lines(lines: Sequence[str]) -> None:
    """Print the lines of a table, the first of them its head."""
    for number, line in enumerate(lines):
        results().print(printable(line), style=None if number else "bold")


def show_facts(facts: Mapping[str, Any]) -> None:
    """Print facts by name, the facts of a nested mapping indented."""
    for line in fact_lines(facts):
        results().print(printable(line))


def show_found(
    rank: int, name: str, score: float, heading: str, snippet: str, marks: Iterable[tuple[int, int]]
) -> None:
    """Print a document that was found, and a part of its text in which words are marked on a terminal."""
    from rich.text import Text as Styled

    line = Styled(f"{rank:>3}  {printable(name)}  {metric_value(score)}", style="bold")
    if heading:
        line.append(f"  {printable(heading)}")
    results().print(line)
    if snippet:
        # Every character that is not printable becomes one, so that the marks keep their places.
        part = Styled("".join(character if character.isprintable() else "?" for character in snippet))
        for begin, end in marks:
            part.stylize("bold yellow", begin, end)
        results().print(Styled("     ") + part)


def say(text: str) -> None:
    """Print one or more lines of the result."""
    for line in text.split("\n"):
        results().print(printable(line), soft_wrap=not results().is_terminal)


def note(sentence: str) -> None:
    """Print a remark that is not part of the result."""
    notes().print(sentence, style="dim", soft_wrap=not notes().is_terminal)


def note_coverage(report: Report) -> None:
    """Print what only a run or only the judgements hold."""
    for remark in report.remarks():
        note(remark)


def problem(sentence: str) -> None:
    """Print an error or a warning."""
    notes().print(f"rankwright: {one_line(sentence)}")


def one_line(sentence: str) -> str:
    """Return a sentence to print; one that quotes a long value without its middle."""
    text = printable(sentence)
    return text if len(text) <= LONGEST_SENTENCE else f"{text[: LONGEST_SENTENCE // 2]} ... {text[-200:]}"


def describe(data: RankingData) -> str:
    """Return the size of the data in words."""
    from rankwright.base.wording import counted

    documents, queries = counted(len(data), "document"), counted(len(data.groups), "query")
    return f"{documents} of {queries}, {counted(data.n_features, 'feature')}"


@contextmanager
def progress(task: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal; yields the function to call with a remark after each step, or several."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    remarks = TextColumn("{task.fields[remark]}", markup=False)
    with Progress(
        *columns, remarks, console=notes(), transient=True, disable=not notes().is_terminal, redirect_stdout=False
    ) as bar:
        running = bar.add_task(task, total=total, remark="")
        yield lambda remark, n_steps=1: bar.update(running, advance=n_steps, remark=remark)


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
