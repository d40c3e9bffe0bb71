# SPDX-License-Identifier: Apache-2.0
"""Rule files once more, slow and obvious: the references of acl and firewall ask each rule in turn."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from .ipv4 import ICMP, TCP, UDP, Packet, ip_at, ipv4_end

ICMP_V6 = 58
ALL_PORTS = range(65536)
PROTOCOLS = {"tcp": TCP, "udp": UDP, "icmp": ICMP}


@dataclass(frozen=True)
class Flow:
    """What rules look at. `ports`: source and destination of TCP and UDP; None: there are none."""

    src: int
    dst: int
    protocol: int
    ports: tuple[int, int] | None


@dataclass(frozen=True)
class Rule:
    """One line of a file."""

    permits: bool
    protocol: int | None
    src: ipaddress.IPv4Network
    dst: ipaddress.IPv4Network
    ports: tuple[range, range]

    def matches(self, flow: Flow) -> bool:
        """All five say so."""
        if self.protocol not in (None, flow.protocol):
            return False
        if ipaddress.IPv4Address(flow.src) not in self.src or ipaddress.IPv4Address(flow.dst) not in self.dst:
            return False
        if self.ports == (ALL_PORTS, ALL_PORTS):
            return True
        return flow.ports is not None and all(
            port in ports for port, ports in zip(flow.ports, self.ports, strict=True)
        )


class Rules:
    """Of a file's text; `default` is "permit" or "deny"."""

    def __init__(self, text: str, default: str) -> None:
        lines = (line.partition("#")[0].split() for line in text.splitlines())
        self.rules = [_rule(words) for words in lines if words]
        self.default = default == "permit"

    def permit(self, flow: Flow) -> bool:
        """What the first rule that matches says."""
        return next((rule.permits for rule in self.rules if rule.matches(flow)), self.default)


def _rule(words: list[str]) -> Rule:
    action, protocol, src, dst, *ports = words
    number = None if protocol == "any" else PROTOCOLS.get(protocol) or int(protocol)
    src_ports, dst_ports = ports or ("any", "any")
    return Rule(
        action == "permit", number, _network(src), _network(dst), (_range(src_ports), _range(dst_ports))
    )


def _network(word: str) -> ipaddress.IPv4Network:
    return ipaddress.IPv4Network("0.0.0.0/0" if word == "any" else word)


def _range(word: str) -> range:
    if word == "any":
        return ALL_PORTS
    low, _, high = word.partition("-")
    return range(int(low), int(high or low) + 1)


def flow_of(packet: Packet) -> Flow:
    """Of a packet whose headers are whole."""
    ports = packet.word(packet.l4), packet.word(packet.l4 + 2)
    addresses = packet.address("src"), packet.address("dst")
    return Flow(*addresses, packet.protocol, ports if packet.has_ports() else None)


def parsed(frame: bytes) -> Packet | str:
    """The IPv4 packet in a frame, or why it is none that rules could be asked about."""
    kind, at = ip_at(frame)
    if kind == 0x86DD:
        whole = len(frame) >= at + 40 and frame[at] >> 4 == 6
        whole = whole and at + 40 + int.from_bytes(frame[at + 4 : at + 6], "big") <= len(frame)
        return "not_ipv4" if whole else "malformed"
    if kind != 0x0800:
        return "not_ipv4"
    end = ipv4_end(frame, at)
    if end is None:
        return "malformed"
    packet = Packet(bytearray(frame), at, end)
    return packet if _is_whole(packet) else "truncated"


def _is_whole(packet: Packet) -> bool:
    if packet.is_later_fragment:
        return not packet.cuts_tcp_header
    if packet.protocol in (TCP, UDP):
        return packet.has_ports()
    return packet.protocol not in (ICMP, ICMP_V6) or packet.l4 + 8 <= packet.end
