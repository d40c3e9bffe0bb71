# SPDX-License-Identifier: Apache-2.0
"""What is sent through a system under test is no more than was asked for: a slow one with a deep queue works
off a flood for minutes.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated.device import Response
from tests.simulated.tester import Misbehaviour, SimulatedDut
from weir.lab.delay import LatencyOptions
from weir.lab.measure import Measure

from .rig import CAPACITY_PPS, MEASURE, STEADY, Rig


def given(*loads: str, max_load_pps: float | None = None) -> Rig:
    latency = LatencyOptions(loads=loads, duration_s=1, settle_s=1)
    measure = MEASURE.model_copy(update={"goals": (), "latency": latency, "max_load_pps": max_load_pps})
    return Rig(SimulatedDut(STEADY, tester_max_pps=5e6), measure)


def asked(rig: Rig) -> list[float]:
    """Of its case, which has no problem."""
    assert rig.case().problem is None
    return rig.dut.asked_pps


def test_where_loads_are_given_the_warm_up_is_the_first_of_them() -> None:
    assert asked(given("400pps", "2kpps")) == [400, 400, 2000]
    assert asked(given("2kpps", "400pps")) == [2000, 2000, 400]
    assert asked(given("2kpps", max_load_pps=1000)) == [1000, 2000]


@pytest.mark.parametrize(
    ("curve", "points"), [({}, 0), ({"curve": {"duration_s": 0.1}}, 0), ({"curve": {"points": 3}}, 3)]
)
def test_a_lab_without_goals_has_a_curve_of_other_loads_only_where_it_asks_for_one(
    curve: dict[str, Any], points: int
) -> None:
    latency = {"loads": ["400pps"], "duration_s": 1, "settle_s": 1}
    measure = Measure.model_validate({"goals": [], "latency": latency, **curve})
    assert measure.curve.points == points
    warm_up, *others = asked(Rig(SimulatedDut(STEADY, tester_max_pps=5e6), measure))
    assert warm_up == (0 if points else 400)
    assert others == [*others[:points], 400]
    assert Measure().curve.points == 10


def test_a_load_of_a_packet_in_a_while_is_warmed_up_by_some_packets_of_each_direction() -> None:
    rig = given("4pps")
    (warm_up,) = rig.case().trials
    assert [one.offered for one in warm_up.streams] == [10, 10]


def test_the_highest_load_that_the_lab_allows_holds_for_the_warm_up_of_a_search_too() -> None:
    rig = Rig(SimulatedDut(STEADY, tester_max_pps=5e6), MEASURE.model_copy(update={"max_load_pps": 1e6}))
    loads = asked(rig)
    assert max(loads) == loads[0] == 1e6
    assert min(loads) > 0


@pytest.mark.parametrize("max_load_pps", [10_250.0, 7.0])
def test_a_search_goes_up_to_that_load_however_its_packets_fall_into_slices(max_load_pps: float) -> None:
    measure = MEASURE.model_copy(update={"max_load_pps": max_load_pps})
    found = Rig(SimulatedDut(STEADY, tester_max_pps=5e6), measure).throughputs()
    assert [one.load_pps for one in found] == [max_load_pps] * 2
    assert [(one.tester_bound, one.lab_bound) for one in found] == [(False, True)] * 2


def test_a_tester_that_is_slower_than_that_load_is_the_limit() -> None:
    slow = SimulatedDut(Response(CAPACITY_PPS, CAPACITY_PPS), tester_max_pps=5e5)
    ndr, _ = Rig(slow, MEASURE.model_copy(update={"max_load_pps": 1e6})).throughputs()
    assert ndr.load_pps == pytest.approx(5e5, rel=0.01)
    assert ndr.tester_bound


@pytest.mark.parametrize(
    ("loads", "max_load_pps", "light_pps"),
    [
        (("50kpps", "10pps"), None, 10),
        (("50kpps",), 200.0, 200),
        (("50kpps",), None, 2000),
    ],
)
def test_whether_anything_comes_through_is_looked_at_with_no_more_than_was_asked_for(
    loads: tuple[str, ...], max_load_pps: float | None, light_pps: float
) -> None:
    rig = given(*loads, max_load_pps=max_load_pps)
    rig.dut.wrong = Misbehaviour(denied_share=1.0)
    case = rig.case()
    assert [trial.purpose for trial in case.trials] == ["calibration", "preflight"]
    assert case.trials[1].intended_load_pps == light_pps
    assert case.problem is not None
    assert f", {light_pps / 2:g} a second, none arrived" in case.problem
