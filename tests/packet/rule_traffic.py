# SPDX-License-Identifier: Apache-2.0
"""Rules and packets for acl and firewall: few addresses and ports, so that they meet often."""

from __future__ import annotations

import random
from collections.abc import Iterator

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NS,
    ICMPv6PacketTooBig,
    ICMPv6TimeExceeded,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    fragment6,
)
from scapy.layers.l2 import ARP
from scapy.packet import Packet as ScapyPacket
from scapy.packet import Raw

from .frames import Sent, cut, framed
from .ipv6 import EXTENSIONS_MAX
from .replay import Direction

INSIDE, OUTSIDE = "10.0.0.1", "192.0.2.1"
INSIDE6, OUTSIDE6 = "2001:db8::1", "2001:db8:f::1"
PREFIXES6 = ("any", "2001:db8::/48", "2001:db8::/126", "2001:db8::1", "2001:db8:f::/64", "::/1")
TYPES = ("echo-request", "echo-reply", "0-255", "3")
PREFIXES = ("any", "10.0.0.0/8", "10.0.0.0/30", "10.0.0.1", "192.0.2.0/24", "192.0.2.1", "0.0.0.0/1")
PORTS = ("any", "80", "53", "0-1023", "1024-65535", "4000-4002", "79-81")


def random_rules(count: int, seed: int) -> str:
    """The text of a file."""
    dice = random.Random(seed)
    lines = ["# random rules"]
    for _ in range(count):
        protocol = dice.choice(("any", "tcp", "tcp", "udp", "udp", "icmp", "icmpv6", "47"))
        sixes = {"icmp": False, "icmpv6": True}.get(protocol, dice.random() < 0.4)
        prefixes = PREFIXES6 if sixes else PREFIXES
        line = f"{dice.choice(('permit', 'deny'))} {protocol} {dice.choice(prefixes)} {dice.choice(prefixes)}"
        if protocol in ("any", "tcp", "udp") and dice.random() < 0.7:
            line += f" {dice.choice(PORTS)} {dice.choice(PORTS)}"
        if protocol.startswith("icmp") and dice.random() < 0.5:
            line += f" {dice.choice(TYPES)}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def random_changes(present: str, count: int, seed: int) -> tuple[str, str]:
    """So many lines of the command `change`, to rules of that text, and the text of those there are then."""
    dice = random.Random(seed)
    rules = [line for line in present.splitlines() if line and not line.startswith("#")]
    lines = []
    for new in random_rules(count, seed).splitlines()[1:]:
        if rules and dice.random() < 0.5:
            gone = dice.choice(rules)
            rules.remove(gone)  # which of those that say the same is all one to what is left
            lines.append(f"remove {gone}")
            continue
        word = dice.choice(("first", "before", "after", "")) if rules else ""
        beside = dice.choice(rules) if word in ("before", "after") else ""
        lines.append(f"add {new} {word} {beside}".rstrip())
        rules.append(new)
    return "\n".join(lines) + "\n", "\n".join(rules)


