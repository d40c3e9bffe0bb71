# SPDX-License-Identifier: Apache-2.0
"""`firewall` once more, slow and obvious, to compare with packet by packet. Time does not pass in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .ipv4 import TCP, UDP, Packet
from .ipv6 import Packet6
from .replay import Dropped, Forwarded
from .rules_reference import (
    Flow,
    Rules,
    Waiting,
    cut_first,
    datagram_of,
    family_of,
    flow_of,
    icmp_of,
    parsed,
)

FIN, SYN, RST, ACK = 1, 2, 4, 16
ECHO_REPLY, ECHO_REQUEST = (0, 129), (8, 128)
ERRORS = {4: (3, 4, 11, 12), 6: (1, 2, 3, 4)}

AnyPacket = Packet | Packet6
Endpoint = tuple[int, int]  # address, port; of an ICMP echo its identifier
# Family, protocol and both ends; of an ICMP echo who asks, then who answers.
Key = tuple[int, int, frozenset[Endpoint] | tuple[Endpoint, Endpoint]]


@dataclass
class Session:
    """Its first packet's flow, and who has closed it."""

    flow: Flow
    beginner: Endpoint
    ends: set[Endpoint | str] = field(default_factory=set)

    def is_over(self) -> bool:
        """A new connection may take its place."""
        return "rst" in self.ends or len(self.ends) == 2


class Firewall:
    """Rules that may change, and sessions."""

    def __init__(self, rules: Rules, *, syn_first: bool = True) -> None:
        self.rules = rules
        self.syn_first = syn_first
        self.sessions: dict[Key, Session] = {}
        self.fragments: dict[tuple[int, ...], Session | str | None] = {}
        """The session of the first one, or why that was dropped; None: it passed without one."""
        self.waiting = Waiting()

    def reload(self, rules: Rules) -> None:
        """Sessions that the new rules refuse end."""
        self.rules = rules
        self.sessions = {key: one for key, one in self.sessions.items() if rules.permit(one.flow)}

    def handle(self, frame: bytes, _direction: str = "outbound") -> Forwarded | Dropped:
        """What becomes of a frame, whichever way it goes."""
        packet = parsed(frame)
        if isinstance(packet, str):
            if packet == "truncated" and (first := cut_first(frame)) is not None:
                self.fragments[first] = packet
            return Dropped(packet, "firewall")
        reason = self._reason(packet)
        return Dropped(reason, "firewall") if reason else Forwarded(frame)

    def _reason(self, packet: AnyPacket) -> str | None:
        if packet.is_later_fragment:
            return self._later_fragment(packet)
        kind = packet.frame[packet.l4] if icmp_of(packet) else None
        if kind is not None and kind not in (*ECHO_REQUEST, *ECHO_REPLY):
            said = None if self._is_related(packet) else self._by_rules(packet)
            if packet.is_fragment:
                self.fragments[datagram_of(packet)] = said
            return said
        reason = self._of_session(packet, kind)
        if reason is not None and packet.is_fragment:
            self.fragments[datagram_of(packet)] = reason
        return reason

    def _by_rules(self, packet: AnyPacket) -> str | None:
        return None if self.rules.permit(flow_of(packet)) else "denied"

    def _of_session(self, packet: AnyPacket, kind: int | None) -> str | None:
        src, _ = _ends(packet)
        key = _key(packet, kind)
        flags = packet.frame[packet.l4 + 13] if packet.protocol == TCP else 0
        session = self.sessions.get(key)
        if session is not None and session.is_over() and flags & (SYN | ACK) == SYN:
            session = None
            del self.sessions[key]
        if session is None:
            if not self._may_begin(packet.protocol, flags, kind):
                return "no_session"
            if (reason := self._by_rules(packet)) is not None:
                return reason
            session = self.sessions[key] = Session(flow_of(packet), src)
        if flags & RST:
            session.ends.add("rst")
        elif flags & FIN:
            session.ends.add(src)
        if packet.is_fragment:
            self.fragments[datagram_of(packet)] = session
        return None

    def _may_begin(self, protocol: int, flags: int, kind: int | None) -> bool:
        if protocol == TCP:
            return flags & (SYN | ACK | RST | FIN) == SYN if self.syn_first else not flags & RST
        return kind not in ECHO_REPLY

    def _later_fragment(self, packet: AnyPacket) -> str | None:
        datagram = datagram_of(packet)
        if datagram not in self.fragments:
            return self.waiting.reason()
        session = self.fragments[datagram]
        if session is None or isinstance(session, str):
            return session
        return None if session in self.sessions.values() else "no_session"

    def _is_related(self, packet: AnyPacket) -> bool:
        """An ICMP error about a packet of a session, to who sent it."""
        if packet.is_fragment or packet.frame[packet.l4] not in ERRORS[family_of(packet)]:
            return False
        inside = _inside(packet)
        if inside is None or inside.is_later_fragment or inside.address("src") != packet.address("dst"):
            return False
        kind = packet.frame[inside.l4] if icmp_of(inside) else None
        echo = kind is None or kind in (*ECHO_REQUEST, *ECHO_REPLY)
        return echo and _key(inside, kind) in self.sessions


def _inside(packet: AnyPacket) -> AnyPacket | None:
    """What an error is about, with eight bytes behind its headers."""
    at = packet.l4 + 8
    if isinstance(packet, Packet6):
        if at + 40 > packet.end or packet.frame[at] >> 4 != 6:
            return None
        inside6 = Packet6(packet.frame, at, packet.end)
        return inside6 if inside6.headers_whole and inside6.l4 + 8 <= packet.end else None
    if at + 20 > packet.end:
        return None
    header = (packet.frame[at] & 0xF) * 4
    if packet.frame[at] >> 4 != 4 or header < 20 or at + header + 8 > packet.end:
        return None
    return Packet(packet.frame, at, packet.end)


def _key(packet: AnyPacket, kind: int | None) -> Key:
    src, dst = _ends(packet)
    family = family_of(packet)
    if kind is None:
        return family, packet.protocol, frozenset((src, dst))
    return family, packet.protocol, (dst, src) if kind in ECHO_REPLY else (src, dst)


def _ends(packet: AnyPacket) -> tuple[Endpoint, Endpoint]:
    if packet.protocol in (TCP, UDP):
        ports = packet.word(packet.l4), packet.word(packet.l4 + 2)
    elif icmp_of(packet):
        ports = (packet.word(packet.l4 + 4),) * 2
    else:
        ports = 0, 0
    return (packet.address("src"), ports[0]), (packet.address("dst"), ports[1])
