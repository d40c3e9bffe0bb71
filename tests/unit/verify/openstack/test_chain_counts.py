# SPDX-License-Identifier: Apache-2.0
"""Where packets of a chain were lost, by what can be seen from outside: each lost packet is counted once, and
none is lost twice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from weir.base.error import FabricError
from weir.fabric import Counter
from weir.measure.accounting import balance, seen
from weir.measure.tester import Stream
from weir.plan.attached import PORT
from weir.protocol.ledger import Ledger, PortLedger
from weir.protocol.traffic import DelayWanted, Shape, TrafficConfigure
from weir.protocol.traffic_results import (
    DelayHistogram,
    Learned,
    ReceiverResult,
    StreamResult,
    TrafficResult,
)
from weir.verify.driver import CloudError
from weir.verify.drivers.openstack.chain_counts import ChainCounters, Passed, SummingTester
from weir.verify.drivers.openstack.chain_function import ReadFunction

STREAMS = (Stream(0, "left-to-right", PORT, PORT),)


@dataclass
class Function:
    name: str
    received: int = 1000
    sent: int = 900

    def passed(self) -> Passed:
        return Passed(self.received, self.sent)


@dataclass
class OneRun:
    """A tester whose only run is as a test says."""

    delivered: int = 0
    tx_refused: int = 0
    too_late: int = 0
    malformed: int = 0
    rx_missed: int = 0
    offered: int = 100
    shares_cores: bool = False
    is_empty: bool = True
    interface: dict[str, int] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)
    then: dict[str, tuple[int, int]] = field(default_factory=dict)
    """What each function receives and sends in the run."""
    ran: bool = False

    def again(self) -> TrafficResult:
        raise AssertionError("nothing is waited for")

    def run(
        self,
        rates_pps: Mapping[int, float],
        duration_s: float,
        drain_s: float,
        delay: DelayWanted | None = None,
        shape: Shape | None = None,
    ) -> TrafficResult:
        del rates_pps, duration_s, drain_s, delay, shape
        self.ran = True
        for one in self.functions:
            received, sent = self.then[one.name]
            one.received += received
            one.sent += sent
        stream = StreamResult(
            id=0, intended=self.offered, offered=self.offered, tx_refused=self.tx_refused,
            delivered=self.delivered, too_late=self.too_late,
        )  # fmt: skip
        receiver = ReceiverResult(port=PORT, malformed=self.malformed)
        return TrafficResult(run=1, tx_duration_ns=1e9, streams=(stream,), receivers=(receiver,))

    def ledger(self) -> Ledger:
        missed = self.rx_missed if self.ran else 0
        return Ledger(tsc=0, tsc_hz=1, ports=(PortLedger(name=PORT, rx_missed=missed),))

    def counters(self) -> Sequence[Counter]:
        there = self.interface if self.ran else dict.fromkeys(self.interface, 0)
        packets = [Counter(f"{PORT} rx", None, "packets", 5)]
        return [*packets, *(Counter(PORT, reason, "drop", value) for reason, value in there.items())]

    def configure_traffic(self, config: TrafficConfigure) -> None:
        raise NotImplementedError

    def announce(self, count: int) -> None:
        raise NotImplementedError

    def learn(self, config: TrafficConfigure, most_pps: float = math.inf) -> Learned | None:
        raise NotImplementedError

    def delays(self, stream: int) -> DelayHistogram:
        raise NotImplementedError


def lost(of: OneRun) -> tuple[dict[tuple[str, str], int], int]:
    """By place and reason; and what is not accounted for."""
    tester = SummingTester(of)
    counters = ChainCounters(tester, of.counters, of.functions)
    before = seen(tester.ledger(), counters())
    result = tester.run({0: 100.0}, 1.0, 0.3)
    found = balance(before, seen(tester.ledger(), counters()), result, STREAMS)
    return {(one.place, one.reason): one.packets for one in found.drops}, found.unaccounted


def test_without_functions_that_can_be_read_the_cloud_has_not_returned_it() -> None:
    assert lost(OneRun(delivered=60)) == ({(f"cloud:{PORT}-{PORT}", "not_returned"): 40}, 0)


def test_between_functions_that_can_be_read_each_loss_has_its_place() -> None:
    functions = [Function("vnf1"), Function("vnf2")]
    then = {"vnf1": (90, 85), "vnf2": (80, 70)}
    assert lost(OneRun(delivered=69, functions=functions, then=then)) == (
        {
            (f"cloud:{PORT}-vnf1", "not_returned"): 10,
            ("vnf1", "not_forwarded"): 5,
            ("cloud:vnf1-vnf2", "not_returned"): 5,
            ("vnf2", "not_forwarded"): 10,
            (f"cloud:vnf2-{PORT}", "not_returned"): 1,
        },
        0,
    )


def test_frames_of_others_at_a_functions_port_make_no_packet_more_or_less() -> None:
    then = {"vnf1": (130, 101)}
    found, unaccounted = lost(OneRun(delivered=95, functions=[Function("vnf1")], then=then))
    assert (sum(found.values()), unaccounted) == (5, 0)


def test_what_the_tester_lost_itself_is_not_the_clouds() -> None:
    of = OneRun(
        delivered=50, tx_refused=10, too_late=3, malformed=2, rx_missed=7,
        interface={"interface_tx_dropped": 4, "interface_rx_dropped": 6},
    )  # fmt: skip
    assert lost(of) == (
        {
            (PORT, "tx_queue_full"): 10,
            (PORT, "too_late"): 3,
            (PORT, "malformed"): 2,
            (PORT, "rx_missed"): 7,
            (PORT, "interface_tx_dropped"): 4,
            (PORT, "interface_rx_dropped"): 6,
            (f"cloud:{PORT}-{PORT}", "not_returned"): 18,
        },
        0,
    )


def test_more_packets_back_than_were_sent_make_a_trial_that_does_not_balance() -> None:
    _, unaccounted = lost(OneRun(delivered=103))
    assert unaccounted == -3


def test_a_function_that_sends_less_than_comes_back_makes_one_too() -> None:
    _, unaccounted = lost(OneRun(delivered=90, functions=[Function("vnf1")], then={"vnf1": (95, 80)}))
    assert unaccounted < 0


def test_what_was_lost_before_a_trial_is_not_lost_in_it() -> None:
    of = OneRun(delivered=60)
    tester = SummingTester(of)
    counters = ChainCounters(tester, of.counters, [])
    counters()
    tester.run({0: 100.0}, 1.0, 0.3)
    before = seen(tester.ledger(), counters())
    result = tester.run({0: 100.0}, 1.0, 0.3)
    found = balance(before, seen(tester.ledger(), counters()), result, STREAMS)
    assert [one.packets for one in found.drops] == [40]
    assert found.unaccounted == 0


@dataclass
class Shell:
    answer: str
    asked: list[str] = field(default_factory=list)

    def said(self, command: str, within_s: float) -> str:
        assert within_s > 0
        self.asked.append(command)
        if not self.answer:
            raise FabricError("the session by SSH at 198.51.100.10 has ended")
        return self.answer


def test_a_functions_counters_are_those_of_the_port_with_its_address() -> None:
    shell = Shell("17\n13\n")
    assert ReadFunction("vnf1", "fa:16:3e:00:00:01", shell).passed() == Passed(17, 13)
    assert "fa:16:3e:00:00:01" in shell.asked[0]


@pytest.mark.parametrize(
    ("answer", "why"), [("", "vnf1: the session by SSH .* has ended"), ("cat: no such\n", "vnf1 says")]
)
def test_a_function_that_does_not_tell_them_is_named(answer: str, why: str) -> None:
    with pytest.raises(CloudError, match=why):
        ReadFunction("vnf1", "fa:16:3e:00:00:01", Shell(answer)).passed()
