# SPDX-License-Identifier: Apache-2.0
"""Quantiles of sums of independent times, on a grid.

A time is constant, or spread: with some probability the turn of an idle core, evenly spread, else a gamma
distribution. So M/M/1 is exact, and so are sums of it (Jackson).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gamma

POINTS = 8192
DEVIATIONS = 14
"""The grid reaches so many standard deviations beyond the mean."""
_Array = NDArray[np.floating[Any]]
_Transform = NDArray[np.complex128]


@dataclass(frozen=True)
class Spread:
    """A random time: between 0 and `idle_us` with probability `idle`, else gamma distributed."""

    idle: float
    idle_us: float
    mean_us: float
    """Of the gamma part."""
    variance_us2: float
    """Of the gamma part."""

    @property
    def mean(self) -> float:
        """Of both."""
        return self.idle * self.idle_us / 2 + (1 - self.idle) * self.mean_us

    @property
    def variance(self) -> float:
        """Of both."""
        square = self.idle * self.idle_us**2 / 3
        square += (1 - self.idle) * (self.mean_us**2 + self.variance_us2)
        return max(0.0, square - self.mean**2)

    def within(self, times_us: _Array) -> _Array:
        """Probability of no more than each of the times."""
        turn = np.clip(times_us / self.idle_us, 0.0, 1.0) if self.idle_us > 0 else times_us >= 0
        found = self.idle * turn
        if self.mean_us <= 0 or self.variance_us2 <= 0:
            return np.asarray(found + (1 - self.idle) * (times_us >= self.mean_us))
        shape = self.mean_us**2 / self.variance_us2
        return np.asarray(found + (1 - self.idle) * gamma.cdf(times_us, shape, scale=self.mean_us / shape))


def spread(idle: float, idle_us: float, mean_us: float, second_us2: float) -> Spread:
    """The spread with these first two moments; without its even part where they leave no room for it."""
    if idle < 1:
        busy_us = (mean_us - idle * idle_us / 2) / (1 - idle)
        variance = (second_us2 - idle * idle_us**2 / 3) / (1 - idle) - busy_us**2
        if busy_us > 0 and variance >= 0:
            return Spread(idle, idle_us, busy_us, variance)
    return Spread(0.0, 0.0, mean_us, max(0.0, second_us2 - mean_us**2))


@dataclass(frozen=True)
class Sum:
    """One way through the network: its probability, and the times that it adds up."""

    probability: float
    constant_us: float
    spreads: tuple[Spread, ...]


def quantiles(sums: Sequence[Sum], shares: Sequence[float]) -> list[float]:
    """So many of the packets take no longer."""
    least = min(one.constant_us for one in sums)
    reach = max(
        one.constant_us
        - least
        + sum(each.mean for each in one.spreads)
        + DEVIATIONS * sum(each.variance for each in one.spreads) ** 0.5
        for one in sums
    )
    if reach <= 0:
        return [least for _ in shares]
    step = reach / (POINTS - 1)
    transforms: dict[Spread, _Transform] = {}
    total = np.zeros(2 * POINTS)
    for one in sums:
        product = np.ones(POINTS + 1, dtype=np.complex128)
        for each in one.spreads:
            if each not in transforms:
                transforms[each] = _transform(each, step)
            product *= transforms[each]
        total += one.probability * np.roll(
            np.fft.irfft(product, 2 * POINTS), round((one.constant_us - least) / step)
        )
    within = np.cumsum(total) / total.sum()
    # A point of the grid stands for half a step on both sides of it.
    edges = (np.arange(2 * POINTS) + 0.5) * step
    return [least + max(0.0, float(np.interp(share, within, edges))) for share in shares]


def _transform(one: Spread, step: float) -> _Transform:
    """Of its probabilities at the points of the grid."""
    edges = (np.arange(POINTS) + 0.5) * step
    return np.asarray(np.fft.rfft(np.diff(one.within(edges), prepend=0.0), 2 * POINTS))
