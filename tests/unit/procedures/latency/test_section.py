# SPDX-License-Identifier: Apache-2.0
"""Delays and the service level in the reports."""

from __future__ import annotations

from tests.report.synthetic import latency, result
from weir.procedures.latency.section_rows import HEAD, delay_rows, not_judged, verdict_cells, verdicts
from weir.report import render, terminal
from weir.results.result import DelayPoint, Ipdv, Jitter, Pdv, Result, StreamCount, Trial, Verdict

PACKETS = 1000


def stream(direction: str, share: float) -> StreamCount:
    found = latency(PACKETS, share)
    above = {
        f"{name}_us": getattr(found, f"{name}_us") - found.min_us for name in ("p50", "p90", "p99", "p999")
    }
    return StreamCount(
        stream=0,
        direction=direction,
        intended=PACKETS,
        offered=PACKETS,
        delivered=PACKETS,
        duplicates=0,
        reordered=0,
        latency=found,
        pdv=Pdv(p9999_us=above["p999_us"], max_us=found.max_us - found.min_us, **above),
        ipdv=Ipdv(
            pairs=PACKETS - 1,
            min_us=-7,
            max_us=8,
            mean_size_us=1,
            p50_size_us=1,
            p90_size_us=2,
            p99_size_us=3.25,
            p999_size_us=5,
            p9999_size_us=7,
        ),
        jitter=Jitter(mean_us=1, max_us=2.5, last_us=1),
    )


def with_delays(*, met: bool = False) -> Result:
    """The synthetic run, whose first case also has delays at two loads and two verdicts."""
    whole = result()
    case = whole.setups[0].cases[0]
    for share in (0.1, 0.9):
        streams = [stream("left-to-right", share), stream("right-to-left", share + 0.05)]
        trial = Trial(
            purpose="latency",
            intended_load_pps=1e5,
            intended_duration_s=1,
            duration_s=1,
            intended=2 * PACKETS,
            offered=2 * PACKETS,
            delivered=2 * PACKETS,
            loss_ratio=0,
            valid=True,
            streams=streams,
        )
        case.delays.append(
            DelayPoint(load=f"{share:.0%} PDR", load_pps=1e5, trials=[trial], worst_direction="right-to-left")
        )
    case.verdicts = [
        Verdict(
            criterion="latency P99",
            load="10% PDR",
            direction="left-to-right",
            limit=100,
            found=25.0,
            unit="us",
            share=0.25,
            met=True,
        ),
        Verdict(criterion="PDR at least", limit=2e6, found=1e6, unit="pps", share=2, met=met),
    ]
    return whole


def test_a_row_shows_the_worst_direction_and_says_which_it_is() -> None:
    rows = list(delay_rows(with_delays()))
    assert [row.load for row in rows] == ["10% PDR ←", "90% PDR ←"]
    cells = dict(zip(HEAD, rows[0].cells(), strict=True))
    assert cells["min"] == "4.10"
    assert cells["IPDV P99"] == "3.25"
    assert cells["jitter"] == "2.50"


def test_what_is_not_met_comes_first() -> None:
    assert [verdict.criterion for *_, verdict in verdicts(with_delays())] == ["PDR at least", "latency P99"]


def test_the_terminal_has_delays_and_verdicts_with_what_they_mean() -> None:
    text = terminal.render(with_delays(), whole=True)
    assert "delay in µs" in text
    assert "90% PDR ←" in text
    assert "Service level: 1 of 2 limits MISSED" in text
    assert "RFC 5481" in text
    assert "Service level: met" in render(with_delays(met=True), "terminal")


def test_a_run_without_delays_says_nothing_of_them() -> None:
    text = render(result(), "terminal")
    assert "delay in" not in text
    assert "Service level" not in text
    assert "Delay at given loads" not in render(result(), "html")


def test_the_page_has_both_tables() -> None:
    page = render(with_delays(), "html")
    assert "Delay at given loads" in page
    assert "PDV P99.9, µs" in page
    assert "MISSED" in page


def test_why_a_limit_was_not_judged_is_said_once_for_all_cases_that_it_is_true_of() -> None:
    whole = with_delays()
    unknown = Verdict(
        criterion="PDR at least", limit=2e6, found=None, unit="pps", share=None, met=False, why="Too late."
    )
    for setup in whole.setups[:2]:
        setup.cases[0].verdicts = [unknown, unknown]
    names = [f"{one.name} {one.chain}, frame {one.cases[0].frame}" for one in whole.setups[:2]]
    assert not_judged(verdicts(whole)) == [f"{'; '.join(names)}: Too late."]


def test_a_rate_that_lies_below_the_lowest_load_tried_is_shown_as_that() -> None:
    whole = with_delays()
    (_, floor) = whole.setups[0].cases[0].verdicts
    floor.below = True
    (row, *_) = [verdict_cells(verdict) for *_, verdict in verdicts(whole)]
    assert row[2:] == ["< 1.000 Mpps", "2.000 Mpps", "> 200%", "MISSED"]
