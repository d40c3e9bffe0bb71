# SPDX-License-Identifier: Apache-2.0
"""The latency histograms of a result as HdrHistograms, for the formats that its tools read.

Values are in nanoseconds. A bucket of weir-dp, at most 1 % wide, counts at its middle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]

from weir.results.result import Case, Result, Setup, StreamCount, Trial

LOWEST_NS = 1
HIGHEST_NS = 3_600_000_000_000  # an hour
SIGNIFICANT_FIGURES = 3
NS_PER_US = 1e3


@dataclass(frozen=True)
class Recorded:
    """One direction of one trial."""

    tag: str
    """direct.PVP.64.50%-PDR.left-to-right: no spaces and commas, as the log format asks."""
    trial_s: float
    histogram: HdrHistogram


def recorded(result: Result) -> Iterator[Recorded]:
    """Of all valid trials that kept their histograms, in stored order."""
    for setup in result.setups:
        for case in setup.cases:
            for load, trial in _trials(case):
                for stream in trial.streams:
                    if trial.valid and stream.histogram:
                        tag = _tag(setup, case, load, stream)
                        yield Recorded(tag, trial.duration_s, _histogram(stream))


def _trials(case: Case) -> Iterator[tuple[str, Trial]]:
    for point in case.delays:
        load = f"first packets {point.load}" if point.first_packets else point.load
        yield from ((load, trial) for trial in point.trials)
    yield from ((trial.purpose, trial) for trial in (*case.trials, *case.curve))


def _tag(setup: Setup, case: Case, load: str, stream: StreamCount) -> str:
    parts = (setup.name, setup.chain, case.frame, load, stream.direction)
    return ".".join(re.sub(r"[\s,=]+", "-", part) for part in parts)


def empty() -> HdrHistogram:
    """One that all others can be added to."""
    return HdrHistogram(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_FIGURES, b64_wrap=True)


def _histogram(stream: StreamCount) -> HdrHistogram:
    found = empty()
    for from_us, to_us, packets in stream.histogram:
        middle_ns = round((from_us + to_us) / 2 * NS_PER_US)
        found.record_value(min(HIGHEST_NS, max(LOWEST_NS, middle_ns)), packets)
    return found
