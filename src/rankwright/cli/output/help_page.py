"""The help of the command and its verbs, as plain text.

`--help` shows the first sentence of each common option. Options with a heading of their own, such as `MORE`, and
everything else that there is to say are shown by `--help-all`.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from inspect import cleandoc
from typing import Any

import typer

WIDEST = 110  # longer lines are hard to read
NAMES = 26  # the widest column of names
UNBROKEN = "\N{NO-BREAK SPACE}"
SENTENCE = re.compile(r"(?<=\.) (?=[A-Z`-])")


def verb_page(verb: Any, path: str, *, everything: bool) -> str:
    """Return the help of a verb that is called by the words of `path`."""
    options = [each for each in verb.params if each.param_type_name != "argument"]
    groups: dict[str, list[Any]] = {"Arguments": [each for each in verb.params if each not in options]}
    for each in sorted(options, key=lambda each: not each.required):
        groups.setdefault(each.rich_help_panel or "Options", []).append(each)
    shown = groups if everything else {name: groups[name] for name in ("Arguments", "Options")}
    if everything or len(shown) == len(groups):
        groups["Options"].remove(next(each for each in options if each.name == "help_all"))
    parts = [_usage(verb, path), *paragraphs(verb.help)]
    for name, group in shown.items():
        rows = [(_name(each), _meaning(each, everything=everything)) for each in group]
        parts += [_section(name, rows)] if rows else []
    return "\n\n".join(parts)


def group_page(group: Any, path: str, verbs: dict[str, dict[str, str]]) -> str:
    """Return the help of a group: its verbs with their first sentences, by heading."""
    parts = [f"Usage: {path} {group.subcommand_metavar}", *paragraphs(group.help)]
    parts += [_section(heading, rows.items()) for heading, rows in verbs.items()]
    options = [(_name(each), _meaning(each, everything=False)) for each in group.params]
    parts += [_section("Options", options)] if options else []
    return "\n\n".join([*parts, *paragraphs(group.epilog)])


def _usage(verb: Any, path: str) -> str:
    words = [
        _name(each) if each.required else f"[{_name(each)}]"
        for each in sorted(verb.params, key=lambda each: each.param_type_name)  # arguments first
        if each.required or each.param_type_name == "argument"
    ]
    return _filled(" ".join(["Usage:", path, *words, "[OPTIONS]"]), 7)


def _name(parameter: Any) -> str:
    """Return a parameter with what it takes: `--jobs N`."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else f"{names} {parameter.metavar}"


def _meaning(parameter: Any, *, everything: bool) -> str:
    text = str(parameter.help) if everything else SENTENCE.split(str(parameter.help))[0]
    if parameter.required:
        return f"{text} [required]"
    unset = parameter.default is None or parameter.default is False
    default = "yes" if parameter.default is True else parameter.default
    return text if unset else f"{text} [default:{UNBROKEN}{default}]"


def _section(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return rows of names and texts under a heading; the text of a long name begins on the next line."""
    rows = list(rows)
    width = min(max(len(name) for name, _ in rows), NAMES)
    lines = [typer.style(f"{heading}:", bold=True)]
    for name, text in rows:
        first, *rest = _filled(" " * (width + 4) + text, width + 4).splitlines()
        fits = len(name) <= width
        lines += [f"  {name}{first[len(name) + 2 :]}"] if fits else [f"  {name}", first]
        lines += rest
    return "\n".join(lines)


def paragraphs(text: str | None) -> Iterator[str]:
    """Yield the paragraphs of a docstring; an example, indented there, stays as it is below its heading."""
    for each in cleandoc(text or "").replace(":\n\n    ", ":\n    ").split("\n\n"):
        if each:
            yield each if "\n    " in each else _filled(each, 0)


def _filled(text: str, indent: int) -> str:
    width = min(shutil.get_terminal_size().columns, WIDEST)
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(text, width, subsequent_indent=" " * indent, **options).replace(UNBROKEN, " ")
