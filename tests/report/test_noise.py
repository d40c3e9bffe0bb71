# SPDX-License-Identifier: Apache-2.0
"""What is said of a noisy machine: time left out and who had the cores, repeats, slower and farther cores."""

from __future__ import annotations

from typing import Any

import pytest

from weir import report
from weir.report import legend, noise, summary
from weir.report.sections import executive_summary, next_step
from weir.results.result import CoreSpeed, LeftOut, Result, Throughput, Trial
from weir.results.trial import left_out_s

from .disturbed import MEASURE, disturbed, found, trial
from .latency_runs import limit
from .synthetic import result


def said(made: Result) -> str:
    return "\n".join(noise.sentences(made))


def only(*trials: Trial) -> Result:
    """One case with these trials and a rate without a spread."""
    made = disturbed()
    made.setups = made.setups[:1]
    case = made.setups[0].cases[0]
    case.throughput, case.curve, case.trials = [found(1e6)], [], list(trials)
    return made


def quiet(load_pps: float = 1e6, **fields: Any) -> Trial:
    return trial(load_pps, lost_share=0.0, away_us=0, intended_duration_s=0.1, distances_cycles={}, **fields)


def test_a_quiet_machine_says_nothing() -> None:
    assert noise.sentences(only(*[quiet() for _ in range(20)])) == []


def test_time_left_out_is_summed_by_core_and_by_who_had_it() -> None:
    hit = trial(1e6, lost_share=0.0, intended_duration_s=0.1, distances_cycles={})
    made = only(hit, hit, *[quiet() for _ in range(2)])
    # Of each of two trials 12 ms did not count, while others had the cores for 4.5 and 1.5 ms.
    assert left_out_s([hit]) == pytest.approx((0.012, 0.2))
    assert noise.taken_us([hit, hit]) == {(1, "python3"): 9000, (0, "host"): 3000}
    assert said(made) == (
        "24.0 ms of the 800.0 ms of all trials (3%) were left out: slices around 12.0 ms, summed over 2 "
        "cores, in which cores were away (core 1: python3 9.0 ms; core 0: the host 3.0 ms), whole and with "
        "those behind them."
    )


def test_the_time_that_cores_were_away_is_the_sum_of_what_is_said_of_each() -> None:
    hit = trial(1e6, lost_share=0.0, intended_duration_s=0.1, distances_cycles={})
    hit.left_out = [LeftOut(core=0, from_us=0, to_us=1000.0 * at, by=f"p{at}") for at in range(1, 8)]
    (sentence,) = noise.sentences(only(hit))
    assert "around 28.0 ms in which cores were away (core 0: p7 7.0 ms; core 0: p6 6.0 ms; " in sentence
    assert "; others 6.0 ms)" in sentence


def test_where_nobody_knows_who_was_there_time_is_left_out_without_a_reason() -> None:
    hit = trial(1e6, lost_share=0.0, intended_duration_s=0.1, distances_cycles={})
    hit.left_out = []
    assert noise.sentences(only(hit)) == ["12.0 ms of the 200.0 ms of all trials (6%) were left out."]


def test_a_run_with_few_doubts_has_no_headline() -> None:
    assert noise.headline(only(*[quiet() for _ in range(20)])) is None
    assert noise.headline(disturbed()) is None


def mostly_taken(*by: str) -> Result:
    """A trial of which 60 % were left out, since they had a core; and a case without a rate in two."""
    one = trial(1e6, lost_share=0.0, away_us=60_000, intended_duration_s=0.1, distances_cycles={})
    one.left_out = [LeftOut(core=1, from_us=0, to_us=40_000, by=who) for who in by]
    made = only(one)
    case = made.setups[0].cases[0]
    no_rate = Throughput(goal="NDR", goal_loss_ratio=0, status="irregular", why="Late.", repeats=1)
    made.setups[0].cases.append(case.model_copy(update={"throughput": [no_rate], "trials": []}))
    return made


def test_the_summary_of_a_run_whose_numbers_say_little_tells_none_of_them() -> None:
    made = mostly_taken("python (4711)")
    assert executive_summary(made) == [next_step(made)]
    made.setups[0].cases[0].verdicts = [limit(250.0)]
    first = executive_summary(made)[0]
    assert first.startswith("Service level: 1 of 1 limits MISSED")  # the exit code says it
    made.setups[0].cases[0].trials = [quiet()]
    assert len(executive_summary(made)) > 2


@pytest.mark.parametrize(
    ("by", "lost"),
    [
        (("python (4711)", "cron (7)", "python (4720)"), "taken by others, most by 2 threads called python"),
        (("python (4711)",), "taken by others, most by python (4711)"),
        (
            ("cc1 (nice 19) of alice (4711)", "cron of root (7)", "cc1 (nice 19) of alice (4712)"),
            "taken by others, most by 2 threads called cc1 (nice 19) of alice",
        ),
        (("host",), "taken by others, most by the host"),
        (("slowed",), "left out, most since cores were slowed by a neighbour or a lower clock"),
        ((), "left out"),
    ],
)
def test_a_run_without_much_to_go_by_says_so_in_one_sentence(by: tuple[str, ...], lost: str) -> None:
    assert noise.headline(mostly_taken(*by)) == (
        f"1 of 2 cases has no rate; 60% of the time was {lost}: these numbers say little about the system."
    )


def test_a_case_for_which_the_lowest_load_was_too_much_is_not_put_down_to_who_had_the_cores() -> None:
    made = mostly_taken("host")
    (failed,) = made.setups[0].cases[1].throughput
    failed.upper_bound_pps = 1e5
    assert noise.headline(made) == (
        "1 of 2 cases has no rate, since even the lowest load was too much; 60% of the time was taken by "
        "others, most by the host: the other numbers say little about the system."
    )
    assert str(next_step(made)).startswith(
        "Next: `weir explain` says why even the lowest load was too much; "
    )


