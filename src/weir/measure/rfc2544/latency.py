# SPDX-License-Identifier: Apache-2.0
"""RFC 2544 26.2: a stream at the throughput, one frame of it tagged; repeated, and averaged.

All frames of the same trials are measured besides: the tagged one says nothing about the others.
"""

from __future__ import annotations

import statistics

from weir.measure.merged_latency import merged_latency
from weir.measure.rfc2544.bench import Bench
from weir.protocol.traffic import DelayWanted
from weir.results.rfc2544 import LatencyTest, TaggedLatency
from weir.results.trial import StreamCount, Trial


def measure_latency(bench: Bench, load_pps: float) -> LatencyTest:
    """At `load_pps`, all directions together."""
    options = bench.options
    wanted = DelayWanted(tag_ns=round(options.latency_tag_s * 1e9))
    trials: list[Trial] = []
    for number in range(options.latency_repeats):
        bench.phase("latency", number + 1, options.latency_repeats)
        trials.append(bench.runner.valid("latency", load_pps, options.latency_s, wanted).trial)
    valid = [trial for trial in trials if trial.valid]
    report = LatencyTest(
        load_pps=load_pps, trial_s=options.latency_s, tag_s=options.latency_tag_s, repeats=len(valid)
    )
    if not valid:
        report.why = f"No trial was valid: {trials[-1].invalid_because[0]}"
        return report
    streams = [stream for trial in valid for stream in trial.streams]
    for direction in dict.fromkeys(stream.direction for stream in streams):
        found = _one_direction(direction, [one for one in streams if one.direction == direction])
        if found is not None:
            report.directions.append(found)
    if not report.directions:
        report.why = "No tagged frame arrived."
    elif len(valid) < len(trials):
        report.why = f"{len(trials) - len(valid)} of {len(trials)} trials were not valid."
    return report


def _one_direction(direction: str, streams: list[StreamCount]) -> TaggedLatency | None:
    tagged_us = [stream.tagged_us for stream in streams if stream.tagged_us is not None]
    every = merged_latency(streams)
    if not tagged_us or every is None:
        return None
    late_us = [stream.lateness.max_us for stream in streams if stream.lateness is not None]
    return TaggedLatency(
        direction=direction,
        tagged_us=tagged_us,
        mean_us=statistics.mean(tagged_us),
        latency=every,
        late_max_us=max(late_us, default=None),
    )
