# SPDX-License-Identifier: Apache-2.0
"""`weir tune`: make this host fit for a lab, and give everything back afterwards."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated

import typer

from weir.base.words import counted
from weir.cli.deploying import told
from weir.cli.exits import ENVIRONMENT, USAGE, CommandError
from weir.cli.labfile import LabPath, Quick, Variant, here

if TYPE_CHECKING:
    from weir.fabric import Deployment
    from weir.plan import Step


def tune(
    lab_path: LabPath,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the steps and do nothing. Needs no root.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Give back what tuning for this lab has changed.")
    ] = False,
    variant: Variant = None,
    quick: Quick = False,
) -> None:
    """Tune this host for a lab until --undo. Hugepages, interrupts, governor, isolated CPUs.

    Does what the lab's `host` asks for, and whatever else the machine can do and the lab does not forbid.
    Refuses if the machine cannot do what the lab asks for by name.
    """
    from weir import fabric, plan
    from weir.fabric import stop_signals

    if dry_run and undo:
        raise CommandError("--dry-run and --undo contradict each other; give one of them", USAGE)
    lab = here(lab_path, quick=quick, variant=variant)
    known = [one for one in fabric.deployments() if one.unreadable() is None]
    standing = [one for one in known if one.tuning is not None and one.tuning.lab == lab.name]
    if undo:
        _undo(standing, lab.name)
        return
    about = plan.tuning(lab, secrets.token_hex(4))
    possible, skipped = _possible(plan.tuning_steps(lab, about.cpus))
    if dry_run:
        print(_listing(possible, skipped, lab.name))
        return
    fabric.require_root()
    if standing:
        raise CommandError(
            f"this host is tuned for {lab.name} already ({standing[0].id}); "
            f"give it back first: weir tune {lab_path} --undo",
            ENVIRONMENT,
        )

    with stop_signals.held():
        deployment = fabric.Deployment.deploy(possible, about, on_event=told)
        deployment.keep()
        stop_signals.finish()  # what came last came too late, and what follows says so
    for said in (*skipped, *deployment.refused()):
        print(f"  skipped: {said}")
    print(f"tuned for {lab.name}; give it back: weir tune {lab_path} --undo")


def _undo(standing: list[Deployment], name: str) -> None:
    if not standing:
        print(f"this host is not tuned for {name}")
    for deployment in standing:
        deployment.destroy()
        print(f"{deployment.id} is gone: the host is as it was")


def _possible(steps: list[Step]) -> tuple[list[Step], list[str]]:
    """Steps that this machine can do, and why not the others. CommandError if one of these is required."""
    from weir import fabric

    done, skipped = fabric.possible(steps)
    for step in done:
        why = fabric.lacking(step)
        if why is not None:
            raise CommandError(
                f"cannot {step.text}, which the lab asks for: {why}; take it out of the lab, or mend that",
                ENVIRONMENT,
            )
    return done, [f"{one.step.text}: {one.why}" for one in skipped]


def _listing(possible: list[Step], skipped: list[str], name: str) -> str:
    lines = [f"tuning this host for {name} takes {counted(len(possible), 'step')}; none was done:"]
    for number, step in enumerate(possible, 1):
        lines.append(f"{number}. {step.text}  (undo: {step.undo_text})")
    lines += [f"skipped: {said}" for said in skipped]
    return "\n".join(lines)
