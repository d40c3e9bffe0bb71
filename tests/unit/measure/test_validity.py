# SPDX-License-Identifier: Apache-2.0
"""Who is named for a trial that others disturbed, or of which the tester was too slow."""

from __future__ import annotations

import pytest

from weir.measure.accounting import Balance
from weir.measure.counting import Counting
from weir.measure.validity import faults
from weir.protocol.traffic_results import TrafficResult
from weir.results.slices import QUOTA, Counted, LeftOut, TrialSlices

PYTHON = [f"python (nice 19) of alice ({tid})" for tid in range(1, 7)]


def said(*by: tuple[str, float]) -> str:
    """Of a trial of a second of which 0.1 s counts: who had core 1 for how many ms, one behind the other."""
    left_out, at_us = [], 0.0
    for who, ms in by:
        left_out.append(LeftOut(core=1, from_us=at_us, to_us=at_us + ms * 1000, by=who))
        at_us += ms * 1000
    nothing = Counted(seconds=0.1, offered=0, lost=0)
    slices = TrialSlices(width_us=1000, offered=[], delay_us=[])
    counted = Counting(nothing, tuple(left_out), slices, {}, None, 0, 0, 0.9, {})
    result = TrafficResult(run=1, tx_duration_ns=1e9, streams=())
    (only,) = faults(Balance(0, 0, 0, (), 0), result, [], 1.0, counted=counted, wanted_s=0.5)
    assert only.kind == "host"
    return only.sentence


@pytest.mark.parametrize(
    ("by", "who"),
    [
        (
            [("weir of bob (6198)", 200.0), *[(who, 100.0) for who in PYTHON]],
            "6 threads called python (nice 19) of alice had core 1 for 0.600 s: end",
        ),
        ([("weir of bob (6198)", 200.0), (PYTHON[0], 100.0)], "weir of bob (6198) had core 1 for 0.200 s: "),
        ([("host", 500.0)], "the host had core 1 for 0.500 s: "),
        ([("slowed", 500.0)], "core 1 was slowed by a neighbour or a lower clock for 0.500 s: "),
        (
            [("host", 1.5), ("weir itself (6199)", 80.0)],
            "weir itself (6199) had core 1 for 80.00 ms: let trials last longer",
        ),
        (
            [(QUOTA, 500.0)],
            "the CPU quota of a control group had core 1 for 0.500 s: run it without that limit",
        ),
    ],
)
def test_threads_of_one_program_are_one_and_who_had_most_is_named(
    by: list[tuple[str, float]], who: str
) -> None:
    assert f"(0.350 s would do): {who}" in said(*by)


def test_where_nobody_is_known_to_have_had_a_core_nobody_is_named() -> None:
    assert said().endswith("(0.350 s would do), and nothing says who had the cores: end what else runs.")


@pytest.mark.parametrize(
    ("behind", "words"),
    [(50_000, "The tester's core was away, and it was still 50000 packets behind"),
     (900_000, "The tester was 900000 packets behind at the end, more than were due while its core was")],
)  # fmt: skip
def test_a_tester_that_is_too_slow_is_told_from_one_that_was_away(behind: int, words: str) -> None:
    """Of a second at a million packets a second, a tenth of which it was away."""
    record = Counted(offered=1_000_000 - behind, lost=0, backlog=0, seconds=0.9)
    slices = TrialSlices(width_us=1e6, offered=[1], delay_us=[])
    counted = Counting(record, (), slices, {}, None, 0, behind, 0.1, {})
    result = TrafficResult(run=1, tx_duration_ns=1e9, streams=())
    (first, *_) = faults(Balance(0, 0, 0, (), 0), result, [], 1.0, counted=counted, wanted_s=1.0)
    assert first.kind == "tester"
    assert first.sentence.startswith(words)
