# SPDX-License-Identifier: Apache-2.0
"""What measuring needs from outside, as protocols: a tester, the counters of the system under test, resets of
it, and a watch on who else has the cores. And what times arrivals, as a ledger tells.

weir-dp through its socket is one tester (`weir.protocol.tester`), the simulated device of tests and benches
another.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self

from weir.base.node import Direction
from weir.base.si import NS_PER_S
from weir.protocol.ledger import Ledger
from weir.protocol.traffic import DelayWanted, Shape, TrafficConfigure
from weir.protocol.traffic_results import CaptureFacts, DelayHistogram, Learned, TrafficResult
from weir.results.result import ArrivalClock

MAPPED_S = 25.0
"""Shorter than the shortest time-out of a mapping that is usual: 30 s, Linux's of UDP before an answer."""
ANNOUNCE_FRAMES = 3
"""That each port sends of its own, so that switches learn where it is."""


@dataclass(frozen=True)
class Stream:
    """One direction of the traffic."""

    id: int
    direction: Direction
    port: str  # where it is sent
    to: str  # where it is received


@dataclass(frozen=True)
class Traffic:
    """The traffic of one frame size: what weir-dp is told, and what measuring must know of it."""

    frame: str  # "64", "imix:aaaaaaaddddg"
    mean_frame_bytes: float  # L2 with FCS
    config: TrafficConfigure
    streams: tuple[Stream, ...]
    flows: int = 1  # of each stream
    captured: Mapping[int, CaptureFacts] = field(default_factory=dict)  # by stream, of those that send files
    shares: Mapping[int, float] = field(default_factory=dict)  # of the load, by stream; none: equal ones
    fixed_pps: Mapping[int, float] = field(default_factory=dict)  # of streams that have one rate at any load

    def rates_pps(self, load_pps: float) -> dict[int, float]:
        """Of each stream, by a load in all directions together. What is fixed is a part of it; a load that is
        no more than that is shared by all streams alike."""
        rest_pps = load_pps - sum(self.fixed_pps.values())
        if self.fixed_pps and rest_pps > 0:
            each_pps = rest_pps / (len(self.streams) - len(self.fixed_pps))
            return {stream.id: self.fixed_pps.get(stream.id, each_pps) for stream in self.streams}
        equal = 1 / len(self.streams)
        return {stream.id: load_pps * self.shares.get(stream.id, equal) for stream in self.streams}

    @property
    def recorded(self) -> frozenset[int]:
        """Streams with a capture's gaps, which go on from its end with its beginning."""
        streams = self.config.streams
        return frozenset(
            one.id for one in streams if one.pacing == "recorded" and one.capture and not one.capture.once
        )

    def asked_by_gaps(self, load_pps: float, duration_s: float) -> dict[int, float]:
        """Packets that such a load asks for of those. 0: as fast as can be, which asks for none."""
        rates_pps = self.rates_pps(load_pps) if load_pps else {}
        return {stream: rate * duration_s for stream, rate in rates_pps.items() if stream in self.recorded}

    def lasts_s(self, packets: int, load_pps: float) -> float:
        """For how long such a load is sent until so many packets of each stream are due."""
        return packets / min(self.rates_pps(load_pps).values())

    @classmethod
    def from_config(cls, frame: str, mean_frame_bytes: float, config: TrafficConfigure) -> Self:
        """A stream sent at the tester's left port runs left to right; one that none receives is left out."""
        streams = tuple(
            Stream(
                id=stream.id,
                direction="left-to-right" if stream.port.endswith(".left") else "right-to-left",
                port=stream.port,
                to=stream.to,
            )
            for stream in config.streams
            if stream.to is not None
        )
        flows = max(stream.flows.count if stream.flows else 1 for stream in config.streams)
        return cls(frame, mean_frame_bytes, config, streams, flows)


class Tester(Protocol):
    """Sends and receives. Every method raises an error of its own kind when the tester is lost."""

    @property
    def shares_cores(self) -> bool:
        """Whether the system under test works on its cores too: a bridge of the kernel forwards in the system
        call of whoever sends."""

    is_empty: bool
    """Whether nothing came any more when the account of the chain's last trial was closed, whoever ran it."""

    def configure_traffic(self, config: TrafficConfigure) -> None:
        """Sets the streams of the trials that follow."""

    def announce(self, count: int) -> None:
        """Each port sends `count` frames with its own address, so that switches learn where it is."""

    def learn(self, config: TrafficConfigure, most_pps: float = math.inf) -> Learned | None:
        """Sends each flow that a stream of `config`, which is set, answers: answers go to the addresses that
        are seen then. None: no stream answers another one. `most_pps`: no faster, unless that would
        take too long."""

    def run(
        self,
        rates_pps: Mapping[int, float],
        duration_s: float,
        drain_s: float,
        delay: DelayWanted | None = None,
        shape: Shape | None = None,
    ) -> TrafficResult:
        """Sends each stream at its rate (0: as fast as it can) and waits for the end without using a core."""

    def again(self) -> TrafficResult:
        """The last run's, with what has come too late since."""

    def delays(self, stream: int) -> DelayHistogram:
        """One stream's latencies in the last run."""

    def ledger(self) -> Ledger:
        """Everything counted so far."""


