# SPDX-License-Identifier: Apache-2.0
"""What `host` of a lab asks for, held against its cores and the machine's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from weir.base.cores import cpus_text, named_cpus
from weir.lab.complaint import Complaint
from weir.lab.lab import Lab
from weir.technology import TECHNOLOGIES

Nodes = Mapping[int, Sequence[int]]


def host_complaints(lab: Lab, cpus: Sequence[int] | None, nodes: Nodes | None) -> Iterator[Complaint]:
    """Everything impossible in `host`. `cpus`, `nodes`: the machine's; None: whatever machine."""
    host = lab.host
    for key, asked in (("isolation", host.isolation), ("rt", host.rt)):
        if asked in (None, False, "none"):
            continue
        if not host.pinning:
            yield Complaint(
                ("host", key), "needs threads that stay where they are, and `pinning` is off",
                "pinning: true, or no " + key, about=(("host", "pinning"),),
            )  # fmt: skip
        elif asked != "auto":
            yield from _rest(lab, key, cpus)
    if host.numa is not None and nodes is not None:
        yield from _node(lab, host.numa, nodes)
    for name in lab.technology:
        if host.isolation in ("partition", "auto"):
            yield from _other_threads(lab, name, cpus)
        if TECHNOLOGIES[name].hugepages and host.hugepages == "none":
            yield Complaint(
                ("host", "hugepages"), f"{name} needs hugepages: its ports share memory with weir-dp",
                f"auto or required, or no {name}", about=(("technology",),),
            )  # fmt: skip


def _rest(lab: Lab, key: str, cpus: Sequence[int] | None) -> Iterator[Complaint]:
    """Whoever takes every CPU stops the machine."""
    if cpus is None:
        return
    for technology in lab.technology:
        polling = lab.polling_cpus(technology, cpus)
        if set(cpus) <= set(polling):
            message = (
                f"every CPU of this machine ({cpus_text(cpus)}) polls under {technology}: none would be left "
                "to the system"
            )
            wanted = "`cores` that leave one CPU out, or a machine with more"
            yield Complaint(("host", key), message, wanted, about=(("cores",), ("technologies",)))
            return


def _node(lab: Lab, number: int, nodes: Nodes) -> Iterator[Complaint]:
    if number not in nodes:
        listed = ", ".join(map(str, sorted(nodes)))
        yield Complaint(("host", "numa"), f"this machine has no NUMA node {number}", f"one of {listed}")
        return
    here = set(nodes[number])
    for technology in lab.technology:
        away = sorted(set(lab.polling_cpus(technology, tuple(nodes[number]))) - here)
        if away:
            message = f"{technology} would poll on {named_cpus(away)}, which another NUMA node has"
            wanted = f"cores of node {number}: {cpus_text(here)}"
            yield Complaint(("host", "numa"), message, wanted, about=(("cores",), ("technologies",)))
            return


def _other_threads(lab: Lab, name: str, cpus: Sequence[int] | None) -> Iterator[Complaint]:
    """Of a switch that polls: they must not be where nobody else may be."""
    for key in TECHNOLOGIES[name].cpu_options[1:]:
        others = set(getattr(lab.options(name), key) or ())
        shared = sorted(others & set(lab.polling_cpus(name, cpus or (0, 1))))
        if shared:
            yield Complaint(
                ("technologies", name, key),
                f"{named_cpus(shared)} would be isolated for polling, and {key} are the switch's other "
                "threads",
                "CPUs that do not poll",
                about=(("host", "isolation"), ("cores",)),
            )
