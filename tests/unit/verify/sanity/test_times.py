# SPDX-License-Identifier: Apache-2.0
"""Turn-around times: percentiles, limits, and what changed since an earlier run."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from scipy.stats import mannwhitneyu

from weir.lab.sut import SutFile
from weir.results.scenario import EarlierTimes, ScenarioLoad
from weir.results.verification import CaseResult, SuiteResult, Verification
from weir.verify.case import NotSoError
from weir.verify.driver import Done, Iteration, ScenarioWanted
from weir.verify.report import scenarios
from weir.verify.sanity.change import comparable, compare, p_value
from weir.verify.sanity.times import ITERATION, load, times
from weir.verify.suites.sanity import judge

from ..made import MadeCloud, verified


def test_a_percentile_is_told_only_of_a_sample_that_has_it() -> None:
    few = times("boot", [0.3, 0.1, 0.2])
    assert (few.p50_s, few.p90_s, few.p95_s, few.max_s) == (0.2, None, None, 0.3)
    many = times("boot", [n / 10 for n in range(1, 101)])
    assert (many.p50_s, many.p90_s, many.p95_s, many.p99_s, many.max_s) == (5.05, 9.0, 9.5, 9.9, 10.0)
    assert times("boot", [], failed=2).p50_s is None


def scenario(
    *seconds: float, failed: int = 0, limit_s: float | None = 30.0, ratio: float = 0.0
) -> ScenarioLoad:
    found = [Iteration(one, None, (Done("boot", one / 2),)) for one in seconds]
    found += [Iteration(9.0, "TimeoutError: no host", (Done("boot", 9.0, failed=True),))] * failed
    return load(found, ScenarioWanted("Some.one", len(found), failure_ratio=ratio, time_s=limit_s))


def test_each_operation_is_counted_and_failures_are_in_no_percentile() -> None:
    found = scenario(1.0, 2.0, 3.0, failed=1)
    assert (found.planned, found.succeeded, found.failed, found.longest_s) == (4, 3, 1, 9.0)
    assert found.causes == {"TimeoutError: no host": 1}
    whole, boot = found.operations
    assert (whole.name, whole.p50_s, whole.failed) == (ITERATION, 2.0, 1)
    assert (boot.name, boot.seconds, boot.failed, boot.max_s) == ("boot", [0.5, 1.0, 1.5], 1, 1.5)


def test_a_scenario_within_its_limits_has_passed() -> None:
    judge(scenario(1.0, 2.0))
    judge(scenario(1.0, 2.0, 2.0, failed=1, ratio=0.25))
    judge(scenario(500.0, limit_s=None))


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (scenario(1.0, failed=1), "1 of 2 iterations failed, at most 0% may: 1 × TimeoutError: no host"),
        (
            scenario(*[1.0] * 198, failed=2, ratio=0.005),
            "2 of 200 iterations failed, at most 0.5% may: 2 × TimeoutError: no host",
        ),
        (scenario(1.0, 31.0), "an iteration took 31 s, and may take 30 s$"),
        (scenario(1.0, 30.04), "an iteration took 30.04 s, and may take 30 s$"),
        (
            scenario(1.0, 2.0, failed=1, ratio=0.5, limit_s=8.0),
            r"an iteration took 9 s \(one that failed\), and may take 8 s$",
        ),
        (
            scenario(failed=1, ratio=1.0, limit_s=8.0),
            r"an iteration took 9 s \(one that failed\), and may take 8 s$",
        ),
    ],
)
def test_one_that_misses_a_limit_says_which_and_what_was_found(found: ScenarioLoad, why: str) -> None:
    with pytest.raises(NotSoError, match=why):
        judge(found)


def of(found: ScenarioLoad, run: str) -> Verification:
    made = verified(MadeCloud())
    made.id = run
    made.suites = [
        SuiteResult(
            name="sanity", title="t", cases=[CaseResult(name="Some.one", title="one", scenario=found)]
        )
    ]
    return made


def changed(now: list[float], then: list[float]) -> EarlierTimes:
    found = of(scenario(*now), "now")
    compare(found, of(scenario(*then), "then"))
    load = found.suites[0].cases[0].scenario
    assert load is not None
    earlier = load.operations[0].earlier
    assert earlier is not None
    assert (earlier.run, earlier.times) == ("then", len(then))
    return earlier


def test_what_became_slower_is_told_from_chance() -> None:
    chance = random.Random(1)
    before = [chance.gauss(1.0, 0.1) for _ in range(20)]
    again = [chance.gauss(1.0, 0.1) for _ in range(20)]
    slow = [one * 1.5 for one in again]
    assert changed(again, before).change == "not shown"
    assert changed(slow, before).change == "slower"
    assert changed(before, slow).change == "faster"
    assert changed(slow, before).ratio == pytest.approx(1.5, abs=0.1)


def whole(iterations: int, factor: float, seed: int = 1) -> Verification:
    """All 56 scenarios, of two operations each, with times that are `factor` times as long."""
    chance = random.Random(seed)
    made = verified(MadeCloud())
    made.suites = [
        SuiteResult(
            name="sanity",
            title="t",
            cases=[
                CaseResult(
                    name=f"Some.s{number}",
                    title="one",
                    scenario=scenario(*[factor * chance.gauss(1.0, 0.1) for _ in range(iterations)]),
                )
                for number in range(56)
            ],
        )
    ]
    return made


def changes(now: Verification) -> set[str]:
    loads = [case.scenario for case in now.suites[0].cases if case.scenario is not None]
    return {one.earlier.change for load in loads for one in load.operations if one.earlier is not None}


@pytest.mark.parametrize(
    ("iterations", "told"), [(5, "not compared"), (8, "not compared"), (9, "slower"), (10, "slower")]
)
def test_of_a_whole_cloud_that_takes_twice_as_long_so_many_iterations_tell_it(
    iterations: int, told: str
) -> None:
    now = whole(iterations, 2.0)
    compare(now, whole(iterations, 1.0))
    assert changes(now) == {told}
    said = "112 changed (" if told == "slower" else "0 changed; of 112 there are too few times to tell ("
    assert f"of 112 operations {said}" in next(scenarios.sentences(now.suites[0]))


def test_of_a_whole_cloud_that_stayed_as_it_was_ten_iterations_show_no_change() -> None:
    now = whole(10, 1.0, seed=1)
    compare(now, whole(10, 1.0, seed=2))
    assert changes(now) == {"not shown"}


def test_times_that_are_equal_hide_no_change() -> None:
    then = [0.03, 0.03, 0.03, 0.031, 0.031, 0.031, 0.032, 0.032, 0.033, 0.033]
    earlier = changed([one + 0.01 for one in then], then)
    assert earlier.p_value == pytest.approx(2 / math.comb(20, 10))
    assert earlier.change == "slower"
    assert changed(then, then).p_value == 1.0


@pytest.mark.parametrize(("now", "then"), [(5, 5), (5, 30), (12, 9), (30, 33)])
def test_without_equal_times_chance_is_as_mann_and_whitney_count_it(now: int, then: int) -> None:
    chance = random.Random(now)
    first = [chance.gauss(1.1, 0.1) for _ in range(now)]
    second = [chance.gauss(1.0, 0.1) for _ in range(then)]
    assert p_value(first, second) == pytest.approx(mannwhitneyu(first, second, method="exact").pvalue)


def test_many_times_are_compared_by_the_normal_distribution() -> None:
    chance = random.Random(3)
    first, second = ([chance.gauss(1.0, 0.1) for _ in range(200)] for _ in range(2))
    assert p_value(first, second) == pytest.approx(
        mannwhitneyu(first, second, method="exact").pvalue, abs=0.01
    )


def run_of(name: str, minute: int, **keys: Any) -> Verification:
    """Of a system, begun in that minute, which did one scenario."""
    made = of(scenario(1.0), name)
    made.started_at = f"2026-03-01T12:{minute:02}:00+00:00"
    sut = SutFile.model_validate({"weir": 1, "name": made.sut} | keys)
    made.spec, made.driver = sut.model_dump(mode="json"), sut.driver
    return made


def cloud(**keys: Any) -> dict[str, Any]:
    given = {"cloud": "c", "external_network": "public", "image": "debian", "flavor": "small"}
    return {"driver": "openstack", "openstack": given | keys}


@pytest.mark.parametrize(
    ("keys", "other"),
    [
        ({"sanity": {"concurrency": 1}}, {"sanity": {"concurrency": 8}}),
        ({"sanity": {"projects": 1}}, {"sanity": {"projects": 3}}),
        (cloud(), cloud(flavor="large")),
        (cloud(), cloud(cloud="another")),
        ({"local": {"compute_nodes": 1}}, {"local": {"compute_nodes": 2}}),
    ],
)
def test_times_are_compared_with_those_of_the_newest_run_that_was_done_alike(
    keys: dict[str, Any], other: dict[str, Any]
) -> None:
    now = run_of("now", 30, **keys)
    older, alike, unlike = (
        run_of("older", 10, **keys),
        run_of("alike", 11, **keys),
        run_of("unlike", 12, **other),
    )
    assert comparable(now, [older, alike, unlike, now]) is alike
    assert comparable(now, [unlike]) is None


def test_a_run_that_is_resumed_is_compared_with_none_that_began_later() -> None:
    assert comparable(run_of("resumed", 10), [run_of("later", 11)]) is None


def test_what_times_do_not_depend_on_may_differ() -> None:
    then = run_of("then", 10, **cloud(), case_time_limit_s=60)
    del then.spec["openstack"]["availability_zone"]  # as of a Weir that did not have it
    now = run_of("now", 11, **cloud(chains={"interface": "ens1f1"}), case_time_limit_s=90)
    assert comparable(now, [then]) is then


def test_a_run_without_scenarios_or_of_another_system_is_none_to_compare_with() -> None:
    bare, other = run_of("bare", 10), run_of("other", 10)
    bare.suites[0].cases[0].scenario = None
    other.sut = "another"
    assert comparable(run_of("now", 11), [bare, other]) is None


def test_of_few_iterations_only_the_ratio_is_told() -> None:
    earlier = changed([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])
    assert (earlier.ratio, earlier.p_value, earlier.change) == (2.0, None, "not compared")
    assert scenarios.since(earlier) == "2.00 ×, too few to tell"


def test_reports_have_a_row_for_each_operation_and_say_what_changed() -> None:
    found = of(scenario(*[2.0 + n / 100 for n in range(20)]), "now")
    compare(found, of(scenario(*[1.0 + n / 100 for n in range(20)]), "then"))
    (suite,) = found.suites
    whole, boot = scenarios.rows(suite)
    assert whole == ["Some.one", ITERATION, "20", "2.1", "2.17", "2.18", "–", "2.19", "1.91 ×, slower"]
    assert boot[1] == "boot"
    assert len(scenarios.rows(suite, operations=False)) == 1
    said = list(scenarios.sentences(suite))
    assert said[0].startswith("Compared with then: of 2 operations 2 changed (")
    assert said[1] == "Some.one, iteration: 1.91 ×, slower."
