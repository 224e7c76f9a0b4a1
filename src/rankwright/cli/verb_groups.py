"""Groups of verbs, each imported when it is run: help and typos answer at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from rankwright.cli.options.option_groups import as_command
from rankwright.cli.output.help_page import group_page, verb_page

LISTS = ("A,B,...", "LIST", "N or LIST", "FILES")  # what help calls several values in one option


class Verb(TyperCommand):
    """A verb with our help."""

    def get_help(self, ctx: Any) -> str:
        """Return the help: what it does, an example, the common options."""
        return verb_page(self, ctx.command_path, everything=False)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a command; parameters of a ranker may be among its options."""
        options = [name for each in self.get_params(ctx) for name in (*each.opts, *each.secondary_opts)]
        if "--set" in options and not all(word.startswith("-") for word in args):
            from rankwright.cli.options.rankers import with_settings  # which such a verb has imported

            args = with_settings(args, options)
        given = self.make_parser(ctx).parse_args(args=list(args))[2]
        for each in given:
            if given.count(each) > 1 and each.metavar in LISTS and not each.multiple:  # the last alone would count
                ctx.fail(f"{each.opts[0]} is given twice; give it once, with commas between the values.")
        rest: list[str] = super().parse_args(ctx, args)
        return rest


class VerbGroup(TyperGroup):
    """Verbs by panel of the help; a list of verbs needs only the first lines of their docstrings."""

    panels: ClassVar[Mapping[str, Sequence[str]]]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._panel_of = {name: panel for panel, names in self.panels.items() for name in names}
        self.commands: Any = dict.fromkeys(self._panel_of)  # whose names typer suggests for a typo

    @abstractmethod
    def load(self, name: str) -> Any:
        """Return the verb of that name: a function, or a group."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  # as typer calls it
        """Return a verb as a list shows it, without its options; None if there is none of that name."""
        if cmd_name not in self._panel_of:
            return None
        verb = self.load(cmd_name)
        if isinstance(verb, typer.Typer) and verb.registered_callback is not None:
            verb = verb.registered_callback.callback
        return TyperCommand(name=cmd_name, help=(verb.__doc__ or "").partition("\n")[0])

    def get_help(self, ctx: Any) -> str:
        """Return the help: the verbs by panel, and the options before a verb."""
        verbs = {
            panel: {name: self.get_command(ctx, name).help for name in names}
            for panel, names in self.panels.items()
        }
        return group_page(self, ctx.command_path, verbs)

    def full_command(self, name: str) -> Any:
        """Return a verb with its options."""
        verb = self.load(name)
        if not isinstance(verb, typer.Typer):
            alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            alone.command(name, cls=Verb)(as_command(verb))
            verb = alone
        return get_command(verb)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is to be run."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, None if listed is None else self.full_command(str(name)), rest

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options; a flag that is not given is False, since to convert None typer imports pydantic."""
        options: list[Any] = super().get_params(ctx)
        for option in options:
            if getattr(option, "is_flag", False) and option.default is None:
                option.default = False
        return options
