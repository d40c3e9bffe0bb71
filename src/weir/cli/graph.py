# SPDX-License-Identifier: Apache-2.0
"""`weir graph`: the network of this host as it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from weir.base.printable import printable
from weir.cli.deployments import deployed
from weir.cli.exits import FAILED, USAGE, CommandError

if TYPE_CHECKING:
    from weir.fabric import Deployment
    from weir.results.host_graph import HostGraph, Namespace


WATCHED_S = 1.0
_NAMED = 3
"""Of what was not seen; the text and the JSON have all."""
_AS_ROOT = "run it as root or with sudo to see the rest"
_FORMS = {
    "text": "graph_text",
    "mermaid": "graph_mermaid",
    "svg": "graph_page.picture",
    "html": "graph_page.document",
}
"""What writes each, of the report."""


def graph(
    lab: Annotated[
        str | None,
        typer.Argument(
            metavar="LAB",
            help="A deployed lab's file, directory or name, or the deployment's ID: its network alone, and "
            "what of it is not as it was built.",
        ),
    ] = None,
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
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Again and again, until Ctrl-C: text, or with -f html a page that is served on loopback.",
        ),
    ] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Of that page; 0: one that is free.")
    ] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there.")
    ] = None,
) -> None:
    """Show the network of this host as it is. Namespaces, interfaces, bridges, Open vSwitch, what joins them.

    Reads only. Without root it shows its own namespace, and says what it could not see. Exit code 1 says
    that the network of a LAB is not as it was built, or that the packet of --path was not seen to arrive.
    """
    from weir import fabric
    from weir.fabric.host_graph import read

    if watch and (form not in ("text", "html") or output is not None):
        raise CommandError("--watch shows text, or with -f html a page; it writes no file", USAGE)
    if lab is not None:
        fabric.require_root_to_look()
    deployment = deployed(lab) if lab is not None else None

    if output is not None:
        from weir.store.files import check_file

        check_file(output, "--output")

    def look(between_s: float) -> HostGraph:
        found = read(between_s, path)
        found = _compared(found, deployment) if deployment is not None else found
        return _narrowed(found, only) if only else found

    if watch:
        _watched(look, interval_s or WATCHED_S, form, port)
        return
    found = look(interval_s)
    text = _rendered(found, form)
    if output is None:
        print(text, end="")
    else:
        from weir.store.files import write_file

        write_file(output, text, "choose another place with --output")
        print(f"wrote {output}")
    _say_what_root_sees(found, listed=form == "text" and path is None and output is None)
    if found.differences or (found.way is not None and not found.way.arrives):
        raise typer.Exit(FAILED)


def _say_what_root_sees(found: HostGraph, *, listed: bool) -> None:
    """To an ordinary user, from whom some of it is hidden. `listed`: he has just read what."""
    if not found.unseen or os.geteuid() == 0:
        return
    more = f"; and {len(found.unseen) - _NAMED} more" if len(found.unseen) > _NAMED else ""
    named = f"not seen: {printable('; '.join(found.unseen[:_NAMED]))}{more}"
    print(f"weir: {'not all of this host was seen' if listed else named}; {_AS_ROOT}", file=sys.stderr)


def _watched(look: Callable[[float], HostGraph], interval_s: float, form: str, port: int) -> None:
    from weir.cli.graph_watch import watch_page, watch_text
    from weir.report.graph_page import document

    try:
        if form == "text":
            watch_text(lambda: look(interval_s), lambda found: _rendered(found, form))
        else:
            watch_page(
                lambda: look(interval_s), lambda found: document.render(found, watched_s=interval_s), port
            )
    except KeyboardInterrupt:
        print()


def _compared(found: HostGraph, deployment: Deployment) -> HostGraph:
    """Its namespaces and switches alone, and what of them is not as it was made."""
    from weir.fabric.host_graph.differences import differences
    from weir.fabric.host_graph.intended import of_steps

    intended = of_steps(deployment.steps())
    differing = list(differences(intended, found, deployment.run_dir))
    names = intended.namespaces.keys()
    chosen = [one for one in found.namespaces if one.name in names]
    # What could not be seen of others' deployments would be longer than the answer.
    others = f"{deployment.run_dir.parent}/"
    unseen = [one for one in found.unseen if others not in one or f"{deployment.run_dir}/" in one]
    return _of(found, chosen).model_copy(
        update={"deployment": deployment.id, "differences": differing, "unseen": unseen}
    )


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
        hidden = f"; not all were seen: {_AS_ROOT}" if found.unseen and os.geteuid() != 0 else ""
        message = f"no namespace has {' or '.join(parts)} in its name; there are: {known}{hidden}"
        raise CommandError(message, USAGE)
    return _of(found, chosen)


def _of(found: HostGraph, chosen: Sequence[Namespace]) -> HostGraph:
    """These, and what they are joined to."""
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
