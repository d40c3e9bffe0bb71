# SPDX-License-Identifier: Apache-2.0
"""nat against its reference, byte by byte: hand-made, cut, changed and random packets, both ways."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Iterator

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP
from scapy.packet import Packet as ScapyPacket
from scapy.packet import Raw

from .frames import Sent, cut, framed
from .ipv4 import ICMP as ICMP_PROTOCOL
from .ipv4 import TCP as TCP_PROTOCOL
from .ipv4 import UDP as UDP_PROTOCOL
from .nat_reference import Nat
from .replay import Direction, Dropped, Forwarded, Options, replay

EXTERNAL = "203.0.113.0/30"
REMOTES = ("198.51.100.1", "198.51.100.2")
FILTERING = ("endpoint-independent", "address-dependent", "address-and-port-dependent")


def number(address: str) -> int:
    return int(ipaddress.IPv4Address(address))


def external_of(expected: Nat, inside: str, port: int, protocol: int) -> tuple[str, int]:
    """Where the mapping of an inside endpoint, which there is, is seen from outside."""
    address, external_port, _ = expected.by_inside[(number(inside), port, protocol)].external
    return str(ipaddress.IPv4Address(address)), external_port


def opening() -> Iterator[Sent]:
    """Two inside hosts talk to the outside, in every protocol; then what nobody should send."""
    for inside in ("10.0.0.1", "10.0.0.2"):
        for remote in REMOTES:
            for port in (53, 999, 5000, 5001):
                yield "outbound", framed(IP(src=inside, dst=remote) / UDP(sport=port, dport=80) / b"?")
                yield "outbound", framed(IP(src=inside, dst=remote) / TCP(sport=port, dport=80, flags="S"))
                yield "outbound", framed(IP(src=inside, dst=remote) / ICMP(id=port) / b"ping")
    inside, remote = "10.0.0.1", REMOTES[0]
    for vlans in (1, 2, 3):
        yield "outbound", framed(IP(src=inside, dst=remote) / UDP(sport=5000, dport=80), vlans=vlans)
    for flags in ("A", "FA", "R", "SA"):
        yield "outbound", framed(IP(src=inside, dst=remote) / TCP(sport=5000, dport=80, flags=flags))
    yield "outbound", framed(IP(src=inside, dst=remote) / TCP(sport=7777, dport=80, flags="R"))
    yield "outbound", framed(IP(src=inside, dst=remote) / UDP(sport=5000, dport=80, chksum=0) / b"no sum")
    yield "outbound", framed(IP(src=inside, dst=remote) / UDP(sport=5000, dport=80, chksum=7) / b"wrong")
    yield "outbound", framed(IP(src=inside, dst=remote, chksum=7) / TCP(sport=5000, dport=80))
    yield "outbound", framed(IP(src=inside, dst=remote, options=[b"\x01" * 4]) / UDP(sport=5000, dport=80))
    yield "outbound", framed(IP(src=inside, dst=remote, proto=47) / b"GRE, or so")
    yield "outbound", framed(IP(src=inside, dst=remote) / ICMP(type=13))
    yield "outbound", framed(IPv6(dst="2001:db8::1") / TCP(dport=80))
    yield "outbound", framed(ARP(pdst=remote))
    yield from cut(framed(IP(src=inside, dst=remote) / TCP(sport=5000, dport=80)))
    yield from cut(framed(IP(src=inside, dst=remote) / ICMP(id=5)))
    yield from cut(framed(IPv6(dst="2001:db8::1") / UDP()))


def answers(expected: Nat) -> Iterator[Sent]:
    """From those who were asked and from others, to mappings and to ports without one; hairpinned ones."""
    for port in (53, 5000):
        for protocol, layer in ((UDP_PROTOCOL, UDP), (TCP_PROTOCOL, TCP)):
            address, external_port = external_of(expected, "10.0.0.1", port, protocol)
            for remote, remote_port in ((REMOTES[0], 80), (REMOTES[0], 81), ("192.0.2.9", 80)):
                for to in (external_port, external_port ^ 1):
                    packet = IP(src=remote, dst=address) / layer(sport=remote_port, dport=to) / b"!"
                    yield "inbound", framed(packet)
            for sport in (5000, 6000):
                packet = IP(src="10.0.0.2", dst=address) / layer(sport=sport, dport=external_port)
                yield "outbound", framed(packet)
                yield "inbound", framed(packet)
        address, identifier = external_of(expected, "10.0.0.1", port, ICMP_PROTOCOL)
        for remote in (REMOTES[0], "192.0.2.9"):
            yield "inbound", framed(IP(src=remote, dst=address) / ICMP(type=0, id=identifier) / b"pong")
        yield "outbound", framed(IP(src="10.0.0.2", dst=address) / ICMP(id=identifier))
    yield "inbound", framed(IP(src=REMOTES[0], dst="192.0.2.1") / UDP(sport=80, dport=5000))


def fragments(expected: Nat) -> Iterator[Sent]:
    """In order, out of order, unknown; both ways, and hairpinned."""
    address, port = external_of(expected, "10.0.0.1", 5000, UDP_PROTOCOL)
    ways: tuple[tuple[Direction, ScapyPacket], ...] = (
        ("outbound", IP(src="10.0.0.2", dst=REMOTES[0], id=7) / UDP(sport=5000, dport=80) / (b"?" * 200)),
        ("outbound", IP(src="10.0.0.2", dst=REMOTES[0], id=7) / TCP(sport=5000, dport=80) / (b"?" * 200)),
        ("outbound", IP(src="10.0.0.2", dst=REMOTES[0], id=9) / ICMP(id=5000) / (b"?" * 200)),
        ("outbound", IP(src="10.0.0.2", dst=address, id=8) / UDP(sport=5000, dport=port) / (b"?" * 200)),
        ("inbound", IP(src=REMOTES[0], dst=address, id=7) / UDP(sport=80, dport=port) / (b"!" * 200)),
        ("inbound", IP(src=REMOTES[0], dst=address, id=8) / UDP(sport=80, dport=port + 2) / (b"!" * 200)),
    )
    for direction, packet in ways:
        pieces = [framed(piece) for piece in packet.fragment(fragsize=64)]
        for piece in pieces[2:] + pieces:
            yield direction, piece


def icmp_errors(expected: Nat) -> Iterator[Sent]:
    """About packets of mappings, of none, and hairpinned ones; whole, cut short, and damaged."""
    for protocol, layer in ((UDP_PROTOCOL, UDP), (TCP_PROTOCOL, TCP)):
        address, port = external_of(expected, "10.0.0.1", 5000, protocol)
        other, other_port = external_of(expected, "10.0.0.2", 5001, protocol)
        to, back = REMOTES[0], IP(src=REMOTES[0], dst="10.0.0.1")
        hairpinned = IP(src=other, dst="10.0.0.1")
        router, sent = "192.0.2.254", IP(src=address, dst=REMOTES[0])
        about: tuple[tuple[Direction, str, str, ScapyPacket], ...] = (
            ("inbound", router, address, sent / layer(sport=port, dport=80)),
            ("inbound", router, address, IP(src=address, dst="192.0.2.7") / layer(sport=port, dport=80)),
            ("inbound", router, other, sent / layer(sport=port, dport=9)),
            ("inbound", router, "192.0.2.1", sent / layer(sport=port, dport=80)),
            ("inbound", router, address, sent / layer(sport=1, dport=80)),
            ("outbound", "10.0.0.1", to, back / layer(sport=80, dport=5000)),
            ("outbound", "10.9.9.9", to, back / layer(sport=80, dport=5000)),
            ("outbound", "10.0.0.1", to, back / layer(sport=80, dport=4)),
            ("outbound", "10.0.0.1", other, hairpinned / layer(sport=other_port, dport=5000)),
            ("outbound", "10.0.0.1", "203.0.113.9", hairpinned / layer(sport=other_port, dport=5000)),
        )
        for direction, src, dst, inside in about:
            whole = bytes(inside / b"data!")
            for kind, size in ((3, 48), (3, 45), (11, 28), (12, 27), (4, 36), (5, 48), (3, 19)):
                yield direction, framed(IP(src=src, dst=dst) / ICMP(type=kind, code=1) / Raw(whole[:size]))
            yield direction, framed(IP(src=src, dst=dst) / ICMP(type=3, chksum=1) / Raw(whole))
            yield direction, framed(IP(src=src, dst=dst) / ICMP(type=3) / Raw(b"\x46" + whole[1:]))
    address, identifier = external_of(expected, "10.0.0.1", 5000, ICMP_PROTOCOL)
    ping = bytes(IP(src=address, dst=REMOTES[0]) / ICMP(id=identifier) / b"ping")
    yield "inbound", framed(IP(src="192.0.2.254", dst=address) / ICMP(type=11) / Raw(ping))
    pong = bytes(IP(src=REMOTES[0], dst="10.0.0.1") / ICMP(type=0, id=5000) / b"pong")
    yield "outbound", framed(IP(src="10.0.0.1", dst=REMOTES[0]) / ICMP(type=3) / Raw(pong))
    nested = bytes(IP(src=address, dst=REMOTES[0]) / ICMP(type=3) / Raw(ping))
    yield "inbound", framed(IP(src="192.0.2.254", dst=address) / ICMP(type=3) / Raw(nested))


def generated(expected: Nat, count: int, seed: int) -> Iterator[Sent]:
    """Random traffic of a few hosts with few ports; one packet in eight has a bit of its headers changed.

    Goes along with the reference, so that what comes from outside can be for mappings that there are.
    """
    dice = random.Random(seed)
    for _ in range(count):
        layer = dice.choice((UDP, TCP))
        remote, remote_port = dice.choice(REMOTES), dice.choice((80, 81))
        direction: Direction = "outbound"
        if dice.random() < 0.5 or not expected.by_external:
            inside = f"10.0.{dice.randrange(4)}.{dice.randrange(1, 9)}"
            to = dice.choice((remote, remote, remote, f"203.0.113.{dice.randrange(4)}"))
            port = remote_port if to == remote else dice.randrange(1024, 1200)
            packet = IP(src=inside, dst=to) / layer(sport=dice.randrange(1000, 1100), dport=port)
        else:
            address, port, _ = dice.choice(list(expected.by_external))
            direction = "inbound"
            to = str(ipaddress.IPv4Address(address))
            packet = IP(src=remote, dst=to) / layer(sport=remote_port, dport=port)
        frame = bytearray(framed(packet / dice.randbytes(dice.randrange(40))))
        if dice.random() < 1 / 8:
            frame[dice.randrange(14, 42)] ^= 1 << dice.randrange(8)
        yield direction, bytes(frame)


@pytest.mark.parametrize("filtering", FILTERING)
@pytest.mark.parametrize("lanes", [1, 16])
def test_hand_made_packets_become_what_the_reference_says(filtering: str, lanes: int) -> None:
    expected = Nat(EXTERNAL, filtering=filtering, lanes=lanes)
    counted = 0
    with replay(("nat", {"external": EXTERNAL, "filtering": filtering, "lanes": lanes})) as chain:
        sent = list(opening())
        chain.compare(expected.handle, sent)
        for more in (answers, fragments, icmp_errors):
            counted += len(sent)
            sent = list(more(expected))
            chain.compare(expected.handle, sent)
    assert counted + len(sent) >= 200


@pytest.mark.long
@pytest.mark.parametrize("ports", [(1024, 65535), (1000, 1100)])
@pytest.mark.parametrize("seed", [1, 2])
def test_random_traffic_becomes_what_the_reference_says(ports: tuple[int, int], seed: int) -> None:
    expected = Nat(EXTERNAL, filtering=FILTERING[seed], ports=ports, seed=seed, lanes=4)
    options: dict[str, str | int | bool] = {"filtering": FILTERING[seed], "seed": seed, "lanes": 4}
    options |= {"external": EXTERNAL, "port_min": ports[0], "port_max": ports[1]}
    with replay(("nat", options)) as chain:
        for direction, frame in generated(expected, 500, seed):
            assert chain.send(frame, direction) == expected.handle(frame, direction), frame.hex()


def test_static_mappings_are_open_and_take_the_place_of_dynamic_ones() -> None:
    expected = Nat(EXTERNAL, filtering=FILTERING[2])
    with replay(("nat", {"external": EXTERNAL, "filtering": FILTERING[2]})) as chain:
        chain.compare(expected.handle, list(opening()))
        _, port = external_of(expected, "10.0.0.2", 5000, TCP_PROTOCOL)
        address, _ = external_of(expected, "10.0.0.2", 5000, TCP_PROTOCOL)
        chain.command(
            "nat0", "static-add", external=address, external_port=port, inside="10.0.0.1", inside_port=5000
        )
        expected.add_static((number("10.0.0.1"), 5000, TCP_PROTOCOL), (number(address), port, TCP_PROTOCOL))
        chain.compare(expected.handle, list(opening()))
        chain.compare(expected.handle, list(answers(expected)))


@pytest.mark.parametrize("fastpath_flows", [None, 64])
def test_a_mapping_ends_when_it_is_idle(fastpath_flows: int | None) -> None:
    question = framed(IP(src="10.0.0.1", dst=REMOTES[0]) / UDP(sport=5000, dport=80))
    nat: tuple[str, Options] = ("nat", {"external": EXTERNAL, "lanes": 1})
    with replay(nat, fastpath_flows=fastpath_flows) as chain:
        asked = chain.send(question, at_s=1)
        assert isinstance(asked, Forwarded)
        seen = IP(asked.frame[14:])
        answer = framed(IP(src=REMOTES[0], dst=seen.src) / UDP(sport=80, dport=seen.sport))
        for second in (2, 290, 580):
            assert isinstance(chain.send(answer, "inbound", at_s=second), Forwarded)
        chain.send(framed(ARP()), at_s=581)  # time is noticed with every frame
        assert chain.send(answer, "inbound", at_s=890) == Dropped("no_mapping", "nat")
