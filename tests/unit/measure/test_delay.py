# SPDX-License-Identifier: Apache-2.0
"""Delay at given loads: which loads, which trials, what is kept of them."""

from __future__ import annotations

import pytest

from tests.simulated.tester import SimulatedDut, simulated_traffic
from weir.lab.delay import LatencyOptions, load_of
from weir.lab.measure import CurveOptions
from weir.lab.sla import Sla
from weir.measure import measure_setup, no_counters
from weir.measure.delay import load_pps
from weir.measure.one_case import OnChain, Time
from weir.results.result import Case, Throughput

from .rig import CAPACITY_PPS, MEASURE, STEADY

LATENCY = LatencyOptions(loads=("10% PDR", "90% NDR", "0.5Mpps"), duration_s=1, settle_s=2)


def measured(latency: LatencyOptions = LATENCY, sla: Sla | None = None) -> tuple[Case, SimulatedDut]:
    dut = SimulatedDut(STEADY, tester_max_pps=5e6)
    measure = MEASURE.model_copy(update={"curve": CurveOptions(points=0), "latency": latency})
    cases = measure_setup(
        measure,
        [simulated_traffic("64", 64)],
        OnChain(
            dut,
            no_counters,
            lambda _: None,
            {},
            timing=Time(dut.clock, dut.sleep),
            sla=sla,
        ),
    )
    return next(iter(cases)), dut


@pytest.mark.parametrize(
    ("text", "pps"),
    [("50% PDR", 1e6), ("50 % of PDR", 1e6), ("2Mpps", 2e6), ("512Mbit/s", 1e6), ("0.512G", 1e6)],
)
def test_a_load_is_a_share_of_a_goal_or_a_rate(text: str, pps: float) -> None:
    throughput = [Throughput(goal="PDR", goal_loss_ratio=0.005, status="found", load_pps=2e6)]
    assert load_pps(load_of(text), throughput, mean_frame_bytes=64) == pytest.approx(pps)


def test_a_share_of_a_goal_that_was_not_found_is_no_load() -> None:
    throughput = [Throughput(goal="PDR", goal_loss_ratio=0.005, status="irregular")]
    assert load_pps(load_of("50% PDR"), throughput, mean_frame_bytes=64) is None


@pytest.mark.parametrize("text", ["", "fast", "0% PDR", "300% PDR", "50%", "-1Mpps", "0pps", "5 apples"])
def test_what_is_no_load_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        load_of(text)


def test_each_load_has_its_point_with_all_kinds_of_delay_and_its_worst_direction() -> None:
    case, _ = measured()
    assert [point.load for point in case.delays] == ["10% PDR", "90% NDR", "0.5Mpps"]
    assert case.delays[2].load_pps == 5e5
    assert case.delays[0].load_pps == pytest.approx(0.1 * CAPACITY_PPS, rel=0.05)
    for point in case.delays:
        (trial,) = point.trials
        assert trial.purpose == "latency"
        assert trial.intended_duration_s == 3
        assert point.worst_direction in {"left-to-right", "right-to-left"}
        for stream in trial.streams:
            assert stream.latency is not None
            assert stream.pdv is not None
            assert stream.ipdv is not None
            assert stream.jitter is not None
            assert stream.pdv.p99_us == pytest.approx(stream.latency.p99_us - stream.latency.min_us)
            assert stream.histogram
    assert not any(trial.purpose == "latency" for trial in case.trials)


def test_first_packets_are_measured_after_silence_and_before_each_load() -> None:
    latency = LatencyOptions(loads=("0.5Mpps",), duration_s=1, settle_s=0, first_packets=True, idle_s=100)
    case, dut = measured(latency)
    assert [point.first_packets for point in case.delays] == [True, False]
    assert case.delays[0].trials[0].purpose == "first-packets"
    assert dut.now_s > 100


def test_a_lab_without_a_service_level_has_no_verdicts() -> None:
    assert measured()[0].verdicts == []


def test_each_limit_is_judged_at_each_load_and_in_each_direction() -> None:
    case, _ = measured(sla=Sla.model_validate({"latency_us": {"p99": "1s"}, "loss_ratio": 0}))
    assert len(case.verdicts) == 2 * 3 * 2
    assert all(verdict.met for verdict in case.verdicts)
    assert {verdict.direction for verdict in case.verdicts} == {"left-to-right", "right-to-left"}
