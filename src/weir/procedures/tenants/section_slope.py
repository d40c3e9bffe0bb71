# SPDX-License-Identifier: Apache-2.0
"""What each tenant more that sends takes off what all of them together get through: a fitted line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
_FEWEST = 3
"""Points without which a line has no interval."""


@dataclass(frozen=True)
class Slope:
    """Of rate over tenants that send, by least squares; shares of the rate of the fewest tenants."""

    goal: str
    of: str
    """ "64 B"."""
    fewest: int
    most: int
    share: float
    """A tenant; negative: all together get less."""
    low: float
    high: float
    """Its interval, 95 %: of the repeats on this machine, not of machines."""


def fitted(goal: str, of: str, points: Sequence[tuple[int, float]]) -> Slope | None:
    """`points`: tenants that send, and a rate, once for each repeat that is known. None for fewer than two
    numbers of tenants, or where each has a single rate and no interval can be told."""
    numbers = sorted({number for number, _ in points})
    if len(numbers) < 2 or len(points) < _FEWEST or all(one == points[0][1] for _, one in points):
        return None
    from scipy import stats

    first = [rate for number, rate in points if number == numbers[0]]
    base = sum(first) / len(first)
    line = stats.linregress([float(number) for number, _ in points], [rate for _, rate in points])
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(points) - 2)) * float(line.stderr)
    slope = float(line.slope)
    return Slope(
        goal=goal,
        of=of,
        fewest=numbers[0],
        most=numbers[-1],
        share=slope / base,
        low=(slope - reach) / base,
        high=(slope + reach) / base,
    )
