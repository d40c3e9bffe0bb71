# SPDX-License-Identifier: Apache-2.0
"""A made-up result with everything that a report must show. None of its numbers was ever measured."""

from __future__ import annotations

import random
from typing import Any, Literal

from weir.base.node import Node, Port, PortKind
from weir.base.topology import Link, Topology
from weir.results.result import (
    Case,
    Ceiling,
    Drop,
    Fingerprint,
    Latency,
    Result,
    Setup,
    Stall,
    StreamCount,
    Throughput,
    Trial,
)

IMIX = "imix:aaaaaaaddddg"
FRAMES = {"64": 64.0, "512": 512.0, "1518": 1518.0, IMIX: 353.8}
# technology: cycles a packet and hop, cycles a byte and hop, datapath, port kinds of the two ends of a link
TECHNOLOGIES: dict[str, tuple[float, float, str, PortKind, PortKind]] = {
    "direct": (140, 0.30, "none", "virtio-user", "vhost"),
    "linux-bridge": (3300, 0.55, "Linux bridge (kernel)", "af_packet", "af_packet"),
    "ovs": (6100, 0.9, "Open vSwitch 3.1.0 (userspace datapath)", "af_packet", "af_packet"),
    "ovs-dpdk": (560, 0.42, "Open vSwitch 3.1.0 (userspace datapath, DPDK)", "virtio-user", "virtio-user"),
}
HZ = 2.5e9
FIDELITY = [
    "Virtual links: no physical network card took part.",
    "Two cores: tester and functions share core 0, the switch has core 1.",
    "Latency by software timestamps (time-stamp counter).",
]


def result(seed: int = 1, **changes: Any) -> Result:
    """The whole run: four technologies and a refused one, PVP and PVVP, four frame sizes."""
    dice = random.Random(seed)
    setups = [
        setup(technology, chain, functions, dice)
        for technology in TECHNOLOGIES
        for chain, functions in (("PVP", 1), ("PVVP", 2))
    ]
    setups += [
        Setup(
            technology="sr-iov",
            chain=chain,
            datapath="none",
            refused="no network card with virtual functions: no /sys/class/net/*/device/sriov_totalvfs",
        )
        for chain in ("PVP", "PVVP")
    ]
    fields: dict[str, Any] = {
        "weir": "0.0.0-synthetic",
        "id": "synthetic-0badcafe",
        "lab": "switching",
        "title": "Synthetic numbers: a service chain under four switching technologies",
        "quick": True,
        "spec_sha256": "5e" * 32,
        "seed": seed,
        "started_at": "2026-01-02T03:04:05Z",
        "finished_at": "2026-01-02T03:08:17Z",
        "seconds": 252.0,
        "baseline": "linux-bridge",
        "fingerprint": fingerprint(),
        "spec": {
            "weir": 1,
            "name": "switching",
            "chain": ["PVP", "PVVP"],
            "traffic": {"frames": list(FRAMES)},
        },
        "setups": setups,
    }
    return Result(**(fields | changes))


def fingerprint() -> Fingerprint:
    return Fingerprint(
        cpu="Imaginary 1000 @ 2.50GHz",
        cores=2,
        kernel="6.1.0-0-synthetic",
        cmdline="quiet",
        governor="unknown",
        smt="notsupported",
        isolated="",
        numa_nodes=1,
        hugepages_2m=1536,
        memory="hugepages",
        hypervisor="KVM",
        tsc_hz=int(HZ),
        offloads="tx-checksum off, gro off",
        versions={"weir": "0.0.0-synthetic", "dpdk": "22.11.11", "openvswitch": "3.1.0", "python": "3.11.2"},
    )


def setup(technology: str, chain: str, functions: int, dice: random.Random) -> Setup:
    packet_cycles, byte_cycles, datapath, left, right = TECHNOLOGIES[technology]
    cases = []
    for frame, size_bytes in FRAMES.items():
        capacity_pps = HZ / ((packet_cycles + byte_cycles * size_bytes) * (functions + 1))
        cases.append(case(frame, size_bytes, capacity_pps, technology, dice))
    return Setup(
        technology=technology,
        chain=chain,
        datapath=datapath,
        topology=topology(technology, chain, functions, left, right),
        fidelity=[
            *FIDELITY,
            *(["The tester drives both ends of each wire."] if technology == "direct" else []),
        ],
        bring_up_s=round(dice.uniform(0.4, 1.9), 2),
        cases=cases,
    )


def case(frame: str, size_bytes: float, capacity_pps: float, technology: str, dice: random.Random) -> Case:
    ceiling_pps = HZ / (230 + 0.25 * size_bytes)
    if technology == "ovs" and frame == IMIX:
        why = "the lowest load that can be offered, 1000 pps, already loses more than the goal"
        found = [
            Throughput(goal=goal, goal_loss_ratio=ratio, status="irregular", why=why)
            for goal, ratio in (("NDR", 0.0), ("PDR", 0.005))
        ]
    else:
        found = [
            throughput("NDR", 0.0, capacity_pps * 0.93, size_bytes, ceiling_pps, dice),
            throughput("PDR", 0.005, capacity_pps * 0.98, size_bytes, ceiling_pps, dice),
        ]
    return Case(
        frame=frame,
        mean_frame_bytes=size_bytes,
        ceiling=Ceiling(
            max_pps=ceiling_pps,
            latency_floor_us=2.4,
            timestamp_resolution_ns=0.4,
            limited_by="The tester's own sending, in loopback without a system under test.",
        ),
        throughput=found,
        trials=[
            trial("search", capacity_pps * share, 0.25, capacity_pps, dice)
            for share in (1.4, 1.0, 0.9, 0.95, 0.93, 0.92, 0.925)
        ],
        curve=[
            trial("curve", capacity_pps * 1.5 * step / 10, 0.5, capacity_pps, dice) for step in range(1, 11)
        ],
        seconds=9.5,
    )


