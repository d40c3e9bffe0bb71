# SPDX-License-Identifier: Apache-2.0
"""Areas outside weir-dp beside those of its ledger: what of their time overlaps, and what nobody had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from weir.lab.execution import KERNEL_KINDS
from weir.results.result import AreaLoad, CoreLoad, Drop

_NO_SYSTEM_CALLS = KERNEL_KINDS | {"pmd", "receiver"}
"""Receivers read rings that they share with the kernel; a pmd has vhost-user ports."""
_BACKLOGGED = "tx_queue_full"


class Outside(Protocol):
    """Looks at what runs beside weir-dp, before and after a trial."""

    def begin(self) -> None:
        """Just before."""

    def end(self, tsc_hz: float) -> tuple[list[AreaLoad], list[CoreLoad]]:
        """Just after."""


class Nothing:
    """Where nothing does."""

    def begin(self) -> None:
        """Looks at nothing."""

    def end(self, tsc_hz: float) -> tuple[list[AreaLoad], list[CoreLoad]]:
        """Saw nothing."""
        del tsc_hz
        return [], []


NOTHING = Nothing()


@dataclass(frozen=True)
class Own:
    """The areas of weir-dp, with the time between the two ledgers."""

    areas: Sequence[AreaLoad]
    window_cycles: int
    hz: float


def joined(
    own: Own, outside: Sequence[AreaLoad], cores: Sequence[CoreLoad], drops: Sequence[Drop]
) -> tuple[list[AreaLoad], list[CoreLoad]]:
    """All areas, with the kernel's time inside of them, and each core with what is accounted of it.

    The kernel runs its receive path in the system call of whoever sends, so the areas that make system calls
    on that core share it by their busy cycles: what cannot be theirs is left to ksoftirqd and interrupts.
    """
    inside = [area.model_copy(deep=True) for area in own.areas]
    beside = [area.model_copy(deep=True) for area in outside]
    for core in cores:
        here = [[area for area in areas if area.core == core.core] for areas in (inside, beside)]
        _overlap([*here[0], *here[1]])
        # Ledgers are read a little before and after everything else: each share is of its own time.
        shares = [_used(here[0]) / own.window_cycles, _used(here[1]) / own.hz / core.window_s]
        core.accounted = sum(shares) + core.idle_s / core.window_s
    lost = {drop.place: drop.packets for drop in drops if drop.reason == _BACKLOGGED}
    for area in beside:
        for path in area.paths:
            path.dropped += sum(lost.get(output, 0) for output in path.outputs)
            if path.outputs:
                path.packets_out -= path.dropped
    return [*inside, *beside], list(cores)


def _used(here: Sequence[AreaLoad]) -> int:
    return sum(area.own_cycles + area.idle_cycles for area in here)


def _overlap(here: Sequence[AreaLoad]) -> None:
    kernel = sum(area.busy_cycles for area in here if area.kind in KERNEL_KINDS)
    callers = [area for area in here if area.kind not in _NO_SYSTEM_CALLS]
    busy = sum(area.busy_cycles for area in callers)
    inside = min(kernel, busy)
    for area in callers:
        area.kernel_cycles = round(inside * area.busy_cycles / busy) if busy else 0
