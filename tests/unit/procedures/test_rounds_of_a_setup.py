# SPDX-License-Identifier: Apache-2.0
"""What a setup's rounds say together, and which of its frame sizes were only measured in a worse state."""

from __future__ import annotations

from pathlib import Path

from weir.lab import load_lab
from weir.lab.ways import ways
from weir.measure.machine_state import MachineState
from weir.procedures.rounds import MeasuredSetup
from weir.results.result import Case, Setup, Throughput


def case(frame: str, load_pps: float, distance_cycles: float) -> Case:
    found = Throughput(
        goal="NDR",
        goal_loss_ratio=0,
        status="found",
        load_pps=load_pps,
        load_min_pps=load_pps,
        load_max_pps=load_pps,
        distances_cycles={"0-1": distance_cycles},
    )
    return Case(frame=frame, mean_frame_bytes=64, throughput=[found])


def visited() -> MeasuredSetup:
    lab = load_lab(Path(__file__).parents[3] / "labs" / "switching")
    setup = Setup(technology="direct", chain="PVP", datapath="none")
    return MeasuredSetup(ways(lab)[0], lab.chains()[0], setup, 1)


def near_and_far() -> MachineState:
    state = MachineState()
    for cycles in (260.0, 1300.0, 1300.0):
        state.saw({}, {"0-1": cycles})
    return state


def test_a_case_of_far_cores_is_worse_until_a_round_with_near_ones_is_there() -> None:
    one, state = visited(), near_and_far()
    one.add(case("64", 5e6, 1300), None, state)
    one.add(case("512", 3e6, 260), None, state)
    assert one.worse() == ["64"]
    assert one.setup.cases[0].throughput[0].farther_times == 5.0
    whole = one.add(case("64", 9e6, 286), None, state)
    assert whole.throughput[0].load_pps == 9e6
    assert one.worse() == []
    assert [each.load_pps for each in one.setup.cases[0].throughput[0].rounds] == [5e6, 9e6]


def test_what_was_measured_first_is_judged_again_with_what_the_machine_showed_later() -> None:
    one, state = visited(), MachineState()
    state.saw({}, {"0-1": 1300.0})
    one.add(case("64", 5e6, 1300), None, state)
    assert one.worse() == []
    for _ in range(3):
        state.saw({}, {"0-1": 260.0})
    one.judge("64", None, state)
    assert one.worse() == ["64"]
