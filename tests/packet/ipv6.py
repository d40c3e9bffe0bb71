# SPDX-License-Identifier: Apache-2.0
"""IPv6 packets read plainly, as ipv4.py has those of IPv4."""

from __future__ import annotations

from .ipv4 import TCP, UDP

ICMP_V6 = 58
HOP_BY_HOP, ROUTING, FRAGMENT, OPTIONS = 0, 43, 44, 60
EXTENSIONS_MAX = 8  # that are walked


class Packet6:
    """An IPv6 packet at `at` in a frame."""

    def __init__(self, frame: bytes, at: int, end: int) -> None:
        self.frame, self.at, self.end = frame, at, end
        self.protocol, self.l4 = frame[at + 6], at + 40
        self.is_fragment = self.is_later_fragment = False
        self.identification = 0
        self.headers_whole = self._walk()

    def _walk(self) -> bool:
        """Over the extension headers; False: one is cut, or there are more than are walked."""
        walked = 0
        while self.protocol in (HOP_BY_HOP, ROUTING, FRAGMENT, OPTIONS):
            if walked == EXTENSIONS_MAX or self.l4 + 8 > self.end:
                return False
            size = 8 if self.protocol == FRAGMENT else 8 * (1 + self.frame[self.l4 + 1])
            if self.l4 + size > self.end:
                return False
            if self.protocol == FRAGMENT:
                self._read_fragment()
            self.protocol, self.l4 = self.frame[self.l4], self.l4 + size
            if self.is_later_fragment:
                return True
            walked += 1
        return True

    def _read_fragment(self) -> None:
        fragment = self.word(self.l4 + 2)
        self.is_fragment = self.is_fragment or fragment & 0xFFF9 != 0
        self.is_later_fragment = fragment & 0xFFF8 != 0
        self.identification = int.from_bytes(self.frame[self.l4 + 4 : self.l4 + 8], "big")

    def word(self, at: int) -> int:
        """16 bits in network byte order."""
        return int.from_bytes(self.frame[at : at + 2], "big")

    def address(self, which: str) -> int:
        """Of "src" or "dst"."""
        at = self.at + (8 if which == "src" else 24)
        return int.from_bytes(self.frame[at : at + 16], "big")

    def has_ports(self) -> bool:
        """A whole TCP or UDP header is there."""
        if self.is_later_fragment or not self.headers_whole:
            return False
        if self.protocol == UDP:
            return self.l4 + 8 <= self.end
        if self.protocol != TCP or self.l4 + 20 > self.end:
            return False
        header = (self.frame[self.l4 + 12] >> 4) * 4
        return header >= 20 and self.l4 + header <= self.end


def ipv6_end(frame: bytes, at: int) -> int | None:
    """Where the IPv6 packet ends by its own length; None: it contradicts itself, or is cut."""
    if len(frame) < at + 40 or frame[at] >> 4 != 6:
        return None
    end = at + 40 + int.from_bytes(frame[at + 4 : at + 6], "big")
    return end if end <= len(frame) else None
