# SPDX-License-Identifier: Apache-2.0
"""l3fwd against its reference, byte by byte: hand-made and generated packets, routes that come and go."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6ND_NS, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrRouting
from scapy.layers.l2 import ARP
from scapy.packet import Packet as ScapyPacket
from scapy.packet import Raw

from weir.protocol import DataPlaneError

from .frames import cut, framed
from .l3fwd_reference import Router
from .replay import Replay, replay

SRC_MAC = "02:57:00:00:00:aa"
ROUTES = """
0.0.0.0/0           02:00:00:00:01:00
10.0.0.0/8          02:00:00:00:01:01 1
10.1.0.0/16         02:00:00:00:01:02 2
10.1.2.0/24         02:00:00:00:01:03 3
10.1.2.128/25       02:00:00:00:01:04
10.1.2.129          02:00:00:00:01:05 5
2001:db8::/32       02:00:00:00:02:01 1
2001:db8:1::/48     02:00:00:00:02:02
2001:db8:1:2::/64   02:00:00:00:02:03 3
2001:db8:1:2::3     02:00:00:00:02:04
"""
V4 = ("203.0.113.1", "10.2.3.4", "10.1.3.4", "10.1.2.3", "10.1.2.128", "10.1.2.129", "11.0.0.0")
V6 = ("2001:db8:2::1", "2001:db8:1::1", "2001:db8:1:2::1", "2001:db8:1:2::3", "2001:db9::1", "2000::1")


@pytest.fixture
def routes_file(tmp_path: Path) -> Path:
    path = tmp_path / "routes"
    path.write_text(ROUTES)
    return path


def reference(text: str = ROUTES) -> Router:
    router = Router(SRC_MAC)
    for line in text.split("\n"):
        if line:
            prefix, next_hop, *egress = line.split()
            router.add(prefix, next_hop, int(egress[0]) if egress else 0)
    return router


def hand_made() -> Iterator[bytes]:
    """The cases that a router must get right, and packets that nobody should send."""
    client, client6 = "198.51.100.1", "2001:db8:ffff::1"
    for destination in V4:
        for ttl in (0, 1, 2, 64, 255):
            yield framed(IP(src=client, dst=destination, ttl=ttl) / UDP(sport=1, dport=2) / b"data")
    for destination in V6:
        for limit in (0, 1, 2, 64, 255):
            yield framed(IPv6(src=client6, dst=destination, hlim=limit) / UDP(sport=1, dport=2) / b"data")
    for vlans in (1, 2, 3):
        yield framed(IP(src=client, dst="10.1.2.3") / TCP(), vlans=vlans)
        yield framed(IPv6(src=client6, dst="2001:db8::1") / TCP(), vlans=vlans)
    for special in ("0.0.0.0", "127.0.0.1", "224.0.0.5", "239.1.1.1", "240.0.0.1", "255.255.255.255"):
        yield framed(IP(src=special, dst="10.1.2.3") / UDP())
        yield framed(IP(src=client, dst=special) / UDP())
    for special in ("::", "::1", "::2", "fe80::1", "febf::1", "fec0::1", "ff02::1", "fd00::1"):
        yield framed(IPv6(src=special, dst="2001:db8::1") / UDP())
        yield framed(IPv6(src=client6, dst=special) / UDP())
    yield framed(IP(src=client, dst="10.1.2.3", chksum=0x4242) / UDP())
    yield framed(IP(src=client, dst="10.1.2.3") / ICMP() / b"ping")
    yield framed(IP(src=client, dst="10.1.2.3") / ICMP(type=3, code=1) / Raw(bytes(IP() / UDP())))
    yield framed(IP(src=client, dst="10.1.2.3", proto=47) / b"GRE, or so")
    for options in (b"\x83\x07\x04\x0a\0\0\1\0", b"\x01\x89\x07\x04\x0a\0\0\1", b"\x07\x07\x04\0\0\0\0\0"):
        yield with_options(framed(IP(src=client, dst="10.1.2.3") / UDP()), options)
    for options in (b"\x94\x04\0\0\0\x83\x07\x04", b"\x07\x01\0\0", b"\x07\x09\x04\0\0\0\0\0", b"\1\1\1\x07"):
        yield with_options(framed(IP(src=client, dst="10.1.2.3") / UDP()), options)
    whole: ScapyPacket = IP(src=client, dst="10.1.2.3") / UDP() / (b"x" * 200)
    yield from (framed(piece) for piece in whole.fragment(fragsize=64))
    destination_options = IPv6ExtHdrDestOpt()
    for extension in (IPv6ExtHdrFragment(offset=4), destination_options, IPv6ExtHdrRouting()):
        yield framed(IPv6(src=client6, dst="2001:db8:1::1") / extension / UDP() / b"data")
    many = IPv6(src=client6, dst="2001:db8:1::1")
    for _ in range(9):
        many = many / IPv6ExtHdrDestOpt()
        yield framed(many / UDP())
    for named in (0, 43, 44, 60, 135, 253):
        later = IPv6ExtHdrFragment(nh=named, offset=4)
        yield framed(IPv6(src=client6, dst="2001:db8:1::1", nh=44) / later / (b"\xff" * 24))
        yield framed(IPv6(src=client6, dst="2001:db8:1::1", nh=named) / (b"\xff" * 24))
    yield framed(ARP(pdst="10.1.2.3"))
    yield framed(IPv6(src="fe80::1", dst="ff02::1:ff00:1") / ICMPv6ND_NS())
    group = framed(IP(src=client, dst="10.1.2.3") / UDP())
    yield b"\xff" * 6 + group[6:]
    yield b"\x01\x00\x5e\x00\x00\x01" + group[6:]
    yield from (frame for _, frame in cut(framed(IP(src=client, dst="10.1.2.3") / UDP())))
    yield from (
        frame
        for _, frame in cut(framed(IPv6(src=client6, dst="2001:db8:1::1") / destination_options / UDP()))
    )


def with_options(frame: bytes, options: bytes) -> bytes:
    """Its IPv4 header gets them, unchecked, and a right checksum."""
    packet = IP(frame[14:])
    header = bytearray(bytes(packet)[:20] + options)
    header[0] = 0x40 | len(header) // 4
    header[2:4] = (len(header) + 8).to_bytes(2, "big")
    header[10:12] = b"\0\0"
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, len(header), 2))
    total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = (~(total + (total >> 16)) & 0xFFFF).to_bytes(2, "big")
    return (frame[:14] + bytes(header) + bytes(packet.payload)[:8]).ljust(60, b"\0")


def generated(count: int, seed: int) -> Iterator[bytes]:
    """Random traffic towards the routes; one packet in eight has a random byte of its headers changed."""
    dice = random.Random(seed)
    for _ in range(count):
        ttl = dice.choice((1, 2, 64, 64, 64))
        if dice.random() < 0.5:
            destination = f"10.{dice.randrange(3)}.{dice.randrange(4)}.{dice.choice((1, 127, 128, 129, 130))}"
            packet: ScapyPacket = (
                IP(src="198.51.100.1", dst=destination, ttl=ttl) / UDP() / dice.randbytes(20)
            )
        else:
            tail = f"{dice.randrange(3):x}:{dice.randrange(3):x}::{dice.randrange(5):x}"
            packet = IPv6(src="2001:db8::ffff", dst=f"2001:db8:{tail}", hlim=ttl) / TCP()
        frame = bytearray(framed(packet))
        if dice.random() < 1 / 8:
            frame[dice.randrange(54)] ^= 1 << dice.randrange(8)
        yield bytes(frame)


def compare(chain: Replay, expected: Router, frames: list[bytes]) -> None:
    for frame, outcome in zip(frames, chain.send_all(frames), strict=True):
        assert outcome == expected.handle(frame), frame.hex()


def test_hand_made_packets_become_what_the_reference_says(routes_file: Path) -> None:
    frames = list(hand_made())
    assert len(frames) >= 200
    with replay(("l3fwd", {"routes": str(routes_file), "src_mac": SRC_MAC})) as chain:
        compare(chain, reference(), frames)


def test_traffic_and_routes_that_come_and_go_are_as_the_reference_says(
    routes_file: Path, tmp_path: Path
) -> None:
    expected = reference()
    dice = random.Random(7)
    with replay(("l3fwd", {"routes": str(routes_file), "src_mac": SRC_MAC})) as chain:
        for step in range(20):
            prefix = random_prefix(dice)
            if prefix in map(str, expected.routes) and dice.random() < 0.5:
                chain.command("l3fwd0", "route-delete", prefix=prefix)
                expected.delete(prefix)
            else:
                next_hop = f"02:00:00:00:03:{step:02x}"
                chain.command("l3fwd0", "route-add", prefix=prefix, next_hop=next_hop, egress=step % 4)
                expected.add(prefix, next_hop, step % 4)
            compare(chain, expected, list(generated(40, seed=step)))
        other = "10.1.0.0/16 02:00:00:00:04:01\n2001:db8::/33 02:00:00:00:04:02 2\n"
        (tmp_path / "other").write_text(other)
        chain.command("l3fwd0", "routes-load", routes=str(tmp_path / "other"))
        compare(chain, reference(other), list(generated(200, seed=99)))


def random_prefix(dice: random.Random) -> str:
    if dice.random() < 0.5:
        address = ipaddress.ip_address(f"10.{dice.randrange(3)}.{dice.randrange(4)}.128")
        length = dice.choice((0, 7, 8, 12, 15, 23, 24, 25, 30))
    else:
        address = ipaddress.ip_address(f"2001:db8:{dice.randrange(3)}:{dice.randrange(3)}::")
        length = dice.choice((0, 11, 24, 31, 33, 47, 48, 63, 64, 65, 126))
    return str(ipaddress.ip_network((address, length), strict=False))


def test_a_lab_s_next_hop_takes_what_no_route_does() -> None:
    expected = Router(SRC_MAC)
    for everything in ("0.0.0.0/0", "::/0"):
        expected.add(everything, "02:57:00:00:00:bb")
    with replay(("l3fwd", {"src_mac": SRC_MAC, "dst_mac": "02:57:00:00:00:bb"})) as chain:
        compare(chain, expected, list(generated(200, seed=5)))


def test_a_file_with_a_mistake_changes_nothing(routes_file: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("10.1.0.0/16 02:00:00:00:04:01\n10.0.0.1/8 02:00:00:00:04:01\n")
    with replay(("l3fwd", {"routes": str(routes_file), "src_mac": SRC_MAC})) as chain:
        with pytest.raises(DataPlaneError, match=r"other:2: not a prefix"):
            chain.command("l3fwd0", "routes-load", routes=str(tmp_path / "other"))
        compare(chain, reference(), list(generated(50, seed=6)))
