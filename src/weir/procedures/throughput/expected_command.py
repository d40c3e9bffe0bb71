# SPDX-License-Identifier: Apache-2.0
"""How long what `weir run` is about to do is expected to take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from weir.procedures.throughput.planned import Planned

if TYPE_CHECKING:
    from weir.lab import Lab
    from weir.lab.ways import Way

SPREAD = 1.3
"""By how much a run may take longer, or shorter, than one before it."""
CONNECTION_TRIALS_FEWEST, CONNECTION_TRIALS_MOST = 14, 31
"""Of a search for a goal of connections: where loads are told apart at once; where a table or a queue is full
in every second one, as seen of a firewall whose table of 65,536 sessions was."""
OF_TRIAL_S = 0.65
"""Of `trial_s`: searches begin with short trials."""
FORGETTING_S = 1.0
"""Before a trial, where functions end as many sessions as their table holds."""
CLOCK_FROM_S = 3600.0
"""How long a run must be for its end to be told by the clock."""
BUSY = 0.5
"""Load average from which others' programs are named beside the time that is expected."""
FULL_SHARE = 0.5
"""Of the CPUs: from such a load on most trials are disturbed, lengthened and repeated."""


def json_expected(plan: Planned, before: Sequence[float]) -> dict[str, float | list[int] | None]:
    """The same as `expected` for programs, in seconds; None: nobody knows."""
    lab, compared, share = plan.lab, plan.compared, plan.left_share
    if _replayed(lab) is not None and not before:
        return {"expected_s": None, "expected_range_s": None}
    return {
        "expected_s": round(share * _expected_s(lab, compared)),
        "expected_range_s": [round(share * one) for one in range_s(lab, compared, before)],
    }


def _replayed(lab: Lab) -> str | None:
    """At which rate; how long that takes only who has read the capture knows. None: nothing is replayed."""
    return lab.traffic.capture.rate if lab.traffic.capture is not None else None


def _connections_s(lab: Lab, *, steady: bool) -> float | None:
    """Of a case of connections; `steady`: where no trial waits for what never completes. None: of packets."""
    if (wanted := lab.traffic.connections) is None:
        return None
    searches, trial_s = lab.measure.repeats * len(wanted.goals), OF_TRIAL_S * wanted.trial_s
    if steady:
        return searches * CONNECTION_TRIALS_FEWEST * trial_s
    return searches * CONNECTION_TRIALS_MOST * (trial_s + wanted.drain_s / 2 + FORGETTING_S)


def _expected_s(lab: Lab, compared: Sequence[Way], *, steady: bool = False) -> float:
    """Of the lab on a quiet machine, without what is measured again. `steady`: where searches are short."""
    from weir.lab.frames import mean_frame_bytes
    from weir.measure.expected import DECIDING_FEWEST, DECIDING_MOST, expected_s

    ways = [way for way in compared if way.refused is None]
    frames = lab.traffic.frames
    chains = [len(way.lab.chains()) * lab.measure.rounds for way in ways]
    if (each_s := _connections_s(lab, steady=steady)) is not None:
        return each_s * sum(chains) * len(frames)
    loads = DECIDING_FEWEST if steady else DECIDING_MOST
    return sum(
        count
        * expected_s(
            way.lab.measure,
            loads,
            mean_frame_bytes=mean_frame_bytes(frame),
            streams=len(way.lab.tester.directions),
        )
        for way, count in zip(ways, chains, strict=True)
        for frame in frames
    )


def range_s(lab: Lab, compared: Sequence[Way], before: Sequence[float]) -> tuple[float, float]:
    """The shortest and the longest that is expected; `before`: what runs of the same lab took here."""
    least_s = _least_s(lab, compared)
    if before:
        return max(least_s, min(before) / SPREAD), max(least_s, max(before) * SPREAD)
    rest_s = _expected_s(lab, compared, steady=True) - least_s
    return least_s + rest_s / SPREAD, _expected_s(lab, compared)


