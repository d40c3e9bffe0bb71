# SPDX-License-Identifier: Apache-2.0
"""Where entries of a fast path are to live below the data plane, and cannot."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.node import OffloadKind, PortKind
from weir.lab.complaint import Complaint
from weir.lab.lab import Lab
from weir.lab.source import KeyPath
from weir.technology import TECHNOLOGIES, TechnologyOptions

_OFFLOAD_PORTS: dict[OffloadKind, PortKind] = {"xdp": "packet_socket", "rte_flow": "physical"}
_OFFLOADERS: dict[OffloadKind, str] = {
    "xdp": "packet sockets at ends of veth pairs",
    "rte_flow": "ports of a network card",
}


def _offloadable(technology: str, options: TechnologyOptions, kind: OffloadKind) -> bool:
    return set(TECHNOLOGIES[technology].ends(options)) == {_OFFLOAD_PORTS[kind]}


def _able(kind: OffloadKind) -> str:
    """What a lab could say for it."""
    by_default = [name for name, one in TECHNOLOGIES.items() if _offloadable(name, one.options(), kind)]
    with_port = [name for name, one in TECHNOLOGIES.items() if "port" in one.options.model_fields]
    if kind == "xdp":
        return f"{' or '.join(with_port)}, with port: {_OFFLOAD_PORTS[kind]}"
    return " or ".join(by_default)


def offload_complaints(lab: Lab) -> Iterator[Complaint]:
    """Functions whose entries are to live where their ports are not."""
    used = dict.fromkeys(name for chain in lab.chains() for name in chain.functions)
    functions = {name: lab.functions[name] for name in used if name in lab.functions}
    asked: dict[OffloadKind, str] = {}
    for name, one in functions.items():
        options = one.offloaded()
        if one.kind == "process" and options is not None:
            asked.setdefault(options.kind, name)
    for kind, name in asked.items():
        about: tuple[KeyPath, ...] = (("functions", name, "offload"),)
        for index, technology in enumerate(lab.technology):
            if _offloadable(technology, lab.options(technology), kind):
                continue
            message = f"{technology} has no {_OFFLOADERS[kind]}, where {name} is to be offloaded"
            yield Complaint(("technology", index), message, _able(kind), about=about)
    if asked:
        yield from _tagged(lab, next(iter(asked.values())))


def _tagged(lab: Lab, found: str) -> Iterator[Complaint]:
    about: tuple[KeyPath, ...] = (("functions", found, "offload"),)
    if lab.traffic.vlan is not None:
        message = (
            f"makes tagged frames, and only untagged ones are offloaded: {found} would handle all itself"
        )
        yield Complaint(("traffic", "vlan"), message, "no tag, or no offload", about=about)
