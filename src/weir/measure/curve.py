# SPDX-License-Identifier: Apache-2.0
"""The offered-load curve: packets received against packets generated, from a low load to overload."""

from __future__ import annotations

from collections.abc import Callable

from weir.lab.measure import CurveOptions
from weir.measure.trial import TrialRunner
from weir.results.result import Trial


def curve_loads_pps(options: CurveOptions, throughput_pps: float | None, highest_pps: float) -> list[float]:
    """Loads of the curve, evenly spaced: up to `beyond` x the throughput, but never above `highest_pps`."""
    if not options.points:
        return []
    last = min(highest_pps, options.beyond * throughput_pps) if throughput_pps else highest_pps
    if options.points == 1:
        return [last]
    first = options.lowest * last
    step = (last - first) / (options.points - 1)
    return [first + step * index for index in range(options.points)]


def curve(
    runner: TrialRunner, options: CurveOptions, loads_pps: list[float], on_point: Callable[[int, int], None]
) -> list[Trial]:
    """One trial a load, repeated while invalid; one that stays invalid is in the curve as such."""
    points: list[Trial] = []
    for index, load_pps in enumerate(loads_pps):
        on_point(index + 1, len(loads_pps))
        points.append(runner.valid("curve", load_pps, options.duration_s).trial)
    return points
