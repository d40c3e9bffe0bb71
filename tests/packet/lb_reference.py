# SPDX-License-Identifier: Apache-2.0
"""The balancer `lb` once more, slow and obvious, to compare with packet by packet.

Hashes, as native/nf/lb has them: mix() is splitmix64's finaliser. A back-end's name is its address and port
as one 48-bit number; Maglev's permutation of it begins at mix(name ^ OFFSET_SEED) mod M and steps by
mix(name ^ SKIP_SEED) mod (M - 1) + 1. A client's packet is at place mix(src_ip, src_port, dst_port as one
64-bit number + mix(dst_ip, protocol as one 40-bit number)) mod M of the table.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from .ipv4 import ICMP, TCP, UDP, WORD, Key, Packet, changed, ip_at, ipv4_end, mix
from .replay import Dropped, Forwarded

OFFSET_SEED = 0x9E3779B97F4A7C15
SKIP_SEED = 0xC2B2AE3D27D4EB4F
FIN, SYN, RST, ACK = 1, 2, 4, 16
ERRORS = (3, 4, 11, 12)

Endpoint = tuple[int, int, int]  # address, port, protocol


def maglev_table(backends: list[Endpoint], size: int) -> list[Endpoint]:
    """The pseudocode of the paper's section 3.4."""
    backends = sorted(backends)
    names = [address << 16 | port for address, port, _ in backends]
    offset = [mix(name ^ OFFSET_SEED) % size for name in names]
    skip = [mix(name ^ SKIP_SEED) % (size - 1) + 1 for name in names]
    following = [0] * len(backends)
    table: list[Endpoint | None] = [None] * size
    for turn in range(size):
        i = turn % len(backends)
        while True:
            choice = (offset[i] + following[i] * skip[i]) % size
            following[i] += 1
            if table[choice] is None:
                break
        table[choice] = backends[i]
    return [entry for entry in table if entry is not None]


def endpoint(text: str, protocol: int) -> Endpoint:
    """ "10.0.0.1:8080" """
    address, port = text.split(":")
    return int(ipaddress.IPv4Address(address)), int(port), protocol


@dataclass
class Connection:
    """Who has it, and which ends were seen."""

    backend: Endpoint
    ends: set[str] = field(default_factory=set)

    def is_closed(self) -> bool:
        """Both sides said FIN, or one RST."""
        return "rst" in self.ends or {"outbound", "inbound"} <= self.ends


HELD_FRAGMENTS = 256
"""Option held_fragments, by default."""


