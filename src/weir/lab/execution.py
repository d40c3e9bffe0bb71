# SPDX-License-Identifier: Apache-2.0
"""A set-up as the cost model sees it: execution areas on cores, and the packets that pass through each.

Amounts of packets are relative to what the tester sends, so a path that half of the packets take has 0.5.
What a switch does between two ports is areas too, called as in ledgers (`weir.results.loads.AreaLoad`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

AreaKind = Literal[
    "generator",
    "receiver",
    "clients",
    "servers",
    "chain",
    "dispatcher",
    "state_core",
    "rewrite_worker",
    "collector",
    "pmd",
    "thread",
    "softirq",
]
TESTER_KINDS: frozenset[AreaKind] = frozenset({"generator", "receiver", "clients", "servers"})
SWITCH_THREAD_KINDS: frozenset[AreaKind] = frozenset({"pmd", "thread"})
"""Open vSwitch's polling thread; its main one, which forwards where none polls."""
SWITCH_KINDS: frozenset[AreaKind] = SWITCH_THREAD_KINDS | {"softirq"}
"""And the kernel's receive path, which runs in the system calls of the areas of its core that send."""
FUNCTION_KINDS = frozenset({"chain", "dispatcher", "state_core", "rewrite_worker", "collector"})
"""weir-dp's loops for functions."""
KERNEL_KINDS = frozenset({"softirq", "syscalls"})
"""The kernel's receive path, and what of the time in system calls it has not."""

FULL_BURST = 32
"""Packets that weir-dp takes at most from a port or ring in one poll."""
NEAR_CYCLES = 100.0
"""Distance of two cores of one chip, in cycles of its time-stamp counter."""
HIDDEN_CYCLES = 40.0
"""About what a core's own last cache takes, which one that executes out of order covers with other work."""


@dataclass(frozen=True)
class StageUse:
    """One network function on a path."""

    nf: str
    decides: bool
    """It reads the packet's headers, which the first such function of an area has to parse."""
    rules: int
    """Entries of the lists that it is given: rules, routes, services, tenants."""
    state_bytes: int
    """Of memory for each flow."""
    inbound: bool = False
    """It sees packets on their way from the outside."""


@dataclass(frozen=True)
class AreaPath:
    """One way through an area."""

    share: float
    """Packets that come in, relative to what the tester sends."""
    entry: str
    """What it takes packets from: a kind of port ("memory"), "ring", or "nothing"."""
    crossing: float
    """Share of these packets that another core put there."""
    cold: float
    """Share of these packets whose bytes another core touched last."""
    leaving: str
    """What it gives packets to; "nothing" for a receiver."""
    parting: float
    """Share of what it puts there that another core takes."""
    outputs: int
    """To how many places."""
    stages: tuple[StageUse, ...] = ()
    fill: float = 1.0
    """Share of a full burst that a poll finds: less where an area of this core deals its own to several."""
    remembered: float = 0.0
    """Share of the packets whose flow a fast path knows; of a pmd, its exact-match cache."""
    remembers: bool = False
    """It has a fast path, which looks for the flow of each packet."""
    remembers_most: int = 0
    """Flows for which the fast path has room."""
    takers: tuple[tuple[str, int], ...] = ()
    """Who takes what it puts there, an area and which of its paths; each an equal share."""
    places: int = 0
    """Packets that what it takes from can hold; 0 if it takes from nothing."""
    rewriting: tuple[str, ...] = ()
    """Functions whose changes of the packet others make: a rewrite worker, or a fast path."""
    inputs: int = 1
    """From how many places it takes packets."""
    hop: str = ""
    """Of a switch's area: what takes the packet from one port to the other, "pmd" or "bridge"."""


@dataclass(frozen=True)
class Area:
    """One execution area."""

    name: str
    core: int
    kind: AreaKind
    paths: tuple[AreaPath, ...]

    def share(self) -> float:
        """Packets that come in on all paths."""
        return sum(path.share for path in self.paths)


@dataclass(frozen=True)
class Execution:
    """All areas of one chain, and the traffic through them."""

    areas: tuple[Area, ...]
    frame_bytes: float
    """Mean L2 size with FCS."""
    flows: int
    """Different five-tuples, all directions together."""
    fastpath: bool = False
    """Some area remembers what its functions decided on a flow."""
    core_distance_cycles: float = NEAR_CYCLES
    """To read a cache line that another of the cores has."""

    def distance(self) -> float:
        """What a core waits for when it reads what another has, in hundreds of cycles: HIDDEN_CYCLES of it go
        by while it does something else."""
        return max(0.0, self.core_distance_cycles - HIDDEN_CYCLES) / NEAR_CYCLES

    def whole_distance(self) -> float:
        """The same where it has nothing else to do, as with a burst of one packet."""
        return self.core_distance_cycles / NEAR_CYCLES

    def cores(self) -> tuple[int, ...]:
        """The cores that run areas, ascending."""
        return tuple(sorted({area.core for area in self.areas}))

    def switched(self) -> bool:
        """Whether something else than weir-dp forwards between its ports."""
        return any(area.kind in SWITCH_KINDS for area in self.areas)

    def on(self, core: int) -> tuple[Area, ...]:
        """The areas of one core."""
        return tuple(area for area in self.areas if area.core == core)

    def with_fills(self, fills: Mapping[str, float]) -> Execution:
        """The same with bursts on all paths of these areas filled to such shares."""
        return replace(
            self,
            areas=tuple(
                replace(area, paths=tuple(replace(path, fill=fills[area.name]) for path in area.paths))
                if area.name in fills
                else area
                for area in self.areas
            ),
        )
