# SPDX-License-Identifier: Apache-2.0
"""What one tenant, or one shared function, more costs: of which repeats, over which range, and of which rates
nothing is told."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.report import synthetic
from tests.unit.procedures.tenants.made import chained, found, rate
from weir.procedures.tenants.section_slope import fitted, repeats_pps, slopes
from weir.procedures.tenants.section_steps import costs, steps
from weir.results.result import Counted, Result, Trial

RATES = {1: 10_000.0, 2: 9000.0, 3: 8000.0, 4: 7000.0}
AT = "PDR at 64 B, none, 4 of 4"


def made(changes: dict[int, dict[str, Any]], **every: Any) -> Result:
    """One to four that send, each a tenth of the rate of one less. `changes`: of rates, by tenants."""
    setups = [found(number, pps, **every | changes.get(number, {}))[0] for number, pps in RATES.items()]
    return synthetic.result(setups=setups)


def test_a_slope_is_found_with_an_interval_that_holds_it() -> None:
    points = [(n, 100.0 - 10 * (n - 1) + noise) for n in (1, 2, 3, 4) for noise in (-1.0, 0.0, 1.0)]
    slope = fitted("PDR", "64 B", points)
    assert slope is not None
    assert slope.share == pytest.approx(-0.1, abs=1e-9)
    assert slope.low < -0.1 < slope.high < 0


@pytest.mark.parametrize("points", [[], [(1, 5.0), (1, 6.0), (1, 7.0)], [(1, 5.0), (2, 6.0)]])
def test_without_enough_points_there_is_no_slope(points: list[tuple[int, float]]) -> None:
    assert fitted("PDR", "64 B", points) is None


def test_a_slope_says_over_which_tenants_and_of_which_rate_it_is() -> None:
    (said,) = costs(made({}))
    assert said.startswith(
        "PDR at 64 B, from 1 to 4 tenants that send: each one more takes 10.0% of the rate of 1 off all "
        "together (95 %: -10."
    )


@pytest.mark.parametrize(("repeats", "values"), [(1, [100.0]), (2, [90.0, 110.0]), (3, [90.0, 100.0, 110.0])])
def test_up_to_three_repeats_are_those_that_were_found(repeats: int, values: list[float]) -> None:
    one = rate(100.0, load_min_pps=min(values), load_max_pps=max(values), repeats=repeats)
    assert repeats_pps(one) == pytest.approx(values)


def test_of_more_repeats_the_least_the_median_and_the_greatest_stay_and_each_counts_once() -> None:
    values = repeats_pps(rate(100.0, load_min_pps=90.0, load_max_pps=130.0, repeats=9))
    assert len(values) == 9
    assert [values[0], values[4], values[-1]] == pytest.approx([90, 100, 130])
    assert values == sorted(values)


def test_the_interval_of_two_repeats_is_that_of_two_points_each() -> None:
    ends = {"load_min_pps": 9500.0, "load_max_pps": 10_500.0}
    less = {"load_min_pps": 8500.0, "load_max_pps": 9500.0}
    result = synthetic.result(
        setups=[found(1, 10_000, **ends, repeats=2)[0], found(2, 9000, **less, repeats=2)[0]]
    )
    (slope,) = slopes(result)
    true = fitted("PDR", "64 B", [(1, 9500.0), (1, 10_500.0), (2, 8500.0), (2, 9500.0)])
    assert true is not None
    assert [slope.low, slope.high] == pytest.approx([true.low, true.high])


def test_ten_repeats_tell_more_than_three_with_the_same_ends() -> None:
    (ten,), (three,) = slopes(made({}, repeats=10)), slopes(made({}))
    assert ten.high - ten.low < three.high - three.low


def test_of_one_repeat_a_slope_has_no_interval() -> None:
    (said,) = costs(made({2: {"repeats": 1}}))
    assert said.endswith("takes 10.0% of the rate of 1 off all together (one repeat).")


def test_rates_that_are_bounds_are_left_out_of_a_slope_by_name() -> None:
    (said,) = costs(made({1: {"tester_bound": True}}))
    assert said.startswith("PDR at 64 B, from 2 to 4 tenants that send: ")
    assert said.endswith("; without 1 of 4, of which only bounds are known.")


def test_where_bounds_leave_no_slope_that_is_said() -> None:
    changes = {number: {"tester_bound": True} for number in (1, 2)} | {3: {"out_of_time": True}}
    assert costs(made(changes)) == [
        "PDR at 64 B: what a tenant more costs is not told, since only bounds are known of the rates of "
        "1 of 4, 2 of 4, 3 of 4."
    ]


def test_doubtful_rates_are_named_in_the_sentence_on_what_one_more_costs() -> None:
    result = made({2: {"unsteady": True}, 4: {"slower_times": 2.0}})
    clean = Trial(
        purpose="search", intended_load_pps=20_600, intended_duration_s=1, duration_s=1, intended=20_600,
        offered=20_600, delivered=20_600, loss_ratio=0, valid=True,
    )  # fmt: skip
    result.setups[2].cases[0].trials.append(clean)
    (said,) = costs(result)
    assert said.endswith(
        "; in doubt: 2 of 4 (unsteady), 3 of 4 (a trial carried 20,600 pps without loss), 4 of 4 (slower "
        "state)."
    )


def test_a_point_that_lost_far_below_a_rate_is_named_beside_it() -> None:
    result = synthetic.result(setups=[chained(0, 13_610), chained(1, 1_361)])
    lost = Trial(
        purpose="curve", intended_load_pps=4 * 300, intended_duration_s=1, duration_s=1, intended=1200,
        offered=1200, delivered=1140, loss_ratio=0.05, valid=True,
        counted=Counted(seconds=1, offered=1200, lost=60),
    )  # fmt: skip
    result.setups[1].cases[0].curve.append(lost)
    (said,) = costs(result)
    assert said.endswith("; in doubt: with (a trial lost 5 % of 1,200 pps).")


def test_each_shared_function_has_a_step_of_its_own_and_there_is_no_slope_over_functions() -> None:
    rates = (20_000.0, 10_000.0, 2_000.0)
    said = costs(synthetic.result(setups=[chained(number, pps) for number, pps in enumerate(rates)]))
    assert said == [
        f"{AT}: with dpi 50.0% less for all together (-51.0% to -49.0%), +50.0 µs for each packet (+48.5 to "
        "+51.5).",
        f"{AT}: with fw 80.0% less for all together (-80.4% to -79.6%), +400.0 µs for each packet (+394.0 to "
        "+406.0).",
    ]


def test_of_one_repeat_a_step_has_no_interval() -> None:
    result = synthetic.result(setups=[chained(0, 20_000), chained(1, 10_000, repeats=1)])
    assert costs(result) == [
        f"{AT}: with dpi 50.0% less for all together (one repeat), +50.0 µs for each packet."
    ]


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        ((False, True), "with dpi at most 50.0% less for all together, at most +50.0 µs for each packet."),
        ((True, False), "with dpi at least 50.0% less for all together, at least +50.0 µs for each packet."),
        (
            (True, True),
            "what dpi costs is not told, since both rates are bounds (T or M).",
        ),
    ],
)
def test_a_step_from_or_to_a_bound_says_at_least_or_at_most(bound: tuple[bool, bool], said: str) -> None:
    without, through = bound
    setups = [chained(0, 20_000, tester_bound=without), chained(1, 10_000, tester_bound=through)]
    assert costs(synthetic.result(setups=setups)) == [f"{AT}: {said}"]


def test_doubtful_rates_are_named_in_the_sentence_on_a_function() -> None:
    (said,) = costs(synthetic.result(setups=[chained(0, 20_000, unsteady=True), chained(1, 10_000)]))
    assert said.endswith("; in doubt: without (unsteady).")


def test_a_function_is_compared_within_clouds_of_the_same_router_alone() -> None:
    setups = [chained(number, pps) for number, pps in ((0, 20_000), (0, 40_000), (1, 10_000), (1, 30_000))]
    routers, ways = ("Linux routes", "Weir routes"), ("routers alone", "through dpi")
    for setup, (way, router) in zip(setups, product(ways, routers), strict=True):
        setup.variant = f"{router}, {way}"
    linux, weir = steps(synthetic.result(setups=setups))
    assert (linux.of, weir.of) == ("64 B, none, Linux routes, 4 of 4", "64 B, none, Weir routes, 4 of 4")
    assert [linux.us, weir.us] == pytest.approx([50.0, 8.333], abs=0.001)
