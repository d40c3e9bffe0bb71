# SPDX-License-Identifier: Apache-2.0
"""What a program counted too often in one trial is no reason of the next one's losses."""

from __future__ import annotations

import pytest

from weir.fabric.function.lost import Losses, Lost


def told(losses: Losses, refused: int, missed: int, lost_packets: int) -> list[int]:
    """What the counters show, of a port that refused and one that missed so many since the start."""
    said = [Lost(".right", "tx_queue_full", refused), Lost(".left", "rx_missed", missed)]
    return [one.packets for one in losses.of(said, lost_packets)]


def test_refusals_of_packets_that_were_sent_again_explain_no_later_loss() -> None:
    losses = Losses()
    assert told(losses, 10_000, 0, 0) == [0, 0]
    assert told(losses, 10_000, 0, 5_000) == [0, 0]
    assert told(losses, 10_020, 30, 5_040) == [10, 30]
    assert told(losses, 10_025, 31, 5_050) == [15, 31]


def test_packets_that_were_on_their_way_are_not_told_any_more_when_they_have_arrived() -> None:
    losses = Losses()
    assert told(losses, 50, 0, 10) == [10, 0]
    assert told(losses, 50, 0, 0) == [0, 0]
    assert told(losses, 50, 3, 20) == [0, 3]


def test_what_was_lost_while_packets_come_and_go_is_told_in_the_end() -> None:
    losses = Losses()
    assert told(losses, 0, 0, 0) == [0, 0]
    for look, on_their_way in enumerate([100, 0, 100, 0, 100, 0], 1):
        said = [Lost("/program", "acl_deny", 10 * look)]
        found = losses.of(said, 10 * look + on_their_way, under_load=True)
        assert [one.packets for one in found] == [10 * look]


def test_under_load_refusals_of_packets_that_were_sent_again_explain_no_loss_of_the_trial_before() -> None:
    losses = Losses()
    assert told(losses, 0, 0, 5_000) == [0, 0]
    said = [Lost(".right", "tx_queue_full", 40), Lost(".left", "rx_missed", 0)]
    for lost_packets, packets in ((5_007, 7), (5_000, 0), (5_050, 0)):
        found = losses.of(said, lost_packets, under_load=True)
        assert [one.packets for one in found] == [packets, 0]


@pytest.mark.parametrize("under_load", [True, False])
@pytest.mark.parametrize("refused_first", [True, False])
def test_refusals_of_packets_that_were_sent_again_take_nothing_from_another_reason(
    *, refused_first: bool, under_load: bool
) -> None:
    losses = Losses()
    for refused, missed in ((0, 100), (50, 100), (50, 107)):
        said = [Lost(".left", "rx_missed", missed), Lost(".right", "tx_queue_full", refused)]
        found = losses.of(said[::-1] if refused_first else said, missed, under_load=under_load)
        assert {one.reason: one.packets for one in found} == {"rx_missed": missed, "tx_queue_full": 0}


@pytest.mark.parametrize("refused_first", [True, False])
def test_such_refusals_take_nothing_from_another_reason_though_some_packets_are_on_their_way_at_times(
    *, refused_first: bool
) -> None:
    losses = Losses()
    for look in range(1, 9):
        on_their_way = 30 if look % 2 == 0 else 0
        said = [Lost(".left", "rx_missed", 10 * look), Lost(".right", "tx_queue_full", 5 * look)]
        reading = losses.of(said[::-1] if refused_first else said, 10 * look + on_their_way, under_load=True)
        found = {one.reason: one.packets for one in reading}
        assert found["rx_missed"] == 10 * look
        assert found["tx_queue_full"] <= on_their_way
    last = losses.of([Lost(".left", "rx_missed", 80), Lost(".right", "tx_queue_full", 40)], 80)
    assert {one.reason: one.packets for one in last} == {"rx_missed": 80, "tx_queue_full": 0}


def test_refusals_that_lost_packets_are_told_though_some_packets_are_on_their_way_at_times() -> None:
    losses = Losses()
    for look, on_their_way in enumerate([0, 30, 0, 30, 0], 1):
        said = [Lost(".right", "tx_queue_full", 5 * look), Lost(".left", "rx_missed", 10 * look)]
        found = losses.of(said, 15 * look + on_their_way, under_load=True)
        assert [one.packets for one in found] == [5 * look, 10 * look]


def test_one_reason_that_two_sources_tell_at_one_place_is_told_once() -> None:
    said = [Lost(".right", "tx_queue_full", 4), Lost(".right", "tx_queue_full", 5)]
    assert [*Losses().of(said, 7)] == [Lost(".right", "tx_queue_full", 7)]
