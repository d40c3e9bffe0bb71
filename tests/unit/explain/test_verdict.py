# SPDX-License-Identifier: Apache-2.0
"""Each kind of limit, from made-up ledgers that show it, and from such as almost do."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from weir.base.node import KernelFunction
from weir.explain.text import show
from weir.results.explanation import CaseExplanation, Explanation
from weir.results.result import AreaLoad, Ceiling, Latency, OffloadLoad

from .made import OFFERED, area, explained, stall, stream, the_tester, topology, trial, verdict

FULL, HALF = 0.98, 0.5
AHEAD_OF_F1 = {("tester.left", "tx_queue_full"): 300_000}
AHEAD_OF_F2 = {("f1/right", "tx_queue_full"): 300_000}
NAT, ACL = {"nat": 600_000_000, "acl": 200_000_000}, {"acl": 250_000_000}


def test_a_stage_on_a_full_core_behind_a_queue_that_overflows() -> None:
    found = explained(trial([*the_tester(), area("f1", FULL, NAT), area("f2", HALF, ACL)], AHEAD_OF_F1))
    assert verdict(found) == ("stage", "f1/nat")
    assert found.limit.core == 1
    assert "wire0 from tester.left" in found.limit.sentence
    assert [row.value for row in found.evidence if row.what == "f1/nat"] == [pytest.approx(600)]
    assert [row.value for row in found.evidence if row.unit == "packets"] == [300_000]


def test_what_is_next_is_the_core_that_spends_most_on_a_packet_after_the_limit() -> None:
    found = explained(trial([*the_tester(), area("f1", FULL, NAT), area("f2", HALF, ACL)], AHEAD_OF_F1))
    assert found.second is not None
    assert (found.second.name, found.second.core) == ("f2/acl", 2) or found.second.name == "f2 (ports)"
    assert found.second.share_of_limit == pytest.approx(HALF / FULL)


def test_of_two_full_cores_the_one_that_spends_more_cycles_on_a_packet() -> None:
    slow = area("f2", FULL, {"acl": 900_000_000}, packets=500_000)
    drops = AHEAD_OF_F1 | {("f1/right", "tx_queue_full"): 200_000}
    found = explained(trial([*the_tester(), area("f1", FULL, NAT), slow], drops))
    assert verdict(found) == ("stage", "f2/acl")


def test_ports_where_receiving_and_sending_take_most_of_a_full_core() -> None:
    found = explained(
        trial([*the_tester(), area("f1", FULL, {"nat": 90_000_000}), area("f2", HALF, ACL)], AHEAD_OF_F1)
    )
    assert verdict(found) == ("ports", "f1 (ports)")


def test_a_core_that_cannot_carry_what_comes_limits_though_it_is_not_always_busy() -> None:
    areas = [*the_tester(), area("f1", 0.8, {"nat": 100_000_000}, packets=600_000), area("f2", 0.2, ACL)]
    found = explained(trial(areas, AHEAD_OF_F1))
    assert verdict(found) == ("ports", "f1 (ports)")
    assert "Core 1 would need 133% of its time for what comes" in found.limit.sentence


def test_a_ring_that_overflows_though_nobody_is_full_is_too_short() -> None:
    first = area("f1.nat", HALF, NAT, core=1, outputs=["f1.right.1"])
    last = area("f1.acl", 0.2, ACL, core=2, inputs=["f1.right.1"])
    drops = {("f1.nat/right", "tx_queue_full"): 50_000}
    found = explained(trial([*the_tester(), first, last], drops))
    assert verdict(found) == ("queue", "ring f1.right.1")
    assert "busy only 20%" in found.limit.sentence


def test_a_function_that_keeps_its_core_for_long_now_and_then() -> None:
    stalling = area("f1", 0.4, NAT, long_polls=30, long_cycles=300_000_000)
    found = explained(trial([*the_tester(), stalling, area("f2", 0.2, ACL)], AHEAD_OF_F1))
    assert verdict(found) == ("own-stall", "f1/nat")


def test_the_stage_whose_batches_took_long_and_not_the_dearest_one() -> None:
    stalling = area(
        "f1", 0.6, {"nat": 350_000_000, "acl": 200_000_000}, long_polls=30, long_cycles=150_000_000
    )
    nat, acl = stalling.paths[0].stages
    nat.long_cycles, acl.long_cycles = 1_000_000, 140_000_000
    found = explained(trial([*the_tester(), stalling, area("f2", 0.2, ACL)], AHEAD_OF_F1))
    assert verdict(found) == ("own-stall", "f1/acl")
    assert "dearest" not in found.limit.sentence


def test_long_polls_that_cannot_have_cost_the_packets_are_not_blamed() -> None:
    stalling = area("f1", 0.4, NAT, long_polls=3, long_cycles=3_000_000)
    found = explained(trial([*the_tester(), stalling, area("f2", 0.2, ACL)], AHEAD_OF_F1))
    assert found.limit.kind == "queue"


def test_the_switch_where_the_queue_into_it_overflows_and_no_function_is_full() -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, AHEAD_OF_F1), built=topology(network=True))
    assert verdict(found) == ("switch", "switch")


def test_the_function_where_the_switch_cannot_hand_packets_to_it() -> None:
    areas = [*the_tester(), area("f1", FULL, NAT), area("f2", 0.2, ACL)]
    drops = {("switch:f1.left", "tx_queue_full"): 200_000}
    found = explained(trial(areas, drops), built=topology(network=True))
    assert verdict(found) == ("stage", "f1/nat")


def test_the_tester_where_its_core_is_full_and_nothing_is_lost() -> None:
    areas = [*the_tester(FULL), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, offered=900_000, valid=False))
    assert verdict(found)[0] == "tester"


def test_the_tester_where_it_nears_what_it_can_do_alone() -> None:
    alone = Ceiling(
        max_pps=1.05 * OFFERED, latency_floor_us=1, timestamp_resolution_ns=1, limited_by="sending"
    )
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    assert verdict(explained(trial(areas), ceiling=alone)) == ("tester", "tester")
    far_below = alone.model_copy(update={"max_pps": OFFERED / 1.1})
    assert verdict(explained(trial(areas), ceiling=far_below)) == ("nothing", "nothing")


def test_the_function_where_it_takes_most_of_the_core_that_it_shares_with_the_tester() -> None:
    areas = [*the_tester(0.2), area("f1", 0.78, NAT, core=0)]
    assert verdict(explained(trial(areas, offered=900_000))) == ("stage", "f1/nat")


def test_a_full_core_that_sends_too_limits_unless_much_is_lost_behind_it() -> None:
    shared = area("f1", 0.78, NAT, core=0)
    areas = [*the_tester(0.2), shared, area("f2", 0.3, ACL)]
    assert verdict(explained(trial(areas, {("f1/right", "tx_queue_full"): 5_000}))) == ("stage", "f1/nat")
    assert explained(trial(areas, {("f1/right", "tx_queue_full"): 200_000})).limit.kind == "queue"


def test_the_receiver_that_lets_the_last_wire_overflow() -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, {("f2/right", "tx_queue_full"): 10_000}))
    assert verdict(found) == ("tester", "receiver.right")


def test_a_physical_link_at_its_speed() -> None:
    line_pps = int(10e9 / 8 / (1518 + 20))
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    full = trial(areas, {("tester.left", "tx_queue_full"): 100_000}, streams=[stream(line_pps)])
    assert verdict(explained(full, built=topology(wire="physical"), frame_bytes=1518))[0] == "link"
    assert explained(full, frame_bytes=1518).limit.kind == "queue"


def test_what_a_function_drops_by_its_rules_is_no_lack_of_speed() -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, {("f2/right/acl", "no_rule"): 100_000}))
    assert verdict(found) == ("decision", "f2/acl")


def test_rules_that_drop_most_of_what_is_lost_come_before_a_core_that_was_taken_away() -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    denied, full = {("f2/right/acl", "no_rule"): 100_000}, {("tester.left", "tx_queue_full"): 200_000}
    assert verdict(explained(trial(areas, denied, stalls=[stall(1, 0.4)]))) == ("decision", "f2/acl")
    mixed = explained(trial(areas, denied | full, stalls=[stall(1, 0.4)]))
    assert verdict(mixed) == ("oversubscription", "core 1")


GIVEN_UP = "Nothing comes through: of 500 packets none arrived."


def given_up(
    drops: dict[tuple[str, str], int],
    sides: tuple[int, ...] = (0, 0),
    light_areas: Sequence[AreaLoad] = (),
) -> CaseExplanation:
    """Of a warm-up with a core taken away and a full queue, and a light load of which these were dropped;
    `sides`: how many arrived of each direction's 250."""
    areas = [*the_tester(), area("f1", FULL, NAT), area("f2", 0.2, ACL)]
    denied = {("f2/right/acl", "no_rule"): 300_000, ("tester.left", "tx_queue_full"): 700_000}
    warm_up = trial(areas, denied, purpose="calibration", stalls=[stall(1, 0.9)], delivered=0)
    directions = zip(("left-to-right", "right-to-left"), sides, strict=True)
    streams = [
        stream(arrived).model_copy(update={"offered": 250, "direction": direction})
        for direction, arrived in directions
    ]
    arrived = {"offered": 500, "delivered": sum(sides), "streams": streams}
    light = trial([*light_areas], drops, purpose="preflight", **arrived)
    light.valid = False  # others had the core; what the rules say is true all the same
    return explained(curve=[], trials=[warm_up, light], problem=GIVEN_UP)


