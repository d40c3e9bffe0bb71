# SPDX-License-Identifier: Apache-2.0
"""The account of a chain over two hosts: what is lost between them is named at the wire that lost it."""

from __future__ import annotations

from collections.abc import Sequence

from weir.base.span import Span, SpanEnd
from weir.measure.accounting import Balance, balance, seen
from weir.measure.spans import LOST_BETWEEN, Count, lost_between, part_counts
from weir.measure.tester import Counter
from weir.protocol.ledger import AreaLedger, Ledger

from .test_accounting import STREAMS, made, traffic


def span(link: int, left: str, right: str) -> Span:
    ends = [
        SpanEnd(host=host, port="", netns="", interface="", address="192.0.2.1") for host in (left, right)
    ]
    return Span(link=link, name=f"wire{link}", kind="vxlan", left=ends[0], right=ends[1], frame_bytes=64)


def there(originated: int = 0, **drops: int) -> Ledger:
    """Of the function's host."""
    return Ledger(
        tsc=0,
        tsc_hz=1,
        areas=(AreaLedger(name="f1", core=1, kind="chain", paths=(made("acl", originated, **drops),)),),
    )


THERE_AND_BACK = [span(0, "edge", "core"), span(1, "core", "edge")]


def packets(**counted: int) -> list[Count]:
    """By place, with underscores for what stands between the words: wire0_edge_tx=5."""
    places = (name.split("_") for name in counted)
    return [
        Count(f"{wire}:{host} {way}", None, "packets", value)
        for (wire, host, way), value in zip(places, counted.values(), strict=True)
    ]


def test_what_one_host_gave_and_the_other_did_not_get_is_lost_on_that_wire_in_that_direction() -> None:
    counters = packets(
        wire0_edge_tx=100, wire0_core_rx=93, wire0_core_tx=50, wire0_edge_rx=50,
        wire1_core_tx=93, wire1_edge_rx=91, wire1_edge_tx=50, wire1_core_rx=50,
    )  # fmt: skip
    lost = {one.place: one.value for one in lost_between(THERE_AND_BACK, counters)}
    assert lost == {
        "wire0:edge-core": 7, "wire0:core-edge": 0, "wire1:core-edge": 2, "wire1:edge-core": 0,
    }  # fmt: skip


def test_what_the_far_end_refused_as_faulty_is_not_lost_on_the_wire_as_well() -> None:
    counters = packets(wire0_edge_tx=100, wire0_core_rx=97)
    counters.append(Count("wire0:core", "interface_rx_errors", "drop", 3))
    assert all(one.value == 0 for one in lost_between(THERE_AND_BACK[:1], counters))


def test_a_part_tells_what_its_functions_dropped_and_made_by_their_places_in_the_chain() -> None:
    counters = packets(wire0_core_rx=9)
    told = part_counts(seen(there(2, denied=4), counters), counters)
    assert {(one.place, one.reason, one.kind, one.value) for one in told if one.value} == {
        ("f1/inbound/acl", "denied", "drop", 4),
        ("f1/inbound/acl", None, "originated", 2),
        ("wire0:core rx", None, "packets", 9),
    }


def over_two_hosts(far: Ledger, wires: Sequence[Counter], offered: int, delivered: int) -> Balance:
    """A trial from left to right, the tester on one host, the function on the other."""
    told = part_counts(seen(far, []), wires)
    here = Ledger(tsc=0, tsc_hz=1)
    after = seen(here, [*told, *lost_between(THERE_AND_BACK, wires)])
    return balance(seen(here, []), after, traffic(offered, delivered), STREAMS)


def test_a_trial_balances_over_both_hosts_and_says_where_each_packet_went() -> None:
    wires = packets(wire0_edge_tx=100, wire0_core_rx=90, wire1_core_tx=86, wire1_edge_rx=85)
    found = over_two_hosts(there(denied=4), wires, 100, 85)
    assert found.unaccounted == 0
    assert {(one.place, one.reason): one.packets for one in found.drops} == {
        ("wire0:edge-core", LOST_BETWEEN): 10,
        ("f1/inbound/acl", "denied"): 4,
        ("wire1:core-edge", LOST_BETWEEN): 1,
    }


def test_what_a_host_lost_and_does_not_tell_is_not_accounted_for() -> None:
    wires = packets(wire0_edge_tx=100, wire0_core_rx=100, wire1_core_tx=98, wire1_edge_rx=98)
    assert over_two_hosts(there(), wires, 100, 98).unaccounted == 2
