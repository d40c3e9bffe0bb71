# SPDX-License-Identifier: Apache-2.0
"""What a measure can gain at most, by the cycles that a trial counted: rate = min over cores of f / Σ cycles.

Bounds, not promises: what a measure itself costs (hand-over between cores, look-ups in a fast path) is taken
as nothing, and cycles a packet are taken to stay as they are on other cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from weir.explain.cores import Core, Part

Keeps = Callable[[Part], float]
"""The share of a part's cycles that is left."""


def without(cores: Sequence[Core], limit: Core, keeps: Keeps) -> float:
    """Gain in rate, as a share of it, where the limiting core's parts keep so much of their cycles."""
    left = sum(part.cycles * keeps(part) for part in limit.parts)
    return _gain(cores, limit, [left])


def split(cores: Sequence[Core], limit: Core) -> float:
    """Gain where the functions' parts on the limiting core are cut in two, at the best place in their order
    of cost, and one half gets a core of its own."""
    stays = sum(part.cycles for part in limit.parts if part.tester)
    moving = [part.cycles for part in limit.parts if not part.tester]
    total = sum(moving)
    best = min((max(stays + first, total - first) for first in accumulate(moving)), default=stays)
    return _gain(cores, limit, [best])


def _gain(cores: Sequence[Core], limit: Core, left: Sequence[float]) -> float:
    others = [core.cycles for core in cores if core is not limit]
    return max(0.0, limit.cycles / max(1e-9, *left, *others) - 1)
