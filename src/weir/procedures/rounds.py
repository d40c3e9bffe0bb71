# SPDX-License-Identifier: Apache-2.0
"""A setup of a campaign: what its rounds measured, and what they say together."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count, islice

from weir.lab import Chain
from weir.lab.sla import Sla
from weir.lab.ways import Way
from weir.measure.delay import point_of
from weir.measure.machine_state import MachineState
from weir.measure.repeats import none_found, remarked, too_much_pps, vote
from weir.measure.service_level import service_level_verdicts
from weir.results.campaign import CaseRound, RoundDelay
from weir.results.result import Case, DelayPoint, RoundRate, Setup, Throughput
from weir.results.rounds import ended, finished, numbers


@dataclass
class MeasuredSetup:
    """A setup with its number in the store, and what each round measured of each frame size."""

    way: Way
    chain: Chain
    setup: Setup
    number: int
    rounds: dict[str, list[Case]] = field(default_factory=dict)

    def add(self, case: Case, sla: Sla | None, state: MachineState) -> Case:
        """The case of all rounds so far, which the setup has from now on."""
        self.rounds.setdefault(case.frame, []).append(case)
        return self.judge(case.frame, sla, state)

    def judge(self, frame: str, sla: Sla | None, state: MachineState) -> Case:
        """The same with what is known of the machine by now."""
        known = self.rounds[frame]
        for case in known:
            for found in case.throughput:
                found.farther_times = state.farther_times(found.distances_cycles)
        latency = self.way.lab.measure.latency
        loads = latency.all_loads if latency is not None else ()
        whole = combined(known, sla, loads) if len(known) > 1 else known[0]
        for at, one in enumerate(self.setup.cases):
            if one.frame == frame:
                self.setup.cases[at] = whole
                break
        else:
            self.setup.cases.append(whole)
        return whole

    def restore(self) -> list[str]:
        """The rounds of a setup that comes from the store; frame sizes of which a round was taken out, since
        it was interrupted. What is left of these is to be judged, and stored again."""
        changed = []
        for case in list(self.setup.cases):
            known = rounds_of(case)
            whole = [one for one in known if ended(one)]
            if whole:
                self.rounds[case.frame] = whole
            else:
                self.setup.cases.remove(case)
            if len(whole) < len(known):
                changed.append(case.frame)
        return changed

    def without_broken(self, planned: int) -> list[str]:
        """Takes out rounds that were interrupted and were more than the `planned` ones; frame sizes that had
        such."""
        changed = []
        for frame, known in self.rounds.items():
            numbered = zip(numbers(known), known, strict=True)
            left = [one for number, one in numbered if ended(one) or number < planned]
            if left and len(left) < len(known):
                self.rounds[frame] = left
                changed.append(frame)
        return changed

    def finished(self, frame: str) -> set[int]:
        """Rounds of that frame size that came to their end, or were given up."""
        return finished(self.rounds.get(frame, ()))

    def free(self, frame: str, first: int) -> int:
        """The first round, from that one on, which is not measured."""
        had = self.finished(frame)
        return next(number for number in count(first) if number not in had)

    def worse(self) -> list[str]:
        """Frame sizes that were only measured in a worse state of the machine than the rest."""
        return [
            case.frame for case in self.setup.cases if any(found.worse_state for found in case.throughput)
        ]


def combined(rounds: Sequence[Case], sla: Sla | None, loads: Sequence[str] = ()) -> Case:
    """What the rounds say together: all trials, delays load by load, the median of what was found.

    `loads`: at which the lab asks for delays, whether or not they could be measured. A round that was given
    up says why in `problem`; what it had measured is kept.
    """
    first = rounds[0]
    goals = dict.fromkeys(found.goal for case in rounds for found in case.throughput)
    numbered = list(zip(numbers(rounds), rounds, strict=True))
    throughput = [
        _found([(at, f) for at, case in numbered for f in case.throughput if f.goal == goal])
        for goal in goals
    ]
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
            "verdicts": service_level_verdicts(sla, throughput, delays, loads) if sla else [],
            "rounds": [_kept(case) for case in rounds],
            "round": None,
            "problem": next((case.problem for case in rounds if case.problem), None),
            "seconds": sum(case.seconds for case in rounds),
        }
    )


def rounds_of(case: Case) -> list[Case]:
    """What `combined` was made of, from a stored case: the trials are told apart by how many each had."""
    if not case.rounds:
        return [case]
    curve = iter(case.curve)
    of_loads = {(point.load, point.first_packets): iter(point.trials) for point in case.delays}
    return [
        case.model_copy(
            update={
                "throughput": one.throughput,
                "trials": trials,
                "curve": list(islice(curve, one.curve)),
                "delays": [
                    point_of(
                        delay.load,
                        delay.load_pps,
                        list(islice(of_loads[delay.load, delay.first_packets], delay.trials)),
                        first_packets=delay.first_packets,
                    )
                    for delay in one.delays
                ],
                "verdicts": [],
                "rounds": [],
                "round": one.round,
                "problem": one.problem,
                "seconds": one.seconds,
            }
        )
        for one, trials in zip(case.rounds, case.trials_of_rounds, strict=True)
    ]


def _kept(case: Case) -> CaseRound:
    return CaseRound(
        round=case.round,
        throughput=case.throughput,
        trials=len(case.trials),
        curve=len(case.curve),
        delays=[
            RoundDelay(
                load=point.load,
                first_packets=point.first_packets,
                load_pps=point.load_pps,
                trials=len(point.trials),
            )
            for point in case.delays
        ],
        problem=case.problem,
        seconds=case.seconds,
    )


def _point(points: Sequence[DelayPoint]) -> DelayPoint:
    return point_of(
        points[0].load,
        statistics.median(point.load_pps for point in points),
        [trial for point in points for trial in point.trials],
        first_packets=points[0].first_packets,
    )


def _found(rounds: Sequence[tuple[int, Throughput]]) -> Throughput:
    """The median of the rounds in the best state of the machine that any had, with their spread; irregular
    unless more than half of those that say something found a rate. What is said beside the rate is of the
    round nearest to it."""
    good = [(number, one) for number, one in rounds if one.load_pps is not None]
    found, bad, why_none = vote([one for _, one in rounds])
    searches = sum(one.searches for _, one in rounds)
    rates = [_rate(number, one) for number, one in good]
    if why_none is not None:
        others = ", ".join(f"{one.load_pps or 0.0:,.0f} pps" for one in found)
        said = f" (the others: {others})"
        why = none_found(len(bad), len(rounds), "rounds", why_none.why, said) if found else why_none.why
        uppers = [one.upper_bound_pps for one in bad if not one.unmeasured]
        return why_none.model_copy(
            update={
                "why": why,
                "upper_bound_pps": None if found else too_much_pps(uppers),
                "rounds": rates,
                "searches": searches,
            }
        )
    best = [one for _, one in good if not one.worse_state] or [one for _, one in good]
    load_pps = statistics.median(one.load_pps or 0.0 for one in best)
    middle_pps = statistics.median_high(one.load_pps or 0.0 for one in best)
    middle = [one for one in best if (one.load_pps or 0.0) <= middle_pps]
    nearest = min(best, key=lambda one: abs((one.load_pps or 0.0) - load_pps))
    share = load_pps / nearest.load_pps if nearest.load_pps else 1.0
    return nearest.model_copy(
        update={
            "load_pps": load_pps,
            "l2_bps": (nearest.l2_bps or 0.0) * share,
            "l1_bps": (nearest.l1_bps or 0.0) * share,
            "load_min_pps": min(one.load_min_pps or 0.0 for one in best),
            "load_max_pps": max(one.load_max_pps or 0.0 for one in best),
            "why": remarked(nearest.why, bad, len(rounds), "rounds"),
            "repeats": sum(one.repeats for one in best),
            "searches": searches,
            "tester_bound": any(one.tester_bound for one in middle),
            "lab_bound": any(one.lab_bound for one in middle),
            "out_of_time": 2 * sum(one.out_of_time for one in best) >= len(best),
            "slower_times": min(one.slower_times or 1.0 for one in best) if _all_slower(best) else None,
            "unsteady": 2 * sum(one.unsteady for one in best) >= len(best),
            "left_out_share": statistics.median(one.left_out_share for one in best),
            "rounds": rates,
        }
    )


def _rate(number: int, found: Throughput) -> RoundRate:
    return RoundRate(
        round=number,
        load_pps=found.load_pps or 0.0,
        slower_times=found.slower_times,
        farther_times=found.farther_times,
        tester_bound=found.tester_bound,
        lab_bound=found.lab_bound,
    )


def _all_slower(best: Sequence[Throughput]) -> bool:
    return all(one.slower_times is not None for one in best)
