# SPDX-License-Identifier: Apache-2.0
"""What a program counted too often in one trial is no reason of the next one's losses."""

from __future__ import annotations

from weir.fabric.function.lost import Losses, Lost


def told(losses: Losses, refused: int, missed: int, lost_packets: int) -> list[int]:
    """What the counters show, of a port that refused and one that missed so many since the start."""
    said = [Lost(".right", "tx_queue_full", refused), Lost(".left", "rx_missed", missed)]
    return [one.packets for one in losses.of(said, lost_packets)]


def test_refusals_of_packets_that_were_sent_again_explain_no_later_loss() -> None:
    losses = Losses()
    assert told(losses, 10_000, 0, 0) == [0, 0]
    assert told(losses, 10_000, 0, 5_000) == [0, 0]
    assert told(losses, 10_020, 30, 5_040) == [20, 20]
    assert told(losses, 10_025, 31, 5_050) == [25, 21]


def test_packets_that_were_on_their_way_are_not_told_any_more_when_they_have_arrived() -> None:
    losses = Losses()
    assert told(losses, 50, 0, 10) == [10, 0]
    assert told(losses, 50, 0, 0) == [0, 0]
    assert told(losses, 50, 3, 20) == [0, 3]


def test_one_reason_that_two_sources_tell_at_one_place_is_told_once() -> None:
    said = [Lost(".right", "tx_queue_full", 4), Lost(".right", "tx_queue_full", 5)]
    assert [*Losses().of(said, 7)] == [Lost(".right", "tx_queue_full", 7)]
