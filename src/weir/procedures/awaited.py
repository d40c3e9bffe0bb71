# SPDX-License-Identifier: Apache-2.0
"""What is waited for when a chain comes up: sessions by N4, links of programs at sockets, a first packet."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from weir import fabric
from weir.base.node import PROGRAM_PEERS, Node
from weir.base.topology import Topology
from weir.fabric import stop_signals
from weir.plan import Plan
from weir.plan.plan import Listening
from weir.plan.topology import next_hop
from weir.protocol import DataPlaneClient, DataPlaneTester
from weir.protocol.traffic import StreamConfig, TrafficConfigure

ANNOUNCED = 3
"""Frames of each of the tester's ports, so that switches learn where it is."""
_LOOK_S = 0.01
_N4_LOOK_S = 0.2  # each look goes through all sessions, in the thread that sets them up
_BY_N4 = "n4_"
"""What the names of figures begin with."""
_PACKET_PPS, _PACKET_S = 1000.0, 0.05  # one packet, and how long it may be on its way
_CAPTURED = 500
"""Frames of a capture in each look: each begins with its first, which may be one that nobody forwards."""
_UNSTAMPED = 20
"""So many without a stamp are more than a program's kernel says of its own when it comes up."""


def by_n4(client: DataPlaneClient, one: Listening) -> dict[str, int]:
    """What weir-dp counts of it; of several workers one has the agent."""
    reported = client.report(one.area, one.stage, limit=0).figures.values()
    return {
        name.removeprefix(_BY_N4): count
        for figures in reported
        for name, count in figures.items()
        if name.startswith(_BY_N4)
    }


def wait_for_sessions(
    client: DataPlaneClient, one: Listening, require_alive: Callable[[], None], say: Callable[[str], None]
) -> None:
    """As many as the lab says, by N4. FabricError where they do not come in time."""
    wanted, limit_s = one.options.sessions, one.options.time_limit_s
    deadline, said = time.monotonic() + limit_s, False
    while (there := (found := by_n4(client, one)).get("sessions", 0)) < wanted:
        if not said:
            say(f"{one.function} waits for {wanted:,} sessions by N4 at {one.where}, {limit_s:g} s at most")
            said = True
        require_alive()
        if time.monotonic() > deadline:
            raise fabric.FabricError(
                f"{one.function}: {there:,} of {wanted:,} sessions stand by N4 at {one.where} after"
                f" {limit_s:g} s ({_heard(found)})",
                "start an SMF that sets them up, or change n4.sessions or n4.time_limit_s of the function",
            )
        stop_signals.check()
        time.sleep(_N4_LOOK_S)


def _heard(found: dict[str, int]) -> str:
    """What there was instead."""
    said = {name: count for name, count in found.items() if count and name != "sessions"}
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in said.items()) or "nobody spoke"


def wait_for_links(
    client: DataPlaneClient, deployment: fabric.Deployment, topology: Topology, node: Node
) -> None:
    """Between weir-dp and a program's sockets. FabricError if one is not up within the program's time."""
    ports = [port for port in topology.ports if port.node == node.name and port.kind in PROGRAM_PEERS]
    peers = {next_hop(topology, port).name for port in ports if not topology.links[port.link].network}
    limit_s = node.program.ready_time_limit_s if node.program is not None else 0.0
    deadline = time.monotonic() + limit_s
    while down := [port.name for port in client.ledger().ports if port.name in peers and port.gone]:
        deployment.require_alive()
        if time.monotonic() > deadline:
            raise fabric.FabricError(
                f"the link of {down[0]} to {node.name} is not up in {limit_s:g} s: nobody is at the other end"
                " of its socket",
                f"see what it says: {deployment.run_dir}; or raise program.ready_time_limit_s",
            )
        stop_signals.check()
        time.sleep(_LOOK_S)


def wait_for_packets(
    client: DataPlaneClient, deployment: fabric.Deployment, made: Plan, waiting: Sequence[Node]
) -> None:
    """One packet at a time, or a piece of a capture, until something came of each stream. FabricError where
    nothing comes in time."""
    limit_s = max(node.program.ready_time_limit_s for node in waiting if node.program is not None)
    config = _evenly(next(iter(made.streams.values())))
    tester = DataPlaneTester(client)
    tester.announce(ANNOUNCED)
    tester.configure_traffic(config)
    lacking = {stream.id: _enough(stream) for stream in config.streams if stream.to is not None}
    sent = {stream.id: _sent(stream) for stream in config.streams}
    rates_pps = {stream.id: _PACKET_PPS for stream in config.streams}
    packets = _CAPTURED if any(stream.capture is not None for stream in config.streams) else 1
    deadline = time.monotonic() + limit_s
    while True:
        tester.learn(config)  # whom a program that translates lets through
        for stream in tester.run(rates_pps, packets / _PACKET_PPS, _PACKET_S).streams:
            if stream.id in lacking:
                lacking[stream.id] -= stream.delivered
        lacking = {stream: left for stream, left in lacking.items() if left > 0}
        deployment.require_alive()
        if not lacking:
            return
        if time.monotonic() > deadline:
            through, what = ", ".join(node.name for node in waiting), sent[next(iter(lacking))]
            raise fabric.FabricError(
                f"{what} came through {through} in {limit_s:g} s",
                f"see what it says: {deployment.run_dir}; or raise program.ready_time_limit_s",
            )
        stop_signals.check()


def _evenly(config: TrafficConfigure) -> TrafficConfigure:
    """Without a capture's gaps: its first frames may have minutes between them."""
    streams = tuple(one.model_copy(update={"pacing": "constant"}) for one in config.streams)
    return config.model_copy(update={"streams": streams})


def _enough(stream: StreamConfig) -> int:
    """Packets that must come of it."""
    return _UNSTAMPED if stream.capture is not None and not stream.capture.stamp else 1


def _sent(stream: StreamConfig) -> str:
    """What does not come, in words."""
    least = _enough(stream)
    some = "no packet that was" if least == 1 else f"fewer than {least} of the frames that were"
    return f"{some} sent at {stream.port}"
