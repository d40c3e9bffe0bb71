# SPDX-License-Identifier: Apache-2.0
"""What one look at a soak reads; an interval is the difference of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weir.measure.accounting import Counts
from weir.measure.soak.buckets import Buckets
from weir.protocol.ledger import Ledger
from weir.protocol.traffic_results import TrafficInterval
from weir.results.soak import PoolFigures, ProcessFigures, TableFigure


@dataclass(frozen=True)
class Snapshot:
    """Everything up to one moment of a run."""

    wall_s: float
    """Seconds of the wall clock, as time.time gives them, when `traffic` was read."""
    traffic: TrafficInterval
    latency: Mapping[int, Buckets]
    """By stream, of the whole run, as `ipdv`."""
    ipdv: Mapping[int, Buckets]
    counts: Counts
    """Drops by place and reason since boot."""
    kinds: Mapping[str, str]
    """Of areas, by name."""
    processes: Sequence[ProcessFigures] = ()
    pools: Sequence[PoolFigures] = ()
    tables: Sequence[TableFigure] = ()
    look_ms: float = 0.0


def pools_of(ledger: Ledger) -> list[PoolFigures]:
    """Of a ledger."""
    return [PoolFigures(name=pool.name, size=pool.size, free=pool.free) for pool in ledger.pools]
