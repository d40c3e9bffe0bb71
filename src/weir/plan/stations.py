# SPDX-License-Identifier: Apache-2.0
"""Whom frames are addressed to: the next port, or one beyond functions that write no addresses."""

from __future__ import annotations

from weir.base.topology import HOST_PORT, NodeNf, Port, Topology
from weir.lab.nf import network_functions

_SWAP = "mac-swap"


def next_hop(topology: Topology, port: Port) -> Port:
    """The port at the other end of `port`'s link."""
    link = topology.links[port.link]
    return topology.port(link.right if port.name == link.left else link.left)


def station(topology: Topology, port: Port) -> Port:
    """Whom frames that leave by `port` are addressed to.

    The next hop. A host, unlike the tester, takes no frame that is another station's: where hosts are at the
    ends, it is the next port of a function that writes addresses, or the host's own.
    """
    hop = next_hop(topology, port)
    if not any(node.role == "hosts" for node in topology.nodes):
        return hop
    while hop.kind != HOST_PORT and not _writes(topology, hop):
        beyond = "right" if hop.side == "left" else "left"
        hop = next_hop(topology, topology.port(f"{hop.node}.{beyond}"))
    return hop


def swaps(one: NodeNf) -> bool:
    """Whether it exchanges the addresses of each frame."""
    mode = network_functions()[one.nf].option("mode")
    return one.options.get("mode", mode.default if mode else None) == _SWAP


def _writes(topology: Topology, port: Port) -> bool:
    node = next(one for one in topology.nodes if one.name == port.node)
    return any(
        network_functions()[one.nf].option("dst_mac") is not None and not swaps(one) for one in node.chain
    )
