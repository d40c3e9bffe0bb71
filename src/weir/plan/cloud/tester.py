# SPDX-License-Identifier: Apache-2.0
"""The tester of a cloud that is measured: its steps, its ports and areas in weir-dp, and its streams. Pure.

It sends at the interfaces of tenants' hosts as their TCP/IP stacks would, and takes what arrives at the host
outside; or the other way, to the hosts' floating addresses. What a packet meets in between, filters and
address translation among it, is the cloud's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weir.base.cloud import NETWORK_NODE, OUTSIDE, CloudTester, CloudTopology, TenantNetwork
from weir.base.node import Direction
from weir.base.step import Step
from weir.lab.tenants import TenantsFile
from weir.lab.tenants_measure import DISCARD_PORT
from weir.plan.cloud import names
from weir.plan.cloud.parts import ruleset
from weir.plan.memory import KERNEL_RING_FRAMES, KERNEL_RING_FRAMES_LARGE, LONG_CHAIN_PORTS
from weir.plan.streams import frame_size
from weir.plan.topology import NETNS_DIRECTORY
from weir.protocol.configuration import AreaConfig, PortConfig, TesterArea
from weir.protocol.errors import refusing
from weir.protocol.traffic import FlowConfig, StreamConfig, Template, TrafficConfigure

RECEIVER = OUTSIDE
"""weir-dp's port there; its other ports have the names of the tenants' hosts."""
FIRST_PORT = 1024


def tester_steps(topology: CloudTopology) -> Iterator[Step]:
    """None, of a cloud that is only to talk through."""
    tester = topology.tester
    if tester is None:
        return
    yield ruleset(topology.namespace(OUTSIDE), "iptables", _DISCARDED, "discard what was counted outside")
    if OUTSIDE in tester.senders:
        yield from chain_steering(topology, tester)
        return
    if "right-to-left" in tester.directions:
        for name in tester.senders:
            text = f"discard what was counted at {name}"
            yield ruleset(topology.namespace(name), "iptables", _DISCARDED, text)
        yield _outside_steering(topology, tester)
    if "left-to-right" in tester.directions:
        yield from _hosts_steering(topology, tester)


def _hosts_steering(topology: CloudTopology, tester: CloudTester) -> Iterator[Step]:
    for node in topology.compute_nodes():
        taps = [
            names.InstancePort.of(network, one).tap
            for network, one in topology.instances_at(node.name)
            if one.name in tester.senders
        ]
        if taps:
            yield steering(topology, node.name, taps, tester, f"what {len(taps)} hosts of {node.name} send")


_DISCARDED = f"*raw\n-A PREROUTING -p udp --dport {DISCARD_PORT} -j DROP\nCOMMIT\n"
"""By the stack, which would answer that nobody listens; the tester has had its copy by then."""


def steering(
    topology: CloudTopology,
    node: str,
    interfaces: list[str],
    tester: CloudTester,
    what: str,
    *,
    named: str | None = None,
) -> Step:
    """The kernel's work on what weir-dp sends is not for the core that polls. `interfaces`: of the node,
    where that arrives. `named`: absent: as the node."""
    cores = ", ".join(map(str, tester.system_cores))
    return Step(
        kind="steering",
        name=f"steering:{named or node}",
        params={
            "netns": topology.namespace(node),
            "interfaces": interfaces,
            "cores": list(tester.system_cores),
        },
        text=f"let the kernel work on cores {cores} for {what}",
        undo_text="",
    )


def chain_steering(topology: CloudTopology, tester: CloudTester) -> Iterator[Step]:
    """Of a chain of functions: at the network node's way in, and in each function."""
    yield _outside_steering(topology, tester)
    if not tester.vcpus:
        return
    of_functions = tester.model_copy(update={"system_cores": tester.system_cores[: tester.vcpus]})
    for name in topology.shared_functions():
        yield steering(topology, name, [names.HOST_INTERFACE], of_functions, f"what {name} forwards")


