# SPDX-License-Identifier: Apache-2.0
"""The procedures of RFC 2544 and RFC 9004, on a simulated device whose answers are known."""

from __future__ import annotations

import pytest

from tests.simulated.device import Response
from tests.simulated.tester import Misbehaviour, SimulatedDut
from weir.lab.rfc2544 import STANDARD_FRAMES, TESTS, Rfc2544Options
from weir.measure.one_case import Event, PhaseStarted
from weir.procedures.rfc2544.bench import medium_pps
from weir.procedures.rfc2544.loss import buffer_times_s, loss_shares
from weir.procedures.rfc2544.measure import LOSS_TRIALS, expected_s
from weir.results.rfc2544 import Rfc2544

from .simulated_bench import SHARP, TESTER_PPS, Switch, measured, report_of, sharp


def test_the_medium_carries_14_88_million_frames_of_64_bytes_at_10_gbit_s() -> None:
    assert medium_pps(10e9, 64, 1) == pytest.approx(14_880_952, abs=1)  # RFC 2544, appendix B's formula
    assert medium_pps(10e9, 1518, 2) == pytest.approx(2 * 812_743, abs=2)


def test_buffer_times_are_those_of_the_worked_example() -> None:
    # By hand, with 26,000 frames on average at 14,880,952 frames a second and a throughput of 12 Mpps:
    # implied = 26,000 / 14,880,952 = 1.7472 ms; corrected = 1.7472 ms x (1 - 12 / 14.880952) = 0.33826 ms.
    implied_s, corrected_s = buffer_times_s(26_000, 14_880_952, 12_000_000)
    assert implied_s == pytest.approx(1.7472e-3, rel=1e-4)
    assert corrected_s == pytest.approx(0.33826e-3, rel=1e-4)


