# SPDX-License-Identifier: Apache-2.0
"""Captures replayed through a device that is made up: at which rates, what of it is told, and what reports
say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.synthetic import result as synthetic
from tests.simulated.device import Response
from tests.simulated.one_way import NoWay, OneWay
from tests.simulated.tester import Misbehaviour, SimulatedDut
from weir.lab.capture import replay_of
from weir.lab.measure import Measure, TrialOptions
from weir.measure import no_counters
from weir.measure.one_case import OnChain, Time
from weir.measure.tester import Stream, Traffic
from weir.procedures.replay.campaign import nothing_found
from weir.procedures.replay.measure import described, measure_replay, once
from weir.procedures.replay.section import SECTION
from weir.protocol.traffic import (
    CaptureConfig,
    FrameSize,
    StreamConfig,
    Template,
    TrafficConfigure,
)
from weir.protocol.traffic_results import CaptureFacts
from weir.results.replay import Replay
from weir.results.result import Case

WHOLE = Response(10_000, 10_000, buffer_packets=64)
ENDS = ("tester.left", "tester.right")
TEMPLATE = Template(
    src_mac="02:00:00:00:00:01", dst_mac="02:00:00:00:00:02", src_ip="198.18.0.1", dst_ip="198.19.0.1"
)
QUESTIONS = CaptureFacts(
    frames=400, mean_frame_bytes=99.4375, frame_bytes_most=200, recorded_pps=100, lead_ns=0, span_ns=3.99e9
)
ANSWERS = CaptureFacts(
    frames=1201, mean_frame_bytes=1000, frame_bytes_most=1518, recorded_pps=300, lead_ns=1e9, span_ns=4e9
)


def captures() -> Traffic:
    streams = tuple(
        StreamConfig(
            id=number,
            port=ENDS[number],
            to=ENDS[1 - number],
            frame=FrameSize(bytes=64),
            template=TEMPLATE,
            capture=CaptureConfig(path="office.pcap"),
        )
        for number in (0, 1)
    )
    return Traffic(
        "capture",
        550,
        TrafficConfigure(streams=streams),
        (
            Stream(0, "left-to-right", "tester.left", "tester.right"),
            Stream(1, "right-to-left", "tester.right", "tester.left"),
        ),
        captured={0: QUESTIONS, 1: ANSWERS},
    )


def replayed(rate: str, dut: SimulatedDut, repeats: int = 3) -> Case:
    measure = Measure(repeats=repeats, trial=TrialOptions(retries=0))
    chain = OnChain(dut, no_counters, lambda _: None, {}, timing=Time(dut.clock, dut.sleep))
    (case,) = measure_replay(replay_of(rate), measure, [captures()], chain)
    return case


def record_of(case: Case) -> Replay:
    return Replay.model_validate(case.records["replay"])


@pytest.mark.parametrize(
    ("rate", "factor"), [("recorded", 1.0), ("2x", 2.0), ("160pps", 0.5), ("3968kbps", 2.0)]
)
def test_each_direction_is_sent_at_its_own_rate_times_the_factor_as_long_as_the_files_take(
    rate: str, factor: float
) -> None:
    dut = SimulatedDut(WHOLE)
    record = record_of(replayed(rate, dut))
    assert record.factor == pytest.approx(factor)
    assert (record.own_pps, record.own_seconds) == (320, 5)  # 1,601 frames in 5 s
    assert record.load_pps == pytest.approx(320 * factor)
    assert record.l2_bps == pytest.approx(320 * 775 * 8 * factor)
    assert len(dut.asked) == 3
    for rates_pps, seconds in dut.asked:
        assert rates_pps == pytest.approx({0: 100 * factor, 1: 300 * factor})
        assert 5 / factor < seconds < 5 / factor + 0.1


def test_two_frames_at_nearly_one_time_do_not_make_a_rate_of_the_whole() -> None:
    many = QUESTIONS.model_copy(update={"frames": 60_001, "recorded_pps": 1000, "span_ns": 60e9})
    few = ANSWERS.model_copy(
        update={"frames": 2, "recorded_pps": 500_000, "lead_ns": 30e9, "span_ns": 2e3, "mean_frame_bytes": 64}
    )
    record = described(replay_of("5kpps"), replace(captures(), captured={0: many, 1: few}))
    assert record.own_pps == pytest.approx(1000, rel=1e-3)
    assert record.factor == pytest.approx(5, rel=1e-3)
    assert record.seconds == pytest.approx(12, rel=1e-3)


def test_what_is_lost_is_told_with_its_spread() -> None:
    case = replayed("30x", SimulatedDut(WHOLE))
    record = record_of(case)
    assert record.replays == len(case.trials) == 3
    assert record.loss_ratio == case.trials[0].loss_ratio > 0.1
    assert (record.loss_ratio_min, record.loss_ratio_max) == (record.loss_ratio, record.loss_ratio)
    assert case.problem is None


def test_replays_that_do_not_add_up_are_none() -> None:
    case = replayed("1x", SimulatedDut(WHOLE, wrong=Misbehaviour(unaccounted=5)))
    assert record_of(case).replays == 0
    assert record_of(case).loss_ratio is None
    assert case.problem is not None
    assert "No replay can be used" in case.problem
    assert nothing_found([case.records["replay"]]) is not None


def test_a_direction_that_a_function_drops_is_no_nothing_comes_through_of_the_other() -> None:
    case = replayed("100x", OneWay(WHOLE, tester_max_pps=5000))
    assert all(one.delivered for one in case.trials)
    assert len(case.trials) == 3
    assert case.problem is not None
    assert case.problem.startswith("No replay can be used. ")


def test_what_lets_nothing_of_any_direction_through_is_given_up_after_one_replay() -> None:
    case = replayed("1x", NoWay(WHOLE))
    assert len(case.trials) == 1
    assert case.problem is not None
    assert case.problem.startswith("Nothing of the capture comes through. ")


def test_files_are_sent_once_with_their_gaps_whatever_the_plan_says() -> None:
    made = once(captures().config)
    assert [one.pacing for one in made.streams] == ["recorded", "recorded"]
    assert all(one.capture is not None and one.capture.once for one in made.streams)


def test_reports_tell_the_own_rate_the_factor_and_what_was_lost() -> None:
    case = replayed("160pps", SimulatedDut(WHOLE))
    assert nothing_found([case.records["replay"]]) is None
    shown = synthetic()
    shown.setups[0].cases = [case]
    del shown.setups[1:]
    (table,) = SECTION.tables(shown)
    (line,) = table.lines
    assert line[1:4] == ["160pps (0.5x)", "320.0", "160.0"]
    assert line[7] == "0"
    (finding,) = SECTION.findings(shown)
    assert "loses nothing of the capture at 0.5 times its own rate (160 packets a second)" in finding
    csv = SECTION.csv(shown)
    assert csv is not None
    (row,) = csv.rows
    assert (row["factor"], row["own_pps"], row["loss_ratio"]) == (0.5, 320, 0)
    assert set(row) <= set(csv.columns)
    (note,) = SECTION.notes(shown)
    assert any("1,201 frames of 1000 B" in one for one in note.sentences)
    assert [*SECTION.terminal(shown)]
    assert [*SECTION.page(shown)]
