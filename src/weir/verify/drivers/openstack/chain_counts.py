# SPDX-License-Identifier: Apache-2.0
"""Where packets of a chain were lost, as far as that can be seen from outside of a cloud: at the tester's own
interface, in functions that let their counters be read, and between these, where nobody tells more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from weir.fabric import Counter
from weir.measure import SutCounters, Tester
from weir.plan.attached import PORT
from weir.protocol.ledger import PORT_DROPS, Ledger
from weir.protocol.traffic import DelayWanted, Shape, TrafficConfigure
from weir.protocol.traffic_results import DelayHistogram, Learned, TrafficResult

NOT_RETURNED, NOT_FORWARDED = "not_returned", "not_forwarded"
_SENDING = ("tx_errors", "tx_too_long", "tx_down", "interface_tx_dropped", "interface_tx_errors")
"""Reasons of the tester's own port by which a packet never left it; by its others one has come back."""


class SummingTester:
    """A tester, and what all its runs together had to send and got back."""

    def __init__(self, tester: Tester) -> None:
        self._tester = tester
        self.sent = 0
        """Packets that its port took."""
        self.returned = 0
        """That came back, in time or not, whole or not."""
        self._of_last = 0
        """Those of the last run."""

    @property
    def shares_cores(self) -> bool:
        """As that tester."""
        return self._tester.shares_cores

    @property
    def is_empty(self) -> bool:
        """Likewise."""
        return self._tester.is_empty

    @is_empty.setter
    def is_empty(self, found: bool) -> None:
        self._tester.is_empty = found

    def configure_traffic(self, config: TrafficConfigure) -> None:
        """Likewise."""
        self._tester.configure_traffic(config)

    def announce(self, count: int) -> None:
        """Likewise."""
        self._tester.announce(count)

    def learn(self, config: TrafficConfigure, most_pps: float = math.inf) -> Learned | None:
        """Likewise: nothing answers, so nothing is sent."""
        return self._tester.learn(config, most_pps)

    def delays(self, stream: int) -> DelayHistogram:
        """Likewise."""
        return self._tester.delays(stream)

    def ledger(self) -> Ledger:
        """Likewise."""
        return self._tester.ledger()

    def run(
        self,
        rates_pps: Mapping[int, float],
        duration_s: float,
        drain_s: float,
        delay: DelayWanted | None = None,
        shape: Shape | None = None,
    ) -> TrafficResult:
        """One run, which counts."""
        found = self._tester.run(rates_pps, duration_s, drain_s, delay, shape)
        self.sent += sum(one.offered - one.tx_refused for one in found.streams)
        self._of_last = _returned(found)
        self.returned += self._of_last
        return found

    def again(self) -> TrafficResult:
        """That run, with what has come since, which counts."""
        found = self._tester.again()
        self.returned += _returned(found) - self._of_last
        self._of_last = _returned(found)
        return found


def _returned(found: TrafficResult) -> int:
    packets = sum(one.delivered + one.too_late for one in found.streams)
    return packets + sum(one.malformed for one in found.receivers)


@dataclass(frozen=True)
class Passed:
    """Packets at a function's port since its start; of others' too."""

    received: int
    sent: int


class CountedFunction(Protocol):
    """One whose counters can be read."""

    @property
    def name(self) -> str: ...

    def passed(self) -> Passed:
        """Now. CloudError if it does not answer any more."""


@dataclass(frozen=True)
class _Reading:
    """All of it at one time."""

    sent: int
    returned: int
    functions: tuple[Passed, ...]


class ChainCounters:
    """Of the system under test, as a trial asks before and after it.

    What was lost is shared out between two readings, and each packet is lost once: of what reached a place,
    the next place got the rest. A port's frames of others (ARP of the cloud's) count as the tester's where
    these are missing, which moves a few losses on to the next place and hides none. More packets behind a
    place than before it make a loss below zero, by which the trial is not used.
    """

    def __init__(self, tester: SummingTester, own: SutCounters, functions: Sequence[CountedFunction]) -> None:
        """`own`: of the tester's own interface."""
        self._tester = tester
        self._own = own
        self._functions = functions
        self._was: _Reading | None = None
        self._lost: dict[tuple[str, str], int] = {}

    def __call__(self) -> Sequence[Counter]:
        """Own drops, and losses of the chain since the first reading."""
        own = [one for one in self._own() if one.kind == "drop"]
        now = self._reading({(one.place, one.reason or ""): one.value for one in own})
        if self._was is not None:
            self._add(self._was, now)
        self._was = now
        lost = [Counter(place, reason, "drop", packets) for (place, reason), packets in self._lost.items()]
        return [*(Counter(one.place, one.reason, one.kind, one.value) for one in own), *lost]

    def _reading(self, own: Mapping[tuple[str, str], int]) -> _Reading:
        ports = {one.name: one for one in self._tester.ledger().ports}
        drops = {reason: getattr(ports[PORT], reason) for reason in PORT_DROPS} if PORT in ports else {}
        for (_, reason), packets in own.items():
            drops[reason] = drops.get(reason, 0) + packets
        unsent = sum(packets for reason, packets in drops.items() if reason in _SENDING)
        return _Reading(
            sent=self._tester.sent - unsent,
            returned=self._tester.returned + sum(drops.values()) - unsent,
            functions=tuple(one.passed() for one in self._functions),
        )

    def _add(self, was: _Reading, now: _Reading) -> None:
        before, there = PORT, now.sent - was.sent
        for function, then, at in zip(self._functions, was.functions, now.functions, strict=True):
            got = min(at.received - then.received, there)
            sent = min(at.sent - then.sent, got)
            self._lose(f"cloud:{before}-{function.name}", NOT_RETURNED, there - got)
            self._lose(function.name, NOT_FORWARDED, got - sent)
            before, there = function.name, sent
        self._lose(f"cloud:{before}-{PORT}", NOT_RETURNED, there - (now.returned - was.returned))

    def _lose(self, place: str, reason: str, packets: int) -> None:
        self._lost[place, reason] = self._lost.get((place, reason), 0) + packets
