# SPDX-License-Identifier: Apache-2.0
"""Costs of execution areas from the ledger: what a trial for the cost model measured.

Of the windows given the calmest are used, and of these the middle half, as the host still takes the cores
away for moments. What their cores were slowed by is corrected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weir.lab.execution import FULL_BURST, KERNEL_KINDS
from weir.measure.core_speed import Slowing
from weir.measure.windows import CALM, Window, entered, received, stage_drops
from weir.protocol.ledger import AreaLedger
from weir.results.result import AreaLoad

USED_MIN = 8
"""Windows; fewer say little."""
CALMEST = 16
"""So many are used though they may not be calm."""


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
    """That its core handled: none that were offloaded."""
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
    bursts: int = 0
    """Polls that found packets; 0 outside weir-dp."""

    def fill(self, share: float) -> float:
        """Share of a full burst that such a poll found on a path. `share`: a tester's area's, of the packets
        that came back to it; others count their own.

        An area polls all of its paths at once, and the ledger counts those polls: where several have packets,
        bursts are taken to be as long on each, and of one packet at least.
        """
        if not self.bursts or not self.packets:
            return 1.0
        active = sum(path.packets > 0 for path in self.paths) or 1
        packets = self.packets if self.paths else self.packets * share
        return min(1.0, max(1.0, packets / self.bursts / active) / FULL_BURST)


@dataclass(frozen=True)
class Costs:
    """What the used windows of one trial measured together."""

    pps: float
    """Received by the tester, as if no core had been slowed."""
    lost_in_functions: float
    """Share of the packets that functions dropped."""
    areas: tuple[AreaCost, ...]
    beside: tuple[AreaCost, ...] = ()
    """Outside weir-dp; all of their cycles are `rest_cycles`."""
    slowed: float = 1.0
    """How many times `pps` is what was received."""

    def received_pps(self) -> float:
        """By the tester, on cores as they were."""
        return self.pps / self.slowed


def costs(series: Sequence[Window], slowing: Slowing | None = None) -> Costs:
    """Of these windows, which are of one set-up, as if no core had been slowed. ValueError without any that
    packets came through."""
    slowing = slowing or Slowing()
    used = _middle(calmest([one for one in series if one.pps() > 0], slowing), slowing)
    if not used:
        raise ValueError("no packet came back to the tester")
    undisturbed = sum(_ticks(one) * one.pps() / one.undisturbed_pps(slowing) for one in used)
    passed = sum(_ticks(one) for one in used)
    came_back = sum(received(one.after) - received(one.before) for one in used)
    sent = sum(entered(one.after) - entered(one.before) for one in used)
    return Costs(
        pps=came_back * used[0].after.tsc_hz / undisturbed,
        lost_in_functions=sum(stage_drops(one.before, one.after) for one in used) / max(1, sent),
        areas=tuple(_areas(used, slowing, came_back)),
        beside=(*_beside(used, slowing), *_softirqs(series)),
        slowed=passed / undisturbed,
    )


def calmest(series: Sequence[Window], slowing: Slowing) -> list[Window]:
    """Those in which the cores that limit were slowed least: all that were calm, and some in any case."""
    ranked = sorted(series, key=lambda one: slowing.slowness(one.piece_cycles()))
    calm = sum(slowing.slowness(one.piece_cycles()) <= CALM for one in ranked)
    return ranked[: max(CALMEST, calm)]


def _middle(series: Sequence[Window], slowing: Slowing) -> list[Window]:
    """The middle half by corrected rate."""
    ranked = sorted(series, key=lambda one: one.undisturbed_pps(slowing))
    outer = len(ranked) // 4
    return ranked[outer : len(ranked) - outer]


def _ticks(window: Window) -> int:
    return window.after.tsc - window.before.tsc


def _areas(used: Sequence[Window], slowing: Slowing, came_back: int) -> Iterator[AreaCost]:
    ticks = sum(map(_ticks, used))
    for index, first in enumerate(used[0].before.areas):
        spans = [
            _Span(
                one.before.areas[index],
                one.after.areas[index],
                slowing.times(one.piece_cycles_by_core.get(first.core, math.inf)),
            )
            for one in used
        ]
        busy = sum((span.after.busy_cycles - span.before.busy_cycles) / span.slowed for span in spans)
        idle = sum(span.after.idle_cycles - span.before.idle_cycles for span in spans)
        paths = tuple(_path(spans, at) for at in range(len(first.paths)))
        stages = sum(path.packets * stage.cycles for path in paths for stage in path.stages)
        packets = sum(path.packets for path in paths) if first.paths else came_back
        yield AreaCost(
            name=first.name,
            packets=packets,
            rest_cycles=(busy - stages) / packets if packets else 0.0,
            idle_share=idle / ticks,
            paths=paths,
            bursts=max(0, sum(_bursts(span.after) - _bursts(span.before) for span in spans)),
        )


def _bursts(area: AreaLedger) -> int:
    return area.polls - area.empty_polls


@dataclass(frozen=True)
class _Span:
    """One area in one window."""

    before: AreaLedger
    after: AreaLedger
    slowed: float
    """How many times as many cycles its packets cost as on a core at its best."""


def _beside(used: Sequence[Window], slowing: Slowing) -> Iterator[AreaCost]:
    """Threads of a switch."""
    ticks = sum(map(_ticks, used))
    loads: dict[str, list[tuple[AreaLoad, Window]]] = {}
    for window in used:
        for area in window.beside:
            if area.kind not in KERNEL_KINDS:
                loads.setdefault(area.name, []).append((area, window))
    for name, found in loads.items():
        packets = sum(load.packets for load, _ in found)
        busy = sum(
            load.busy_cycles / slowing.times(window.piece_cycles_by_core.get(load.core, math.inf))
            for load, window in found
        )
        ran = sum(_ticks(window) * (1 - window.idle_beside(load)) for load, window in found)
        yield AreaCost(
            name=name,
            packets=packets,
            rest_cycles=busy / packets if packets else 0.0,
            idle_share=1 - ran / ticks,
            paths=(),
        )


def _softirqs(series: Sequence[Window]) -> Iterator[AreaCost]:
    """Of all windows, since the kernel counts this time by its clock ticks: some have none."""
    hz = series[0].after.tsc_hz
    for core in dict.fromkeys(load.core for window in series for load in window.kernel):
        found = [load for window in series for load in window.kernel if load.core == core]
        frames, spent_s = sum(load.frames for load in found), sum(load.softirq_s for load in found)
        yield AreaCost(
            name=f"softirq.{core}",
            packets=frames,
            rest_cycles=spent_s * hz / frames if frames else 0.0,
            idle_share=0.0,
            paths=(),
        )


def _path(spans: Sequence[_Span], at: int) -> PathCost:
    packets = sum(span.after.paths[at].handled - span.before.paths[at].handled for span in spans)
    stages = []
    for number, stage in enumerate(spans[0].before.paths[at].stages):
        cycles = sum(
            (span.after.paths[at].stages[number].cycles - span.before.paths[at].stages[number].cycles)
            / span.slowed
            for span in spans
        )
        stages.append(StageCost(stage.nf, cycles / packets if packets else 0.0))
    return PathCost(packets, tuple(stages))
