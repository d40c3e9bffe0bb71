# SPDX-License-Identifier: Apache-2.0
"""A tester at a network that others carry, by an interface of this host: what stands here of it, and what it
sends. Pure.

It sends to the first of a row of functions and takes what the last one gives back, at one port. Addresses are
those of benchmarks (RFC 2544, appendix C.2.2): nobody else has them, so none is asked for and none answered.
"""

from __future__ import annotations

from weir.base.cloud import CloudTester
from weir.base.node import Node, Port
from weir.base.step import Step
from weir.base.topology import Topology, namespace, token_of
from weir.lab.tenants_measure import DISCARD_PORT
from weir.plan.cloud.data_plane import beside_host_step
from weir.plan.cloud.parts import silent
from weir.plan.cloud.tester import FIRST_PORT
from weir.plan.plan import KERNEL_STALL_US, run_directory
from weir.plan.streams import frame_size
from weir.plan.topology import NETNS_DIRECTORY
from weir.protocol.configuration import Configure, PortConfig, TesterArea
from weir.protocol.errors import refusing
from weir.protocol.traffic import FlowConfig, StreamConfig, Template, TrafficConfigure

PORT = "tester"
"""Where it sends and receives."""
SOURCE, DESTINATION = "198.18.0.1", "198.19.0.1"
"""Of all packets; the destination's side of the functions is where the source's is."""
SOURCES = "198.18.0.0/16"
_INTERFACE = "eth0"
_RING_FRAMES = 4096
_MBUFS = 16_384


def attached_topology(lab: str, deployment: str, chain: str, tester: CloudTester) -> Topology:
    """`chain`: PVP, PVVP. Its MAC address has all of the deployment's token: the network is not ours."""
    token = token_of(deployment)
    mac = ":".join(("02", "57", *(token[at : at + 2] for at in range(0, len(token), 2))))
    netns = namespace(token, "t")
    return Topology(
        lab=lab,
        deployment=deployment,
        technology="direct",
        chain=chain,
        nodes=(Node(name="tester", role="tester", cores=(tester.core,)),),
        ports=(
            Port(
                name=PORT, node="tester", side="left", mac=mac, kind="packet_socket", link=0, netns=netns,
                interface=_INTERFACE,
            ),
        ),
        links=(),
        wire="physical",
    )  # fmt: skip


def attached_steps(topology: Topology, interface: str) -> list[Step]:
    """`interface`: of this host; it stays as it is."""
    port = topology.port(PORT)
    assert port.netns is not None
    return [
        run_directory(topology),
        *silent(port.netns),
        Step(
            kind="macvlan",
            name=f"macvlan:{PORT}",
            params={
                "netns": port.netns,
                "interface": _INTERFACE,
                "below": interface,
                "mac": port.mac,
            },
            text=f"make the tester a device on {interface}",
            undo_text="",
        ),
        beside_host_step(topology.nodes[0].cores[0]),
    ]


@refusing()
def attached_configuration(topology: Topology) -> Configure:
    """Of weir-dp: one port, at which it sends and receives."""
    port, core = topology.port(PORT), topology.nodes[0].cores[0]
    return Configure(
        ports=(
            PortConfig(
                name=PORT,
                kind="packet_socket",
                interface=_INTERFACE,
                netns=f"{NETNS_DIRECTORY}/{port.netns}",
                mac=port.mac,
                wire=topology.wire,
                rx_queue_size=_RING_FRAMES,
                tx_queue_size=_RING_FRAMES,
            ),
        ),
        areas=(
            TesterArea(name=f"generator.{PORT}", core=core, kind="generator", port=PORT),
            TesterArea(name=f"receiver.{PORT}", core=core, kind="receiver", port=PORT),
        ),
        stall_threshold_us={str(core): KERNEL_STALL_US},
        mbufs=_MBUFS,
    )


@refusing()
def attached_streams(topology: Topology, to_mac: str, frame: str, flows: int, seed: int) -> TrafficConfigure:
    """To the port of that MAC address, and back from wherever that leads."""
    return TrafficConfigure(
        streams=(
            StreamConfig(
                id=0,
                port=PORT,
                to=PORT,
                frame=frame_size(frame),
                template=Template(
                    src_mac=topology.port(PORT).mac,
                    dst_mac=to_mac,
                    src_ip=SOURCE,
                    dst_ip=DESTINATION,
                    src_port=FIRST_PORT,
                    dst_port=DISCARD_PORT,
                ),
                flows=FlowConfig(count=flows, seed=seed, vary=("src_port",)),
            ),
        )
    )
