# SPDX-License-Identifier: Apache-2.0
"""Whether what runs back answers the addresses that arrive at the right end, not those of the left one.

A function between may translate the left end's addresses and ports, to what only the packets tell.
"""

from __future__ import annotations

from weir.base.node import Node
from weir.base.topology import Topology
from weir.lab.frames import CAPTURE
from weir.lab.lab import Lab
from weir.lab.packet_fields import PacketFieldName

TRANSLATING = frozenset({"nat"})
"""Functions that write another source address."""
_ENDPOINTS: frozenset[PacketFieldName] = frozenset({"src_ip", "dst_ip", "src_port", "dst_port"})


def answers(topology: Topology, lab: Lab, frame: str) -> bool:
    """Not where the lab says whom the right end sends to, where the number of a flow does not tell its
    addresses, nor where no function can have translated them: these are the lab's anyway."""
    traffic = lab.traffic
    said = traffic.right.to_address is not None or traffic.right.to_port is not None
    known = frame != CAPTURE and not _ENDPOINTS.intersection(traffic.fields.said())
    translated = traffic.ip == 4 and any(_may_translate(node) for node in topology.functions())
    return translated and known and not said


def _may_translate(node: Node) -> bool:
    """What a user's program, image or commands do, nobody knows."""
    kernel = node.kernel
    unknown = (
        node.program is not None
        or (kernel is not None and bool(kernel.commands))
        or (node.machine is not None and node.machine.forwarder is None)
    )
    return unknown or any(one.nf in TRANSLATING for one in (*node.chain, *(kernel.does if kernel else ())))
