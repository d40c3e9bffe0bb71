# SPDX-License-Identifier: Apache-2.0
"""Trials whose arrivals a network card times."""

from __future__ import annotations

from tests.simulated.tester import SimulatedDut, simulated_traffic
from weir.measure.tester import Stream, arrival_clocks, resolution_ns
from weir.measure.trial import Outcome
from weir.protocol.ledger import Ledger, PortLedger, PortTimestamps
from weir.protocol.traffic_results import ReceiverResult, TrafficResult

from .rig import STEADY, Rig

HZ = 2_000_000_000
CARD = PortTimestamps(clock="card", resolution_ns=8, uncertainty_ns=400, driver="net_ice")
COUNTER = PortTimestamps(clock="counter", resolution_ns=0.5, uncertainty_ns=0, driver="net_null", why="none")
THERE = Stream(0, "left-to-right", "tester.left", "tester.right")
BACK = Stream(1, "right-to-left", "tester.right", "tester.left")


def ledger(left: PortTimestamps | None, right: PortTimestamps | None) -> Ledger:
    ports = (
        PortLedger(name="tester.left", timestamps=left),
        PortLedger(name="tester.right", timestamps=right),
    )
    return Ledger(tsc=0, tsc_hz=HZ, ports=ports)


def test_a_direction_has_the_clock_of_the_port_where_it_arrives() -> None:
    there, back = arrival_clocks(ledger(COUNTER, CARD), [THERE, BACK])
    assert (there.direction, there.clock, there.driver, there.uncertainty_ns) == (
        "left-to-right",
        "card",
        "net_ice",
        400,
    )
    assert (back.direction, back.clock, back.why) == ("right-to-left", "counter", "none")


def test_timestamps_resolve_what_the_coarsest_clock_resolves() -> None:
    assert resolution_ns(ledger(COUNTER, CARD), [THERE, BACK]) == 8
    assert resolution_ns(ledger(COUNTER, CARD), [BACK]) == 0.5
    assert resolution_ns(ledger(None, None), [THERE]) == 0.5, "of the counter's rate"


class OddCard(SimulatedDut):
    """Whose receiver says that of each run."""

    receiver = ReceiverResult(port="tester.right")

    def as_seen(self, result: TrafficResult) -> TrafficResult:
        return result.model_copy(update={"receivers": (self.receiver,)})


def trial(**said: int) -> Outcome:
    """A thousand packets, half of them to such a receiver."""
    dut = OddCard(STEADY)
    dut.receiver = ReceiverResult(port=simulated_traffic().streams[0].to, **said)
    return Rig(dut).runner().run("search", 1000, 1)


def test_a_trial_with_packets_that_have_no_true_stamp_is_the_testers_fault() -> None:
    assert trial().trial.valid
    outcome = trial(untimed=30)
    assert outcome.has("tester")
    assert outcome.trial.invalid_because[0].startswith("30 of 500 packets reached tester.right without")


class ArrivesBeforeItIsSent(SimulatedDut):
    """Three packets of each stream."""

    def as_seen(self, result: TrafficResult) -> TrafficResult:
        streams = tuple(stream.model_copy(update={"negative": 3}) for stream in result.streams)
        return result.model_copy(update={"streams": streams})


def test_a_trial_with_delays_below_zero_is_not_used() -> None:
    outcome = Rig(ArrivesBeforeItIsSent(STEADY)).runner().run("search", 1000, 1)
    assert outcome.has("host")
    assert outcome.trial.invalid_because[0].startswith(
        "3 of 500 packets reached tester.right before they were sent"
    )
    assert [stream.negative for stream in outcome.trial.streams] == [3, 3]


def test_a_trial_in_which_the_cards_clock_was_set_is_not_used() -> None:
    outcome = trial(clock_steps=1)
    assert outcome.has("host")
    assert "phc2sys" in outcome.trial.invalid_because[0]
