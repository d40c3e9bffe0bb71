# SPDX-License-Identifier: Apache-2.0
"""Steps for Open vSwitch: a private ovsdb-server and ovs-vswitchd, one two-port bridge for each link.

The daemons run in the switch's namespace, so that the bridges' own interfaces never appear among the host's.
"""

from __future__ import annotations

from weir.plan.kernel_steps import AGEING_S, namespaces, veth
from weir.plan.step import Step
from weir.plan.topology import switch_namespace
from weir.spec.lab import Lab
from weir.spec.topology import Link, Port, Topology

DIRECTORY = "ovs"
_DATAPATHS = {"auto": "auto", "kernel": "kernel", "userspace": "netdev"}


def ovs(topology: Topology, lab: Lab) -> list[Step]:
    """Open vSwitch over veth pairs: the kernel's datapath or the userspace one."""
    datapath = _DATAPATHS[lab.technologies.ovs.datapath]
    cores = list(topology.switch_cores)
    plan = [*namespaces(topology, with_switch=True), _database(topology), _vswitchd(topology, cores)]
    for link in topology.links:
        plan.append(_bridge(link, datapath))
        for port in (topology.port(link.left), topology.port(link.right)):
            plan.extend([veth(topology, port), _system_port(link, port)])
    return plan


def ovs_dpdk(topology: Topology, lab: Lab) -> list[Step]:
    """Open vSwitch with DPDK: vhost-user ports, which connect to the sockets that weir-dp will open."""
    options = lab.technologies.ovs_dpdk
    pmd_cores = list(topology.switch_cores)
    lcores = list(options.lcores or pmd_cores)
    plan = [
        *namespaces(topology, with_switch=True),
        _database(topology),
        _vswitchd(topology, lcores, pmd_cores, options.socket_memory_mb),
    ]
    for link in topology.links:
        plan.append(_bridge(link, "netdev"))
        plan.extend(_vhost_port(link, topology.port(name)) for name in (link.left, link.right))
    return plan


def _database(topology: Topology) -> Step:
    return Step(
        kind="ovsdb-server",
        name="ovsdb-server",
        params={"netns": switch_namespace(topology), "directory": DIRECTORY},
        text="start a private ovsdb-server with an empty database",
        undo_text="end ovsdb-server",
    )


def _vswitchd(
    topology: Topology, cores: list[int], pmd_cores: list[int] | None = None, socket_memory_mb: int = 0
) -> Step:
    dpdk = pmd_cores is not None
    listed = ", ".join(map(str, cores))
    text = f"start a private ovs-vswitchd on core {listed}"
    if pmd_cores:
        text += f" with DPDK, polling on core {', '.join(map(str, pmd_cores))}"
    return Step(
        kind="ovs-vswitchd",
        name="ovs-vswitchd",
        params={
            "netns": switch_namespace(topology),
            "directory": DIRECTORY,
            "cores": cores,
            "dpdk": dpdk,
            "pmd_cores": pmd_cores or [],
            "lcores": cores if dpdk else [],
            "socket_memory_mb": socket_memory_mb,
        },
        text=text,
        undo_text="end ovs-vswitchd",
    )


def _bridge(link: Link, datapath: str) -> Step:
    said = {"auto": "the kernel's datapath or else the userspace one", "kernel": "the kernel's datapath"}
    return Step(
        kind="ovs-bridge",
        name=f"ovs-bridge:{link.name}",
        params={"directory": DIRECTORY, "bridge": link.name, "datapath": datapath, "ageing_s": AGEING_S},
        text=f"make Open vSwitch bridge {link.name} on {said.get(datapath, 'the userspace datapath')}",
        undo_text=f"delete Open vSwitch bridge {link.name}",
    )


def _system_port(link: Link, port: Port) -> Step:
    return _port(link, port, kind="system", how="")


def _vhost_port(link: Link, port: Port) -> Step:
    return _port(link, port, kind="dpdkvhostuserclient", how=" by vhost-user")


def _port(link: Link, port: Port, *, kind: str, how: str) -> Step:
    return Step(
        kind="ovs-port",
        name=f"ovs-port:{port.name}",
        params={
            "directory": DIRECTORY,
            "bridge": link.name,
            "port": port.name,
            "type": kind,
            "socket": port.socket or "" if kind != "system" else "",
        },
        text=f"attach {port.name} to bridge {link.name}{how}",
        undo_text=f"detach {port.name} from {link.name}",
    )
