# SPDX-License-Identifier: Apache-2.0
"""A lab's service level against what was measured: one verdict a limit, load and direction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from weir.lab.delay import load_of
from weir.lab.sla import G114_ONE_WAY_US, Sla
from weir.results.result import DelayPoint, StreamCount, Throughput, Verdict

_NAMES = {"p50": "P50", "p90": "P90", "p99": "P99", "p999": "P99.9", "p9999": "P99.99"}


@dataclass(frozen=True)
class _Limit:
    """An upper limit on one number of a stream; None: the stream does not have it."""

    name: str
    most: float
    unit: str
    of: Callable[[StreamCount], float | None]


def service_level_verdicts(
    sla: Sla, throughput: Sequence[Throughput], points: Sequence[DelayPoint], loads: Iterable[str] = ()
) -> list[Verdict]:
    """Every limit of `sla`, at each load; `loads`: those that were to be measured, whether or not they could
    be. Of repeats the worst counts. A trial that is not valid, or of which others had
    the cores for more than half of the time, is not judged: limits are not met by it, nor missed."""
    found = [_floor(one.goal, one.pps, throughput) for one in sla.throughput]
    measured = [point for point in points if not point.first_packets]
    had = dict.fromkeys(point.load for point in measured)
    at: Sequence[str | None] = [*dict.fromkeys((*loads, *had))] or [None]
    ways: Sequence[str | None] = [*_directions(measured)] or [None]
    for limit in _limits(sla):
        for load in at:
            if load not in had:
                why = _no_load(load, throughput)
                found += [_verdict(limit, None, load, way, why=why) for way in ways]
            for point in measured:
                if point.load == load:
                    found.extend(_of_point(limit, point))
    return found


def _of_point(limit: _Limit, point: DelayPoint) -> Iterator[Verdict]:
    usable = [trial for trial in point.trials if trial.valid and not trial.disturbed]
    for direction in _directions([point]):
        values = [
            limit.of(stream) for trial in usable for stream in trial.streams if stream.direction == direction
        ]
        known = [value for value in values if value is not None]
        worst = max(known, default=None)
        whole = len(usable) == len(point.trials) and len(known) == len(values)
        if worst is not None and worst <= limit.most and not whole:
            worst = None
        yield _verdict(limit, worst, point.load, direction, why=_not_measured(point))


def _directions(points: Sequence[DelayPoint]) -> dict[str, None]:
    every = (trial for point in points for trial in point.trials)
    return dict.fromkeys(stream.direction for trial in every for stream in trial.streams)


def _no_load(load: str | None, throughput: Sequence[Throughput]) -> str:
    """Of loads that are shares of a rate there is none without the rate."""
    goal = load_of(load).goal if load is not None else None
    without = (one for one in throughput if one.load_pps is None and (load is None or one.goal == goal))
    lacking = next(without, None)
    return f"{lacking.goal}: {lacking.why}" if lacking is not None else "No delay was measured."


def _not_measured(point: DelayPoint) -> str:
    said = [sentence for trial in point.trials for sentence in trial.invalid_because]
    said += [
        f"{trial.left_out_share:.0%} of a trial's time was disturbed: others had a core."
        for trial in point.trials
        if trial.disturbed
    ]
    if not any(stream.delivered for trial in point.trials for stream in trial.streams):
        said.append("No packet arrived, so there is no delay.")
    return said[0] if said else "Not every packet that it is about had such a delay."


def _limits(sla: Sla) -> Iterator[_Limit]:
    """In the order of the lab's keys."""
    if sla.loss_ratio is not None:
        yield _Limit("loss ratio", sla.loss_ratio, "", _loss_ratio)
    for key, most in sla.latency_us.given().items():
        yield _Limit(f"latency {_NAMES.get(key, key)}", most, "us", _reader("latency", f"{key}_us"))
    for key, most in sla.pdv_us.given().items():
        yield _Limit(f"PDV {_NAMES.get(key, key)}", most, "us", _reader("pdv", f"{key}_us"))
    for key, most in sla.ipdv_us.given().items():
        read = _reader("ipdv", "greatest_us" if key == "max" else f"{key}_size_us")
        yield _Limit(f"IPDV {_NAMES.get(key, key)}", most, "us", read)
    if sla.jitter_us is not None:
        yield _Limit("jitter (RFC 3550) max", sla.jitter_us, "us", _reader("jitter", "max_us"))
    if sla.budget == "g114":
        yield _Limit("latency max (ITU-T G.114)", G114_ONE_WAY_US, "us", _reader("latency", "max_us"))


def _reader(part: str, name: str) -> Callable[[StreamCount], float | None]:
    return lambda stream: getattr(getattr(stream, part), name, None)


def _loss_ratio(stream: StreamCount) -> float | None:
    return (stream.offered - stream.delivered) / stream.offered if stream.offered else None


def _verdict(
    limit: _Limit,
    found: float | None,
    load: str | None = None,
    direction: str | None = None,
    *,
    why: str,
) -> Verdict:
    return Verdict(
        criterion=limit.name,
        load=load,
        direction=direction,
        limit=limit.most,
        found=found,
        unit=limit.unit,
        share=found / limit.most if found is not None and limit.most else None,
        met=found is not None and found <= limit.most,
        why=None if found is not None else why,
    )


def _floor(goal: str, least_pps: float, throughput: Sequence[Throughput]) -> Verdict:
    why_none = f"No search for {goal} came to its end."
    none = Throughput(goal=goal, goal_loss_ratio=0, status="irregular", why=why_none)
    of_goal = next((one for one in throughput if one.goal == goal), none)
    below = of_goal.load_pps is None and (of_goal.upper_bound_pps or math.inf) <= least_pps
    why = None if below else _unknown(of_goal, least_pps)
    found = of_goal.upper_bound_pps if below else of_goal.load_pps if why is None else None
    return Verdict(
        criterion=f"{goal} at least",
        limit=least_pps,
        found=found,
        below=below,
        unit="pps",
        share=least_pps / found if found else None,
        met=found is not None and found >= least_pps and not below,
        why=why,
    )


def _unknown(found: Throughput, least_pps: float) -> str | None:
    """Why it does not say on which side of its floor the rate is."""
    goal, pps, ends_pps = found.goal, found.load_pps, found.interval_pps
    if pps is None:
        return found.why
    if found.disturbed:
        share = f"{found.left_out_share:.0%}"
        return f"{goal}: {share} of the time of the trials that bound it was left out: others had a core."
    if pps < least_pps and found.at_least:
        by = "`measure.max_load_pps` lets no more be sent" if found.lab_bound else "the tester was the limit"
        return f"{goal} is at least {pps:,.0f} pps, and may be more: {by}."
    if ends_pps is not None and pps < least_pps < ends_pps[1]:
        ends = " and ".join(f"{end:,.0f}" for end in ends_pps)
        return f"{goal} is between {ends} pps: the time limit came before its search was at its end."
    return None
