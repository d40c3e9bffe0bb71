# SPDX-License-Identifier: Apache-2.0
"""Costs of execution areas from the ledger: what a trial for the cost model measured.

While the tester sends as fast as it can, ledgers are read again and again: two of them, and how fast the
cores were before and after, are a *window*. A virtual core is often one of two threads of a physical core,
and a hypervisor moves it from one to another: a window is *clean* in which neither was seen. Of clean windows
the fastest are used, as the host still takes the cores away for moments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from weir.dataplane.messages import AreaLedger, Ledger, PathLedger

WINDOWS = 16
WINDOW_S = 0.04
USED_SHARE = 0.25
USED_MIN = 4
"""Windows; fewer say little."""
PACE_SHARE = 0.06
"""A core that needs so much more time for the same work than at its best is slowed by somebody else."""
NEAR = 0.2
"""Distances of cores that differ by less than this share are the same."""
SETTLING_S = 0.1
SETTLED_SHARE = 0.03
"""Rates of two neighbouring windows that differ by less are of a chain whose flows are all known."""
SETTLING_MAX = 60
_TESTER = "tester."


class Clocked(Protocol):
    """weir-dp while it runs."""

    def ledger(self) -> Ledger: ...


@dataclass(frozen=True)
class HostPace:
    """The cores of a set-up at one moment, in cycles of the time-stamp counter."""

    pace_cycles: tuple[float, ...]
    """Of each core, for the same piece of work."""
    distance_cycles: float | None
    """To read what another of them has; None on one core."""


@dataclass(frozen=True)
class Window:
    """Some time in which nothing was changed."""

    before: Ledger
    after: Ledger
    hosts: tuple[HostPace, HostPace]
    """As it began and as it ended."""

    def slowest(self) -> float:
        """Pace of the slowest core, before and after, in cycles."""
        return max(pace for host in self.hosts for pace in host.pace_cycles)

    def fastest(self) -> float:
        """Pace of the fastest core, before or after, in cycles."""
        return min(pace for host in self.hosts for pace in host.pace_cycles)

    def distance_cycles(self) -> float | None:
        """Of the cores, the mean of before and after; None on one core."""
        found = [host.distance_cycles for host in self.hosts if host.distance_cycles is not None]
        return sum(found) / len(found) if found else None

    def clean(self, pace_cycles: float) -> bool:
        """Whether all cores had their best pace, which is given, and stayed where they were."""
        distances = [host.distance_cycles for host in self.hosts if host.distance_cycles is not None]
        stayed = not distances or max(distances) <= (1 + NEAR) * min(distances)
        return stayed and self.slowest() <= (1 + PACE_SHARE) * pace_cycles

    def pps(self) -> float:
        """Packets a second that came back to the tester."""
        return delivered_pps(self.before, self.after)


@dataclass(frozen=True)
class StageCost:
    """One stage on one path."""

    nf: str
    cycles: float
    """A packet that came to it."""


@dataclass(frozen=True)
class PathCost:
    """One path of an area; stages in their order."""

    packets: int
    stages: tuple[StageCost, ...]


@dataclass(frozen=True)
class AreaCost:
    """One area. `rest_cycles`: without its stages, a packet that came in."""

    name: str
    packets: int
    rest_cycles: float
    idle_share: float
    """Of its core's time, spent in polls that found nothing."""
    paths: tuple[PathCost, ...]


@dataclass(frozen=True)
class Costs:
    """What the used windows of one trial measured together."""

    pps: float
    """Received by the tester."""
    lost_in_functions: float
    """Share of the packets that functions dropped."""
    areas: tuple[AreaCost, ...]


