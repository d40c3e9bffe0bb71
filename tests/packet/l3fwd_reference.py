# SPDX-License-Identifier: Apache-2.0
"""The router `l3fwd` once more, slow and obvious, to compare with packet by packet."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from .ipv4 import changed, ip_at, ipv4_end
from .replay import Dropped, Forwarded

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

IPV4, IPV6 = 0x0800, 0x86DD
LOOSE_SOURCE_ROUTE, STRICT_SOURCE_ROUTE = 131, 137

NEITHER_FROM_NOR_TO = [
    ipaddress.ip_network(text)
    for text in ("0.0.0.0/8", "127.0.0.0/8", "240.0.0.0/4", "::/128", "::1/128", "fe80::/10")
]
GROUPS = [ipaddress.ip_network("224.0.0.0/4"), ipaddress.ip_network("ff00::/8")]


def mac(text: str) -> bytes:
    """ "02:00:00:00:00:01" """
    return bytes.fromhex(text.replace(":", ""))


def checksum_is_right(header: bytes) -> bool:
    """RFC 1071: all words add up to 0xffff in one's complement."""
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, len(header), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF


def is_in(address: Address, networks: list[Network]) -> bool:
    """In one of them."""
    return any(address in network for network in networks)


def ipv6_is_whole(frame: bytes, at: int) -> bool:
    """Version and length agree with the frame; extension headers are the receiver's to read."""
    if len(frame) < at + 40 or frame[at] >> 4 != 6:
        return False
    return at + 40 + int.from_bytes(frame[at + 4 : at + 6], "big") <= len(frame)


def options_fault(options: bytes) -> str | None:
    """What is wrong with the options of an IPv4 header, or a drop reason; None: they pass."""
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        if at + 1 == len(options) or options[at + 1] < 2 or at + options[at + 1] > len(options):
            return "malformed"
        if options[at] in (LOOSE_SOURCE_ROUTE, STRICT_SOURCE_ROUTE):
            return "source_route"
        at += options[at + 1]
    return None


def addresses(kind: int, frame: bytes, at: int) -> tuple[Address, Address]:
    """Source and destination."""
    if kind == IPV4:
        source, destination = frame[at + 12 : at + 16], frame[at + 16 : at + 20]
        return ipaddress.IPv4Address(source), ipaddress.IPv4Address(destination)
    return ipaddress.IPv6Address(frame[at + 8 : at + 24]), ipaddress.IPv6Address(frame[at + 24 : at + 40])


def frame_fault(kind: int, frame: bytes, at: int) -> str | None:
    """Why a router does not forward the frame, wherever its routes lead; None: it does."""
    if kind not in (IPV4, IPV6):
        return "not_ip"
    if not (ipv6_is_whole(frame, at) if kind == IPV6 else ipv4_end(frame, at) is not None):
        return "malformed"
    return "link_broadcast" if frame[0] & 1 else packet_fault(kind, frame, at)


def packet_fault(kind: int, frame: bytes, at: int) -> str | None:
    """The same for a whole packet."""
    header = frame[at : at + (frame[at] & 0xF) * 4]
    if kind == IPV4 and not checksum_is_right(header):
        return "bad_checksum"
    source, destination = addresses(kind, frame, at)
    if is_in(source, NEITHER_FROM_NOR_TO + GROUPS) or is_in(destination, NEITHER_FROM_NOR_TO):
        return "martian"
    if is_in(destination, GROUPS):
        return "multicast"
    return options_fault(header[20:]) if kind == IPV4 else None


@dataclass
class Router:
    """Routes by prefix: next hop and egress."""

    src_mac: str
    routes: dict[Network, tuple[str, int]] = field(default_factory=dict)
    src_macs: dict[int, str] = field(default_factory=dict)  # by egress, where it is not src_mac

    def add(self, prefix: str, next_hop: str, egress: int = 0) -> None:
        """Adds a route, or leads its prefix elsewhere."""
        self.routes[ipaddress.ip_network(prefix)] = next_hop, egress

    def delete(self, prefix: str) -> None:
        """KeyError if there is none."""
        del self.routes[ipaddress.ip_network(prefix)]

    def handle(self, frame: bytes) -> Forwarded | Dropped:
        """What becomes of a frame."""
        kind, at = ip_at(frame)
        reason = frame_fault(kind, frame, at)
        if reason is not None:
            return Dropped(reason, "l3fwd")
        _, destination = addresses(kind, frame, at)
        matching = [network for network in self.routes if destination in network]
        if not matching:
            return Dropped("no_route", "l3fwd")
        ttl_at = at + (7 if kind == IPV6 else 8)
        if frame[ttl_at] <= 1:
            return Dropped("ttl_expired", "l3fwd")
        next_hop, egress = self.routes[max(matching, key=lambda network: network.prefixlen)]
        out = bytearray(frame)
        out[:12] = mac(next_hop) + mac(self.src_macs.get(egress, self.src_mac))
        out[ttl_at] -= 1
        if kind == IPV4:
            checksum = int.from_bytes(frame[at + 10 : at + 12], "big")
            checksum = changed(checksum, frame[at + 8 : at + 10], bytes(out[at + 8 : at + 10]))
            out[at + 10 : at + 12] = checksum.to_bytes(2, "big")
        return Forwarded(bytes(out), egress)
