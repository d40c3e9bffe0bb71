# SPDX-License-Identifier: Apache-2.0
"""What is said under Read with care."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from weir.report import doubts, legend, numbers, render
from weir.results.result import Ceiling, Counted, Drop, LeftOut, Result, Throughput, Trial
from weir.results.rounds import UNDER_WAY, UNFINISHED
from weir.results.trial import Doubted, behind_earlier

from .disturbed import disturbed, found, trial
from .synthetic import result


def of(made: Result, kind: str) -> list[str]:
    return [one.sentence for one in doubts.doubts(made) if one.kind == kind]


def carrying(mpps: float, **fields: Any) -> Result:
    """`direct` alone, found at 1 Mpps, and one trial."""
    made = disturbed()
    made.setups = made.setups[:1]
    case = made.setups[0].cases[0]
    case.throughput, case.curve = [found(1e6)], []
    case.trials = [trial(mpps * 1e6, **({"lost_share": 0.0} | fields))]
    return made


def test_an_answer_out_of_time_is_said_with_both_bounds_and_the_reason() -> None:
    assert of(disturbed(), "L") == ["ovs PVP, frame 64: NDR out of time: 0.100 to 0.250 Mpps. Late."]


def test_what_functions_drop_however_light_the_load_is_said() -> None:
    made = carrying(1.0)
    drops = [Drop(place="f1/right/nat", reason="no_mapping", packets=50)]
    light = trial(2000, purpose="preflight", lost_share=0.25)
    made.setups[0].cases[0].trials.append(
        light.model_copy(update={"offered": 200, "delivered": 150, "drops": drops})
    )
    assert of(made, "note") == [
        "direct PVP, frame 64: however light the load, 25.0% of the packets are dropped: f1/nat (no_mapping)"
    ]


def test_a_light_load_of_which_nothing_was_sent_tells_no_share() -> None:
    made = carrying(1.0)
    drops = [Drop(place="f1/right/nat", reason="no_mapping", packets=50)]
    light = trial(2000, purpose="preflight", lost_share=0.25)
    made.setups[0].cases[0].trials.append(
        light.model_copy(update={"offered": 0, "delivered": 0, "drops": drops})
    )
    assert of(made, "note") == []


def test_a_rate_at_which_confirming_trials_lost_far_more_than_the_goal_says_so() -> None:
    made = carrying(1.0)
    (one,) = made.setups[0].cases[0].throughput
    one.loss_ratio = 0.071
    assert of(made, "note") == [
        f"direct PVP, frame 64: NDR found, but trials that were to confirm it lost {numbers.share(0.071)}"
    ]
    one.loss_ratio = 0.005
    assert of(made, "note") == []


def test_a_rate_far_above_what_the_tester_did_alone_says_that_the_tester_was_measured_too_low() -> None:
    made = carrying(1.0)
    case = made.setups[0].cases[0]
    case.ceiling = Ceiling(max_pps=0.9e6, latency_floor_us=1, timestamp_resolution_ns=1, limited_by="sending")
    assert of(made, "note") == [
        "direct PVP, frame 64: NDR found above the 0.900 Mpps that the tester did alone: that was measured "
        "too low on a disturbed machine, and T says nothing of this rate"
    ]
    case.ceiling.max_pps = 0.95e6
    assert of(made, "note") == []


def irregular(*taken: tuple[float, str, str]) -> Result:
    """A case for each: share of its trial's time that another one had, its reason, and who that was."""
    made = disturbed()
    for (share, why, by), setup in zip(taken, made.setups, strict=True):
        case = setup.cases[0]
        one = found(1e6).model_copy(update={"status": "irregular", "load_pps": None, "why": why})
        away = trial(1e6, lost_share=0.0, away_us=share * 100_000)
        away.left_out = [LeftOut(core=1, from_us=0, to_us=share * 200_000, by=by)]
        case.throughput, case.curve, case.trials = [one], [], [away]
    return made


