# SPDX-License-Identifier: Apache-2.0
"""Which deployment a command means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import ENVIRONMENT, USAGE, CommandError
from weir.cli.lab_name import name_in

if TYPE_CHECKING:
    from weir.fabric import Deployment

DeploymentId = Annotated[
    str | None,
    typer.Argument(
        metavar="ID", help="A deployment, or the lab of one; may be absent where there is only one."
    ),
]


def one_of(deployments: Sequence[Deployment], wanted: str | None) -> Deployment:
    """The deployment of that id or lab, or the only one. CommandError lists those that there are."""
    known = [deployment.id for deployment in deployments]
    if wanted is None and len(known) == 1:
        return deployments[0]
    if wanted is None:
        raise CommandError(f"which deployment? There are: {', '.join(known)}", USAGE)
    if wanted not in known:
        name = _lab_name(wanted, known) if Path(wanted).exists() else wanted
        of_lab = [one for one in deployments if _lab_of_id(one.id) == name]
        if of_lab:
            return only(name, of_lab, wanted)
        from weir.lab.problem import did_you_mean

        listed = f"there are: {', '.join(known)}" if known else "nothing is deployed"
        raise CommandError(f"no deployment {wanted!r}; {listed}{did_you_mean(wanted, known)}", USAGE)
    return deployments[known.index(wanted)]


def standing(found: Sequence[Deployment], lab: str) -> tuple[str, list[Deployment]]:
    """What a lab's file, its directory, its name or an id names: the lab's name or the id, and the
    deployments. CommandError where there is neither, or another version of Weir made what is named."""
    readable = [one for one in found if one.unreadable() is None]
    others = [one for one in found if one not in readable]
    _refuse([one for one in others if one.id == lab])
    named = [one for one in readable if one.id == lab]
    name = lab if named else _lab_name(lab, [one.id for one in found])
    of_lab = named or [one for one in readable if _lab_of(one) == name]
    if not of_lab:
        _refuse([one for one in others if _lab_of_id(one.id) == name])
    return name, of_lab


def deployed(lab: str) -> Deployment:
    """The only one of that lab, or that of the id. CommandError where there is none, or several."""
    return only(*all_deployed(lab), lab)


def all_deployed(lab: str, *, hosts: bool = False) -> tuple[str, list[Deployment]]:
    """As `standing`, of all that there are. CommandError where there is none, with how to build one; `hosts`:
    one that commands can run in."""
    from weir import fabric

    name, there = standing(fabric.deployments(), lab)
    if not there:
        ends = " --ends hosts" if hosts and not of_tenants(lab) else ""
        raise CommandError(f"nothing of {name} is deployed; build it with `weir deploy {lab}{ends}`", USAGE)
    return name, there


def _refuse(unreadable: Sequence[Deployment]) -> None:
    for one in unreadable:
        raise CommandError(str(one.unreadable()), ENVIRONMENT)


def only(name: str, found: Sequence[Deployment], lab: str) -> Deployment:
    """The one of these, which `lab` names. CommandError lists them where they are several."""
    if found[1:]:
        listed = ", ".join(one.id for one in found)
        raise CommandError(f"{name} is deployed more than once; name one in place of {lab}: {listed}", USAGE)
    return found[0]


def _lab_of(deployment: Deployment) -> str | None:
    about = deployment.cloud or deployment.topology
    return about.lab if about is not None else None


def _lab_of_id(deployment: str) -> str:
    """ "<lab>-<8 hex digits>"."""
    return deployment.rpartition("-")[0]


def of_tenants(lab: str) -> bool:
    """Whether the lab builds a cloud."""
    from weir.lab.of_tenants import has_tenants

    return has_tenants(lab)


def _lab_name(lab: str, known: Sequence[str]) -> str:
    """Of the file, or the one that it is: where no lab is there, or nothing of that stands. CommandError if
    there is neither a file nor a deployment of it."""
    from weir.lab.problem import LabFileError, did_you_mean

    labs = set(map(_lab_of_id, known))
    if not Path(lab).exists():
        if lab in labs:
            return lab
        listed = f"there are: {', '.join(known)}" if known else "nothing is deployed"
        raise CommandError(
            f"there is no lab at {lab}, and no deployment of that name; {listed}{did_you_mean(lab, known)}",
            USAGE,
        )
    try:
        name = name_in(lab)
    except LabFileError:
        if lab in labs:
            return lab
        raise
    return lab if lab in labs and name not in labs else name
