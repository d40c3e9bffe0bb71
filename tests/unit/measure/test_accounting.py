# SPDX-License-Identifier: Apache-2.0
"""Every packet is accounted for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.simulated.tester import simulated_traffic
from weir.measure.accounting import Counts, Seen, balance, counted, seen
from weir.protocol.ledger import AreaLedger, Ledger, PathLedger, PortLedger, StageLedger
from weir.protocol.traffic_results import ReceiverResult, StreamResult, TrafficResult

from .rig import Port

STREAMS = simulated_traffic().streams
packets = st.integers(min_value=0, max_value=10**12)
places = st.dictionaries(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), packets, max_size=6)


def traffic(
    offered: int, delivered: int, refused: int = 0, malformed: int = 0, too_late: int = 0
) -> TrafficResult:
    return TrafficResult(
        run=1,
        tx_duration_ns=1e9,
        streams=(
            StreamResult(
                id=0,
                intended=offered,
                offered=offered,
                tx_refused=refused,
                delivered=delivered,
                too_late=too_late,
            ),
        ),
        receivers=(ReceiverResult(port="tester.right", malformed=malformed),),
    )


@given(before=places, lost=places, delivered=packets, refused=packets, malformed=packets, hidden=packets)
def test_what_no_place_counted_is_unaccounted_exactly(
    *, before: Counts, lost: Counts, delivered: int, refused: int, malformed: int, hidden: int
) -> None:
    after = {key: before.get(key, 0) + lost.get(key, 0) for key in before.keys() | lost.keys()}
    offered = delivered + refused + malformed + sum(lost.values()) + hidden
    found = balance(Seen(before), Seen(after), traffic(offered, delivered, refused, malformed), STREAMS)
    assert found.unaccounted == hidden
    assert found.offered == found.delivered + sum(drop.packets for drop in found.drops) + found.unaccounted


@given(before=places, after=places, offered=packets, delivered=packets)
def test_the_balance_holds_whatever_the_counters_say(
    before: Counts, after: Counts, offered: int, delivered: int
) -> None:
    found = balance(Seen(before), Seen(after), traffic(offered, delivered), STREAMS)
    assert found.offered == found.delivered + sum(drop.packets for drop in found.drops) + found.unaccounted
    assert all(drop.packets > 0 for drop in found.drops)
    assert 0 <= found.loss_ratio <= 1


def test_what_came_too_late_is_lost_where_it_arrived() -> None:
    found = balance(Seen(), Seen(), traffic(offered=10, delivered=7, too_late=3), STREAMS)
    assert found.unaccounted == 0
    assert [(drop.place, drop.reason, drop.packets) for drop in found.drops] == [
        ("tester.right", "too_late", 3)
    ]


def test_drops_are_taken_from_stages_areas_ports_and_the_switch_but_not_from_the_tester() -> None:
    path = PathLedger(
        name="right",
        rx_packets=9,
        tx_packets=1,
        drops={"tx_queue_full": 1},
        stages=(
            StageLedger.model_validate({"nf": "acl", "in": 9, "out": 7, "cycles": 1, "drops": {"denied": 2}}),
        ),
    )
    ledger = Ledger(
        tsc=0,
        tsc_hz=1,
        areas=(
            AreaLedger(name="f1", core=1, kind="chain", paths=(path,)),
            AreaLedger(name="generator.left", core=0, kind="generator", paths=(path,)),
        ),
        ports=(
            PortLedger(
                name="f1.left",
                rx_missed=3,
                rx_nombuf=4,
                tx_errors=5,
                rx_too_long=8,
                rx_unfinished=9,
                rx_unread=12,
                tx_too_long=10,
                tx_down=11,
            ),
        ),
    )
    counters = [
        Port("net0", "rx_backlog_full", 6),
        Port("net1", None, 7),
        Port("net0", None, 99, kind="packets"),
    ]
    assert counted(ledger, counters) == {  # type: ignore[arg-type]
        ("f1/right", "tx_queue_full"): 1,
        ("f1/right/acl", "denied"): 2,
        ("f1.left", "rx_missed"): 3,
        ("f1.left", "rx_nombuf"): 4,
        ("f1.left", "tx_errors"): 5,
        ("f1.left", "rx_too_long"): 8,
        ("f1.left", "rx_unfinished"): 9,
        ("f1.left", "rx_unread"): 12,
        ("f1.left", "tx_too_long"): 10,
        ("f1.left", "tx_down"): 11,
        ("net0", "rx_backlog_full"): 6,
        ("net1", "unspecified"): 7,
    }


def test_packets_that_the_wire_refused_are_dropped_at_the_tester_s_port() -> None:
    found = balance(Seen(), Seen(), traffic(offered=10, delivered=7, refused=3), STREAMS)
    assert [(drop.place, drop.reason, drop.packets) for drop in found.drops] == [
        ("tester.left", "tx_queue_full", 3)
    ]


def test_a_counter_that_went_backwards_hides_nothing() -> None:
    before, after = Seen({("net0", "full"): 5}), Seen({("net0", "full"): 2})
    found = balance(before, after, traffic(offered=10, delivered=8), STREAMS)
    assert found.unaccounted == 2


def made(nf: str, originated: int, **drops: int) -> PathLedger:
    stage = StageLedger.model_validate(
        {"nf": nf, "in": 0, "out": 0, "cycles": 0, "originated": originated, "drops": drops}
    )
    return PathLedger(name="inbound", rx_packets=0, tx_packets=0, stages=(stage,))


def two_ends(indications: int, signals: int, arrived: int, foreign: int = 0) -> Seen:
    """A upf that made error indications, and a gnb for which they are."""
    areas = (
        AreaLedger(name="f2", core=1, kind="chain", paths=(made("upf", indications),)),
        AreaLedger(name="f1", core=1, kind="chain", paths=(made("gnb", 0, signal=signals),)),
    )
    ports = (PortLedger(name="tester.left", foreign=arrived + foreign, signals=arrived),)
    return seen(Ledger(tsc=0, tsc_hz=1, areas=areas, ports=ports), ())


def test_packets_that_a_function_made_balance_where_another_one_drops_them() -> None:
    found = balance(two_ends(5, 5, 0), two_ends(44, 44, 0), traffic(offered=100, delivered=100), STREAMS)
    assert found.unaccounted == 0
    assert [(one.place, one.packets) for one in found.originated] == [("f2/inbound/upf", 39)]
    assert [(one.place, one.packets) for one in found.drops] == [("f1/inbound/gnb", 39)]
    assert found.originated_arrived == 0


def test_packets_that_a_function_made_balance_where_the_tester_receives_them() -> None:
    found = balance(two_ends(5, 5, 7), two_ends(44, 14, 37), traffic(offered=100, delivered=100), STREAMS)
    assert (found.unaccounted, found.originated_arrived) == (0, 30)


def test_what_strangers_sent_to_the_tester_takes_the_place_of_nothing() -> None:
    found = balance(two_ends(0, 0, 0), two_ends(0, 0, 40), traffic(offered=100, delivered=97), STREAMS)
    assert (found.unaccounted, found.originated_arrived) == (3, 0)


def test_damaged_packets_of_the_tester_s_are_not_taken_for_what_a_function_made() -> None:
    """39 indications were made and dropped, 30 packets came with a wrong bit in their stamps."""
    before, after = two_ends(5, 5, 0), two_ends(44, 44, 0, foreign=30)
    found = balance(before, after, traffic(offered=100, delivered=70), STREAMS)
    assert (found.unaccounted, found.originated_arrived) == (30, 0)


def test_what_a_guest_s_function_made_is_of_the_account_too() -> None:
    counters = [
        Port("guest:f1/outbound/upf", None, 4, kind="originated"),
        Port("net0", "full", 3),
    ]
    after = seen(Ledger(tsc=0, tsc_hz=1), counters)  # type: ignore[arg-type]
    found = balance(Seen(), after, traffic(offered=9, delivered=9), STREAMS)
    assert (found.unaccounted, sum(one.packets for one in found.originated)) == (1, 4)


@given(made=packets, dropped=packets, arrived=packets, delivered=packets, hidden=packets)
def test_with_packets_that_were_made_what_no_place_counted_is_unaccounted_exactly(
    *, made: int, dropped: int, arrived: int, delivered: int, hidden: int
) -> None:
    after = Seen(
        {("f1/inbound/gnb", "signal"): dropped}, {"f2/inbound/upf": dropped + arrived + made}, arrived
    )
    found = balance(Seen(), after, traffic(delivered + hidden, delivered), STREAMS)
    assert found.unaccounted == hidden + made
    assert found.originated_arrived == arrived
