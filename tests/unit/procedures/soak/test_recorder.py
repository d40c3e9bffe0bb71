# SPDX-License-Identifier: Apache-2.0
"""Intervals, events, prefixes and drift of a soak, from made-up looks."""

from __future__ import annotations

import pytest

from weir.lab.sla import Sla
from weir.procedures.soak.drift import fitted
from weir.procedures.soak.recorder import Recorder
from weir.procedures.soak.section_events import event_text
from weir.procedures.soak.section_rows import drift_cells, facts
from weir.protocol.traffic_results import Gap
from weir.results.soak import PoolFigures, SoakInterval
from weir.results.trial import Drop

from .looks import POOLS, START_S, STREAMS, Run, TakenSpan, closed, new_soak, run


def test_an_interval_is_the_difference_of_two_looks() -> None:
    seen = run()
    seen.pass_by(delay_us=10)
    seen.pass_by(delay_us=80)
    first, second = seen.recorder.soak.intervals
    assert (second.number, second.from_s, second.to_s) == (2, 10.0, 20.0)
    assert [stream.offered for stream in second.streams] == [1000, 1000]
    assert first.streams[0].latency is not None
    assert second.streams[0].latency is not None
    assert first.streams[0].latency.p99_us == pytest.approx(10.5)
    assert second.streams[0].latency.p50_us == pytest.approx(80.5)
    assert second.streams[0].latency.max_us == pytest.approx(80.9)
    assert sum(packets for _, _, packets in second.streams[0].histogram) == 1000


def test_packets_under_way_at_an_intervals_end_are_not_lost() -> None:
    seen = run()
    seen.pass_by(under_way=32)
    assert [stream.lost for stream in seen.recorder.soak.intervals[0].streams] == [0, 0]
    assert seen.recorder.soak.lost == 0


def test_where_nothing_arrives_all_is_lost_until_something_does() -> None:
    seen = run()
    seen.pass_by(under_way=1000)
    seen.recorder.judge(None)
    assert (seen.recorder.soak.offered, seen.recorder.soak.lost) == (2000, 2000)
    assert seen.recorder.soak.faults == ["Nothing arrived: all 2,000 packets were lost."]
    seen.pass_by()
    first, second = seen.recorder.soak.intervals
    assert [one.lost for one in first.streams] == [1000, 1000]
    assert [one.lost for one in second.streams] == [-1000, -1000]
    seen.recorder.judge(None)
    assert (seen.recorder.soak.lost, seen.recorder.soak.faults) == (0, [])


QUEUES = {"tester.left": 1024, "f1.left": 1024}


def counts(direction: str, offered: int, delivered: int) -> dict[str, object]:
    fields = dict.fromkeys(("stream", "duplicates", "reordered"), 0)
    return fields | {"direction": direction, "intended": offered, "offered": offered, "delivered": delivered}


def test_a_direction_of_which_nothing_arrives_is_a_fault_though_the_other_one_does() -> None:
    seen = run()
    seen.pass_by()
    streams = [counts("left-to-right", 1000, 1000), counts("right-to-left", 1000, 0)]
    seen.recorder.end(
        closed(2000, 1000, streams=streams), POOLS, START_S + 10, queues=QUEUES, warmed=1024, complete=True
    )
    seen.recorder.judge(None)
    said = "Nothing arrived right-to-left: all 1,000 packets were lost."
    assert seen.recorder.soak.faults == [said]
    again = Run(Recorder(seen.recorder.soak, STREAMS))
    again.begin(START_S + 100)
    again.pass_by()
    again.recorder.judge(None)
    assert again.recorder.soak.faults == [f"Segment 1: {said}"]


def test_a_direction_that_stays_silent_in_an_open_segment_is_a_fault_by_its_intervals() -> None:
    seen = run()
    seen.delay_ns[0.0] = 1  # a histogram is never empty here
    seen.pass_by(lost=1000)
    seen.recorder.judge(None)
    assert seen.recorder.soak.faults == ["Nothing arrived left-to-right: all 1,000 packets were lost."]


def test_a_pause_in_which_nothing_is_sent_is_no_fault() -> None:
    seen = run()
    streams = [counts("left-to-right", 0, 0), counts("right-to-left", 0, 0)]
    seen.recorder.end(
        closed(0, 0, streams=streams), POOLS, START_S + 10, queues=QUEUES, warmed=1024, complete=True
    )
    seen.recorder.judge(None)
    assert seen.recorder.soak.faults == []