class Balancer:
    """One virtual service for each entry; nothing times out."""

    def __init__(
        self,
        services: dict[Endpoint, list[Endpoint]],
        size: int,
        *,
        drops_other: bool,
        forwards_ipv6: bool = False,
    ) -> None:
        self.active = {vip: list(backends) for vip, backends in services.items()}
        self.service_of = {backend: vip for vip, backends in services.items() for backend in backends}
        self.size = size
        self.drops_other = drops_other
        self.forwards_ipv6 = forwards_ipv6
        self.tables: dict[Endpoint, list[Endpoint]] = {}
        self.connections: dict[Key, Connection] = {}
        self.fragments: dict[tuple[int, int, int, int], int | str] = {}  # or why the first was dropped
        self.held = 0
        self._fill()

    def _fill(self) -> None:
        self.tables = {vip: maglev_table(b, self.size) if b else [] for vip, b in self.active.items()}

    def add(self, vip: Endpoint, backend: Endpoint) -> None:
        """Or takes it back into service."""
        self.active[vip].append(backend)
        self.service_of[backend] = vip
        self._fill()

    def drain(self, vip: Endpoint, backend: Endpoint) -> None:
        """Its connections stay."""
        self.active[vip].remove(backend)
        self._fill()

    def remove(self, vip: Endpoint, backend: Endpoint) -> None:
        """Its connections are forgotten."""
        if backend in self.active[vip]:
            self.drain(vip, backend)
        del self.service_of[backend]
        self.connections = {key: c for key, c in self.connections.items() if c.backend != backend}

    def handle(self, frame: bytes, direction: str) -> Forwarded | Dropped:
        """What becomes of a frame."""
        kind, at = ip_at(frame)
        if kind == 0x86DD:
            whole = len(frame) >= at + 40 and frame[at] >> 4 == 6
            whole = whole and at + 40 + int.from_bytes(frame[at + 4 : at + 6], "big") <= len(frame)
            if whole and self.forwards_ipv6:
                return Forwarded(frame)
            return Dropped("ipv6" if whole else "malformed", "lb")
        if kind != 0x0800:
            return Forwarded(frame)
        end = ipv4_end(frame, at)
        if end is None:
            return Dropped("malformed", "lb")
        packet = Packet(bytearray(frame), at, end)
        if packet.has_ports():
            before = packet.address("src"), packet.address("dst")
            reason = self._to_service(packet) if direction == "outbound" else self._from_backend(packet)
            if packet.is_fragment and reason is not None:
                own = before[1] if direction == "outbound" else before[0]
                other = "not_for_service" if self.drops_other else own
                datagram = *before, packet.identification, packet.protocol
                self.fragments[datagram] = other if reason == "other" else reason
        elif packet.protocol in (TCP, UDP):
            reason = self._without_ports(packet, direction)
        else:
            reason = self._error(packet, direction) if self._is_error(packet) else "other"
        if reason == "other":
            return self._other(frame)
        return Dropped(reason, "lb") if reason else Forwarded(bytes(packet.frame))

    def _other(self, frame: bytes) -> Forwarded | Dropped:
        return Dropped("not_for_service", "lb") if self.drops_other else Forwarded(frame)

    def _choose(self, vip: Endpoint, key: Key) -> Endpoint | None:
        src_ip, dst_ip, src_port, dst_port, protocol = key
        place = mix(((src_ip << 32 | src_port << 16 | dst_port) + mix(dst_ip << 8 | protocol)) & WORD)
        return self.tables[vip][place % self.size] if self.tables[vip] else None

    def _to_service(self, packet: Packet) -> str | None:
        key = packet.key()
        vip = key[1], key[3], key[4]
        if vip not in self.tables:
            return "other"
        flags = packet.frame[packet.l4 + 13] if packet.protocol == TCP else 0
        known = self.connections.get(key)
        if known is None or (flags & (SYN | ACK) == SYN and known.is_closed()):
            backend = self._choose(vip, key)
            if backend is None:
                return "no_backend"
            known = self.connections[key] = Connection(backend)
        self._note(known, flags, "outbound")
        self._rewrite(packet, "dst", known.backend)
        return None

    def _from_backend(self, packet: Packet) -> str | None:
        src_ip, dst_ip, src_port, dst_port, protocol = packet.key()
        backend = src_ip, src_port, protocol
        vip = self.service_of.get(backend)
        if vip is None:
            return "other"
        known = self.connections.get((dst_ip, vip[0], dst_port, vip[1], protocol))
        if known is not None and known.backend != backend:
            return "other_backend"
        if known is not None and protocol == TCP:
            self._note(known, packet.frame[packet.l4 + 13], "inbound")
        self._rewrite(packet, "src", vip)
        return None

    def _note(self, connection: Connection, flags: int, direction: str) -> None:
        if flags & FIN:
            connection.ends.add(direction)
        if flags & RST:
            connection.ends.add("rst")

    def _rewrite(self, packet: Packet, which: str, to: Endpoint) -> None:
        if packet.is_fragment:
            datagram = packet.address("src"), packet.address("dst"), packet.identification, packet.protocol
            self.fragments[datagram] = to[0]
        packet.rewrite(which, to[0], to[1])

    def _without_ports(self, packet: Packet, direction: str) -> str | None:
        which, known = ("dst", self.tables) if direction == "outbound" else ("src", self.service_of)
        datagram = packet.address("src"), packet.address("dst"), packet.identification, packet.protocol
        first = self.fragments.get(datagram) if packet.is_later_fragment else None
        if isinstance(first, str):
            return first
        if first is not None:
            packet.rewrite(which, first, None)
            return None
        if not any(e[0] == packet.address(which) and e[2] == packet.protocol for e in known):
            return "other"
        if not packet.is_later_fragment:
            return "malformed"
        self.held += 1
        return "held" if self.held <= HELD_FRAGMENTS else "fragment_table_full"

    def _is_error(self, packet: Packet) -> bool:
        inside_at = packet.l4 + 8
        if packet.protocol != ICMP or packet.is_fragment or inside_at + 20 > packet.end:
            return False
        header = (packet.frame[inside_at] & 0xF) * 4
        if packet.frame[packet.l4] not in ERRORS or packet.frame[inside_at] >> 4 != 4 or header < 20:
            return False
        inside = Packet(packet.frame, inside_at, packet.end)
        return inside.l4 + 8 <= packet.end and not inside.is_later_fragment

    def _error(self, packet: Packet, direction: str) -> str | None:
        inside = Packet(packet.frame, packet.l4 + 8, packet.end)
        before = bytes(packet.frame[inside.at : packet.end])
        src_ip, dst_ip, src_port, dst_port, protocol = inside.key()
        if protocol not in (TCP, UDP) or packet.address("dst") != src_ip:
            return "other"
        if direction == "outbound":
            vip = src_ip, src_port, protocol
            if vip not in self.tables:
                return "other"
            key = dst_ip, src_ip, dst_port, src_port, protocol
            known = self.connections.get(key)
            backend = known.backend if known else self._choose(vip, key)
            if backend is None:
                return "no_backend"
            inside.rewrite("src", *backend[:2])
            packet.rewrite("dst", backend[0], None)
        else:
            backend = dst_ip, dst_port, protocol
            if backend not in self.service_of:
                return "other"
            vip = self.service_of[backend]
            inside.rewrite("dst", *vip[:2])
            if packet.address("src") == backend[0]:
                packet.rewrite("src", vip[0], None)
        after = bytes(packet.frame[inside.at : packet.end])
        pad = b"\0" * (len(before) % 2)
        checksum = changed(packet.word(packet.l4 + 2), before + pad, after + pad)
        packet.frame[packet.l4 + 2 : packet.l4 + 4] = checksum.to_bytes(2, "big")
        return None
