# SPDX-License-Identifier: Apache-2.0
"""How true to a cloud of many hosts the numbers of one that stands on a single host are."""

from __future__ import annotations

from weir.base.cloud import OUTSIDE, CloudTester, CloudTopology
from weir.plan.cloud.routers import ROUTERS
from weir.plan.cloud.security import SECURITIES


def fidelity(topology: CloudTopology, datapath: str) -> list[str]:
    """In sentences."""
    tester = topology.tester
    assert tester is not None
    cores = "core" if len(tester.system_cores) == 1 else "cores"
    cores += " " + ", ".join(map(str, tester.system_cores))
    nodes = len(topology.nodes)
    return [
        f"All {nodes} nodes are network namespaces of this host, and share its {cores}: rates are those "
        "of all nodes together, and none is that of a node with a machine of its own.",
        f"The nodes' switches: {datapath}. Between nodes: {topology.isolation}.",
        SECURITIES[topology.security].sentence,
        *_machines(topology, cores),
        _INSTANCES if OUTSIDE in tester.senders else _routers(topology),
        f"The tester polls on core {tester.core}, {_sends(tester)}; the kernel steers what was sent to "
        f"{cores} (receive packet steering), so that a sender does not forward its own packets.",
        "Hosts and routers keep what they have learnt of each other's MAC addresses: no ARP within trials.",
    ]


def _machines(topology: CloudTopology, cores: str) -> list[str]:
    names = [one.name for _, one, _ in topology.machines()]
    if not names:
        return []
    are = "is a virtual machine" if len(names) == 1 else "are virtual machines"
    return [
        f"{', '.join(names)} {are}, beside what is measured and on its {cores}: nothing of the load is sent "
        "there, and what its guests do and say by themselves is in the numbers."
    ]


_INSTANCES = (
    "Instances are network namespaces, in which Linux forwards (IP) between the packets that come and go at "
    "their one interface: no hypervisor is between them and their node."
)


def _sends(tester: CloudTester) -> str:
    if OUTSIDE in tester.senders:
        return "sends at the host outside, and takes there what comes back"
    if len(tester.directions) > 1:
        where = "the tenants' hosts and at the host outside"
        return f"sends at {where} as their TCP/IP stacks would, and takes there what arrives"
    ends = ("the tenants' hosts", "the host outside")
    here, there = ends if tester.directions == ("left-to-right",) else ends[::-1]
    return f"sends at {here} as a TCP/IP stack there would, and takes what arrives at {there}"


def _routers(topology: CloudTopology) -> str:
    kind = ROUTERS[topology.router]
    if kind.in_data_plane is None:
        return kind.sentence
    return (
        f"{kind.sentence} That is on core {topology.polling_core}, between two polls of the tester: what it "
        "costs is not taken from the cores of switches and kernel. Over TCP it goes on, and iperf3 shares "
        "those cores: compare goodput between kinds of routers with care."
    )
