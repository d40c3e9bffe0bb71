# SPDX-License-Identifier: Apache-2.0
"""lb-ipvs: lb against Linux's ipvs, behind the same bridge."""

from __future__ import annotations

from bench.beside_linux import against_linux
from bench.pairs import Line

_SERVICE = "198.19.0.1:1024/udp"  # the tester's right end and its port
_OPTIONS = {"services": ", ".join(f"{_SERVICE} 10.0.0.{i}:8080" for i in range(1, 5))}


def run() -> Line:
    """Ratio of packets a second."""
    return against_linux("lb-ipvs", "lb", _OPTIONS, by="ipvs", target=1.0)
