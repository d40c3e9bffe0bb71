# SPDX-License-Identifier: Apache-2.0
"""weir-dp in a cloud: one process, which polls on one core for the tester and for Weir's routers. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import NETWORK_NODE, CloudTopology
from weir.base.step import Step
from weir.lab.host import Host
from weir.plan.cloud import names
from weir.plan.cloud.routers import ROUTERS
from weir.plan.cloud.tester import steering, tester_areas, tester_ports
from weir.plan.data_plane import weir_dp_step
from weir.plan.plan import KERNEL_STALL_US
from weir.protocol.configuration import AreaConfig, Configure, PortConfig
from weir.protocol.errors import refusing

_MBUFS = 16_384
_MBUFS_OF_ROUTER = 8_192
_MEMORY_MB = 128
_STREAMS_PER_MB = 4
"""With the pool of packets that each has (POOL_MBUFS_COPIED of native/traffic/sender.c; streams_test.c)."""
_BESIDE_HOST = Host(hugepages="none")
"""Packets are copied to and from the kernel: pages of 4 KiB are enough, and no other program's are taken."""


def data_plane_steps(topology: CloudTopology) -> Iterator[Step]:
    """None where nothing polls."""
    core = topology.polling_core
    if core is None:
        return
    part = ROUTERS[topology.router].in_data_plane
    routers = len(topology.tenant_networks) if part is not None else 0
    if routers and topology.tester is not None:
        ends = [
            name
            for one in topology.tenant_networks
            for name in (names.inner_port(one), names.outer_port(one))
        ]
        sent = f"what {routers} routers send"
        yield steering(topology, NETWORK_NODE, ends, topology.tester, sent, named="routers")
    tester = topology.tester
    streams = len(tester.senders) * len(tester.directions) if tester is not None else 0
    memory_mb = _MEMORY_MB + -(-streams // _STREAMS_PER_MB)
    memory_mb += routers * part.memory_mb if part is not None else 0
    yield beside_host_step(core, memory_mb)


def beside_host_step(core: int, memory_mb: int = _MEMORY_MB) -> Step:
    """weir-dp, whose ports are all the kernel's."""
    return weir_dp_step([core], memory_mb, [], _BESIDE_HOST, f"start weir-dp, polling on core {core}")


@refusing()
def cloud_configuration(topology: CloudTopology) -> Configure:
    """Its ports and areas: of routers, and of the tester."""
    core = topology.polling_core
    assert core is not None
    ports: list[PortConfig] = []
    areas: list[AreaConfig] = []
    part = ROUTERS[topology.router].in_data_plane
    routers = topology.tenant_networks if part is not None else ()
    for network in routers:
        assert part is not None
        ports += part.ports(topology, network)
        areas.append(part.area(topology, network))
    if topology.tester is not None:
        ports += tester_ports(topology, topology.tester)
        areas += tester_areas(topology.tester)
    return Configure(
        ports=tuple(ports),
        areas=tuple(areas),
        stall_threshold_us={str(core): KERNEL_STALL_US},
        mbufs=_MBUFS + _MBUFS_OF_ROUTER * len(routers),
    )
