# SPDX-License-Identifier: Apache-2.0
"""What the procedures send where the lab limits the load, and what they say of it."""

from __future__ import annotations

import pytest

from tests.simulated.device import Response
from tests.simulated.tester import SimulatedDut
from weir.lab.rfc2544 import Rfc2544Options
from weir.results.result import Case
from weir.results.rfc2544 import BurstTest

from .simulated_bench import SHARP, TESTER_PPS, measured, report_of, sharp


@pytest.mark.parametrize("link", [None, "10G"])
def test_no_rate_is_above_what_the_lab_allows_and_that_is_a_deviation(link: str | None) -> None:
    tests = ("throughput", "frame-loss", "back-to-back")
    options = Rfc2544Options.model_validate({"tests": tests, "link": link}).shortened()
    dut = SimulatedDut(SHARP, tester_max_pps=TESTER_PPS)
    case = measured(options, dut, max_load_pps=5e5)
    assert max(dut.asked_pps) == pytest.approx(5e5)
    assert min(dut.asked_pps) > 0
    (found,) = case.throughput
    assert found.load_pps == pytest.approx(5e5)
    assert (found.tester_bound, found.lab_bound) == (False, True)
    share = "25.0%" if link is None else "1.7%"
    ran = f"up to {share} of it: max_load_pps of the lab allows no more"
    assert ran in {one.ran for one in report_of(case).deviations}


BURSTS_ON_10G = Rfc2544Options.model_validate({"tests": ("back-to-back",), "link": "10G", "burst_repeats": 2})


def bursts_below(max_load_pps: float, dut: SimulatedDut) -> tuple[BurstTest, Case]:
    """On a link of 10 Gbit/s, and what else was measured."""
    case = measured(BURSTS_ON_10G, dut, max_load_pps=max_load_pps)
    burst = report_of(case).back_to_back
    assert burst is not None
    return burst, case


def test_no_burst_lasts_longer_than_asked_for_however_slow_the_lab_lets_it_be_sent() -> None:
    dut = SimulatedDut(Response(8e3, 8e3, buffer_packets=10**9), tester_max_pps=TESTER_PPS)
    burst, case = bursts_below(10e3, dut)
    bursts = [trial for trial in case.trials if trial.purpose == "burst"]
    assert max(trial.duration_s for trial in bursts) == pytest.approx(BURSTS_ON_10G.burst_s)
    assert burst.limit_frames == 10_000  # 2 s of 5,000 a second in each direction


def test_the_buffer_time_of_bursts_slower_than_the_medium_is_of_the_rate_that_they_were_sent_at() -> None:
    # 500,000 a second in, 400,000 out: 4,000 wait when 20,000 have come, 10,000 of each direction at 250,000.
    slow = Response(4e5, 4e5, buffer_packets=4000)
    burst, case = bursts_below(5e5, SimulatedDut(slow, tester_max_pps=TESTER_PPS))
    assert burst.average_frames == pytest.approx(10_000, rel=0.01)
    assert burst.max_frame_rate_pps == pytest.approx(250e3, rel=0.001)
    assert burst.implied_s == pytest.approx(40e-3, rel=0.01)
    assert burst.corrected_s == pytest.approx(8e-3, rel=0.05)
    ran = {one.ran for one in report_of(case).deviations if one.clause == "RFC 9004, 6.4"}
    assert ran == {"the rate at which the bursts were sent"}


def test_a_system_that_carries_all_that_the_lab_allows_has_no_burst_test() -> None:
    burst, case = bursts_below(5e5, sharp())
    assert (burst.longest_frames, burst.implied_s) == ([], None)
    assert (burst.why or "").startswith("The throughput is the highest rate that the lab allows: bursts")
    assert not [trial for trial in case.trials if trial.purpose == "burst"]


@pytest.mark.parametrize("link", [None, "10G"])
@pytest.mark.parametrize("ceiling_pps", [1.2e6, None])
def test_no_burst_is_above_what_the_lab_allows_whatever_is_known_of_the_tester(
    ceiling_pps: float | None, link: str | None
) -> None:
    options = Rfc2544Options.model_validate({"tests": ("back-to-back",), "link": link}).shortened()
    dut = SimulatedDut(SHARP, tester_max_pps=TESTER_PPS)
    case = measured(options, dut, max_load_pps=1.5e6, ceiling_pps=ceiling_pps)
    assert any(trial.purpose == "burst" for trial in case.trials)
    assert 0 < min(dut.asked_pps) <= max(dut.asked_pps) <= 1.5e6


def test_what_a_tester_is_able_to_do_is_not_read_from_what_the_lab_allows() -> None:
    options = Rfc2544Options(tests=("throughput",))
    case = measured(options, sharp(), max_load_pps=333_333, ceiling_pps=None)
    report = report_of(case)
    assert (report.max_pps, report.max_is) == (333_333, "lab")
    (found,) = case.throughput
    assert (found.load_pps, found.tester_bound) == (333_333, False)
    (ran,) = [one.ran for one in report.deviations if one.clause == "RFC 2544, 20"]
    assert (
        ran == "the wires have no rate, and what the tester can do is not known: of max_load_pps of the lab"
    )


def test_a_tester_slower_than_the_lab_allows_is_the_maximum_where_it_was_not_measured_alone() -> None:
    options = Rfc2544Options(tests=("frame-loss",))
    report = report_of(measured(options, sharp(), max_load_pps=3e6, ceiling_pps=None))
    assert report.max_is == "tester"
    assert report.max_pps == pytest.approx(TESTER_PPS)