def settle(tester: Clocked, sleep: Callable[[float], None]) -> bool:
    """Waits until every flow is known and rates stand still; False if they never do."""
    before, earlier_pps, earlier_lost = tester.ledger(), 0.0, 1
    for _ in range(SETTLING_MAX):
        sleep(SETTLING_S)
        after = tester.ledger()
        now_pps, lost = delivered_pps(before, after), _dropped(before, after)
        still = abs(now_pps - earlier_pps) <= SETTLED_SHARE * max(now_pps, earlier_pps)
        if still and lost == earlier_lost == 0 and now_pps:
            return True
        before, earlier_pps, earlier_lost = after, now_pps, lost
    return False


def windows(
    tester: Clocked, sleep: Callable[[float], None], look: Callable[[], HostPace]
) -> Iterator[Window]:
    """As many as a visit has. `look`: says how fast the cores are now."""
    host = look()
    for _ in range(WINDOWS):
        before = tester.ledger()
        sleep(WINDOW_S)
        after = tester.ledger()
        earlier, host = host, look()
        yield Window(before, after, (earlier, host))


def delivered_pps(before: Ledger, after: Ledger) -> float:
    """Packets a second that came back to the tester."""
    packets = _received(after) - _received(before)
    return packets * after.tsc_hz / (after.tsc - before.tsc)


def costs(series: Sequence[Window]) -> Costs:
    """Of the fastest quarter of these windows, which are of one set-up. ValueError without any that packets
    came through."""
    rated = sorted(((window.pps(), index) for index, window in enumerate(series)), reverse=True)
    count = max(USED_MIN, round(len(rated) * USED_SHARE))
    used = [(series[index].before, series[index].after) for rate, index in rated[:count] if rate > 0]
    if not used:
        raise ValueError("no packet came back to the tester")
    ticks = sum(after.tsc - before.tsc for before, after in used)
    received = sum(_received(after) - _received(before) for before, after in used)
    entered = sum(_entered(after) - _entered(before) for before, after in used)
    return Costs(
        pps=received * used[0][1].tsc_hz / ticks,
        lost_in_functions=sum(_dropped(*pair) for pair in used) / max(1, entered),
        areas=tuple(_areas(used, ticks, received)),
    )


def _received(ledger: Ledger) -> int:
    return sum(port.rx_packets for port in ledger.ports if port.name.startswith(_TESTER))


def _entered(ledger: Ledger) -> int:
    return sum(port.tx_packets for port in ledger.ports if port.name.startswith(_TESTER))


def _dropped(before: Ledger, after: Ledger) -> int:
    """Packets that stages dropped: not those that found a queue full."""
    return sum(map(_stage_drops, after.areas)) - sum(map(_stage_drops, before.areas))


def _stage_drops(area: AreaLedger) -> int:
    return sum(sum(stage.drops.values()) for path in area.paths for stage in path.stages)


def _areas(used: Sequence[tuple[Ledger, Ledger]], ticks: int, received: int) -> Iterator[AreaCost]:
    for index, first in enumerate(used[0][0].areas):
        pairs = [(before.areas[index], after.areas[index]) for before, after in used]
        busy = sum(after.busy_cycles - before.busy_cycles for before, after in pairs)
        idle = sum(after.idle_cycles - before.idle_cycles for before, after in pairs)
        paths = tuple(
            _path([(before.paths[at], after.paths[at]) for before, after in pairs])
            for at in range(len(first.paths))
        )
        stages = sum(path.packets * stage.cycles for path in paths for stage in path.stages)
        packets = sum(path.packets for path in paths) if first.paths else received
        yield AreaCost(
            name=first.name,
            packets=packets,
            rest_cycles=(busy - stages) / packets if packets else 0.0,
            idle_share=idle / ticks,
            paths=paths,
        )


def _path(pairs: Sequence[tuple[PathLedger, PathLedger]]) -> PathCost:
    packets = sum(after.rx_packets - before.rx_packets for before, after in pairs)
    stages = []
    for at, stage in enumerate(pairs[0][0].stages):
        cycles = sum(after.stages[at].cycles - before.stages[at].cycles for before, after in pairs)
        stages.append(StageCost(stage.nf, cycles / packets if packets else 0.0))
    return PathCost(packets, tuple(stages))
