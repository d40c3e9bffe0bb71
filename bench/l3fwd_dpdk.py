# SPDX-License-Identifier: Apache-2.0
"""l3fwd-dpdk: l3fwd, with the ledger, against DPDK's example of that name (longest prefix match).

Both take 4,096 packets from the same driver in bursts of 32, look the same 1,000 routes up, take one from the
TTL, bring the checksum up to date and write both MAC addresses. Besides, weir-dp checks lengths, the checksum
and that addresses belong on a wire, reads the five-tuple, and counts packets and cycles; the example looks at
the EtherType and the header's first bytes, leaves the checksum to hardware, and counts nothing. weir-dp is
built for the machine's own instructions (meson's `march`), the example as its Makefile does, for those that
DPDK was packaged for.

The example is built in build/l3fwd from Debian's package dpdk-doc, with one change: up to DPDK 22.11 it asks
each port to check IPv4 checksums, which virtual ports cannot. L3FWD is the path of another one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from bench import builds
from bench.pairs import Line, SkipError
from bench.router import CORE, against, prefixes, program

VARIABLE = "L3FWD"
EXAMPLES = Path("/usr/share/dpdk/examples")
BUILD = builds.OWN / "l3fwd"
ASKS, ASKS_NOT = ".offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM,", ".offloads = 0,"


def application(folder: Path, routed: Iterable[str]) -> list[str]:
    """Its arguments with routes of these prefixes, files of which go into the folder."""
    (folder / "rules4").write_text("".join(f"R{prefix} 0\n" for prefix in routed))
    (folder / "rules6").write_text("R2001:db8::/48 0\n")
    rules = [f"--rule_ipv4={folder / 'rules4'}", f"--rule_ipv6={folder / 'rules6'}"]
    return ["-p", "1", "-P", f"--config=(0,0,{CORE})", "--parse-ptype", "--lookup=lpm", *rules]


def built() -> str:
    """The example of DPDK's package, built as its Makefile does. SkipError without it."""
    if not (EXAMPLES / "l3fwd").is_dir():
        raise SkipError(f"{EXAMPLES}/l3fwd is missing: install dpdk-doc, or set {VARIABLE}")
    source = BUILD / "l3fwd" / "main.c"
    if not source.exists():
        for part in ("l3fwd", "common"):
            shutil.copytree(EXAMPLES / part, BUILD / part, dirs_exist_ok=True)
        source.write_text(source.read_text(encoding="utf-8").replace(ASKS, ASKS_NOT), encoding="utf-8")
    builds.call("make", "-C", str(source.parent))
    return str(source.parent / "build" / "l3fwd")


def example() -> str:
    """The binary that is named, or one that is built. SkipError without either."""
    return program(VARIABLE, "DPDK's example l3fwd") if VARIABLE in os.environ else built()


def run() -> Line:
    """Ratio of packets a second."""
    return against(
        "l3fwd-dpdk", "l3fwd", example(), target=1.0, application=lambda at: application(at, prefixes())
    )
