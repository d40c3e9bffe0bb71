# SPDX-License-Identifier: Apache-2.0
"""Runs against runs: what changed is said, what chance makes is not, what does not compare has a reason."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from tests.report.disturbed import disturbed, found
from tests.report.synthetic import fingerprint, latency, result, trial
from weir.comparison import compare, compare_several, text
from weir.results.comparison import Change, Comparison
from weir.results.result import Case, DelayPoint, MachineBest, Result, Setup, Throughput

WAYS = [f"way{number}" for number in range(20)]
TRUE_PPS = {way: 1e5 * (1 + number) for number, way in enumerate(WAYS)}
ROUNDS = 5
ANY = result()


def a_run(name: str, rates: dict[str, Throughput | Case], **fields: Any) -> Result:
    setups = [
        Setup(
            technology=way,
            chain="PVP",
            datapath="none",
            cases=[
                one if isinstance(one, Case) else Case(frame="64", mean_frame_bytes=64.0, throughput=[one])
            ],
        )
        for way, one in rates.items()
    ]
    return ANY.model_copy(update={"id": name, "setups": setups, **fields})


def drawn(name: str, dice: np.random.Generator, noise: float, factor: dict[str, float]) -> Result:
    """A run whose rounds vary by that share around the truth, of some ways times a factor."""
    rates: dict[str, Throughput | Case] = {}
    for way, pps in TRUE_PPS.items():
        rounds = pps * factor.get(way, 1.0) * np.exp(dice.normal(0, noise, ROUNDS))
        rates[way] = found(float(np.median(rounds)), rounds=tuple(map(float, rounds)))
    return a_run(name, rates)


def outcomes(comparison: Comparison) -> dict[str, str]:
    return {change.way: change.outcome for change in comparison.changes}


def only(comparison: Comparison) -> Change:
    (change,) = comparison.changes
    return change


def test_chance_alone_is_hardly_ever_called_a_change() -> None:
    dice = np.random.default_rng(3)
    wrong = 0
    for _ in range(60):
        comparison = compare([drawn("a", dice, 0.01, {})], [drawn("b", dice, 0.01, {})], 0.03)
        wrong += any(outcome in {"worse", "better"} for outcome in outcomes(comparison).values())
    # One of a hundred is what the correction asks for; five of sixty would come once in two thousand times.
    assert wrong <= 4


def test_a_planted_change_of_3_percent_is_found_and_so_is_which_one_it_is() -> None:
    dice = np.random.default_rng(4)
    hits = 0
    for _ in range(20):
        after = drawn("b", dice, 0.005, {"way3": 0.97, "way7": 1.03})
        said = outcomes(compare([drawn("a", dice, 0.005, {})], [after], 0.01))
        hits += said["way3"] == "worse" and said["way7"] == "better"
    assert hits >= 19


def test_rates_that_hardly_vary_are_said_to_be_the_same_and_wide_ones_are_not() -> None:
    dice = np.random.default_rng(5)
    exact = compare([drawn("a", dice, 0.001, {})], [drawn("b", dice, 0.001, {})], 0.03)
    assert set(outcomes(exact).values()) == {"same"}
    wide = compare([drawn("a", dice, 0.2, {})], [drawn("b", dice, 0.2, {})], 0.03)
    assert "same" not in outcomes(wide).values()


def test_one_search_on_each_side_shows_nothing_and_says_why() -> None:
    before, after = (a_run(name, {"direct": found(pps)}) for name, pps in (("a", 1e6), ("b", 0.5e6)))
    change = only(compare([before], [after], 0.03))
    assert (change.outcome, change.low) == ("not shown", None)
    assert change.change == pytest.approx(-0.5)
    assert change.why is not None
    assert change.why.startswith("one sample on each side")


def test_several_runs_have_a_sample_each_whatever_their_rounds_say() -> None:
    def runs(prefix: str, rates: tuple[float, ...]) -> list[Result]:
        return [
            a_run(f"{prefix}{number}", {"direct": found(pps, rounds=(pps * 0.5, pps, pps * 2))})
            for number, pps in enumerate(rates)
        ]

    change = only(compare(runs("a", (1.00e6, 1.01e6, 0.99e6)), runs("b", (0.90e6, 0.91e6, 0.89e6)), 0.03))
    assert (change.samples_before, change.samples_after) == (3, 3)
    assert change.outcome == "worse"
    assert change.low is not None
    assert change.high is not None
    assert change.low < -0.1 < change.high < -0.05


def test_rounds_of_a_worse_state_do_not_stand_beside_those_of_the_best() -> None:
    before = found(1e6, rounds=(1e6, 1.01e6, 0.5e6), states=((None, None), (None, None), (2.0, None)))
    after = found(1e6, rounds=(1e6, 1.01e6, 0.99e6))
    change = only(compare([a_run("a", {"direct": before})], [a_run("b", {"direct": after})], 0.03))
    assert change.samples_before == 2
    assert change.change == pytest.approx(0.0, abs=0.01)


def test_a_rate_of_a_worse_state_alone_does_not_compare_with_one_of_the_best() -> None:
    good, bad = (
        a_run(name, {way: one})
        for name, way, one in (
            ("a", "direct", found(1e6, rounds=(1e6, 1.01e6))),
            ("b", "direct", found(0.5e6, rounds=(0.5e6, 0.51e6), slower_times=2.0)),
        )
    )
    change = only(compare([good], [bad], 0.03))
    assert (change.outcome, change.change) == ("not compared", None)
    assert change.why == "after: only measured in a worse state of the machine"


def test_a_rate_that_the_tester_or_the_lab_limits_is_a_bound_and_tells_one_way_only() -> None:
    def pair(before_bound: bool, after_bound: bool, after_pps: float, by: str = "tester_bound") -> Change:
        sides: tuple[tuple[float, dict[str, Any], str], ...] = (
            (1e6, {by: before_bound}, "a"),
            (after_pps, {"tester_bound": after_bound}, "b"),
        )
        runs = [
            a_run(name, {"direct": found(pps, rounds=(pps, pps * 1.001, pps * 0.999), **bound)})
            for pps, bound, name in sides
        ]
        return only(compare(runs[:1], runs[1:], 0.03))

    assert (pair(False, True, 2e6).bound, pair(False, True, 2e6).outcome) == (">=", "better")
    assert (pair(False, True, 0.5e6).bound, pair(False, True, 0.5e6).outcome) == (">=", "not shown")
    assert (pair(True, False, 0.5e6).bound, pair(True, False, 0.5e6).outcome) == ("<=", "worse")
    both = pair(True, True, 1e6)
    assert both.why == "the tester was the limit both times"
    of_lab = pair(True, False, 0.5e6, "lab_bound")
    assert (of_lab.bound, of_lab.outcome, of_lab.at_least_before) == ("<=", "worse", True)
    mixed = pair(True, True, 1e6, "lab_bound")
    assert mixed.why == "`measure.max_load_pps` or the tester was the limit both times"
    by = text.unit_for([both])
    assert (text.before(both, by), text.after(both, by)) == ("≥1.000", "≥1.000")
    one = pair(False, True, 2e6)
    assert (text.before(one, by), text.after(one, by)) == ("1.000", "≥2.000")


def test_out_of_time_irregular_and_missing_ones_are_named_with_their_reason() -> None:
    late = found(1e5, lower_bound_pps=1e5, upper_bound_pps=2e5, out_of_time=True)
    none = Throughput(goal="NDR", goal_loss_ratio=0.0, status="irregular", why="no valid trial")
    good = found(1e6, rounds=(1e6, 1.01e6))
    before = a_run("a", {"ovs": late, "direct": good, "gone": good, "broken": good})
    after = a_run("b", {"ovs": good, "direct": none, "new": good, "broken": good})
    why = {change.way: change.why for change in compare([before], [after], 0.03).changes}
    assert why["ovs"] == "before: its search ran out of time"
    assert why["direct"] == "after: no valid trial"
    assert why["gone"] == "not in the runs after"
    assert why["new"] == "not in the runs before"
    assert why["broken"] is None


def delayed(name: str, p99_scale: float, load_pps: float = 1e5, lost_share: float = 0.0) -> Result:
    dice = __import__("random").Random(1)
    trials = []
    for number in range(4):
        one = trial("curve", load_pps, 0.1, 1e6, dice)
        one.valid, one.unaccounted, one.backlog = True, 0, 0
        one.delivered = one.offered - round(one.offered * lost_share)
        for stream in one.streams:
            stream.latency = latency(1000, 0.1)
            stream.latency.p99_us = 20.0 * p99_scale * (1 + 0.001 * number)
        trials.append(one)
    point = DelayPoint(load="50% PDR", load_pps=load_pps, trials=trials, worst_direction="right-to-left")
    return a_run(name, {"direct": Case(frame="64", mean_frame_bytes=64.0, delays=[point])})


def test_delays_compare_at_the_same_load_and_more_is_worse() -> None:
    carried, change = compare([delayed("a", 1.0)], [delayed("b", 1.2)], 0.03).changes
    assert (change.what, change.unit, change.outcome) == ("latency P99 at 50% PDR", "us", "worse")
    assert change.change == pytest.approx(0.2, abs=0.001)
    assert (carried.what, carried.outcome) == ("carried at 50% PDR", "same")
    others = compare([delayed("a", 1.0)], [delayed("b", 1.2, load_pps=2e5)], 0.03).changes
    assert {other.outcome for other in others} == {"not compared"}
    assert {other.why for other in others} == {"at other loads: 100,000 and 200,000 packets a second"}


def test_a_load_of_which_more_is_lost_is_worse_though_what_comes_is_as_late() -> None:
    carried, change = compare([delayed("a", 1.0)], [delayed("b", 1.0, lost_share=0.1)], 0.03).changes
    assert (carried.what, carried.unit, carried.outcome) == ("carried at 50% PDR", "pps", "worse")
    assert carried.change == pytest.approx(-0.1, abs=0.001)
    assert change.outcome == "same"


def test_whatever_else_differs_is_a_warning_but_not_the_version_of_weir() -> None:
    there = fingerprint()
    there.kernel, there.versions = "6.9.9", {**there.versions, "weir": "9", "dpdk": "23.11.0"}
    rates: dict[str, Throughput | Case] = {"direct": found(1e6, rounds=(1e6, 1.01e6))}
    one = MachineBest(boot_id="1", piece_cycles={0: 100.0, 1: 100.0}, distances_cycles={"0-1": 200.0})
    other = MachineBest(boot_id="2", piece_cycles={0: 150.0, 1: 101.0}, distances_cycles={"0-1": 900.0})
    spec = {"weir": 1, "name": "switching", "traffic": {"ip": 4, "frames": ["64"]}}
    changed = {"weir": 1, "name": "switching", "traffic": {"ip": 6, "frames": ["64"]}}
    before = a_run("a", rates, machine=one, spec=spec)
    after = a_run("b", rates, machine=other, spec=changed, fingerprint=there, quick=False, finished_at=None)
    assert compare([before], [after], 0.03).warnings == [
        "Keys of the lab differ: traffic.ip.",
        "One is a quick run, the other a full one.",
        "b was not finished.",
        "The kernel differs: 6.1.0-0-synthetic and 6.9.9.",
        "The version of dpdk differs: 22.11.11 and 23.11.0.",
        "Core 0 at its best took 1.50 times as long in the later run.",
        "Cores 0 and 1 at their best took 4.50 times as long to pass data in the later run.",
    ]
    assert compare([before], [a_run("c", rates, machine=one, spec=spec)], 0.03).warnings == []


def test_each_of_several_sides_is_compared_with_the_first_and_only_the_changed_one_is_called_so() -> None:
    dice = np.random.default_rng(6)
    others = [
        [drawn("b", dice, 0.005, {})],
        [drawn("c", dice, 0.005, {"way3": 0.95, "way7": 1.05})],
        [drawn("d", dice, 0.005, {"way3": 1.05})],
    ]
    found = compare_several([drawn("a", dice, 0.005, {})], others, 0.01)
    changed = [
        {way: said for way, said in outcomes(one).items() if said in {"worse", "better"}} for one in found
    ]
    assert changed == [{}, {"way3": "worse", "way7": "better"}, {"way3": "better"}]
    assert [[run.id for run in one.after] for one in found] == [["b"], ["c"], ["d"]]


@pytest.mark.long
def test_chance_alone_changes_none_of_four_sides_more_often_than_one_of_two() -> None:
    dice = np.random.default_rng(7)
    wrong = 0
    for _ in range(60):
        sides = [[drawn(name, dice, 0.01, {})] for name in "abcd"]
        for comparison in compare_several(sides[0], sides[1:], 0.03):
            wrong += any(outcome in {"worse", "better"} for outcome in outcomes(comparison).values())
    assert wrong <= 4


def test_the_noise_is_that_of_all_sides_and_p_values_are_corrected_for_all_of_them() -> None:
    """By hand: one way analysis of variance, contrasts with the first side, Holm."""
    rounds = [(1e6, 1.01e6, 0.99e6), (0.97e6, 0.98e6, 0.96e6), (0.98e6, 0.99e6, 0.97e6)]
    sides = [a_run(name, {"direct": found(of[0], rounds=of)}) for name, of in zip("abc", rounds, strict=True)]
    first, second = (only(one) for one in compare_several(sides[:1], [sides[1:2], sides[2:]], 0.03))
    logs = [np.log(of) for of in rounds]
    error = math.sqrt(sum(np.var(of, ddof=1) for of in logs) / 3 * 2 / 3)
    raw = [2 * student.sf(abs(np.mean(of) - np.mean(logs[0])) / error, 6) for of in logs[1:]]
    assert raw[0] < raw[1]
    assert first.p_value == pytest.approx(2 * raw[0])
    assert second.p_value == pytest.approx(raw[1])
    reach = error * student.ppf(0.975, 6)
    assert first.low == pytest.approx(math.expm1(np.mean(logs[1]) - np.mean(logs[0]) - reach))


def test_a_side_that_varies_more_widens_the_intervals_of_all() -> None:
    before = a_run("a", {"direct": found(1e6, rounds=(1e6, 1.01e6, 0.99e6))})
    after = a_run("b", {"direct": found(1e6, rounds=(1e6, 1.01e6, 0.99e6))})
    wild = a_run("c", {"direct": found(1e6, rounds=(0.5e6, 1e6, 2e6))})
    alone = only(compare([before], [after], 0.03))
    beside = only(compare_several([before], [[after], [wild]], 0.03)[0])
    assert alone.high is not None
    assert beside.high is not None
    assert beside.high > 5 * alone.high


def test_a_side_that_does_not_compare_says_nothing_of_the_noise_of_the_others() -> None:
    before = a_run("a", {"direct": found(1e6, rounds=(1e6, 1.01e6, 0.99e6))})
    after = a_run("b", {"direct": found(1e6, rounds=(1e6, 1.01e6, 0.99e6))})
    slower = a_run("c", {"direct": found(0.5e6, rounds=(0.2e6, 0.51e6, 0.9e6), slower_times=2.0)})
    alone = only(compare([before], [after], 0.03))
    first, second = (only(one) for one in compare_several([before], [[after], [slower]], 0.03))
    assert (first.low, first.high) == (alone.low, alone.high)
    assert second.why == "after: only measured in a worse state of the machine"


def test_a_comparison_is_read_again_as_it_was_written() -> None:
    comparison = compare([disturbed(id="a")], [disturbed(id="b")], 0.03)
    assert Comparison.read(comparison.model_dump_json()) == comparison
