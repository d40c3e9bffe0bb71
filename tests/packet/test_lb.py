# SPDX-License-Identifier: Apache-2.0
"""lb against its reference, byte by byte: hand-made and generated packets, back-ends that come and go."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP
from scapy.packet import Packet as ScapyPacket
from scapy.packet import Raw

from .frames import Sent, cut, framed
from .ipv4 import TCP as TCP_PROTOCOL
from .ipv4 import UDP as UDP_PROTOCOL
from .lb_reference import Balancer, endpoint
from .replay import Direction, Dropped, Forwarded, replay

VIP = "203.0.113.10"
BACKENDS = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
SERVICES = ", ".join([f"{VIP}:80/tcp {ip}:8080" for ip in BACKENDS] + [f"{VIP}:53/udp {BACKENDS[0]}:53"])
WEB = endpoint(f"{VIP}:80", TCP_PROTOCOL)
TABLE_SIZE = 251


def reference(*, drops_other: bool, forwards_ipv6: bool = False) -> Balancer:
    services = {
        WEB: [endpoint(f"{ip}:8080", TCP_PROTOCOL) for ip in BACKENDS],
        endpoint(f"{VIP}:53", UDP_PROTOCOL): [endpoint(f"{BACKENDS[0]}:53", UDP_PROTOCOL)],
    }
    return Balancer(services, TABLE_SIZE, drops_other=drops_other, forwards_ipv6=forwards_ipv6)


def hand_made() -> Iterator[Sent]:
    """The cases that a balancer must get right, and packets that nobody should send."""
    client = "198.51.100.1"
    for flags in ("S", "A", "PA", "FA", "S", "A", "R", "S", "SA"):
        yield "outbound", framed(IP(src=client, dst=VIP) / TCP(sport=4000, dport=80, flags=flags) / b"GET")
        for ip in BACKENDS:
            yield "inbound", framed(IP(src=ip, dst=client) / TCP(sport=8080, dport=4000, flags=flags))
    for vlans in (1, 2, 3):
        yield "outbound", framed(IP(src=client, dst=VIP) / TCP(sport=4001, dport=80), vlans=vlans)
    for size in (0, 1, 17, 1400):
        yield "outbound", framed(IP(src=client, dst=VIP) / UDP(sport=4000, dport=53) / (b"?" * size))
        yield "inbound", framed(IP(src=BACKENDS[0], dst=client) / UDP(sport=53, dport=4000) / (b"!" * size))
    yield "outbound", framed(IP(src=client, dst=VIP) / UDP(sport=4002, dport=53, chksum=0) / b"no sum")
    yield "outbound", framed(IP(src=client, dst=VIP) / UDP(sport=4002, dport=53, chksum=0x1234) / b"wrong")
    yield "outbound", framed(IP(src=client, dst=VIP, chksum=0x4242) / TCP(sport=4003, dport=80))
    yield "outbound", framed(IP(src=client, dst=VIP, options=[b"\x01" * 4]) / TCP(sport=4004, dport=80))
    for protocol, port in ((TCP, 81), (UDP, 80), (UDP, 5353), (TCP, 53)):
        yield "outbound", framed(IP(src=client, dst=VIP) / protocol(sport=4005, dport=port))
    yield "outbound", framed(IP(src=client, dst=VIP) / ICMP(id=5) / b"ping")
    yield "outbound", framed(IP(src=client, dst=VIP, proto=47) / b"GRE, or so")
    yield "outbound", framed(IPv6(dst="2001:db8::1") / TCP(dport=80))
    yield "outbound", framed(ARP(pdst=VIP))
    yield from fragments(client)
    yield from icmp_errors(client)
    yield from cut(framed(IP(src=client, dst=VIP) / TCP(sport=4006, dport=80)))
    yield from cut(framed(IPv6(dst="2001:db8::1") / UDP()))


def fragments(client: str) -> Iterator[Sent]:
    """Of a question and its answer; in order, out of order, unknown."""
    ways: tuple[tuple[Direction, ScapyPacket], ...] = (
        ("outbound", IP(src=client, dst=VIP, id=7) / UDP(sport=4010, dport=53) / (b"?" * 200)),
        ("inbound", IP(src=BACKENDS[0], dst=client, id=8) / UDP(sport=53, dport=4010) / (b"!" * 200)),
        ("outbound", IP(src=client, dst=VIP, id=9) / TCP(sport=4011, dport=80) / (b"P" * 200)),
        ("outbound", IP(src=client, dst="192.0.2.1", id=10) / UDP(sport=4012, dport=53) / (b"?" * 200)),
    )
    for direction, packet in ways:
        pieces = [framed(piece) for piece in packet.fragment(fragsize=64)]
        for piece in pieces[2:] + pieces:
            yield direction, piece


def icmp_errors(client: str) -> Iterator[Sent]:
    """About packets of connections, of services without any, and of others; whole and cut short."""
    for kind, code in ((3, 4), (3, 1), (11, 0), (12, 0), (5, 1)):
        for sport, dport, layer in ((80, 4000, TCP), (80, 4999, TCP), (53, 4000, UDP), (81, 4000, TCP)):
            inside = bytes(IP(src=VIP, dst=client) / layer(sport=sport, dport=dport) / b"data")
            for size in (48, 28, 27, 20, 8):
                error = ICMP(type=kind, code=code) / Raw(inside[:size])
                yield "outbound", framed(IP(src="192.0.2.254", dst=VIP) / error)
    for src in (*BACKENDS, "10.0.0.254"):
        inside = bytes(IP(src=client, dst="10.0.0.1") / TCP(sport=4000, dport=8080) / b"data")
        yield "inbound", framed(IP(src=src, dst=client) / ICMP(type=3, code=3) / Raw(inside))
    nested = bytes(IP(src=VIP, dst=client) / ICMP(type=8, id=3))
    yield "outbound", framed(IP(src=client, dst=VIP) / ICMP(type=3) / Raw(nested))
    forged = bytes(IP(src=VIP, dst=client) / TCP(sport=80, dport=4000))
    yield "outbound", framed(IP(src=client, dst="192.0.2.9") / ICMP(type=3) / Raw(forged))


def generated(count: int, seed: int) -> Iterator[Sent]:
    """Random traffic of a few clients; one packet in eight has a random byte of its headers changed."""
    dice = random.Random(seed)
    for _ in range(count):
        client = f"198.51.100.{dice.randrange(1, 5)}"
        port = dice.randrange(4000, 4020)
        flags = dice.choice(("S", "A", "A", "A", "FA", "R", "SA"))
        if dice.random() < 0.5:
            layer = (
                TCP(sport=port, dport=80, flags=flags) if dice.random() < 0.7 else UDP(sport=port, dport=53)
            )
            direction: Direction = "outbound"
            packet = IP(src=client, dst=VIP) / layer / dice.randbytes(dice.randrange(40))
        else:
            direction = "inbound"
            source = dice.choice((*BACKENDS, "10.0.0.4"))
            packet = IP(src=source, dst=client) / TCP(sport=8080, dport=port, flags=flags)
        frame = bytearray(framed(packet))
        if dice.random() < 1 / 8:
            frame[dice.randrange(14, 54)] ^= 1 << dice.randrange(8)
        yield direction, bytes(frame)


def options(**more: str | int | bool) -> dict[str, str | int | bool]:
    return {"services": SERVICES, "table_size": TABLE_SIZE, **more}


@pytest.mark.parametrize(
    "given", [{}, {"other": "drop"}, {"ipv6": "forward"}, {"other": "drop", "ipv6": "forward"}]
)
def test_hand_made_packets_become_what_the_reference_says(given: dict[str, str]) -> None:
    sent = list(hand_made())
    assert len(sent) >= 200
    expected = reference(drops_other="other" in given, forwards_ipv6="ipv6" in given)
    with replay(("lb", options(**given))) as chain:
        chain.compare(expected.handle, sent)


@pytest.mark.long
def test_traffic_and_back_ends_that_come_and_go_are_as_the_reference_says() -> None:
    expected = reference(drops_other=False)
    third, fourth = (endpoint(f"10.0.0.{i}:8080", TCP_PROTOCOL) for i in (3, 4))
    with replay(("lb", options())) as chain:
        chain.compare(expected.handle, list(generated(400, seed=1)))
        chain.command("lb0", "backend-add", service=f"{VIP}:80/tcp", backend="10.0.0.4:8080")
        expected.add(WEB, fourth)
        chain.compare(expected.handle, list(generated(400, seed=2)))
        chain.command("lb0", "backend-drain", service=f"{VIP}:80/tcp", backend="10.0.0.3:8080")
        expected.drain(WEB, third)
        chain.compare(expected.handle, list(generated(400, seed=3)))
        chain.command("lb0", "backend-remove", service=f"{VIP}:80/tcp", backend="10.0.0.3:8080")
        expected.remove(WEB, third)
        chain.compare(expected.handle, list(generated(400, seed=4)))


def test_when_the_table_is_full_connections_go_where_the_hash_says() -> None:
    expected = reference(drops_other=False)
    requests = [
        framed(IP(src="198.51.100.9", dst=VIP) / TCP(sport=port, dport=80, flags="S"))
        for port in range(5000, 5050)
    ]
    with replay(("lb", options(connections_max=10))) as chain:
        chain.compare(expected.handle, [("outbound", frame) for frame in requests])
    with replay(("lb", options(connections_max=10, when_full="drop"))) as chain:
        outcomes = chain.send_all(requests)
    assert all(isinstance(outcome, Forwarded) for outcome in outcomes[:10])
    assert outcomes[10:] == [Dropped("table_full", "lb")] * 40
