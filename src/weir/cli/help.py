# SPDX-License-Identifier: Apache-2.0
"""How --help looks: arguments as `LAB` or `[LAB]` where it may be absent, commands in groups by workflow."""

from __future__ import annotations

from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

_BESIDE = 6  # columns of a line that are neither name nor sentence
OTHERS = "Commands"
"""Of commands without a group (`rich_help_panel`)."""


_SAID = {
    "Input should be a valid integer": "expected a whole number",
    "Input should be a valid number": "expected a number",
}
"""In the words of the library that reads options: in ours."""


class Command(TyperCommand):
    """A command whose usage is written as manual pages write it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """A value that is none is refused in plain words."""
        try:
            return super().parse_args(ctx, args)
        except BadParameter as error:
            said = error.message.removeprefix("Value error, ")
            error.message = next((ours for theirs, ours in _SAID.items() if said.startswith(theirs)), said)
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The options' place, then arguments by name; in brackets what may be absent."""
        pieces = [self.options_metavar] if self.options_metavar else []
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                pieces.append(argument(parameter))
        return pieces


class Group(TyperGroup):
    """Commands, each in a line, under the name of their group."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """A name that is near one of another time is not said to be that one."""
        if args and args[0] not in self.commands:
            self.commands = {name: one for name, one in self.commands.items() if not one.hidden}
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Groups in the order of their first commands, all names as wide as the widest."""
        shown = {name: one for name, one in self.commands.items() if not one.hidden}
        wide = max(map(len, shown), default=0)
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, one in shown.items():
            sentence = one.get_short_help_str(formatter.width - _BESIDE - wide)
            group = getattr(one, "rich_help_panel", None) or OTHERS
            groups.setdefault(group, []).append((name.ljust(wide), sentence))
        for group, lines in groups.items():
            with formatter.section(group):
                formatter.write_dl(lines)


def argument(parameter: Any) -> str:
    """As a line of usage has it."""
    name = str(parameter.metavar or parameter.name.upper())
    whole = name if parameter.required else f"[{name}]"
    return whole if parameter.nargs == 1 else f"{whole}..."