def test_of_irregular_cases_that_others_disturbed_the_one_that_took_most_of_them_all_is_named() -> None:
    others = [(0.9, f"Only {at} ms: python ({at}) had core 1.", f"python ({at})") for at in (1, 2, 3)]
    made = irregular((0.7, "Only 9 ms: weir (6198) had core 1.", "weir (6198)"), *others)
    assert dict(legend.counted(made))["I"] == (
        "irregular, 4 cases: 85% of their trials' time was taken by others, most by 3 threads called python"
    )
    made.setups[0].cases[0].trials = []
    assert dict(legend.counted(made))["I"].endswith("3 threads called python (3 of them)")


def test_of_irregular_cases_on_a_quiet_machine_the_reason_of_most_is_said() -> None:
    often = [(0.01, "Even the lowest load was too much.", "cron (7)")] * 3
    made = irregular((0.9, "Only 9 ms.", "python (1)"), *often)
    assert dict(legend.counted(made))["I"] == (
        "irregular, 4 cases: Even the lowest load was too much (3 of them)"
    )


def test_a_slower_state_is_said_with_how_much() -> None:
    assert of(disturbed(), "S") == [
        "ovs-dpdk PVP, frame 64: NDR found, but only while cores were 1.40 times slower and 4.60 times "
        "slower to pass data to each other than at their best on this machine"
    ]


def test_a_disturbed_rate_says_how_much_was_left_out() -> None:
    assert of(disturbed(), "D") == [
        "ovs-dpdk PVP, frame 64: NDR found, but 56% of the time of the trials that bound it was left out"
    ]


def test_a_rate_of_one_search_alone_says_what_the_others_found() -> None:
    made = carrying(1.0)
    case = made.setups[0].cases[0]
    one = found(1e6, rounds=(0.8e6, 1e6), states=((None, 4.6), (None, None)))
    case.throughput = [one.model_copy(update={"searches": 2, "repeats": 1})]
    assert of(made, "R") == [
        "direct PVP, frame 64: NDR found, but by one of 2 searches alone "
        "(another round: 0.800 Mpps 4.60 times slower to pass data to each other)"
    ]


def test_a_rate_far_below_what_a_trial_carried_without_loss_is_contradicted() -> None:
    assert of(disturbed(), "contradicted") == [
        "ovs-dpdk PVP, frame 64: NDR found at 1.200 Mpps, but a valid trial carried 2.400 Mpps without loss "
        "(search, 0.19 s)"
    ]


@pytest.mark.parametrize(("mpps", "contradicted"), [(1.1, False), (1.12, True)])
def test_ten_percent_are_allowed(mpps: float, *, contradicted: bool) -> None:
    assert bool(of(carrying(mpps), "contradicted")) is contradicted


def test_a_trial_of_a_slower_state_contradicts_too() -> None:
    assert of(carrying(1.5, slower_times=1.4), "contradicted")


@pytest.mark.parametrize(
    "fields",
    [{"lost_share": 0.01}, {"valid": False}, {"purpose": "burst"}, {"purpose": "calibration"}],
    ids=str,
)
def test_what_lost_packets_is_invalid_or_no_load_of_one_rate_contradicts_nothing(
    fields: dict[str, Any],
) -> None:
    assert not of(carrying(1.5, **fields), "contradicted")


def test_the_interval_of_a_late_search_is_contradicted_by_its_upper_end_alone() -> None:
    made = carrying(1.5)
    late = found(1e6, upper_bound_pps=1.6e6, out_of_time=True)
    made.setups[0].cases[0].throughput = [late]
    assert not of(made, "contradicted")
    late.upper_bound_pps = 1.2e6
    assert of(made, "contradicted")


def test_an_undivided_trial_of_an_older_result_counts_as_a_whole() -> None:
    made = carrying(1.5)
    case = made.setups[0].cases[0]
    case.trials[0].counted = None
    assert not of(made, "contradicted"), "its packets that were lost in the absence count there"
    whole: Trial = case.trials[0]
    whole.delivered = whole.offered
    assert of(made, "contradicted")


def losing(
    share: float, mpps: float = 0.6, *more: Trial, goal_loss_ratio: float = 0.0, **fields: Any
) -> Result:
    """Found at 1 Mpps with that goal, and a curve's trial at less load that lost that share, and `more`."""
    made = carrying(1.0)
    case = made.setups[0].cases[0]
    case.throughput[0].goal_loss_ratio = goal_loss_ratio
    case.curve = [trial(mpps * 1e6, lost_share=share, **({"purpose": "curve"} | fields)), *more]
    return made


