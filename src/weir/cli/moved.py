# SPDX-License-Identifier: Apache-2.0
"""Commands under their old names: each ends with exit code 2 and says the new one."""

from __future__ import annotations

from typing import Any

import typer

from weir.cli.exits import USAGE
from weir.cli.help import Command

MOVED = {
    "calibrate": "`weir model calibrate`",
    "predict": "`weir model predict LAB`; without a lab, `weir model kernel-vnf predict`",
    "validate-model": "`weir model validate`",
    "report --list": "`weir ls`",
    "plan --fleet": "`weir fleet plan`",
    "plan --model kernel-vnf": "`weir model kernel-vnf rank`",
}


class Moved(Command):
    """A command, or options of one, that went elsewhere; whatever else it is given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As usual, unless the words are an old name."""
        given = " ".join([str(self.name), *args]).replace("=", " ") + " "
        for old, new in MOVED.items():
            command, _, options = old.partition(" ")
            if given.startswith(f"{command} ") and f"{options} " in given:
                typer.echo(f"weir: `weir {old}` is now {new}", err=True)
                raise typer.Exit(USAGE)
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    """Those that are whole commands, hidden."""
    for old in MOVED:
        if " " not in old:
            app.command(old, cls=Moved, hidden=True)(lambda: None)
