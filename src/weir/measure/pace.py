# SPDX-License-Identifier: Apache-2.0
"""How fast polling cores were between two ledgers: pieces of the same work, timed by weir-dp's loops; and
what packets cost more on a core that is slower than at its best."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weir.dataplane.messages import Ledger
from weir.store.result import CorePace

GROUP_MIN = 8
"""Windows of one set-up; fewer tell no slope."""
OFF_SHARE = 0.1
"""A window further off than this lost time to something else than its pace."""


@dataclass(frozen=True)
class Slowing:
    """Packets cost 1 + `slope` (pace / best - 1) times as many cycles as on a core at its best."""

    best_cycles: float = math.inf
    """Of a piece of work; infinite: not known."""
    slope: float = 1.0

    def slowness(self, pace_cycles: float) -> float:
        """How many times as long a piece took as at best; infinite where either is not known."""
        known = math.isfinite(pace_cycles) and math.isfinite(self.best_cycles)
        return pace_cycles / self.best_cycles if known else math.inf

    def times(self, pace_cycles: float) -> float:
        """How many times as many cycles packets cost; 1 where the pace is not known."""
        slowness = self.slowness(pace_cycles)
        return 1 + self.slope * (slowness - 1) if math.isfinite(slowness) else 1.0


def core_paces(before: Ledger, after: Ledger) -> list[CorePace]:
    """Of each core that timed any; none of a weir-dp that does not."""
    return [
        CorePace(
            core=now.core,
            pieces=now.pace.pieces - was.pace.pieces,
            cycles=now.pace.cycles - was.pace.cycles,
        )
        for was, now in zip(before.cores, after.cores, strict=True)
        if now.pace.pieces > was.pace.pieces
    ]


def slope(groups: Iterable[Sequence[tuple[float, float]]]) -> float | None:
    """Of what packets cost by the slowness of the core, the same for all groups; None if they do not tell.

    A group has windows of one set-up: slowness, and cycles or time of a packet in any unit. Least squares
    with a level for each group, without windows that are far off.
    """
    products = squares = 0.0
    for group in groups:
        if len(group) < GROUP_MIN:
            continue
        level = statistics.median(cost / slowness for slowness, cost in group)
        kept = [
            (slowness, cost / level)
            for slowness, cost in group
            if abs(cost / level / slowness - 1) <= OFF_SHARE
        ]
        if len(kept) < GROUP_MIN:
            continue
        means = [statistics.fmean(column) for column in zip(*kept, strict=True)]
        products += sum((slowness - means[0]) * (cost - means[1]) for slowness, cost in kept)
        squares += sum((slowness - means[0]) ** 2 for slowness, _ in kept)
    return products / squares if squares > 0 else None