def throughput(  # noqa: PLR0917
    goal: str, ratio: float, load_pps: float, size_bytes: float, ceiling_pps: float, dice: random.Random
) -> Throughput:
    low_pps, high_pps = load_pps * dice.uniform(0.96, 0.995), load_pps * dice.uniform(1.001, 1.02)
    return Throughput(
        goal=goal,
        goal_loss_ratio=ratio,
        status="found",
        load_pps=load_pps,
        load_min_pps=low_pps,
        load_max_pps=high_pps,
        repeats=3,
        l2_bps=load_pps * size_bytes * 8,
        l1_bps=load_pps * (size_bytes + 20) * 8,
        loss_ratio=ratio * 0.8,
        tester_bound=load_pps > 0.9 * ceiling_pps,
        stall_labelled=dice.random() < 0.1,
    )


def trial(
    purpose: Literal["search", "curve"],
    load_pps: float,
    duration_s: float,
    capacity_pps: float,
    dice: random.Random,
) -> Trial:
    """Its account balances; one in twelve lost packets in a stall, one in forty is invalid."""
    stalled, broken = dice.random() < 1 / 12, dice.random() < 1 / 40
    offered = int(load_pps * duration_s)
    room = int(capacity_pps * duration_s)
    over = max(0, offered - room)
    burst = dice.randrange(40, 400) if stalled else 0
    lost = min(offered, over + burst)
    unaccounted = 17 if broken and offered - lost > 17 else 0
    drops = [
        Drop(place="net0:f1.left", reason="rx_queue_full", packets=lost - lost // 4),
        Drop(place="tester.left", reason="tx_queue_full", packets=lost // 4),
    ]
    delivered = offered - lost - unaccounted
    load_share = min(1.0, load_pps / capacity_pps)
    return Trial(
        purpose=purpose,
        intended_load_pps=load_pps,
        intended_duration_s=duration_s,
        duration_s=duration_s * 1.0001,
        intended=offered,
        offered=offered,
        delivered=delivered,
        loss_ratio=1 - delivered / offered if offered else 0.0,
        drops=[drop for drop in drops if drop.packets],
        unaccounted=unaccounted,
        stalls=[Stall(core=1, count=3, total_us=310.5, longest_us=dice.uniform(60, 900))] if stalled else [],
        loss_during_stall=stalled and lost > 0,
        valid=not unaccounted,
        invalid_because=["17 packets are unaccounted for between tester.left and net0"]
        if unaccounted
        else [],
        streams=[
            StreamCount(
                stream=stream,
                direction=direction,
                intended=part(offered, stream),
                offered=part(offered, stream),
                delivered=part(delivered, stream),
                duplicates=0,
                reordered=0,
                latency=latency(part(delivered, stream), load_share),
            )
            for stream, direction in enumerate(("left-to-right", "right-to-left"))
        ],
    )


def part(packets: int, stream: int) -> int:
    return packets - packets // 2 if stream == 0 else packets // 2


def latency(packets: int, load_share: float) -> Latency:
    """Grows towards the capacity, then stays at the full queue."""
    mean_us = 6 + 8 / (1.02 - min(load_share, 0.999)) ** 0.9
    return Latency(
        packets=packets,
        min_us=4.1,
        mean_us=mean_us,
        p50_us=mean_us * 0.9,
        p90_us=mean_us * 1.5,
        p99_us=mean_us * 2.4,
        p999_us=mean_us * 5,
        max_us=mean_us * 9,
    )


def topology(technology: str, chain: str, functions: int, left: PortKind, right: PortKind) -> Topology:
    names = ["tester", *(f"f{index}" for index in range(1, functions + 1)), "tester"]
    network = technology != "direct"
    ports: list[Port] = []
    links = []
    for index in range(functions + 1):
        ends = (
            (names[index], "right" if index else "left", left),
            (
                names[index + 1],
                "left" if index < functions else "right",
                right,
            ),
        )
        for node, side, kind in ends:
            name = f"{node}.{side}"
            kernel = kind == "af_packet"
            ports.append(
                Port(
                    name=name,
                    node=node,
                    side="left" if side == "left" else "right",
                    mac=f"02:57:00:00:00:{len(ports) + 1:02x}",
                    kind=kind,
                    link=index,
                    netns=f"weir-0badcafe-{node[0]}" if kernel else None,
                    interface=f"{node}-{side}" if kernel else None,
                    socket=None if kernel else f"{name}.sock",
                )
            )
        links.append(
            Link(
                index=index,
                name=f"net{index}" if network else f"wire{index}",
                network=network,
                left=ports[-2].name,
                right=ports[-1].name,
            )
        )
    function_core = 1 if technology == "direct" else 0
    return Topology(
        lab="switching",
        technology=technology,
        chain=chain,
        nodes=(
            Node(name="tester", role="tester", cores=(0,)),
            *(
                Node(
                    name=name,
                    role="function",
                    nf="l2fwd",
                    options={"mode": "mac-rewrite"},
                    cores=(function_core,),
                )
                for name in names[1:-1]
            ),
        ),
        ports=tuple(ports),
        links=tuple(links),
        switch_cores=(1,) if network else (),
    )
