# SPDX-License-Identifier: Apache-2.0
"""Every packet is accounted for: offered and made by functions = delivered + Σ drops by place and reason,
exactly (rule 1 of docs/design/method.md).

Pure arithmetic on two snapshots of the ledger and of the counters outside weir-dp; what each execution area
did is the difference of two ledgers, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weir.lab.execution import TESTER_KINDS
from weir.measure.tester import Counter, Stream
from weir.protocol.ledger import PORT_DROPS, AreaLedger, Ledger, PathLedger, StageLedger
from weir.protocol.traffic_results import TrafficResult
from weir.results.result import AreaLoad, Drop, OffloadLoad, Originated, PathLoad, StageLoad

Counts = dict[tuple[str, str], int]  # (place, reason) → packets since boot


@dataclass(frozen=True)
class Seen:
    """What the ledger and the counters outside said at one time, since boot."""

    drops: Counts = field(default_factory=dict)
    originated: dict[str, int] = field(default_factory=dict)
    """By place: packets that a function made."""
    signals: int = 0
    """Packets that the tester's ports received and did not send, of the kind that functions make."""


# Drops that are the tester's own fault when they happen at one of its ports.
RECEIVER_REASONS = frozenset({"rx_missed", "rx_nombuf"})


@dataclass(frozen=True)
class Balance:
    """The packets of one trial. `offered` + Σ `originated` = `delivered` + `originated_arrived` + Σ `drops` +
    `unaccounted`."""

    intended: int
    offered: int
    delivered: int
    drops: tuple[Drop, ...]
    unaccounted: int  # negative: more packets were delivered or counted lost than were offered or made
    originated: tuple[Originated, ...] = ()
    originated_arrived: int = 0

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
        if area.kind in TESTER_KINDS:
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
        for reason in PORT_DROPS:
            add(port.name, reason, getattr(port, reason))
    for counter in counters:
        if counter.kind == "drop":
            add(counter.place, counter.reason or "unspecified", counter.value)
    return counts


def seen(ledger: Ledger, counters: Sequence[Counter]) -> Seen:
    """All that `balance` asks of one time."""
    originated: dict[str, int] = {}
    for area in ledger.areas:
        for path in area.paths:
            for stage in path.stages:
                if stage.originated:
                    place = f"{area.name}/{path.name}/{stage.nf}"
                    originated[place] = originated.get(place, 0) + stage.originated
    for counter in counters:
        if counter.kind == "originated":
            originated[counter.place] = originated.get(counter.place, 0) + counter.value
    return Seen(counted(ledger, counters), originated, sum(port.signals for port in ledger.ports))


def balance(before: Seen, after: Seen, result: TrafficResult, streams: Sequence[Stream]) -> Balance:
    """What happened between two snapshots around one run of traffic.

    A place that only the second snapshot has counted from 0. A counter that went backwards (its owner was
    restarted) counts nothing: what it hid is then unaccounted.

    Packets that functions made carry nothing of the tester's. Of what arrived there and is none of its own,
    so many of their kind (ARP, ICMP, GTP-U's signalling) as were made, and are in no other place, are taken
    for them. A packet of the tester's that was damaged on its way is of no such kind: it stays unaccounted.
    """
    ends = {stream.id: (stream.port, stream.to) for stream in streams}
    drops: Counts = {}
    for stream in result.streams:
        port, to = ends.get(stream.id, (f"stream {stream.id}",) * 2)
        drops[port, "tx_queue_full"] = drops.get((port, "tx_queue_full"), 0) + stream.tx_refused
        drops[to, "too_late"] = drops.get((to, "too_late"), 0) + stream.too_late
    for receiver in result.receivers:
        drops[receiver.port, "malformed"] = drops.get((receiver.port, "malformed"), 0) + receiver.malformed
    for key, value in after.drops.items():
        drops[key] = drops.get(key, 0) + value - before.drops.get(key, 0)
    made = {place: packets - before.originated.get(place, 0) for place, packets in after.originated.items()}
    originated = tuple(
        Originated(place=place, packets=made[place]) for place in sorted(made) if made[place] > 0
    )
    offered = sum(stream.offered for stream in result.streams)
    delivered = sum(stream.delivered for stream in result.streams)
    lost = _lost(drops)
    in_all = sum(one.packets for one in originated)
    elsewhere = offered + in_all - delivered - sum(one.packets for one in lost)
    arrived = max(0, min(elsewhere, in_all, after.signals - before.signals))
    return Balance(
        intended=sum(stream.intended for stream in result.streams),
        offered=offered,
        delivered=delivered,
        drops=lost,
        unaccounted=elsewhere - arrived,
        originated=originated,
        originated_arrived=arrived,
    )


def lost_between(before: Counts, after: Counts) -> tuple[Drop, ...]:
    """Where, by the counters alone."""
    return _lost({key: value - before.get(key, 0) for key, value in after.items()})


def _lost(drops: Counts) -> tuple[Drop, ...]:
    return tuple(
        Drop(place=place, reason=reason, packets=packets)
        for (place, reason), packets in sorted(drops.items())
        if packets > 0
    )


ROOM_DROPS, REDIRECT_DROPS = "tx_queue_full", "redirect_failed"


def area_loads(before: Ledger, after: Ledger) -> list[AreaLoad]:
    """Of all areas. Both ledgers are of one configuration: it has the same areas in the same order."""
    return [_area(was, area) for was, area in zip(before.areas, after.areas, strict=True)]


def _area(was: AreaLedger, area: AreaLedger) -> AreaLoad:
    return AreaLoad(
        name=area.name,
        core=area.core,
        kind=area.kind,
        busy_cycles=area.busy_cycles - was.busy_cycles,
        idle_cycles=area.idle_cycles - was.idle_cycles,
        long_polls=area.long_polls - was.long_polls,
        long_cycles=area.long_cycles - was.long_cycles,
        paths=[_path(*both) for both in zip(was.paths, area.paths, strict=True)],
    )


def _path(was: PathLedger, path: PathLedger) -> PathLoad:
    return PathLoad(
        name=path.name,
        inputs=list(path.inputs),
        outputs=list(path.outputs),
        packets_in=path.rx_packets - was.rx_packets,
        packets_out=path.tx_packets - was.tx_packets,
        dropped=sum(path.drops.get(one, 0) - was.drops.get(one, 0) for one in (ROOM_DROPS, REDIRECT_DROPS)),
        fastpath_cycles=_followed(path) - _followed(was),
        offload=_below(was, path),
        stages=[_stage(*both) for both in zip(was.stages, path.stages, strict=True)],
    )


def _below(was: PathLedger, path: PathLedger) -> OffloadLoad | None:
    if path.offload is None or was.offload is None:
        return None
    before, now = was.offload, path.offload
    return OffloadLoad(
        kind=now.kind,
        packets=now.packets - before.packets,
        l2_bytes=now.bytes_ - before.bytes_,
        flows=now.flows,
        put=now.put - before.put,
        revoked=now.revoked - before.revoked,
        refused={why: flows - before.refused.get(why, 0) for why, flows in now.refused.items()},
    )


def _followed(path: PathLedger) -> int:
    return path.fastpath.cycles if path.fastpath is not None else 0


def _stage(was: StageLedger, stage: StageLedger) -> StageLoad:
    return StageLoad(
        nf=stage.nf,
        packets_in=stage.packets_in - was.packets_in,
        cycles=stage.cycles - was.cycles,
        long_cycles=stage.long_cycles - was.long_cycles,
        dropped=sum(stage.drops.values()) - sum(was.drops.values()),
        originated=stage.originated - was.originated,
    )
