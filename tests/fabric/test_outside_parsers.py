# SPDX-License-Identifier: Apache-2.0
"""What runs outside weir-dp, from real output: Open vSwitch 3.1, Linux 6.18, perf 6.1."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weir.fabric.outside.reading import MAIN, backlogs, cpu_times, parse, threads
from weir.fabric.outside.stacks import AREAS, OTHER, area_of, sampled
from weir.fabric.outside.stacks import parse as parse_stacks

RECORDED = Path(__file__).with_name("recorded_outside")
WEIR_DP = (822, 823)


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text()


def test_a_polling_thread_with_its_core_ports_packets_and_cycles() -> None:
    found = parse(*(recorded(f"after-pmd-{kind}-show") for kind in ("stats", "perf", "rxq")))
    pmd = found[1]
    assert (pmd.packets, pmd.sent, pmd.batches, pmd.upcalls) == (223087, 223096, 6981, 10)
    assert (pmd.busy_cycles, pmd.idle_cycles, pmd.polls) == (127556751, 17377219694, 21971484)
    assert pmd.ports == ("f1.left", "f1.right", "tester.left", "tester.right")


def test_the_main_thread_forwards_where_none_polls_and_counts_no_cycles() -> None:
    found = parse(recorded("main-thread-pmd-stats-show"), "", "")
    assert found.keys() == {MAIN}
    assert (found[MAIN].packets, found[MAIN].busy_cycles) == (7154, 0)


def test_time_by_core_in_seconds() -> None:
    times = cpu_times(recorded("after-stat"), units_per_s=100)
    assert times.keys() == {0, 1}
    assert (times[0].softirq_s, times[0].steal_s) == (233.00, 58.47)
    assert times[1].idle_s == pytest.approx(14248.27 + 83.59)


def test_what_the_receive_softirq_took_dropped_and_left_by_core() -> None:
    before, after = backlogs(recorded("before-softnet_stat")), backlogs(recorded("after-softnet_stat"))
    assert after.keys() == {0, 1}
    assert after[1].processed - before[1].processed == 0x6400
    assert (after[0].dropped, after[0].squeezed) == (0, 6)


def test_stacks_of_the_softirq_and_of_the_chains_system_calls() -> None:
    cores = sampled(recorded("perf-script"), WEIR_DP)
    assert {core: one.samples for core, one in cores.items()} == {0: 10, 1: 10}
    assert cores[0].areas["softirq"] == {"netfilter": 3, "IP": 2, "bridge": 1}
    assert cores[1].areas["syscalls"] == {"transmit": 1, "AF_PACKET": 1}


def test_system_calls_of_other_programs_are_not_the_chains() -> None:
    script = recorded("perf-script")

    def calls(threads: set[int]) -> int:
        return sum(core.areas["syscalls"].total() for core in sampled(script, threads).values())

    assert calls({one.tid for one in parse_stacks(script)}) > calls(set(WEIR_DP)) > calls(set()) == 0


@pytest.mark.parametrize(
    ("stack", "area"),
    [
        (["kfree", "skb_release_data", "br_forward_finish"], "bridge"),
        (["_raw_spin_lock", "enqueue_to_backlog", "veth_xmit"], "NAPI receive"),
        (["nf_conntrack_in", "nf_hook_slow", "br_nf_pre_routing"], "conntrack"),
        (["br_nf_forward_ip.part.0", "nf_hook_slow"], "netfilter"),
        (["ovs_flow_tbl_lookup_stats", "ovs_dp_process_packet"], "Open vSwitch datapath"),
        (["_copy_from_iter", "skb_copy_datagram_from_iter", "tun_get_user"], "tap"),
        (["copy_user_generic", "vhost_copy_from_user"], "vhost"),
        (["frobnicate"], OTHER),
        ([], OTHER),
    ],
)
def test_the_innermost_function_that_is_known_says_which_area_it_was(stack: list[str], area: str) -> None:
    assert area_of(stack) == area
    assert area in {*AREAS, OTHER}


def test_cpu_time_and_core_of_threads() -> None:
    (own,) = [one for one in threads(os.getpid()) if one.tid == os.getpid()]
    assert own.cpu_s > 0
    assert own.core in range(os.cpu_count() or 1)
    assert threads(2**22 + 1) == []


@pytest.mark.parametrize(
    ("name", "role"),
    [("revalidator12", "revalidator"), ("vhost-4711", "vhost"), ("pmd-c01/id:8", "pmd-c01"), ("42", "42")],
)
def test_threads_of_one_role_have_one_name(tmp_path: Path, name: str, role: str) -> None:
    task = tmp_path / "7" / "task" / "8"
    task.mkdir(parents=True)
    (task / "stat").write_text(f"8 ({name}) S " + " ".join(str(number) for number in range(4, 53)))
    (task / "schedstat").write_text("1500000000 250000000 9\n")
    (found,) = threads(7, tmp_path)
    assert (found.role, found.core, found.cpu_s, found.waited_s) == (role, 39, 1.5, 0.25)
