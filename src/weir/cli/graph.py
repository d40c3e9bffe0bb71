# SPDX-License-Identifier: Apache-2.0
"""`weir graph`: the network of this host as it is."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from weir.cli.exits import USAGE, CommandError

if TYPE_CHECKING:
    from weir.results.host_graph import HostGraph


_FORMS = {
    "text": "graph_text",
    "mermaid": "graph_mermaid",
    "svg": "graph_page.picture",
    "html": "graph_page.document",
}
"""What writes each, of the report."""


def graph(
    *,
    form: Annotated[
        Literal["text", "json", "mermaid", "svg", "html"],
        typer.Option("--format", "-f", help="How it is written."),
    ] = "text",
    interval_s: Annotated[
        float,
        typer.Option(
            "--interval", min=0.0, max=3600.0, help="Seconds between two looks, for rates; 0: counts alone."
        ),
    ] = 0.0,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--namespace",
            "-n",
            metavar="NAME",
            help="Only namespaces whose name has this in it, and what they are joined to; may be repeated.",
        ),
    ] = None,
    path: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--path",
            metavar="FROM TO",
            help="Follow an IPv4 packet. An end is a namespace, an address, NAMESPACE/INTERFACE or "
            "NAMESPACE/ADDRESS.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there.")
    ] = None,
) -> None:
    """Show the network of this host as it is: namespaces, interfaces, bridges, Open vSwitch, what joins them.

    Reads only. Without root it shows its own namespace, and says what it could not see.
    """
    from weir.fabric.host_graph import read

    if output is not None:
        from weir.store.files import check_file

        check_file(output, "--output")
    found = read(interval_s, path)
    if only:
        found = _narrowed(found, only)
    text = _rendered(found, form)
    if output is None:
        print(text, end="")
        return
    from weir.store.files import write_file

    write_file(output, text, "choose another place with --output")
    print(f"wrote {output}")


def _rendered(found: HostGraph, form: str) -> str:
    if form == "json":
        return found.model_dump_json(indent=2) + "\n"
    rendered: str = import_module(f"weir.report.{_FORMS[form]}").render(found)
    return rendered


def _narrowed(found: HostGraph, parts: list[str]) -> HostGraph:
    """CommandError where no namespace has such a name."""
    chosen = [one for one in found.namespaces if any(part in one.name for part in parts)]
    if not chosen:
        known = ", ".join(one.name for one in found.namespaces[:12])
        raise CommandError(f"no namespace has {' or '.join(parts)} in its name; there are: {known}", USAGE)
    bridges = {one.id for one in found.bridges if one.namespace in {each.id for each in chosen}}
    inside = {one.id for namespace in chosen for one in namespace.interfaces} | bridges
    joins = [one for one in found.joins if any(end in inside for end in one.ends)]
    shown = inside | {end for one in joins for end in one.ends}
    namespaces = []
    for namespace in found.namespaces:
        kept = [one for one in namespace.interfaces if one.id in shown]
        if kept or namespace in chosen:
            namespaces.append(namespace.model_copy(update={"interfaces": kept}))
    return found.model_copy(
        update={
            "namespaces": namespaces,
            "bridges": [one for one in found.bridges if one.id in shown],
            "joins": joins,
        }
    )
