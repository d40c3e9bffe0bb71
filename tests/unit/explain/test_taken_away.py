# SPDX-License-Identifier: Apache-2.0
"""Cores that others had meanwhile: whom an explanation names, on weir-dp's own cores and beside them."""

from __future__ import annotations

import pytest

from weir.base.topology import Topology
from weir.results.explanation import CaseExplanation
from weir.results.result import AreaLoad, Counted, LeftOut

from .made import (
    HZ,
    OFFERED,
    area,
    core_load,
    explained,
    pmd,
    softirq,
    stall,
    the_tester,
    topology,
    trial,
    verdict,
)

FULL, HALF = 0.98, 0.5
AHEAD_OF_F1 = {("tester.left", "tx_queue_full"): 300_000}
NAT, ACL = {"nat": 600_000_000, "acl": 200_000_000}, {"acl": 250_000_000}
INTO_THE_SWITCH = {("switch:tester.left", "rx_missed"): 300_000}


def test_a_stall_of_the_host_during_which_the_packets_came() -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, {("tester.left", "tx_queue_full"): 20_000}, stalls=[stall(1, 0.03)]))
    assert verdict(found) == ("host-stall", "core 1")


def test_a_core_that_the_host_has_for_a_good_part_of_the_time_is_oversubscribed() -> None:
    areas = [*the_tester(), area("f1", FULL, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, AHEAD_OF_F1, stalls=[stall(1, 0.25)]))
    assert verdict(found) == ("oversubscription", "core 1")


def test_a_core_that_was_away_while_nothing_was_lost_limited_nothing() -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, {}, stalls=[stall(1, 0.25)]))
    assert verdict(found)[0] == "nothing"


def test_a_trial_of_which_next_to_nothing_counts_tells_nothing_though_all_came_through() -> None:
    areas = [*the_tester(), area("f1", HALF, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, {}, stalls=[stall(1, 0.9)]))
    assert verdict(found)[0] == "unknown"
    assert "others had cores for 90% of the highest load with a ledger" in found.limit.sentence


def taken(core: int, by: str, seconds: float) -> LeftOut:
    return LeftOut(core=core, from_us=0, to_us=seconds * 1e6, by=by)


def with_bridge_on_core_1() -> Topology:
    """A kernel bridge works in the system calls of whoever sends: on cores of functions."""
    return topology(network=True).model_copy(update={"switch_cores": (0, 1)})


def test_the_program_that_took_a_core_away_is_named_and_not_a_bridge_which_does_not_poll() -> None:
    areas = [*the_tester(), area("f1", FULL, NAT), softirq(0.2)]
    had = [taken(1, "python (11983)", 0.6), taken(1, "host", 0.6), taken(1, "cron (7)", 0.01)]
    found = explained(
        trial(areas, AHEAD_OF_F1, stalls=[stall(1, 0.81)], left_out=had), built=with_bridge_on_core_1()
    )
    assert verdict(found) == ("oversubscription", "core 1")
    assert found.limit.sentence == (
        "Core 1 was taken away for 81% of the time: python (11983) had it for 600.0 ms, 1 more for less."
    )
    assert [row.value for row in found.evidence if row.what == "core 1: python (11983)"] == [600_000]


def test_the_threads_of_a_program_that_took_a_core_away_are_named_as_one() -> None:
    areas = [*the_tester(), area("f1", FULL, NAT), area("f2", 0.2, ACL)]
    had = [taken(1, f"python of bob ({tid})", 0.2) for tid in (1, 2)] + [taken(1, "weir of bob (7)", 0.3)]
    found = explained(trial(areas, AHEAD_OF_F1, stalls=[stall(1, 0.8)], left_out=had))
    said = "2 threads called python of bob"
    assert f"{said} had it for 400.0 ms, 1 more for less." in found.limit.sentence
    assert [row.value for row in found.evidence if row.what == f"core 1: {said}"] == [400_000]