def hand_made() -> Iterator[Sent]:
    """Connections, packets that belong to none, and packets that nobody should send."""
    there, back = IP(src=INSIDE, dst=OUTSIDE), IP(src=OUTSIDE, dst=INSIDE)
    for out, answer in (
        ("S", "SA"),
        ("A", "PA"),
        ("FA", "A"),
        ("A", "FA"),
        ("S", "SA"),
        ("R", "A"),
        ("S", "RA"),
    ):
        yield "outbound", framed(there / TCP(sport=4000, dport=80, flags=out))
        yield "inbound", framed(back / TCP(sport=80, dport=4000, flags=answer))
    for flags in ("A", "SA", "F", "R", "SF", "", "S"):
        yield "outbound", framed(there / TCP(sport=4001, dport=80, flags=flags))
        yield "inbound", framed(back / TCP(sport=4002, dport=80, flags=flags))
    for vlans in (1, 2, 3):
        yield "outbound", framed(there / UDP(sport=4000, dport=53), vlans=vlans)
        yield "inbound", framed(back / UDP(sport=53, dport=4000), vlans=vlans)
    yield "inbound", framed(back / ICMP(type=0, id=5))
    yield "outbound", framed(there / ICMP(type=8, id=5))
    yield "inbound", framed(back / ICMP(type=0, id=5))
    yield "inbound", framed(back / ICMP(type=8, id=5))  # who answered asks
    yield "outbound", framed(there / ICMP(type=0, id=5))
    tunnel = there.copy()
    tunnel.proto = 47
    yield "outbound", framed(tunnel / Raw(bytes(40)))
    yield "inbound", framed(IP(src="203.0.113.9", dst=INSIDE) / ICMP(type=3, code=4) / tunnel / Raw(bytes(8)))
    for kind in (5, 9, 13, 30):
        yield "inbound", framed(back / ICMP(type=kind))
    for protocol in (47, 50, 58, 132, 0, 255):
        yield "outbound", framed(IP(src=INSIDE, dst=OUTSIDE, proto=protocol) / Raw(b"payload of 20 bytes."))
        yield "inbound", framed(IP(src=OUTSIDE, dst=INSIDE, proto=protocol) / Raw(b"payload of 20 bytes."))
    yield "outbound", framed(IP(src=INSIDE, dst=OUTSIDE, options=[b"\x01" * 8]) / UDP(sport=4001, dport=53))
    yield "outbound", framed(IPv6(dst="2001:db8::1") / TCP(dport=80))
    yield "outbound", framed(ARP(pdst=OUTSIDE))
    yield from fragments()
    yield from icmp_errors()
    yield from hand_made_ipv6()
    yield from cut(framed(there / TCP(sport=4005, dport=80, flags="S"), padded=False))
    yield from cut(framed(there / UDP(sport=4005, dport=53), padded=False))
    yield from cut(framed(there / ICMP(id=6), padded=False))
    yield from cut(framed(IPv6(dst="2001:db8::1") / UDP()))
    yield from cut(framed(IPv6(src=INSIDE6, dst=OUTSIDE6) / IPv6ExtHdrDestOpt() / TCP(flags="S")))


def hand_made_ipv6() -> Iterator[Sent]:
    """Connections, echoes, errors and fragments."""
    there, back = IPv6(src=INSIDE6, dst=OUTSIDE6), IPv6(src=OUTSIDE6, dst=INSIDE6)
    for out, answer in (
        ("S", "SA"),
        ("A", "PA"),
        ("FA", "A"),
        ("A", "FA"),
        ("S", "SA"),
        ("R", "A"),
        ("S", "RA"),
    ):
        yield "outbound", framed(there / TCP(sport=4000, dport=80, flags=out))
        yield "inbound", framed(back / TCP(sport=80, dport=4000, flags=answer))
    yield "inbound", framed(back / TCP(sport=80, dport=4007, flags="SA"))
    for vlans in (0, 1, 2):
        yield "outbound", framed(there / UDP(sport=4000, dport=53), vlans=vlans)
        yield "inbound", framed(back / UDP(sport=53, dport=4000), vlans=vlans)
    yield "inbound", framed(back / ICMPv6EchoReply(id=5))
    yield "outbound", framed(there / ICMPv6EchoRequest(id=5))
    yield "inbound", framed(back / ICMPv6EchoReply(id=5))
    yield "inbound", framed(back / ICMPv6EchoRequest(id=5))  # who answered asks
    yield "outbound", framed(IPv6(src=INSIDE6, dst="ff02::1:ff00:1", hlim=255) / ICMPv6ND_NS(tgt=OUTSIDE6))
    for extension in (IPv6ExtHdrHopByHop(), IPv6ExtHdrDestOpt()):
        yield "outbound", framed(there / extension / UDP(sport=4000, dport=53))
        yield "outbound", framed(there / extension / extension / TCP(sport=4009, dport=80, flags="S"))
    for extensions in (EXTENSIONS_MAX, EXTENSIONS_MAX + 1):
        carried: ScapyPacket = TCP(sport=4010, dport=80, flags="S")
        for _ in range(extensions):
            carried = IPv6ExtHdrDestOpt() / carried
        yield "outbound", framed(there / carried)
    for protocol in (47, 50, 1, 59):
        yield "outbound", framed(IPv6(src=INSIDE6, dst=OUTSIDE6, nh=protocol) / Raw(b"payload of 20 bytes."))
        yield "inbound", framed(IPv6(src=OUTSIDE6, dst=INSIDE6, nh=protocol) / Raw(b"payload of 20 bytes."))
    yield "outbound", framed(there / UDP(sport=4004, dport=53))
    for error in (ICMPv6DestUnreach(code=4), ICMPv6PacketTooBig(mtu=1280), ICMPv6TimeExceeded()):
        for sport, layer in ((4004, UDP), (4999, UDP), (4004, TCP)):
            inside = bytes(there / layer(sport=sport, dport=53) / b"data")
            for size in (60, 48, 47, 40, 8):
                about = error / Raw(inside[:size])
                yield "inbound", framed(IPv6(src="2001:db8:ffff::1", dst=INSIDE6) / about)
            yield "inbound", framed(IPv6(src="2001:db8:ffff::1", dst="2001:db8::9") / error / Raw(inside))
    for number, sport in ((21, 4000), (22, 4011)):
        whole = there / IPv6ExtHdrFragment(id=number) / UDP(sport=sport, dport=53) / (b"?" * 200)
        pieces = [framed(one) for one in fragment6(whole, 120)]  # type: ignore[no-untyped-call]
        for piece in pieces[1:] + pieces:
            yield "outbound", piece


