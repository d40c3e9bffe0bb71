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
    from weir.store.files import copy_folder

    labs = shipped("labs")
    names = sorted(path.name for path in labs.iterdir() if path.is_dir())
    if copy is None:
        print("\n".join(f"{labs / name}" for name in names))
        return
    copy_folder(labs, copy, "name another directory with --copy")
    print(f"{len(names)} labs in {copy}: {', '.join(names)}")
