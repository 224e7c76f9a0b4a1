"""Write the tables of options into the pages: `python docs/tables.py`, or `make docs`.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`. NAME is a ranker, a verb of the command line,
`reading` (what all verbs that read data share), `familiar` (names of other libraries), `text-features`, `printed`
(rankers as their papers print them), or one of `DOCUMENTED`, whose docstring has the text. Everything comes from
the source, so a page cannot differ from the program: `tests/test_docs.py` compares them.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.main import get_command

import rankwright as rw
from rankwright.cli.app import app
from rankwright.rankers.catalogue import known_rankers
from rankwright.rankers.parameters.aliases import TABLE, Argument, OtherName
from rankwright.rankers.parameters.declaration import describe, written
from rankwright.text.features.definitions import FEATURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FOLDER = Path(__file__).parent
MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
PANEL = "Reading data files"
DOCUMENTED: dict[str, Any] = {"ExactStep": rw.ExactStep, "from_pandas": rw.from_pandas}
ENTRY = re.compile(r"^(\w[\w, ]*)\n((?: {4}.*\n?)+)", re.MULTILINE)  # of a numpydoc section


def _verbs(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every verb by its name; a kind of `analyse` is called `analyse-errors` and so on."""
    for name in group.commands:
        verb = group.full_command(name)
        if hasattr(verb, "commands"):
            yield from _verbs(verb, f"{before}{name}-")
        else:
            yield before + name, verb


VERBS = dict(_verbs(get_command(app)))
# `auto` is a verb, and its ranker AutoRanker.
RANKERS = {kind.__name__ if name in VERBS else name: kind for name, kind in known_rankers().items()}


def pages() -> list[Path]:
    """Return the pages, in the order of their names."""
    return sorted(FOLDER.glob("*.md"))


def renewed(page: str) -> str:
    """Return the text of a page with its tables as the declarations have them."""
    return MARKED.sub(lambda found: f"{found[1]}{table(found[2])}\n{found[3]}", page)


def table(name: str) -> str:
    """Return the table of that name in Markdown."""
    if name == "familiar":
        return _markdown(("there", "here"), _familiar())
    if name == "text-features":
        return _markdown(("feature", "family", "value", "Table 2"), _text_features())
    if name == "printed":
        return _markdown(("ranker", "as printed"), _printed())
    if name == "reading":
        return _markdown(("option", "meaning"), _of_verb("train", reading=True))
    if name in VERBS:
        return _markdown(("option", "meaning"), _of_verb(name, reading=False))
    if name in DOCUMENTED:
        return _markdown(("option", "default", "meaning"), _of_docstring(DOCUMENTED[name]))
    return _markdown(("option", "default", "values", "meaning"), _of_ranker(name))


def _of_ranker(name: str) -> Iterator[tuple[str, ...]]:
    for one in describe(RANKERS[name]):
        yield f"`{one.name}`", f"`{written(one.default)}`", str(one.check), one.meaning


def _of_docstring(kind: Any) -> Iterator[tuple[str, ...]]:
    parameters = inspect.signature(kind).parameters
    section = inspect.cleandoc(kind.__doc__).split("----------\n")[1]
    for names, meaning in ENTRY.findall(section):
        defaults = [parameters[name].default for name in names.split(", ")]
        if inspect.Parameter.empty not in defaults:
            yield _code(names.split(", ")), _code(map(repr, defaults)), " ".join(meaning.split())


def _of_verb(name: str, *, reading: bool) -> Iterator[tuple[str, ...]]:
    for one in VERBS[name].params:
        if one.name != "help_all" and (getattr(one, "rich_help_panel", None) == PANEL) == reading:
            yield f"`{_spelled(one)}`", _meaning(one)


def _spelled(option: Any) -> str:
    """Return an option with what it takes: `--jobs N`."""
    if option.param_type_name == "argument":
        return str(option.metavar)
    names = ", ".join(option.opts)
    return names if option.is_flag else f"{names} {option.metavar}"


def _meaning(option: Any) -> str:
    """Return the help of an option, with its default if it has one."""
    if option.required:
        return f"{option.help} Required."
    unset = option.default is None or option.default is False
    return str(option.help) if unset else f"{option.help} Default: `{option.default}`."


def _text_features() -> Iterator[tuple[str, ...]]:
    for one in FEATURES:
        yield f"`{one.name}`", f"`{one.family}`", one.formula, "" if one.paper is None else str(one.paper)


def _printed() -> Iterator[tuple[str, str]]:
    for kind in RANKERS.values():
        if kind.printed:
            yield f"`{kind.__name__}`", _code(f"{name}={written(value)}" for name, value in kind.printed.items())


def _familiar() -> Iterator[tuple[str, str]]:
    for names, entry in TABLE.items():
        there = _code(names.split())
        if isinstance(entry, OtherName):
            yield there, f"`{entry.ours}`{entry.note and '; '}{entry.note}"
        elif isinstance(entry, Argument):
            yield there, f"`fit(..., {entry.example})`{entry.note and ', '}{entry.note}"
        else:
            yield there, entry.advice


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _markdown(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    for page in pages():
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
