# SPDX-License-Identifier: Apache-2.0
"""The latency histograms of a result, in nanoseconds, in two formats that HdrHistogram's tools read.

.hgrm: percentile distributions for its plotter, which takes one at a time: one for each technology, chain,
frame, load and direction, all trials of it together, after a comment that names it.

.hlog: an interval log, a tagged line for each direction of a trial. Histograms are encoded as V2, compressed,
in base64; Interval_Max is in milliseconds, as the format's writers have it. Results keep no times of trials,
so the lines of a tag follow each other from 0.

A bucket of weir-dp, at most 1 % wide, counts at its middle.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]

from weir.base.si import NS_PER_MS, NS_PER_US
from weir.report import Format
from weir.results.result import Case, Result, Setup, StreamCount, Trial

LOWEST_NS = 1
HIGHEST_NS = 3_600_000_000_000  # an hour
SIGNIFICANT_FIGURES = 3
NOTHING = "#no trial of this run kept its histogram: measure.latency and `weir rfc2544` do\n"
HEAD = (
    "#[Histogram log format version 1.3]",
    "#[StartTime: 0.000 (seconds since epoch)]",
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
)


@dataclass(frozen=True)
class Recorded:
    """One direction of one trial."""

    setup: Setup
    case: Case
    load: str
    """As the lab says it, or what the trial was for."""
    trial: Trial
    stream: StreamCount

    @property
    def tag(self) -> str:
        """direct.PVP.64.50%-PDR.left-to-right: no spaces and commas, as the log format asks."""
        parts = (self.setup.name, self.setup.chain, self.case.frame, self.load, self.stream.direction)
        return ".".join(re.sub(r"[\s,=]+", "-", part) for part in parts)


def recorded(result: Result) -> Iterator[Recorded]:
    """Of all valid trials that kept their histograms, in stored order."""
    for setup, case in result.cases():
        for load, trial in _trials(case):
            for stream in trial.streams:
                if trial.valid and stream.histogram:
                    yield Recorded(setup, case, load, trial, stream)


def _trials(case: Case) -> Iterator[tuple[str, Trial]]:
    for point in case.delays:
        load = f"first packets {point.load}" if point.first_packets else point.load
        yield from ((load, trial) for trial in point.trials)
    yield from ((trial.purpose, trial) for trial in (*case.trials, *case.curve))


def empty() -> HdrHistogram:
    """One that all others can be added to."""
    return HdrHistogram(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_FIGURES, b64_wrap=True)


def _histogram(stream: StreamCount) -> HdrHistogram:
    found = empty()
    for from_us, to_us, packets in stream.histogram:
        middle_ns = round((from_us + to_us) / 2 * NS_PER_US)
        found.record_value(min(HIGHEST_NS, max(LOWEST_NS, middle_ns)), packets)
    return found


def percentiles(result: Result) -> str:
    """The distributions; a comment alone where the run kept none."""
    merged: dict[str, HdrHistogram] = {}
    for one in recorded(result):
        merged.setdefault(one.tag, empty()).add(_histogram(one.stream))
    return "\n".join(_distribution(tag, histogram) for tag, histogram in merged.items()) or NOTHING


def _distribution(tag: str, histogram: HdrHistogram) -> str:
    out = io.BytesIO()
    histogram.output_percentile_distribution(out, 1)
    return f"#{tag}, ns\n{out.getvalue().decode()}"


def no_delays(result: Result) -> str | None:
    """Format's `lacks` of those that show nothing but delays."""
    if next(iter(recorded(result)), None) is not None:
        return None
    way = "a lab with `measure: {latency: {}}` measures them"
    return f"no valid trial of it kept a histogram of delays; {way}"


PERCENTILES = Format("hgrm", ".hgrm", percentiles, no_delays)


def log(result: Result) -> str:
    """The log; a head alone where no trial kept its histogram."""
    lines = [*HEAD]
    ended_s: dict[str, float] = {}
    for one in recorded(result):
        began_s, trial_s = ended_s.get(one.tag, 0.0), one.trial.duration_s
        ended_s[one.tag] = began_s + trial_s
        histogram = _histogram(one.stream)
        longest_ms = histogram.get_max_value() / NS_PER_MS
        payload = histogram.encode().decode()
        lines.append(f"Tag={one.tag},{began_s:.3f},{trial_s:.3f},{longest_ms:.3f},{payload}")
    return "\n".join(lines) + "\n"


LOG = Format("hlog", ".hlog", log, no_delays)