def test_a_loss_has_its_time_its_stream_and_what_counted_it() -> None:
    seen = run()
    seen.pass_by()
    gap = Gap(core=1, ended_us=12.0e6, us=4000, host_us=4000)
    seen.pass_by(lost=5, losses=[(12.001, 3), (17.5, 2)], gaps=[gap], dropped=5)
    events = seen.recorder.soak.intervals[1].events
    losses = [event for event in events if event.kind == "loss"]
    assert [event.offset_s for event in losses] == pytest.approx([12.001, 17.5])
    assert losses[0].at == "2027-01-15T08:00:12.001+00:00"
    assert [(event.stream, event.packets, event.during_stall) for event in losses] == [
        (0, 3, True),
        (0, 2, False),
    ]
    assert [(one.place, one.reason, one.packets) for one in losses[0].counters] == [("f1", "no_room", 5)]
    assert event_text(losses[0]).endswith("3 packets lost during a stall: in the whole interval f1 no_room 5")
    alone = losses[0].model_copy(update={"packets": 5})
    assert event_text(alone).endswith("5 packets lost during a stall: f1 no_room 5")
    assert [stream.lost for stream in seen.recorder.soak.intervals[1].streams] == [5, 0]


def test_what_came_out_of_order_is_told_apart_from_what_was_lost() -> None:
    seen = run()
    seen.pass_by(reordered=2, losses=[(4.0, 1), (8.5, 1)])
    seen.pass_by(reordered=1, lost=1, losses=[(15.0, 1)], dropped=1)
    overtaken, lost = (one.events for one in seen.recorder.soak.intervals)
    assert [event.out_of_order for event in overtaken] == [True, True]
    assert event_text(overtaken[0]).endswith("1 packet came later, out of order")
    assert [event.out_of_order for event in lost] == [False]
    (said,) = [text for name, text in facts(seen.recorder.soak) if name == "events"]
    assert said == "1 of loss, 0 stalls of 1 ms or more, 2 times packets came out of order"


@pytest.mark.parametrize(
    ("host_us", "area", "by"),
    [(5000, None, "host"), (0, "f1", "function"), (0, "generator.left", "tester"), (0, None, "loop")],
)
def test_a_stall_is_whose_it_was(host_us: float, area: str | None, by: str) -> None:
    seen = run()
    seen.pass_by(gaps=[Gap(core=1, ended_us=5e6, us=5000, host_us=host_us, area=area)])
    (event,) = seen.recorder.soak.intervals[0].events
    assert (event.kind, event.by, event.us, event.core) == ("stall", by, 5000, 1)


def test_a_stall_names_the_program_that_had_the_core() -> None:
    seen = run()
    gap = Gap(core=1, ended_us=5.0e6, us=4000, host_us=4000)
    by = TakenSpan(1, 4_996_500_000, 5_000_000_000, "python3 (4711)")
    seen.pass_by(gaps=[gap], taken=[by, TakenSpan(0, 0, 1_000_000, "cron (7)")])
    (interval,) = seen.recorder.soak.intervals
    assert [event.taker for event in interval.events] == ["python3 (4711)"]
    assert [(one.core, one.by, one.us) for one in interval.taken] == [
        (1, "python3 (4711)", 3500.0),
        (0, "cron (7)", 1000.0),
    ]


def test_a_stall_is_whose_the_look_before_says_where_that_was_told_later_than_the_traffic() -> None:
    seen = run()
    seen.pass_by(taken=[TakenSpan(1, 9_990_000_000, 10_030_000_000, "the quota")])
    seen.pass_by(gaps=[Gap(core=1, ended_us=10.03e6, us=28_000, host_us=28_000)])
    (event,) = seen.recorder.soak.intervals[1].events
    assert event.taker == "the quota"


def test_who_had_another_core_or_little_of_the_time_is_no_cause_of_a_stall() -> None:
    seen = run()
    gap = Gap(core=1, ended_us=5.0e6, us=4000, host_us=4000)
    taken = [
        TakenSpan(0, 4_996_000_000, 5_000_000_000, "python3 (4711)"),
        TakenSpan(1, 4_999_000_000, 5_000_000_000, "cron (7)"),
    ]
    seen.pass_by(gaps=[gap], taken=taken)
    assert [event.taker for event in seen.recorder.soak.intervals[0].events] == [None]


def test_short_stalls_are_counted_but_are_no_events() -> None:
    seen = run()
    seen.pass_by(gaps=[Gap(core=1, ended_us=5e6, us=200, host_us=200)])
    (interval,) = seen.recorder.soak.intervals
    assert interval.events == []
    assert [(stall.count, stall.longest_us) for stall in interval.stalls] == [(1, 200)]