def test_stalls_that_went_on_in_the_drain_are_no_more_than_all_of_the_time() -> None:
    areas = [*the_tester(), area("f1", FULL, NAT)]
    found = explained(trial(areas, AHEAD_OF_F1, stalls=[stall(1, 2.24)]))
    assert "Core 1 was taken away for 100% of the time: " in found.limit.sentence
    shares = [row.value for row in found.evidence if row.unit == "share"]
    assert shares
    assert max(shares) == 1


@pytest.mark.parametrize(("sending_us", "limit"), [(50_000, "stage"), (None, "oversubscription")])
def test_stalls_behind_the_last_packet_sent_are_not_of_the_time(sending_us: float | None, limit: str) -> None:
    """Of a program with long queues packets come for long."""
    areas = [*the_tester(), area("f1", FULL, NAT), area("f2", 0.2, ACL)]
    drained = stall(1, 5.2).model_copy(update={"host_sending_us": sending_us})
    found = explained(trial(areas, AHEAD_OF_F1, stalls=[drained], counted=counted(300_000, 0.95)))
    assert verdict(found)[0] == limit


def test_a_core_that_nobody_known_had_was_taken_by_the_host() -> None:
    areas = [*the_tester(), area("f1", FULL, NAT), softirq(0.2)]
    had = [taken(1, "host", 0.7), taken(1, "cron (7)", 0.01), taken(1, "slowed", 0.1)]
    found = explained(
        trial(areas, AHEAD_OF_F1, stalls=[stall(1, 0.8)], left_out=had), built=with_bridge_on_core_1()
    )
    assert "by the host: a hypervisor, or a program that was not recorded." in found.limit.sentence
    assert [row.note for row in found.evidence if row.what == "core 1 slowed"] == [
        "worked slower than at its best: a neighbour on its physical core, or a lower clock"
    ]


def test_a_switch_that_polls_on_a_taken_core_is_named() -> None:
    polls = pmd(0.5).model_copy(update={"core": 1})
    areas = [*the_tester(), area("f1", FULL, NAT), polls]
    found = explained(trial(areas, AHEAD_OF_F1, stalls=[stall(1, 0.5)]), built=topology(network=True))
    assert found.limit.sentence == "Core 1 was taken away for 50% of the time: the switch polls there too."


def test_a_core_that_runs_nothing_of_the_trial_may_be_taken_away() -> None:
    areas = [*the_tester(), area("f1", FULL, NAT), area("f2", 0.2, ACL)]
    found = explained(trial(areas, AHEAD_OF_F1, stalls=[stall(3, 0.9)]))
    assert verdict(found) == ("stage", "f1/nat")


def waiting(busy: float, waited: float) -> AreaLoad:
    """The switch's polling thread, of which others had the core for a share of the time."""
    found = pmd(busy)
    assert found.polling is not None
    found.polling.waited_cycles = int(waited * HZ)
    found.idle_cycles = int((1 - busy - waited) * HZ)
    return found


def counted(lost: int, seconds: float = 0.65) -> Counted:
    return Counted(seconds=seconds, offered=int(seconds * OFFERED), lost=lost)


def by_a_switch(
    busy: float, waited: float, had: list[LeftOut], record: Counted | None = None
) -> CaseExplanation:
    areas = [*the_tester(), area("f1", 0.3), area("f2", 0.3), waiting(busy, waited)]
    one = trial(areas, INTO_THE_SWITCH, left_out=had, counted=record, cores=[core_load(3)])
    return explained(one, built=topology(network=True))


def test_a_switchs_core_that_a_program_had_is_not_too_short_for_bursts() -> None:
    found = by_a_switch(0.64, 0.35, [taken(3, "python (77)", 0.35)], counted(0))
    assert verdict(found) == ("oversubscription", "core 3")
    assert found.limit.sentence == (
        "Core 3 was taken away for 35% of the time: python (77) had it for 350.0 ms."
    )
    assert [row.value for row in found.evidence if row.what == "core 3: python (77)"] == [350_000]
    assert [row.value for row in found.evidence if row.what == "core 3 taken away"] == [pytest.approx(0.35)]


