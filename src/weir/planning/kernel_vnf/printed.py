# SPDX-License-Identifier: Apache-2.0
"""Whether the paper's tables say the same: Table 2 is said to be calibrated from the points of Table 1."""

from __future__ import annotations

from weir.planning.kernel_vnf.configuration import published
from weir.planning.kernel_vnf.equations import Point, cumulative_cycles

# Half of the last digit that is printed: of costs in Table 1, of a and a0, and of b and b0 in Table 2.
HALF_CYCLE = 0.5
HALF_SLOPE = 0.00005
HALF_OFFSET = 0.05


def agree(name: str) -> bool:
    """Table 2 gives the points of Table 1 back, as far as the digits of both can tell."""
    return all(
        abs(_by_table_2(name, point) - point.cycles) <= _hidden_by_rounding(point) for point in _points(name)
    )


def disagreements(name: str) -> list[float]:
    """How far the costs by Table 2 are from the points of Table 1, relative to these, in their order."""
    return [_by_table_2(name, point) / point.cycles - 1 for point in _points(name)]


def _points(name: str) -> tuple[Point, ...]:
    return published("table-1")[name].points


def _by_table_2(name: str, point: Point) -> float:
    return cumulative_cycles(published("table-2")[name].parameters, point.scale, point.frame_bytes)


def _hidden_by_rounding(point: Point) -> float:
    """How far apart the two can be, in cycles, though both were rounded from the same numbers."""
    slope, offset = HALF_SLOPE * point.frame_bytes, HALF_OFFSET
    return HALF_CYCLE + (slope + offset) * (point.scale + 1)
