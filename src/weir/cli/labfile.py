# SPDX-License-Identifier: Apache-2.0
"""The lab that a command names, and the part of it that the command is about."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.exits import ENVIRONMENT, USAGE, CommandError

if TYPE_CHECKING:
    from weir.lab import Chain, Lab
    from weir.lab.vm import VmOptions
    from weir.lab.ways import Way

LabPath = Annotated[
    Path, typer.Argument(metavar="LAB", help="A lab file, or a directory that holds one as lab.yml.")
]
Variant = Annotated[
    str | None, typer.Option("--variant", help="One of the lab's variants; absent: the first.")
]
TechnologyName = Annotated[
    str | None,
    typer.Option("--technology", "-t", help="One of the lab's technologies; absent: the first."),
]
ChainName = Annotated[
    str | None, typer.Option("--chain", "-c", help="One of the lab's chains; absent: the first.")
]
FrameName = Annotated[
    str | None, typer.Option("--frame", metavar="FRAME", help="One of the lab's frames; absent: the first.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Lay the lab's `quick` part over it.")]


def machine_cpus() -> tuple[int, ...]:
    """The CPUs that this process may use."""
    return tuple(sorted(os.sched_getaffinity(0)))


def here(lab_path: Path, *, quick: bool, variant: str | None = None) -> Lab:
    """The lab, checked against this machine's NUMA nodes and CPUs: those of this process, and those that
    `weir tune` keeps for it. Of a lab with variants that one, or its first.
    """
    lab, compared = compared_here(lab_path, quick=quick)
    if not lab.variants and variant is None:
        return lab
    names = [way.name for way in compared] if lab.variants else []
    if not names:
        raise CommandError(f"the lab has no variants, and so no {variant!r}", USAGE)
    way = compared[names.index(_chosen("variant", variant, names))]
    if way.refused is not None:
        raise CommandError(f"{way.name} cannot run here: {way.refused}", ENVIRONMENT)
    return way.lab


def compared_here(lab_path: Path, *, quick: bool) -> tuple[Lab, tuple[Way, ...]]:
    """The lab, checked likewise, and what it compares on this machine."""
    from weir.fabric.host import isolated
    from weir.fabric.host.cpus import nodes
    from weir.fabric.host.tree import Tree
    from weir.lab import load_lab
    from weir.lab.ways import ways

    there = {node.number: node.cpus for node in nodes(Tree())} or None
    tuned = {cpu for cpus in isolated.partitions().values() for cpu in cpus}
    cpus = sorted({*machine_cpus(), *tuned})
    lab = load_lab(lab_path, quick=quick, cpus=cpus, nodes=there)
    return lab, ways(lab, cpus, there)


def chosen_technology(lab: Lab, name: str | None) -> str:
    """The technology of that name in the lab, or its first. CommandError lists those that there are."""
    return _chosen("technology", name, lab.technology)


def chosen_chain(lab: Lab, name: str | None) -> Chain:
    """The chain of that name in the lab, or its first. CommandError lists those that there are."""
    chains = {chain.name: chain for chain in lab.chains()}
    return chains[_chosen("chain", name, list(chains))]


def chosen_frame(lab: Lab, name: str | None) -> str:
    """The frame size or mix of that name in the lab, or its first."""
    return _chosen("frame", name, [str(one) for one in lab.traffic.frames])


def require_possible(lab: Lab, technology: str, machines: Sequence[VmOptions] = ()) -> None:
    """CommandError, or FabricError for want of root, if the lab cannot be built here under the technology."""
    from weir import fabric

    fabric.require_root()
    refusal = fabric.check(technology, lab.options(technology), machines=machines)
    if refusal is not None:
        raise CommandError(f"{technology} cannot run here: {refusal.missing}; {refusal.fix}", ENVIRONMENT)


def _chosen(what: str, name: str | None, known: Sequence[str]) -> str:
    if name is None:
        return known[0]
    if name not in known:
        from weir.lab.problem import did_you_mean

        hint = did_you_mean(name, known)
        raise CommandError(f"the lab has no {what} {name!r}; it has {', '.join(known)}{hint}", USAGE)
    return name
