# SPDX-License-Identifier: Apache-2.0
"""Frames to send through network functions, made with Scapy."""

from __future__ import annotations

from collections.abc import Iterator

from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet as ScapyPacket

from .replay import Direction

Sent = tuple[Direction, bytes]


def framed(packet: ScapyPacket, *, vlans: int = 0, padded: bool = True) -> bytes:
    """In Ethernet, padded to 60 bytes."""
    frame = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    for tag in range(vlans):
        frame = frame / Dot1Q(vlan=100 + tag)
    content = bytes(frame / packet)
    return content.ljust(60, b"\0") if padded else content


def cut(frame: bytes) -> Iterator[Sent]:
    """At every length."""
    for size in range(12, len(frame)):
        yield "outbound", frame[:size]
