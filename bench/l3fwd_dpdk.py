# SPDX-License-Identifier: Apache-2.0
"""l3fwd-dpdk: l3fwd, with the ledger, against DPDK's example of that name (longest prefix match).

Both take 4,096 packets from the same driver in bursts of 32, look the same 1,000 routes up, take one from the
TTL, bring the checksum up to date and write both MAC addresses. Besides, weir-dp checks lengths, the checksum
and that addresses belong on a wire, reads the five-tuple, and counts packets and cycles; the example looks at
the EtherType and the header's first bytes, leaves the checksum to hardware, and counts nothing. weir-dp is
built for the machine's own instructions (meson's `march`), the example as its Makefile does, for those that
DPDK was packaged for.

L3FWD is the path of its binary. Up to DPDK 22.11 it asks each port to check IPv4 checksums, which virtual
ports cannot: set `.offloads` in its port_conf to 0 before it is built.
"""

from __future__ import annotations

from pathlib import Path

from bench.pairs import Line
from bench.router import CORE, against, prefixes, program

VARIABLE = "L3FWD"


def _application(folder: Path) -> list[str]:
    (folder / "rules4").write_text("".join(f"R{prefix} 0\n" for prefix in prefixes()))
    (folder / "rules6").write_text("R2001:db8::/48 0\n")
    rules = [f"--rule_ipv4={folder / 'rules4'}", f"--rule_ipv6={folder / 'rules6'}"]
    return ["-p", "1", "-P", f"--config=(0,0,{CORE})", "--parse-ptype", "--lookup=lpm", *rules]


def run() -> Line:
    """Ratio of packets a second."""
    binary = program(VARIABLE, "DPDK's example l3fwd")
    return against("l3fwd-dpdk", "l3fwd", binary, target=0.9, application=_application)
