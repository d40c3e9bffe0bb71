# SPDX-License-Identifier: Apache-2.0
"""Delay and its variation at given loads, after the search: RFC 5481 and RFC 3550 from the same packets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from weir.base.si import NS_PER_S
from weir.lab.delay import LatencyOptions, Load, load_of
from weir.lab.frames import BITS_PER_BYTE
from weir.measure.trial import TrialRunner
from weir.protocol.traffic import DelayWanted
from weir.results.result import DelayPoint, Throughput, Trial

SHORTEST_S = 0.001


def load_pps(load: Load, throughput: Iterable[Throughput], mean_frame_bytes: float) -> float | None:
    """The load in packets a second, all directions together; None if its goal has no throughput."""
    if load.pps is not None:
        return load.pps
    if load.bps is not None:
        return load.bps / (mean_frame_bytes * BITS_PER_BYTE)
    found = next((one.load_pps for one in throughput if one.goal == load.goal), None)
    return None if found is None or load.share is None else found * load.share


def given_pps(options: LatencyOptions | None, mean_frame_bytes: float) -> list[float]:
    """Those of its loads that are rates, in the lab's order, in packets a second, all directions together."""
    loads = options.all_loads if options is not None else []
    known = (load_pps(load_of(text), (), mean_frame_bytes) for text in loads)
    return [pps for pps in known if pps is not None]


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
    """Trials at one load, with the direction that was worst in any of them that counts."""
    point = DelayPoint(load=text, load_pps=pps, first_packets=first_packets, trials=trials)
    worst: dict[str, float] = {}
    for trial in point.counting:
        for stream in trial.streams:
            if stream.latency is not None:
                worst[stream.direction] = max(worst.get(stream.direction, 0.0), stream.latency.p99_us)
    point.worst_direction = max(worst, key=lambda direction: worst[direction]) if worst else None
    return point
