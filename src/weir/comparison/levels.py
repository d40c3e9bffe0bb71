# SPDX-License-Identifier: Apache-2.0
"""Levels of a series of values, and the steps between them.

jumpavg proposes where steps are: it minimises the bits that describe the values, and takes noise for many
short levels. A step stays if both of its levels last, if it is of a size that matters, and if noise explains
it less often than once in a hundred histories. The weakest one goes first, and its two levels become one.

Of noise that is not normal, as that of a machine with two states, or of a load that is carried whole but for
some nights, a t test says nothing: there ranks must agree, which ask for no distribution (Mann and Whitney,
1947).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import jumpavg  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu, norm
from scipy.stats import t as student

from weir.comparison import exactness

ALARMS = 0.01
"""Of histories without a step, the share in which one may be seen."""
LASTS = 3
"""Values that a level has at least."""
CLIPPED = 3.0
"""Values farther out, in standard deviations, count as if they were there: one bad night is no step."""
EFFICIENCY = 0.37
"""Of as many values a standard deviation would say as much as the median absolute deviation does of all."""
BAD_NIGHTS = 1
"""More values so far out are no accident: noise is not normal."""
EXACT_RANKS = 50
"""Values of the shorter side up to which ranks are counted out; of more they are nearly normal."""
INSIDE = 0.95
"""Of values without a change, the share in the noise band."""
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
    band: float
    """No farther from their level are INSIDE of the values' logarithms."""
    smallest_seen: float
    """The least step between the halves of the last level that would stay; inf: it is too short."""


def levels(values: Sequence[float], smallest: float, resolution: float = 0.0) -> Levels:
    """Of values above 0, in order. `smallest`: the share below which a step does not matter; `resolution`:
    how exactly each value is known, as a share. ValueError for fewer than 2 * LASTS."""
    if len(values) < 2 * LASTS:
        raise ValueError(f"{len(values)} values; a step needs {2 * LASTS}")
    logs = np.log(np.asarray(values, dtype=float))
    exact, limit = exactness.deviation(resolution), ALARMS / len(logs)
    cuts = _proposed(logs)
    while True:
        parts = np.split(logs, cuts)
        noise = _Noise.of(parts, exact)
        middles = [_middle(part, noise.reach) for part in parts]
        p_values = [
            _p_value(parts[i : i + 2], middles[i + 1] - middles[i], noise, math.log1p(smallest))
            for i in range(len(cuts))
        ]
        weakest = max(range(len(cuts)), key=lambda i: p_values[i], default=None)
        if weakest is None or p_values[weakest] < limit:
            break
        del cuts[weakest]
    steps = tuple(Step(cut, p_value) for cut, p_value in zip(cuts, p_values, strict=True))
    half = len(parts[-1]) // 2
    seen = math.inf
    if half >= LASTS and (noise.normal or _least_of_ranks(half) < limit):
        least = float(student.isf(limit / 2, noise.freedom)) * noise.deviation * math.sqrt(2 / half)
        seen = max(math.expm1(least), smallest)
    band = _band(parts, middles, noise.deviation)
    return Levels(tuple(math.exp(one) for one in middles), steps, noise.deviation, band, seen)


def _least_of_ranks(half: int) -> float:
    """What ranks of two so long levels say at least: of few values never that there is a step."""
    few = min(half, EXACT_RANKS)
    return 2 / math.comb(2 * few, few)


@dataclass(frozen=True)
class _Noise:
    """Of all values around their levels."""

    deviation: float
    freedom: int
    reach: float
    """From a level's median to where its values are clipped."""
    normal: bool

    @classmethod
    def of(cls, parts: Sequence[NDArray[np.float64]], exact: float) -> _Noise:
        """`exact`: values tell no less."""
        freedom = sum(map(len, parts)) - len(parts)
        off = np.concatenate([np.abs(part - np.median(part)) for part in parts])
        typical = OF_NORMAL * float(np.median(off)) * _fitted(parts)
        # Where most values are equal only the others say how they vary.
        reach = CLIPPED * typical if typical > exact else max(CLIPPED * exact, _not_rare(off))
        typical = max(typical, exact)
        # As rare as CLIPPED, where few values say how far out that is.
        far = float(student.isf(norm.sf(CLIPPED), max(1.0, EFFICIENCY * freedom))) * typical
        return cls(
            deviation=max(typical, _deviation(parts, reach)),
            freedom=freedom,
            reach=reach,
            normal=int(np.sum(off > far)) <= BAD_NIGHTS,
        )


def _proposed(logs: NDArray[np.float64]) -> list[int]:
    sizes = [len(group.run_list) for group in jumpavg.classify(list(map(float, logs)))]
    return [int(one) for one in np.cumsum(sizes)[:-1]]


def _not_rare(off: NDArray[np.float64]) -> float:
    """What so few are beyond that LASTS of them in a row, which look like a level, come in ALARMS of
    histories."""
    rare = int(len(off) * (ALARMS / len(off)) ** (1 / LASTS))
    return float(np.sort(off)[len(off) - 1 - rare])


def _deviation(parts: Sequence[NDArray[np.float64]], reach: float) -> float:
    """Of clipped values: a machine that is slower in every fourth run has values of two kinds, and those in
    the middle are of one."""
    clipped = [_clipped(part, reach) for part in parts]
    off = np.concatenate([part - np.mean(part) for part in clipped])
    return float(np.sqrt(np.mean(off**2))) * _fitted(parts)


def _fitted(parts: Sequence[NDArray[np.float64]]) -> float:
    """What a deviation from levels is too small by, which are fitted to the values."""
    count = sum(len(part) for part in parts)
    return math.sqrt(count / max(1, count - len(parts)))


def _clipped(part: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    median = float(np.median(part))
    return np.clip(part, median - reach, median + reach)


def _middle(part: NDArray[np.float64], reach: float) -> float:
    return float(np.mean(_clipped(part, reach)))


def _band(parts: Sequence[NDArray[np.float64]], middles: Sequence[float], deviation: float) -> float:
    """Of normal noise, or as wide as so many values ask for."""
    off = np.concatenate([np.abs(part - middle) for part, middle in zip(parts, middles, strict=True)])
    inside = float(np.quantile(off, INSIDE, method="higher"))
    return max(float(norm.isf((1 - INSIDE) / 2)) * deviation, inside)


def _p_value(sides: Sequence[NDArray[np.float64]], shift: float, noise: _Noise, smallest: float) -> float:
    shorter = min(len(side) for side in sides)
    if shorter < LASTS:
        return TOO_SHORT + 1 / shorter
    if abs(shift) < smallest:
        return TOO_SHORT
    if noise.deviation == 0:
        return 0.0
    error = noise.deviation * math.sqrt(sum(1 / len(side) for side in sides))
    by_size = 2 * float(student.sf(abs(shift) / error, noise.freedom))
    if noise.normal:
        return by_size
    how: Literal["exact", "asymptotic"] = "exact" if shorter <= EXACT_RANKS else "asymptotic"
    return max(by_size, float(mannwhitneyu(sides[0], sides[1], method=how).pvalue))
