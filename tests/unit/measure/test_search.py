# SPDX-License-Identifier: Apache-2.0
"""The search finds the truth, or says why it cannot."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from tests.simulated.device import HOST_STALLS, Response, StallKind
from tests.simulated.tester import Misbehaviour, SimulatedDut
from weir.lab.measure import Goal, Measure, TrialOptions
from weir.measure.repeats import throughput
from weir.measure.search import GoalResult

from .rig import CAPACITY_PPS, MEASURE, STEADY, Rig, ceiling


def fast(seed: int = 0) -> SimulatedDut:
    noisy = Response(
        CAPACITY_PPS, 1.03 * CAPACITY_PPS, noise=0.0005, background_per_second=0.1, stalls=HOST_STALLS
    )
    return SimulatedDut(noisy, seed=seed, tester_max_pps=5e6)


@pytest.mark.parametrize("seed", range(5))
def test_ndr_and_pdr_are_within_half_a_percent_of_the_truth_despite_stalls_and_noise(seed: int) -> None:
    dut = fast(seed)
    for found in Rig(dut).throughputs():
        truth_pps = dut.response.truth_pps(found.goal_loss_ratio)
        assert found.load_pps == pytest.approx(truth_pps, rel=0.005)
        assert found.status == "found"
        assert not found.tester_bound
        assert found.lower_bound_pps is not None
        assert found.upper_bound_pps is not None
        assert found.lower_bound_pps < found.upper_bound_pps


def test_rates_in_bits_count_the_frame_and_at_layer_1_the_gap_too() -> None:
    ndr = Rig(fast()).throughputs()[0]
    assert ndr.load_pps is not None
    assert ndr.l2_bps == pytest.approx(ndr.load_pps * 64 * 8)
    assert ndr.l1_bps == pytest.approx(ndr.load_pps * 84 * 8)


def test_repeats_give_median_min_and_max() -> None:
    ndr = Rig(fast(), MEASURE.model_copy(update={"repeats": 3})).throughputs()[0]
    assert ndr.repeats == 3
    assert ndr.load_min_pps is not None
    assert ndr.load_pps is not None
    assert ndr.load_max_pps is not None
    assert ndr.load_min_pps <= ndr.load_pps <= ndr.load_max_pps


def test_searches_that_could_not_be_measured_take_nothing_from_one_that_found_a_rate() -> None:
    goal = Goal(name="NDR", loss_ratio=0)
    late = GoalResult(goal, why="The time limit came first.", unmeasured=True)
    low = GoalResult(goal, why="Even the lowest load was too much.")
    good = GoalResult(goal, load_pps=1e6, lower_pps=1e6, upper_pps=1.01e6)
    one = throughput(goal, [good, late, late], 64, ceiling=None, highest_by="tester")
    assert (one.status, one.repeats, one.searches) == ("found", 1, 3)
    assert one.why == "2 of 3 searches found no rate: The time limit came first."
    none = throughput(goal, [good, late, low], 64, ceiling=None, highest_by="tester")
    assert (none.status, none.unmeasured) == ("irregular", False)
    assert none.why == "2 of 3 searches found no rate: Even the lowest load was too much."


@pytest.mark.parametrize(
    ("found_pps", "is_bound"), [((5e6, 5e6, 10e6), False), ((5e6, 10e6, 10e6), True), ((5e6, 10e6), True)]
)
def test_a_search_that_carried_all_makes_the_median_a_bound_only_from_its_middle(
    found_pps: tuple[float, ...], *, is_bound: bool
) -> None:
    goal = Goal(name="NDR", loss_ratio=0)
    good = [
        GoalResult(goal, load_pps=pps, lower_pps=pps, upper_pps=None if pps == 10e6 else 1.01 * pps)
        for pps in found_pps
    ]
    of_lab = throughput(goal, good, 64, ceiling=None, highest_by="lab")
    assert (of_lab.lab_bound, of_lab.tester_bound) == (is_bound, False)
    of_tester = throughput(goal, good, 64, ceiling=None, highest_by="tester")
    assert (of_tester.lab_bound, of_tester.tester_bound) == (False, is_bound)
    of_medium = throughput(goal, good, 64, ceiling=None, highest_by="medium")
    assert not of_medium.at_least


def test_a_device_that_always_loses_is_irregular_and_never_a_small_number() -> None:
    lossy = Response(CAPACITY_PPS, 1.03 * CAPACITY_PPS, background_per_second=20)
    ndr, pdr = Rig(SimulatedDut(lossy, tester_max_pps=5e6)).throughputs()
    assert ndr.status == "irregular"
    assert ndr.load_pps is None
    assert ndr.why is not None
    assert "the lowest load tried, more was lost" in ndr.why
    assert pdr.status == "found"


def test_a_device_slower_than_the_lowest_load_is_irregular_for_every_goal() -> None:
    high = MEASURE.model_copy(update={"min_load": 0.9})
    found = Rig(SimulatedDut(STEADY, tester_max_pps=5e6), measure=high).throughputs()
    assert [one.status for one in found] == ["irregular", "irregular"]


@pytest.mark.parametrize("capacity_pps", [1000, 20_000])
def test_one_that_is_a_thousand_times_slower_than_the_tester_has_its_rate(capacity_pps: float) -> None:
    slow = Response(capacity_pps, 1.01 * capacity_pps)
    for one in Rig(SimulatedDut(slow, tester_max_pps=5e6)).throughputs():
        assert one.load_pps == pytest.approx(capacity_pps, rel=0.02)


def test_a_tester_that_is_slower_than_the_search_library_expects_finds_rates_too() -> None:
    ndr, _ = Rig(SimulatedDut(Response(3000, 3100), tester_max_pps=5000)).throughputs()
    assert ndr.load_pps == pytest.approx(3000, rel=0.02)


def test_a_device_as_fast_as_the_tester_is_tester_bound() -> None:
    found = Rig(SimulatedDut(Response(1e9, 1.01e9), tester_max_pps=5e6)).throughputs()
    assert [one.tester_bound for one in found] == [True, True]
    assert found[0].load_pps == pytest.approx(5e6, rel=0.01)
    assert found[0].upper_bound_pps is None
    assert found[0].why is not None
    assert "highest load tried" in found[0].why


def test_where_nothing_is_carried_the_lowest_load_tried_is_a_bound_unless_the_tester_was_too_slow() -> None:
    goal = Goal(name="NDR", loss_ratio=0)
    lost = GoalResult(goal, upper_pps=0.5e6, why="more was lost")
    late = GoalResult(goal, why="the time limit", unmeasured=True)
    slow = GoalResult(goal, upper_pps=0.5e6, why="the tester was too slow", tester_limited=True)
    for found, bound in (([lost, late], 0.5e6), ([lost, slow], None), ([late, late], None)):
        made = throughput(goal, found, 64, ceiling=None, highest_by="tester")
        assert (made.status, made.upper_bound_pps) == ("irregular", bound)


def test_a_result_within_ten_percent_of_the_tester_s_ceiling_is_tester_bound() -> None:
    assert Rig(fast()).throughputs(ceiling(CAPACITY_PPS * 1.05))[0].tester_bound
    assert not Rig(fast()).throughputs(ceiling(CAPACITY_PPS * 1.5))[0].tester_bound


@pytest.mark.parametrize("shares_cores", [False, True])
def test_a_tester_that_the_device_keeps_from_sending_is_no_limit_of_its_own(*, shares_cores: bool) -> None:
    """It sends 1.2 Mpps and no more, and five times as much alone: a bridge forwards in its system calls."""
    dut = SimulatedDut(Response(2e6, 2.06e6), tester_max_pps=1.2e6)
    dut.shares_cores = shares_cores
    ndr = Rig(dut).throughputs(ceiling(6e6))[0]
    assert ndr.load_pps == pytest.approx(1.2e6, rel=0.02)
    assert ndr.tester_bound != shares_cores
    if shares_cores:
        assert ndr.upper_bound_pps is not None
    assert Rig(dut).throughputs(ceiling(1.25e6))[0].tester_bound


def test_a_rate_above_which_nothing_was_tried_is_a_bound_whatever_the_tester_shares() -> None:
    """The device keeps the tester from sending while it warms up, and then no more: all loads are carried."""
    dut = SimulatedDut(Response(1e9, 1.01e9), tester_max_pps=1.2e6)
    dut.shares_cores = True
    rig = Rig(dut)
    faster = rig.dut.run

    def run(*args: Any, **options: Any) -> Any:
        result = faster(*args, **options)
        dut.tester_max_pps = 5e6
        return result

    dut.run = run  # type: ignore[method-assign]
    ndr = rig.throughputs(ceiling(6e6))[0]
    assert ndr.load_pps == pytest.approx(1.1 * 1.2e6, rel=0.02)
    assert ndr.upper_bound_pps is None
    assert ndr.tester_bound


def test_a_highest_load_that_the_lab_asks_for_is_a_bound_but_not_the_tester_s() -> None:
    capped = MEASURE.model_copy(update={"max_load_pps": 1e6})
    ndr = Rig(fast(), capped).throughputs()[0]
    assert ndr.load_pps == pytest.approx(1e6)
    assert (ndr.tester_bound, ndr.lab_bound, ndr.at_least) == (False, True, True)


def test_a_receiver_that_is_too_slow_bounds_the_result_and_is_named() -> None:
    dut = SimulatedDut(STEADY, tester_max_pps=5e6, wrong=Misbehaviour(receiver_max_pps=1.5e6))
    ndr = Rig(dut).throughputs()[0]
    assert ndr.tester_bound
    assert ndr.load_pps == pytest.approx(1.5e6, rel=0.01)
    assert ndr.why is not None
    assert "The tester's receiver lost" in ndr.why


def test_counters_that_never_balance_make_every_goal_irregular_and_the_numbers_are_said() -> None:
    rig = Rig(SimulatedDut(STEADY, tester_max_pps=5e6, wrong=Misbehaviour(unaccounted=7)))
    case = rig.case()
    assert [one.status for one in case.throughput] == ["irregular", "irregular"]
    assert case.throughput[0].why is not None
    assert "7 of" in case.throughput[0].why
    assert all(not trial.valid for trial in case.trials)


def test_a_busy_host_makes_every_goal_irregular_and_is_named() -> None:
    busy = Response(CAPACITY_PPS, CAPACITY_PPS, stalls=(StallKind(1000, 4000, 8000, 12_000),))
    for found in Rig(SimulatedDut(busy, tester_max_pps=5e6)).throughputs():
        assert found.status == "irregular"
        assert "host had core 1 for" in (found.why or "")


def test_invalid_trials_now_and_then_do_not_change_what_is_found() -> None:
    clean = Rig(SimulatedDut(STEADY, tester_max_pps=5e6)).throughputs()
    wrong = Misbehaviour(unaccounted=7, only_first_trials=3)
    assert Rig(SimulatedDut(STEADY, tester_max_pps=5e6, wrong=wrong)).throughputs() == clean


def test_the_time_limit_ends_a_search_with_a_reason() -> None:
    hurried = MEASURE.model_copy(update={"time_limit_s": 0.5})
    found = Rig(SimulatedDut(STEADY, tester_max_pps=5e6, overhead_s=0.1), hurried).throughputs()
    assert all(one.status == "irregular" and "time limit" in (one.why or "") for one in found)
    assert all(one.unmeasured for one in found)


def test_a_time_limit_that_comes_because_of_others_names_them() -> None:
    busy = Response(CAPACITY_PPS, CAPACITY_PPS, stalls=(StallKind(1000, 4000, 8000, 12_000),))
    hurried = MEASURE.model_copy(update={"time_limit_s": 1.5})
    for found in Rig(SimulatedDut(busy, tester_max_pps=5e6), hurried).throughputs():
        assert found.why is not None
        assert found.why.startswith("The time limit came before any load was found that it carries.")
        assert "of the trials' time was left out, since others had a core; at " in found.why
        assert "host had core 1 for" in found.why
        share = re.search(r"(\d+)% of the trials' time was left out", found.why)
        assert share is not None
        assert round(100 * found.left_out_share) == int(share[1]) > 50
        assert found.disturbed


def test_stalls_of_the_host_do_not_change_what_is_found() -> None:
    stalling = Response(2e6, 2.06e6, buffer_packets=16, stalls=(StallKind(10, 100, 200, 1000),))
    ndr, pdr = Rig(SimulatedDut(stalling, tester_max_pps=5e6)).throughputs()
    assert ndr.load_pps == pytest.approx(2e6, rel=0.005)
    assert pdr.load_pps == pytest.approx(stalling.truth_pps(0.005), rel=0.005)


def test_a_host_that_is_away_for_a_third_of_the_time_does_not_either() -> None:
    busy = Response(CAPACITY_PPS, CAPACITY_PPS, stalls=(StallKind(60, 4000, 8000, 12_000),))
    ndr, _ = Rig(SimulatedDut(busy, tester_max_pps=5e6)).throughputs()
    assert ndr.load_pps == pytest.approx(CAPACITY_PPS, rel=0.005)
    assert ndr.left_out_share > 0.3


def test_pauses_of_the_device_bound_its_ndr() -> None:
    pausing = Response(2e6, 2.06e6, buffer_packets=150, stalls=(StallKind(100, 280, 300, 320, own=True),))
    ndr, _ = Rig(SimulatedDut(pausing, tester_max_pps=5e6)).throughputs()
    assert ndr.load_pps == pytest.approx(150 / 320e-6, rel=0.05)
    assert ndr.unsteady


@pytest.mark.long
def test_a_device_that_loses_far_more_just_above_its_rate_is_unsteady_and_a_steady_one_is_not() -> None:
    changing = [
        Rig(SimulatedDut(Response(2e6, 2.06e6, noise=0.1), seed=seed, tester_max_pps=5e6)).throughputs()[0]
        for seed in range(10)
    ]
    assert any(one.unsteady for one in changing)
    sharp = [Response(capacity, capacity) for capacity in (1.1e6, 1.37e6, 1.7e6, 2.03e6, 2.2e6)]
    steady = [Rig(SimulatedDut(one, tester_max_pps=5e6)).throughputs() for one in (STEADY, *sharp)]
    assert not any(one.unsteady for pair in steady for one in pair)


def test_five_trials_that_add_up_to_half_the_time_but_for_rounding_count_as_half() -> None:
    measure = Measure(
        **MEASURE.model_dump(exclude={"trial"}),
        trial=TrialOptions(duration_s=0.2, duration_sum_s=2.0),
    )
    for found in Rig(fast(3), measure).throughputs():
        assert found.load_pps is not None
        assert not math.isclose(found.load_pps, 0)
        assert found.load_pps == pytest.approx(CAPACITY_PPS, rel=0.03)
