# SPDX-License-Identifier: Apache-2.0
"""What times arrivals, direction by direction."""

from __future__ import annotations

from collections.abc import Sequence

from weir.measure.tester import Stream
from weir.protocol.ledger import Ledger
from weir.results.result import ArrivalClock


def arrival_clocks(ledger: Ledger, streams: Sequence[Stream]) -> list[ArrivalClock]:
    """Of each stream's receiving port, as the ledger tells it."""
    ports = {port.name: port.timestamps for port in ledger.ports}
    return [
        ArrivalClock(direction=stream.direction, **found.model_dump())
        for stream in streams
        if (found := ports.get(stream.to)) is not None
    ]


def resolution_ns(ledger: Ledger, streams: Sequence[Stream]) -> float:
    """Smallest difference that the coarsest of them shows."""
    clocks = arrival_clocks(ledger, streams)
    return max((clock.resolution_ns for clock in clocks), default=1e9 / ledger.tsc_hz)
