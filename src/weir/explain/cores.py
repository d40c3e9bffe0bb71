# SPDX-License-Identifier: Apache-2.0
"""Where the cores' time went in a trial: by core, area and part of an area, in cycles a packet.

Cycles a packet are of packets that came to the areas that do the same work side by side (workers of one
dispatcher, say), so that a core's sum is what it spends on each packet of the chain that reaches it, and
f / sum is the rate at which it is full (docs/design/model.md: rate = min over cores of f / Σ cost). Those
that were offloaded, and cost an area nothing, are among them: the rate is of all, with as large a share
offloaded.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from weir.base.si import US_PER_S
from weir.lab.execution import KERNEL_KINDS, SWITCH_THREAD_KINDS, TESTER_KINDS
from weir.results.result import AreaLoad, PollingLoad, Trial
from weir.results.slices import HOST, SLOWED, takers

FULL_SHARE = 0.9
"""Busy for more than this share of the time a core is full: what is left are polls between two bursts."""

_SIDE_BY_SIDE = re.compile(r"\.(worker|state_core|rewrite_worker|collector)(\d+|\.\w+)?$")

CostKind = Literal["stage", "fastpath", "rest", "switch", "kernel"]


@dataclass(frozen=True)
class CostItem:
    """Something that an area does."""

    area: str
    kind: CostKind
    """rest: receiving, sending, and what an area does beside its stages. switch, kernel: a whole area outside
    weir-dp."""
    nf: str | None
    cycles: float
    """A packet."""
    tester: bool
    inside: tuple[tuple[str, float], ...] = ()
    """What it consists of, as far as that was sampled, in cycles a packet."""
    long_cycles: int = 0
    """Of a stage, in all: in batches that took longer than a stall."""

    def name(self) -> str:
        """ "f1/nat", "f1 (ports)", "generator.left", "pmd.1", "softirq.0"."""
        if self.kind in ("switch", "kernel"):
            return self.area
        if self.kind == "stage":
            return f"{self.area}/{self.nf}"
        if self.kind == "fastpath":
            return f"{self.area}/fast path"
        return self.area if self.tester else f"{self.area} (ports)"


@dataclass(frozen=True)
class Core:
    """One core in one trial."""

    number: int
    busy: float
    """Share of the time while packets were sent, 0 to 1."""
    parts: tuple[CostItem, ...]
    """Dearest first."""
    long_s: float
    """In polls longer than a stall that were its areas' own."""

    @property
    def cycles(self) -> float:
        """Of all its parts, a packet."""
        return sum(part.cycles for part in self.parts)

    @property
    def full(self) -> bool:
        return self.busy >= FULL_SHARE

    def dearest(self) -> CostItem:
        """The dearest part; one of the tester only where the tester takes more than all functions."""
        tester = sum(part.cycles for part in self.parts if part.tester)
        of_tester = 2 * tester > self.cycles
        return next((part for part in self.parts if part.tester == of_tester), self.parts[0])


def cores(trial: Trial, hz: float) -> list[Core]:
    """Those that ran areas; `hz` is the counter's. Areas that no packet reached cost nothing."""
    packets = _packets(trial)
    found: dict[int, list[AreaLoad]] = defaultdict(list)
    for area in trial.areas:
        if area.kind != "guest":  # one that polls runs all the time, whether it has work or not
            found[area.core].append(area)
    available = {number: _had_s(trial, number, areas) * hz for number, areas in found.items()}
    return [
        Core(
            number=number,
            busy=min(1.0, sum(area.own_cycles for area in areas) / available[number])
            if available[number]
            else 0.0,
            parts=tuple(sorted(_parts(areas, packets), key=lambda part: -part.cycles)),
            long_s=sum(area.long_cycles for area in areas) / hz,
        )
        for number, areas in sorted(found.items())
    ]


def _had_s(trial: Trial, core: int, areas: Sequence[AreaLoad]) -> float:
    """The time that its areas could have. A switch's threads and the kernel do not get what others have of
    it, and their time is counted without that, as a polling loop's is not."""
    if not all(area.kind in _COUNTED_WITHOUT for area in areas):
        return trial.duration_s
    return max(0.0, trial.duration_s - others_s(trial, core))


