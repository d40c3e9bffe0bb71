# SPDX-License-Identifier: Apache-2.0
"""`ovs-dpdk`: Open vSwitch with DPDK; its vhost-user ports connect to the sockets that weir-dp opens."""

from __future__ import annotations

from pydantic import Field

from weir.base.cores import CpuList
from weir.base.node import HOST_PORT, Port
from weir.base.step import Step
from weir.base.topology import Link, Topology
from weir.technology import openvswitch
from weir.technology.descriptor import QUEUE, Forwarding, Need, QueueSize, Technology, TechnologyOptions
from weir.technology.kernel_links import namespaces, veth

_JUMBO_POOL_MB = 512


class OvsDpdkOptions(TechnologyOptions):
    """Open vSwitch with DPDK, ports by vhost-user."""

    pmd_cores: CpuList | None = Field(
        default=None, description="cores that poll ports (pmd-cpu-mask); absent: cores.switch"
    )
    lcores: CpuList | None = Field(
        default=None, description="cores of the switch's other threads (dpdk-lcore-mask); absent: pmd_cores"
    )
    queue_size: QueueSize = Field(default=4096, description=QUEUE)
    socket_memory_mb: int = Field(
        default=512,
        ge=64,
        le=65536,
        description="hugepage memory of the switch; 512 MB more for frames above 1518 bytes",
    )


def _steps(topology: Topology, options: OvsDpdkOptions) -> list[Step]:
    pmd_cores = list(topology.switch_cores)
    lcores = list(options.lcores or pmd_cores)
    plan = [
        *namespaces(topology, with_switch=True),
        openvswitch.database(topology),
        openvswitch.vswitchd(topology, lcores, pmd_cores, _memory_mb(options, topology.jumbo)),
        openvswitch.pool(topology),
    ]
    for link in topology.links:
        plan.append(openvswitch.bridge(link, "netdev"))
        for name in (link.left, link.right):
            plan += _port(topology, link, topology.port(name))
    return plan


def _memory_mb(options: OvsDpdkOptions, jumbo: bool) -> int:
    """Ports of jumbo frames have a pool of buffers of their own, beside the one that they begin with."""
    return options.socket_memory_mb + (_JUMBO_POOL_MB if jumbo else 0)


def _port(topology: Topology, link: Link, port: Port) -> list[Step]:
    """A host's is a veth pair, whose other end the switch reads through a socket, beside the polled ports."""
    if port.kind == HOST_PORT:
        return [veth(topology, port), openvswitch.system_port(link, port)]
    return [openvswitch.vhost_port(topology, link, port)]


TECHNOLOGY = Technology(
    name="ovs-dpdk",
    options=OvsDpdkOptions,
    ends=lambda _options: ("virtio-user", "virtio-user"),
    switch="polling",
    steps=_steps,
    needs=lambda _options: (Need("namespaces"), Need("cpus", "2"), Need("openvswitch")),
    forwarding=lambda _options: Forwarding("polling"),
    machine_port="vm-vhost-user",
    no_interface="its polling threads take packets from vhost-user ports",
    program_ports=("program-virtio-user",),
    cpu_options=("pmd_cores", "lcores"),
    hugepages=True,
    memory_mb=_memory_mb,
    flow_cache=True,
    joins_hosts=True,
)
