# SPDX-License-Identifier: Apache-2.0
"""Goodput of a cloud in its report: of each group, and of all together, which is a median of sums."""

from __future__ import annotations

import pytest

from tests.report import synthetic
from tests.unit.procedures.tenants.made import mixed
from weir.fabric.cloud.goodput import Goodput
from weir.procedures.tenants import section, section_tcp
from weir.procedures.tenants.tcp import share
from weir.results.result import Result
from weir.results.tenants import OUTWARD, TCP_RECORD, TenantsTcp


@pytest.fixture
def beside() -> Result:
    return synthetic.result(setups=[mixed(1, 200e6), mixed(3, 150e6)])


def record(*runs: tuple[float | None, ...], known: bool = True) -> TenantsTcp:
    """Of tenants "a", "b", … ; without `known` as older results have it."""
    names = list("abcd"[: len(runs[0])])
    shares = [
        share(name, OUTWARD, [Goodput(name, run[number], 0) for run in runs])
        for number, name in enumerate(names)
    ]
    made = TenantsTcp(tenants=names, standing=4, duration_s=5, connections=1, shares=shares)
    made.runs_bps = [list(run) for run in runs] if known else []
    return made


def test_goodput_is_told_for_each_group(beside: Result) -> None:
    assert section_tcp.lines(beside) == [
        ["1 of 3", "to outside", "200", "100–400", "200", "3", "3 of 3"],
        ["3 of 3: plain", "to outside", "150", "75.0–300", "150", "3", "3 of 3"],
        ["3 of 3: 2 through shaper", "to outside", "2.5", "1.0–6.0", "5.0", "6", "3 of 3"],
    ]
    said = "3 of 3 tenants over TCP: 155 Mbit/s together, plain 150 each and 2 through shaper 2.5 each."
    assert said in list(section.findings(beside))
    table = section.csv(beside)
    assert table is not None
    last = list(table.rows)[-1]
    assert (last["tenant"], last["goodput_bps"], last["frame"]) == ("c-2", 3e6, "tcp")


def test_together_they_get_the_median_of_the_repeats_sums_and_not_the_sum_of_medians() -> None:
    swapped = record((160e6, 90e6), (90e6, 160e6), (150e6, 150e6))
    assert section_tcp.together_bps(swapped, ["a", "b"], OUTWARD) == 250e6


def test_a_repeat_in_which_one_got_nothing_is_not_valid_for_all(beside: Result) -> None:
    case = beside.setups[0].cases[1]
    case.records[TCP_RECORD] = record((1e6, 2e6), (5e6, None), (3e6, 4e6)).model_dump(mode="json")
    assert section_tcp.lines(beside)[0][4:] == ["5.0", "0", "2 of 3"]


def test_an_older_result_has_no_sum_unless_it_has_one_repeat(beside: Result) -> None:
    assert section_tcp.together_bps(record((1e6, 2e6), known=False), ["a", "b"], OUTWARD) == 3e6
    older = record((1e6, 2e6), (2e6, 1e6), known=False)
    assert section_tcp.together_bps(older, ["a", "b"], OUTWARD) is None
    beside.setups[0].cases[1].records[TCP_RECORD] = older.model_dump(mode="json")
    assert section_tcp.lines(beside)[0][4:] == ["–", "0", "2"]
    assert TenantsTcp.model_validate(older.model_dump(exclude={"runs_bps"})) == older


def test_each_direction_has_a_line_a_sum_and_a_sentence_of_its_own(beside: Result) -> None:
    ways = [OUTWARD, "right-to-left"]
    runs: list[list[float | None]] = [[4e6, 1e6, 6e6, 2e6], [4e6, 1e6, None, 2e6]]
    both = TenantsTcp(
        tenants=["a", "b"], standing=4, duration_s=5, connections=1, directions=ways, runs_bps=runs
    )
    both.shares = [
        share(tenant, way, [Goodput(tenant, run[number], 0) for run in runs])
        for number, (tenant, way) in enumerate((tenant, way) for tenant in ("a", "b") for way in ways)
    ]
    beside.setups = beside.setups[:1]
    beside.setups[0].cases[1].records[TCP_RECORD] = both.model_dump(mode="json")
    assert [(line[1], line[4], line[-1]) for line in section_tcp.lines(beside)] == [
        ("to outside", "10.0", "1 of 2"),
        ("from outside", "3.0", "2 of 2"),
    ]
    assert list(section_tcp.findings(beside)) == [
        "1 of 3 tenants over TCP, to outside: 10.0 Mbit/s together, 5.0 each.",
        "1 of 3 tenants over TCP, from outside: 3.0 Mbit/s together, 1.5 each.",
    ]
