# SPDX-License-Identifier: Apache-2.0
"""The golden packets: a lab's function in each architecture gives the same bytes, in each flow's order."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether

from tests.verbs import exchange
from weir.lab.function import ARCHITECTURES
from weir.protocol import DataPlaneClient
from weir.protocol.ledger import Ledger

from .frames import framed
from .one_function import Functions, Way, configuration, data_plane, running

LEFT, RIGHT = "tester.left", "tester.right"
SERVER, VIP = "198.51.100.1", "203.0.113.10"
FLOWS, PACKETS = 24, 12
WAYS: dict[str, Way] = {
    **{name: {"architecture": name} for name in ARCHITECTURES},
    "dispatch to 4": {"architecture": "dispatch", "workers": 4},
    "separated, 3 appliers": {"architecture": "separated", "workers": 3},
    "separated, 2 state_cores": {"architecture": "separated", "workers": 2, "state_cores": 2},
}
FAST = {f"{name}, fast path": {**way, "fastpath": True, "fastpath_flows": 64} for name, way in WAYS.items()}
CHAINS: dict[str, Functions] = {
    "nat-dpi-l3fwd": [
        {"nf": "nat", "options": {"external": "203.0.113.0/28"}},
        {"nf": "dpi"},
        {"nf": "l3fwd"},
    ],
    "acl-lb-l3fwd": [
        {"nf": "acl", "options": {"default": "permit", "not_ipv4": "forward"}},
        {"nf": "lb", "options": {"services": f"{VIP}:80/tcp 10.1.0.1:8080, {VIP}:80/tcp 10.1.0.2:8080"}},
        {"nf": "l3fwd"},
    ],
    "firewall-l3fwd": [{"nf": "firewall", "options": {"default": "permit"}}, {"nf": "l3fwd"}],
}


@dataclass(frozen=True)
class Run:
    """What left, and the counts afterwards."""

    left: list[bytes]
    right: list[bytes]
    ledger: Ledger


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


@contextmanager
def built(client: DataPlaneClient, functions: Functions, way: Way) -> Iterator[None]:
    """These functions; the far ends of the wires are free for frames."""
    config = configuration(functions, way)
    areas = [area for area in config["areas"] if area["kind"] not in ("generator", "receiver")]
    with running(client, {**config, "areas": areas}):
        yield


def marked(frame: bytes, flow: int) -> bytes:
    """With its flow behind the packet, where no function looks."""
    return frame + flow.to_bytes(2, "big")


def flow_frames(flow: int) -> Iterator[bytes]:
    """TCP to the service, UDP with a fragmented datagram, or pings, from inside; one packet is expired."""
    inside, port = f"10.0.{flow % 3}.{flow}", 2000 + flow
    for number in range(PACKETS):
        payload = bytes([flow, number]) * 8
        ip = IP(src=inside, dst=SERVER, id=100 * flow + number, ttl=1 if number == 7 else 64)
        if flow % 3 == 0:
            ip.dst = VIP
            flags = "S" if number == 0 else "FA" if number == PACKETS - 1 else "A"
            yield framed(ip / TCP(sport=port, dport=80, flags=flags, seq=number) / payload)
        elif flow % 3 == 2:
            yield framed(ip / ICMP(type=8, id=port, seq=number) / payload)
        elif number in (3, 4):
            whole = bytes(UDP(sport=port, dport=53, len=8 + 48) / (payload * 3))
            ip.id, ip.proto = 7000 + flow, 17
            ip.frag, ip.flags = (0, "MF") if number == 3 else (5, "")
            yield framed(ip / (whole[:40] if number == 3 else whole[40:]))
        else:
            yield framed(ip / UDP(sport=port, dport=53) / payload)


def outbound() -> list[bytes]:
    """All flows, mixed but each in its order; and what belongs to no IPv4 flow."""
    flows = {flow: list(flow_frames(flow)) for flow in range(FLOWS)}
    flows[FLOWS] = [
        framed(ARP(pdst=SERVER)),
        framed(IP(src="10.0.0.9", dst=SERVER, len=9, proto=17) / b"cut"),
    ]
    flows[FLOWS + 1] = [framed(IPv6(dst="2001:db8::1") / UDP(dport=53)) for _ in range(3)]
    order = [flow for flow, frames in flows.items() for _ in frames]
    random.Random(1).shuffle(order)
    return [marked(flows[flow].pop(0), flow) for flow in order]


def answers(arrived: Sequence[bytes]) -> list[bytes]:
    """To each packet that came out one goes back, and now and then an ICMP error about it."""
    found = []
    for number, frame in enumerate(arrived):
        flow = int.from_bytes(frame[-2:], "big")
        packet = Ether(frame[:-2])
        if IP not in packet or packet[IP].frag or packet[IP].flags == "MF":
            continue
        ip = packet[IP]
        if number % 5 == 2:
            error = IP(src="192.0.2.77", dst=ip.src) / ICMP(type=11) / bytes(ip)[:28]
            found.append(marked(framed(error), flow))
        elif TCP in packet or UDP in packet:
            kind = TCP if TCP in packet else UDP
            back = kind(sport=packet[kind].dport, dport=packet[kind].sport)
            found.append(marked(framed(IP(src=ip.dst, dst=ip.src) / back / bytes(3 * [number % 256])), flow))
        elif ICMP in packet:
            reply = ICMP(type=0, id=packet[ICMP].id, seq=packet[ICMP].seq)
            found.append(marked(framed(IP(src=ip.dst, dst=ip.src) / reply / b"pong"), flow))
    return found


def run(client: DataPlaneClient, out: Sequence[bytes], back: Sequence[bytes]) -> Run:
    """First all that goes out, then what comes back."""
    right = exchange(client, {LEFT: out, RIGHT: []})[RIGHT]
    left = exchange(client, {LEFT: [], RIGHT: back or answers(right)})[LEFT]
    return Run(left, right, client.ledger())


def by_flow(frames: Sequence[bytes]) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = defaultdict(list)
    for frame in frames:
        found[frame[-2:]].append(frame)
    return found


def missing(ledger: Ledger, offered: int, delivered: int) -> int:
    """Packets that no count explains; each path of each area must balance by itself."""
    lost = 0
    for area in ledger.areas:
        for path in area.paths:
            here = sum(path.drops.values()) + sum(sum(stage.drops.values()) for stage in path.stages)
            assert path.rx_packets == path.tx_packets + here, f"{area.name}/{path.name}"
            lost += here
    return offered - delivered - lost


@pytest.mark.long
@pytest.mark.parametrize("name", CHAINS)
def test_every_architecture_gives_the_same_bytes_in_the_order_of_flows(
    client: DataPlaneClient, name: str
) -> None:
    out = outbound()
    back: list[bytes] = []
    wanted: Run | None = None
    for title, way in {**WAYS, **FAST}.items():
        with built(client, CHAINS[name], way):
            found = run(client, out, back)
        if wanted is None:
            wanted, back = found, answers(found.right)
            assert len(out) / 2 < len(found.right) < len(out)
            assert len(found.left) > len(back) / 2
        assert by_flow(found.right) == by_flow(wanted.right), title
        assert by_flow(found.left) == by_flow(wanted.left), title
        assert missing(found.ledger, len(out) + len(back), len(found.left) + len(found.right)) == 0, title


@pytest.mark.parametrize("architecture", [name for name in ARCHITECTURES if name != "separated"])
def test_a_function_that_moves_packets_itself_runs_wherever_it_is_not_separated(
    client: DataPlaneClient, architecture: str
) -> None:
    swap: dict[str, Any] = {"nf": "l2fwd", "options": {"mode": "mac-swap"}}
    frames = outbound()
    with built(client, [swap, swap], {"architecture": architecture}):
        found = run(client, frames, frames)
    assert by_flow(found.right) == by_flow(found.left) == by_flow(frames)