def test_what_its_polling_thread_waited_is_known_without_who_had_the_core() -> None:
    found = by_a_switch(0.64, 0.35, [])
    assert verdict(found) == ("oversubscription", "core 3")
    assert "taken away for 35% of the time: other programs, or guests, run there" in found.limit.sentence


def test_a_switch_that_loses_in_the_time_that_counts_too_is_full_of_the_time_that_it_had() -> None:
    found = by_a_switch(0.64, 0.35, [taken(3, "python (77)", 0.35)], counted(50_000))
    assert verdict(found) == ("switch", "pmd.3")
    shown = {row.what: row.value for row in found.evidence}
    assert shown["core 3 busy"] == pytest.approx(0.64 / 0.65)
    assert shown["pmd.3 waited"] == pytest.approx(0.35)


def test_the_kernels_part_of_a_switchs_core_is_no_time_that_others_had() -> None:
    areas = [*the_tester(), area("f1", 0.3), area("f2", 0.3), waiting(0.3, 0.3), softirq(0.3, core=3)]
    found = explained(trial(areas, INTO_THE_SWITCH), built=topology(network=True))
    assert verdict(found) == ("queue", "switch port tester.left")
    assert "busy only 60%" in found.limit.sentence


def test_a_program_that_had_the_kernels_core_is_named() -> None:
    areas = [*the_tester(), area("f1", 0.3), area("f2", 0.2), softirq(0.6, core=3)]
    drops = {("f1.right", "interface_tx_dropped"): 300_000}
    one = trial(areas, drops, left_out=[taken(3, "make (7)", 0.3)], counted=counted(0, 0.7))
    found = explained(one, built=topology(network=True))
    assert verdict(found) == ("oversubscription", "core 3")
    assert "make (7) had it for 300.0 ms." in found.limit.sentence


def test_a_program_that_had_a_loops_core_in_pieces_too_short_for_a_stall_is_named() -> None:
    areas = [*the_tester(), area("f1", FULL, NAT), area("f2", 0.2, ACL)]
    pieces = [
        LeftOut(core=1, from_us=at * 1000.0, to_us=at * 1000.0 + 200, by="python (77)") for at in range(1000)
    ]
    found = explained(trial(areas, AHEAD_OF_F1, left_out=pieces, counted=counted(0, 0.8)))
    assert found.limit.sentence == (
        "Core 1 was taken away for 20% of the time: python (77) had it for 200.0 ms."
    )


@pytest.mark.parametrize("host_s", [0.099, 0.101])
def test_who_had_the_core_is_named_however_short(host_s: float) -> None:
    areas = [*the_tester(), area("f1", 0.5, NAT), area("f2", 0.2, ACL)]
    had = [LeftOut(core=1, from_us=0, to_us=host_s * 1e6, by="python (77)")]
    lost = {("tester.left", "tx_queue_full"): 60_000}
    found = explained(trial(areas, lost, stalls=[stall(1, host_s)], left_out=had))
    assert f"python (77) had it for {host_s * 1e3:.1f} ms" in found.limit.sentence
    assert "The host" not in found.limit.sentence
    assert [row.value for row in found.evidence if row.what == "core 1: python (77)"] == [host_s * 1e6]


def test_a_short_stall_of_which_nobody_is_known_is_no_programs() -> None:
    areas = [*the_tester(), area("f1", 0.5, NAT), area("f2", 0.2, ACL)]
    had = [LeftOut(core=1, from_us=0, to_us=30_000, by="host")]
    lost = {("tester.left", "tx_queue_full"): 20_000}
    found = explained(trial(areas, lost, stalls=[stall(1, 0.03)], left_out=had))
    assert verdict(found) == ("host-stall", "core 1")
    assert found.limit.sentence == (
        "Core 1 was taken away for 30.0 ms, and wire0 from tester.left overflowed then: by the host: a "
        "hypervisor, or a program that was not recorded."
    )
