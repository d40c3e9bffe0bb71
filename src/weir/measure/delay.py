# SPDX-License-Identifier: Apache-2.0
"""Delay and its variation at given loads, after the search: RFC 5481 and RFC 3550 from the same packets. And
what each compared set-up takes off the baseline's delays, round by round: the worse direction counts, as in
the study on customer-edge functions whose method this is.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import get_args

from weir.base.si import NS_PER_S
from weir.lab.delay import LatencyOptions, Load, load_of
from weir.lab.frames import BITS_PER_BYTE
from weir.measure.trial import TrialRunner
from weir.protocol.traffic import DelayWanted
from weir.results.result import (
    Case,
    DelayMeasure,
    DelayPoint,
    Reduction,
    Result,
    Setup,
    StreamCount,
    Throughput,
    Trial,
)

SHORTEST_S = 0.001


def load_pps(load: Load, throughput: Iterable[Throughput], mean_frame_bytes: float) -> float | None:
    """The load in packets a second, all directions together; None if its goal has no throughput."""
    if load.pps is not None:
        return load.pps
    if load.bps is not None:
        return load.bps / (mean_frame_bytes * BITS_PER_BYTE)
    found = next((one.load_pps for one in throughput if one.goal == load.goal), None)
    return None if found is None or load.share is None else found * load.share


def delays(
    runner: TrialRunner,
    options: LatencyOptions,
    throughput: Sequence[Throughput],
    *,
    mean_frame_bytes: float,
    on_point: Callable[[int, int], None],
    sleep: Callable[[float], None],
) -> list[DelayPoint]:
    """One point a load that can be known, in the lab's order; first packets, where asked for, before each."""
    points: list[DelayPoint] = []
    loads = options.all_loads
    for index, text in enumerate(loads):
        on_point(index + 1, len(loads))
        pps = load_pps(load_of(text), throughput, mean_frame_bytes)
        if pps is None:
            continue
        if options.first_packets:
            sleep(options.idle_s)
            duration_s = max(SHORTEST_S, runner.traffic.flows * len(runner.traffic.streams) / pps)
            trial = runner.run("first-packets", pps, duration_s, DelayWanted(first_packets=True)).trial
            points.append(point_of(text, pps, [trial], first_packets=True))
        wanted = DelayWanted(settle_ns=round(options.settle_s * NS_PER_S), variation=True)
        whole_s = options.settle_s + options.duration_s
        trials = [runner.valid("latency", pps, whole_s, wanted).trial for _ in range(options.repeats)]
        points.append(point_of(text, pps, trials))
    return points


def point_of(text: str, pps: float, trials: list[Trial], *, first_packets: bool = False) -> DelayPoint:
    """Trials at one load, with the direction that was worst in any of them."""
    worst: dict[str, float] = {}
    for trial in trials:
        for stream in trial.streams:
            if stream.latency is not None:
                worst[stream.direction] = max(worst.get(stream.direction, 0.0), stream.latency.p99_us)
    return DelayPoint(
        load=text,
        load_pps=pps,
        first_packets=first_packets,
        trials=trials,
        worst_direction=max(worst, key=lambda direction: worst[direction]) if worst else None,
    )


SAME_LOAD = 0.01


def reductions(result: Result) -> list[Reduction]:
    """For each chain, frame size and load of every way but the baseline; nothing where delays are missing."""
    return list(_reductions(result))


def _reductions(result: Result) -> Iterator[Reduction]:
    for setup in result.setups:
        base = next(
            (one for one in result.setups if (one.name, one.chain) == (result.baseline, setup.chain)), None
        )
        if base is None or base is setup:
            continue
        for case in setup.cases:
            for point in case.delays:
                other = _counterpart(base, case, point)
                if other is not None:
                    yield from _of_point(result.baseline, setup, case, point, other)


def _counterpart(base: Setup, case: Case, point: DelayPoint) -> DelayPoint | None:
    points = [other for one in base.cases if one.frame == case.frame for other in one.delays]
    wanted = (point.load, point.first_packets)
    return next((other for other in points if (other.load, other.first_packets) == wanted), None)


def _of_point(
    baseline: str, setup: Setup, case: Case, point: DelayPoint, base: DelayPoint
) -> Iterator[Reduction]:
    if point.first_packets:
        return
    pairs = [
        (one, other)
        for one, other in zip(point.trials, base.trials, strict=False)
        if one.valid and other.valid and one.delivered and other.delivered
    ]
    for measure in MEASURES:
        taken = [(_worst(one, measure), _worst(other, measure)) for one, other in pairs]
        known = [(found, was) for found, was in taken if found is not None and was]
        if not known:
            continue
        shares = [1 - found / was for found, was in known if found is not None and was]
        yield Reduction(
            chain=setup.chain,
            frame=case.frame,
            load=point.load,
            way=setup.name,
            baseline=baseline,
            measure=measure,
            baseline_us=statistics.median(was for _, was in known if was is not None),
            found_us=statistics.median(found for found, _ in known if found is not None),
            reduction=statistics.median(shares),
            reduction_min=min(shares),
            reduction_max=max(shares),
            rounds=len(shares),
            same_load=abs(point.load_pps - base.load_pps) <= SAME_LOAD * base.load_pps,
            loss_ratio=max(trial.loss_ratio for pair in pairs for trial in pair),
        )


def _worst(trial: Trial, measure: DelayMeasure) -> float | None:
    """Of the directions."""
    values = [value for stream in trial.streams if (value := _READ[measure](stream)) is not None]
    return max(values) if values else None


_READ: dict[DelayMeasure, Callable[[StreamCount], float | None]] = {
    "mean": lambda stream: stream.latency.mean_us if stream.latency else None,
    "p99": lambda stream: stream.latency.p99_us if stream.latency else None,
    "max": lambda stream: stream.latency.max_us if stream.latency else None,
    "ipdv_mean": lambda stream: stream.ipdv.mean_size_us if stream.ipdv else None,
    "ipdv_max": lambda stream: stream.ipdv.greatest_us if stream.ipdv else None,
    "jitter_max": lambda stream: stream.jitter.max_us if stream.jitter else None,
}
MEASURES: Sequence[DelayMeasure] = get_args(DelayMeasure)
