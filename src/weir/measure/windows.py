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
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from weir.dataplane.messages import AreaLedger, Ledger
from weir.measure.outside import KERNEL_KINDS, NOTHING, Outside
from weir.measure.pace import Slowing, core_paces
from weir.spec.execution import TESTER_KINDS
from weir.store.result import AreaLoad, CoreLoad

WINDOW_S = 0.02
CALM_WANTED = 10
"""Calm windows a visit."""
WINDOWS_MOST = 64
"""A visit: on a host that is never quiet."""
LIGHT_SHARES = (0.3, 0.6)
"""Of the rate that the set-up carries: loads at which bursts are short."""
LIGHT_WINDOWS = 5
"""At each of them, a visit."""
LIGHT_USABLE, LIGHT_USED = 2.0, 4
"""Of these windows so many of the calmest are used, if cores were slowed by no more than this in them: what
short bursts cost need not be known as exactly."""
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
SETTLING_S = 0.1
SETTLED_SHARE = 0.03
"""Rates of two neighbouring windows that differ by less are of a chain whose flows are all known."""
SETTLING_MAX = 60
_TESTER = "tester."


class Clocked(Protocol):
    """weir-dp while it runs."""

    def ledger(self) -> Ledger: ...


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

    @cached_property
    def paces(self) -> Mapping[int, float]:
        """Of each core the mean cycles of a piece of work; infinite where hardly any was timed."""
        timed = {pace.core: pace for pace in core_paces(self.before, self.after)}
        return {
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
                idle = area.idle_cycles or max(0, ticks - area.busy_cycles)
                found[area.core] = found.get(area.core, 0.0) + idle / ticks
        return found

    def limiting(self) -> frozenset[int]:
        """The cores that limit."""
        return limiting(self.idle(), self.testers())

    def testers(self) -> frozenset[int]:
        """The tester's cores."""
        return frozenset(area.core for area in self.after.areas if area.kind in TESTER_KINDS)

    def stayed(self) -> bool:
        """Whether the cores stayed where they were."""
        found = self.distances_cycles
        return not found or max(found) <= (1 + NEAR) * min(found)

    def pace_cycles(self) -> float:
        """Of the slowest core that limits; of all, where it is a switch's, which nobody times."""
        slowest = max(self.paces.values(), default=math.inf)
        return max((self.paces[core] for core in self.limiting() if core in self.paces), default=slowest)

    def undisturbed_pps(self, slowing: Slowing) -> float:
        """What `pps` would be had no core been slowed: as much more as the cores that limit were, where they
        are timed, but no more than other cores of functions could carry."""
        paces, idle, full = self.paces, self.idle(), self.limiting()
        slowed = max((slowing.times(paces[core]) for core in full if core in paces), default=1.0)
        others = (core for core in idle if core in paces and core not in full | self.testers())
        rest = (slowing.times(paces[core]) / max(1e-6, 1 - idle[core]) for core in others)
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
    distance: Callable[[], float | None],
    outside: Outside = NOTHING,
) -> Iterator[Window]:
    """As many as a visit has at most. `distance`: says how far apart the cores are now; None on one core.
    `outside`: looks at what works beside weir-dp."""
    here = distance()
    for _ in range(WINDOWS_MOST):
        outside.begin()
        before = tester.ledger()
        sleep(WINDOW_S)
        after = tester.ledger()
        beside, kernel = outside.end(after.tsc_hz)
        earlier, here = here, distance()
        distances = tuple(one for one in (earlier, here) if one is not None)
        yield Window(before, after, distances, tuple(beside), tuple(kernel))


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