def test_rules_that_let_nothing_through_however_light_the_load_are_the_limit_whatever_else_was() -> None:
    found = given_up({("f2/right/acl", "no_rule"): 260, ("f2/left/acl", "no_rule"): 240})
    assert verdict(found) == ("decision", "f2/acl")
    assert found.limit.sentence.startswith("f2/acl drops all packets, however light the load, by its own")
    assert [row.value for row in found.evidence if row.unit == "packets"] == [260, 240]
    assert [advised.measure for advised in found.advice] == [
        "Look at the function's rules: what it drops is what they say"
    ]


def test_the_direction_of_which_nothing_comes_is_named() -> None:
    found = given_up({("f2/left/acl", "no_rule"): 250}, (250, 0))
    assert "f2/acl drops all packets right-to-left, however light" in found.limit.sentence


def test_where_no_rule_drops_them_the_reason_for_which_the_run_gave_up_comes_first() -> None:
    found = given_up({})
    assert (found.limit.kind, found.limit.sentence) == ("unknown", f"Cannot tell: {GIVEN_UP}")


def test_a_function_that_a_light_load_fills_is_too_slow_and_not_unknown() -> None:
    areas = [*the_tester(), area("f1", FULL, NAT), area("f2", 0.2, ACL)]
    found = given_up({}, light_areas=areas)
    assert verdict(found) == ("stage", "f1/nat")
    assert found.limit.sentence.startswith("Core 1 is full; ")
    denied = given_up({("f2/right/acl", "no_rule"): 500}, light_areas=areas)
    assert verdict(denied) == ("decision", "f2/acl")


