# SPDX-License-Identifier: Apache-2.0
"""Routers with addresses of their own, as labs run them: what they say, held against what Scapy says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPerror
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    ICMPv6TimeExceeded,
    IPv6,
)
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet as ScapyPacket

from tests.verbs import exchange
from weir.protocol import DataPlaneClient

from .one_function import Way, configuration, data_plane, running
from .polled import LEFT, RIGHT, balanced

HOST, GATEWAY = "02:00:00:00:00:11", "02:00:00:00:00:22"
QUIET_MS = 100
OPTIONS: dict[str, Any] = {
    "inbound_addresses": "10.0.1.1/24, 2001:db8:1::1/64",
    "addresses": "10.0.2.1/24, 2001:db8:2::1/64",
    "route_list": "0.0.0.0/0 via 10.0.2.2, ::/0 via 2001:db8:2::2",
}
WAYS: dict[str, Way] = {
    "run-to-completion": {},
    "pipeline": {"architecture": "pipeline"},
    "dispatch": {"architecture": "dispatch", "workers": 1},
    "separated": {"architecture": "separated", "workers": 2},
}
WAYS |= {f"{name}, fast path": {**way, "fastpath": True, "fastpath_flows": 64} for name, way in WAYS.items()}


@pytest.fixture(scope="module")
def client() -> Iterator[DataPlaneClient]:
    with data_plane() as connected:
        yield connected


def areas_of(functions: list[dict[str, Any]], way: Way) -> tuple[dict[str, Any], dict[str, str]]:
    """A lab's configuration, without its tester's areas; and the MAC address of each port."""
    config = configuration(functions, way)
    areas = [area for area in config["areas"] if area["kind"] not in ("generator", "receiver")]
    return {**config, "areas": areas}, {port["name"]: port["mac"] for port in config["ports"]}


def sent(client: DataPlaneClient, port: str, packet: ScapyPacket) -> dict[str, list[ScapyPacket]]:
    """What came out at both ends after that."""
    frame = bytes(packet).ljust(60, b"\0")
    arrived = exchange(client, {LEFT: [], RIGHT: [], port: [frame]}, quiet_ms=QUIET_MS)
    return {name: [Ether(frame) for frame in frames] for name, frames in arrived.items()}


def same(found: ScapyPacket, wanted: ScapyPacket) -> None:
    """Byte by byte, but for padding, with checksums and lengths as Scapy works them out."""
    assert bytes(found).ljust(60, b"\0") == bytes(wanted).ljust(60, b"\0"), f"{found!r} is not {wanted!r}"


@pytest.mark.parametrize("name", WAYS)
def test_a_router_finds_its_neighbours_and_answers_them(client: DataPlaneClient, name: str) -> None:
    config, mac = areas_of([{"nf": "l3fwd", "options": OPTIONS}], WAYS[name])
    left, right = mac["f1.left"], mac["f1.right"]
    data = UDP(sport=5000, dport=53) / b"question"
    with running(client, config):
        asked = Ether(src=HOST, dst="ff:ff:ff:ff:ff:ff") / ARP(
            op="who-has", hwsrc=HOST, psrc="10.0.1.2", pdst="10.0.1.1"
        )
        arrived = sent(client, LEFT, asked)
        (answer,) = arrived[LEFT]
        assert not arrived[RIGHT]
        same(
            answer,
            Ether(src=left, dst=HOST)
            / ARP(op="is-at", hwsrc=left, psrc="10.0.1.1", hwdst=HOST, pdst="10.0.1.2"),
        )
        packet = IP(src="10.0.1.2", dst="198.51.100.1", id=7, ttl=9) / data
        (question,) = sent(client, LEFT, Ether(src=HOST, dst=left) / packet)[RIGHT]
        same(
            question,
            Ether(src=right, dst="ff:ff:ff:ff:ff:ff")
            / ARP(op="who-has", hwsrc=right, psrc="10.0.2.1", hwdst="00:00:00:00:00:00", pdst="10.0.2.2"),
        )
        reply = Ether(src=GATEWAY, dst=right) / ARP(
            op="is-at", hwsrc=GATEWAY, psrc="10.0.2.2", hwdst=right, pdst="10.0.2.1"
        )
        wanted = Ether(src=right, dst=GATEWAY) / IP(src="10.0.1.2", dst="198.51.100.1", id=7, ttl=8) / data
        (forwarded,) = sent(client, RIGHT, reply)[RIGHT]
        same(forwarded, wanted)
        for _ in range(3):
            (forwarded,) = sent(client, LEFT, Ether(src=HOST, dst=left) / packet)[RIGHT]
            same(forwarded, wanted)
        back = IP(src="198.51.100.1", dst="10.0.1.2", id=9) / TCP(sport=80, dport=9)
        (forwarded,) = sent(client, RIGHT, Ether(src=GATEWAY, dst=right) / back)[LEFT]
        assert (forwarded.dst, forwarded.src, forwarded[IP].ttl) == (HOST, left, 63)
        assert balanced(client.ledger()) == 2


@pytest.mark.parametrize("name", WAYS)
def test_the_same_by_neighbour_discovery(client: DataPlaneClient, name: str) -> None:
    config, mac = areas_of([{"nf": "l3fwd", "options": OPTIONS}], WAYS[name])
    left, right = mac["f1.left"], mac["f1.right"]
    with running(client, config):
        asked = (
            Ether(src=HOST, dst="33:33:ff:00:00:01")
            / IPv6(src="2001:db8:1::2", dst="ff02::1:ff00:1", hlim=255)
            / ICMPv6ND_NS(tgt="2001:db8:1::1")
            / ICMPv6NDOptSrcLLAddr(lladdr=HOST)
        )
        (answer,) = sent(client, LEFT, asked)[LEFT]
        same(
            answer,
            Ether(src=left, dst=HOST)
            / IPv6(src="2001:db8:1::1", dst="2001:db8:1::2", hlim=255)
            / ICMPv6ND_NA(tgt="2001:db8:1::1", R=1, S=1, O=1)
            / ICMPv6NDOptDstLLAddr(lladdr=left),
        )
        packet = IPv6(src="2001:db8:1::2", dst="2001:db8:ffff::1", hlim=9) / UDP(dport=53) / b"question"
        (question,) = sent(client, LEFT, Ether(src=HOST, dst=left) / packet)[RIGHT]
        same(
            question,
            Ether(src=right, dst="33:33:ff:00:00:02")
            / IPv6(src="2001:db8:2::1", dst="ff02::1:ff00:2", hlim=255)
            / ICMPv6ND_NS(tgt="2001:db8:2::2")
            / ICMPv6NDOptSrcLLAddr(lladdr=right),
        )
        told = (
            Ether(src=GATEWAY, dst=right)
            / IPv6(src="2001:db8:2::2", dst="2001:db8:2::1", hlim=255)
            / ICMPv6ND_NA(tgt="2001:db8:2::2", R=1, S=1, O=1)
            / ICMPv6NDOptDstLLAddr(lladdr=GATEWAY)
        )
        (forwarded,) = sent(client, RIGHT, told)[RIGHT]
        packet.hlim = 8
        same(forwarded, Ether(src=right, dst=GATEWAY) / packet)
        assert balanced(client.ledger()) == 2


@pytest.mark.parametrize("name", WAYS)
def test_errors_quote_what_came(client: DataPlaneClient, name: str) -> None:
    config, mac = areas_of([{"nf": "l3fwd", "options": OPTIONS}], WAYS[name])
    left = mac["f1.left"]
    dying = IP(src="10.0.1.2", dst="198.51.100.1", ttl=1, id=7) / UDP(sport=5000, dport=53) / b"question"
    dying6 = IPv6(src="2001:db8:1::2", dst="2001:db8:ffff::1", hlim=1) / UDP(sport=5000, dport=53) / b"?"
    no_port = IP(src="10.0.1.2", dst="10.0.2.1", ttl=9, id=8) / UDP(sport=5000, dport=53) / b"?"
    near6, far6 = (
        IPv6(src="2001:db8:1::2", dst=own, hlim=9) / UDP(sport=5000, dport=53) / b"?"
        for own in ("2001:db8:1::1", "2001:db8:2::1")
    )
    with running(client, config):
        (error,) = sent(client, LEFT, Ether(src=HOST, dst=left) / dying)[LEFT]
        head = IP(src="10.0.1.1", dst="10.0.1.2", id=0, flags="DF", ttl=64, tos=0xC0)
        same(error, Ether(src=left, dst=HOST) / head / ICMP(type=11, code=0) / bytes(dying))
        assert error[IPerror].dst == "198.51.100.1"
        head6 = IPv6(src="2001:db8:1::1", dst="2001:db8:1::2", hlim=64, tc=0xC0)
        (error,) = sent(client, LEFT, Ether(src=HOST, dst=left) / dying6)[LEFT]
        same(error, Ether(src=left, dst=HOST) / head6 / ICMPv6TimeExceeded() / bytes(dying6))
        (error,) = sent(client, LEFT, Ether(src=HOST, dst=left) / no_port)[LEFT]
        same(error, Ether(src=left, dst=HOST) / head / ICMP(type=3, code=3) / bytes(no_port))
        for no_port6 in (near6, far6):
            head6.src = no_port6.dst
            (error,) = sent(client, LEFT, Ether(src=HOST, dst=left) / no_port6)[LEFT]
            same(error, Ether(src=left, dst=HOST) / head6 / ICMPv6DestUnreach(code=4) / bytes(no_port6))
        assert balanced(client.ledger()) == 5


@pytest.mark.parametrize("name", WAYS)
def test_what_stands_behind_a_packet_makes_no_frame_longer_than_the_mtu(
    client: DataPlaneClient, name: str
) -> None:
    config, mac = areas_of([{"nf": "l3fwd", "options": {**OPTIONS, "mtu_bytes": 1000}}], WAYS[name])
    data = UDP(sport=5000, dport=53) / (b"x" * (1000 - 28))
    packet = IP(src="10.0.1.2", dst="198.51.100.1", id=7, ttl=9) / data
    with running(client, config):
        told = Ether(src=GATEWAY, dst=mac["f1.right"]) / ARP(
            op="is-at", hwsrc=GATEWAY, psrc="10.0.2.2", hwdst=mac["f1.right"], pdst="10.0.2.1"
        )
        sent(client, LEFT, Ether(src=HOST, dst=mac["f1.left"]) / packet)  # waits
        (waited,) = sent(client, RIGHT, told)[RIGHT]
        trailed = bytes(Ether(src=HOST, dst=mac["f1.left"]) / packet) + b"T" * 40
        packet.ttl = 8
        for _ in range(3):
            (forwarded,) = sent(client, LEFT, Ether(trailed))[RIGHT]
            same(forwarded, Ether(src=mac["f1.right"], dst=GATEWAY) / packet)
            assert bytes(forwarded) == bytes(waited)
        balanced(client.ledger())


ROUTER: dict[str, Any] = {
    "tenants": [
        {"prefix": "10.1.0.0/24", "address": "10.1.0.1"},
        {"prefix": "10.2.0.0/24", "address": "10.2.0.1"},
    ],
    "external": "203.0.113.4/32",
    "address": "203.0.113.2/24",
    "gateway": "203.0.113.1",
}


def test_the_tenants_router_answers_for_its_addresses_and_translates_its_errors(
    client: DataPlaneClient,
) -> None:
    config = configuration([], {"router": ROUTER})
    areas = [area for area in config["areas"] if area["kind"] not in ("generator", "receiver")]
    mac = {port["name"]: port["mac"] for port in config["ports"]}
    left, right = mac["f1.left"], mac["f1.right"]
    everybody = "ff:ff:ff:ff:ff:ff"
    with running(client, {**config, "areas": areas}):
        for host, own in (("10.1.0.5", "10.1.0.1"), ("10.2.0.5", "10.2.0.1")):
            asked = Ether(src=HOST, dst=everybody) / ARP(op=1, hwsrc=HOST, psrc=host, pdst=own)
            (answer,) = sent(client, LEFT, asked)[LEFT]
            assert (answer[ARP].psrc, answer[ARP].hwsrc, answer[ARP].pdst) == (own, left, host)
        for own in ("203.0.113.2", "203.0.113.4"):  # its own, and the one that it translates to
            asked = Ether(src=GATEWAY, dst=everybody) / ARP(op=1, hwsrc=GATEWAY, psrc="203.0.113.1", pdst=own)
            (answer,) = sent(client, RIGHT, asked)[RIGHT]
            assert (answer[ARP].psrc, answer[ARP].hwsrc) == (own, right)
        # Out, translated, by the gateway that asked.
        out = IP(src="10.1.0.5", dst="198.51.100.1") / UDP(sport=5000, dport=53) / b"question"
        (translated,) = sent(client, LEFT, Ether(src=HOST, dst=left) / out)[RIGHT]
        assert (translated.dst, translated[IP].src) == (GATEWAY, "203.0.113.4")
        port = translated[UDP].sport
        # The tenant hears of its packet as it sent it.
        out.ttl = 1
        (error,) = sent(client, LEFT, Ether(src=HOST, dst=left) / out)[LEFT]
        assert (error[IP].dst, error[ICMP].type, error.dst) == ("10.1.0.5", 11, HOST)
        assert (error[IPerror].src, error[IPerror].dst) == ("10.1.0.5", "198.51.100.1")
        # All of a network are told nothing, whether what came from there was translated or not.
        for beyond in ("198.51.100.1", "10.2.0.5"):
            everyone = IP(src="10.1.0.255", dst=beyond, ttl=1) / UDP(sport=5001, dport=53)
            assert sent(client, LEFT, Ether(src=HOST, dst=left) / everyone) == {LEFT: [], RIGHT: []}
        # The outside hears of its packet as it sent it, and of no tenant's address.
        back = IP(src="198.51.100.1", dst="203.0.113.4", ttl=1) / UDP(sport=53, dport=port) / b"answer"
        (error,) = sent(client, RIGHT, Ether(src=GATEWAY, dst=right) / back)[RIGHT]
        assert (error[IP].src, error[IP].dst, error[ICMP].type) == ("203.0.113.4", "198.51.100.1", 11)
        assert error[IPerror].dst == "203.0.113.4"
        # Between tenants nothing is translated.
        across = IP(src="10.1.0.5", dst="10.2.0.5", ttl=1) / UDP()
        (error,) = sent(client, LEFT, Ether(src=HOST, dst=left) / across)[LEFT]
        assert (error[IP].dst, error[IPerror].dst) == ("10.1.0.5", "10.2.0.5")
        across.ttl = 9
        (crossed,) = sent(client, LEFT, Ether(src=HOST, dst=left) / across)[LEFT]
        assert (crossed.src, crossed.dst, crossed[IP].ttl) == (left, HOST, 8)
        balanced(client.ledger())


def test_a_tenant_hears_of_its_packet_where_the_routers_own_address_is_what_tenants_share(
    client: DataPlaneClient,
) -> None:
    config, mac = areas_of([], {"router": {**ROUTER, "external": "203.0.113.2/32"}})
    left = mac["f1.left"]
    asked = Ether(src=HOST, dst="ff:ff:ff:ff:ff:ff") / ARP(hwsrc=HOST, psrc="10.1.0.5", pdst="10.1.0.1")
    out = IP(src="10.1.0.5", dst="198.51.100.1", ttl=1) / UDP(sport=5000, dport=53) / b"question"
    with running(client, config):
        sent(client, LEFT, asked)
        (error,) = sent(client, LEFT, Ether(src=HOST, dst=left) / out)[LEFT]
        assert (error[IP].dst, error[ICMP].type, error.dst) == ("10.1.0.5", 11, HOST)
        assert (error[IPerror].src, error[IPerror].dst) == ("10.1.0.5", "198.51.100.1")
        balanced(client.ledger())