def others_s(trial: Trial, core: int) -> float:
    """For how long others had a core, as far as was recorded who, or its polling thread waited for it."""
    had_us = sum(
        one.us
        for (number, by), one in takers(trial.left_out, trial.duration_s * US_PER_S).items()
        if number == core and by not in (HOST, SLOWED)
    )
    return max(had_us / US_PER_S, waited_share(trial, core) * trial.duration_s)


def waited_share(trial: Trial, core: int) -> float:
    """Of the time that the switch's polling thread of a core looked at: others had the core, and nothing that
    works for the chain; 0 without such a thread, or beside a loop of weir-dp's, which takes all that it gets.
    """
    areas = [area for area in trial.areas if area.core == core]
    polling = ((area, area.polling) for area in areas if area.polling is not None)
    if not without_loop(trial, core):
        return 0.0
    return max((_waited(area, counted, areas) for area, counted in polling), default=0.0)


def _waited(area: AreaLoad, polling: PollingLoad, areas: Iterable[AreaLoad]) -> float:
    looked = area.busy_cycles + area.idle_cycles + polling.waited_cycles
    beside = sum(other.own_cycles for other in areas if other is not area) - area.kernel_cycles
    return max(0, polling.waited_cycles - max(0, beside)) / max(1, looked)


def without_loop(trial: Trial, core: int) -> bool:
    """Whether only a switch's threads and the kernel work on a core, so that nothing there notices gaps."""
    return {area.kind for area in trial.areas if area.core == core} <= _COUNTED_WITHOUT | {"guest"}


_COUNTED_WITHOUT = SWITCH_THREAD_KINDS | KERNEL_KINDS


def _level(area: AreaLoad) -> str:
    """What areas that share the packets of one step have in common."""
    if area.kind in TESTER_KINDS | SWITCH_THREAD_KINDS | KERNEL_KINDS:
        return area.kind
    return _SIDE_BY_SIDE.sub(r".\1", area.name)


def _packets(trial: Trial) -> Mapping[str, int]:
    packets: dict[str, int] = defaultdict(int)
    for area in trial.areas:
        packets[_level(area)] += area.packets
    # Switch and kernel meet a packet at every network of the chain; what they spend is for those delivered.
    through = dict.fromkeys(SWITCH_THREAD_KINDS | KERNEL_KINDS | {"receiver"}, trial.delivered)
    return packets | through | dict.fromkeys(("generator", "clients", "servers"), trial.offered)


def _parts(areas: Sequence[AreaLoad], packets: Mapping[str, int]) -> Iterable[CostItem]:
    for area in areas:
        count = packets[_level(area)]
        if not count or not area.busy_cycles:
            continue
        if area.kind in SWITCH_THREAD_KINDS | KERNEL_KINDS:
            yield _outside(area, count)
            continue
        tester = area.kind in TESTER_KINDS
        stages: dict[str, int] = defaultdict(int)
        long: dict[str, int] = defaultdict(int)
        for path in area.paths:
            for stage in path.stages:
                stages[stage.nf] += stage.cycles
                long[stage.nf] += stage.long_cycles
        followed = sum(path.fastpath_cycles for path in area.paths)
        rest = area.own_cycles - followed - sum(stages.values())
        for nf, cycles in stages.items():
            yield CostItem(area.name, "stage", nf, cycles / count, tester, long_cycles=long[nf])
        if followed:
            yield CostItem(area.name, "fastpath", None, followed / count, tester)
        yield CostItem(area.name, "rest", None, max(0, rest) / count, tester)


def _outside(area: AreaLoad, count: int) -> CostItem:
    inside = [(stage.nf, stage.cycles / count) for path in area.paths for stage in path.stages]
    kind: CostKind = "switch" if area.kind in SWITCH_THREAD_KINDS else "kernel"
    return CostItem(area.name, kind, None, area.own_cycles / count, tester=False, inside=tuple(inside))
