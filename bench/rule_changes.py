# SPDX-License-Identifier: Apache-2.0
"""rule-changes: changes of one rule a second, while packets flow through the function that has the rules.

A change is what a user can do today: the file with one rule changed is loaded by `reload`, which reads and
builds all rules anew beside the old ones and puts them in their place between two batches. So the line of
many rules says what a classifier that changes single rules would save. `forwarded_pps` in the detail:
packets a second through the firewall meanwhile; if it is 0, the bench fails.
"""

from __future__ import annotations

import ipaddress
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from bench.data_plane import weir_dp
from bench.pairs import PAIRS, Line, line
from bench.pcap_port import pcap_port, udp_frame
from weir.protocol import DataPlaneClient
from weir.protocol.configuration import Configure, NfCommand

NAME = "rule-changes"
CORE = 1
COUNTS = (1_000, 40_000)
TARGET_PER_S = 100_000.0
SECONDS = 0.5
FIRST = int(ipaddress.IPv4Address("10.0.0.0"))
SOURCE = int(ipaddress.IPv4Address("198.51.100.1"))


def run() -> list[Line]:
    """Ratio to 100,000 a second, a line for each number of rules."""
    return [_changes(count) for count in COUNTS]


def _changes(count: int) -> Line:
    frames = (udp_frame(SOURCE, FIRST + index, 1024, 80) for index in range(256))
    with (
        tempfile.TemporaryDirectory(prefix="weir-bench-") as folder,
        pcap_port(frames) as (_, devargs),
        weir_dp(CORE) as client,
    ):
        files = [Path(folder, name) for name in ("before", "after")]
        for file, port in zip(files, (80, 81), strict=True):
            file.write_text("".join(_rules(count, port)), encoding="utf-8")
        client.configure(_firewall(devargs, files[0]))
        client.start()
        taken = [_taken(client, files) for _ in range(PAIRS)]
        client.stop()
    found = line(f"{NAME}-{count}", [(per_s, TARGET_PER_S) for per_s, _ in taken], target=1.0, unit="per_s")
    return replace(found, detail=found.detail | {"forwarded_pps": median(pps for _, pps in taken)})


def _rules(count: int, port_of_last: int) -> Iterator[str]:
    """All permit: one host each, and the last with that port."""
    for index in range(count - 1):
        yield f"permit udp any {ipaddress.IPv4Address(FIRST + index)} any 80\n"
    yield f"permit udp any {ipaddress.IPv4Address(FIRST + count - 1)} any {port_of_last}\n"


def _firewall(devargs: str, rules: Path) -> Configure:
    stage = {"nf": "firewall", "options": {"rules": str(rules)}}
    path = {"name": "through", "in": "port", "out": "port", "stages": [stage]}
    return Configure.model_validate(
        {
            "ports": [{"name": "port", "devargs": devargs}],
            "areas": [{"name": "firewall", "core": CORE, "kind": "chain", "paths": [path]}],
        }
    )


def _taken(client: DataPlaneClient, files: list[Path]) -> tuple[float, float]:
    """Changes a second, and packets a second that were forwarded meanwhile."""
    before, began, changes = client.ledger(), time.monotonic(), 0
    while time.monotonic() - began < SECONDS:
        changed = NfCommand(
            area="firewall",
            stage="firewall",
            command="reload",
            args={"rules": str(files[(changes + 1) % 2])},
        )
        client.call("nf.command", changed.arguments())
        changes += 1
    took_s, after = time.monotonic() - began, client.ledger()
    forwarded = after.ports[0].tx_packets - before.ports[0].tx_packets
    if forwarded == 0:
        raise RuntimeError("no packet was forwarded while rules changed")
    return changes / took_s, forwarded / took_s
