# SPDX-License-Identifier: Apache-2.0
"""Findings about who uses the machine now: deployments that stand, and programs that take its CPUs."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cores import named_cpus
from weir.host.diagnosis import Finding, Severity
from weir.host.facts import Facts

BUSY_SHARE = 0.05
"""Of a CPU: what a program takes less of hardly disturbs a loop."""


_STATES: dict[str, tuple[Severity, str, str, str]] = {
    "abandoned": (
        "warning",
        "{}: left by a weir that was killed",
        "its loops and its switch may have cores, and its settings of the host stand",
        "weir destroy {}",
    ),
    "kept": (
        "note",
        "{} stands",
        "its loops poll on its cores; on them nothing else is deployed or measured",
        "weir destroy {}",
    ),
    "in use": ("note", "{}: another weir works on it", "its cores are not free until that ends", ""),
    "unreadable": (
        "warning",
        "{}: its journal cannot be read",
        "nothing is known of what stands of it",
        "weir inspect {}",
    ),
}


def deployments(facts: Facts) -> Iterator[Finding]:
    """Is anything of Weir's left, or kept?"""
    for one in facts.deployments or ():
        severity, what, cost, mend = _STATES[one.state]
        yield Finding(
            subject="deployments",
            severity=severity,
            what=what.format(one.id),
            cost=cost,
            mend=mend.format(one.id),
        )
    if facts.deployments == ():
        yield Finding(subject="deployments", severity="ok", what="none stands, and none was left")


def guests_left(facts: Facts) -> Iterator[Finding]:
    """Are there disks of guests that nobody has any more?"""
    for path in facts.guests_left or ():
        yield Finding(
            subject="deployments",
            severity="warning",
            what=f"{path}: left of a deployment that is gone, as after a reboot",
            cost="what its guests wrote takes space on the disk",
            mend=f"rm -r {path}",
        )


def folders_left(facts: Facts) -> Iterator[Finding]:
    """Is a folder of `weir verify` left?"""
    for path in facts.folders_left:
        yield Finding(
            subject="deployments",
            severity="warning",
            what=f"{path}: left by a `weir verify` that was killed",
            cost="the key with which it reached virtual machines may be in it",
            mend="weir destroy --all",
        )


def takers(facts: Facts) -> Iterator[Finding]:
    """Who has the CPUs besides?"""
    busy = [one for one in facts.takers or () if one.share > BUSY_SHARE and not one.own]
    if busy:
        listed = "; ".join(f"{one.name} ({one.pid}) {one.share:.0%} of CPU {one.cpu}" for one in busy)
        yield Finding(
            subject="cpu time", severity="warning", what=f"CPU time is taken: {listed}",
            cost="a loop on that CPU stands still meanwhile; what it loses then is left out, or the trial is",
            mend=f"end them, or keep them off {named_cpus(facts.polling_cpus())}",
        )  # fmt: skip
    elif facts.takers is not None:
        yield Finding(
            subject="cpu time", severity="ok", what=f"none takes more than {BUSY_SHARE:.0%} of a CPU"
        )
