# SPDX-License-Identifier: Apache-2.0
"""The NAT `nat` once more, slow and obvious, to compare with packet by packet. Time does not pass in it.

Its hashes, as native/nf/nat has them, are of an inside endpoint: mix(K ^ seed), where K has the bytes of
the address, the port and the protocol as they are in a packet, lowest first. Its high 32 bits choose the
start. The home address is mix(address ^ seed ^ HOME_SALT), its bytes lowest first too,
modulo the number of external addresses.
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .ipv4 import ICMP, TCP, UDP, Packet, changed, ip_at, ipv4_end, mix
from .replay import Dropped, Forwarded

HOME_SALT = 0x9E3779B97F4A7C15
RST = 4
ECHOES = (0, 8)
ERRORS = (3, 4, 11, 12)
ICMP_V6 = 58
LOW, HIGH = range(1024), range(1024, 65536)

Endpoint = tuple[int, int, int]  # address, port, protocol


@dataclass
class Mapping:
    """One inside endpoint, its external one, and what it sent to: (address, port)."""

    inside: Endpoint
    external: Endpoint
    remotes: set[tuple[int, int]] = field(default_factory=set)
    is_static: bool = False


def checksum_right(data: bytes) -> bool:
    """RFC 1071: the one's complement sum of all 16-bit words is all ones."""
    padded = data + b"\0" * (len(data) % 2)
    total = sum(int.from_bytes(padded[i : i + 2], "big") for i in range(0, len(padded), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF


HELD_FRAGMENTS = 256
"""Option held_fragments, by default."""


class RefusedError(Exception):
    """The packet is dropped for this reason."""


class Nat:
    """`external`: a prefix. `filtering`, `lanes`, ports, `seed`, `untranslated` and `ipv6` as the options."""

    def __init__(
        self,
        external: str,
        *,
        lanes: int = 16,
        ports: tuple[int, int] = (1, 65535),
        filtering: str = "endpoint-independent",
        seed: int = 1,
        untranslated: Sequence[str] = (),
        ipv6: str = "drop",
    ) -> None:
        self.untranslated = [ipaddress.IPv4Network(prefix) for prefix in untranslated]
        self.addresses = [int(address) for address in ipaddress.IPv4Network(external)]
        self.lanes, self.ports, self.filtering, self.seed = lanes, ports, filtering, seed
        self.by_inside: dict[Endpoint, Mapping] = {}
        self.by_external: dict[Endpoint, Mapping] = {}
        self.fragments: dict[tuple[int, int, int, int], tuple[int, int] | str] = {}  # or why it was dropped
        self.held = 0
        self.forwards_ipv6 = ipv6 == "forward"

    def handle(self, frame: bytes, direction: str) -> Forwarded | Dropped:
        """What becomes of a frame."""
        try:
            return Forwarded(self._translate(bytearray(frame), direction))
        except RefusedError as reason:
            return Dropped(str(reason), "nat")

    def add_static(self, inside: Endpoint, external: Endpoint) -> None:
        """A port forwarded; dynamic mappings of either endpoint end."""
        for known in (self.by_inside.get(inside), self.by_external.get(external)):
            if known is not None:
                del self.by_inside[known.inside], self.by_external[known.external]
        self._keep(Mapping(inside, external, is_static=True))

    def _keep(self, mapping: Mapping) -> Mapping:
        self.by_inside[mapping.inside] = self.by_external[mapping.external] = mapping
        return mapping

    def _translate(self, frame: bytearray, direction: str) -> bytes:
        ethertype, at = ip_at(bytes(frame))
        if ethertype != 0x0800:
            is_broken_v6 = ethertype == 0x86DD and not _ipv6_sound(bytes(frame), at)
            if ethertype == 0x86DD and not is_broken_v6 and self.forwards_ipv6:
                return bytes(frame)
            raise RefusedError("malformed" if is_broken_v6 else "not_ipv4")
        end = ipv4_end(bytes(frame), at)
        if end is None:
            raise RefusedError("malformed")
        packet = Packet(frame, at, end)
        to = ipaddress.IPv4Address(packet.address("dst"))
        if direction == "outbound" and any(to in network for network in self.untranslated):
            return bytes(frame)
        if _is_cut(packet):
            raise RefusedError("truncated")
        if packet.protocol not in (TCP, UDP, ICMP):
            raise RefusedError("protocol")
        if packet.is_later_fragment:
            self._follow(packet)
        else:
            self._first(packet, direction)
        return bytes(frame)

    def _first(self, packet: Packet, direction: str) -> None:
        """Or a whole one."""
        before = packet.address("src"), packet.address("dst")
        after: tuple[int, int] | str
        try:
            if packet.protocol == ICMP and packet.frame[packet.l4] not in ECHOES:
                self._error(packet, direction)
            else:
                self._endpoint(packet, direction)
            after = packet.address("src"), packet.address("dst")
        except RefusedError as refused:
            after = str(refused)
            raise
        finally:
            if packet.is_fragment:
                self.fragments[(*before, packet.identification, packet.protocol)] = after

    # Which external endpoint: port_pool.h's rule.

    def _hash(self, endpoint: Endpoint) -> int:
        address, port, protocol = endpoint
        key = address.to_bytes(4, "big") + port.to_bytes(2, "big") + bytes([protocol])
        return mix(int.from_bytes(key, "little") ^ self.seed)

    def _candidates(self, inside: Endpoint) -> Iterator[tuple[int, int]]:
        """External (address, port) in the order in which they are tried."""
        address, port, _ = inside
        start = self._hash(inside) >> 32
        salted = int.from_bytes(address.to_bytes(4, "big"), "little") ^ self.seed ^ HOME_SALT
        home = mix(salted) % len(self.addresses)
        yield self.addresses[home], port
        lane = (port // 2 + home) % self.lanes
        for ports in [LOW, HIGH] if port < 1024 else [HIGH]:
            for parity in (port % 2, 1 - port % 2):
                dealt = _dealt(ports, lane - home, self.lanes, parity)
                first = start % len(dealt)
                yield from ((self.addresses[home], p) for p in dealt[first:] + dealt[:first])
                for away in range(1, len(self.addresses)):
                    number = (home + away) % len(self.addresses)
                    dealt = _dealt(ports, lane - number, self.lanes, parity)
                    yield from ((self.addresses[number], p) for p in dealt)

    def _mapping_of(self, inside: Endpoint, *, may_begin: bool) -> Mapping:
        known = self.by_inside.get(inside)
        if known is not None:
            return known
        if not may_begin:
            raise RefusedError("no_mapping")
        for address, port in self._candidates(inside):
            external = address, port, inside[2]
            if self.ports[0] <= port <= self.ports[1] and external not in self.by_external:
                return self._keep(Mapping(inside, external))
        raise RefusedError("ports_exhausted")

    # Whom a mapping lets in.

    def _remote(self, address: int, port: int, protocol: int) -> tuple[int, int]:
        by_port = self.filtering == "address-and-port-dependent" and protocol != ICMP
        return address, port if by_port else 0

    def _permits(self, mapping: Mapping, address: int, port: int) -> bool:
        if self.filtering == "endpoint-independent" or mapping.is_static:
            return True
        return self._remote(address, port, mapping.inside[2]) in mapping.remotes

    # Packets.

    def _endpoint(self, packet: Packet, direction: str) -> None:
        before = packet.address("src"), packet.address("dst")
        src_port, dst_port = _ports(packet)
        if direction == "inbound":
            self._inwards(packet, (before[1], dst_port, packet.protocol), before[0], src_port)
        else:
            self._outwards(packet, (before[0], src_port, packet.protocol), before[1], dst_port)

    def _inwards(self, packet: Packet, external: Endpoint, address: int, port: int) -> None:
        mapping = self.by_external.get(external)
        if mapping is None:
            raise RefusedError("no_mapping")
        if not self._permits(mapping, address, port):
            raise RefusedError("filtered")
        packet.rewrite("dst", *mapping.inside[:2])

    def _outwards(self, packet: Packet, inside: Endpoint, address: int, port: int) -> None:
        to = None
        if address in self.addresses:
            to = self.by_external.get((address, port, packet.protocol))
            if to is None or packet.protocol == ICMP:
                raise RefusedError("no_mapping")
        is_reset = packet.protocol == TCP and packet.frame[packet.l4 + 13] & RST != 0
        mapping = self._mapping_of(inside, may_begin=not is_reset)
        mapping.remotes.add(self._remote(address, port, packet.protocol))
        if to is not None and not self._permits(to, *mapping.external[:2]):
            raise RefusedError("filtered")
        packet.rewrite("src", *mapping.external[:2])
        if to is not None:
            packet.rewrite("dst", *to.inside[:2])

    def _follow(self, packet: Packet) -> None:
        datagram = packet.address("src"), packet.address("dst"), packet.identification, packet.protocol
        known = self.fragments.get(datagram)
        if known is None:
            self.held += 1
            raise RefusedError("held" if self.held <= HELD_FRAGMENTS else "fragment_table_full")
        if isinstance(known, str):
            raise RefusedError(known)
        source, destination = known
        packet.rewrite("src", source, None)
        packet.rewrite("dst", destination, None)

    def _error(self, packet: Packet, direction: str) -> None:
        inside = _embedded(packet)
        if inside is None:
            raise RefusedError("icmp")
        before = bytes(packet.frame[inside.at : packet.end])
        if direction == "inbound":
            self._error_inwards(packet, inside)
        else:
            self._error_outwards(packet, inside)
        pad = b"\0" * (len(before) % 2)
        after = bytes(packet.frame[inside.at : packet.end])
        checksum = changed(packet.word(packet.l4 + 2), before + pad, after + pad)
        packet.frame[packet.l4 + 2 : packet.l4 + 4] = checksum.to_bytes(2, "big")

    def _error_inwards(self, packet: Packet, inside: Packet) -> None:
        src_port, dst_port = _ports(inside)
        source = inside.address("src")
        mapping = self.by_external.get((source, src_port, inside.protocol))
        if mapping is None or source != packet.address("dst"):
            raise RefusedError("icmp")
        if not self._permits(mapping, inside.address("dst"), dst_port):
            raise RefusedError("icmp")
        inside.rewrite("src", *mapping.inside[:2])
        packet.rewrite("dst", mapping.inside[0], None)

    def _error_outwards(self, packet: Packet, inside: Packet) -> None:
        src_port, dst_port = _ports(inside)
        mapping = self.by_inside.get((inside.address("dst"), dst_port, inside.protocol))
        if mapping is None:
            raise RefusedError("icmp")
        if packet.address("dst") in self.addresses:
            source = inside.address("src")
            sender = self.by_external.get((source, src_port, inside.protocol))
            if sender is None or source != packet.address("dst") or inside.protocol == ICMP:
                raise RefusedError("icmp")
            inside.rewrite("src", *sender.inside[:2])
            packet.rewrite("dst", sender.inside[0], None)
        inside.rewrite("dst", *mapping.external[:2])
        packet.rewrite("src", mapping.external[0], None)


@functools.cache
def _dealt(ports: range, lane: int, lanes: int, parity: int) -> list[int]:
    """Those of a parity and, at the first address, of a lane."""
    return [port for port in ports if port // 2 % lanes == lane % lanes and port % 2 == parity]


def _ports(packet: Packet) -> tuple[int, int]:
    """Both ports; of an echo, its identifier twice."""
    if packet.protocol == ICMP:
        return packet.word(packet.l4 + 4), packet.word(packet.l4 + 4)
    return packet.word(packet.l4), packet.word(packet.l4 + 2)


def _is_cut(packet: Packet) -> bool:
    """Its L4 header is not all there."""
    if packet.is_later_fragment or packet.protocol not in (TCP, UDP, ICMP, ICMP_V6):
        return False
    if packet.protocol in (TCP, UDP):
        return not packet.has_ports()
    return packet.l4 + 8 > packet.end


def _ipv6_sound(frame: bytes, at: int) -> bool:
    """Its version and length agree with the frame; extension headers are not looked at."""
    if len(frame) < at + 40 or frame[at] >> 4 != 6:
        return False
    return at + 40 + int.from_bytes(frame[at + 4 : at + 6], "big") <= len(frame)


def _embedded(packet: Packet) -> Packet | None:
    """The packet inside a sound ICMP error with at least 8 bytes of its L4 header (RFC 5508, REQ-3)."""
    at = packet.l4 + 8
    if packet.frame[packet.l4] not in ERRORS or packet.is_fragment or at + 20 > packet.end:
        return None
    header = (packet.frame[at] & 0xF) * 4
    if packet.frame[at] >> 4 != 4 or header < 20 or at + header + 8 > packet.end:
        return None
    inside = Packet(packet.frame, at, packet.end)
    is_echo = inside.protocol == ICMP and packet.frame[inside.l4] in ECHOES
    if inside.is_later_fragment or not (is_echo or inside.protocol in (TCP, UDP)):
        return None
    frame = bytes(packet.frame)
    sound = checksum_right(frame[packet.l4 : packet.end]) and checksum_right(frame[at : inside.l4])
    return inside if sound else None
