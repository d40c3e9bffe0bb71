# SPDX-License-Identifier: Apache-2.0
"""A tester with a simulated device (`tests.simulated.device`) on a virtual clock, for tests and benches.

A trial of d seconds moves the clock by d + `overhead_s`, and by the drain time if packets were lost.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.simulated.device import Passage, Response, passage
from weir.base.si import NS_PER_S, US_PER_S
from weir.measure.tester import Traffic
from weir.protocol.ledger import AreaLedger, Ledger, PathLedger, PortLedger, StageLedger
from weir.protocol.traffic import DelayWanted, FrameSize, Shape, StreamConfig, Template, TrafficConfigure
from weir.protocol.traffic_results import (
    DelayHistogram,
    Gap,
    GapSummary,
    IpdvSummary,
    JitterSummary,
    LatencySummary,
    ReceiverResult,
    Slices,
    StallCount,
    StreamResult,
    StreamSlices,
    TrafficResult,
)

TSC_HZ = 2_500_000_000
WIRE_S = 10e-6  # latency without waiting


@dataclass
class Misbehaviour:
    """What goes wrong on purpose, in tests; packets in each trial, unless the name says otherwise."""

    unaccounted: int = 0
    unaccounted_in: range = range(10**15)  # the same, where a stream has so many packets
    duplicates: int = 0
    receiver_max_pps: float | None = None  # the tester's receiver loses what comes faster
    malformed: int = 0
    denied_share: float = 0.0  # of all packets, dropped by a stage's own decision, whatever the load
    stretch_s: float = 0.0
    slow_recovery_s: float = 0.0  # after an overload frames are lost for so much longer
    reset_s: float = 0.0  # after whatever happens meanwhile nothing passes for so long, and nobody counts it
    gone_after_trials: int | None = None
    only_first_trials: int | None = None  # the packets above go wrong in that many trials only


@dataclass
class SimulatedDut:
    """A Tester with a simulated device between its ports."""

    response: Response
    seed: int = 0
    tester_max_pps: float = math.inf  # what the generator itself can send, all streams together
    overhead_s: float = 0.0
    wrong: Misbehaviour = field(default_factory=Misbehaviour)
    now_s: float = 0.0
    trials: int = 0
    is_empty: bool = True

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._dropped = 0
        self._missed = 0
        self._denied = 0
        self._inside = Passage(0, (), (0.0,))
        self._last: TrafficResult | None = None

    def clock(self) -> float:
        """Virtual time in seconds."""
        return self.now_s

    def sleep(self, seconds: float) -> None:
        """Lets virtual time pass."""
        self.now_s += seconds

    shares_cores = False

    def configure_traffic(self, config: TrafficConfigure) -> None:
        """Takes any traffic: the response does not depend on it."""

    def announce(self, count: int) -> None:
        """Needs no teaching."""

    def learn(self, config: TrafficConfigure, most_pps: float = math.inf) -> None:
        """No stream answers another one."""

    def delays(self, stream: int) -> DelayHistogram:
        """The last trial's; all streams pass the same device."""
        del stream
        ns = [(WIRE_S + wait) * NS_PER_S for wait in self._inside.waits_s]
        return DelayHistogram(buckets=tuple((value, value + 1, 1) for value in sorted(set(ns))))

    def run(
        self,
        rates_pps: Mapping[int, float],
        duration_s: float,
        drain_s: float,
        delay: DelayWanted | None = None,
        shape: Shape | None = None,
    ) -> TrafficResult:
        """One trial. The last stream takes what rounding leaves of loss. A rate that changes is one after
        the other, each from an empty buffer.
        """
        shape = shape or Shape()
        self.trials += 1
        wrong, misbehaves = self.wrong, True
        if wrong.only_first_trials is not None:
            misbehaves = self.trials <= wrong.only_first_trials
        wanted_pps = sum(rates_pps.values())
        load_pps = min(wanted_pps or self.tester_max_pps, self.tester_max_pps)
        if math.isinf(load_pps):
            load_pps = 2 * self.response.saturation_pps
        intended = [
            math.floor((rate or load_pps / len(rates_pps)) * duration_s) for rate in rates_pps.values()
        ]
        if shape.packets is not None:
            intended = [min(count, shape.packets) for count in intended]
            duration_s = min(duration_s, sum(intended) / load_pps)
        share = load_pps / wanted_pps if wanted_pps and shape.packets is None else 1.0
        offered = [math.floor(count * share) for count in intended]
        first_s = shape.then[0][0] if shape.then else duration_s
        inside = passage(self.response, load_pps, first_s, self._random)
        self._inside = inside
        last_lost_s = first_s if inside.dropped else None
        for _, factor in shape.then:
            later = [math.floor(factor * rate * (duration_s - first_s)) for rate in rates_pps.values()]
            intended = [
                math.floor(rate * first_s) + more
                for rate, more in zip(rates_pps.values(), later, strict=True)
            ]
            offered = list(intended)
            if last_lost_s is not None:
                last_lost_s += wrong.slow_recovery_s
        lost = min(inside.dropped, sum(offered))
        self._dropped += lost
        missed = 0
        if wrong.receiver_max_pps is not None:
            missed = max(0, math.ceil(sum(offered) - lost - wrong.receiver_max_pps * duration_s))
        self._missed += missed
        malformed = wrong.malformed if misbehaves else 0
        away_s = 0.0
        if shape.meanwhile is not None:
            shape.meanwhile()
            wrong = self.wrong
            away_s = min(wrong.reset_s, duration_s - shape.meanwhile_after_s)
            last_lost_s = shape.meanwhile_after_s + away_s if away_s else last_lost_s
        hides = misbehaves and max(intended) in wrong.unaccounted_in
        hidden = (wrong.unaccounted if hides else 0) + math.floor(load_pps * away_s)
        denied = math.floor(wrong.denied_share * (sum(offered) - lost))
        self._denied += denied
        absent = lost + missed + malformed + hidden + denied
        delivered = _spread(offered, absent)
        self.now_s += duration_s + self.overhead_s + (drain_s if absent else 0.0)
        gone = wrong.gone_after_trials is not None and self.trials > wrong.gone_after_trials
        self._last = TrafficResult(
            run=self.trials,
            tx_duration_ns=(duration_s + (wrong.stretch_s if misbehaves else 0.0)) * NS_PER_S,
            streams=tuple(
                StreamResult(
                    id=stream,
                    intended=intended[index],
                    offered=offered[index],
                    tx_refused=0,
                    delivered=delivered[index],
                    duplicates=wrong.duplicates if misbehaves and index == 0 else 0,
                    latency=_latency(inside, delivered[index]),
                    ipdv=_ipdv(inside, delivered[index]) if delay and delay.variation else None,
                    jitter=_jitter(inside) if delay and delay.variation else None,
                    tagged_ns=(WIRE_S + inside.waits_s[0]) * NS_PER_S if delay and delay.tag_ns else None,
                    gaps=_gaps(last_lost_s, away_s),
                )
                for index, stream in enumerate(rates_pps)
            ),
            receivers=(ReceiverResult(port="tester.right", malformed=malformed),),
            stalls=(_stalls(inside),),
            slices=None
            if shape != Shape()
            else _slices(inside, sum(intended), sum(offered), duration_s, more_lost=absent - lost),
            gone_ports=("tester.right",) if gone else (),
        )
        return self._last

    def again(self) -> TrafficResult:
        """Nothing comes later."""
        assert self._last is not None
        return self._last

    def ledger(self) -> Ledger:
        """One function with one path, and the tester's receiving port."""
        stage = StageLedger.model_validate(
            {"nf": "firewall", "in": 0, "out": 0, "cycles": 0, "drops": {"denied": self._denied}}
        )
        path = PathLedger(
            name="p", rx_packets=0, tx_packets=0, drops={"tx_queue_full": self._dropped}, stages=(stage,)
        )
        return Ledger(
            tsc=int(self.now_s * TSC_HZ),
            tsc_hz=TSC_HZ,
            areas=(AreaLedger(name="dut", core=1, kind="chain", paths=(path,)),),
            ports=(PortLedger(name="tester.right", rx_missed=self._missed),),
        )


