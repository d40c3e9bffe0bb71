# SPDX-License-Identifier: Apache-2.0
"""What reports say of chains' rates and delays, beside the tables' letters: what bounds them, and of which
repeat they are."""

from __future__ import annotations

from typing import Any

import pytest

from weir.results.verification import CaseResult, SuiteResult
from weir.verify.report.chains import found, sentences, summary, tables

from .made_chains import CAPACITY_PPS, MadeChains, loaded


def generic(cloud: MadeChains) -> CaseResult:
    """The first case."""
    return loaded(cloud).suites[0].cases[0]


@pytest.mark.parametrize(
    ("change", "rate"),
    [
        ({}, "NDR 20.00 kpps"),
        ({"tester_bound": True}, "NDR ≥20.00 kpps (T)"),
        ({"out_of_time": True, "lower_bound_pps": 18e3, "upper_bound_pps": 21e3}, "NDR 18.00–21.00 kpps (L)"),
        ({"load_pps": None, "status": "irregular", "why": "none is valid"}, "no NDR (I)"),
    ],
)
def test_junit_and_operations_say_a_rate_as_tables_do_with_what_bounds_it(
    change: dict[str, Any], rate: str
) -> None:
    (load,) = generic(MadeChains()).chains
    plain = {"load_pps": 20e3, "load_min_pps": None, "load_max_pps": None, "lower_bound_pps": 20e3}
    load.case.throughput = [load.case.throughput[0].model_copy(update=plain | change)]
    assert found(load) == rate
    assert summary(load).startswith(f"PVP generic, 64 B, 1 flow: {rate}; ")


def repeated(*delays_us: tuple[float, bool]) -> SuiteResult:
    """A chain whose delay was measured so often: its P50, and whether the trial may be used."""
    (suite,) = loaded(MadeChains()).suites
    suite.cases = suite.cases[:1]
    (point,) = suite.cases[0].chains[0].case.delays
    (one,) = point.trials
    stream = one.streams[0]
    assert stream.latency is not None
    point.trials = [
        one.model_copy(
            update={
                "valid": valid,
                "streams": [
                    stream.model_copy(
                        update={"latency": stream.latency.model_copy(update={"p50_us": p50_us})}
                    )
                ],
            }
        )
        for p50_us, valid in delays_us
    ]
    return suite


@pytest.mark.parametrize(
    ("delays_us", "load", "p50"),
    [
        ([(80.0, True)], "50% PDR", "80.0"),
        ([(80.0, False)], "50% PDR (not valid)", "80.0"),
        ([(90.0, True), (140.0, True), (80.0, True)], "50% PDR (worst of 3)", "140"),
        ([(90.0, True), (140.0, False), (80.0, True)], "50% PDR (worst of 2, 1 not used)", "90.0"),
        ([(90.0, False), (80.0, False)], "50% PDR (not valid)", "80.0"),
    ],
)
def test_of_repeats_the_table_has_the_delay_by_which_the_service_level_is_judged(
    delays_us: list[tuple[float, bool]], load: str, p50: str
) -> None:
    (table,) = [one for one in tables(repeated(*delays_us)) if one.title == "Latency"]
    (row,) = table.rows
    named = dict(zip(table.head, row, strict=True))
    assert (named["load"], named["P50, µs"]) == (load, p50)
    assert named["max, µs"] != "–"


def test_first_packets_delays_are_told_from_the_others() -> None:
    suite = repeated((120.0, True))
    delays = suite.cases[0].chains[0].case.delays
    (first,) = repeated((900.0, True)).cases[0].chains[0].case.delays
    delays.insert(0, first.model_copy(update={"first_packets": True}))
    (table,) = [one for one in tables(suite) if one.title == "Latency"]
    rows = [dict(zip(table.head, row, strict=True)) for row in table.rows]
    assert [(one["load"], one["P50, µs"]) for one in rows] == [
        ("first packets, 50% PDR", "900"),
        ("50% PDR", "120"),
    ]


def test_an_operation_of_a_chain_says_what_bounds_its_rate() -> None:
    case = generic(MadeChains(ceiling_pps=CAPACITY_PPS))
    assert case.operations[-1].found.startswith("NDR ≥")
    assert case.operations[-1].found.count("(T)") == 2


@pytest.mark.parametrize(
    ("change", "letter", "remark"),
    [
        (
            {"slower_times": 1.4, "farther_times": 4.6},
            "S: slower state: ",
            "found, but only while cores were 1.40 times slower and 4.60 times slower to pass data to each "
            "other than at their best on this machine.",
        ),
        (
            {"searches": 3, "repeats": 1, "rounds": []},
            "R: one round or repeat: ",
            "found, but by one of 3 searches alone (the others found none).",
        ),
    ],
)
def test_what_a_letter_leaves_to_a_remark_is_said_of_each_rate_that_has_it(
    change: dict[str, Any], letter: str, remark: str
) -> None:
    (suite,) = loaded(MadeChains()).suites
    (load,) = suite.cases[0].chains
    first, second = load.case.throughput
    load.case.throughput = [first.model_copy(update=change), second]
    said = sentences(suite)
    assert [one for one in said if one.endswith(remark)] == [f"PVP generic, 64 B, 1 flow, NDR: {remark}"]
    (meant,) = [one for one in said if one.startswith(letter)]
    assert "Read with care" not in meant
