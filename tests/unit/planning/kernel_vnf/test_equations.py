# SPDX-License-Identifier: Apache-2.0
"""Equations (1) to (6): what each says by itself, and what holds for any parameters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.lab.frames import link_pps
from weir.planning.kernel_vnf.equations import (
    Parameters,
    Point,
    Throughput,
    calibrate,
    core_pps,
    cumulative_cycles,
    measured_cycles,
    server_pps,
    system_pps,
    throughput,
)

FREQUENCIES_HZ = st.floats(1e8, 1e10)
SCALES = st.integers(1, 500)
FRAMES_BYTES = st.integers(64, 9216)
LINKS_BPS = st.floats(1e7, 1.6e12)
# All above zero, so that any f and S have a cost.
PARAMETERS = st.builds(
    Parameters,
    a=st.floats(0.001, 5),
    a0=st.floats(0.001, 5),
    b=st.floats(1, 30_000),
    b0=st.floats(1, 10_000),
)


def carried(
    parameters: Parameters,
    scale: int = 1,
    frequency_hz: float = 3.7e9,
    size: int = 64,
    link_bps: float = 10e9,
) -> Throughput:
    return throughput(parameters, scale=scale, frequency_hz=frequency_hz, frame_bytes=size, link_bps=link_bps)


def test_equation_1_an_area_gets_its_share_of_the_core() -> None:
    assert server_pps(3.7e9, 0.5, 1000) == pytest.approx(1.85e6)


def test_equation_2_a_core_serves_all_its_areas_for_each_packet() -> None:
    assert core_pps(3.7e9, [600, 400, 850]) == pytest.approx(2e6)


def test_equation_3_sets_add_up_and_a_throughput_gives_its_cost_back() -> None:
    assert system_pps(4, 3.7e9, 1850) == pytest.approx(8e6)
    assert measured_cycles(4, 3.7e9, system_pps(4, 3.7e9, 1850)) == pytest.approx(4 * 1850)


def test_equation_4_is_linear_in_the_frame_size_and_in_f() -> None:
    assert cumulative_cycles(Parameters(2, 3, 5, 7), 4, 64) == (2 * 4 + 3) * 64 + 5 * 4 + 7


def test_a_cost_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match=r"f = 1 and frames of 64 bytes would cost -36 cycles"):
        cumulative_cycles(Parameters(0, 0, 64, -100), 1, 64)


def test_ten_gigabit_carry_14_88_mpps_of_the_smallest_frames() -> None:
    assert link_pps(10e9, 64) == pytest.approx(14.880952e6)


@given(PARAMETERS, SCALES, FREQUENCIES_HZ, FRAMES_BYTES)
def test_equation_5_is_f_squared_times_the_clock_by_the_cumulative_cost(
    parameters: Parameters, scale: int, frequency_hz: float, size: int
) -> None:
    found = carried(parameters, scale, frequency_hz, size, link_bps=1e18)
    cost = (parameters.a * scale + parameters.a0) * size + parameters.b * scale + parameters.b0
    assert found.pps == pytest.approx(scale**2 * frequency_hz / cost)
    assert found.l1_bps == pytest.approx(found.pps * (size + 20) * 8)
    assert found.limited_by == "cpu"


@given(PARAMETERS, SCALES, FREQUENCIES_HZ, FRAMES_BYTES, LINKS_BPS)
def test_nothing_exceeds_the_link_and_the_smaller_term_is_named(
    parameters: Parameters, scale: int, frequency_hz: float, size: int, link_bps: float
) -> None:
    found = carried(parameters, scale, frequency_hz, size, link_bps)
    unlimited = carried(parameters, scale, frequency_hz, size, link_bps=1e18)
    assert found.l1_bps <= link_bps * (1 + 1e-12)
    assert (found.limited_by == "link") == (unlimited.pps >= link_pps(link_bps, size))
    assert found.pps == min(unlimited.pps, link_pps(link_bps, size))


@given(PARAMETERS, SCALES, FREQUENCIES_HZ, FRAMES_BYTES, LINKS_BPS)
def test_a_faster_clock_another_set_or_a_smaller_frame_never_carries_fewer_packets(
    parameters: Parameters, scale: int, frequency_hz: float, size: int, link_bps: float
) -> None:
    pps = carried(parameters, scale, frequency_hz, size, link_bps).pps
    assert carried(parameters, scale, 1.1 * frequency_hz, size, link_bps).pps >= pps
    assert carried(parameters, scale + 1, frequency_hz, size, link_bps).pps >= pps * (1 - 1e-12)
    assert carried(parameters, scale, frequency_hz, size - 1, link_bps).pps >= pps


@given(PARAMETERS, st.tuples(SCALES, SCALES), st.tuples(FRAMES_BYTES, FRAMES_BYTES))
def test_four_points_give_back_the_parameters_that_they_were_made_from(
    parameters: Parameters, scales: tuple[int, int], sizes: tuple[int, int]
) -> None:
    points = [Point(f, s, cumulative_cycles(parameters, f, s)) for f in scales for s in sizes]
    if len(set(scales)) < 2 or len(set(sizes)) < 2:
        with pytest.raises(ValueError, match="two frame sizes at each of two values of f"):
            calibrate(points)
        return
    found = calibrate(points)
    for point in points:
        assert cumulative_cycles(found, point.scale, point.frame_bytes) == pytest.approx(point.cycles)


def test_more_than_four_points_are_fitted_by_least_squares() -> None:
    exact = Parameters(0.5, 1.0, 7000, -2500)
    points = [
        Point(f, s, cumulative_cycles(exact, f, s) + noise)
        for f in (1, 2)
        for s, noise in ((64, 5), (512, -10), (960, 5))
    ]
    found = calibrate(points)
    assert (found.a, found.a0) == pytest.approx((exact.a, exact.a0))
    assert cumulative_cycles(found, 1, 512) - cumulative_cycles(exact, 1, 512) == pytest.approx(0, abs=1e-6)


def test_four_points_that_do_not_tell_the_parameters_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="4 points that do not tell"):
        calibrate([Point(f, 64, 1000.0 * f) for f in (1, 2, 3, 4)])