def _least_s(lab: Lab, compared: Sequence[Way]) -> float:
    """Of sending at loads that are given."""
    from weir.measure.expected import least_s

    if lab.traffic.connections is not None or _replayed(lab) is not None:
        return 0.0
    each = len(lab.traffic.frames) * lab.measure.rounds
    return sum(
        each * len(way.lab.chains()) * least_s(way.lab.measure) for way in compared if way.refused is None
    )


def expected(plan: Planned, before: Sequence[float]) -> str:
    """How much there is to do, and about how long that takes."""
    from weir.cli.progress import rough, span
    from weir.measure.expected import least_s

    lab, share = plan.lab, plan.left_share
    rounds, cases = lab.measure.rounds, plan.cases
    what = f"{cases} {'case' if cases == 1 else 'cases'}" + (
        f", each in {rounds} rounds" if rounds > 1 else ""
    )
    if plan.asked.resumed is not None:
        left = round(share * cases * rounds)
        what = f"{what}, of which {left} of {cases * rounds} points are left"
    if (rate := _replayed(lab)) is not None and not before:
        return (
            f"{what}: {lab.measure.repeats} replays each, which take as long as the captured frames do, "
            f"at {rate}{_beside(plan)}"
        )
    shortest_s, longest_s = (share * one for one in range_s(lab, plan.compared, before))
    said = f"{what}: expected to take {span(shortest_s, longest_s)}"
    if plan.asked.budget_s is not None:
        limit = f"; the budget is {rough(plan.asked.budget_s)}"
        said += limit + (", so not all will be measured" if plan.asked.budget_s < shortest_s else "")
        shortest_s, longest_s = (min(one, plan.asked.budget_s) for one in (shortest_s, longest_s))
    if longest_s >= CLOCK_FROM_S:
        said += f" (until {_clock(shortest_s)} to {_clock(longest_s)})"
    if before:
        runs = "run" if len(before) == 1 else f"{len(before)} runs"
        return f"{said}, by the last {runs} of this lab here{_beside(plan)}"
    # A budget has room for that, too; and it takes no longer than all the rest (Campaign).
    again = min(lab.measure.revisit_s, longest_s) if plan.asked.budget_s is None else 0
    again = again if least_s(lab.measure) < again else 0
    more = f"; up to {rough(again)} more for cases that the machine was in a worse state for" if again else ""
    return f"{said}{more}{_emptied(plan)}{_beside(plan)}"


def _emptied(plan: Planned) -> str:
    """That trials wait until nothing comes any more, where functions may hold packets for longer than Weir's:
    of how many nobody knows."""
    of_others = any(
        way.lab.functions[name].kind != "process"
        for way in plan.compared
        for chain in way.lab.chains()
        for name in chain.functions
    )
    return "; longer where queues are deep, since a trial is over when they are empty" if of_others else ""


def _clock(ahead_s: float) -> str:
    """ "14:35", or "Thu 14:35" of another day."""
    now = datetime.now().astimezone()
    then = now + timedelta(seconds=ahead_s)
    return f"{then:%H:%M}" if then.date() == now.date() else f"{then:%a %H:%M}"


def _polled(plan: Planned) -> int:
    """Cores on which loops poll: of the way that has most."""
    every = [way.lab.cores for way in plan.compared if way.lab.cores is not None]
    return max(
        (len({*(one.tester or ()), *(one.functions or ()), *(one.switch or ())}) for one in every), default=0
    )


def _beside(plan: Planned) -> str:
    """What is known beforehand of what will make it longer: others, by the load of the last minute, and a
    quota."""
    from weir.fabric.host.quota import quota_cpus
    from weir.fabric.host.tree import Tree

    load, cpus = os.getloadavg()[0], len(os.sched_getaffinity(0))
    quota, polled = quota_cpus(Tree()), _polled(plan) or cpus
    if quota is not None and quota < min(cpus, polled):
        return (
            f"; several times as long, if it finds any rate, where a control group leaves it the time of "
            f"{quota:g} CPUs for loops on {polled} (`weir doctor` tells how to raise it)"
        )
    if load < BUSY:
        return ""
    how = "several times as long" if load > FULL_SHARE * cpus else "longer"
    return (
        f"; {how} beside the programs that run here now (load {load:.1f} on {cpus} CPUs; "
        "`weir doctor` names them)"
    )
