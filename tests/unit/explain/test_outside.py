# SPDX-License-Identifier: Apache-2.0
"""Limits outside weir-dp: the switch's polling thread, and the kernel's receive path."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from weir.explain import CaseExplanation, Explanation, explain_case
from weir.explain.text import show
from weir.results.result import Case, Counted, Fingerprint, LeftOut, Setup

from .made import HZ, OFFERED, area, core_load, explained, pmd, softirq, the_tester, topology, trial, verdict

LOST = 300_000
INTO_THE_SWITCH = {("tester.left", "tx_queue_full"): LOST}
INTO_F1 = {("f1.left", "rx_missed"): LOST}


def quick() -> list[object]:
    return [*the_tester(), area("f1", 0.3), area("f2", 0.3)]


def by_a_full_pmd(upcalls: int = 0) -> CaseExplanation:
    one = trial([*quick(), pmd(0.97, upcalls=upcalls)], INTO_THE_SWITCH, cores=[core_load(3, steal_s=0.02)])  # type: ignore[list-item]
    return explained(one, built=topology(network=True))


def by_the_kernel(*, bridge_netfilter: bool | None = None, **inside: int) -> CaseExplanation:
    """f1 sends by system calls, in which the softirq runs: half of its time is not its own."""
    f1 = area("f1", 0.98, {"nat": 90_000_000}, kernel_cycles=int(0.6 * HZ))
    areas = [*the_tester(), f1, area("f2", 0.3), softirq(0.6, inside or None)]
    one = trial(areas, INTO_F1, cores=[core_load(1, squeezed=17, dropped=5)])
    built = topology(network=True).model_copy(update={"bridge_netfilter": bridge_netfilter})
    return explained(one, built=built)


def values(found: CaseExplanation) -> dict[str, float]:
    return {row.what: row.value for row in found.evidence}


def test_the_switchs_thread_where_its_core_is_full_and_the_queue_into_it_overflows() -> None:
    found = by_a_full_pmd()
    assert verdict(found) == ("switch", "pmd.3")
    assert "tester.left into net0" in found.limit.sentence
    assert found.limit.core == 3
    assert values(found)["core 3 busy"] == pytest.approx(0.97)
    assert values(found)["pmd.3 itself"] == pytest.approx(0.97 * HZ / (3 * OFFERED))
    assert values(found)["pmd.3 sent"] == pytest.approx(32)
    assert values(found)["core 3 stolen"] == pytest.approx(0.02)


def test_its_cycles_are_of_packets_that_came_through_all_networks() -> None:
    assert values(by_a_full_pmd())["core 3 by its cycles"] == pytest.approx((OFFERED - LOST) / 0.97)


def test_upcalls_are_evidence_only_where_they_are_more_than_learning() -> None:
    assert "pmd.3 upcalls" not in values(by_a_full_pmd(upcalls=10))
    assert values(by_a_full_pmd(upcalls=OFFERED // 10))["pmd.3 upcalls"] == OFFERED // 10


def test_a_second_polling_thread_can_gain_up_to_twice_the_rate() -> None:
    (more,) = [one for one in by_a_full_pmd().advice if "polling threads" in one.measure]
    assert more.gain_at_most == pytest.approx(1.0)


def test_a_polling_thread_that_is_not_full_has_a_queue_that_is_too_short() -> None:
    one = trial([*quick(), pmd(0.4)], INTO_THE_SWITCH)  # type: ignore[list-item]
    assert verdict(explained(one, built=topology(network=True))) == ("queue", "tester.left into net0")


def test_the_kernel_where_its_receive_path_takes_most_of_a_full_core() -> None:
    found = by_the_kernel()
    assert verdict(found) == ("kernel", "softirq.1")
    assert values(found)["core 1 busy"] == pytest.approx(0.98)
    assert values(found)["softirq of core 1"] == 17
    assert values(found)["dropped on core 1"] == 5


def test_its_time_is_not_the_functions_too() -> None:
    found = by_the_kernel()
    assert values(found)["f1 (ports)"] == pytest.approx(0.98 * 1000 - 90 - 600)


def test_the_function_where_it_takes_more_of_the_core_than_the_kernel() -> None:
    f1 = area("f1", 0.98, {"nat": 700_000_000}, kernel_cycles=int(0.2 * HZ))
    one = trial([*the_tester(), f1, area("f2", 0.3), softirq(0.2)], INTO_F1)
    assert verdict(explained(one, built=topology(network=True))) == ("stage", "f1/nat")


def test_a_full_backlog_is_the_kernels_to_empty() -> None:
    drops = {("f1.right", "interface_tx_dropped"): LOST}
    areas = [*the_tester(), area("f1", 0.3), area("f2", 0.2), softirq(0.95, core=3)]
    found = explained(trial(areas, drops), built=topology(network=True))
    assert verdict(found) == ("kernel", "softirq.3")
    assert "backlog of f1.right" in found.limit.sentence


def test_sampled_stacks_say_what_the_kernel_did_and_what_netfilter_costs() -> None:
    found = by_the_kernel(bridge=100_000_000, netfilter=200_000_000)
    assert values(found)["softirq.1: netfilter"] == pytest.approx(200e6 / (OFFERED - LOST))
    (without,) = [one for one in found.advice if "netfilter" in one.measure]
    assert without.gain_at_most is not None
    assert without.gain_at_most > 0.1


def test_without_stacks_what_netfilter_costs_is_advice_without_a_number() -> None:
    (without,) = [one for one in by_the_kernel().advice if "netfilter" in one.measure]
    assert without.gain_at_most is None


def test_netfilter_that_bridged_packets_do_not_pass_is_no_advice() -> None:
    assert not [one for one in by_the_kernel(bridge_netfilter=False).advice if "netfilter" in one.measure]


def test_a_guest_that_polls_fills_no_core() -> None:
    guest = area("vm1.CPU 0/KVM", 1.0, core=3, kind="guest", inputs=[], outputs=[])
    one = trial([*quick(), guest], INTO_THE_SWITCH)  # type: ignore[list-item]
    assert verdict(explained(one, built=topology(network=True))) == ("switch", "switch")


def test_all_areas_are_listed_with_their_share_of_a_core_and_their_own_packets() -> None:
    areas = {one.name: one for one in by_a_full_pmd().areas}
    assert list(areas) == ["generator.left", "receiver.right", "f1", "f2", "pmd.3"]
    assert areas["pmd.3"].packets == 3 * OFFERED
    assert areas["pmd.3"].cycles_per_packet == pytest.approx(0.97 * HZ / (3 * OFFERED))
    assert areas["generator.left"].cycles_per_packet is None
    assert {one.name: one.busy for one in by_the_kernel().areas}["f1"] == pytest.approx(0.98 - 0.6)


def test_the_terminal_shows_them() -> None:
    out = io.StringIO()
    show(Explanation(result="r", cases=[by_the_kernel()]), Console(file=out, width=80))
    lines = out.getvalue().splitlines()
    assert any(line.split()[:3] == ["softirq.1", "1", "60%"] for line in lines)
    assert max(map(len, lines)) <= 80


def of_a_cloud(kernel: float, switch: float, left_out: list[LeftOut] | None = None) -> CaseExplanation:
    """On core 1 the kernel and the switch of a node, at whose socket packets were lost."""
    main = area("compute1:ovs-vswitchd.main", switch, core=1, kind="thread")
    main.paths[0].inputs = ["compute1:qvo of a.1"]
    lost = {("compute1:qvo of a.1", "socket_full"): LOST}
    one = trial([*the_tester(), main, softirq(kernel)], lost, cores=[core_load(1)])
    counted = Counted(seconds=0.8, offered=OFFERED, lost=LOST)  # in the time that counts too
    return explained(one.model_copy(update={"left_out": left_out or [], "counted": counted}))


def test_a_nodes_switch_is_who_empties_its_sockets() -> None:
    found = of_a_cloud(0.3, 0.65)
    assert verdict(found) == ("switch", "compute1:ovs-vswitchd.main")
    assert "receive queue of compute1:qvo of a.1" in found.limit.sentence
    assert verdict(of_a_cloud(0.65, 0.3)) == ("kernel", "softirq.1")


def test_time_that_others_had_is_none_that_threads_and_kernel_could_have() -> None:
    others = LeftOut(core=1, from_us=0.0, to_us=200_000.0, by="make (7)")
    assert of_a_cloud(0.3, 0.5).limit.kind == "queue"
    assert of_a_cloud(0.3, 0.5, left_out=[others]).limit.kind == "switch"
    slowed = LeftOut(core=1, from_us=0.0, to_us=200_000.0, by="slowed")
    assert of_a_cloud(0.3, 0.5, left_out=[slowed]).limit.kind == "queue"


def test_what_helps_a_cloud_is_none_of_what_helps_chains() -> None:
    main = area("compute1:ovs-vswitchd.main", 0.3, core=1, kind="thread")
    one = trial([*the_tester(), main, softirq(0.65)], {("x:eth0", "interface_tx_dropped"): LOST})
    case = Case(frame="64", mean_frame_bytes=64, trials=[one], records={"tenants": {}})
    setup = Setup(technology="none", chain="4 of 4", datapath="Open vSwitch", cases=[case])
    machine = Fingerprint.model_construct(tsc_hz=HZ, numa_nodes=1)
    advised = [each.measure for each in explain_case(setup, case, machine).advice]
    assert len(advised) == 2
    assert any("cores: {system" in each for each in advised)
    assert not [each.measure for each in by_the_kernel().advice if "security" in each.measure]
