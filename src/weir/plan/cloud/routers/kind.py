# SPDX-License-Identifier: Apache-2.0
"""What a kind of router says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from weir.base.cloud import CloudTopology, TenantNetwork, router_name
from weir.base.step import Step
from weir.plan.cloud import names
from weir.plan.cloud.parts import wire
from weir.protocol.configuration import ChainArea, PortConfig

METADATA = "169.254.0.0/16"
"""Link-local, RFC 3927: 169.254.169.254 is where clouds serve metadata."""


@dataclass(frozen=True)
class InDataPlane:
    """Of a router that is a part of weir-dp's loop."""

    ports: Callable[[CloudTopology, TenantNetwork], Sequence[PortConfig]]
    """Inside, outside."""
    area: Callable[[CloudTopology, TenantNetwork], ChainArea]
    memory_mb: int
    """Of each."""


@dataclass(frozen=True)
class RouterKind:
    """One kind."""

    sentence: str
    """For those who read what was measured."""
    steps: Callable[[CloudTopology, TenantNetwork], Iterator[Step]]
    """It forwards as soon as it is there, with nobody to forward for yet; what is in weir-dp, with that."""
    in_data_plane: InDataPlane | None = None
    """None: the kernel's TCP/IP stack forwards, in the router's namespace."""


def wires(topology: CloudTopology, network: TenantNetwork, node: str) -> Iterator[Step]:
    """From its namespace to that node's."""
    netns = topology.namespace(router_name(network))
    for own, port in ((names.INNER, names.inner_port(network)), (names.OUTER, names.outer_port(network))):
        yield wire(netns, own, topology.namespace(node), port)


def hosts_behind(network: TenantNetwork) -> list[tuple[str, str]]:
    """Hosts that its router reaches through their last function, each with that one's address."""
    return [(host, last.address) for last in network.functions[-1:] for host in last.allowed]