def test_more_events_than_are_listed_are_counted_and_losses_come_first() -> None:
    seen = run()
    gaps = [Gap(core=1, ended_us=1e5 * at, us=2000, host_us=0) for at in range(90)]
    seen.pass_by(lost=1, losses=[(9.95, 1)], gaps=gaps)
    (interval,) = seen.recorder.soak.intervals
    assert len(interval.events) + interval.events_left_out == 91
    assert interval.events_left_out > 0
    assert sum(event.kind == "loss" for event in interval.events) == 1


def test_short_runs_are_kept_as_they_were_and_the_whole_goes_on() -> None:
    seen = run()
    for at in range(12):
        seen.pass_by(delay_us=500 if at == 8 else 10)
    prefixes = {one.name: one for one in seen.recorder.soak.prefixes}
    minute, whole = prefixes["1 min"], prefixes["all"]
    assert (minute.seconds, whole.seconds) == (60.0, 120.0)
    assert minute.streams[0].offered == 6000
    assert whole.streams[0].offered == 12000
    assert minute.streams[0].latency is not None
    assert whole.streams[0].latency is not None
    assert minute.streams[0].latency.max_us == pytest.approx(10.9)
    assert whole.streams[0].latency.max_us == pytest.approx(500.9)
    assert whole.streams[0].latency.p50_us == pytest.approx(10.5)
    assert whole.streams[0].latency.p99_us == pytest.approx(500.5)
    assert minute.windows == 2
    assert minute.max_us_least == pytest.approx(10.9)
    assert minute.max_us_most == pytest.approx(500.9)


def test_a_minute_is_six_intervals_of_ten_seconds_though_looks_are_a_little_early_or_late() -> None:
    seen = run()
    for off_s in (0.001, -0.002, 0.0, 0.0, 0.001, -0.002) * 20:
        seen.at_s += off_s
        seen.pass_by()
    prefixes = {one.name: one for one in seen.recorder.soak.prefixes}
    assert {name: round(prefixes[name].seconds) for name in ("1 min", "10 min")} == {
        "1 min": 60,
        "10 min": 600,
    }
    assert {name: prefixes[name].windows for name in ("1 min", "10 min")} == {"1 min": 20, "10 min": 2}


def test_a_window_of_intervals_that_do_not_divide_it_is_not_shorter() -> None:
    seen = run()
    for _ in range(6):
        seen.at_s += 15  # with the ten of its own 25
        seen.pass_by()
    minute = seen.recorder.soak.prefixes[0]
    assert (minute.name, minute.seconds, minute.windows) == ("1 min", 75.0, 2)


def test_a_soak_that_goes_on_has_its_gap_and_the_figures_of_both_parts() -> None:
    seen = run()
    for _ in range(4):
        seen.pass_by(lost=1, losses=[(1.0, 1)])
    stored = seen.recorder.soak.model_copy(deep=True)
    again = Run(Recorder(stored, STREAMS))
    again.begin(START_S + 100)
    for _ in range(8):
        again.pass_by(delay_us=70)
    again.recorder.end(closed(16_000, 16_000), POOLS, START_S + 180, queues={}, warmed=0, complete=True)
    soak = again.recorder.soak
    assert [one.ended for one in soak.segments] == ["killed", "complete"]
    assert (soak.segments[0].to_s, soak.segments[1].from_s) == (40.0, 100.0)
    assert [one.number for one in soak.intervals] == [*range(1, 13)]
    assert soak.measured_s == 120.0
    assert (soak.offered, soak.lost) == (8_000 + 16_000, 4)
    whole = soak.prefixes[-1].streams[0]
    assert whole.latency is not None
    assert (whole.offered, whole.latency.packets) == (12_000, 11_996)
    assert whole.latency.min_us == pytest.approx(10)
    assert whole.latency.max_us == pytest.approx(70.9)
    assert whole.latency.p90_us == pytest.approx(70.5)
    assert {one.name: one.seconds for one in soak.prefixes} == {"1 min": 60.0, "all": 120.0}


def test_intervals_that_are_stored_may_be_taken_out() -> None:
    whole, bare = run(), run()
    stored: list[SoakInterval] = []
    for seen in (whole, bare):
        for at in range(8):
            if at == 5:
                seen.begin(START_S + 100)
            seen.pass_by(lost=1, losses=[(1.0, 1)])
            if seen is bare:
                stored += seen.recorder.soak.intervals
                seen.recorder.soak.intervals.clear()
        seen.recorder.end(closed(3_000, 2_997), POOLS, START_S + 130, queues={}, warmed=0, complete=True)
    bare.recorder.soak.intervals = stored
    for seen in (whole, bare):
        seen.recorder.judge(None)
    assert bare.recorder.soak == whole.recorder.soak


