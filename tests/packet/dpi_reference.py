# SPDX-License-Identifier: Apache-2.0
"""dpi without applications, slow and obvious: each rule in turn, by Python's `re`, on all text so far."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from dataclasses import dataclass, field

from .ipv4 import ICMP, TCP, UDP, Packet, ip_at, ipv4_end
from .replay import Direction, Dropped, Forwarded

SEQUENCE = 1 << 32
FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
NETWORKS = {"any": "0.0.0.0/0"}
PROTOCOLS = {"tcp": TCP, "udp": UDP, "icmp": ICMP}
Tuple = tuple[int, int, int, int, int]  # inside and outside address, inside and outside port, protocol


@dataclass(frozen=True)
class Rule:
    """One line: what it does, and what it asks for."""

    id: int
    action: str
    expression: re.Pattern[bytes] | None = None
    flow: tuple[str, ...] = ()

    def matches_flow(self, key: Tuple) -> bool:
        """PROTOCOL SOURCE DESTINATION [SOURCE-PORTS DESTINATION-PORTS], seen from the inside."""
        protocol, source, destination, *ports = self.flow
        if protocol != "any" and PROTOCOLS.get(protocol, protocol) not in (key[4], str(key[4])):
            return False
        for text, address in ((source, key[0]), (destination, key[1])):
            if ipaddress.IPv4Address(address) not in ipaddress.IPv4Network(NETWORKS.get(text, text)):
                return False
        for text, port in zip(ports, key[2:4], strict=False):
            low, _, high = text.partition("-")
            if text != "any" and (key[4] not in (TCP, UDP) or not int(low) <= port <= int(high or low)):
                return False
        return True


def read_rules(text: str) -> list[Rule]:
    """Rules without errors, none of applications."""
    rules = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        number, action, rest = line.split(maxsplit=2)
        if rest.startswith("/"):
            pattern, flags = rest[1:].rsplit("/", 1)
            options = sum(getattr(re, flag.upper()) for flag in flags)
            rules.append(Rule(int(number), action, re.compile(pattern.encode(), options)))
        else:
            rules.append(Rule(int(number), action, flow=tuple(rest.split()[1:])))
    return rules


@dataclass
class Stream:
    """What one side sent, without what it sent twice; a hole begins anew."""

    text: bytes = b""
    next_sequence: int | None = None

    def add(self, sequence: int, payload: bytes, room: int) -> int:
        """Bytes that are new, as far as there is room."""
        known = 0
        if self.next_sequence is not None:
            behind = (self.next_sequence - sequence) % SEQUENCE
            if behind >= SEQUENCE // 2:
                self.text = b""
            else:
                known = min(behind, len(payload))
        if self.next_sequence is None or known < len(payload):
            self.next_sequence = (sequence + len(payload)) % SEQUENCE
        new = payload[known:][:room]
        self.text += new
        return len(new)


@dataclass
class Flow:
    """A flow: its verdict, or what is known before it."""

    ruled: Rule | None = None
    label: Rule | None = None
    found: list[Rule] = field(default_factory=list)
    streams: dict[Direction, Stream] = field(
        default_factory=lambda: {"outbound": Stream(), "inbound": Stream()}
    )
    packets: int = 0
    scanned: int = 0
    waiting: list[int] = field(default_factory=list)
    decided: bool = False
    rule: Rule | None = None
    fins: set[Direction] = field(default_factory=set)
    reset: bool = False

    def closed(self) -> bool:
        """Both sides said FIN, or one RST."""
        return self.reset or len(self.fins) == 2


HELD_FRAGMENTS = 256
"""Option held_fragments, by default."""


class Inspector:
    """Flows, verdicts and charges, without limits of memory or time."""

    def __init__(
        self, rules: str, *, packets_max: int, payload_bytes_max: int, forwards_ipv6: bool = False
    ) -> None:
        self.rules = read_rules(rules)
        self.packets_max, self.payload_bytes_max = packets_max, payload_bytes_max
        self.forwards_ipv6 = forwards_ipv6
        self.flows: dict[Tuple, Flow] = {}
        self.fragments: dict[tuple[int, int, int, int], Flow] = {}
        self.held = 0
        self.packets: Counter[tuple[str, int]] = Counter()
        self.bytes: Counter[tuple[str, int]] = Counter()

    def decide(self, frame: bytes, direction: Direction) -> Forwarded | Dropped:
        """What becomes of the frame."""
        reason = self._reason(frame, direction)
        return Forwarded(frame) if reason is None else Dropped(reason, "dpi")

    def _reason(self, frame: bytes, direction: Direction) -> str | None:
        ethertype, at = ip_at(frame)
        if ethertype == 0x86DD:
            unseen = None if self.forwards_ipv6 else "ipv6"
            return unseen if _is_whole_ipv6(frame, at) else "malformed"
        if ethertype != 0x0800:
            return None
        end = ipv4_end(frame, at)
        if end is None:
            return "malformed"
        packet = Packet(bytearray(frame), at, end)
        inside, outside = packet.address("src"), packet.address("dst")
        if direction == "inbound":
            inside, outside = outside, inside
        flow: Flow | None
        if packet.is_later_fragment:
            flow = self.fragments.get(_datagram(packet))
            return self._wait() if flow is None else self._count(flow, inside, len(frame))
        if not _has_l4_header(packet):
            return "malformed"
        flow = self._flow(_key(packet, inside, outside, direction), packet)
        if not flow.decided:
            self._inspect(flow, packet, direction)
            self._settle(flow, inside)
        if packet.protocol == TCP:
            flags = packet.frame[packet.l4 + 13]
            if flags & FIN:
                flow.fins.add(direction)
            flow.reset = flow.reset or bool(flags & RST)
        if packet.is_fragment:
            self.fragments[_datagram(packet)] = flow
        return self._count(flow, inside, len(frame))

    def _wait(self) -> str:
        self.held += 1
        return "held" if self.held <= HELD_FRAGMENTS else "fragment_table_full"

    def _flow(self, key: Tuple, packet: Packet) -> Flow:
        flow = self.flows.get(key)
        opens = packet.protocol == TCP and packet.frame[packet.l4 + 13] & (SYN | ACK) == SYN
        if flow is not None and opens and flow.closed():
            self._end(flow, key[0])
            flow = None
        if flow is None:
            first = next((rule for rule in self.rules if rule.flow and rule.matches_flow(key)), None)
            flow = self.flows[key] = Flow()
            if first is not None and first.action == "label":
                flow.label = first
            else:
                flow.ruled = first
        return flow

    def _inspect(self, flow: Flow, packet: Packet, direction: Direction) -> None:
        if flow.ruled is not None:
            flow.decided, flow.rule = True, flow.ruled
            return
        if packet.protocol not in (TCP, UDP):
            flow.decided, flow.rule = True, flow.label
            return
        header = (packet.frame[packet.l4 + 12] >> 4) * 4 if packet.protocol == TCP else 8
        payload = bytes(packet.frame[packet.l4 + header : packet.end])
        if not payload:
            return
        stream = flow.streams[direction] if packet.protocol == TCP else Stream()
        sequence = 0
        if packet.protocol == TCP:
            sequence = int.from_bytes(packet.frame[packet.l4 + 4 : packet.l4 + 8], "big")
            sequence += bool(packet.frame[packet.l4 + 13] & SYN)
        flow.packets += 1
        flow.scanned += stream.add(sequence, payload, self.payload_bytes_max - flow.scanned)
        flow.found += [rule for rule in self.rules if rule.expression and rule.expression.search(stream.text)]
        flow.found.sort(key=self.rules.index)
        verdicts = [rule for rule in flow.found if rule.action != "label"]
        if verdicts or flow.packets >= self.packets_max or flow.scanned >= self.payload_bytes_max:
            labels = [*flow.found, flow.label]
            flow.decided, flow.rule = True, verdicts[0] if verdicts else labels[0]

    def _settle(self, flow: Flow, inside: int) -> None:
        if flow.decided:
            for size in flow.waiting:
                self._charge(flow, inside, size)
            flow.waiting.clear()

    def _end(self, flow: Flow, inside: int) -> None:
        flow.rule = flow.rule or next(iter(flow.found), flow.label)
        flow.decided = True
        self._settle(flow, inside)

    def _count(self, flow: Flow, inside: int, size: int) -> str | None:
        if not flow.decided:
            flow.waiting.append(size)
            return None
        self._charge(flow, inside, size)
        if flow.rule is None or flow.rule.action != "drop":
            return None
        return "flow_rule" if flow.rule.flow else "content_rule"

    def _charge(self, flow: Flow, inside: int, size: int) -> None:
        key = (str(ipaddress.IPv4Address(inside)), flow.rule.id if flow.rule is not None else 0)
        self.packets[key] += 1
        self.bytes[key] += size


def _key(packet: Packet, inside: int, outside: int, direction: Direction) -> Tuple:
    ports = [0, 0]
    if packet.protocol in (TCP, UDP):
        ports = [packet.word(packet.l4), packet.word(packet.l4 + 2)]
    elif packet.protocol == ICMP and packet.frame[packet.l4] in (0, 8):
        ports = [packet.word(packet.l4 + 4)] * 2
    if direction == "inbound":
        ports.reverse()
    return inside, outside, ports[0], ports[1], packet.protocol


def _datagram(packet: Packet) -> tuple[int, int, int, int]:
    return packet.address("src"), packet.address("dst"), packet.protocol, packet.identification


def _has_l4_header(packet: Packet) -> bool:
    if packet.protocol == ICMP:
        return packet.l4 + 8 <= packet.end
    return packet.protocol not in (TCP, UDP) or packet.has_ports()


def _is_whole_ipv6(frame: bytes, at: int) -> bool:
    if len(frame) < at + 40 or frame[at] >> 4 != 6:
        return False
    return at + 40 + int.from_bytes(frame[at + 4 : at + 6], "big") <= len(frame)
