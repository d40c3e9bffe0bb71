# SPDX-License-Identifier: Apache-2.0
"""Repeats of a search, and what they say together: median, min and max (docs/design/method.md)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from weir.lab.frames import BITS_PER_BYTE, l1_bps
from weir.lab.measure import Goal, Measure
from weir.results.result import Ceiling, Throughput

if TYPE_CHECKING:
    from weir.measure.search import GoalResult

# A result this close to what the tester alone can do says little about the system under test.
TESTER_BOUND_SHARE = 0.9

SearchOnce = Callable[[tuple[float, float], int], "list[GoalResult]"]


def repeated(
    search_once: SearchOnce, repeats: int, limits_pps: tuple[float, float], out_of_time: Callable[[], bool]
) -> list[list[GoalResult]]:
    """`repeats` searches: the first between the limits, the others near what the first found.

    A repeat that runs into the nearer limits is made again between the full ones. Stops early when out of
    time. Each entry has one GoalResult a goal.
    """
    rounds = [search_once(limits_pps, 1)]
    near = _near(rounds[0], limits_pps)
    for number in range(2, repeats + 1):
        if out_of_time():
            break
        found = search_once(near, number)
        if near != limits_pps and any(one.lower_pps is None or one.upper_pps is None for one in found):
            if out_of_time():
                break
            found = search_once(limits_pps, number)
        rounds.append(found)
    return rounds


def _near(found: Sequence[GoalResult], limits_pps: tuple[float, float]) -> tuple[float, float]:
    """Limits for the repeats: 20 % around all bounds, or the full limits when a bound is missing."""
    lowers = [one.lower_pps for one in found if one.lower_pps is not None]
    uppers = [one.upper_pps for one in found if one.upper_pps is not None]
    if len(lowers) < len(found) or len(uppers) < len(found):
        return limits_pps
    return max(limits_pps[0], 0.8 * min(lowers)), min(limits_pps[1], 1.2 * max(uppers))


def throughput(
    goal: Goal,
    found: Sequence[GoalResult],
    mean_frame_bytes: float,
    *,
    ceiling: Ceiling | None,
    capped: bool,
    shares_cores: bool = False,
) -> Throughput:
    """The repeats of one goal as one result; irregular unless more than half of them found a rate.

    `capped`: the lab limits the highest load, so that carrying it says nothing of the tester. `shares_cores`:
    the system under test works on the tester's cores, so what keeps the tester from sending as much as it can
    alone is that.
    """
    good = [one for one in found if one.load_pps is not None]
    if 2 * len(good) <= len(found):
        why = next(one.why for one in found if one.load_pps is None)
        if good:
            why = f"{len(found) - len(good)} of {len(found)} searches found no rate: {why}"
        return Throughput(
            goal=goal.name, goal_loss_ratio=goal.loss_ratio, status="irregular", why=why, repeats=len(found)
        )
    loads = [one.load_pps for one in good if one.load_pps is not None]
    load_pps = statistics.median(loads)
    uppers = [one.upper_pps for one in good if one.upper_pps is not None]
    bound = any(one.tester_limited or (one.upper_pps is None and not capped) for one in good)
    if ceiling is not None:
        near = load_pps >= TESTER_BOUND_SHARE * ceiling.max_pps
        bound = near or (bound and not shares_cores)
    return Throughput(
        goal=goal.name,
        goal_loss_ratio=goal.loss_ratio,
        status="found",
        why=next((one.why for one in good if one.why), None),
        load_pps=load_pps,
        load_min_pps=min(loads),
        load_max_pps=max(loads),
        lower_bound_pps=statistics.median(one.lower_pps for one in good if one.lower_pps is not None),
        upper_bound_pps=statistics.median(uppers) if uppers else None,
        repeats=len(good),
        l2_bps=load_pps * mean_frame_bytes * BITS_PER_BYTE,
        l1_bps=l1_bps(load_pps, mean_frame_bytes),
        tester_bound=bound,
        out_of_time=2 * sum(one.out_of_time for one in good) >= len(good),
        slower_times=_slower(good),
        distances_cycles=_nearest(good),
        unsteady=2 * sum(one.unsteady for one in good) >= len(good),
        left_out_share=statistics.median(one.left_out_share for one in good),
    )


def _slower(good: Sequence[GoalResult]) -> float | None:
    """A repeat in the best state that came speaks for all."""
    times = [one.slower_times for one in good]
    return None if None in times else min(one for one in times if one is not None)


def _nearest(good: Sequence[GoalResult]) -> dict[str, float]:
    nearest = min(good, key=lambda one: max(one.distances_cycles.values(), default=0.0))
    return dict(nearest.distances_cycles)


def goals_of(measure: Measure, rounds: Sequence[Sequence[GoalResult]]) -> list[tuple[Goal, list[GoalResult]]]:
    """Each goal with what every round found for it."""
    return [(goal, [found[index] for found in rounds]) for index, goal in enumerate(measure.goals)]
