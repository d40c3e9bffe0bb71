# SPDX-License-Identifier: Apache-2.0
"""rule-changes: changes of single rules a second, while packets flow through the function that has the rules.

Half of the changes remove a rule, half add one, both drawn at random; the command `change` does as many at
a time as the detail's `changes_each` says: in the lines of 1,000 and 40,000 rules a thousand from a file, in
those that end in `-single` one from a list. Reading the text is part of it, writing it is not.
`forwarded_pps` in the detail: packets a second through the firewall meanwhile; if it is 0, the bench fails,
and so it does if the rules are not as many afterwards as they should be.
"""

from __future__ import annotations

import ipaddress
import random
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
from weir.protocol.configuration import Configure, NfCommand, Options

NAME = "rule-changes"
CORE = 1
COUNTS = (1_000, 40_000)
TOGETHER = 1_000
FLOWS = 256
TARGET_PER_S = 100_000.0
SECONDS = 0.5
FIRST = int(ipaddress.IPv4Address("10.0.0.0"))
SOURCE = int(ipaddress.IPv4Address("198.51.100.1"))


def run() -> list[Line]:
    """Ratio to 100,000 a second, a line for each number of rules, and one where each change is a command."""
    lines = [_measured(f"{NAME}-{count}", count, TOGETHER) for count in COUNTS]
    return lines + [_measured(f"{NAME}-{count}-single", count, 1) for count in COUNTS]


def _measured(name: str, count: int, together: int) -> Line:
    frames = (udp_frame(SOURCE, FIRST + index, 1024, 80) for index in range(FLOWS))
    with (
        tempfile.TemporaryDirectory(prefix="weir-bench-") as folder,
        pcap_port(frames) as (_, devargs),
        weir_dp(CORE) as client,
    ):
        file = Path(folder, "rules")
        rules = [_rule(index, 80) for index in range(count)]
        file.write_text("\n".join(rules), encoding="utf-8")
        client.configure(_firewall(devargs, file))
        client.start()
        changes = _changes(rules, together, Path(folder))
        taken = [_taken(client, changes, together) for _ in range(PAIRS)]
        there = client.report("firewall", "firewall").figures["firewall"]["rules"]
        client.stop()
    if there != count + together % 2 * (sum(commands for _, _, commands in taken) % 2):
        raise RuntimeError(f"{there} rules are left of {count}, of which as many were added as removed")
    found = line(name, [(per_s, TARGET_PER_S) for per_s, _, _ in taken], target=1.0, unit="per_s")
    more = {"changes_each": together, "forwarded_pps": median(pps for _, pps, _ in taken)}
    return replace(found, detail=found.detail | more)


def _rule(host: int, port: int) -> str:
    return f"permit udp any {ipaddress.IPv4Address(FIRST + host)} any {port}"


def _changes(rules: list[str], together: int, folder: Path) -> Iterator[Options]:
    """Arguments of the command, without end: in turn a rule is added and one removed, none of the flows'."""
    dice, turn = random.Random(1), 0
    while True:
        lines = []
        for _ in range(together):
            turn += 1
            if turn % 2 == 1:
                beside = rules[dice.randrange(len(rules))]
                rules.append(_rule(dice.randrange(FLOWS, 1 << 20), 1024 + turn % 60_000))
                lines.append(f"add {rules[-1]} before {beside}")
                continue
            gone = dice.randrange(FLOWS, len(rules))
            rules[gone], rules[-1] = rules[-1], rules[gone]
            lines.append(f"remove {rules.pop()}")
        if together == 1:
            yield {"change_list": lines[0]}
            continue
        file = folder / "changes"
        file.write_text("\n".join(lines), encoding="utf-8")
        yield {"changes": str(file)}


def _firewall(devargs: str, rules: Path) -> Configure:
    stage = {"nf": "firewall", "options": {"rules": str(rules)}}
    path = {"name": "through", "in": "port", "out": "port", "stages": [stage]}
    return Configure.model_validate(
        {
            "ports": [{"name": "port", "devargs": devargs}],
            "areas": [{"name": "firewall", "core": CORE, "kind": "chain", "paths": [path]}],
        }
    )


def _taken(client: DataPlaneClient, changes: Iterator[Options], together: int) -> tuple[float, float, int]:
    """Changes a second of the commands' time, packets a second that were forwarded meanwhile, commands."""
    before, began, commands, changing_s = client.ledger(), time.monotonic(), 0, 0.0
    while changing_s < SECONDS:
        args = next(changes)
        sent = time.monotonic()
        changed = NfCommand(area="firewall", stage="firewall", command="change", args=args)
        client.call("nf.command", changed.arguments())
        changing_s += time.monotonic() - sent
        commands += 1
    took_s, after = time.monotonic() - began, client.ledger()
    forwarded = after.ports[0].tx_packets - before.ports[0].tx_packets
    if forwarded == 0:
        raise RuntimeError("no packet was forwarded while rules changed")
    return commands * together / changing_s, forwarded / took_s, commands