def test_cases_without_a_rate_on_a_quiet_machine_are_a_headline_too() -> None:
    made = mostly_taken("host")
    made.setups[0].cases[0].trials = [quiet()]
    assert noise.headline(made) == "1 of 2 cases has no rate: the remarks say why."


def test_the_only_case_without_a_rate_is_not_counted() -> None:
    made = mostly_taken("host")
    made.setups[0].cases = [case for case in made.setups[0].cases if not case.throughput[0].load_pps]
    assert str(noise.headline(made)).startswith("The only case has no rate")


@pytest.mark.parametrize("format_", ["terminal", "html"])
def test_the_headline_stands_above_all_numbers(format_: str) -> None:
    page = " ".join(report.render(mostly_taken("python (4711)"), format_).split())
    at = page.index("1 of 2 cases has no rate")
    assert at < page.index("Mpps" if format_ == "terminal" else 'id="throughput"')
    assert "<details" not in page[:at]


def test_threads_of_one_program_are_one_and_only_the_most_are_named() -> None:
    one = trial(1e6, lost_share=0.0)
    one.left_out = [
        *[LeftOut(core=1, from_us=at, to_us=at + 10_000, by=f"python3 ({at})") for at in (0, 20_000)],
        *[LeftOut(core=0, from_us=0, to_us=1000 * at, by=f"p{at}") for at in range(1, 6)],
        LeftOut(core=0, from_us=-5000, to_us=400_000, by="slowed"),
    ]
    assert noise.takers([one]) == (
        "core 0: slowed by a neighbour or a lower clock 200.0 ms; core 1: python3 20.0 ms; core 0: p5 "
        "5.0 ms; core 0: p4 4.0 ms; others 6.0 ms"
    )


def test_trials_that_lasted_longer_and_invalid_ones_are_counted() -> None:
    made = only(
        quiet(),
        quiet(valid=False),
        quiet().model_copy(update={"intended_duration_s": 0.11, "purpose": "curve"}),
    )
    assert "1 of 3 trials were invalid and not used." in said(made)
    assert "1 of 3 trials lasted longer than asked for, to have enough undisturbed time." in said(made)
    made.spec["measure"] = MEASURE | {"curve": {"duration_s": 0.2}}
    assert "lasted longer" not in said(made)


def test_trials_in_a_slower_state_are_counted() -> None:
    made = only(quiet(), quiet(slower_times=1.5), quiet(slower_times=1.3))
    assert "In 2 of 3 trials a core was slower than at its best (1.40 times in the median)" in said(made)


def test_cores_that_were_moved_are_told_with_their_distances() -> None:
    near, far = quiet(), quiet()
    near.distances_cycles, far.distances_cycles = {"0-1": 120.0}, {"0-1": 540.0}
    assert (
        "The hypervisor moved cores: what core 1 had took the first one 120 to 540 cycles to read (330 in "
        "the median)." in said(only(near, far))
    )
    far.distances_cycles = {"0-1": 150.0}
    assert "moved" not in said(only(near, far))


def test_rates_of_a_worse_state_are_counted_with_the_worst() -> None:
    assert (
        "1 of 4 throughputs were only measured in a worse state of the machine: 1 with cores up to 1.40 "
        "times slower, 1 with cores up to 4.60 times slower to pass data to each other." in said(disturbed())
    )


def test_wide_spreads_are_told_and_an_interval_has_none() -> None:
    assert "1 of 4 throughputs have repeats more than 5% apart; the widest is NDR of direct PVP" in (
        said(disturbed())
    )


def test_in_older_results_paces_tell_of_slowed_cores() -> None:
    made = result()
    case = made.setups[0].cases[0]
    slow, fast = (CoreSpeed(core=1, pieces=1000, cycles=1000 * cycles) for cycles in (900, 600))
    for number, one in enumerate(case.curve):
        one.core_speeds = [slow if number else fast]
    made.setups = [made.setups[0].model_copy(update={"cases": [case.model_copy(update={"trials": []})]})]
    count = len(case.curve)
    assert f"In {count - 1} of {count} trials a core was slower than at its best (1.50 times" in said(made)
    case.curve[0].core_speeds = [slow]
    assert "slower than at its best" not in said(made)


def test_the_legend_says_exactly_what_counted() -> None:
    words = " ".join(legend.sentences(disturbed()))
    assert (
        "A load is carried if at least 50% of 0.3 s of trials at it keep the loss ratio (exceed_ratio 0.5)"
        in (words)
    )
    assert "looked at in slices of 1 ms" in words
    assert "here 288.0 ms of 5.60 s (5.1 %)" in words
    assert "the median of 2 rounds or more" in words
    assert "with one search each" in words
    assert "the median of the pairs measured in the same round and state of the machine" in words
    assert "≥ and ≤: the tester, or what the lab lets be sent, was the limit" in words
    assert (
        "A dash for a ratio: there is none, since one of the two searches ran out of time; or the two"
        in words
    )


def test_the_legend_follows_the_lab() -> None:
    made = disturbed()
    made.spec["measure"] = MEASURE | {"exceed_ratio": 0.0, "repeats": 3, "rounds": 1}
    words = " ".join(legend.sentences(made))
    assert "if all of 0.3 s of trials at it keep" in words
    assert "the median of 3 searches." in words


def test_the_legend_of_an_older_result_says_that_all_counted() -> None:
    words = " ".join(legend.sentences(result()))
    assert "All of a trial counts, whatever the machine did: its time was not divided." in words
    assert summary.measure_of(result()) == {}
    assert "the median over the repeats." in words
    assert "of the medians, and the least and greatest that the repeats allow." in words
