# SPDX-License-Identifier: Apache-2.0
"""Areas outside weir-dp beside those of its ledger: time that overlaps is counted once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut
from weir.measure.outside import Own, joined
from weir.results.result import AreaLoad, CoreLoad, Drop, PathLoad

from .rig import CAPACITY_PPS, STEADY, Rig

HZ = 1000


def area(name: str, kind: str, busy: int, *, core: int = 0, idle: int = 0, **more: Any) -> AreaLoad:
    return AreaLoad(name=name, core=core, kind=kind, busy_cycles=busy, idle_cycles=idle, **more)


def core_load(**more: Any) -> CoreLoad:
    nothing = dict.fromkeys(("user_s", "system_s", "softirq_s", "irq_s", "steal_s", "idle_s"), 0.0)
    counts = dict.fromkeys(("frames", "dropped", "squeezed", "accounted"), 0)
    return CoreLoad.model_validate({"core": 0, "window_s": 1.0, **nothing, **counts, **more})


def ledger(*areas: AreaLoad) -> Own:
    """Of a second."""
    return Own(areas, HZ, HZ)


def test_the_softirq_runs_in_the_system_calls_of_those_who_send() -> None:
    own = [area("generator", "generator", 600), area("f1", "chain", 200), area("receiver", "receiver", 100)]
    areas, _ = joined(ledger(*own), [area("softirq.0", "softirq", 400)], [core_load()], [])
    assert {one.name: one.kernel_cycles for one in areas} == {
        "generator": 300,
        "f1": 100,
        "receiver": 0,
        "softirq.0": 0,
    }


def test_a_cores_time_is_shared_out_once_and_what_nobody_had_is_missing() -> None:
    own = [area("f1", "chain", 500, idle=200)]
    areas, (core,) = joined(ledger(*own), [area("softirq.0", "softirq", 300)], [core_load(idle_s=0.1)], [])
    assert sum(one.busy_cycles - one.kernel_cycles for one in areas) == 500
    assert core.accounted == pytest.approx(0.8)


def test_a_softirq_without_anybody_who_sends_is_its_own() -> None:
    areas, (core,) = joined(ledger(), [area("softirq.0", "softirq", 300)], [core_load()], [])
    assert areas[0].kernel_cycles == 0
    assert core.accounted == pytest.approx(0.3)


def test_more_softirq_than_calls_overlaps_with_these_calls_alone() -> None:
    areas, _ = joined(
        ledger(area("f1", "chain", 200)), [area("softirq.0", "softirq", 300)], [core_load()], []
    )
    assert areas[0].kernel_cycles == 200


def test_a_pmd_drops_what_its_ports_had_no_room_for() -> None:
    path = PathLoad(
        name="switch",
        inputs=["switch:a"],
        outputs=["switch:b"],
        packets_in=100,
        packets_out=100,
        dropped=0,
    )
    drops = [
        Drop(place="switch:b", reason="tx_queue_full", packets=7),
        Drop(place="switch:a", reason="tx_queue_full", packets=1),
    ]
    areas, _ = joined(ledger(), [area("pmd.0", "pmd", 1, paths=[path])], [core_load()], drops)
    assert (areas[0].paths[0].dropped, areas[0].paths[0].packets_out) == (7, 93)
    assert path.dropped == 0


class Watched:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.looks: list[str] = []

    def begin(self) -> None:
        self.looks.append("begin")

    def end(self, tsc_hz: float) -> tuple[list[AreaLoad], list[CoreLoad]]:
        self.looks.append("end")
        return [area("pmd.3", "pmd", round(tsc_hz))], [core_load()]


def test_trials_with_a_ledger_have_the_areas_outside_too_and_those_of_a_search_do_not_look() -> None:
    watched = Watched()
    device = SimulatedDut(Response(CAPACITY_PPS, STEADY.saturation_pps))
    runner = Rig(device, outside=watched).runner()
    curve = runner.run("curve", CAPACITY_PPS, 0.1).trial
    assert [one.name for one in curve.areas] == ["dut", "pmd.3"]
    assert [core.core for core in curve.cores] == [0]
    runner.run("search", CAPACITY_PPS, 0.1)
    assert watched.looks == ["begin", "end"]
