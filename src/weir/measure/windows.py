# SPDX-License-Identifier: Apache-2.0
"""Windows: what happened between two ledgers while the tester sends as fast as it can, and whether the host
let it.

A virtual core is often one of two threads of a physical core, and a hypervisor moves it from one to another.
weir-dp's loops time a piece of work again and again, so what happens within a window is seen; the distance of
the cores is measured before and after. A window is *usable* in which no core was moved, and those that limit
were not slowed by much: what little there was can be corrected.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from weir.lab.execution import KERNEL_KINDS, TESTER_KINDS
from weir.measure.core_speed import Slowing, core_speeds
from weir.measure.outside import NOTHING, Outside
from weir.protocol.ledger import AreaLedger, Ledger
from weir.results.result import AreaLoad, CoreLoad

WINDOW_S = 0.02
CALM_WANTED = 10
"""Calm windows a visit."""
WINDOWS_MOST = 64
"""A visit: on a host that is never quiet."""
BESIDE = 2
"""So many times as long, and fewer, are windows in which something is looked at beside weir-dp, which takes
some time at both ends."""
LIGHT_SHARES = (0.3, 0.6)
"""Of the rate that the set-up carries: loads at which bursts are short."""
LIGHT_WINDOWS = 5
"""At each of them, a visit."""
LIGHT_USABLE = 2.0
"""At light loads a window is used in which no core was slowed by more: what short bursts cost need not be
known as exactly."""
LIGHT_USED, LIGHT_USED_MIN = 8, 4
"""Of these windows so many, the calmest; none with fewer."""
CALM = 1.1
"""A core that takes this many times as long for the same work as at its best is hardly slowed."""
USABLE = 1.35
"""A core that takes longer is slowed by too much to be corrected."""
PIECES_MIN = 30
"""Timed pieces of work that tell how fast a core was."""
NEAR = 0.35
"""Distances of cores that differ by less than this share are the same."""
FULL_IDLE_SHARE = 0.08
"""A core that finds less than this to be idle is full: one that another core feeds never is quite."""
WAITED_MOST = 0.15
"""Share of a window's time that others, this process among them, may have had a polling thread's core."""
SETTLING_S = 0.1
SETTLED_SHARE = 0.03
"""Rates of two neighbouring windows that differ by less are of a chain whose flows are all known."""
SETTLING_MAX = 60
_TESTER = "tester."
SWITCH_QUEUE = "switch:"
"""Before the port's name: where packets wait for a switch."""


class Clocked(Protocol):
    """weir-dp while it runs."""

    def ledger(self) -> Ledger: ...


@dataclass(frozen=True)
class Probe:
    """What weir-lean finds of cores at one moment."""

    distance_cycles: float
    """To read on the first what the second has."""
    piece_cycles_by_core: Mapping[int, float]
    """Cycles of a piece of work, by core, while both are at it."""


@dataclass(frozen=True)
class Window:
    """Some time in which nothing was changed."""

    before: Ledger
    after: Ledger
    distances_cycles: tuple[float, ...] = ()
    """To read what another core has, before and after; none on one core."""
    beside: tuple[AreaLoad, ...] = ()
    """Areas outside weir-dp."""
    kernel: tuple[CoreLoad, ...] = ()
    """The kernel's time on the cores."""
    probed_cycles: Mapping[int, float] = field(default_factory=dict)
    """By core, the mean of before and after."""

    @cached_property
    def piece_cycles_by_core(self) -> Mapping[int, float]:
        """Of each core the mean cycles of a piece of work; infinite where hardly any was timed. Of a switch's
        core, on which no loop of weir-dp times any, as it was before and after."""
        timed = {speed.core: speed for speed in core_speeds(self.before, self.after)}
        return dict(self.probed_cycles) | {
            core.core: timed[core.core].cycles / timed[core.core].pieces
            if core.core in timed and timed[core.core].pieces >= PIECES_MIN
            else math.inf
            for core in self.after.cores
        }

    def distance_cycles(self) -> float | None:
        """Of the cores, the mean of before and after; None on one core."""
        return sum(self.distances_cycles) / len(self.distances_cycles) if self.distances_cycles else None

    def idle(self) -> dict[int, float]:
        """Share of each core's time in which its areas found nothing."""
        ticks = self.after.tsc - self.before.tsc
        found: dict[int, float] = {}
        for before, after in zip(self.before.areas, self.after.areas, strict=True):
            idle = (after.idle_cycles - before.idle_cycles) / ticks
            found[after.core] = found.get(after.core, 0.0) + idle
        for area in self.beside:
            if area.kind not in KERNEL_KINDS:
                found[area.core] = found.get(area.core, 0.0) + self.idle_beside(area)
        return found

    def idle_beside(self, area: AreaLoad) -> float:
        """Share of its core's time in which a thread of a switch found nothing. A polling one was looked at
        for a little longer, while reading kept weir-dp from its cores: so by what it was sent then."""
        ticks = self.after.tsc - self.before.tsc
        if area.polling is None:
            return max(0.0, 1 - area.busy_cycles / ticks)
        looked = area.busy_cycles + area.idle_cycles + area.polling.waited_cycles
        busy = area.busy_cycles / max(1, area.packets) * self._sent(area) / ticks
        return max(0.0, 1 - busy - area.polling.waited_cycles / max(1, looked))

    def _sent(self, area: AreaLoad) -> int:
        """Packets that weir-dp gave to a switch's thread."""
        names = {entry.removeprefix(SWITCH_QUEUE) for path in area.paths for entry in path.inputs}
        ports = zip(self.before.ports, self.after.ports, strict=True)
        return sum(now.tx_packets - was.tx_packets for was, now in ports if now.name in names)

    def waited(self) -> float:
        """Share of the time in which others had the core of a switch's polling thread."""
        polling = [(area, area.polling) for area in self.beside if area.polling is not None]
        return max(
            (
                one.waited_cycles / max(1, area.busy_cycles + area.idle_cycles + one.waited_cycles)
                for area, one in polling
            ),
            default=0.0,
        )

    def limiting(self) -> frozenset[int]:
        """The cores that limit."""
        return limiting(self.idle(), self.testers())

    def testers(self) -> frozenset[int]:
        """The tester's cores."""
        return frozenset(area.core for area in self.after.areas if area.kind in TESTER_KINDS)

    def stayed(self) -> bool:
        """Whether the cores stayed where they were, and their threads on them."""
        found = self.distances_cycles
        return self.waited() <= WAITED_MOST and (not found or max(found) <= (1 + NEAR) * min(found))

    def piece_cycles(self) -> float:
        """Of the slowest core that limits; of all, where nobody timed that one."""
        slowest = max(self.piece_cycles_by_core.values(), default=math.inf)
        return max(
            (
                self.piece_cycles_by_core[core]
                for core in self.limiting()
                if core in self.piece_cycles_by_core
            ),
            default=slowest,
        )

    def undisturbed_pps(self, slowing: Slowing) -> float:
        """What `pps` would be had no core been slowed: as much more as the cores that limit were, where they
        are timed, but no more than other cores of functions could carry."""
        piece_cycles, idle, full = self.piece_cycles_by_core, self.idle(), self.limiting()
        slowed = max(
            (slowing.times(piece_cycles[core]) for core in full if core in piece_cycles), default=1.0
        )
        others = (core for core in idle if core in piece_cycles and core not in full | self.testers())
        rest = (slowing.times(piece_cycles[core]) / max(1e-6, 1 - idle[core]) for core in others)
        return self.pps() * max(1.0, min(slowed, min(rest, default=slowed)))

    def pps(self) -> float:
        """Packets a second that came back to the tester."""
        return delivered_pps(self.before, self.after)


