# SPDX-License-Identifier: Apache-2.0
"""Intervals that hold as often as they say: from how far off rates were that the fit did not know.

What the model says of its own error (the covariance of its parameters, the states that the cores were found
in) is a part of what was seen. What is left is one scatter for all, such that errors over what was expected
of them have a mean square of one. How many times as far off as expected a rate may be is read from these
errors themselves (conformal prediction with normalised residuals: Lei et al., 2018), not from a normal law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binomtest
from scipy.stats import t as student

COVERAGE = 0.95
CONFORMAL_MIN = 19
"""Errors; of fewer no order statistic is that far out: Student's law says it then."""
UNKNOWN_SCATTER = 0.05
"""Where no rate could be left out of the fit."""
SEEN_MIN = 3


@dataclass(frozen=True)
class Residual:
    """One rate that was left out of the fit."""

    error: float
    """Natural logarithm of measured over predicted."""
    deviation: float
    """What the model said of its error: a standard deviation, as a share of the rate."""


@dataclass(frozen=True)
class Spread:
    """How far off a rate may be."""

    scatter: float
    """Standard deviation of what the model does not know of itself, as a share of a rate."""
    times: float
    """So many standard deviations hold as many rates as an interval is to hold."""

    def bounds(self, pps: float, deviation: float) -> tuple[float, float]:
        """Of the interval around a rate whose own deviation is this share of it."""
        reach = math.exp(self.times * math.hypot(self.scatter, deviation))
        return pps / reach, pps * reach


def spread(residuals: Sequence[Residual], least: float) -> Spread:
    """From rates that were left out. `least`: no rate is known better than this."""
    if len(residuals) < SEEN_MIN:
        return Spread(max(least, UNKNOWN_SCATTER), _student(SEEN_MIN))
    errors = np.array([one.error for one in residuals])
    deviations = np.array([one.deviation for one in residuals])
    scatter = max(least, _scatter(errors, deviations))
    sizes = np.sort(np.abs(errors) / np.hypot(scatter, deviations))
    if len(sizes) < CONFORMAL_MIN:
        return Spread(scatter, _student(len(sizes)))
    rank = COVERAGE * (len(sizes) + 1)
    return Spread(scatter, float(np.interp(rank, np.arange(1, len(sizes) + 1), sizes)))


def held_interval(held: int, count: int) -> tuple[float, float]:
    """The share of intervals that hold in the long run, after `held` of `count` have: 95 %, exact
    (Clopper and Pearson, 1934)."""
    found = binomtest(held, count).proportion_ci(COVERAGE)
    return float(found.low), float(found.high)


def _scatter(errors: np.ndarray, deviations: np.ndarray) -> float:
    """With which errors over what was expected have a mean square of one; 0 if they have less without."""

    def excess(scatter: float) -> float:
        return float(np.mean(errors**2 / np.maximum(scatter**2 + deviations**2, 1e-18))) - 1

    most = float(np.abs(errors).max())
    return float(brentq(excess, 0.0, most)) if most > 0 and excess(0.0) > 0 else 0.0


def _student(count: int) -> float:
    return float(student.ppf((1 + COVERAGE) / 2, max(2, count - 1)))
