# SPDX-License-Identifier: Apache-2.0
"""A port that gives the same UDP packets of 64 bytes (with FCS) again and again: DPDK's pcap driver.

It copies each packet from memory into a fresh buffer, and drops what is sent to it.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

ETHERNET = bytes.fromhex("020000000002 020000000001 0800")


def udp_frame(source: int, destination: int, source_port: int, destination_port: int) -> bytes:
    """Without FCS; addresses as numbers; no UDP checksum (RFC 768)."""
    header = struct.pack("!BBHHHBBHII", 0x45, 0, 46, 0, 0, 64, 17, 0, source, destination)
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF)
    udp = struct.pack("!4H", source_port, destination_port, 26, 0)
    return ETHERNET + header[:10] + checksum + header[12:] + udp + bytes(18)


@contextmanager
def pcap_port(frames: Iterable[bytes]) -> Iterator[tuple[Path, str]]:
    """A folder, and the device arguments of a port that sends these frames."""
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as name:
        packets = Path(name, "packets.pcap")
        with packets.open("wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for frame in frames:
                file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
        yield Path(name), f"net_pcap0,rx_pcap={packets},infinite_rx=1"
