# SPDX-License-Identifier: Apache-2.0
"""The tester of a cloud that is measured: its steps, its ports and areas in weir-dp, and its streams. Pure.

It sends at the interfaces of tenants' hosts as their TCP/IP stacks would, and takes what arrives at the host
outside. What a packet meets in between, filters and address translation among it, is the cloud's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from weir.base.cloud import NETWORK_NODE, OUTSIDE, CloudTester, CloudTopology
from weir.base.step import Step
from weir.lab.tenants import TenantsFile
from weir.plan.cloud import names
from weir.plan.cloud.parts import ruleset
from weir.plan.plan import NETNS_DIRECTORY
from weir.plan.streams import frame_size
from weir.protocol.configuration import AreaConfig, PortConfig, TesterArea
from weir.protocol.errors import refusing
from weir.protocol.traffic import FlowConfig, StreamConfig, Template, TrafficConfigure

RECEIVER = OUTSIDE
"""weir-dp's port there; its other ports have the names of the hosts that send."""
FIRST_PORT, LAST_PORT = 1024, 32767
TO_PORT = 9
"""UDP, discard. Those who translate addresses may change source ports, never this one."""
_RING_FRAMES = 4096
_RING_FRAMES_SENDING = 1024


def tester_steps(topology: CloudTopology) -> Iterator[Step]:
    """None, of a cloud that is only to talk through."""
    tester = topology.tester
    if tester is None:
        return
    yield ruleset(topology.namespace(OUTSIDE), "iptables", _DISCARDED, "discard what was counted outside")
    if OUTSIDE in tester.senders:
        yield from chain_steering(topology, tester)
    for node in topology.compute_nodes():
        taps = [
            names.InstancePort.of(network, one).tap
            for network, one in topology.instances_at(node.name)
            if one.name in tester.senders
        ]
        if taps:
            yield steering(topology, node.name, taps, tester, f"what {len(taps)} hosts of {node.name} send")


_DISCARDED = f"*raw\n-A PREROUTING -p udp --dport {TO_PORT} -j DROP\nCOMMIT\n"
"""By the stack, which would answer that nobody listens; the tester has had its copy by then."""


def steering(
    topology: CloudTopology, node: str, interfaces: list[str], tester: CloudTester, what: str
) -> Step:
    """The kernel's work on what weir-dp sends is not for the core that polls. `interfaces`: of the node,
    where that arrives."""
    cores = ", ".join(map(str, tester.system_cores))
    return Step(
        kind="steering",
        name=f"steering:{node}",
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
    yield steering(
        topology, NETWORK_NODE, [names.EXTERNAL_INTERFACE], tester, "what the tester sends outside"
    )
    if not tester.vcpus:
        return
    of_functions = tester.model_copy(update={"system_cores": tester.system_cores[: tester.vcpus]})
    for name in topology.shared_functions():
        yield steering(topology, name, [names.HOST_INTERFACE], of_functions, f"what {name} forwards")


def tester_areas(tester: CloudTester) -> Iterator[AreaConfig]:
    """A generator at each host that sends, and a receiver outside."""
    for name in tester.senders:
        yield TesterArea(name=f"generator.{name}", core=tester.core, kind="generator", port=name)
    yield TesterArea(name=f"receiver.{OUTSIDE}", core=tester.core, kind="receiver", port=RECEIVER)


def tester_ports(topology: CloudTopology, tester: CloudTester) -> Iterator[PortConfig]:
    """Theirs."""
    for name in tester.senders:
        if name != RECEIVER:
            yield _port(topology, name, _RING_FRAMES_SENDING)
    yield _port(topology, RECEIVER, _RING_FRAMES)


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
    """Of the first `sending` tenants, then of those whose packets are in the background. Each sends to its
    gateway's MAC address, as its stack would."""
    tester = topology.tester
    assert tester is not None
    behind = tenants.measure.background
    senders = tester.senders if behind is not None else tester.senders[:sending]
    return TrafficConfigure(
        streams=tuple(
            _stream(
                topology,
                tenants,
                name,
                number,
                frame if number < sending or behind is None else str(behind.frame),
            )
            for number, name in enumerate(senders)
        )
    )


def _stream(
    topology: CloudTopology, tenants: TenantsFile, name: str, number: int, frame: str
) -> StreamConfig:
    network, host = topology.instance(name)
    functions = {one.address: one.mac for one in network.functions}
    flows = tenants.traffic.flows
    return StreamConfig(
        id=number,
        port=name,
        to=RECEIVER,
        frame=frame_size(frame),
        template=Template(
            src_mac=host.mac,
            dst_mac=functions.get(host.gateway, network.router_mac),
            src_ip=host.address,
            dst_ip=topology.outside,
            src_port=FIRST_PORT,
            dst_port=TO_PORT,
        ),
        flows=FlowConfig(count=flows, seed=tenants.measure.seed + number, vary=("src_port",)),
    )
