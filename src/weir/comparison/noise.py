# SPDX-License-Identifier: Apache-2.0
"""How much a measurement varies by itself, where each has few samples.

A variance of two or three samples says little. Those of all compared measurements together say what is usual;
each is drawn towards that by as much as they agree (empirical Bayes: Smyth, 2004; a moderated t test).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma
from scipy.stats import t as student

CONFIDENCE = 0.95
LEAST_VARIANCES = 3
"""Fewer do not say how variances vary."""
_STEPS = 50


@dataclass(frozen=True)
class Usual:
    """What variances are drawn to."""

    variance: float
    freedom: float
    """Degrees of freedom that it is worth; 0: nothing, infinite: all variances are the same."""

    def moderated(self, variance: float, freedom: float) -> tuple[float, float]:
        """A measurement's own variance and its degrees of freedom, with the usual one weighed in."""
        if math.isinf(self.freedom):
            return self.variance, math.inf
        together = self.freedom + freedom
        if together == 0:
            return math.nan, 0.0
        return (self.freedom * self.variance + freedom * variance) / together, together


NOTHING = Usual(0.0, 0.0)


def usual(variances: Sequence[float], freedoms: Sequence[float]) -> Usual:
    """Of variances with their degrees of freedom: a scaled F distribution, by its logarithm's moments."""
    known = [(v, d) for v, d in zip(variances, freedoms, strict=True) if d > 0 and v > 0]
    if len(known) < LEAST_VARIANCES:
        return NOTHING
    half = np.array([d / 2 for _, d in known])
    logs = np.log([v for v, _ in known]) - digamma(half) + np.log(half)
    middle = float(np.mean(logs))
    spread = float(np.var(logs, ddof=1) - np.mean(polygamma(1, half)))
    if spread <= 0:
        # They differ no more than samples of one variance do.
        weights = half / half.sum()
        return Usual(float(np.dot(weights, [v for v, _ in known])), math.inf)
    freedom = 2 * _inverse_trigamma(spread)
    return Usual(math.exp(middle + float(digamma(freedom / 2)) - math.log(freedom / 2)), freedom)


def _inverse_trigamma(value: float) -> float:
    """By Newton's method on 1 / trigamma, which is nearly straight."""
    x = 0.5 + 1 / value
    for _ in range(_STEPS):
        now = float(polygamma(1, x))
        step = now * (1 - now / value) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-9 * x:
            break
    return x


@dataclass(frozen=True)
class Difference:
    """Of two means of logarithms."""

    low: float
    high: float
    p_value: float


def difference(shift: float, variance: float, freedom: float, samples: tuple[int, int]) -> Difference | None:
    """Interval and p-value of a shift of that size; None where nothing says how much the samples vary."""
    if freedom <= 0 or math.isnan(variance):
        return None
    error = math.sqrt(variance * (1 / samples[0] + 1 / samples[1]))
    if error == 0:
        return Difference(shift, shift, 1.0 if shift == 0 else 0.0)
    reach = error * float(student.ppf((1 + CONFIDENCE) / 2, freedom))
    return Difference(shift - reach, shift + reach, 2 * float(student.sf(abs(shift) / error, freedom)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected for their number, in the order given: among many changes one is always unlikely."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected, least = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, p_values[index] * (len(order) - rank)))
        corrected[index] = least
    return corrected
