# SPDX-License-Identifier: Apache-2.0
"""Every packet is accounted for: offered = delivered + Σ drops by place and reason, exactly (design rule 1).

Pure arithmetic on two snapshots of the ledger and of the counters outside weir-dp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.measure.tester import Counter, Stream
from weir.protocol.ledger import Ledger
from weir.protocol.traffic_results import TrafficResult
from weir.results.result import Drop

Counts = dict[tuple[str, str], int]  # (place, reason) → packets since boot

# Drops that are the tester's own fault when they happen at one of its ports.
RECEIVER_REASONS = frozenset({"rx_missed", "rx_nombuf"})


@dataclass(frozen=True)
class Balance:
    """The packets of one trial. `offered` = `delivered` + Σ `drops` + `unaccounted`."""

    intended: int
    offered: int
    delivered: int
    drops: tuple[Drop, ...]
    unaccounted: int  # negative: more packets were delivered or counted lost than were offered

    @property
    def lost(self) -> int:
        """Packets offered and not delivered."""
        return self.offered - self.delivered

    @property
    def loss_ratio(self) -> float:
        """Share of the offered packets that were not delivered; 0 when none were offered."""
        return max(0, self.lost) / self.offered if self.offered else 0.0


def counted(ledger: Ledger, counters: Sequence[Counter]) -> Counts:
    """All drops since boot, by place and reason: functions' areas and stages, ports, switch and kernel."""
    counts: Counts = {}

    def add(place: str, reason: str, packets: int) -> None:
        counts[place, reason] = counts.get((place, reason), 0) + packets

    for area in ledger.areas:
        if area.kind in ("generator", "receiver"):
            continue  # the tester's areas: the traffic result says what they refused
        for path in area.paths:
            place = f"{area.name}/{path.name}"
            for reason, packets in path.drops.items():
                add(place, reason, packets)
            for stage in path.stages:
                for reason, packets in stage.drops.items():
                    add(f"{place}/{stage.nf}", reason, packets)
                if stage.held:
                    add(f"{place}/{stage.nf}", "held", stage.held)
    for port in ledger.ports:
        add(port.name, "rx_missed", port.rx_missed)
        add(port.name, "rx_nombuf", port.rx_nombuf)
        add(port.name, "tx_errors", port.tx_errors)
    for counter in counters:
        if counter.kind == "drop":
            add(counter.place, counter.reason or "unspecified", counter.value)
    return counts


def balance(before: Counts, after: Counts, result: TrafficResult, streams: Sequence[Stream]) -> Balance:
    """What happened between two snapshots around one run of traffic.

    A place that only the second snapshot has counted from 0. A counter that went backwards (its owner was
    restarted) counts nothing: what it hid is then unaccounted.
    """
    ends = {stream.id: (stream.port, stream.to) for stream in streams}
    drops: Counts = {}
    for stream in result.streams:
        port, to = ends.get(stream.id, (f"stream {stream.id}",) * 2)
        drops[port, "tx_queue_full"] = drops.get((port, "tx_queue_full"), 0) + stream.tx_refused
        drops[to, "too_late"] = drops.get((to, "too_late"), 0) + stream.too_late
    for receiver in result.receivers:
        drops[receiver.port, "malformed"] = drops.get((receiver.port, "malformed"), 0) + receiver.malformed
    for key, value in after.items():
        drops[key] = drops.get(key, 0) + value - before.get(key, 0)
    offered = sum(stream.offered for stream in result.streams)
    delivered = sum(stream.delivered for stream in result.streams)
    lost_at = {key: packets for key, packets in drops.items() if packets > 0}
    return Balance(
        intended=sum(stream.intended for stream in result.streams),
        offered=offered,
        delivered=delivered,
        drops=tuple(
            Drop(place=place, reason=reason, packets=packets)
            for (place, reason), packets in sorted(lost_at.items())
        ),
        unaccounted=offered - delivered - sum(lost_at.values()),
    )
