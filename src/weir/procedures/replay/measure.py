# SPDX-License-Identifier: Apache-2.0
"""Captures once through a built chain, each frame at its recorded time, or all times shrunk by one factor."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from weir.base.si import NS_PER_S
from weir.lab.capture import Replay as Asked
from weir.lab.frames import BITS_PER_BYTE
from weir.lab.measure import Measure
from weir.measure.one_case import OnChain, OneCase, measured
from weir.measure.tester import ANNOUNCE_FRAMES, Traffic
from weir.measure.trial import TrialRunner
from weir.protocol.traffic import Shape, TrafficConfigure
from weir.protocol.traffic_results import CaptureFacts
from weir.results.delay import Latency
from weir.results.replay import CaptureSent, Replay
from weir.results.result import Case, StreamCount, Trial

NAME = "replay"
MARGIN_S = 0.01
"""Behind the last frame: it is due before the end, however times are rounded, and may be a little late."""


def measure_replay(
    asked: Asked, measure: Measure, traffic: Sequence[Traffic], chain: OnChain
) -> Iterator[Case]:
    """Yields one finished Case for each of `traffic`, as `weir.measure.measure_setup` does."""
    chain.tester.announce(ANNOUNCE_FRAMES)
    for one in traffic:
        if not (yield from measured(_Replayed(asked, measure, one, chain))):
            return


class _Replayed(OneCase):
    """Some replays at one factor."""

    def __init__(self, asked: Asked, measure: Measure, traffic: Traffic, chain: OnChain) -> None:
        self.record = described(asked, traffic)
        own_pps = self.record.own_pps
        # Each file keeps its rate while it lasts: of the common one that may be more than the whole.
        shares = {stream: facts.recorded_pps / own_pps for stream, facts in traffic.captured.items()}
        traffic = replace(
            traffic,
            config=once(traffic.config),
            shares=shares,
            mean_frame_bytes=self.record.l2_bps / BITS_PER_BYTE / self.record.load_pps,
        )
        super().__init__(traffic, chain)
        self._measure = measure
        self.runner = TrialRunner(
            chain.tester,
            chain.counters,
            traffic,
            options=measure.trial,
            on_trial=self.took,
            outside=chain.outside,
            sleep=chain.timing.sleep,
            watched=chain.watched,
        )

    def measure(self) -> None:
        """As many replays as the lab repeats searches. What is finished is kept when this raises."""
        self.chain.tester.configure_traffic(self.traffic.config)
        good: list[Trial] = []
        for number in range(1, self._measure.repeats + 1):
            self.phase("replay", number, self._measure.repeats)
            seconds = self.record.seconds + MARGIN_S
            trial = self.runner.valid("confirm", self.record.load_pps, seconds, shape=Shape()).trial
            if trial.valid:
                good.append(trial)
                told(self.record, good)
            elif number == 1 and trial.offered and not trial.delivered:
                self.problem = "Nothing of the capture comes through. " + " ".join(trial.invalid_because)
                return
        if not good:
            self.problem = "No replay can be used. " + " ".join(self.trials[-1].invalid_because)

    def found(self) -> dict[str, Any]:
        """The record beside the trials."""
        return {"records": {NAME: self.record.model_dump(mode="json")}}


def once(config: TrafficConfigure) -> TrafficConfigure:
    """The same streams, each from the beginning of its file to its end at recorded gaps."""
    streams = tuple(
        one.model_copy(
            update={
                "pacing": "recorded",
                "capture": one.capture.model_copy(update={"once": True}) if one.capture else None,
            }
        )
        for one in config.streams
    )
    return config.model_copy(update={"streams": streams})


def described(asked: Asked, traffic: Traffic) -> Replay:
    """What is asked of these files. The rate of several is that of all their frames in the time of all: one
    may last much longer than another, so theirs do not add up."""
    known: Mapping[int, CaptureFacts] = traffic.captured
    frames = sum(facts.frames for facts in known.values())
    first_ns = min(facts.lead_ns for facts in known.values())
    last_ns = max(facts.lead_ns + facts.span_ns for facts in known.values())
    own_pps = (frames - 1) * NS_PER_S / (last_ns - first_ns)
    mean_bytes = sum(facts.frames * facts.mean_frame_bytes for facts in known.values()) / frames
    factor = asked.factor_of(own_pps, mean_bytes)
    seconds = {stream: (facts.lead_ns + facts.span_ns) / NS_PER_S for stream, facts in known.items()}
    return Replay(
        asked=asked.text,
        captures=[
            CaptureSent(
                direction=stream.direction,
                frames=known[stream.id].frames,
                mean_frame_bytes=known[stream.id].mean_frame_bytes,
                own_pps=known[stream.id].recorded_pps,
                own_seconds=seconds[stream.id],
            )
            for stream in traffic.streams
        ],
        own_pps=own_pps,
        own_seconds=max(seconds.values()),
        factor=factor,
        load_pps=factor * own_pps,
        l2_bps=factor * own_pps * mean_bytes * BITS_PER_BYTE,
        seconds=max(seconds.values()) / factor,
    )


def told(record: Replay, good: Sequence[Trial]) -> None:
    """What the valid replays so far say."""
    losses = [trial.loss_ratio for trial in good]
    streams = [stream for trial in good for stream in trial.streams]
    record.replays = len(good)
    record.loss_ratio = statistics.median(losses)
    record.loss_ratio_min, record.loss_ratio_max = min(losses), max(losses)
    record.lateness, record.latency = _worst(streams, "lateness"), _worst(streams, "latency")


def _worst(streams: Sequence[StreamCount], name: str) -> Latency | None:
    known: list[Latency] = [one for stream in streams if (one := getattr(stream, name)) is not None]
    return max(known, key=lambda one: one.p99_us, default=None)
