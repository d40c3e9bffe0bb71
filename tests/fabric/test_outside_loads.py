# SPDX-License-Identifier: Apache-2.0
"""Two looks at what runs outside weir-dp, as areas and cores of the trial between them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from weir import plan
from weir.base.topology import Topology
from weir.fabric.outside.loads import core_loads, pmd_areas, softirq_areas, syscall_areas, thread_areas
from weir.fabric.outside.reading import MAIN, Backlog, CpuTime, Polling, Reading, Thread
from weir.fabric.outside.stacks import RATE_HZ, Sampled
from weir.lab import Lab

HZ = 1e9
NOTHING = Polling(packets=0, busy_cycles=0, idle_cycles=0, upcalls=0, upcalls_lost=0)
POLLED = replace(
    NOTHING,
    packets=1000,
    busy_cycles=5000,
    idle_cycles=300,
    upcalls=4,
    upcalls_lost=1,
    polls=70,
    batches=32,
    sent=990,
    ports=("tester.left", "br-int"),
)


def chain(technology: str = "ovs-dpdk") -> Topology:
    lab = Lab.model_validate({"weir": 1, "name": "two", "chain": "PVP", "technology": technology})
    return plan.build_topology(lab, technology, lab.chains()[0], plan.deployment_id("two", "00000000"))


def look(at_s: float = 0.0, **more: object) -> Reading:
    """At a machine of one core that has done nothing yet."""
    fields = {
        "cpu": {1: CpuTime(*[0.0] * 6)},
        "backlogs": {1: Backlog(0, 0, 0)},
        "polling": {},
        "threads": {},
    }
    return Reading(at_s=at_s, **(fields | more))  # type: ignore[arg-type]


def test_a_polling_threads_counts_are_those_of_the_trial_alone() -> None:
    before = replace(POLLED, packets=400, busy_cycles=2000, idle_cycles=100, upcalls=3, polls=20, sent=400)
    (area,) = pmd_areas(look(polling={1: before}), look(1.0, polling={1: POLLED}), chain(), HZ)
    assert (area.name, area.core, area.kind) == ("pmd.1", 1, "pmd")
    assert (area.busy_cycles, area.idle_cycles, area.packets) == (3000, 200, 600)
    assert area.paths[0].packets_out == 590
    assert area.polling is not None
    assert (area.polling.polls, area.polling.upcalls, area.polling.upcalls_lost) == (50, 1, 0)


def test_a_polling_threads_cycles_are_without_those_in_which_others_had_its_core() -> None:
    def threads(waited_s: float) -> dict[str, list[Thread]]:
        return {
            "ovs-vswitchd": [
                Thread(9, "ovs-vswitchd", 0, 1.0, 5.0),
                Thread(10, "pmd-c01/id:9", 1, 1.0, waited_s),
            ]
        }

    before, after = (
        look(polling={1: NOTHING}, threads=threads(0.5)),
        look(polling={1: POLLED}, threads=threads(0.5 + 530e-9)),
    )
    (area,) = pmd_areas(before, after, chain(), HZ)
    assert area.polling is not None
    assert (area.busy_cycles, area.idle_cycles, area.polling.waited_cycles) == (4500, 270, 530)


def test_it_empties_the_ports_of_the_chain_and_fills_their_opposites() -> None:
    (area,) = pmd_areas(look(polling={1: NOTHING}), look(polling={1: POLLED}), chain(), HZ)
    assert area.paths[0].inputs == ["switch:tester.left"]
    assert area.paths[0].outputs == ["switch:f1.left"]


def test_a_polling_thread_whose_counters_were_cleared_meanwhile_is_left_out() -> None:
    assert list(pmd_areas(look(polling={1: POLLED}), look(polling={1: NOTHING}), chain(), HZ)) == []


def test_threads_of_one_role_are_one_area_and_those_that_hardly_ran_are_none() -> None:
    def threads(cpu_s: float) -> list[Thread]:
        names = ("ovs-vswitchd", "revalidator4", "revalidator5", "handler3", "pmd-c01/id:9")
        spent_s = (cpu_s, cpu_s / 4, cpu_s / 4, 0.0, cpu_s)
        return [Thread(10 + at, name, 1, spent_s[at]) for at, name in enumerate(names)]

    before, after = (
        look(threads={"ovs-vswitchd": threads(1.0)}),
        look(1.0, threads={"ovs-vswitchd": threads(1.4)}),
    )
    found = {area.name: area.busy_cycles for area in thread_areas(before, after, chain(), HZ)}
    assert found == {
        "ovs-vswitchd.main": pytest.approx(0.4e9),
        "ovs-vswitchd.revalidator": pytest.approx(0.2e9),
    }


def test_the_main_thread_forwards_what_no_thread_polls() -> None:
    def at(packets: int, cpu_s: float) -> Reading:
        threads = {"ovs-vswitchd": [Thread(10, "ovs-vswitchd", 1, cpu_s)]}
        return look(cpu_s, threads=threads, polling={MAIN: replace(NOTHING, packets=packets)})

    (area,) = thread_areas(at(5, 0.5), at(205, 1.0), chain("ovs"), HZ)
    assert (area.kind, area.packets) == ("thread", 200)
    assert len(area.paths[0].inputs) == 4


def test_threads_of_guests_are_told_from_the_switchs() -> None:
    before = look(threads={"vm:f1": [Thread(9, "qemu", 1, 0.0), Thread(10, "CPU 0/KVM", 1, 0.0)]})
    after = look(1.0, threads={"vm:f1": [Thread(9, "qemu", 1, 0.0), Thread(10, "CPU 0/KVM", 1, 0.9)]})
    (area,) = thread_areas(before, after, chain(), HZ)
    assert (area.name, area.kind) == ("vm:f1.CPU 0/KVM", "guest")


def busy_core() -> Reading:
    """After two seconds."""
    return look(2.0, cpu={1: CpuTime(0.5, 0.4, 0.1, 0.0, 0.8, 0.2)}, backlogs={1: Backlog(4000, 3, 7)})


def test_a_core_has_its_times_and_what_its_backlog_lost() -> None:
    (core,) = core_loads(look(), busy_core(), frozenset({1, 5}))
    assert (core.core, core.window_s, core.softirq_s, core.steal_s) == (1, 2.0, 0.8, 0.2)
    assert (core.frames, core.dropped, core.squeezed) == (4000, 3, 7)


def test_the_softirq_is_an_area_with_the_frames_of_its_core() -> None:
    (area,) = softirq_areas(core_loads(look(), busy_core(), frozenset({1})), HZ, None)
    assert (area.name, area.busy_cycles, area.packets, area.dropped) == ("softirq.1", 0.8e9, 4000, 3)
    assert area.paths[0].stages == []


def test_samples_are_cycles_of_the_kernels_parts() -> None:
    stacks = Sampled(samples=2 * RATE_HZ)
    stacks.areas["softirq"].update({"bridge": RATE_HZ // 2, "veth": RATE_HZ // 4})
    stacks.areas["syscalls"].update({"AF_PACKET": RATE_HZ // 4})
    cores = core_loads(look(), busy_core(), frozenset({1}))
    (softirq,) = softirq_areas(cores, HZ, {1: stacks})
    (calls,) = syscall_areas(cores, HZ, {1: stacks})
    assert softirq.busy_cycles == pytest.approx(0.75e9, rel=0.01)
    assert [(stage.nf, stage.packets_in) for stage in softirq.paths[0].stages] == [
        ("bridge", 4000),
        ("veth", 4000),
    ]
    assert calls.busy_cycles == pytest.approx(0.25e9, rel=0.01)
    assert sum(stage.cycles for stage in calls.paths[0].stages) == calls.busy_cycles
