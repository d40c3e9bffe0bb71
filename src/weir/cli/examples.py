# SPDX-License-Identifier: Apache-2.0
"""`weir examples`: the labs that come with Weir, for those who have no checkout of its source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def examples(
    *,
    copy: Annotated[
        Path | None,
        typer.Option("--copy", metavar="DIR", help="Copy them to this directory, which must not be there."),
    ] = None,
) -> None:
    """List the labs that come with Weir, or copy them.

    `weir examples --copy labs` makes what the documentation names as `labs/switching` and so on.
    """
    from weir.base import shipped
    from weir.lab.source import COMMANDS
    from weir.store.files import copy_folder

    labs = shipped("labs")
    names = sorted(path.name for path in labs.iterdir() if path.is_dir())
    if copy is None:
        print(f"In {labs}:")
        wide = max(map(len, names))
        for name in names:
            file = next(one for one in COMMANDS if (labs / name / one).exists())
            print(f"  {name:{wide}}  {COMMANDS[file]:15}  {_title(labs / name / file)}")
        return
    copy_folder(labs, copy, "name another directory with --copy")
    print(f"{len(names)} labs in {copy}: {', '.join(names)}")


def _title(file: Path) -> str:
    """Its own, or else the heading of what describes it."""
    lines = file.read_text().splitlines()
    heading, _, _ = file.with_name("README.md").read_text().partition("\n")
    titles = (line.removeprefix("title: ") for line in lines if line.startswith("title: "))
    return next(titles, heading.removeprefix("# "))
