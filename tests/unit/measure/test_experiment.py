# SPDX-License-Identifier: Apache-2.0
"""One setup from calibration to curve."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.simulated.device import Response
from tests.simulated.tester import Misbehaviour, SimulatedDut, simulated_traffic
from weir.lab.measure import CurveOptions, Measure, TrialOptions
from weir.measure import (
    Event,
    GoalFound,
    PhaseStarted,
    TrialFinished,
    ceilings,
    measure_setup,
    no_counters,
    preflight,
)
from weir.measure.experiment import curve_loads_pps, undisturbed_pps
from weir.measure.one_case import OnChain, Time
from weir.protocol.traffic_results import TrafficResult
from weir.results.result import AreaLoad, Case, PathLoad, Trial
from weir.results.slices import TrialSlices

from .rig import CAPACITY_PPS, MEASURE, STEADY, Rig

QUICK = MEASURE.model_copy(update={"curve": CurveOptions(points=5, duration_s=0.1)})


def measured(dut: SimulatedDut, events: list[Event], measure: Measure = QUICK) -> list[Case]:
    traffic = [simulated_traffic("64", 64), simulated_traffic("512", 512)]
    return list(
        measure_setup(
            measure,
            traffic,
            OnChain(
                dut,
                no_counters,
                events.append,
                {},
                timing=Time(dut.clock, dut.sleep),
            ),
        )
    )


def test_each_frame_becomes_a_case_with_throughputs_a_curve_and_its_trials() -> None:
    events: list[Event] = []
    cases = measured(SimulatedDut(STEADY, tester_max_pps=5e6), events)
    assert [case.frame for case in cases] == ["64", "512"]
    for case in cases:
        assert [one.goal for one in case.throughput] == ["NDR", "PDR"]
        assert [trial.purpose for trial in case.curve] == ["curve"] * 5
        assert {trial.purpose for trial in case.trials} == {"calibration", "search", "confirm"}
        assert case.problem is None
        assert case.seconds > 0


def test_where_even_the_lowest_load_was_too_much_it_is_said_where_packets_were_dropped() -> None:
    lossy = Response(CAPACITY_PPS, 1.03 * CAPACITY_PPS, background_per_second=20)
    dut = SimulatedDut(lossy, tester_max_pps=5e6)
    chain = OnChain(dut, no_counters, lambda _: None, {}, timing=Time(dut.clock, dut.sleep))
    (case,) = measure_setup(QUICK, [simulated_traffic("64", 64)], chain)
    ndr, _ = case.throughput
    assert ndr.status == "irregular"
    ends = r"than the goal allows\. Packets dropped there: \d+ at dut/p \(tx_queue_full\)\."
    assert re.search(f"{ends}$", str(ndr.why))


def test_the_curve_runs_from_a_low_load_to_beyond_the_throughput() -> None:
    case = measured(SimulatedDut(STEADY, tester_max_pps=5e6), [])[0]
    loads = [trial.intended_load_pps for trial in case.curve]
    assert loads == sorted(loads)
    assert loads[0] < 0.2 * CAPACITY_PPS
    assert loads[-1] > 1.2 * CAPACITY_PPS
    assert case.curve[0].loss_ratio == 0
    assert case.curve[-1].loss_ratio > 0.1


def test_the_curve_ends_early_where_no_trial_counts_and_the_search_found_nothing() -> None:
    never = Misbehaviour(unaccounted=5)
    case = measured(SimulatedDut(STEADY, tester_max_pps=5e6, wrong=never), [])[0]
    assert [one.load_pps for one in case.throughput] == [None, None]
    assert [trial.valid for trial in case.curve] == [False] * 3
    without_goals = QUICK.model_copy(update={"goals": []})
    (case, _) = measured(SimulatedDut(STEADY, tester_max_pps=5e6, wrong=never), [], without_goals)
    assert len(case.curve) == 5


def test_the_curve_stays_below_what_the_tester_can_send() -> None:
    assert curve_loads_pps(CurveOptions(points=3, lowest=0.1), 10.0, 12.0) == pytest.approx([1.2, 6.6, 12.0])
    assert curve_loads_pps(CurveOptions(points=1), None, 12.0) == [12.0]
    assert curve_loads_pps(CurveOptions(points=0), 10.0, 12.0) == []


def test_what_lets_nothing_through_is_given_up_and_says_who_dropped_what() -> None:
    dut = SimulatedDut(STEADY, tester_max_pps=5e6, wrong=Misbehaviour(denied_share=1.0))
    case = measured(dut, [])[0]
    assert case.problem == (
        "Nothing comes through: of 200 packets 198.18.0.1 → 198.19.0.1 udp (left-to-right) and of 200 "
        "packets 198.18.0.1 → 198.19.0.1 udp (right-to-left), 1000 a second, none arrived. "
        "Dropped: 400 at dut/firewall (denied)."
    )
    assert [trial.purpose for trial in case.trials] == ["calibration", "preflight"]
    assert (case.throughput, case.curve) == ([], [])


def test_a_system_a_thousand_times_slower_than_the_tester_has_a_rate_all_the_same() -> None:
    slow = Response(CAPACITY_PPS / 1000, CAPACITY_PPS / 1000)
    dut = SimulatedDut(slow, tester_max_pps=5e6)
    long = QUICK.model_copy(
        update={"trial": TrialOptions(initial_duration_s=1, duration_s=1, duration_sum_s=1)}
    )
    ndr, _ = measured(dut, [], long)[0].throughput
    assert ndr.load_pps == pytest.approx(CAPACITY_PPS / 1000, rel=0.05)
    assert (ndr.load_pps or 0) < long.min_load * 5e6


def test_a_function_that_is_too_slow_for_a_light_load_is_named_and_none_that_is_idle() -> None:
    dut = SimulatedDut(STEADY, tester_max_pps=5e6, wrong=Misbehaviour(denied_share=1.0))
    light = measured(dut, [])[0].trials[1]
    through = PathLoad(name="p", inputs=[], outputs=[], packets_in=189, packets_out=0, dropped=0)

    def said(busy_cycles: int, kind: str = "chain") -> str:
        area = AreaLoad(
            name="f1", core=1, kind=kind, busy_cycles=busy_cycles, idle_cycles=10**6, paths=[through]
        )
        load = light.model_copy(update={"areas": [area]})
        return preflight._sentence(load, simulated_traffic("64", 64)) or ""

    slow = said(189 * 10**7)
    assert slow.startswith("Even a light load is too much: of 200 packets 198.18.0.1 → 198.19.0.1 udp (left-")
    assert slow.endswith(
        "none arrived in time. f1 was busy all the time, with 189 packets, 10,000,000 cycles each."
    )
    assert said(10**6).startswith("Nothing comes through: of 200 packets")
    assert said(189 * 10**7, "softirq").startswith("Nothing comes through: ")


def test_what_drops_some_by_its_own_decision_is_searched_and_looked_at_with_a_light_load() -> None:
    case = measured(SimulatedDut(STEADY, tester_max_pps=5e6, wrong=Misbehaviour(denied_share=0.25)), [])[0]
    (light,) = [trial for trial in case.trials if trial.purpose == "preflight"]
    assert (light.offered, light.delivered) == (400, 300)
    assert case.problem is None
    assert case.throughput


def test_overload_alone_is_no_reason_to_look_again() -> None:
    case = measured(SimulatedDut(STEADY, tester_max_pps=5e6), [])[0]
    assert case.trials[0].loss_ratio > 0.5
    assert not any(trial.purpose == "preflight" for trial in case.trials)


def test_confirmation_says_what_is_lost_at_the_load_found() -> None:
    ndr, pdr = measured(SimulatedDut(STEADY, tester_max_pps=5e6), [])[0].throughput
    assert ndr.loss_ratio == 0
    assert pdr.loss_ratio is not None
    assert 0 < pdr.loss_ratio <= 0.005


class Stops(list[Event]):
    """The device denies all from the first trial on that is to confirm what was found."""

    def __init__(self, dut: SimulatedDut) -> None:
        super().__init__()
        self._dut = dut

    def append(self, event: Event) -> None:
        super().append(event)
        if isinstance(event, PhaseStarted) and event.phase == "confirm":
            self._dut.wrong.denied_share = 1.0


def test_what_stops_while_it_is_measured_has_no_rate() -> None:
    dut = SimulatedDut(STEADY, tester_max_pps=5e6)
    ndr, pdr = measured(dut, Stops(dut))[0].throughput
    assert (ndr.status, ndr.load_pps, ndr.unmeasured) == ("irregular", None, False)
    assert ndr.why is not None
    assert "packets a second, and then nothing came through: the last" in ndr.why
    assert ndr.why.endswith("What forwards has stopped, or its link has.")
    assert (ndr.loss_ratio, pdr.status) == (1.0, "irregular")


def test_progress_tells_phases_trials_and_findings_in_order() -> None:
    events: list[Event] = []
    measured(SimulatedDut(STEADY, tester_max_pps=5e6), events)
    phases = [event.phase for event in events if isinstance(event, PhaseStarted) and event.frame == "64"]
    assert list(dict.fromkeys(phases)) == ["warm-up", "search", "confirm", "curve"]
    assert sum(isinstance(event, GoalFound) for event in events) == 4
    assert all(event.trial.valid for event in events if isinstance(event, TrialFinished))


def test_a_port_that_disappears_ends_the_setup_and_keeps_what_was_measured() -> None:
    cases = measured(SimulatedDut(STEADY, tester_max_pps=5e6, wrong=Misbehaviour(gone_after_trials=12)), [])
    assert len(cases) == 1
    assert cases[0].problem is not None
    assert "disappeared" in cases[0].problem
    assert len(cases[0].trials) == 13


def test_ctrl_c_yields_the_unfinished_case_before_it_is_raised() -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, PhaseStarted) and event.phase == "curve":
            raise KeyboardInterrupt

    dut = SimulatedDut(STEADY, tester_max_pps=5e6)
    cases = measure_setup(
        QUICK,
        [simulated_traffic()],
        OnChain(
            dut,
            no_counters,
            interrupt,
            {},
            timing=Time(dut.clock, dut.sleep),
        ),
    )
    case = next(cases)
    assert case.problem == "Interrupted before it was finished."
    assert [one.status for one in case.throughput] == ["found", "found"]
    with pytest.raises(KeyboardInterrupt):
        next(cases)


def test_a_tester_that_is_lost_yields_the_unfinished_case_before_its_error_is_raised() -> None:
    class Lost(SimulatedDut):
        def run(self, *arguments: Any, **more: Any) -> TrafficResult:
            if self.trials == 5:
                raise ConnectionError("weir-dp has ended")
            return super().run(*arguments, **more)

    dut = Lost(STEADY, tester_max_pps=5e6)
    cases = measure_setup(
        QUICK,
        [simulated_traffic()],
        OnChain(
            dut,
            no_counters,
            lambda _event: None,
            {},
            timing=Time(dut.clock, dut.sleep),
        ),
    )
    case = next(cases)
    assert case.problem == "weir-dp has ended"
    assert len(case.trials) == 5
    with pytest.raises(ConnectionError):
        next(cases)


def test_a_tester_that_sends_nothing_is_a_problem_and_not_a_rate() -> None:
    case = Rig(SimulatedDut(STEADY, tester_max_pps=1e-6)).case()
    assert case.problem is not None
    assert "send nothing" in case.problem
    assert case.throughput == []


def calibrated(dut: SimulatedDut) -> dict[str, float]:
    found = ceilings(MEASURE, [simulated_traffic()], dut, lambda _event: None, sleep=dut.sleep)
    return {frame: one.max_pps for frame, one in found.items()}


def test_the_ceiling_is_what_the_tester_both_sends_and_receives() -> None:
    wide = Response(1e9, 1.01e9)
    assert calibrated(SimulatedDut(wide, tester_max_pps=5e6))["64"] == pytest.approx(5e6, rel=0.08)
    slow_receiver = Misbehaviour(receiver_max_pps=3e6)
    assert calibrated(SimulatedDut(wide, tester_max_pps=5e6, wrong=slow_receiver))["64"] == pytest.approx(
        3e6, rel=0.08
    )


def test_a_ceiling_knows_the_latency_floor_and_the_clock() -> None:
    dut = SimulatedDut(Response(1e9, 1.01e9), tester_max_pps=5e6)
    one = ceilings(MEASURE, [simulated_traffic()], dut, lambda _event: None, sleep=dut.sleep)["64"]
    assert one.latency_floor_us == pytest.approx(10)
    assert one.timestamp_resolution_ns == pytest.approx(0.4)


def test_a_tester_that_cannot_be_believed_has_no_ceiling() -> None:
    assert calibrated(SimulatedDut(STEADY, tester_max_pps=5e6, wrong=Misbehaviour(unaccounted=5))) == {}


def test_the_testers_rate_is_known_though_its_core_was_away_for_most_of_the_warm_up() -> None:
    seen = TrialSlices(width_us=1000, offered=[0] * 90 + [1000] * 10, lost=[(95, 100)], delay_us=[0] * 100)
    probe = Trial(
        purpose="calibration",
        intended_load_pps=0,
        intended_duration_s=0.1,
        duration_s=0.1,
        intended=10_000,
        offered=10_000,
        delivered=9_900,
        loss_ratio=0.01,
        valid=True,
        slices=seen,
    )
    assert undisturbed_pps(probe) == (1e6, 1e6)
