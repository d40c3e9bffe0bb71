# SPDX-License-Identifier: Apache-2.0
"""A tester with a simulated device (`tests.simulated.device`) on a virtual clock, for tests and benches.

A trial of d seconds moves the clock by d + `overhead_s`, and by the drain time if packets were lost.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.simulated.device import Passage, Response, passage
from tests.simulated.figures import WIRE_S, gaps, ipdv, jitter, latency, slices, stalls
from weir.base.si import NS_PER_S
from weir.measure.tester import Traffic
from weir.protocol.ledger import AreaLedger, Ledger, PathLedger, PortLedger, StageLedger
from weir.protocol.traffic import DelayWanted, FrameSize, Shape, StreamConfig, Template, TrafficConfigure
from weir.protocol.traffic_results import (
    DelayHistogram,
    Learned,
    ReceiverResult,
    StreamResult,
    TrafficResult,
)

TSC_HZ = 2_500_000_000


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
    asked: list[tuple[dict[int, float], float]] = field(default_factory=list, init=False)
    """Of each trial: rate by stream in packets a second, 0: as fast as it can; and seconds."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._dropped = 0
        self._missed = 0
        self._denied = 0
        self._inside = Passage(0, (), (0.0,))
        self._last: TrafficResult | None = None

    @property
    def asked_pps(self) -> list[float]:
        """The load of each trial, all streams together."""
        return [sum(rates_pps.values()) for rates_pps, _ in self.asked]

    def as_seen(self, result: TrafficResult) -> TrafficResult:
        """What the tester says of a trial: devices that it sees otherwise change it."""
        return result

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

    def learn(self, config: TrafficConfigure, most_pps: float = math.inf) -> Learned | None:
        """No stream answers another one."""
        del config, most_pps
        return None

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
        self.asked.append((dict(rates_pps), duration_s))
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
        result = TrafficResult(
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
                    latency=latency(inside, delivered[index]),
                    ipdv=ipdv(inside, delivered[index]) if delay and delay.variation else None,
                    jitter=jitter(inside) if delay and delay.variation else None,
                    tagged_ns=(WIRE_S + inside.waits_s[0]) * NS_PER_S if delay and delay.tag_ns else None,
                    gaps=gaps(last_lost_s, away_s),
                )
                for index, stream in enumerate(rates_pps)
            ),
            receivers=(ReceiverResult(port="tester.right", malformed=malformed),),
            stalls=(stalls(inside),),
            slices=None
            if shape != Shape()
            else slices(inside, sum(intended), sum(offered), duration_s, more_lost=absent - lost),
            gone_ports=("tester.right",) if gone else (),
        )
        self._last = self.as_seen(result)
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


def _spread(offered: list[int], lost: int) -> list[int]:
    delivered = [count - lost // len(offered) for count in offered]
    delivered[-1] -= lost % len(offered)
    return delivered


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
