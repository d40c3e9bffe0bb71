# SPDX-License-Identifier: Apache-2.0
"""`weir offer`: what this host offers to campaigns over many hosts."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from weir.cli.exits import USAGE, CommandError


def offer(
    *,
    ray: Annotated[
        bool, typer.Option("--ray", help="As arguments of `ray start`: --resources=… --labels=…")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Print what this host offers to `weir run --on`."""
    from weir.fabric.offer import offer as offered

    if ray and as_json:
        raise CommandError("--ray or --json, not both", USAGE)
    found = offered()
    if as_json:
        print(found.model_dump_json(indent=2))
    elif ray:  # no space in it: the shell takes it apart at spaces, and leaves quotes as they are
        resources = json.dumps(found.resources, separators=(",", ":"))
        print(f"--resources={resources} --labels={','.join('='.join(one) for one in found.labels.items())}")
    else:
        print(f"{found.node}: {found.architecture}, Weir {found.weir}")
        print(f"CPUs: {', '.join(map(str, found.cpus))}")
        print(f"free hugepages of 2 MiB: {found.hugepages_2m_free}")
        alike: dict[str | None, list[str]] = {}
        for name, lacking in found.technologies.items():
            alike.setdefault(lacking, []).append(name)
        for lacking, names in alike.items():
            print(
                f"{', '.join(names)}: {'work' if len(names) > 1 else 'works'}"
                if lacking is None
                else f"{', '.join(names)}: {lacking}"
            )
