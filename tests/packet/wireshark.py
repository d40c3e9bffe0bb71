# SPDX-License-Identifier: Apache-2.0
"""Frames as Wireshark reads them: a second opinion beside Scapy's, by people who wrote neither."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

needed = pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
WITH_CHECKSUMS = ("-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE")
BETWEEN = "|"
WARNING = 0x00600000
"""From this severity of an expert's remark on, something is wrong with the frame."""


def dissected(frames: Sequence[bytes], folder: Path, *fields: str) -> list[list[str]]:
    """Those fields of each frame, a field that is there several times with commas; AssertionError if one is
    malformed, or has a wrong length or checksum."""
    capture = folder / "frames.pcap"
    wrpcap(str(capture), [Ether(frame) for frame in frames])
    asked = ("frame.protocols", "_ws.expert.severity", "_ws.expert.message", *fields)
    words = [word for name in asked for word in ("-e", name)]
    done = subprocess.run(
        ["tshark", "-r", str(capture), *WITH_CHECKSUMS, "-T", "fields", "-E", f"separator={BETWEEN}", *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = [line.split(BETWEEN) for line in done.stdout.splitlines()]
    assert len(rows) == len(frames), done.stderr
    for protocols, severities, messages, *_ in rows:
        worst = max((int(one, 0) for one in severities.split(",") if one), default=0)
        assert worst < WARNING, (protocols, messages)
        assert "malformed" not in protocols
    return [row[3:] for row in rows]


def over_udp(payload: bytes, port: int) -> bytes:
    """A frame with that datagram, from and to that port."""
    ends = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src="192.0.2.101", dst="192.0.2.100")
    return bytes(ends / UDP(sport=port, dport=port) / payload)
