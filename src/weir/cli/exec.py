# SPDX-License-Identifier: Apache-2.0
"""`weir exec`: a command in one of the hosts at the ends of a deployed chain."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import USAGE, CommandError

if TYPE_CHECKING:
    from weir.base.topology import EndHost
    from weir.fabric import Deployment

_SHELL = "/bin/sh"


def exec(
    lab: Annotated[
        str, typer.Argument(metavar="LAB", help="The lab's file or directory, or the deployment's ID.")
    ],
    end: Annotated[str, typer.Argument(metavar="END", help="left or right.")],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND]", help="With its arguments and options; absent: the shell that $SHELL names."
        ),
    ] = None,
) -> None:
    """Run a command in a host at an end of a chain that `weir deploy --ends hosts` built.

    Its exit code is the command's, 127 where there is no such command.
    """
    from weir import fabric
    from weir.fabric.end_host_command import become

    fabric.require_root()  # first: nobody else may read what is deployed
    deployment = _one(fabric.deployments(), lab)
    host = _host(deployment, end)
    words = command[1:] if command and command[0] == "--" else command
    become(deployment, host, words or [os.environ.get("SHELL") or _SHELL])


def _one(found: Sequence[Deployment], lab: str) -> Deployment:
    """The deployment of that ID, or the only one of the lab that has hosts."""
    readable = [one for one in found if one.unreadable() is None]
    named = [one for one in readable if one.id == lab]
    name = lab if named else _lab_name(lab, [one.id for one in readable])
    of_lab = named or [one for one in readable if one.topology is not None and one.topology.lab == name]
    if not of_lab:
        raise CommandError(
            f"nothing of {name} is deployed; build it with `weir deploy {lab} --ends hosts`", USAGE
        )
    with_hosts = [one for one in of_lab if one.topology is not None and one.topology.end_hosts]
    if not with_hosts:
        raise CommandError(
            f"{of_lab[0].id} has the tester at its ends, which runs no commands; take it down with `weir"
            f" destroy {of_lab[0].id}` and build it with --ends hosts",
            USAGE,
        )
    if len(with_hosts) > 1:
        listed = ", ".join(one.id for one in with_hosts)
        raise CommandError(f"{name} is deployed more than once; name one in place of {lab}: {listed}", USAGE)
    return with_hosts[0]


def _lab_name(lab: str, known: Sequence[str]) -> str:
    """Of the file. CommandError if there is neither a file nor a deployment of that name."""
    from weir.lab import load_lab
    from weir.lab.problem import did_you_mean

    if not Path(lab).exists():
        listed = f"there are: {', '.join(known)}" if known else "nothing is deployed"
        raise CommandError(
            f"there is no lab at {lab}, and no deployment of that name; {listed}{did_you_mean(lab, known)}",
            USAGE,
        )
    return load_lab(Path(lab)).name


def _host(deployment: Deployment, end: str) -> EndHost:
    from weir.lab.problem import did_you_mean

    assert deployment.topology is not None
    hosts = {host.side: host for host in deployment.topology.end_hosts}
    found = next((host for side, host in hosts.items() if side == end), None)
    if found is None:
        known = list(hosts)
        raise CommandError(
            f"{deployment.id} has no host {end!r}; it has {' and '.join(known)}{did_you_mean(end, known)}",
            USAGE,
        )
    return found