def _outside_steering(topology: CloudTopology, tester: CloudTester) -> Step:
    sent = "what the tester sends outside"
    return steering(topology, NETWORK_NODE, [names.EXTERNAL_INTERFACE], tester, sent)


def tester_areas(tester: CloudTester) -> Iterator[AreaConfig]:
    """A generator wherever packets are sent, and a receiver wherever they arrive."""
    ends: tuple[tuple[Direction, Sequence[str], Sequence[str]], ...] = (
        ("left-to-right", tester.senders, (RECEIVER,)),
        ("right-to-left", (RECEIVER,), tester.senders),
    )
    for direction, senders, receivers in ends:
        if direction in tester.directions:
            for name in senders:
                yield TesterArea(name=f"generator.{name}", core=tester.core, kind="generator", port=name)
            for name in receivers:
                yield TesterArea(name=f"receiver.{name}", core=tester.core, kind="receiver", port=name)


def tester_ports(topology: CloudTopology, tester: CloudTester) -> Iterator[PortConfig]:
    """Theirs. Many rings are short, as those of long chains, and those in which nothing is looked for."""
    receive = "right-to-left" in tester.directions and len(tester.senders) <= LONG_CHAIN_PORTS
    frames = KERNEL_RING_FRAMES if receive else KERNEL_RING_FRAMES_LARGE
    for name in tester.senders:
        if name != RECEIVER:
            yield _port(topology, name, frames)
    yield _port(topology, RECEIVER, KERNEL_RING_FRAMES)


def _port(topology: CloudTopology, host: str, frames: int) -> PortConfig:
    return PortConfig(
        name=host,
        kind="packet_socket",
        interface=names.HOST_INTERFACE,
        netns=f"{NETNS_DIRECTORY}/{topology.namespace(host)}",
        rx_queue_size=frames,
        tx_queue_size=frames,
    )


@refusing()
def tenant_streams(
    topology: CloudTopology, tenants: TenantsFile, frame: str, sending: int
) -> TrafficConfigure:
    """Of the first `sending` tenants, then of those whose packets are in the background; of each, one for
    each direction, as CloudTester has them."""
    tester = topology.tester
    assert tester is not None
    behind = tenants.measure.background
    hosts = tester.senders if behind is not None else tester.senders[:sending]
    wanted = [
        (host, direction, frame if index < sending or behind is None else str(behind.frame))
        for index, host in enumerate(hosts)
        for direction in tester.directions
    ]
    return TrafficConfigure(
        streams=tuple(
            StreamConfig(
                id=number,
                port=host if direction == "left-to-right" else OUTSIDE,
                to=RECEIVER if direction == "left-to-right" else host,
                frame=frame_size(size),
                template=_template(topology, host, direction),
                flows=FlowConfig(
                    count=tenants.traffic.flows, seed=tenants.measure.seed + number, vary=("src_port",)
                ),
            )
            for number, (host, direction, size) in enumerate(wanted)
        )
    )


def direction_of(stream: StreamConfig) -> Direction:
    """Of one of them."""
    return "right-to-left" if stream.port == OUTSIDE else "left-to-right"


def _template(topology: CloudTopology, name: str, direction: Direction) -> Template:
    """As the stack of whoever sends would have it: to its next hop's MAC address."""
    network, host = topology.instance(name)
    if direction == "left-to-right":
        functions = {one.address: one.mac for one in network.functions}
        src_mac, dst_mac = host.mac, functions.get(host.gateway, network.router_mac)
        src_ip, dst_ip = host.address, topology.outside
    else:
        assert isinstance(network, TenantNetwork)
        assert host.floating is not None  # the lab's check
        src_mac, dst_mac = topology.outside_mac, topology.way_in_mac(network)
        src_ip, dst_ip = topology.outside, host.floating
    return Template(
        src_mac=src_mac,
        dst_mac=dst_mac,
        src_ip=src_ip,
        dst_ip=dst_ip,
        src_port=FIRST_PORT,
        dst_port=DISCARD_PORT,
    )
