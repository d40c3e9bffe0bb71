# SPDX-License-Identifier: Apache-2.0
"""What the threads of Open vSwitch's userspace datapath say of themselves (ovs-vswitchd(8), dpif-netdev).

Cycles are from `pmd-stats-show`, which prints them whole; rounds and batches from `pmd-perf-show`; ports from
`pmd-rxq-show`. All count since the thread began, or since somebody cleared them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAIN = None
"""The core of the main thread: it polls nothing, and has none of its own."""

_THREAD = re.compile(r"^(?:pmd thread numa_id \d+ core_id (\d+)|main thread):$", re.M)
_RATIO = re.compile(r"^\s*([a-z /]+): (\d+)", re.M)
_ROW = re.compile(r"^\s*-? ?([A-Z][A-Za-z ]+):\s+(\d+)", re.M)
_PORT = re.compile(r"^\s*port: (\S+)\s+queue-id:\s*\d+ \(enabled\)", re.M)


@dataclass(frozen=True)
class Polling:
    """One thread. Cycles are of the time-stamp counter; 0 where it does not count them."""

    packets: int
    busy_cycles: int
    idle_cycles: int
    upcalls: int
    upcalls_lost: int
    polls: int = 0
    batches: int = 0
    sent: int = 0
    """Handed to ports, which may have found no room."""
    ports: tuple[str, ...] = ()
    """Those that it polls."""


def parse(stats: str, perf: str, rxq: str) -> dict[int | None, Polling]:
    """By core; the main thread under MAIN. The texts of pmd-stats-show, pmd-perf-show, pmd-rxq-show."""
    more, ports = _sections(perf), _sections(rxq)
    found = {}
    for core, text in _sections(stats).items():
        rows = {name.strip(): int(value) for name, value in _RATIO.findall(text)}
        counted = {name.strip(): int(value) for name, value in _ROW.findall(more.get(core, ""))}
        lost = rows.get("miss with failed upcall", 0)
        found[core] = Polling(
            packets=rows.get("packets received", 0),
            busy_cycles=rows.get("processing cycles", 0),
            idle_cycles=rows.get("idle cycles", 0),
            upcalls=rows.get("miss with success upcall", 0) + lost,
            upcalls_lost=lost,
            polls=counted.get("Iterations", 0),
            batches=counted.get("Tx batches", 0),
            sent=counted.get("Tx packets", 0),
            ports=tuple(dict.fromkeys(_PORT.findall(ports.get(core, "")))),
        )
    return found


def _sections(text: str) -> dict[int | None, str]:
    _, *rest = _THREAD.split(text)
    return {int(core) if core else MAIN: body for core, body in zip(rest[::2], rest[1::2], strict=True)}
