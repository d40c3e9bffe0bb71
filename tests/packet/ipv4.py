# SPDX-License-Identifier: Apache-2.0
"""What references of network functions are made of: IPv4 packets read and rewritten in place, plainly."""

from __future__ import annotations

import struct

WORD = (1 << 64) - 1
TCP, UDP, ICMP = 6, 17, 1

Key = tuple[int, int, int, int, int]  # source and destination address, source and destination port, protocol


def mix(x: int) -> int:
    """Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014."""
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & WORD
    return x ^ x >> 31


def changed(checksum: int, before: bytes, after: bytes) -> int:
    """RFC 1624, equation 3, word by word: HC' = ~(~HC + ~m + m')."""
    total = ~checksum & 0xFFFF
    for (old,), (new,) in zip(struct.iter_unpack("!H", before), struct.iter_unpack("!H", after), strict=True):
        total += (~old & 0xFFFF) + new
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Packet:
    """An IPv4 packet at `at` in a frame, to be read and rewritten in place."""

    def __init__(self, frame: bytearray, at: int, end: int) -> None:
        self.frame, self.at, self.end = frame, at, end
        self.protocol = frame[at + 9]
        self.l4 = at + (frame[at] & 0xF) * 4
        fragment = self.word(at + 6)
        self.is_fragment = fragment & 0x3FFF != 0
        self.is_later_fragment = fragment & 0x1FFF != 0
        self.cuts_tcp_header = fragment & 0x1FFF == 1 and self.protocol == TCP  # RFC 1858, section 4
        self.identification = self.word(at + 4)

    def word(self, at: int) -> int:
        """16 bits in network byte order."""
        return int.from_bytes(self.frame[at : at + 2], "big")

    def address(self, which: str) -> int:
        """Of "src" or "dst"."""
        at = self.at + (12 if which == "src" else 16)
        return int.from_bytes(self.frame[at : at + 4], "big")

    def has_ports(self) -> bool:
        """A whole TCP or UDP header is there."""
        if self.is_later_fragment:
            return False
        if self.protocol == UDP:
            return self.l4 + 8 <= self.end
        if self.protocol != TCP or self.l4 + 20 > self.end:
            return False
        header = (self.frame[self.l4 + 12] >> 4) * 4
        return header >= 20 and self.l4 + header <= self.end

    def key(self) -> Key:
        """The five-tuple of a packet with ports."""
        ports = self.word(self.l4), self.word(self.l4 + 2)
        return self.address("src"), self.address("dst"), *ports, self.protocol

    def rewrite(self, which: str, address: int, port: int | None) -> None:
        """Writes the address and, if given, the port (of an ICMP echo: the identifier). Checksums follow
        as far as they lie in the packet."""
        ip_at = self.at + (12 if which == "src" else 16)
        ip_before = bytes(self.frame[ip_at : ip_at + 4])
        ip_after = address.to_bytes(4, "big")
        self.frame[ip_at : ip_at + 4] = ip_after
        self._follow(self.at + 10, ip_before, ip_after)
        if self.is_later_fragment:
            return
        port_before = port_after = b""
        if port is not None:
            port_at = self.l4 + (4 if self.protocol == ICMP else 0 if which == "src" else 2)
            port_before, port_after = bytes(self.frame[port_at : port_at + 2]), port.to_bytes(2, "big")
            self.frame[port_at : port_at + 2] = port_after
        if self.protocol == ICMP:
            self._follow(self.l4 + 2, port_before, port_after)
        if self.protocol == TCP and self.l4 + 18 <= self.end:
            self._follow(self.l4 + 16, ip_before + port_before, ip_after + port_after)
        if self.protocol == UDP and self.l4 + 8 <= self.end and self.word(self.l4 + 6) != 0:
            self._follow(self.l4 + 6, ip_before + port_before, ip_after + port_after)
            if self.word(self.l4 + 6) == 0:
                self.frame[self.l4 + 6 : self.l4 + 8] = b"\xff\xff"

    def _follow(self, at: int, before: bytes, after: bytes) -> None:
        self.frame[at : at + 2] = changed(self.word(at), before, after).to_bytes(2, "big")


def ip_at(frame: bytes) -> tuple[int, int]:
    """Ethertype behind at most two VLAN tags, and where its header begins."""
    at = 14
    for _ in range(2):
        if frame[at - 2 : at] in (b"\x81\x00", b"\x88\xa8"):
            at += 4
    return int.from_bytes(frame[at - 2 : at], "big") if len(frame) >= at else 0, at


def ipv4_end(frame: bytes, at: int) -> int | None:
    """Where the IPv4 packet ends by its own length; None: its lengths contradict each other."""
    if len(frame) < at + 20 or frame[at] >> 4 != 4:
        return None
    header, total = (frame[at] & 0xF) * 4, int.from_bytes(frame[at + 2 : at + 4], "big")
    return at + total if 20 <= header <= total <= len(frame) - at else None
