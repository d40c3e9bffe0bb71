# SPDX-License-Identifier: Apache-2.0
"""l3fwd-fastclick: l3fwd, with the ledger, against the same router of FastClick's elements.

FASTCLICK is the path of its `click`, built with DPDK. Both check the IPv4 header with its checksum, look the
destination up in a table of DIR-24-8, take one from the TTL and write both MAC addresses.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bench.pairs import Line
from bench.router import NEXT_HOP, SRC_MAC, against, prefixes, program

VARIABLE = "FASTCLICK"


def application(folder: Path, routed: Iterable[str]) -> list[str]:
    """Its arguments with routes of these prefixes; its configuration goes into the folder."""
    table = ", ".join(f"{prefix} 0" for prefix in routed)
    router = folder / "router.click"
    router.write_text(
        "FromDPDKDevice(0) -> Strip(14) -> CheckIPHeader(VERBOSE false)\n"
        f"-> DirectIPLookup({table}) -> DecIPTTL\n"
        f"-> EtherEncap(0x0800, {SRC_MAC}, {NEXT_HOP}) -> ToDPDKDevice(0);\n"
    )
    return [str(router)]


def run() -> Line:
    """Ratio of packets a second."""
    binary = program(VARIABLE, "FastClick's click")
    return against(
        "l3fwd-fastclick",
        "fastclick",
        binary,
        target=2.0,
        application=lambda at: application(at, prefixes()),
    )
