# SPDX-License-Identifier: Apache-2.0
"""How fast and how far from each other cores were in the trials of a run, and what that makes of a rate."""

from __future__ import annotations

import pytest

from weir.measure.counting import counting
from weir.measure.machine_state import MachineState
from weir.procedures.rounds import combined
from weir.protocol.traffic_results import CoreSlices, Gap, OtherCore, Slices, StreamSlices
from weir.results.result import Case, MachineBest, Throughput


def state(*pieces: int, distances: tuple[float, ...] = ()) -> MachineState:
    found = MachineState()
    found.saw({1: pieces}, {})
    for cycles in distances:
        found.saw({}, {"0-1": cycles})
    return found


def run(*pieces: int, distance: int = 260, other_cycles: int = 0) -> Slices:
    count = len(pieces)
    stream = StreamSlices(
        id=0,
        due=(10,) * count,
        offered=(10,) * count,
        delivered=(10,) * count,
        delay_ns=(5000,) * count,
        late_ns=(0,) * count,
    )
    return Slices(
        width_ns=1_000_000,
        start_raw_ns=0,
        now_raw_ns=count * 1_000_000,
        now_us=count * 1e3,
        streams=(stream,),
        cores=(CoreSlices(core=1, distance_cycles=0, piece_cycles=pieces),),
        other_cores=(OtherCore(core=2, distance_cycles=distance, piece_cycles=other_cycles),),
    )


def test_the_best_pace_is_one_that_came_often_enough() -> None:
    assert state(*[500] * 5, *[600] * 95).best_piece_cycles() == {1: 600}
    assert state(*[500] * 20, *[600] * 80).best_piece_cycles() == {1: 500}
    assert state(600, 600).best_piece_cycles() == {}


def test_a_best_that_does_not_come_any_more_is_not_waited_for() -> None:
    assert state(*[600] * 1000, *[900] * 2500).comes(1.15)
    assert not state(*[600] * 1000, *[900] * 3000).comes(1.15)


def test_slowed_slices_are_left_out_while_enough_is_left() -> None:
    found = counting(run(*[600] * 90, *[900] * 10), [], state(*[600] * 100), least_growth_ms=1, wanted_s=0.1)
    assert found.slower_times is None
    assert found.record.seconds == pytest.approx(0.1 - 0.011)
    assert {one.by for one in found.left_out} == {"slowed"}
    assert len(found.left_out) == 1


def test_where_too_little_would_be_left_all_of_it_counts_and_says_how_slow_the_core_was() -> None:
    found = counting(run(*[600] * 40, *[900] * 60), [], state(*[600] * 100), least_growth_ms=1, wanted_s=0.1)
    assert found.slower_times == 1.5
    assert found.record.seconds == pytest.approx(0.1)
    assert found.left_out == ()


def test_a_switchs_core_that_was_slow_just_before_makes_the_trial_one_of_a_slower_state() -> None:
    machine = state(*[600] * 100)
    counting(run(*[600] * 100, other_cycles=600), [], machine, least_growth_ms=1, wanted_s=0.1)
    found = counting(run(*[600] * 100, other_cycles=840), [], machine, least_growth_ms=1, wanted_s=0.1)
    assert found.slower_times == 1.4


def test_distances_of_all_cores_are_kept_and_a_farther_one_is_told() -> None:
    machine = state(distances=(260.0, 286.0, 1300.0, 1300.0))
    assert counting(
        run(600, distance=1300), [], machine, least_growth_ms=1, wanted_s=0.001
    ).distances_cycles == {"1-2": 1300.0}
    assert machine.farther_times({"0-1": 1300.0}) == 5.0
    assert machine.farther_times({"0-1": 300.0}) is None
    assert machine.farther_times({}) is None


def test_cores_that_were_near_in_a_few_trials_of_many_are_known_to_be_able_to() -> None:
    machine = state(distances=(260.0,) * 10 + (1300.0,) * 500)
    assert machine.farther_times({"0-1": 1300.0}) == 5.0
    assert state(distances=(260.0,) * 5 + (1300.0,) * 500).farther_times({"0-1": 1300.0}) is None


