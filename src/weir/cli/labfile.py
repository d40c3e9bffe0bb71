# SPDX-License-Identifier: Apache-2.0
"""The lab that a command names, and the part of it that the command is about."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weir.cli.exits import ENVIRONMENT, USAGE, CommandError

if TYPE_CHECKING:
    from weir.base.topology import Topology
    from weir.lab import Chain, Lab
    from weir.lab.ways import Way

LAB_HELP = "A lab file, or a directory that holds one as lab.yml; or functions joined by commas: nat,l3fwd."
LabPath = Annotated[Path, typer.Argument(metavar="LAB", help=LAB_HELP)]
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
Technologies = Annotated[
    list[str] | None,
    typer.Option(
        "--technology",
        "-t",
        help="Only this one of the lab's technologies; may be repeated. Absent: all.",
    ),
]
Chains = Annotated[
    list[str] | None,
    typer.Option("--chain", "-c", help="Only this one of the lab's chains; may be repeated. Absent: all."),
]
Frames = Annotated[
    list[str] | None,
    typer.Option(
        "--frame",
        metavar="FRAME",
        help="Only this one of the lab's frames; may be repeated. Absent: all.",
    ),
]
Variants = Annotated[
    list[str] | None,
    typer.Option("--variant", help="Only this one of the lab's variants; may be repeated. Absent: all."),
]
Wait = Annotated[
    bool,
    typer.Option(
        "--wait", help="Wait until no other deployment has the cores; else it is refused, with exit code 3."
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Lay the lab's `quick` part over it.")]


def machine_cpus() -> tuple[int, ...]:
    """The CPUs that this process may use, one of each physical core first."""
    from weir.base.cores import whole_cores_first
    from weir.fabric.host.cpus import siblings
    from weir.fabric.host.tree import Tree

    return whole_cores_first(os.sched_getaffinity(0), siblings(Tree()))


def here(lab_path: Path, *, quick: bool, variant: str | None = None, spanning: bool = False) -> Lab:
    """The lab, checked against this machine's NUMA nodes and CPUs: those of this process, and those that
    `weir tune` keeps for it. Of a lab with variants that one, or its first. `spanning`: its chains may span
    hosts.
    """
    return here_named(lab_path, quick=quick, variant=variant, spanning=spanning)[0]


def here_named(
    lab_path: Path, *, quick: bool, variant: str | None = None, spanning: bool = False
) -> tuple[Lab, str | None]:
    """The same, and which variant that is; None: the lab has none."""
    lab, compared = compared_here(lab_path, quick=quick, spanning=spanning)
    if not lab.variants and variant is None:
        return lab, None
    names = [way.name for way in compared] if lab.variants else []
    if not names:
        raise CommandError(f"the lab has no variants, and so no {variant!r}", USAGE)
    way = compared[names.index(_chosen("variant", variant, names))]
    if way.refused is not None:
        raise CommandError(f"{way.name} cannot run here: {way.refused}", ENVIRONMENT)
    return way.lab, way.variant


def compared_here(lab_path: Path, *, quick: bool, spanning: bool = False) -> tuple[Lab, tuple[Way, ...]]:
    """The lab, checked likewise, and what it compares on this machine. `spanning`: its chains may span
    hosts."""
    from weir.lab import load_lab
    from weir.lab.ways import ways

    cpus, there = _cpus_and_nodes()
    lab = load_lab(lab_path, quick=quick, cpus=cpus, nodes=there, spanning=spanning)
    if quick and lab == load_lab(lab_path, cpus=cpus, nodes=there, spanning=spanning):
        message = "has no `quick`: it is measured as it is, though the run counts as a quick one"
        typer.echo(f"weir: {lab_path}: {message}", err=True)
    return lab, ways(lab, cpus, there)


def ways_here(lab: Lab) -> tuple[Way, ...]:
    """What a lab that is read already, and checked, compares on this machine."""
    from weir.lab.ways import ways

    return ways(lab, *_cpus_and_nodes())


def _cpus_and_nodes() -> tuple[tuple[int, ...], dict[int, Sequence[int]] | None]:
    from weir.fabric.host.cpus import nodes
    from weir.fabric.host.isolated import measuring_cpus
    from weir.fabric.host.tree import Tree

    return measuring_cpus(), {node.number: node.cpus for node in nodes(Tree())} or None


@dataclass(frozen=True)
class Part:
    """What the command line leaves of a lab; None: all of it."""

    technologies: Sequence[str] | None = None
    variants: Sequence[str] | None = None
    chains: Sequence[str] | None = None
    frames: Sequence[str] | None = None

    def of(self, lab: Lab, compared: Sequence[Way]) -> tuple[Lab, tuple[Way, ...]]:
        """The lab and its ways without the rest. The baseline is the first one left if the lab's is not.

        CommandError for a name that the lab has not, or if nothing is left.
        """
        if self.variants and not lab.variants:
            raise CommandError(f"the lab has no variants, and so no {self.variants[0]!r}", USAGE)
        technologies = _all_chosen("technology", self.technologies, lab.technology)
        variants = _all_chosen("variant", self.variants, list(lab.variants))
        left = [
            way
            for way in compared
            if way.technology in technologies and (way.variant is None or way.variant in variants)
        ]
        if not left:
            raise CommandError(f"no variant of the lab runs under {', '.join(technologies)}", USAGE)
        names = [way.name for way in left]
        named = {way.variant for way in left}
        known = [chain.name for chain in lab.chains()]
        chains = _all_chosen("chain", self.chains, known)
        from weir.lab.frames import canonical

        chosen = None if self.frames is None else [canonical(one) for one in self.frames]
        frames = _all_chosen("frame", chosen, [str(one) for one in lab.traffic.frames])

        def part(whole: Lab, **more: Any) -> Lab:
            sizes = tuple(one for one in whole.traffic.frames if str(one) in frames)
            traffic = whole.traffic.model_copy(update={"frames": sizes})
            return whole.model_copy(update={"chain": whole.forms(chains), "traffic": traffic, **more})

        narrowed = part(
            lab,
            technology=tuple(one for one in lab.technology if one in technologies),
            variants={name: one for name, one in lab.variants.items() if name in named},
            steps=tuple(name for name in lab.steps if name in named),
            baseline=lab.baseline if lab.baseline in names else names[0],
        )
        return narrowed, tuple(dataclasses.replace(way, lab=part(way.lab)) for way in left)


def require_packets(lab: Lab, command: str) -> None:
    """CommandError for a lab whose tester makes connections: what the command sends are single packets."""
    if lab.traffic.connections is not None:
        raise CommandError(
            f"{command} sends frames of given sizes, and the lab makes connections: measure these with "
            "`weir run`, or take traffic.connections out",
            USAGE,
        )


def chosen_technology(lab: Lab, name: str | None) -> str:
    """The technology of that name in the lab, or its first. CommandError lists those that there are."""
    return _chosen("technology", name, lab.technology)


def chosen_chain(lab: Lab, name: str | None) -> Chain:
    """The chain of that name in the lab, or its first. CommandError lists those that there are."""
    chains = {chain.name: chain for chain in lab.chains()}
    return chains[_chosen("chain", name, list(chains))]


def chosen_frame(lab: Lab, name: str | None) -> str:
    """The frame size or mix of that name in the lab, or its first."""
    from weir.lab.frames import canonical

    return _chosen(
        "frame", None if name is None else canonical(name), [str(one) for one in lab.traffic.frames]
    )


def require_possible(lab: Lab, technology: str, chain: str | None = None, *, hosts: bool = False) -> None:
    """CommandError, or FabricError for want of root or of weir-dp, if the lab cannot be built here under the
    technology, with what the functions of that chain need, or with hosts at the ends."""
    from weir import fabric

    fabric.require_to_measure()
    refusal = fabric.check(
        technology,
        lab.options(technology),
        machines=lab.machines(chain) if chain is not None else (),
        programs=lab.programs(chain) if chain is not None else (),
        hosts=hosts,
    )
    if refusal is not None:
        raise CommandError(f"{technology} cannot run here: {refusal.missing}; {refusal.fix}", ENVIRONMENT)


def require_any_possible(compared: Iterable[Way]) -> None:
    """FabricError or CommandError if none of what is to be measured can be, with the reasons: a run that
    leaves out everything is none."""
    from weir import fabric

    fabric.require_to_measure()
    found = by_reason(compared)
    if found and None not in found:
        said = "; ".join(f"{', '.join(setups)}: {why}" for why, setups in found.items())
        raise CommandError(f"nothing of this lab can be measured here: {said}", ENVIRONMENT)


def by_reason(compared: Iterable[Way]) -> dict[str | None, list[str]]:
    """Set-ups, "technology chain", by why they cannot be measured here; None: they may go well."""
    from weir.procedures.driver import impossible

    found: dict[str | None, list[str]] = {}
    for way in compared:
        for chain in way.lab.chains():
            found.setdefault(impossible(way, chain), []).append(f"{way.name} {chain.name}")
    return found


def own_cores(topologies: Iterable[Topology], *, wait: bool) -> AbstractContextManager[None]:
    """For all that the body deploys of them, their cores alone."""
    from weir import fabric

    return own_cpus({core for one in topologies for core in fabric.taking_part(one)}, wait=wait)


def own_cpus(cpus: Collection[int], *, wait: bool) -> AbstractContextManager[None]:
    """Likewise these CPUs. FabricError names who has one; with `wait`, stderr does, and it comes to its
    turn."""
    from weir import fabric

    def waiting(holder: str) -> None:
        print(f"waiting: {holder}", file=sys.stderr, flush=True)

    return fabric.claimed(cpus, waiting if wait else None)


def _all_chosen(what: str, names: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Those that are named, in the lab's order; all of them if none is."""
    wanted = {_chosen(what, name, known) for name in names or known}
    return [name for name in known if name in wanted]


def _chosen(what: str, name: str | None, known: Sequence[str]) -> str:
    if name is None:
        return known[0]
    if name not in known:
        from weir.lab.problem import did_you_mean

        hint = did_you_mean(name, known)
        raise CommandError(f"the lab has no {what} {name!r}; it has {', '.join(known)}{hint}", USAGE)
    return name