class Counter(Protocol):
    """Packets that the switch or the kernel counted at one place since it started."""

    @property
    def place(self) -> str: ...

    @property
    def reason(self) -> str | None: ...

    @property
    def kind(self) -> Literal["drop", "packets", "originated"]: ...

    @property
    def value(self) -> int: ...


class Reset(Protocol):
    """One thing of the system under test that can be reset while traffic runs."""

    @property
    def what(self) -> str:
        """What, and how: "ovs-vswitchd killed and started again"."""

    @property
    def clause(self) -> str:
        """Which kind of reset that is: "RFC 6201, 4.2.2"."""

    def do(self) -> None:
        """Resets it; returns when it says that it is up again, which may be before frames pass."""


SutCounters = Callable[[], Sequence[Counter]]


def no_counters() -> Sequence[Counter]:
    """For systems under test without a switch: nothing is counted outside weir-dp."""
    return ()


class Taken(Protocol):
    """A thread's time on a core that takes part, by CLOCK_MONOTONIC_RAW."""

    @property
    def core(self) -> int: ...

    @property
    def from_raw_ns(self) -> int: ...

    @property
    def to_raw_ns(self) -> int: ...

    @property
    def by(self) -> str:
        """Who had it."""

    @property
    def takes_part(self) -> bool:
        """Whether it did the system under test's work there."""


class CoreWatch(Protocol):
    """Looks at the cores during a trial; costs nothing while nobody else has them."""

    def begin(self) -> None:
        """Just before."""

    def end(self) -> Sequence[Taken]:
        """Just after."""


class InterfaceWatch(Protocol):
    """Looks at the interfaces of the system under test, before its first trial and after each."""

    def begin(self) -> None:
        """Just before a trial: the first one's is what the others are held against."""

    def altered(self) -> Sequence[str]:
        """Just after: what is not as it was built, or as before the first trial; "left of f1 is down"."""


class Unwatched:
    """Where polling loops alone tell."""

    def begin(self) -> None:
        """Looks at nothing."""

    def end(self) -> Sequence[Taken]:
        """Saw nobody."""
        return []

    def altered(self) -> Sequence[str]:
        """Saw nothing."""
        return []


def arrival_clocks(ledger: Ledger, streams: Sequence[Stream]) -> list[ArrivalClock]:
    """Of each stream's receiving port, as the ledger tells it."""
    ports = {port.name: port.timestamps for port in ledger.ports}
    return [
        ArrivalClock(direction=stream.direction, **found.model_dump())
        for stream in streams
        if (found := ports.get(stream.to)) is not None
    ]


def resolution_ns(ledger: Ledger, streams: Sequence[Stream]) -> float:
    """Smallest difference that the coarsest of them shows."""
    clocks = arrival_clocks(ledger, streams)
    return max((clock.resolution_ns for clock in clocks), default=NS_PER_S / ledger.tsc_hz)


class Answers:
    """When the tester learns again whom it answers, with one traffic on one chain: a translator's mappings
    end when nothing is sent."""

    def __init__(self, tester: Tester, traffic: Traffic, clock: Callable[[], float] = time.monotonic) -> None:
        self._tester = tester
        self._traffic = traffic
        self._clock = clock
        self._due_s: float | None = clock()
        """None: nothing translates, or no stream answers another one."""
        streams = traffic.config.streams
        answered = {stream.answers for stream in streams}
        self._kept = {
            stream.id: stream.flows.count
            for stream in streams
            if stream.id in answered and stream.flows is not None and stream.flows.distribution == "uniform"
        }
        """Flows of answered streams whose packets keep all mappings."""

    def learn(self, most_pps: float = math.inf) -> None:
        """Before a trial: sends each flow once, unless it is known that its mapping stands. `most_pps`: of
        the trial."""
        if self._due_s is None or self._clock() < self._due_s:
            return
        learned = self._tester.learn(self._traffic.config, most_pps)
        nothing = learned is None or (learned.arrived > 0 and not learned.translated)
        self._due_s = None if nothing else self._clock() + MAPPED_S

    def sent(self, result: TrafficResult) -> None:
        """After a trial that ended now."""
        if self._due_s is None or not self._kept:
            return
        if all(one.offered >= self._kept[one.id] for one in result.streams if one.id in self._kept):
            self._due_s = self._clock() + MAPPED_S
