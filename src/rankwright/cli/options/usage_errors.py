"""Mistakes in the words of a command, each in one sentence as all other mistakes."""

from __future__ import annotations

import re
from typing import Any

import typer

# typer exports only this class of mistakes; that of all of them is the second above it.
CommandMistake: type[Any] = typer.BadParameter.__mro__[2]

# What typer says, whose versions differ in words, and what we say.
WORDINGS = (
    (
        r"Invalid value for (\S+): (\S+) is not in the range (\S+)<=x<=(\S+)\.",
        r"\1 must be from \3 to \4, not \2.",
    ),
    (r"Invalid value for (\S+): (\S+) is not in the range x>=(\S+)\.", r"\1 must be at least \3, not \2."),
    (r"Invalid value for (\S+): Input should be greater than or equal to (\S+)", r"\1 must be at least \2."),
    (r"Invalid value for (\S+): (\S+) is not in the range x<=(\S+)\.", r"\1 must be at most \3, not \2."),
    (r"Invalid value for (\S+): Input should be less than or equal to (\S+)", r"\1 must be at most \2."),
    (
        r"Invalid value for (\S+): (.+) is not a valid (?:integer|int)(?: range)?\.",
        r"\1 must be an integer, not \2.",
    ),
    (r"Invalid value for (\S+): Input should be a valid integer.*", r"\1 must be an integer."),
    (r"Invalid value for (\S+): (.+) is not a valid float(?: range)?\.", r"\1 must be a number, not \2."),
    (r"Invalid value for (\S+): Input should be a valid number.*", r"\1 must be a number."),
    (r"Missing (option|argument) (\S+)\.", r"The \1 \2 is missing."),
    (r"No such option:? (\S+?)\.?(?= |$)", r"There is no option \1."),
    (r"\.? \((?:Possible options|Did you mean(?: one of)?): (.*?)\??\)", r"; possible options are \1."),
    (r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", r"These words are too many: \1."),
)


def sentence_of(mistake: Any) -> str:
    """Return what is wrong with a command, and where to read how it is used."""
    said = " ".join(mistake.format_message().split()).replace("'--", "--")
    said = re.sub(r"(--[\w-]+)'", r"\1", said)
    for pattern, wording in WORDINGS:
        said = re.sub(pattern, wording, said)
    context = getattr(mistake, "ctx", None)
    if context is None or "Did you mean" in said:
        return said
    is_unknown = "There is no option" in said and any(each.name == "help_all" for each in context.command.params)
    return f"{said} See `{context.command_path} {'--help-all' if is_unknown else '--help'}`."
