# SPDX-License-Identifier: Apache-2.0
"""Steps for Open vSwitch, with DPDK or without: a private ovsdb-server and ovs-vswitchd, one two-port bridge
for each link.

The daemons run in the switch's namespace, so that the bridges' own interfaces never appear among the host's.
"""

from __future__ import annotations

from weir.base.node import Port
from weir.base.step import Step
from weir.base.topology import Link, Topology, switch_namespace
from weir.technology.descriptor import AGEING_S

DIRECTORY = "ovs"


def database(topology: Topology) -> Step:
    """Its configuration."""
    return Step(
        kind="ovsdb-server",
        name="ovsdb-server",
        params={"netns": switch_namespace(topology), "directory": DIRECTORY},
        text="start a private ovsdb-server with an empty database",
        undo_text="end ovsdb-server",
    )


def vswitchd(
    topology: Topology, cores: list[int], pmd_cores: list[int] | None = None, socket_memory_mb: int = 0
) -> Step:
    """The switch. `pmd_cores`: with DPDK, polling there."""
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


def pool(topology: Topology) -> Step:
    """Of packet buffers, of a switch with DPDK."""
    return Step(
        kind="ovs-pool",
        name="ovs-pool",
        params={"directory": DIRECTORY, "mtu_bytes": _asked_mtu_bytes(topology)},
        text="let the switch make its packet buffers before ports connect",
        undo_text="leave them to the switch's end",
    )


def _asked_mtu_bytes(topology: Topology) -> int:
    """Of polled ports; 0: as they are."""
    return topology.frame_bytes_max if topology.jumbo else 0


def bridge(link: Link, datapath: str) -> Step:
    """`datapath`: "auto", "kernel" or "netdev"."""
    said = {"auto": "the kernel's datapath or else the userspace one", "kernel": "the kernel's datapath"}
    return Step(
        kind="ovs-bridge",
        name=f"ovs-bridge:{link.name}",
        params={"directory": DIRECTORY, "bridge": link.name, "datapath": datapath, "ageing_s": AGEING_S},
        text=f"make Open vSwitch bridge {link.name} on {said.get(datapath, 'the userspace datapath')}",
        undo_text=f"delete Open vSwitch bridge {link.name}",
    )


def system_port(link: Link, port: Port) -> Step:
    """An interface of the kernel, with the MTU that it has."""
    return _port(link, port, kind="system", how="", mtu_bytes=0)


def vhost_port(topology: Topology, link: Link, port: Port) -> Step:
    """Connects to the socket that weir-dp, or a virtual machine, opens."""
    how, mtu_bytes = " by vhost-user", _asked_mtu_bytes(topology)
    return _port(link, port, kind="dpdkvhostuserclient", how=how, mtu_bytes=mtu_bytes)


def _port(link: Link, port: Port, *, kind: str, how: str, mtu_bytes: int) -> Step:
    """`mtu_bytes`: what Open vSwitch is asked to set; 0: as the port is."""
    if mtu_bytes:
        how += f", with an MTU of {mtu_bytes} bytes"
    return Step(
        kind="ovs-port",
        name=f"ovs-port:{port.name}",
        params={
            "directory": DIRECTORY,
            "bridge": link.name,
            "port": port.name,
            "type": kind,
            "socket": port.socket or "" if kind != "system" else "",
            "mtu_bytes": mtu_bytes,
        },
        text=f"attach {port.name} to bridge {link.name}{how}",
        undo_text=f"detach {port.name} from {link.name}",
    )
