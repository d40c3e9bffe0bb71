# SPDX-License-Identifier: Apache-2.0
"""What the traffic saw of a migration, from looks at a run that never was."""

from __future__ import annotations

from weir.measure.tester import Stream
from weir.procedures.migration.phases import Cut, losses, phases
from weir.protocol.traffic_results import LatencyInterval, StreamInterval, TrafficInterval

RATE_PPS = 1000.0
STREAM = Stream(0, "left-to-right", "tester.left", "tester.right")
MS = 1_000_000


def look(
    at_ms: int, offered: int, delivered: int, *lost: tuple[int, int], max_ms: float = 0
) -> TrafficInterval:
    """`lost`: noticed at (ms), packets."""
    latency = LatencyInterval(count=delivered, mean_ns=0, min_ns=0, max_ns=max_ms * MS)
    stream = StreamInterval(
        id=0,
        offered=offered,
        tx_refused=0,
        delivered=delivered,
        latency=latency,
        losses=tuple((at * MS, packets) for at, packets in lost),
    )
    return TrafficInterval(run=1, now_ns=at_ms * MS, now_raw_ns=at_ms * MS, streams=(stream,))


LOOKS = [
    look(100, 100, 100),
    look(200, 200, 150),
    look(300, 300, 150),
    look(400, 400, 300, (301, 101), max_ms=7.5),
    look(500, 500, 400, max_ms=2.0),
]
CUTS = [Cut("primary", 0), Cut("switchover", 150 * MS), Cut("replugging", 300 * MS)]


def test_a_loss_belongs_to_the_phase_in_which_its_first_packet_was_due() -> None:
    before, switchover, after = phases(LOOKS, CUTS, [STREAM], RATE_PPS)
    assert [one.streams[0].missing for one in (before, switchover, after)] == [0, 101, 0]
    assert switchover.streams[0].outage_ms == 101
    assert switchover.streams[0].longest_gap_ms == 101


def test_phases_join_without_a_gap_and_share_out_every_packet() -> None:
    found = phases(LOOKS, CUTS, [STREAM], RATE_PPS)
    assert [(one.from_s, one.to_s) for one in found] == [(0, 0.15), (0.15, 0.3), (0.3, 0.5)]
    assert sum(one.streams[0].offered for one in found) == 500
    assert sum(one.streams[0].delivered for one in found) == 400
    assert [one.streams[0].max_delay_ms for one in found] == [0, 0, 7.5]


def test_several_losses_add_up_and_the_longest_is_named() -> None:
    (only,) = phases([look(100, 100, 85, (20, 5), (80, 10))], [Cut("primary", 0)], [STREAM], RATE_PPS)
    assert only.streams[0].outage_ms == 15
    assert only.streams[0].longest_gap_ms == 10


def test_losses_that_were_too_many_to_be_kept_are_not_forgotten() -> None:
    seen = look(100, 100, 40, (50, 20))
    (stream,) = seen.streams
    seen = seen.model_copy(update={"streams": (stream.model_copy(update={"losses_left_out_packets": 40}),)})
    assert sum(one.packets for one in losses([seen], 0, RATE_PPS)) == 60


def test_an_outage_that_does_not_end_is_counted_though_no_later_packet_shows_it() -> None:
    silent = [*LOOKS[:4], *(look(at, at, 300) for at in (500, 600, 700))]
    *_, after = phases(silent, CUTS, [STREAM], RATE_PPS)
    seen = after.streams[0]
    assert (seen.missing, seen.outage_ms, seen.silent_to_the_end) == (299, 299, True)


def test_what_is_only_under_way_at_the_end_is_not_missing() -> None:
    (only,) = phases([look(100, 100, 90), look(200, 200, 190)], [Cut("primary", 0)], [STREAM], RATE_PPS)
    assert (only.streams[0].missing, only.streams[0].silent_to_the_end) == (0, False)
