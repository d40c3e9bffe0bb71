# SPDX-License-Identifier: Apache-2.0
"""A device with a known response, on a virtual clock: for tests and for `make bench`'s search line.

Its response, without stalls and background loss, to a load L (packets a second):

- up to `capacity_pps` (C) everything is forwarded;
- above it, F(L) = C + (S - C) (1 - exp(-(L - C) / (S - C))) is forwarded, S being `saturation_pps`; the rest
  is dropped. So loss begins softly at C, as it does where bursts meet a queue that is almost always busy.

`truth_pps(goal)` is the conditional throughput of that response: L (1 - loss(L)) at the highest L whose loss
ratio is not above the goal. For zero loss it is C.

What disturbs it, all from one seeded generator:

- *noise*: C and S of each trial vary by a normal factor;
- *background loss*: rare events that lose a few packets at any load;
- *stalls*: the host takes the core away. Packets that arrive meanwhile wait in a buffer of `buffer_packets`,
  and what does not fit is dropped; the backlog drains at S - F(L). Rates and lengths are those seen on a
  virtual machine (`HOST_STALLS`). The hundreds of gaps a second between 10 and 50 us fit into any such
  buffer: the time that they take is part of S, so only longer ones are simulated singly.

A trial of d seconds moves the virtual clock by d + `overhead_s`, and by the drain time if packets were lost.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from weir.dataplane.messages import (
    AreaLedger,
    LatencySummary,
    Ledger,
    PathLedger,
    PortLedger,
    ReceiverResult,
    StallCount,
    StreamResult,
    TrafficResult,
)
from weir.measure.tester import Traffic

TSC_HZ = 2_500_000_000


@dataclass(frozen=True)
class StallKind:
    """Stalls of one kind: Poisson in time, exponential in length above `shortest_us`, cut at `longest_us`."""

    per_second: float
    shortest_us: float
    mean_us: float
    longest_us: float


# 5 to 8 a second over 50 us, up to 1 ms; now and then some milliseconds.
HOST_STALLS = (StallKind(6.5, 50, 120, 1000), StallKind(0.02, 1000, 2000, 5000))


@dataclass(frozen=True)
class Response:
    """The device and what disturbs it. Fields: see the module."""

    capacity_pps: float
    saturation_pps: float
    buffer_packets: int = 4096
    noise: float = 0.0  # standard deviation of the factor
    background_per_second: float = 0.0
    background_packets: int = 5
    stalls: tuple[StallKind, ...] = ()

    def forwarded_pps(self, load_pps: float) -> float:
        """F(L)."""
        over, room = load_pps - self.capacity_pps, self.saturation_pps - self.capacity_pps
        if over <= 0:
            return load_pps
        return self.capacity_pps + (room * -math.expm1(-over / room) if room > 0 else 0.0)

    def truth_pps(self, goal_loss_ratio: float) -> float:
        """Conditional throughput of the undisturbed response for a goal."""
        low, high = self.capacity_pps, 2 * self.saturation_pps / (1 - goal_loss_ratio)
        for _ in range(100):
            middle = (low + high) / 2
            if 1 - self.forwarded_pps(middle) / middle <= goal_loss_ratio:
                low = middle
            else:
                high = middle
        return self.forwarded_pps(low)

    def scaled(self, factor: float) -> Response:
        """The same device, faster or slower."""
        return Response(
            capacity_pps=self.capacity_pps * factor,
            saturation_pps=self.saturation_pps * factor,
            buffer_packets=self.buffer_packets,
        )


@dataclass
class Misbehaviour:
    """What goes wrong on purpose, in tests; packets in each trial, unless the name says otherwise."""

    unaccounted: int = 0
    duplicates: int = 0
    receiver_max_pps: float | None = None  # the tester's receiver loses what comes faster
    malformed: int = 0
    stretch_s: float = 0.0
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

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._dropped = 0
        self._missed = 0

    def clock(self) -> float:
        """Virtual time in seconds."""
        return self.now_s

    def sleep(self, seconds: float) -> None:
        """Lets virtual time pass."""
        self.now_s += seconds

    def configure_traffic(self, config: Mapping[str, Any]) -> None:
        """Takes any traffic: the response does not depend on it."""

    def teach(self, count: int) -> None:
        """Needs no teaching."""

    def run(self, rates_pps: Mapping[int, float], duration_s: float, drain_s: float) -> TrafficResult:
        """One trial. The last stream takes what rounding leaves of loss."""
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
        share = load_pps / wanted_pps if wanted_pps else 1.0
        offered = [math.floor(count * share) for count in intended]
        stalls = list(self._stalls(duration_s))
        lost = min(self._lost(load_pps, duration_s, stalls), sum(offered))
        self._dropped += lost
        missed = 0
        if wrong.receiver_max_pps is not None:
            missed = max(0, math.ceil(sum(offered) - lost - wrong.receiver_max_pps * duration_s))
        self._missed += missed
        malformed = wrong.malformed if misbehaves else 0
        hidden = wrong.unaccounted if misbehaves else 0
        absent = lost + missed + malformed + hidden
        delivered = self._spread(offered, absent)
        self.now_s += duration_s + self.overhead_s + (drain_s if absent else 0.0)
        gone = wrong.gone_after_trials is not None and self.trials > wrong.gone_after_trials
        return TrafficResult(
            run=self.trials,
            tx_duration_ns=(duration_s + (wrong.stretch_s if misbehaves else 0.0)) * 1e9,
            streams=tuple(
                StreamResult(
                    id=stream,
                    intended=intended[index],
                    offered=offered[index],
                    tx_refused=0,
                    delivered=delivered[index],
                    duplicates=wrong.duplicates if misbehaves and index == 0 else 0,
                    latency=self._latency(delivered[index]),
                )
                for index, stream in enumerate(rates_pps)
            ),
            receivers=(ReceiverResult(port="tester.right", malformed=malformed),),
            stalls=(
                StallCount(
                    core=1,
                    count=len(stalls),
                    total_us=sum(length for _, length in stalls) * 1e6,
                    longest_us=max((length for _, length in stalls), default=0.0) * 1e6,
                ),
            ),
            gone_ports=("tester.right",) if gone else (),
        )

    def ledger(self) -> Ledger:
        """One function with one path, and the tester's receiving port."""
        path = PathLedger(name="p", rx_packets=0, tx_packets=0, drops={"tx_queue_full": self._dropped})
        return Ledger(
            tsc=int(self.now_s * TSC_HZ),
            tsc_hz=TSC_HZ,
            areas=(AreaLedger(name="dut", core=1, kind="chain", paths=(path,)),),
            ports=(PortLedger(name="tester.right", rx_missed=self._missed),),
        )

    def _stalls(self, duration_s: float) -> Iterator[tuple[float, float]]:
        """(start, length) in seconds, in order."""
        found: list[tuple[float, float]] = []
        for kind in self.response.stalls:
            at = self._random.expovariate(kind.per_second)
            while at < duration_s:
                length_us = kind.shortest_us + self._random.expovariate(1 / (kind.mean_us - kind.shortest_us))
                found.append((at, min(length_us, kind.longest_us) / 1e6))
                at += self._random.expovariate(kind.per_second)
        yield from sorted(found)

    def _lost(self, load_pps: float, duration_s: float, stalls: list[tuple[float, float]]) -> int:
        """Packets that the device drops in one trial."""
        today = self.response.scaled(max(0.5, self._random.gauss(1.0, self.response.noise)))
        through_pps = today.forwarded_pps(load_pps)
        lost = (load_pps - through_pps) * duration_s
        drain_pps = today.saturation_pps - through_pps
        backlog, last = 0.0, 0.0
        for start, length in stalls:
            backlog = max(0.0, backlog - drain_pps * max(0.0, start - last)) + through_pps * length
            overflow = max(0.0, backlog - self.response.buffer_packets)
            lost += overflow
            backlog -= overflow
            last = start + length
        events = self.response.background_per_second
        if events:
            at = self._random.expovariate(events)
            while at < duration_s:
                lost += self._random.randint(1, 2 * self.response.background_packets - 1)
                at += self._random.expovariate(events)
        return math.floor(lost)

    @staticmethod
    def _spread(offered: list[int], lost: int) -> list[int]:
        delivered = [count - lost // len(offered) for count in offered]
        delivered[-1] -= lost % len(offered)
        return delivered

    @staticmethod
    def _latency(packets: int) -> LatencySummary:
        names = ("min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
        return LatencySummary(
            count=packets, **{name: 1000.0 * (rank + 10) for rank, name in enumerate(names)}
        )


def simulated_traffic(frame: str = "64", mean_frame_bytes: float = 64.0) -> Traffic:
    """Bidirectional traffic for the simulated device."""
    ports = ("tester.left", "tester.right")
    streams = [{"id": 0, "port": ports[0], "to": ports[1]}, {"id": 1, "port": ports[1], "to": ports[0]}]
    return Traffic.from_config(frame, mean_frame_bytes, {"streams": streams})
