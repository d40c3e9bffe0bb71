# SPDX-License-Identifier: Apache-2.0
"""`weir exec`: a command in a host at an end of a deployed chain, or of a deployed cloud."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.deployments import all_deployed, only
from weir.cli.exits import USAGE, CommandError

if TYPE_CHECKING:
    from weir.fabric import Deployment
    from weir.fabric.end_host_command import CommandPlace

_SHELL = "/bin/sh"
_ENDS = ("left", "right")
_LISTED_MOST = 12


def exec(
    lab: Annotated[
        str, typer.Argument(metavar="LAB", help="The lab's file, directory or name, or the deployment's ID.")
    ],
    end: Annotated[
        str,
        typer.Argument(
            metavar="HOST", help="left or right; in a cloud an instance, a router or outside: blue.1."
        ),
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND",
            help="With its arguments and options; absent: the shell that $SHELL names, except in a virtual "
            "machine.",
        ),
    ] = None,
) -> None:
    """Run a command in a host of what is deployed. At an end of a chain built by `weir deploy --ends hosts`,
    or of a cloud.

    Its exit code is the command's, 127 where there is no such command. In an instance that is a virtual
    machine of Weir's own guest it has a minute, no input and no terminal; in one of an image of yours it is
    refused.
    """
    from weir import fabric
    from weir.fabric.end_host_command import become

    fabric.require_root_to_look()  # first: nobody else may read what is deployed
    deployment = _one(lab)
    words = command[1:] if command and command[0] == "--" else command
    _run_in_machine(deployment, end, words or [])
    become(_place(deployment, end), words or [os.environ.get("SHELL") or _SHELL])


def _run_in_machine(deployment: Deployment, name: str, words: Sequence[str]) -> None:
    """Where that is a virtual machine: all that the command said, when it has ended; does not return then."""
    cloud = deployment.cloud
    found = {one.name: one for _, one, _ in cloud.machines()} if cloud is not None else {}
    if name not in found:
        return
    from weir.fabric.cloud.guest import run_in_guest

    done = run_in_guest(deployment, found[name], words)
    sys.stdout.buffer.write(done.out)
    sys.stdout.flush()
    sys.stderr.buffer.write(done.errors)
    raise typer.Exit(done.code)


def _one(lab: str) -> Deployment:
    """The deployment of that ID, or the only one of the lab that has hosts."""
    name, of_lab = all_deployed(lab, hosts=True)
    with_hosts = [one for one in of_lab if _hosts(one)]
    if not with_hosts:
        raise CommandError(
            f"{of_lab[0].id} has the tester at its ends, which runs no commands; take it down with `weir"
            f" destroy {of_lab[0].id}` and build it with --ends hosts",
            USAGE,
        )
    return only(name, with_hosts, lab)


def _hosts(deployment: Deployment) -> list[str]:
    """What commands can run in."""
    cloud = deployment.cloud
    if cloud is not None:
        return list(cloud.hosts())
    return [host.side for host in deployment.topology.end_hosts] if deployment.topology is not None else []


def _place(deployment: Deployment, name: str) -> CommandPlace:
    from weir.fabric.end_host_command import at_end
    from weir.lab.problem import did_you_mean

    known = _hosts(deployment)
    if name not in known:
        listed = " and ".join(known) if len(known) == len(_ENDS) else ", ".join(known[:_LISTED_MOST])
        more = f" and {len(known) - _LISTED_MOST} more" if len(known) > _LISTED_MOST else ""
        raise CommandError(
            f"{deployment.id} has no host {name!r}; it has {listed}{more}{did_you_mean(name, known)}", USAGE
        )
    cloud = deployment.cloud
    if cloud is not None:
        from weir.fabric.cloud.place import in_cloud

        return in_cloud(cloud, deployment.run_dir, name)
    assert deployment.topology is not None
    return at_end(deployment, next(one for one in deployment.topology.end_hosts if one.side == name))
