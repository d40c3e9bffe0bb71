# SPDX-License-Identifier: Apache-2.0
"""What the benches upf-* measure: the user plane function in each direction, packets of 64 bytes inside its
tunnels, against l3fwd on the same packets without tunnels."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

from bench.beside_l3fwd import L3FWD, MEMORY_MB, PACKET_BYTES, PAIRS, PAIRS_OF_MANY, rate_pps
from bench.hugepages import hugepages
from bench.native_program import CORE
from bench.pairs import Line, interleave, line
from bench.pcap_port import ETHERNET, pcap_port, udp_frame
from tests.private_data_plane import private_data_plane
from weir.protocol import DataPlaneClient

UE_FIRST, SERVER = 0x0A2D0001, 0xC6120001  # 10.45.0.1, 198.18.0.1
N3, GNB = 0xC0000201, 0xC0000202  # 192.0.2.1, 192.0.2.2
MANY_SESSIONS = 500_000
SESSION_BYTES = 256
QFI = 9


def both_ways(name: str, sessions: int, target: float) -> list[Line]:
    """Ratios of the function's packets a second to l3fwd's, up and down; every session's packets in a random
    order."""
    order = list(range(sessions))
    random.Random(1).shuffle(order)
    up = [udp_frame(UE_FIRST + number, SERVER, 1024, 80) for number in order]
    down = [udp_frame(SERVER, UE_FIRST + number, 80, 1024) for number in order]
    return [
        _against(f"{name}-uplink", "outbound", _tunnelled(order, up), up, target=target),
        _against(f"{name}-downlink", "inbound", iter(down), down, target=target),
    ]


def _tunnelled(order: list[int], frames: list[bytes]) -> Iterator[bytes]:
    """Each packet of a UE as the gNB sends it: TEIDs as the function has them by default."""
    for number, frame in zip(order, frames, strict=True):
        user = frame[len(ETHERNET) :]
        extension = struct.pack("!HBB4B", 0, 0, 0x85, 1, 0x10, QFI, 0)
        gtpu = struct.pack("!BBHI", 0x34, 255, len(extension) + len(user), 1 + number) + extension + user
        outer = udp_frame(GNB, N3, 2152, 2152)
        yield ETHERNET + _with_length(outer[len(ETHERNET) : -18], gtpu)


def _with_length(headers: bytes, payload: bytes) -> bytes:
    """IPv4 and UDP in front of another payload."""
    total = len(headers) + len(payload)
    words = list(struct.unpack("!10H", headers[:20]))
    words[1], words[5] = total, 0
    carried = sum(words)
    carried = (carried & 0xFFFF) + (carried >> 16)
    words[5] = ~(carried + (carried >> 16)) & 0xFFFF
    ports = headers[20:24]
    return struct.pack("!10H", *words) + ports + struct.pack("!HH", total - 20, 0) + payload


def _against(
    name: str, direction: str, frames: Iterator[bytes], plain: list[bytes], *, target: float
) -> Line:
    sessions = len(plain)
    memory_mb = MEMORY_MB + sessions * (PACKET_BYTES + SESSION_BYTES) // 2**20
    options = {"sessions": str(sessions)}
    with (
        hugepages(memory_mb),
        pcap_port(frames) as (_, own),
        pcap_port(plain) as (_, others),
        private_data_plane(CORE, memory_mb=memory_mb, huge=True) as path,
        DataPlaneClient(path, connect_s=20) as client,
    ):
        taken = interleave(
            lambda: rate_pps(client, own, "upf", options, sessions, direction=direction),
            lambda: rate_pps(client, others, "l3fwd", L3FWD, sessions, direction=direction),
            pairs=PAIRS_OF_MANY if sessions > MANY_SESSIONS else PAIRS,
        )
    return line(name, taken, target=target, unit="pps")