def limiting(idle: Mapping[int, float], testers: Collection[int]) -> frozenset[int]:
    """The cores that limit, of those with these shares of idle time: functions' cores that are full. Without
    any, the tester's, which is full always: who generates finds work whether or not a queue has room."""
    full = {core for core, share in idle.items() if core not in testers and share < FULL_IDLE_SHARE}
    return frozenset(full or testers)


def settle(tester: Clocked, sleep: Callable[[float], None]) -> bool:
    """Waits until every flow is known and rates stand still; False if they never do."""
    before, earlier_pps, earlier_lost = tester.ledger(), 0.0, 1
    for _ in range(SETTLING_MAX):
        sleep(SETTLING_S)
        after = tester.ledger()
        now_pps, lost = delivered_pps(before, after), stage_drops(before, after)
        still = abs(now_pps - earlier_pps) <= SETTLED_SHARE * max(now_pps, earlier_pps)
        if still and lost == earlier_lost == 0 and now_pps:
            return True
        before, earlier_pps, earlier_lost = after, now_pps, lost
    return False


def windows(
    tester: Clocked,
    sleep: Callable[[float], None],
    probe: Callable[[], Probe | None],
    outside: Outside = NOTHING,
) -> Iterator[Window]:
    """As many as a visit has at most. `probe`: looks at the cores now; None on one core. `outside`: looks at
    what works beside weir-dp."""
    here = probe()
    longer = 1 if outside is NOTHING else BESIDE
    for _ in range(WINDOWS_MOST // longer):
        outside.begin()
        before = tester.ledger()
        sleep(longer * WINDOW_S)
        after = tester.ledger()
        beside, kernel = outside.end(after.tsc_hz)
        earlier, here = here, probe()
        probes = [one for one in (earlier, here) if one is not None]
        yield Window(
            before,
            after,
            tuple(one.distance_cycles for one in probes),
            tuple(beside),
            tuple(kernel),
            _mean_paces(probes),
        )


def _mean_paces(probes: Sequence[Probe]) -> dict[int, float]:
    """Without cores that some probe could not time."""
    cores = set.intersection(*(set(one.piece_cycles_by_core) for one in probes)) if probes else set()
    return {
        core: statistics.fmean(one.piece_cycles_by_core[core] for one in probes) for core in sorted(cores)
    }


def delivered_pps(before: Ledger, after: Ledger) -> float:
    """Packets a second that came back to the tester."""
    packets = received(after) - received(before)
    return packets * after.tsc_hz / (after.tsc - before.tsc)


def received(ledger: Ledger) -> int:
    """Packets that came back to the tester."""
    return sum(port.rx_packets for port in ledger.ports if port.name.startswith(_TESTER))


def entered(ledger: Ledger) -> int:
    """Packets that the tester sent."""
    return sum(port.tx_packets for port in ledger.ports if port.name.startswith(_TESTER))


def stage_drops(before: Ledger, after: Ledger) -> int:
    """Packets that stages dropped: not those that found a queue full."""
    return sum(map(_dropped, after.areas)) - sum(map(_dropped, before.areas))


def _dropped(area: AreaLedger) -> int:
    return sum(sum(stage.drops.values()) for path in area.paths for stage in path.stages)