def _stalls(inside: Passage) -> StallCount:
    lengths_us = [(stall.to_s - stall.from_s) * US_PER_S for stall in inside.stalls]
    hosts_us = [us for us, stall in zip(lengths_us, inside.stalls, strict=True) if not stall.own]
    return StallCount(
        core=1,
        count=len(lengths_us),
        total_us=sum(lengths_us),
        longest_us=max(lengths_us, default=0.0),
        host_count=len(hosts_us),
        host_us=sum(hosts_us),
    )


def _slices(inside: Passage, intended: int, offered: int, duration_s: float, *, more_lost: int) -> Slices:
    """All streams as one. What else went wrong is lost in the last slices."""
    count = len(inside.slices_dropped)
    ends = [round(intended * min(1.0, (at + 1) * inside.slice_s / duration_s)) for at in range(count)]
    due = [now - was for was, now in itertools.pairwise([0, *ends])]
    sent = [min(now, offered) - min(was, offered) for was, now in itertools.pairwise([0, *ends])]
    lost = [min(*both) for both in zip(inside.slices_dropped, sent, strict=True)]
    for at in reversed(range(count)):
        more = min(sent[at] - lost[at], more_lost)
        lost[at], more_lost = lost[at] + more, more_lost - more
    gaps = tuple(
        Gap(core=1, ended_us=stall.to_s * US_PER_S, us=us, host_us=0.0 if stall.own else us)
        for stall in inside.stalls
        for us in [(stall.to_s - stall.from_s) * US_PER_S]
    )
    return Slices(
        width_ns=round(inside.slice_s * NS_PER_S),
        start_raw_ns=0,
        now_raw_ns=round(duration_s * NS_PER_S),
        now_us=duration_s * US_PER_S,
        streams=(
            StreamSlices(
                id=0,
                due=tuple(due),
                offered=tuple(sent),
                delivered=tuple(now - gone for now, gone in zip(sent, lost, strict=True)),
                delay_ns=tuple(round((WIRE_S + wait) * NS_PER_S) for wait in inside.slices_wait_s),
                late_ns=(0,) * len(inside.slices_wait_s),
            ),
        ),
        cores=(),
        gaps=gaps,
    )