def test_nothing_where_all_was_carried() -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    late = dict.fromkeys(
        ("min_us", "mean_us", "p50_us", "p90_us", "p99_us", "p999_us", "p9999_us", "max_us"), 3e4
    )
    behind = stream(OFFERED).model_copy(update={"latency": Latency(packets=OFFERED, **late)})
    found = explained(trial(areas, streams=[behind]))
    assert found.limit.kind == "nothing"
    assert "carried" not in shown(found).split("Limited by")[0]  # what came later was carried, too
    away = explained(trial(areas, streams=[behind], stalls=[stall(1, 0.9)]))
    assert (away.limit.kind, away.carried_pps) == ("unknown", away.offered_pps)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"unaccounted": 5000}, "5,000 packets of the trial are unaccounted for"),
        ({"intended": 1_100_000}, "the tester sent 100000 packets too few, though its core is not full"),
    ],
)
def test_it_says_so_where_the_evidence_does_not_do(wrong: dict[str, Any], words: str) -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, **wrong))
    assert found.limit.kind == "unknown"
    assert words in found.limit.sentence


def test_of_a_trial_behind_an_earlier_one_it_says_that_and_doubts_no_counter() -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    streams = [stream(OFFERED).model_copy(update={"from_earlier": 3384})]
    found = explained(trial(areas, unaccounted=3384, valid=False, doubted=["held"], streams=streams))
    assert found.limit.sentence.endswith(
        "Cannot tell: 3,384 packets of an earlier trial came in it: the system under test was not yet empty "
        "of them, and what was sent waited behind them."
    )
    other = explained(trial(areas, {}, valid=False, streams=streams))  # its own reason is another
    assert verdict(other)[0] == "nothing"


