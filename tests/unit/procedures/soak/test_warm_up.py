# SPDX-License-Identifier: Apache-2.0
"""Before a soak nothing is sent that is more than the soak."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.simulated.tester import Misbehaviour, SimulatedDut, simulated_traffic
from tests.unit.measure.rig import STEADY
from weir.lab.measure import Measure
from weir.measure.tester import no_counters
from weir.procedures.soak.segment import warm_up
from weir.results.soak import SoakStep

from .looks import new_soak

QUEUE = 256


def chain(dut: SimulatedDut) -> Any:
    """One that is up, with queues of so many packets."""
    ports = [SimpleNamespace(tx_queue_size=size) for size in (64, QUEUE)]
    return SimpleNamespace(
        tester=lambda: dut,
        counters=no_counters,
        traffic=lambda _frame: simulated_traffic(),
        lab=SimpleNamespace(measure=Measure()),
        topology=SimpleNamespace(unready=lambda: ["f1"]),
        plan=SimpleNamespace(configure=SimpleNamespace(ports=ports)),
    )


def test_it_is_warmed_up_at_its_own_load_until_the_queues_have_been_full_once() -> None:
    dut = SimulatedDut(STEADY)
    warmed = warm_up(chain(dut), "64", new_soak(load_pps=400.0))
    assert (warmed.problem, warmed.packets) == (None, QUEUE)
    assert dut.asked_pps == [400, 400]
    assert dut.now_s >= QUEUE / 200


def test_a_load_that_would_fill_the_queues_in_minutes_only_is_sent_for_five_seconds() -> None:
    dut = SimulatedDut(STEADY)
    warmed = warm_up(chain(dut), "64", new_soak(load_pps=20.0))
    assert (warmed.problem, warmed.packets) == (None, 50)
    assert dut.asked_pps == [20, 20]
    assert dut.now_s < 5 + 2  # and ten packets of each stream, which tell whether anything comes through


def test_of_a_schedule_the_lowest_load_is_the_warm_up() -> None:
    steps = [SoakStep(load=f"{pps}pps", load_pps=pps, duration_s=1) for pps in (20_000, 0, 500)]
    dut = SimulatedDut(STEADY)
    assert warm_up(chain(dut), "64", new_soak(load_pps=20_000.0, schedule=steps)).problem is None
    assert set(dut.asked_pps) == {500}


def test_what_lets_nothing_through_is_found_at_no_more_than_that_load() -> None:
    dut = SimulatedDut(STEADY, wrong=Misbehaviour(denied_share=1.0))
    said = warm_up(chain(dut), "64", new_soak(load_pps=400.0)).problem
    assert said is not None
    assert "200 a second, none arrived" in said
    silent = Misbehaviour(unaccounted_in=range(100), unaccounted=80)
    said = warm_up(chain(SimulatedDut(STEADY, wrong=silent)), "64", new_soak(load_pps=400.0)).problem
    assert said is not None
    assert "If f1 forwards only some time after it is ready" in said
