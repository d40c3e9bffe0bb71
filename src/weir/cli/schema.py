# SPDX-License-Identifier: Apache-2.0
"""`weir schema`: JSON Schemas, for editors and for programs that read what Weir writes."""

from __future__ import annotations

from typing import Annotated

import typer

from weir.cli.exits import USAGE, CommandError

_SUFFIX = ".schema.json"


def schema(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Of what, such as lab; absent: the names are listed."),
    ] = None,
) -> None:
    """Print the JSON Schema of a file that Weir reads or writes.

    `weir schema lab > lab.schema.json`, and as the first line of a lab file
    `# yaml-language-server: $schema=lab.schema.json`: editors then complete and check it.
    """
    from weir.base import shipped
    from weir.lab.problem import did_you_mean

    known = {path.name.removesuffix(_SUFFIX): path for path in shipped("schema").glob(f"*{_SUFFIX}")}
    if name is None:
        print("\n".join(sorted(known)))
        return
    if name not in known:
        raise CommandError(
            f"there is no schema {name!r}; expected one of {', '.join(sorted(known))}"
            f"{did_you_mean(name, sorted(known))}",
            USAGE,
        )
    print(known[name].read_text(encoding="utf-8"), end="")
