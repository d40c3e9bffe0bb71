# SPDX-License-Identifier: Apache-2.0
"""How fast polling cores were between two ledgers: pieces of the same work, timed by weir-dp's loops; and
what packets cost more on a core that is slower than at its best."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weir.protocol.ledger import Ledger
from weir.results.result import CoreSpeed

GROUP_MIN = 8
"""Windows of one set-up; fewer tell no slope."""
OFF_SHARE = 0.1
"""A window further off than this lost time to something else than its speed."""
SLOPE_ERROR_MAX = 0.2
"""Standard error of a slope that is known."""
SLOPE_MOST = 1.5
BEST_SHARE = 0.02
"""Of the speeds seen: less is luck of a short window."""
_ROUNDS = 20


@dataclass(frozen=True)
class Slowing:
    """Packets cost 1 + `slope` (cycles / best - 1) times as many cycles as on a core at its best."""

    best_cycles: float = math.inf
    """Of a piece of work; infinite: not known."""
    slope: float = 1.0

    def slowness(self, piece_cycles: float) -> float:
        """How many times as long a piece took as at best; 1 where no core was ever timed, infinite where this
        one was not."""
        if math.isinf(self.best_cycles):
            return 1.0
        return max(1.0, piece_cycles / self.best_cycles)

    def times(self, piece_cycles: float) -> float:
        """How many times as many cycles packets cost; 1 where the speed is not known."""
        slowness = self.slowness(piece_cycles)
        return 1 + self.slope * (slowness - 1) if math.isfinite(slowness) else 1.0


def best_cycles(piece_cycles: Iterable[float]) -> float:
    """Of a core that nobody slows, from many windows: a low quantile; infinite without any."""
    found = sorted(cycles for cycles in piece_cycles if math.isfinite(cycles))
    return found[int(BEST_SHARE * len(found))] if found else math.inf


def core_speeds(before: Ledger, after: Ledger) -> list[CoreSpeed]:
    """Of each core that timed any; none of a weir-dp that does not."""
    return [
        CoreSpeed(
            core=now.core,
            pieces=now.speed.pieces - was.speed.pieces,
            cycles=now.speed.cycles - was.speed.cycles,
        )
        for was, now in zip(before.cores, after.cores, strict=True)
        if now.speed.pieces > was.speed.pieces
    ]


def slope(groups: Iterable[Sequence[tuple[float, float]]]) -> float | None:
    """Of what packets cost by the slowness of the core, the same for all groups; None if they do not tell.

    A group has windows of one set-up: slowness, and cycles or time of a packet in any unit. Least squares
    with a level for each group, without windows that are far off the line, again until it stands still.
    """
    series = [group for group in groups if len(group) >= GROUP_MIN]
    found, error = 1.0, math.inf
    for _ in range(_ROUNDS):
        earlier, (found, error) = found, _fitted(series, found)
        if abs(found - earlier) < 1e-4:
            break
    return found if error <= SLOPE_ERROR_MAX else None


def _fitted(groups: Iterable[Sequence[tuple[float, float]]], earlier: float) -> tuple[float, float]:
    """Slope and its standard error, of the windows that the earlier slope does not find far off."""
    kept: list[tuple[float, float]] = []  # slowness and cost, less their group's means
    for group in groups:
        level = statistics.median(cost / (1 + earlier * (slowness - 1)) for slowness, cost in group)
        near = [
            (slowness, cost / level)
            for slowness, cost in group
            if abs(cost / level / (1 + earlier * (slowness - 1)) - 1) <= OFF_SHARE
        ]
        if len(near) >= GROUP_MIN:
            means = [statistics.fmean(column) for column in zip(*near, strict=True)]
            kept += [(slowness - means[0], cost - means[1]) for slowness, cost in near]
    products = sum(slowness * cost for slowness, cost in kept)
    squares = sum(slowness**2 for slowness, _ in kept)
    if squares <= 0:
        return earlier, math.inf
    found = min(max(0.0, products / squares), SLOPE_MOST)
    left = sum((cost - found * slowness) ** 2 for slowness, cost in kept)
    return found, math.sqrt(left / len(kept) / squares)