def test_of_a_trial_that_was_given_up_it_says_that_and_doubts_no_counter() -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, unaccounted=3384, valid=False, doubted=["held"]))
    assert "Cannot tell: packets still came when the trial was given up" in found.limit.sentence


def test_it_says_what_share_was_offloaded_and_cycles_are_of_the_rest() -> None:
    nat = area("f1", 0.98, {"nat": 600_000_000})
    split = OffloadLoad(
        kind="xdp", packets=OFFERED * 3 // 4, l2_bytes=0, flows=4, put=5, revoked=1, refused={"full": 2}
    )
    nat.paths[0].offload = split
    found = explained(
        trial([*the_tester(), nat, area("f2", 0.5)], {("tester.left", "tx_queue_full"): 300_000})
    )
    (row,) = (one for one in found.evidence if one.what == "f1 offloaded")
    assert row.value == pytest.approx(0.75)
    assert row.unit == "share"
    assert "5 flows went down, 1 came up, 2 stay in software" in row.note
    figures = {one.name: one for one in found.areas}
    assert figures["f1"].offloaded == OFFERED * 3 // 4
    assert figures["f1"].cycles_per_packet == pytest.approx(4 * 980, rel=1e-3)
    assert figures["f2"].cycles_per_packet == pytest.approx(500, rel=1e-3)
    shown = io.StringIO()
    show(Explanation(result="r", cases=[found]), Console(file=shown, width=120))
    assert "offloaded   dropped" in shown.getvalue()


def test_a_result_without_ledgers_cannot_be_explained() -> None:
    found = explained(trial([], AHEAD_OF_F1))
    assert found.limit.kind == "unknown"
    assert "run the lab again" in found.limit.sentence


def test_the_trial_judged_is_one_that_lost_packets_and_whose_counters_can_be_believed() -> None:
    fine = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    full = [*the_tester(), area("f1", FULL, NAT), area("f2", 0.2, ACL)]
    overload = trial(full, AHEAD_OF_F1)
    broken = trial(fine, AHEAD_OF_F1, intended_load_pps=2 * OFFERED, unaccounted=50_000)
    assert verdict(explained(trial(fine), overload, broken)) == ("stage", "f1/nat")


def test_what_rules_of_linux_drop_is_its_decision_and_no_full_queue() -> None:
    linux = KernelFunction(addressing="routed", commands_time_limit_s=1, directory=".", rps=True)
    built = topology(network=True)
    nodes = tuple(
        node.model_copy(update={"kernel": linux, "chain": ()}) if node.name == "f2" else node
        for node in built.nodes
    )
    dropped = trial([*the_tester(), area("f1", HALF, NAT)], {("f2/kernel/nft", "refused"): OFFERED // 4})
    found = explained(dropped, built=built.model_copy(update={"nodes": nodes}))
    assert verdict(found) == ("decision", "f2/nft")


def test_areas_of_a_core_that_others_had_are_not_shown_as_if_all_of_it_were_theirs() -> None:
    def away(host_s: float) -> str:
        areas = [*the_tester(), area("f1", 0.6), area("f2", HALF, ACL)]
        found = explained(trial(areas, AHEAD_OF_F1, stalls=[stall(1, host_s)]))
        assert [row.away for row in found.areas if row.core == 1] == [pytest.approx(host_s)]
        return shown(found)

    assert "Others had core 1 for 50% of the time, and some of that is in" in away(0.5)
    assert "Others had core" not in away(0.05)


def shown(found: CaseExplanation) -> str:
    out = io.StringIO()
    show(Explanation(result="r", cases=[found]), Console(file=out, width=100))
    return " ".join(out.getvalue().split())
