# SPDX-License-Identifier: Apache-2.0
"""Looks at a run that never was: as weir-dp and the kernel would have told it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from weir.fabric.outside.taken import Unrecorded
from weir.measure.tester import Stream
from weir.procedures.soak.intervals import Snapshot
from weir.procedures.soak.recorder import Recorder
from weir.protocol.traffic_results import (
    Gap,
    LatencyInterval,
    StallCount,
    StreamInterval,
    TrafficInterval,
    VariationInterval,
)
from weir.results.soak import PoolFigures, ProcessFigures, Soak
from weir.results.trial import Trial

START_S = 1_800_000_000.0
STREAMS = (
    Stream(0, "left-to-right", "tester.left", "tester.right"),
    Stream(1, "right-to-left", "tester.right", "tester.left"),
)
POOLS = [PoolFigures(name="ports", size=1000, free=900)]
KINDS = {"f1": "chain", "generator.left": "generator"}


def new_soak(**changes: object) -> Soak:
    """Ten seconds a look, two minutes."""
    fields: dict[str, object] = {
        "load": "1kpps", "load_pps": 1000.0, "duration_s": 120.0, "interval_s": 10.0, "settle_s": 0.0,
        "started_at": "2027-01-15T08:00:00.000+00:00",
    }  # fmt: skip
    return Soak.model_validate(fields | changes)


@dataclass(frozen=True)
class TakenSpan:
    """Somebody's time on a core, by the run's clock."""

    core: int
    from_raw_ns: int
    to_raw_ns: int
    by: str
    takes_part: bool = False


@dataclass
class Run:
    """Counters that grow; `look` tells what they are."""

    recorder: Recorder
    at_s: float = 0.0
    packets: int = 0
    lost: int = 0
    delay_ns: dict[float, int] = field(default_factory=dict)
    rss_kib: int = 50_000
    dropped: int = 0
    held: int = 0
    """Packets that a function has at each look: no drops."""
    reordered: int = 0

    def begin(self, wall_s: float = START_S) -> None:
        """A new run of weir-dp: its counters are 0."""
        self.wall_s, self.at_s, self.packets, self.lost, self.delay_ns = wall_s, 0.0, 0, 0, {}
        self.recorder.begin(wall_s, {("f1", "no_room"): self.dropped}, POOLS)

    def pass_by(
        self,
        *,
        lost: int = 0,
        delay_us: float = 10.0,
        losses: Sequence[tuple[float, int]] = (),
        gaps: Sequence[Gap] = (),
        under_way: int = 0,
        dropped: int = 0,
        reordered: int = 0,
        taken: Sequence[TakenSpan] = (),
        unrecorded: Sequence[Unrecorded] = (),
    ) -> None:
        """Ten seconds with 1000 packets a stream; `losses` of stream 0 as (seconds of the run, packets)."""
        self.at_s += 10
        self.packets += 1000
        self.lost += lost
        self.dropped += dropped
        self.reordered += reordered
        low = float(int(delay_us)) * 1e3
        self.delay_ns[low] = self.delay_ns.get(low, 0) + 1000 - lost
        self.recorder.add(
            replace(self._look(delay_us, losses, gaps, under_way), taken=taken, unrecorded=unrecorded)
        )

    def _look(
        self, delay_us: float, losses: Sequence[tuple[float, int]], gaps: Sequence[Gap], under_way: int
    ) -> Snapshot:
        streams = tuple(
            StreamInterval(
                id=stream.id,
                offered=self.packets,
                tx_refused=0,
                delivered=self.packets - self.lost * (stream.id == 0) - under_way,
                missing=self.lost * (stream.id == 0),
                reordered=self.reordered * (stream.id == 0),
                latency=LatencyInterval(
                    count=sum(self.delay_ns.values()),
                    mean_ns=sum((low + 500) * packets for low, packets in self.delay_ns.items())
                    / sum(self.delay_ns.values()),
                    min_ns=delay_us * 1e3,
                    max_ns=delay_us * 1e3 + 900,
                ),
                variation=VariationInterval(
                    ipdv_min_ns=-5,
                    ipdv_max_ns=5,
                    jitter_count=self.packets,
                    jitter_mean_ns=3,
                    jitter_max_ns=9,
                ),
                losses=tuple((round(at_s * 1e9), packets) for at_s, packets in losses if stream.id == 0),
            )
            for stream in STREAMS
        )
        histogram = {(low, low + 1000): packets for low, packets in self.delay_ns.items()}
        return Snapshot(
            wall_s=self.wall_s + self.at_s,
            traffic=TrafficInterval(
                run=1,
                now_ns=round(self.at_s * 1e9),
                now_raw_ns=round(self.at_s * 1e9),
                streams=streams,
                stalls=(
                    StallCount(core=1, count=len(gaps), total_us=sum(gap.us for gap in gaps), longest_us=0),
                ),
                gaps=tuple(gaps),
            ),
            latency={0: histogram, 1: histogram},
            ipdv={0: {(0.0, 10.0): self.packets}, 1: {(0.0, 10.0): self.packets}},
            counts={("f1", "no_room"): self.dropped, ("f1", "held"): self.held},
            kinds=KINDS,
            processes=[
                ProcessFigures(
                    name="weir-dp",
                    pid=7,
                    rss_kib=self.rss_kib,
                    hugepages_kib=0,
                    cpu_s=2 * self.at_s,
                    threads=3,
                    voluntary_switches=0,
                    involuntary_switches=0,
                )
            ],
            pools=POOLS,
        )


def run(**changes: object) -> Run:
    """A run that has begun, of a new soak."""
    made = Run(Recorder(new_soak(**changes), STREAMS))
    made.begin()
    return made


def closed(offered: int, delivered: int, **changes: object) -> Trial:
    """The ledger of a segment."""
    fields: dict[str, object] = {
        "purpose": "soak", "intended_load_pps": 1000.0, "intended_duration_s": 10.0, "duration_s": 10.0,
        "intended": offered, "offered": offered, "delivered": delivered, "loss_ratio": 0.0, "valid": True,
    }  # fmt: skip
    return Trial.model_validate(fields | changes)