def test_a_rate_far_below_which_a_trial_lost_far_more_than_the_goal_is_contradicted() -> None:
    assert of(losing(0.05, goal_loss_ratio=0.005), "contradicted") == [
        "direct PVP, frame 64: NDR found at 1.000 Mpps, but a valid trial lost 5 % of 0.600 Mpps (curve, "
        "0.19 s)"
    ]


def test_of_several_that_lost_the_worst_is_named_and_a_pause_said() -> None:
    counted = Counted(seconds=0.2, offered=60_000, lost=24_000, in_pauses=True)
    worst = trial(0.3e6, lost_share=0.4, counted=counted)
    (said,) = of(losing(0.05, 0.6, worst), "contradicted")
    assert said.endswith("a valid trial lost 40 % of 0.300 Mpps (search, 0.20 s, in pauses)")


@pytest.mark.parametrize(("mpps", "contradicted"), [(0.9, True), (0.91, False)])
def test_nearer_than_a_tenth_below_is_no_contradiction(mpps: float, *, contradicted: bool) -> None:
    assert bool(of(losing(0.05, mpps), "contradicted")) is contradicted


@pytest.mark.parametrize(
    ("packets", "lost", "contradicted"),
    [
        (100_000, 1400, False),  # the goal, and what trials at a rate may lose without a remark
        (100_000, 1500, False),
        (100_000, 1700, True),
        (300, 9, False),  # of so few packets 3 % may be chance
        (300, 12, True),
        (1200, 60, True),
    ],
)
def test_what_chance_or_half_of_the_trials_may_lose_is_no_contradiction(
    packets: int, lost: int, *, contradicted: bool
) -> None:
    counted = Counted(seconds=0.2, offered=packets, lost=lost)
    made = losing(0.05, goal_loss_ratio=0.005, counted=counted)
    assert bool(of(made, "contradicted")) is contradicted


@pytest.mark.parametrize(
    "fields",
    [
        {"valid": False},
        {"purpose": "burst"},
        {"slower_times": 1.4},
        {"distances_cycles": {"0-1": 540.0}},
        {"counted": Counted(seconds=0.09, offered=54_000, lost=5_400)},
    ],
    ids=["invalid", "a burst", "slower cores", "farther cores", "mostly left out"],
)
def test_what_an_unlike_trial_lost_contradicts_nothing(fields: dict[str, Any]) -> None:
    assert not of(losing(0.1, **fields), "contradicted")


def test_a_trial_of_a_slower_state_contradicts_a_rate_of_that_state() -> None:
    made = losing(0.1, slower_times=1.4)
    made.setups[0].cases[0].throughput[0].slower_times = 1.4
    assert of(made, "contradicted")


def test_a_load_that_was_carried_for_most_of_its_time_is_carried_as_the_search_has_it() -> None:
    well = [trial(0.6e6, lost_share=0.0) for _ in range(2)]
    assert not of(losing(0.1, 0.6, *well), "contradicted")
    assert of(losing(0.1, 0.6, well[0]), "contradicted")


def test_a_rate_whose_repeats_went_as_low_is_not_contradicted() -> None:
    made = losing(0.1, 0.6)
    made.setups[0].cases[0].throughput[0].load_min_pps = 0.62e6
    assert not of(made, "contradicted")


def test_an_undivided_trial_of_an_older_result_that_a_stall_disturbed_contradicts_nothing() -> None:
    made = losing(0.1, counted=None)
    assert of(made, "contradicted")
    made.setups[0].cases[0].curve[0].loss_during_stall = True
    assert not of(made, "contradicted")


def test_goals_with_the_same_words_stand_together() -> None:
    said = of(result(), "I")
    assert said[0].startswith("ovs PVP, frame IMIX a7d4g: NDR and PDR irregular: the lowest load")


def test_a_table_has_a_line_below_it_for_each_kind_with_the_number_of_cases() -> None:
    assert legend.counted(disturbed()) == [
        ("T", "tester-bound, 1 case: the system may do more"),
        ("L", "out of time, 1 case: the answer is the interval"),
        (
            "S",
            "slower state, 1 case: cores up to 1.40 times slower and 4.60 times slower to pass data to each "
            "other than at their best",
        ),
        ("D", "disturbed, 1 case: more than half of the time of the trials that bound it was left out"),
        (
            "–",
            "contradicted by a valid trial, 1 case: ovs-dpdk PVP, frame 64",
        ),
    ]


