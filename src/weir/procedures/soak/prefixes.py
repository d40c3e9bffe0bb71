# SPDX-License-Identifier: Apache-2.0
"""What shorter runs would have shown: after the paper on virtual CPE, figure 10 (5 minutes against 16 hours).

The first minute, ten minutes and hour are kept with the whole of their histograms. And every part of that
length has its own greatest latency: their spread says how far a single short run can be trusted."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weir.procedures.soak.delays import Delays, of_record
from weir.results.soak import SoakInterval, SoakPrefix, SoakStream

LENGTHS_S = {"1 min": 60.0, "10 min": 600.0, "1 h": 3600.0}
ALL = "all"
_COUNTS = ("offered", "refused", "delivered", "lost", "duplicates", "reordered")


@dataclass
class _Windows:
    """Parts of one length, one behind the other."""

    seconds: float
    filled_s: float = 0.0
    max_us: float = 0.0
    done: list[float] = field(default_factory=list)

    def add(self, seconds: float, max_us: float) -> None:
        self.filled_s += seconds
        self.max_us = max(self.max_us, max_us)
        if self.filled_s >= self.seconds:
            self.done.append(self.max_us)
            self.filled_s, self.max_us = 0.0, 0.0


class Prefixes:
    """Grows by one interval at a time."""

    def __init__(self, lengths_s: Mapping[str, float] = LENGTHS_S) -> None:
        self._lengths_s = lengths_s
        self._windows = {name: _Windows(seconds) for name, seconds in lengths_s.items()}
        self._kept: dict[str, SoakPrefix] = {}
        self._seconds = 0.0
        self._streams: dict[int, SoakStream] = {}
        self._delays: dict[int, Delays] = {}

    @classmethod
    def resumed(
        cls,
        stored: Sequence[SoakPrefix],
        intervals: Sequence[SoakInterval],
        lengths_s: Mapping[str, float] = LENGTHS_S,
    ) -> Prefixes:
        """As they were after those intervals."""
        made = cls(lengths_s)
        for interval in intervals:
            made._time(interval)
        made._kept = {one.name: one for one in stored if one.name != ALL}
        for one in stored:
            if one.name == ALL:
                made._streams = {stream.stream: stream for stream in one.streams}
                made._delays = {stream.stream: of_record(stream) for stream in one.streams}
        return made

    def add(self, record: SoakInterval, delays: Mapping[int, Delays]) -> None:
        """The next interval."""
        for stream in record.streams:
            self._delays[stream.stream] = self._delays.get(stream.stream, Delays()).plus(
                delays[stream.stream]
            )
            known = self._streams.get(stream.stream)
            self._streams[stream.stream] = summed(known, stream) if known else _bare(stream)
        self._time(record)
        for name, seconds in self._lengths_s.items():
            if self._seconds >= seconds and name not in self._kept:
                self._kept[name] = self._now(name)

    def so_far(self) -> list[SoakPrefix]:
        """Those that have passed, with their windows, and all together last."""
        found = [one.model_copy(update=_spread(self._windows[name].done)) for name, one in self._kept.items()]
        return [*found, self._now(ALL)]

    def _time(self, record: SoakInterval) -> None:
        latencies = [stream.latency for stream in record.streams if stream.latency is not None]
        if not latencies:
            return
        seconds = record.to_s - record.from_s
        self._seconds += seconds
        for window in self._windows.values():
            window.add(seconds, max(latency.max_us for latency in latencies))

    def _now(self, name: str) -> SoakPrefix:
        streams = [self._delays[at].into(stream, coarse=False) for at, stream in self._streams.items()]
        return SoakPrefix(name=name, seconds=self._seconds, streams=streams)


def summed(one: SoakStream, other: SoakStream) -> SoakStream:
    """Counts of both; delays are added elsewhere."""
    return _bare(one).model_copy(update={name: getattr(one, name) + getattr(other, name) for name in _COUNTS})


def _bare(stream: SoakStream) -> SoakStream:
    return SoakStream(
        stream=stream.stream,
        direction=stream.direction,
        **{name: getattr(stream, name) for name in _COUNTS},
    )


def _spread(max_us: Sequence[float]) -> dict[str, float | int]:
    if not max_us:
        return {}
    return {
        "windows": len(max_us),
        "max_us_least": min(max_us),
        "max_us_median": statistics.median(max_us),
        "max_us_most": max(max_us),
    }