def test_the_ledger_and_the_pools_must_balance() -> None:
    seen = run()
    seen.pass_by()
    less = [PoolFigures(name="ports", size=1000, free=830)]
    unbalanced = closed(2000, 1999, unaccounted=1, valid=False, invalid_because=["1 of 2000 packets …"])
    seen.recorder.end(
        unbalanced, less, START_S + 10, queues={"tester.left": 1024}, warmed=1024, complete=True
    )
    seen.recorder.judge(None)
    soak = seen.recorder.soak
    assert (soak.unaccounted, soak.buffers_lost) == (1, 70)
    assert soak.faults[0] == "1 of 2000 packets …"
    assert "70 packet buffers" in soak.faults[1]


def test_what_a_drivers_queue_may_keep_is_no_leak() -> None:
    seen = run()
    seen.pass_by()
    less = [PoolFigures(name="ports", size=1000, free=830)]
    seen.recorder.end(closed(2000, 2000), less, START_S + 10, queues=QUEUES, warmed=1024, complete=True)
    seen.recorder.judge(None)
    assert seen.recorder.soak.faults == []


def test_a_queue_that_was_full_may_keep_all_that_it_holds() -> None:
    """It frees what was sent when the next packets need its places."""
    for reason, faults in (("tx_queue_full", 0), ("denied", 1)):
        seen = run()
        seen.pass_by()
        less = [PoolFigures(name="ports", size=2000, free=900 - 500)]
        drops = [Drop(place="tester.left", reason=reason, packets=3)]
        ended = closed(2000, 1997, drops=drops)
        seen.recorder.end(ended, less, START_S + 10, queues=QUEUES, warmed=1024, complete=True)
        seen.recorder.judge(None)
        assert len(seen.recorder.soak.faults) == faults


@pytest.mark.parametrize(("warmed", "kept"), [(0, 2048), (600, 2 * 488), (5000, 128)])
def test_a_queue_that_the_warm_up_did_not_fill_may_keep_what_fills_it_later(warmed: int, kept: int) -> None:
    """A packet in a place for the first time stays there until the queue comes round to it again."""
    seen = run()
    seen.pass_by()
    ended = closed(2000, 2000)
    seen.recorder.end(ended, POOLS, START_S + 10, queues=QUEUES, warmed=warmed, complete=True)
    assert seen.recorder.soak.segments[-1].buffers_kept_most == kept


def test_memory_that_grows_is_a_fault_and_memory_that_stands_is_none() -> None:
    for grows_kib, faults in ((0, 0), (100, 1)):
        seen = run(duration_s=1200.0)
        for _ in range(100):
            seen.pass_by()
            seen.rss_kib += grows_kib
        seen.recorder.judge(None)
        assert len(seen.recorder.soak.faults) == faults
        (drift,) = [one for one in seen.recorder.soak.drifts if one.what == "resident memory"]
        assert drift.change == pytest.approx(99 * grows_kib)


def test_a_soak_was_under_load_for_what_was_asked_whenever_its_last_packet_and_look_were() -> None:
    seen = run()
    for _ in range(11):
        seen.pass_by()
    seen.at_s += 0.25
    seen.pass_by()
    sent_until_the_pause = closed(12_000, 12_000, duration_s=60.0)
    seen.recorder.end(sent_until_the_pause, POOLS, START_S + 121, queues={}, warmed=0, complete=True)
    assert seen.recorder.soak.measured_s == seen.recorder.soak.duration_s == 120.0


def test_a_line_has_its_slope_and_an_interval_that_holds_it() -> None:
    points = [(float(at), 100.0 + 2 * at + (0.5 if at % 2 else -0.5)) for at in range(20)]
    drift = fitted("x", "y", "z", points)
    assert drift.change == pytest.approx(38, abs=1)
    assert drift.change_low < 38 < drift.change_high
    assert drift.share == pytest.approx(0.38, abs=0.02)
    steady = fitted("x", "y", "z", [(float(at), 5.0) for at in range(5)])
    assert (steady.change_low, steady.change, steady.change_high) == (0, 0, 0)


def test_a_line_that_may_as_well_begin_at_nothing_has_no_share() -> None:
    steep = [(float(at), 1000.0 * max(0, at - 15)) for at in range(20)]
    drift = fitted("→", "latency P99", "us", steep)
    assert drift.start < 0
    assert (drift.share, drift.share_low, drift.share_high) == (None, None, None)
    assert drift_cells(drift)[2] == "–"
    scattered = [(float(at), 100.0 * (at % 4 == 3)) for at in range(12)]
    assert fitted("→", "latency P99", "us", scattered).share is None


def test_figures_while_the_load_settles_are_counted_but_not_compared() -> None:
    recorder = Recorder(new_soak(), STREAMS)
    assert recorder.soak.prefixes == []
    assert recorder.judge(Sla(loss_ratio=0.1)) == []
