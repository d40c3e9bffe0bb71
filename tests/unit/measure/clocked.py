# SPDX-License-Identifier: Apache-2.0
"""Ledgers of a tester on core 0 and one function, with costs, speeds and idle time that are known."""

from __future__ import annotations

from typing import Any

from weir.measure.windows import Window
from weir.protocol.ledger import Ledger

HZ = 1_000_000_000
PIECES_PER_S = 2000


def ledger(
    at_s: float,
    packets: int,
    *,
    dropped: int = 0,
    stretch: float = 1.0,
    core: int = 0,
    idle: float = 0.2,
    piece_cycles: tuple[float, float] = (100, 100),
    bursts: int = 0,
) -> Ledger:
    """`packets` so far: 100 cycles each in one stage, 30 around it, on `core`, which is so idle.
    `piece_cycles`: of a piece of work on both cores; `bursts`: polls in which the tester received packets."""
    stage = {"nf": "nat", "in": packets, "out": packets - dropped, "cycles": int(100 * packets * stretch)}
    path = {
        "name": "right",
        "rx_packets": packets,
        "tx_packets": packets,
        "stages": [stage | {"drops": {"no_mapping": dropped}}],
    }
    time = {"busy_cycles": int(130 * packets * stretch), "idle_cycles": int(at_s * HZ * idle)}
    areas: list[dict[str, Any]] = [
        {"name": "f1", "core": core, "kind": "chain", "paths": [path], **time},
        {
            "name": "receiver.right",
            "core": 0,
            "kind": "receiver",
            "polls": bursts,
            "busy_cycles": 50 * packets,
        },
    ]
    ports = [{"name": "tester.left", "tx_packets": packets}, {"name": "tester.right", "rx_packets": packets}]
    pieces = int(at_s * PIECES_PER_S)
    cores = [
        {"core": number, "speed": {"pieces": pieces, "cycles": int(pieces * cycles)}}
        for number, cycles in enumerate(piece_cycles)
    ]
    found = {"tsc": int(at_s * HZ), "tsc_hz": HZ, "cores": cores, "areas": areas, "ports": ports}
    return Ledger.model_validate(found)


CALM = Window(ledger(0, 0), ledger(1, 1_000_000))


class Played:
    """Answers with one ledger after another."""

    def __init__(self, ledgers: list[Ledger]) -> None:
        self._left = ledgers

    def ledger(self) -> Ledger:
        return self._left.pop(0) if len(self._left) > 1 else self._left[0]