def test_a_run_that_never_saw_the_best_state_is_told_of_it_by_earlier_ones() -> None:
    known = MachineBest(boot_id="b", piece_cycles={1: 600.0, 3: 500.0}, distances_cycles={"1-2": 260.0})
    machine = MachineState(known)
    machine.saw({1: [900] * 100}, {"1-2": 1300.0})
    assert machine.best_piece_cycles() == {1: 600.0, 3: 500.0}
    assert machine.farther_times({"1-2": 1300.0}) == 5.0
    assert not machine.comes(1.15)
    found = counting(run(*[900] * 100), [], machine, least_growth_ms=1, wanted_s=0.1)
    assert found.slower_times == 1.5
    assert found.record.seconds == pytest.approx(0.1)


def test_of_this_run_and_earlier_ones_the_better_is_kept_and_of_another_boot_nothing() -> None:
    machine = MachineState(
        MachineBest(boot_id="b", piece_cycles={1: 600.0}, distances_cycles={"1-2": 1300.0})
    )
    machine.saw({1: [650] * 100}, {"1-2": 286.0})
    assert machine.best() == MachineBest(
        boot_id="b", piece_cycles={1: 600.0}, distances_cycles={"1-2": 286.0}
    )
    assert machine.seen() == MachineBest(boot_id="b")  # too little to hold on to
    other = MachineBest(boot_id="c", piece_cycles={1: 100.0})
    assert machine.best().with_better(other) == machine.best()


def found(load_pps: float, *, slower: float | None = None, farther: float | None = None) -> Case:
    one = Throughput(
        goal="NDR",
        goal_loss_ratio=0,
        status="found",
        load_pps=load_pps,
        load_min_pps=load_pps,
        load_max_pps=load_pps,
        l2_bps=load_pps * 512,
        repeats=1,
        slower_times=slower,
        farther_times=farther,
    )
    return Case(frame="64", mean_frame_bytes=64, throughput=[one])


def test_of_several_rounds_those_in_the_best_state_count_and_all_are_kept() -> None:
    (one,) = combined(
        [found(9e6), found(5e6, farther=4.6), found(8e6), found(4e6, slower=1.5)], None
    ).throughput
    assert one.load_pps == 8.5e6
    assert one.l2_bps == pytest.approx(8.5e6 * 512)
    assert (one.load_min_pps, one.load_max_pps) == (8e6, 9e6)
    assert not one.worse_state
    assert [(each.round, each.load_pps) for each in one.rounds] == [(0, 9e6), (1, 5e6), (2, 8e6), (3, 4e6)]


def test_a_rate_that_only_worse_states_found_says_how_slow_they_were() -> None:
    (one,) = combined([found(5e6, slower=1.4), found(6e6, slower=1.2)], None).throughput
    assert one.load_pps == 5.5e6
    assert one.slower_times == 1.2
    assert one.worse_state


def test_a_gap_in_which_the_kernel_says_who_had_the_core_is_told_once_by_name() -> None:
    gaps = (
        Gap(core=1, ended_us=4000, us=3000, host_us=3000),
        Gap(core=1, ended_us=60_000, us=2000, host_us=2000),
    )
    slices = run(*[600] * 100).model_copy(update={"gaps": gaps, "now_raw_ns": 10**8, "now_us": 10**5})
    found = counting(slices, [Somebody()], state(), least_growth_ms=1, wanted_s=0.1)
    assert [(one.by, one.from_us, one.to_us) for one in found.left_out] == [
        ("cc (7)", 1000.0, 4000.0),
        ("host", 58_000.0, 60_000.0),
    ]


class Somebody:
    """Who had core 1 from the first to the fourth millisecond."""

    core, from_raw_ns, to_raw_ns, by = 1, 10**6, 4 * 10**6, "cc (7)"
    takes_part = False
