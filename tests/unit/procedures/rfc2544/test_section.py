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
from weir.procedures.rfc2544.measure import measure_rfc2544
from weir.report import render
from weir.report.page.line_chart import Axis, Line, line_chart
from weir.results.result import Result

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


def test_the_result_with_procedures_is_read_back_as_it_was_written() -> None:
    run = measured()
    assert Result.model_validate_json(render(run, "json")) == run


def test_a_chart_without_points_is_not_drawn() -> None:
    assert line_chart("empty", [Line("a", ())], Axis("x"), Axis("y")) is None


def test_a_sweep_adds_its_loads_to_those_given_once_each() -> None:
    options = LatencyOptions(loads=("50% NDR",), sweep=Sweep(points=10))
    assert options.all_loads[:3] == ("50% NDR", "10% NDR", "20% NDR")
    assert len(options.all_loads) == 10