def test_loss_is_measured_from_the_maximum_down_in_steps() -> None:
    assert loss_shares(0.1, 1.0) == [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    assert loss_shares(0.25, 2.0) == [1.0, 0.75, 0.5, 0.25]


def test_loads_that_the_tester_cannot_reach_are_replaced_by_its_own_highest() -> None:
    assert loss_shares(0.1, 0.75) == [0.75, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]


@pytest.mark.parametrize("search", ["mlrsearch", "bisection"])
def test_the_throughput_is_the_fastest_rate_without_loss(search: str) -> None:
    options = Rfc2544Options.model_validate({"tests": ("throughput",), "search": (search,)})
    dut = sharp()
    (found,) = measured(options, dut).throughput
    assert found.status == "found"
    assert found.load_pps == pytest.approx(1e6, rel=0.006)
    assert found.load_pps is not None
    assert found.load_pps <= 1e6 + SHARP.buffer_packets / options.trial_s


@pytest.mark.long
def test_both_searches_stand_side_by_side_and_the_first_counts() -> None:
    options = Rfc2544Options(tests=("throughput", "latency"), search=("bisection", "mlrsearch"))
    case = measured(options, sharp())
    assert [found.goal for found in case.throughput] == ["throughput (bisection)", "throughput"]
    latency = report_of(case).latency
    assert latency is not None
    assert latency.load_pps == case.throughput[0].load_pps


def test_every_final_trial_of_the_throughput_lasts_a_minute_after_a_rest_of_five_seconds() -> None:
    dut = sharp()
    case = measured(Rfc2544Options(tests=("throughput",), search=("bisection",)), dut)
    trials = [trial for trial in case.trials if trial.purpose == "search"]
    assert {trial.intended_duration_s for trial in trials} == {60.0}
    assert dut.now_s >= len(trials) * 65.0


def test_bisection_says_irregular_where_even_the_lowest_rate_loses() -> None:
    dut = SimulatedDut(Response(1e6, 1e6, background_per_second=50), tester_max_pps=TESTER_PPS)
    (found,) = measured(Rfc2544Options(tests=("throughput",), search=("bisection",)), dut).throughput
    assert found.status == "irregular"
    assert "lowest load" in (found.why or "")


def test_latency_is_the_mean_of_twenty_tagged_frames_in_each_direction() -> None:
    latency = report_of(measured(Rfc2544Options(tests=("latency",)), sharp())).latency
    assert latency is not None
    assert (latency.repeats, latency.trial_s, latency.tag_s) == (20, 120.0, 60.0)
    for found in latency.directions:
        assert len(found.tagged_us) == 20
        assert found.mean_us == pytest.approx(sum(found.tagged_us) / 20)
        assert found.mean_us == pytest.approx(10.0)
        assert found.latency.p99_us >= found.latency.p50_us


def test_the_loss_curve_ends_with_two_successive_trials_without_loss() -> None:
    loss = report_of(measured(Rfc2544Options(tests=("frame-loss",)), sharp())).frame_loss
    assert loss is not None
    assert loss.complete
    assert [step.share for step in loss.steps] == [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    ratios = [step.loss_ratio for step in loss.steps]
    assert ratios[-2:] == [0.0, 0.0]
    # At the tester's 2 Mpps half of the frames fit; the buffer's 4,000 are nothing in a minute.
    assert ratios[0] == pytest.approx(0.5, rel=1e-3)
    assert ratios[3] == pytest.approx(1 - 1 / 1.4, rel=1e-3)


def test_a_loss_curve_alone_needs_no_throughput() -> None:
    assert measured(Rfc2544Options(tests=("frame-loss",)), sharp()).throughput == []


def test_the_longest_burst_fills_the_buffer_while_the_device_forwards() -> None:
    # 2 Mpps in, 1 Mpps out: 4,000 wait when 8,000 have come, 4,000 of each direction. At 1 Mpps a direction
    # that is 4 ms implied; half of it was forwarded meanwhile.
    options = Rfc2544Options(tests=("back-to-back",), burst_repeats=5, burst_step=0.00001)
    burst = report_of(measured(options, sharp())).back_to_back
    assert burst is not None
    assert burst.repeats == 5
    assert burst.average_frames == pytest.approx(4000, rel=0.01)
    assert burst.stdev_frames == pytest.approx(0, abs=20)
    assert burst.implied_s == pytest.approx(4e-3, rel=0.01)
    assert burst.corrected_s == pytest.approx(2e-3, rel=0.02)
    assert burst.throughput_pps == pytest.approx(0.5e6, rel=0.01)


def test_a_burst_that_never_loses_says_that_the_buffer_may_be_larger() -> None:
    wide = SimulatedDut(Response(1e6, 1e6, buffer_packets=10**9), tester_max_pps=TESTER_PPS)
    options = Rfc2544Options(tests=("back-to-back",), burst_repeats=2, trial_s=0.5)
    burst = report_of(measured(options, wide)).back_to_back
    assert burst is not None
    assert burst.at_limit == 2
    assert burst.longest_frames == [burst.limit_frames] * 2


def test_a_burst_that_cannot_be_believed_bounds_no_buffer() -> None:
    wide = SimulatedDut(Response(1e6, 1e6, buffer_packets=10**7), tester_max_pps=TESTER_PPS)
    wide.wrong = Misbehaviour(unaccounted=3, unaccounted_in=range(3000, 10**7))
    options = Rfc2544Options(tests=("back-to-back",), burst_repeats=2, burst_step=0.001)
    burst = report_of(measured(options, wide)).back_to_back
    assert burst is not None
    assert (burst.unproven, burst.repeats) == (2, 2)
    assert burst.longest_frames == [pytest.approx(2998, abs=4)] * 2
    assert "the buffer may be larger" in (burst.why or "")


def test_bisection_takes_no_highest_load_for_too_high_that_it_cannot_believe() -> None:
    dut = SimulatedDut(Response(1e7, 1e7), tester_max_pps=TESTER_PPS)
    dut.wrong = Misbehaviour(unaccounted=3, unaccounted_in=range(59_000_000, 10**9))
    (found,) = measured(Rfc2544Options(tests=("throughput",), search=("bisection",)), dut).throughput
    assert found.load_pps is None
    assert "no trial could be believed" in (found.why or "")


def test_frame_sizes_that_pass_at_the_maximum_have_no_burst_test() -> None:
    dut = SimulatedDut(Response(1e7, 1e7), tester_max_pps=TESTER_PPS)
    burst = report_of(measured(Rfc2544Options(tests=("back-to-back",)), dut)).back_to_back
    assert burst is not None
    assert burst.longest_frames == []
    assert "6.1" in (burst.why or "")


def test_recovery_is_the_time_from_the_cut_to_the_last_lost_frame() -> None:
    dut = sharp()
    dut.wrong = Misbehaviour(slow_recovery_s=0.25)
    options = Rfc2544Options(tests=("recovery",))
    case = measured(options, dut)
    recovery = report_of(case).recovery
    assert recovery is not None
    assert recovery.average_s == pytest.approx(0.25)
    assert len(recovery.times_s) == 5
    throughput_pps = case.throughput[0].load_pps
    assert throughput_pps is not None
    assert recovery.overload_pps == pytest.approx(1.1 * throughput_pps)
    assert recovery.recovery_pps == pytest.approx(0.55 * throughput_pps)


def test_a_device_that_never_recovers_has_no_time() -> None:
    dut = sharp()
    dut.wrong = Misbehaviour(slow_recovery_s=100)
    recovery = report_of(measured(Rfc2544Options(tests=("recovery",)), dut)).recovery
    assert recovery is not None
    assert (recovery.average_s, recovery.unresolved) == (None, 5)


def reset_within_7_s(dut: SimulatedDut, *resets: Switch) -> Rfc2544:
    options = Rfc2544Options(tests=("reset",), reset_after_s=2, reset_watch_s=5, reset_repeats=3)
    return report_of(measured(options, dut, None, *resets))


def test_a_reset_takes_the_time_in_which_nothing_passed_by_loss_and_by_time_stamps() -> None:
    dut, switch = sharp(), Switch()
    dut.wrong = Misbehaviour(reset_s=0.4)
    (found,) = reset_within_7_s(dut, switch).resets
    assert switch.times == 3
    assert (found.what, found.clause, found.unresolved) == (switch.what, switch.clause, 0)
    assert found.loss_average_s == pytest.approx(0.4, rel=1e-3)
    assert found.timestamp_average_s == pytest.approx(0.4)
    assert found.lost_frames == [pytest.approx(0.4 * found.load_pps, rel=1e-3)] * 3


def test_a_reset_that_does_not_end_has_no_time() -> None:
    dut = sharp()
    dut.wrong = Misbehaviour(reset_s=100)
    (found,) = reset_within_7_s(dut, Switch()).resets
    assert (found.loss_average_s, found.unresolved) == (None, 3)
    assert "raise reset_watch_s" in (found.why or "")


def test_a_port_that_is_not_connected_again_in_time_is_no_end_of_the_test() -> None:
    dut, switch = sharp(), Switch()

    def do() -> None:
        dut.wrong = Misbehaviour(reset_s=0.4, gone_after_trials=0 if switch.times == 0 else None)
        switch.times += 1

    switch.do = do  # type: ignore[method-assign]
    (found,) = reset_within_7_s(dut, switch).resets
    assert (found.unresolved, len(found.by_loss_s)) == (1, 2)


def test_packets_too_many_spoil_a_reset_trial_though_uncounted_ones_do_not() -> None:
    dut, switch = sharp(), Switch()

    def do() -> None:
        dut.wrong = Misbehaviour(reset_s=0.4, unaccounted=-(10**7))

    switch.do = do  # type: ignore[method-assign]
    (found,) = reset_within_7_s(dut, switch).resets
    assert found.unresolved == 3
    assert "more packets than" in (found.why or "")


def test_where_nothing_can_be_reset_the_report_says_so_without_a_search() -> None:
    dut = sharp()
    report = reset_within_7_s(dut)
    assert dut.trials == 1  # the warm-up
    assert [one.what for one in report.resets] == [None]
    assert "linux-bridge" in (report.resets[0].why or "")
    assert any(one.clause == "RFC 2544, 26.6" and "one process" in one.ran for one in report.deviations)


def test_kinds_of_reset_that_were_not_made_are_deviations() -> None:
    dut = sharp()
    dut.wrong = Misbehaviour(reset_s=0.4)
    clauses = {one.clause for one in reset_within_7_s(dut, Switch()).deviations}
    assert {"RFC 6201, 4.1", "RFC 6201, 4.2.1", "RFC 6201, 4.3"} <= clauses
    assert not {"RFC 6201, 4.2.2", "RFC 2544, 26.6"} & clauses


def test_tests_come_in_the_order_of_the_rfc() -> None:
    events: list[Event] = []
    measured(Rfc2544Options().shortened(), sharp(), events, Switch())
    phases = [event.phase for event in events if isinstance(event, PhaseStarted)]
    assert list(dict.fromkeys(phases)) == [
        "warm-up",
        "throughput",
        "latency",
        "frame loss",
        "back-to-back",
        "recovery",
        "reset",
    ]


@pytest.mark.long
def test_a_run_as_the_standard_asks_deviates_in_no_duration_and_no_count() -> None:
    options = Rfc2544Options(burst_repeats=50, burst_step=0.02)
    found = {(one.clause, one.ran) for one in report_of(measured(options, sharp())).deviations}
    assert not [ran for _, ran in found if "trial duration" in ran or "repeats" in ran or "trials" in ran]


def test_a_quick_run_names_every_duration_that_it_shortens() -> None:
    found = report_of(measured(Rfc2544Options().shortened(), sharp())).deviations
    short = {one.clause for one in found if one.ran.startswith("not conformant: trial duration")}
    assert short == {f"RFC 2544, {section}" for section in ("24", "26.2", "26.4", "26.5")}
    assert "without 128, 256, 512, 1024, 1280, 1518" in {one.ran for one in found}


def test_rates_without_a_medium_are_named_as_a_deviation() -> None:
    options = Rfc2544Options(tests=("frame-loss",))
    without = report_of(measured(options, sharp()))
    assert (without.max_is, without.max_pps) == ("tester", TESTER_PPS)
    assert "RFC 2544, 20" in {one.clause for one in without.deviations}
    slow = Rfc2544Options.model_validate({"tests": ("frame-loss",), "link": "500M"})
    on_link = report_of(measured(slow, sharp()))
    assert on_link.max_is == "medium"
    assert on_link.max_pps == pytest.approx(2 * 500e6 / 672)
    assert "RFC 2544, 20" not in {one.clause for one in on_link.deviations}


def test_a_link_faster_than_the_tester_says_how_much_of_it_was_tried() -> None:
    options = Rfc2544Options.model_validate({"tests": ("frame-loss",), "link": "10G"})
    report = report_of(measured(options, sharp()))
    assert report.frame_loss is not None
    assert report.frame_loss.steps[0].load_pps == pytest.approx(TESTER_PPS)
    assert any("the tester does no more" in one.ran for one in report.deviations)


def test_defaults_are_the_standards() -> None:
    options = Rfc2544Options()
    assert options.tests == TESTS
    assert (options.trial_s, options.latency_s, options.latency_repeats) == (60, 120, 20)
    assert (options.burst_s, options.burst_repeats, options.overload_s) == (2, 50, 60)


def test_what_the_lab_says_is_not_shortened() -> None:
    quick = Rfc2544Options.model_validate({"trial_s": 10, "frames": ("64",)}).shortened()
    assert (quick.trial_s, quick.frames) == (10, ("64",))
    assert quick.latency_s == 1.0


@pytest.mark.parametrize(("tag_s", "latency_s"), [(0.2, 1.0), (5, 10), (100, 120)])
def test_a_quick_latency_trial_has_room_for_the_frame_that_the_lab_tags(
    tag_s: float, latency_s: float
) -> None:
    quick = Rfc2544Options(latency_tag_s=tag_s).shortened()
    assert (quick.latency_tag_s, quick.latency_s) == (tag_s, latency_s)


def test_frames_are_the_labs_unless_the_procedures_have_their_own() -> None:
    of_lab = ("64", "512")
    assert Rfc2544Options().sizes(of_lab) == of_lab
    assert Rfc2544Options().shortened().sizes(of_lab) == of_lab
    assert Rfc2544Options(frames=("1518",)).sizes(of_lab) == ("1518",)
    standard = Rfc2544Options.model_validate({"frames": "standard"})
    assert standard.sizes(of_lab)[:-1] == STANDARD_FRAMES


def test_the_whole_procedure_is_announced_as_hours() -> None:
    assert 8 * 3600 < expected_s(Rfc2544Options(), 8, [True]) < 24 * 3600
    assert expected_s(Rfc2544Options().shortened(), 3, [True]) < 240


def test_what_is_not_measured_takes_no_time() -> None:
    loss = Rfc2544Options(tests=("frame-loss",))
    assert expected_s(loss, 1, [True]) == LOSS_TRIALS * (loss.trial_s + loss.restabilise_s)
    resets = Rfc2544Options(tests=("frame-loss", "reset"))
    assert expected_s(resets, 1, [False]) == expected_s(loss, 1, [True]) < expected_s(resets, 1, [True])
    assert expected_s(resets, 2, [True, False]) == expected_s(resets, 2, [True]) + expected_s(loss, 2, [True])


def test_a_tagged_frame_after_the_end_is_refused() -> None:
    with pytest.raises(ValueError, match="latency_tag_s < latency_s"):
        Rfc2544Options(latency_s=10)
