# SPDX-License-Identifier: Apache-2.0
"""Made-up runs that measured delays at given loads, with histograms: no number of theirs was measured."""

from __future__ import annotations

from collections.abc import Sequence

from weir.results.result import DelayPoint, Result, StreamCount, Trial, Verdict

from .synthetic import latency, result

Buckets = list[tuple[float, float, int]]
SLOWEST_OF_1000: Buckets = [(9.9, 10.1, 900), (19.8, 20.2, 90), (99.0, 101.0, 10)]
"""From (us), up to (us), packets."""


def trial(buckets: Buckets, *, times: float = 1.0, valid: bool = True) -> Trial:
    """Both directions; the one from right to left takes twice as long."""
    streams = [stream(buckets, "left-to-right", times), stream(buckets, "right-to-left", 2 * times)]
    packets = sum(one.offered for one in streams)
    return Trial(
        purpose="latency",
        intended_load_pps=1e5,
        intended_duration_s=1,
        duration_s=1,
        intended=packets,
        offered=packets,
        delivered=packets,
        loss_ratio=0,
        valid=valid,
        invalid_because=[] if valid else ["17 packets are unaccounted for"],
        streams=streams,
    )


def stream(buckets: Buckets, direction: str, times: float) -> StreamCount:
    packets = sum(count for *_, count in buckets)
    return StreamCount(
        stream=0,
        direction=direction,
        intended=packets,
        offered=packets,
        delivered=packets,
        duplicates=0,
        reordered=0,
        latency=latency(packets, min(0.9, 0.1 * times)),
        histogram=[(low * times, high * times, count) for low, high, count in buckets],
    )


def latency_run(technologies: Sequence[str] = ("direct", "ovs"), loads: int = 1) -> Result:
    """Frames of 64 B through PVP: only delays, at 10 % PDR and more, of several technologies or one."""
    run = result()
    chosen = [one for one in run.setups if one.technology in technologies and one.chain == "PVP"]
    for number, setup in enumerate(chosen, start=1):
        setup.cases = setup.cases[:1]
        case = setup.cases[0]
        case.throughput, case.curve, case.trials = [], [], []
        case.delays = [
            DelayPoint(
                load=f"{load * 10}% PDR",
                load_pps=load * 1e5,
                trials=[trial(SLOWEST_OF_1000, times=number * load)],
                worst_direction="right-to-left",
            )
            for load in range(1, loads + 1)
        ]
    run.setups, run.baseline = chosen, technologies[0]
    return run


def limit(found_us: float | None, limit_us: float = 100.0) -> Verdict:
    """On the P99 at 10 % PDR."""
    return Verdict(
        criterion="latency P99",
        load="10% PDR",
        direction="left-to-right",
        limit=limit_us,
        found=found_us,
        unit="us",
        share=None if found_us is None else found_us / limit_us,
        met=found_us is not None and found_us <= limit_us,
        why="No trial was valid." if found_us is None else None,
    )
