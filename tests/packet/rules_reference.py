# SPDX-License-Identifier: Apache-2.0
"""Rule files once more, slow and obvious: the references of acl and firewall ask each rule in turn."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from .ipv4 import ICMP, TCP, UDP, Packet, ip_at, ipv4_end
from .ipv6 import ICMP_V6, Packet6, ipv6_end

ALL_PORTS = range(65536)
PROTOCOLS = {"tcp": TCP, "udp": UDP, "icmp": ICMP, "icmpv6": ICMP_V6}
FAMILY_OF = {"icmp": 4, "icmpv6": 6}
TYPES = {
    (ICMP, "echo-reply"): 0,
    (ICMP, "echo-request"): 8,
    (ICMP_V6, "packet-too-big"): 2,
    (ICMP_V6, "echo-request"): 128,
    (ICMP_V6, "echo-reply"): 129,
    (ICMP_V6, "nd-neighbor-solicit"): 135,
}

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Flow:
    """What rules look at. `ports`: source and destination of TCP and UDP; None: there are none. `type`: of
    its family's ICMP, where it can be read."""

    family: int
    src: int
    dst: int
    protocol: int
    ports: tuple[int, int] | None
    type: int | None = None


@dataclass(frozen=True)
class Rule:
    """One line of a file. `family`: None: both. `types`: of ICMP; None: all."""

    permits: bool
    family: int | None
    protocol: int | None
    src: Network | None
    dst: Network | None
    ports: tuple[range, range]
    types: range | None

    def matches(self, flow: Flow) -> bool:
        """All of it says so."""
        if self.family not in (None, flow.family) or self.protocol not in (None, flow.protocol):
            return False
        if not _is_in(flow.src, self.src) or not _is_in(flow.dst, self.dst):
            return False
        if self.types is not None:
            return flow.type is not None and flow.type in self.types
        if self.ports == (ALL_PORTS, ALL_PORTS):
            return True
        return flow.ports is not None and all(
            port in ports for port, ports in zip(flow.ports, self.ports, strict=True)
        )


def _is_in(address: int, network: Network | None) -> bool:
    if network is None:
        return True
    return address >> (network.max_prefixlen - network.prefixlen) == int(network.network_address) >> (
        network.max_prefixlen - network.prefixlen
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

    def name_ports(self) -> bool:
        """Or types: a later fragment alone does not tell what they say."""
        return any(rule.types is not None or rule.ports != (ALL_PORTS, ALL_PORTS) for rule in self.rules)

    def changed(self, text: str) -> Rules:
        """What there is once the lines of a change were done; ValueError: one of them names no rule."""
        after = Rules("", "permit" if self.default else "deny")
        after.rules = list(self.rules)
        for line in text.splitlines():
            _change(after.rules, line.split())
        return after


def _change(rules: list[Rule], words: list[str]) -> None:
    kind, *words = words
    if kind == "remove":
        rules.remove(_rule(words))
        return
    word = next((one for one in words if one in ("first", "before", "after")), None)
    if word is None:
        rules.append(_rule(words))
        return
    at = words.index(word)
    place = 0 if word == "first" else rules.index(_rule(words[at + 1 :])) + (word == "after")
    rules.insert(place, _rule(words[:at]))


def _rule(words: list[str]) -> Rule:
    action, protocol, src, dst, *rest = words
    number = None if protocol == "any" else PROTOCOLS.get(protocol) or int(protocol)
    networks = _network(src), _network(dst)
    families = {FAMILY_OF.get(protocol), *(one.version for one in networks if one)} - {None}
    ports, types = (ALL_PORTS, ALL_PORTS), None
    if len(rest) == 2:
        ports = _range(rest[0]), _range(rest[1])
    elif rest:
        named = TYPES.get((number or 0, rest[0]))
        types = _range(rest[0]) if named is None else range(named, named + 1)
    family = next(iter(families)) if families else None
    return Rule(action == "permit", family, number, *networks, ports, types)


def _network(word: str) -> Network | None:
    return None if word == "any" else ipaddress.ip_network(word)


def _range(word: str) -> range:
    if word == "any":
        return ALL_PORTS
    low, _, high = word.partition("-")
    return range(int(low), int(high or low) + 1)


def family_of(packet: Packet | Packet6) -> int:
    """4 or 6."""
    return 6 if isinstance(packet, Packet6) else 4


def icmp_of(packet: Packet | Packet6) -> bool:
    """Whether it is its family's ICMP."""
    return packet.protocol == (ICMP_V6 if isinstance(packet, Packet6) else ICMP)


def flow_of(packet: Packet | Packet6) -> Flow:
    """Of a packet whose headers are whole."""
    ports = packet.word(packet.l4), packet.word(packet.l4 + 2)
    kind = packet.frame[packet.l4] if icmp_of(packet) and not packet.is_later_fragment else None
    return Flow(
        family_of(packet),
        packet.address("src"),
        packet.address("dst"),
        packet.protocol,
        ports if packet.has_ports() else None,
        kind,
    )


HELD_FRAGMENTS = 256
"""Option held_fragments, by default."""


class Waiting:
    """Later fragments whose first one was not seen: none of them comes back in these tests."""

    def __init__(self) -> None:
        self.held = 0

    def reason(self) -> str:
        """Why the next one does not go on."""
        self.held += 1
        return "held" if self.held <= HELD_FRAGMENTS else "fragment_table_full"


def cut_first(frame: bytes) -> tuple[int, int, int, int, int] | None:
    """The datagram whose first fragment this is, with a header that is not all there."""
    kind, at = ip_at(frame)
    end = ipv6_end(frame, at) if kind == 0x86DD else ipv4_end(frame, at)
    if end is None:
        return None
    packet = Packet6(frame, at, end) if kind == 0x86DD else Packet(bytearray(frame), at, end)
    return datagram_of(packet) if packet.is_fragment and not packet.is_later_fragment else None


def parsed(frame: bytes) -> Packet | Packet6 | str:
    """The IP packet in a frame, or why it is none that rules could be asked about."""
    kind, at = ip_at(frame)
    if kind == 0x86DD:
        end = ipv6_end(frame, at)
        if end is None:
            return "malformed"
        packet6 = Packet6(frame, at, end)
        return packet6 if packet6.headers_whole and _is_whole(packet6) else "truncated"
    if kind != 0x0800:
        return "not_ipv4"
    end = ipv4_end(frame, at)
    if end is None:
        return "malformed"
    packet = Packet(bytearray(frame), at, end)
    return packet if _is_whole(packet) else "truncated"


def _is_whole(packet: Packet | Packet6) -> bool:
    if packet.is_later_fragment:
        return not (isinstance(packet, Packet) and packet.cuts_tcp_header)
    if packet.protocol in (TCP, UDP):
        return packet.has_ports()
    return packet.protocol not in (ICMP, ICMP_V6) or packet.l4 + 8 <= packet.end


def datagram_of(packet: Packet | Packet6) -> tuple[int, int, int, int, int]:
    """What its fragments have alike (RFC 791; RFC 8200, section 4.5: not the protocol)."""
    protocol = packet.protocol if isinstance(packet, Packet) else 0
    ends = packet.address("src"), packet.address("dst")
    return family_of(packet), *ends, protocol, packet.identification