def test_a_rate_that_is_all_the_lab_allows_is_counted_below_its_table() -> None:
    made = disturbed()
    made.setups[1].cases[0].throughput[0].lab_bound = True
    said = (
        "most that the lab allows, 1 case: all of `measure.max_load_pps` was carried; the system may do more"
    )
    assert ("M", said) in legend.counted(made)


def test_every_kind_of_doubt_is_counted() -> None:
    assert set(get_args(doubts.Kind)) | {"T", "M"} == set(legend.COUNTED)
    made = carrying(1.0)
    case = made.setups[0].cases[0]
    case.throughput = [found(1e6).model_copy(update={"searches": 2, "repeats": 1})]
    said = "one round or repeat alone, 1 case: the others could not be measured, or were in a worse state"
    assert legend.counted(made) == [("R", said)]


def test_of_cases_without_a_rate_the_reason_that_most_have_is_said_and_how_many_have_it() -> None:
    made = disturbed()
    for number, (_, case) in enumerate(made.cases()):
        why = "Too late." if number else "Too noisy."
        case.throughput = [Throughput(goal="NDR", goal_loss_ratio=0, status="irregular", why=why)]
    assert legend.counted(made) == [("I", "irregular, 4 cases: Too late (3 of them)")]


def test_a_short_report_has_a_sentence_a_kind() -> None:
    assert doubts.grouped(disturbed(), "NDR") == [
        "Out of time (L): ovs PVP, frame 64 (0.100 to 0.250 Mpps).",
        "Slower state (S), against the cores' best on this machine: ovs-dpdk PVP, frame 64 (1.40 times "
        "slower and 4.60 times slower to pass data to each other).",
        "Disturbed (D), share of the time that was left out: ovs-dpdk PVP, frame 64 (56%).",
        "Contradicted by a valid trial of the same case: ovs-dpdk PVP, frame 64 (1.200 Mpps, a trial carried "
        "2.400 Mpps).",
    ]
    assert doubts.grouped(disturbed(), "PDR") == []


def test_trials_whose_frames_changed_are_said_though_the_next_ones_were_whole() -> None:
    made = carrying(1.0)
    changed = "1 of 373 sampled frames had changed."
    made.setups[0].cases[0].trials.append(
        trial(1e6, lost_share=0.0, valid=False, invalid_because=[changed], doubted=["frames_changed"])
    )
    assert of(made, "note") == [
        "direct PVP, frame 64: 1 of 2 trials were set aside, the first of them since: " + changed
    ]


def test_trials_of_a_system_that_was_not_empty_are_said_though_the_next_ones_were_whole() -> None:
    made = carrying(1.0)
    waited = behind_earlier(900)
    made.setups[0].cases[0].trials.append(
        trial(1e6, lost_share=0.0, valid=False, invalid_because=[waited], doubted=["held"])
    )
    (said,) = [doubt for doubt in doubts.doubts(made) if doubt.kind == "note"]
    assert said.short == "1 of 2 trials with packets of an earlier one, or never empty"
    assert said.detail.endswith(waited)


def test_a_case_under_way_is_not_said_to_be_given_up() -> None:
    """Reports are read while a run measures, too."""
    one = result()
    one.finished_at = None
    setup = next(setup for setup in one.setups if setup.cases)
    case = setup.cases[-1]
    case.problem, case.throughput = UNFINISHED, []
    where = doubts.place(setup.name, setup.chain, case)
    said = [doubt for doubt in doubts.doubts(one) if doubt.place == where]
    assert [(doubt.kind, doubt.detail) for doubt in said] == [("note", f"not finished: {UNDER_WAY}")]
    assert legend.flags_of(None, case) == ""
    assert "X" not in legend.flags_used(one)
    page = render(one, "html")
    assert "Not finished: It is being measured, or the run broke off" in page
    assert "Given up: It is being" not in page
    assert "not finished" in render(one, "csv")


def test_each_reason_to_set_trials_aside_has_its_words() -> None:
    assert set(doubts.SET_ASIDE) == set(get_args(Doubted))
