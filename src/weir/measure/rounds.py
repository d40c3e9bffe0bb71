# SPDX-License-Identifier: Apache-2.0
"""The same case measured in several rounds, with the other ways between them: one case out of all."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from weir.measure.delay import point_of
from weir.measure.service_level import judged
from weir.spec.sla import Sla
from weir.store.result import Case, DelayPoint, Throughput


def joined(rounds: Sequence[Case], sla: Sla | None) -> Case:
    """What the rounds say together: all trials, delays load by load, the median of what was found.

    A round that was given up says why in `problem`; what it had measured is kept.
    """
    first = rounds[0]
    goals = dict.fromkeys(found.goal for case in rounds for found in case.throughput)
    throughput = [_found([f for case in rounds for f in case.throughput if f.goal == goal]) for goal in goals]
    places = dict.fromkeys((point.load, point.first_packets) for case in rounds for point in case.delays)
    delays = [
        _point([p for case in rounds for p in case.delays if (p.load, p.first_packets) == place])
        for place in places
    ]
    return first.model_copy(
        update={
            "throughput": throughput,
            "curve": [trial for case in rounds for trial in case.curve],
            "trials": [trial for case in rounds for trial in case.trials],
            "delays": delays,
            "verdicts": judged(sla, throughput, delays) if sla else [],
            "problem": next((case.problem for case in rounds if case.problem), None),
            "seconds": sum(case.seconds for case in rounds),
        }
    )


def _point(points: Sequence[DelayPoint]) -> DelayPoint:
    return point_of(
        points[0].load,
        statistics.median(point.load_pps for point in points),
        [trial for point in points for trial in point.trials],
        first_packets=points[0].first_packets,
    )


def _found(rounds: Sequence[Throughput]) -> Throughput:
    """The round in the middle, with the spread of all; irregular unless more than half found a rate."""
    good = sorted((one for one in rounds if one.load_pps is not None), key=lambda one: one.load_pps or 0.0)
    if 2 * len(good) <= len(rounds):
        return next(one for one in rounds if one.load_pps is None)
    middle = good[(len(good) - 1) // 2]
    return middle.model_copy(
        update={
            "load_min_pps": min(one.load_min_pps or 0.0 for one in good),
            "load_max_pps": max(one.load_max_pps or 0.0 for one in good),
            "repeats": sum(one.repeats for one in good),
            "tester_bound": any(one.tester_bound for one in good),
            "stall_labelled": any(one.stall_labelled for one in good),
        }
    )