def _spread(offered: list[int], lost: int) -> list[int]:
    delivered = [count - lost // len(offered) for count in offered]
    delivered[-1] -= lost % len(offered)
    return delivered


def _gaps(last_lost_s: float | None, longest_s: float) -> GapSummary | None:
    if last_lost_s is None:
        return None
    return GapSummary(count=1, last_lost_ns=last_lost_s * NS_PER_S, longest_ns=longest_s * NS_PER_S)


def _latency(inside: Passage, packets: int) -> LatencySummary:
    waits = inside.waits_s

    def quantile_ns(share: float) -> float:
        return (WIRE_S + waits[min(len(waits) - 1, math.floor(share * len(waits)))]) * NS_PER_S

    return LatencySummary(
        count=packets,
        min_ns=quantile_ns(0),
        mean_ns=(WIRE_S + sum(waits) / len(waits)) * NS_PER_S,
        p50_ns=quantile_ns(0.5),
        p90_ns=quantile_ns(0.9),
        p99_ns=quantile_ns(0.99),
        p999_ns=quantile_ns(0.999),
        p9999_ns=quantile_ns(0.9999),
        max_ns=quantile_ns(1),
    )


def _ipdv(inside: Passage, packets: int) -> IpdvSummary:
    """As if the waits were of packets one after the other."""
    steps = [(after - before) * NS_PER_S for before, after in itertools.pairwise(inside.waits_s)] or [0.0]
    sizes = sorted(abs(step) for step in steps)

    def size_ns(share: float) -> float:
        return sizes[min(len(sizes) - 1, math.floor(share * len(sizes)))]

    return IpdvSummary(
        pairs=packets - 1,
        min_ns=min(steps),
        max_ns=max(steps),
        mean_size_ns=sum(sizes) / len(sizes),
        p50_size_ns=size_ns(0.5),
        p90_size_ns=size_ns(0.9),
        p99_size_ns=size_ns(0.99),
        p999_size_ns=size_ns(0.999),
        p9999_size_ns=size_ns(0.9999),
    )


def _jitter(inside: Passage) -> JitterSummary:
    steps = [abs(after - before) * NS_PER_S for before, after in itertools.pairwise(inside.waits_s)] or [0.0]
    mean_ns = sum(steps) / len(steps)
    return JitterSummary(mean_ns=mean_ns, max_ns=max(steps), last_ns=mean_ns)


def simulated_traffic(frame: str = "64", mean_frame_bytes: float = 64.0) -> Traffic:
    """Bidirectional traffic for the simulated device."""
    ports = ("tester.left", "tester.right")
    headers = Template(
        src_mac="02:00:00:00:00:01", dst_mac="02:00:00:00:00:02", src_ip="198.18.0.1", dst_ip="198.19.0.1"
    )
    streams = tuple(
        StreamConfig(id=number, port=port, to=to, frame=FrameSize(bytes=64), template=headers)
        for number, (port, to) in enumerate((ports, ports[::-1]))
    )
    return Traffic.from_config(frame, mean_frame_bytes, TrafficConfigure(streams=streams))
