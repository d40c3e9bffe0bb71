# SPDX-License-Identifier: Apache-2.0
"""Levels of a series of values, and the steps between them.

jumpavg proposes where steps are: it minimises the bits that describe the values, and takes noise for many
short levels. A step stays if both of its levels last, if it is of a size that matters, and if noise explains
it less often than once in a hundred histories. The weakest one goes first, and its two levels become one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import jumpavg  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

ALARMS = 0.01
"""Of histories without a step, the share in which one may be seen."""
LASTS = 3
"""Values that a level has at least."""
CLIPPED = 3.0
"""Values farther out, in standard deviations, count as if they were there: one bad night is no step."""
OF_NORMAL = 1.4826
"""From the median absolute deviation to the standard deviation, of a normal distribution."""
TOO_SHORT = 2.0
"""In the place of a p-value: goes before all that are one."""


@dataclass(frozen=True)
class Step:
    """The first value of a new level."""

    index: int
    p_value: float


@dataclass(frozen=True)
class Levels:
    """What a series is made of."""

    middles: tuple[float, ...]
    """Each level's."""
    steps: tuple[Step, ...]
    noise: float
    """Standard deviation of the values' logarithms around their level."""
    smallest_seen: float
    """The least step between the halves of the last level that would stay; inf: it is too short."""


def levels(values: Sequence[float], smallest: float, resolution: float = 0.0) -> Levels:
    """Of values above 0, in order. `smallest`: the share below which a step does not matter; `resolution`:
    how exactly each value is known, as a share. ValueError for fewer than 2 * LASTS."""
    if len(values) < 2 * LASTS:
        raise ValueError(f"{len(values)} values; a step needs {2 * LASTS}")
    logs = np.log(np.asarray(values, dtype=float))
    cuts = _proposed(logs)
    while True:
        parts = np.split(logs, cuts)
        typical = max(_noise(parts), resolution / math.sqrt(12))
        middles = [_middle(part, typical) for part in parts]
        noise = max(typical, _deviation(parts, typical))
        freedom = len(logs) - len(parts)
        p_values = [
            _p_value(parts[i : i + 2], middles[i + 1] - middles[i], noise, freedom, math.log1p(smallest))
            for i in range(len(cuts))
        ]
        limit = ALARMS / len(logs)
        weakest = max(range(len(cuts)), key=lambda i: p_values[i], default=None)
        if weakest is None or p_values[weakest] < limit:
            break
        del cuts[weakest]
    steps = tuple(Step(cut, p_value) for cut, p_value in zip(cuts, p_values, strict=True))
    half = len(parts[-1]) // 2
    seen = math.inf
    if half >= LASTS:
        reach = float(student.isf(limit / 2, freedom)) * noise * math.sqrt(2 / half)
        seen = max(math.expm1(reach), smallest)
    return Levels(tuple(math.exp(one) for one in middles), steps, noise, seen)


def _proposed(logs: NDArray[np.float64]) -> list[int]:
    sizes = [len(group.run_list) for group in jumpavg.classify(list(map(float, logs)))]
    return [int(one) for one in np.cumsum(sizes)[:-1]]


def _noise(parts: Sequence[NDArray[np.float64]]) -> float:
    """Of the values in the middle, around the levels' medians."""
    off = np.concatenate([part - np.median(part) for part in parts])
    return OF_NORMAL * float(np.median(np.abs(off))) * _fitted(parts)


def _deviation(parts: Sequence[NDArray[np.float64]], noise: float) -> float:
    """Of clipped values: a machine that is slower in every fourth run has values of two kinds, and those in
    the middle are of one."""
    clipped = [_clipped(part, noise) for part in parts]
    off = np.concatenate([part - np.mean(part) for part in clipped])
    return float(np.sqrt(np.mean(off**2))) * _fitted(parts)


def _fitted(parts: Sequence[NDArray[np.float64]]) -> float:
    """What a deviation from levels is too small by, which are fitted to the values."""
    count = sum(len(part) for part in parts)
    return math.sqrt(count / max(1, count - len(parts)))


def _clipped(part: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    median = float(np.median(part))
    return np.clip(part, median - CLIPPED * noise, median + CLIPPED * noise)


def _middle(part: NDArray[np.float64], noise: float) -> float:
    return float(np.mean(_clipped(part, noise)))


def _p_value(
    sides: Sequence[NDArray[np.float64]], shift: float, noise: float, freedom: int, smallest: float
) -> float:
    shorter = min(len(side) for side in sides)
    if shorter < LASTS:
        return TOO_SHORT + 1 / shorter
    if abs(shift) < smallest:
        return TOO_SHORT
    if noise == 0:
        return 0.0
    error = noise * math.sqrt(sum(1 / len(side) for side in sides))
    return 2 * float(student.sf(abs(shift) / error, freedom))