def fragments() -> Iterator[Sent]:
    """In order, and the later ones before the first."""
    ways: tuple[tuple[Direction, ScapyPacket], ...] = (
        ("outbound", IP(src=INSIDE, dst=OUTSIDE, id=7) / UDP(sport=4003, dport=53) / (b"?" * 200)),
        ("inbound", IP(src=OUTSIDE, dst=INSIDE, id=8) / UDP(sport=53, dport=4003) / (b"!" * 200)),
        ("inbound", IP(src=OUTSIDE, dst=INSIDE, id=9) / UDP(sport=9, dport=9) / (b"!" * 200)),
        ("outbound", IP(src=INSIDE, dst=OUTSIDE, id=10) / ICMP(id=9) / (b"?" * 200)),
        ("outbound", IP(src=INSIDE, dst=OUTSIDE, id=11) / TCP(sport=4006, dport=80) / (b"?" * 200)),
    )
    for direction, packet in ways:
        pieces = [framed(piece) for piece in packet.fragment(fragsize=64)]
        for piece in pieces[1:] + pieces:
            yield direction, piece
    for offset in (1, 2, 3):  # the first one begins in the header of the whole SYN before
        over = IP(src=INSIDE, dst=OUTSIDE, id=11, frag=offset, proto=6) / Raw(bytes(24))
        yield "outbound", framed(over)


def icmp_errors() -> Iterator[Sent]:
    """About packets of sessions and of none; whole, cut short, and to somebody else."""
    yield "outbound", framed(IP(src=INSIDE, dst=OUTSIDE) / UDP(sport=4004, dport=53))
    for kind, code in ((3, 4), (3, 1), (4, 0), (11, 0), (12, 0), (5, 1)):
        for sport, layer in ((4004, UDP), (4999, UDP), (4004, TCP)):
            inside = bytes(IP(src=INSIDE, dst=OUTSIDE) / layer(sport=sport, dport=53) / b"data")
            for size in (48, 28, 27, 20, 8):
                error = ICMP(type=kind, code=code) / Raw(inside[:size])
                yield "inbound", framed(IP(src="203.0.113.254", dst=INSIDE) / error)
            yield "inbound", framed(IP(src="203.0.113.254", dst="10.0.0.9") / ICMP(type=kind) / Raw(inside))


def generated(count: int, seed: int) -> Iterator[Sent]:
    """Random traffic between a few hosts; one packet in eight has a random bit of its headers changed."""
    dice = random.Random(seed)
    hosts = (
        (("10.0.0.1", "10.0.0.2", "10.9.0.1"), ("192.0.2.1", "192.0.2.2", "203.0.113.9")),
        (("2001:db8::1", "2001:db8::2", "2001:db8:9::1"), ("2001:db8:f::1", "2001:db8:f::2", "2001:db9::9")),
    )
    for _ in range(count):
        sixes = dice.random() < 0.4
        inside, outside = hosts[sixes]
        src, dst = dice.choice(inside), dice.choice(outside)
        sport, dport = dice.choice((1000, 4000, 4001)), dice.choice((80, 53, 8080))
        direction: Direction = "outbound"
        if dice.random() < 0.5:
            direction, src, dst, sport, dport = "inbound", dst, src, dport, sport
        flags = dice.choice(("S", "S", "SA", "A", "A", "FA", "R"))
        echo = (ICMPv6EchoReply(id=sport), ICMPv6EchoRequest(id=sport))
        layer = dice.choice(
            (
                TCP(sport=sport, dport=dport, flags=flags),
                UDP(sport=sport, dport=dport),
                dice.choice(echo) if sixes else ICMP(type=dice.choice((0, 8)), id=sport),
            )
        )
        packet = (IPv6 if sixes else IP)(src=src, dst=dst) / layer / dice.randbytes(dice.randrange(40))
        frame = bytearray(framed(packet))
        if dice.random() < 1 / 8:
            frame[dice.randrange(14, 54)] ^= 1 << dice.randrange(8)
        yield direction, bytes(frame)
