# SPDX-License-Identifier: Apache-2.0
"""What a result rests on, as sentences (docs/design/method.md, What the numbers rest on)."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence

from weir.base.topology import Topology
from weir.fabric.fingerprint import hypervisor
from weir.fabric.host.quota import quota_cpus
from weir.fabric.host.tree import Tree
from weir.technology import TECHNOLOGIES, TechnologyOptions

_WIRES_BY = {
    "vxlan": "VXLAN over the hosts' network",
    "vlan": "VLANs of network interfaces of the hosts",
    "card": "network interfaces of the hosts",
}
_NETFILTER = {
    True: "Bridged packets pass netfilter (br_netfilter), as the lab asks.",
    False: "Bridged packets do not pass netfilter, as they would by default where br_netfilter is loaded.",
}


def fidelity(
    topology: Topology,
    options: TechnologyOptions,
    *,
    datapath: str,
    memory: str,
    emulated: Sequence[str] = (),
    steered: Sequence[str] = (),
    unlimited: Mapping[str, Sequence[str]] | None = None,
    translated: tuple[int, int] | None = None,
) -> list[str]:
    """Sentences for the report, most important first. `options`: the lab's, of the technology. `emulated`:
    functions in virtual machines whose processor is. `steered`: functions in network namespaces for which the
    kernel took receive packet steering. `unlimited`: what programs have none of. `translated`: flows from
    left to right that arrived with other addresses or ports, and of how many; None: nobody looked.
    """
    said = []
    if emulated:
        said.append(
            f"Emulated: the processor of {_listed([*emulated])} is a program (QEMU's TCG). What is "
            "measured shows that the chain works, not how fast it would be."
        )
    said += _links(topology)
    by_kvm = [node.name for node in topology.machines() if node.name not in emulated]
    if by_kvm:
        said.append(f"KVM runs {_listed(by_kvm)}: this part of Weir was never run on hardware before.")
    said += TECHNOLOGIES[topology.technology].remarks(options, datapath)
    if topology.bridge_netfilter is not None:
        said.append(_NETFILTER[topology.bridge_netfilter])
    said += [*_by_linux(topology, steered), *without_limits(unlimited or {})]
    if translated is not None and translated[0]:
        said.append(
            f"{translated[0]:,} of {translated[1]:,} flows from left to right are translated on the way: the"
            " tester's right end answers with the addresses and ports that it saw."
        )
    placed: dict[int, list[str]] = {}
    for node in topology.here():
        for core in node.cores if node.in_weir_dp else ():
            placed.setdefault(core, []).append(node.name)
    said += _sharing(topology, placed, steered)
    polling = len({*placed, *topology.switch_cores})
    if (quota := quota_cpus(Tree())) is not None and quota < polling:
        said.append(
            f"A control group left the time of {quota:g} CPUs (its CPU quota) to loops on {polling}: the"
            " kernel stopped them for the rest."
        )
    if len(os.sched_getaffinity(0)) <= polling:
        said.append("Every core polls: the system's own work takes time from the measurement.")
    if hypervisor():
        said.append("A virtual machine: its hypervisor may take a core away at any time.")
    if memory == "no-huge":
        said.append("No hugepages were used: pages of 4 KiB.")
    return said


def _links(topology: Topology) -> Iterator[str]:
    """What joins its ports, and which hosts it spans."""
    if topology.wire == "physical":
        yield (
            "A network card's virtual functions: this part of Weir was never run on hardware before. "
            "Hold a rate against another tester's before you rely on it."
        )
    elif not topology.spans:
        yield "Virtual links: no packet left this machine."
    if topology.nodes[0] not in topology.here():
        return  # the tester's part says it
    for kind, by in _WIRES_BY.items():
        named = [
            f"{span.name} from {span.left.host} to {span.right.host}"
            for span in topology.spans
            if span.kind == kind
        ]
        if named:
            yield f"Wires between hosts, by {by}: {_listed(named)}."


def without_limits(lacking: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence of each program that lacks some of its limits."""
    return [
        f"Program {node} has no {' and no '.join(without)} here: no control group has it."
        for node, without in lacking.items()
    ]


def _by_linux(topology: Topology, steered: Sequence[str]) -> Iterator[str]:
    for node in topology.namespaced():
        if node.program is not None:
            cores = f" on core {', '.join(map(str, node.cores))}" if node.cores else ""
            between = "veth interfaces without offloads"
            if topology.by_socket(node):
                kinds = {port.kind for port in topology.ports if port.node == node.name}
                between = f"{kinds.pop().removeprefix('program-')} ports"
            who = "A program" if node.program.container is None else "A container"
            yield (
                f"{who}, {node.nf}, forwards as {node.name}{cores}, in a network namespace, between"
                f" {between}."
            )
            continue
        where = "the core of whoever sends"
        if node.name in steered:
            where = f"core {', '.join(map(str, node.cores))}"
        elif node.kernel is not None and node.kernel.rps and node.cores:
            where += ", since this kernel has no receive packet steering, which the lab asks for"
        yield (
            f"Linux {platform.release()} forwards as {node.name}, in a network namespace, between veth "
            f"interfaces without offloads; it takes what comes in on {where}."
        )


def _sharing(topology: Topology, placed: Mapping[int, list[str]], steered: Sequence[str]) -> Iterator[str]:
    """Who shares a core with whom. `placed`: nodes by the core of their polling loop."""
    for core, names in sorted(placed.items()):
        if len(names) > 1:
            yield f"{_listed(names)} share core {core}, in one polling loop."
    for core in topology.switch_cores:
        if core in placed:
            yield f"The switch shares core {core} with {_listed(placed[core])}."
    polled = {*placed, *(topology.switch_cores if _polls(topology) else ())}
    outside = {node.name: f"Virtual CPUs of {node.name} take turns" for node in topology.machines()}
    outside |= {name: f"Linux as {name} takes turns" for name in steered}
    programs = [node.name for node in topology.here() if node.program is not None]
    outside |= {name: f"Program {name} takes turns" for name in programs}
    for node in topology.here():
        shared = sorted(polled.intersection(node.cores)) if node.name in outside else []
        if shared:
            cores = ", ".join(map(str, shared))
            yield f"{outside[node.name]} with a polling loop on core {cores}."


def _polls(topology: Topology) -> bool:
    return TECHNOLOGIES[topology.technology].switch == "polling"


def _listed(names: list[str]) -> str:
    """ "tester, f1 and f2"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
