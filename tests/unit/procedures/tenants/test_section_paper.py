# SPDX-License-Identifier: Apache-2.0
"""What the paper found, beside a run's own numbers: held to a criterion in words, and told where repeats and
bounds decide."""

from __future__ import annotations

from typing import Any

import pytest

from tests.report import synthetic
from tests.unit.procedures.tenants.made import chained, found, mixed
from weir.procedures.tenants.section_paper import checks
from weir.results.result import Result, Setup
from weir.results.tenants import RECORD, TCP_RECORD, Tenants, TenantsTcp


def sending(rates: dict[int, float], **changes: Any) -> Result:
    return synthetic.result(setups=[found(number, pps, **changes)[0] for number, pps in rates.items()])


def test_a_tenant_more_is_compared_over_the_papers_two_to_four_alone() -> None:
    (check,) = checks(sending({1: 90_000, 2: 10_000, 3: 9000, 4: 8000}))
    assert check.finding == "Each tenant more takes 5% or more off all together (PDR, 64 B)"
    assert check.here.startswith("-10.0% (95 %: ")
    assert check.here.endswith(" of the rate of 2, from 2 to 4")
    assert check.holds
    assert checks(sending({1: 10_000, 2: 9000, 3: 8000})) == []


@pytest.mark.parametrize(
    ("rates", "answer"),
    [
        ({2: 10_000.0, 4: 9970.0}, "no"),
        ({2: 10_000.0, 4: 9000.0}, "not told"),
        ({2: 10_000.0, 4: 8500.0}, "yes"),
    ],
)
def test_a_small_fall_is_not_what_the_paper_found(rates: dict[int, float], answer: str) -> None:
    (check,) = checks(sending(rates))
    assert check.answer == answer


def test_of_one_repeat_it_is_not_told_what_a_tenant_more_costs() -> None:
    (check,) = checks(sending({2: 10_000, 3: 9000, 4: 8000}, repeats=1))
    assert (check.here, check.answer) == ("-10.0% (one repeat) of the rate of 2, from 2 to 4", "not told")


@pytest.mark.parametrize(("pps", "answer"), [(10_000.0, "yes"), (19_900.0, "no"), (17_900.0, "not told")])
def test_a_function_must_take_a_tenth_or_more(pps: float, answer: str) -> None:
    (check,) = checks(synthetic.result(setups=[chained(0, 20_000), chained(1, pps)]))
    assert "takes 10% or more off all together: dpi" in check.finding
    assert check.answer == answer


@pytest.mark.parametrize(
    ("without", "through"), [({"repeats": 1}, {}), ({}, {"tester_bound": True}), ({"out_of_time": True}, {})]
)
def test_of_a_function_nothing_is_told_from_one_repeat_or_a_bound(
    without: dict[str, Any], through: dict[str, Any]
) -> None:
    setups = [chained(0, 20_000, **without), chained(1, 10_000, **through)]
    (check,) = checks(synthetic.result(setups=setups))
    assert check.answer == "not told"


def both(bypassed: dict[str, Any], bridged: dict[str, Any] | None = None) -> list[Setup]:
    """With 15,000 packets a second without the bridge, and 10,000 with it."""
    setups = [found(4, 10_000, **(bridged or {}))[0], found(4, 15_000, **bypassed)[0]]
    setups[0].technology = "bridge-filter"
    return setups


def test_without_the_bridge_and_by_size_the_rates_say_what_holds() -> None:
    setups = both({})
    large = found(4, 20_000)[0].cases[0]
    large.frame = "1518"
    setups[0].cases.append(large)
    bypass, small = checks(synthetic.result(setups=setups))
    assert (bypass.here, bypass.holds) == ("1.50 × (1.47 to 1.53)", True)
    assert small.holds
    assert "64 B above 9,900 to 10,100 of all together, 1518 B above 19,800 to 20,200" in small.here


@pytest.mark.parametrize(
    ("bypassed", "bridged", "here", "answer"),
    [
        ({"repeats": 1}, {"repeats": 1}, "1.50 × (one repeat)", "not told"),
        ({"tester_bound": True}, {}, "at least 1.50 ×", "yes"),
        ({}, {"tester_bound": True}, "at most 1.50 ×", "not told"),
        ({"unsteady": True}, {}, "1.50 × (1.47 to 1.53); in doubt: without (unsteady)", "yes"),
    ],
)
def test_one_repeat_bounds_and_doubts_go_with_the_ratio_to_the_bridge(
    bypassed: dict[str, Any], bridged: dict[str, Any], here: str, answer: str
) -> None:
    (bypass,) = checks(synthetic.result(setups=both(bypassed, bridged)))
    assert (bypass.here, bypass.answer) == (here, answer)


def test_a_rate_that_is_a_bound_does_not_say_that_small_frames_lose_first() -> None:
    setup, large = found(4, 10_000, tester_bound=True)[0], found(4, 20_000)[0].cases[0]
    large.frame = "1518"
    setup.cases.append(large)
    (small,) = checks(synthetic.result(setups=[setup]))
    assert small.here.startswith("64 B above at least 9,900 of all together")
    assert small.answer == "not told"


def beside(udp: dict[str, Any] | None = None, tcp: dict[str, Any] | None = None) -> Result:
    """The tenant without functions alone, and beside two: its UDP and TCP there changed."""
    alone, together = mixed(1, 200e6), mixed(3, 150e6)
    record = Tenants.model_validate(together.cases[0].records[RECORD])
    plain = record.points[0].shares[0].model_copy(update=udp or {})
    record.points[0].shares[0] = plain
    over_tcp = TenantsTcp.model_validate(together.cases[1].records[TCP_RECORD])
    over_tcp.shares[0] = over_tcp.shares[0].model_copy(update=tcp or {})
    together.cases[0].records[RECORD] = record.model_dump(mode="json")
    together.cases[1].records[TCP_RECORD] = over_tcp.model_dump(mode="json")
    return synthetic.result(setups=[alone, together])


def test_a_tenant_beside_others_is_near_or_not_by_all_of_its_repeats() -> None:
    udp, tcp = checks(beside())
    assert udp.here == "0.99 (0.99 to 0.99) of 1,000 packets a second that it gets alone"
    assert udp.holds
    assert (tcp.here, tcp.answer) == ("0.75 (0.19 to 3.00) of what it gets alone", "not told")


def test_repeats_on_both_sides_of_near_do_not_tell() -> None:
    udp, _ = checks(beside({"delivered_min_pps": 800.0}))
    assert (udp.here.startswith("0.99 (0.80 to 0.99)"), udp.answer) == (True, "not told")


def test_repeats_that_are_all_far_say_no() -> None:
    far = {"delivered_pps": 500.0, "delivered_min_pps": 400.0, "delivered_max_pps": 600.0}
    rates = {"goodput_bps": 20e6, "goodput_min_bps": 10e6, "goodput_max_bps": 30e6}
    assert [one.answer for one in checks(beside(far, rates))] == ["no", "no"]


def test_of_one_repeat_beside_others_nothing_is_told() -> None:
    result = beside(tcp={"repeats": 1})
    for setup in result.setups:
        setup.cases[0].records[RECORD]["points"][0]["trials"] = 1
    udp, tcp = checks(result)
    assert (udp.here, udp.answer) == (
        "0.99 (one repeat) of 1,000 packets a second that it gets alone",
        "not told",
    )
    assert tcp.answer == "not told"
