# SPDX-License-Identifier: Apache-2.0
"""The reports of RFC 2544 runs: tables, page, sweep."""

from __future__ import annotations

from tests.report.synthetic import result
from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut, simulated_traffic
from weir.lab.delay import LatencyOptions, Sweep
from weir.lab.measure import Measure
from weir.lab.rfc2544 import Rfc2544Options
from weir.measure import no_counters
from weir.measure.one_case import OnChain, Time
from weir.procedures.rfc2544 import section_rows
from weir.procedures.rfc2544.loss import loss_step
from weir.procedures.rfc2544.measure import measure_rfc2544
from weir.report import render
from weir.report.page.chart_axes import Axis
from weir.report.page.line_chart import Line, line_chart
from weir.results.result import Result, Trial
from weir.results.rounds import INTERRUPTED
from weir.results.slices import Counted

TITLES = (
    "Throughput (RFC 2544, 26.1)",
    "Latency (RFC 2544, 26.2)",
    "Frame loss rate (RFC 2544, 26.3)",
    "Back-to-back frames (RFC 2544, 26.4; RFC 9004)",
    "System recovery (RFC 2544, 26.5)",
    "Reset (RFC 2544, 26.6; RFC 6201)",
)


class Switch:
    """Something to reset."""

    what, clause = "the switch, by hand", "RFC 6201, 4.2.2"

    def do(self) -> None:
        """As it is."""


def measured() -> Result:
    """The procedures on a simulated device, quick, as the first setup of a run."""
    dut = SimulatedDut(Response(1e6, 1e6), tester_max_pps=2e6)
    cases = measure_rfc2544(
        Measure(rfc2544=Rfc2544Options().shortened()),
        [simulated_traffic(), simulated_traffic("1518", 1518)],
        OnChain(
            dut,
            no_counters,
            lambda _event: None,
            {},
            timing=Time(dut.clock, dut.sleep),
            resets=[Switch()],
        ),
    )
    run = result()
    run.setups = run.setups[:1]
    run.setups[0].cases = list(cases)
    return run


def test_every_test_has_its_table_in_the_text_and_on_the_page() -> None:
    run = measured()
    text, page = render(run, "rfc2544"), render(run, "html")
    for title in TITLES:
        assert title in text
        assert title in page


def test_what_does_not_conform_is_listed_with_its_clause() -> None:
    text = render(measured(), "rfc2544")
    assert "not conformant: trial duration 0.5 s" in text
    assert "RFC 2544, 24: trials of 60 s at least" in text


def test_the_page_draws_throughput_by_size_and_loss_by_load() -> None:
    page = render(measured(), "html")
    assert "direct PVP: throughput by frame size" in page
    assert "direct PVP: frame loss rate" in page


def test_another_run_has_no_procedures() -> None:
    assert "no RFC 2544 procedures" in render(result(), "rfc2544")
    assert "RFC 9004" not in render(result(), "html")


def test_a_run_that_was_interrupted_before_anything_had_finished_says_so() -> None:
    bare = result(interrupted=True)
    for _, case in bare.cases():
        case.problem = INTERRUPTED
    assert "it was interrupted before anything had finished" in render(bare, "rfc2544")


def test_the_result_with_procedures_is_read_back_as_it_was_written() -> None:
    run = measured()
    assert Result.model_validate_json(render(run, "json")) == run


def test_a_chart_without_points_is_not_drawn() -> None:
    assert line_chart("empty", [Line("a", ())], Axis("x"), Axis("y")) is None


def test_a_sweep_adds_its_loads_to_those_given_once_each() -> None:
    options = LatencyOptions(loads=("50% NDR",), sweep=Sweep(points=10))
    assert options.all_loads[:3] == ("50% NDR", "10% NDR", "20% NDR")
    assert len(options.all_loads) == 10


def test_a_rate_has_its_interval_and_its_letters_in_table_and_summary() -> None:
    run = measured()
    (found,) = run.setups[0].cases[0].throughput
    found.out_of_time, found.unsteady = True, True
    found.lower_bound_pps, found.upper_bound_pps = 0.25e6, 0.75e6
    found.load_pps = found.load_min_pps = found.load_max_pps = 0.5e6
    text = render(run, "rfc2544")
    assert "0.250–0.750" in text
    assert "12.5 %–37.5 %" in text
    assert "found  LU\n" in text
    assert "L: out of time. U: unsteady." in text
    (said, *_) = section_rows.findings(run)
    assert "12.5 %–37.5 % (64 B; LU, read with care)" in said


def test_frame_loss_is_told_from_what_was_lost_while_others_had_a_core() -> None:
    trial = Trial(
        purpose="frame-loss", intended_load_pps=1e6, intended_duration_s=1.0, duration_s=1.0, intended=1000,
        offered=1000, delivered=900, loss_ratio=0.1, valid=True,
        counted=Counted(seconds=0.8, offered=800, lost=0),
    )  # fmt: skip
    run = measured()
    report = run.setups[0].cases[0].rfc2544
    assert report is not None
    assert report.frame_loss is not None
    report.frame_loss.steps = [loss_step(1.0, 1e6, trial)]
    text = render(run, "rfc2544")
    (line,) = [one for one in text.splitlines() if one.split()[-3:] == ["20.0", "%", "0"]]
    assert "10 %" in line
